"""How each voter voted, and whose votes count."""

from __future__ import annotations

import streamlit as st

from core.base.durable import slug
from core.commands.figures.votes import VoterFigures
from core.questions import RoundKind
from ui.shared import cache, frame, jobs, kinds
from ui.voters import round_people, voters_box

project = frame.project()
store = frame.store()
st.title("Voters")
standings = cache.load_standings(store, project)
area_id = frame.area(project, standings)

kind = kinds.choose(project, [kinds.standing(project, area_id)])
if isinstance(kind, RoundKind):
    round_people.show_rounds(project, area_id, kind)
    frame.stop()

figure = VoterFigures(project.id, project.revision, area_id)
measured = jobs.figure(figure, project, "Read all votes", key=f"voters-{project.id}-{area_id}")
if measured is None:
    frame.stop()
view = cache.load_voters(store, project, area_id, measured)
if view.quality.table.empty:
    frame.nothing_yet("Nobody has voted yet.", "collect", "collect votes")

with st.container(horizontal=True, vertical_alignment="center"):
    st.markdown(f"**{frame.plain(view.looks_said)}**", width="content")
    if view.odd_reasons:
        voters_box.review_button(project, view)
st.markdown(frame.plain(view.headline))
odd = st.container()  # it calls voters as the switch below says
st.markdown(frame.plain(view.alpha_said))
st.caption("No figure is a proof: voters may see things differently, and that is what votes are asked for.")
hashed = view.may_hash and st.toggle(
    "Hash the ids", True, key=f"hash-{project.id}", help="The voting page of this project hashes its voters' ids."
)
if sentence := view.odd_said(hashed):
    odd.warning(frame.plain(sentence), icon=":material/visibility:")
if view.camps_said:
    odd.warning(frame.plain(view.camps_said), icon=":material/call_split:")
voters_box.one(project, view, hashed)
voters_box.table(project, view, hashed, slug(project.name))
voters_box.decide(project, area_id, view, hashed)
voters_box.left_out(project, view.left_out, view.called(hashed))
frame.link("scores", "See the scores", icon=":material/leaderboard:")
