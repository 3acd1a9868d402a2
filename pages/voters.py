"""How each voter voted, and whose votes count."""

from __future__ import annotations

import streamlit as st

from core.views import voters_job
from core.views.voters import VotersView, is_large
from core.views.words import slug
from ui import cache, exclusions_box, frame, kept_jobs, voters_box

project = frame.project()
store = frame.store()
st.title("Voters")
standings = cache.load_standings(store, project)
area_id = frame.area(project, standings)

view: VotersView | None = None
large = is_large(standings, area_id)
if large:
    job = kept_jobs.of_votes(voters_job.FIGURES, project, area_id, "Read all votes", place="voters")
    view = None if job is None else cache.load_voters_of(store, project, area_id, job.id)
else:
    with st.spinner("Reading the votes …"):
        view = cache.load_voters(store, project, area_id)
if view is None:
    frame.stop()
if view.quality.table.empty:
    frame.nothing_yet("Nobody has voted yet.", "collect", "collect votes")

st.markdown(f"**{frame.plain(view.headline)}**")
odd = st.container()  # it calls voters as the switch below says
st.markdown(frame.plain(view.alpha_said))
st.caption("No figure is a proof: voters may see things differently, and that is what votes are asked for.")
hashed = view.may_hash and st.toggle(
    "Hash the ids", True, key=f"hash-{project.id}", help="The voting page of this project hashes its voters' ids."
)
if said := view.odd_said(hashed):
    odd.warning(frame.plain(said), icon=":material/visibility:")
voters_box.table(project, view, hashed, slug(project.name))
voters_box.one(project, view, hashed)
exclusions_box.decide(project, area_id, view, hashed, large)
exclusions_box.left_out(project, view, hashed)
frame.link("scores", "See the scores", icon=":material/leaderboard:")
