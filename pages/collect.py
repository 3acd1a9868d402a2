"""The whole collection on one page: the ballots in a row, the open one, its files, its votes, and what comes next."""

from __future__ import annotations

import streamlit as st

from core.commands.ballots import SimulateVotes
from core.questions import RoundKind
from core.store.projects.plans import PlanSettings
from core.views.collect import tasks
from core.views.collect.collect_page import CollectView, DrawnStage
from ui.collect import uploads
from ui.collect.collecting_box import collecting_box, fetched_files, over_quota, voters_box
from ui.collect.live_state import badges, between_ballots, close_steps, live_state, timeline
from ui.collect.payment_box import payment_box
from ui.collect.round_box import collect_rounds
from ui.collect.task_preview import preview_box, trial_box
from ui.collect.voting_box import still_served
from ui.plan import checks_box
from ui.plan.pilot_box import pilot_box
from ui.scores import trust_panel
from ui.shared import cache, frame, jobs, kinds

project = frame.project()
store = frame.store()
st.title("Collect")
standings = cache.load_standings(store, project)
area_id = frame.area(project, standings)
kind = kinds.choose(project, [kinds.standing(project, area_id)])
if isinstance(kind, RoundKind):
    collect_rounds(project, area_id, kind)
    frame.stop()
view: CollectView = cache.load_collect(store, project, area_id)


def open_ballot(stage: DrawnStage, settings: PlanSettings) -> None:
    """The open ballot, drawn by these settings: how it goes, its voters, its files, its votes, its end."""
    live_state(store, project, view, stage)
    if view.workload is not None:
        over_quota(view.workload)
        voters_box(store, project, stage.ballot, view.workload)
    if view.may_close:
        close_steps(project, view, stage)
    st.markdown("##### 1. Give it to voters")
    pages = tasks.load(store, stage.ballot, settings, project.notion)
    collecting_box(store, project, view, stage, settings, pages)
    preview_box(store, project, stage.ballot, pages)
    trial_box(store, project, stage.ballot, pages)
    checks_box.collected(store, stage.ballot)
    st.markdown("##### 2. Upload results")
    uploads.upload_box(store, project, stage.ballot, more=fetched_files(project))
    if project.may_simulate and not stage.progress.is_complete:
        st.caption("Or, in a demo or trial project:")
        jobs.offer(
            "Let simulated voters answer this ballot",
            SimulateVotes.of(project.id, frame.expected(), stage.ballot),
            icon=":material/science:",
            help="The paper's voter model (section 4.1) answers what is missing. Its votes are marked as simulated "
            "forever.",
        )
    trust_panel.show_vote_checks(project, area_id, sum(drawn.progress.votes for drawn in view.drawn))
    st.markdown("##### The ballots of the plan")
    if not stage.number:  # a ballot of the plan has its card below
        st.caption(f"{stage.title}.")
    if stage.ballot.n_tied:
        sentence = "{n} items were tied at the cut; {kept} of them stayed, by a seeded draw."
        st.caption(sentence.format(n=stage.ballot.n_tied, kept=stage.ballot.n_tied_kept))
    timeline(view.stages)


if view.plan is None or view.settings is None:
    frame.nothing_yet("Ballots are drawn by a plan, and there is none yet.", "plan", "make the plan")
stage = view.open_stage
if stage is not None:
    open_ballot(stage, view.settings)
else:
    frame.first_line(view.headline, *badges(view))
    timeline(view.stages)
    between_ballots(project, area_id, view, standings)
    still_served(store)
pilot_box(store, project, area_id, view)
with st.expander(f"Uploads ({len(view.uploads)})"):
    uploads.upload_list(project, view.uploads, stage.number if stage else None)
payment_box(store, project, view)
