"""Where the collection stands, as it goes on: one bar, who votes and how evenly, and one menu to pause or stop it."""

from __future__ import annotations

import streamlit as st

from core.base.numbers_in_words import many, percent
from core.store import Store
from core.store.projects.project_commands import Project
from core.views.collect import collect_page
from core.views.collect import voting as voting_views
from core.views.collect.collect_page import MOST, CollectView, DrawnStage, Stage
from ui.collect.ballot_steps import close_steps
from ui.collect.voting_box import EVERY, MENU, voting_states
from ui.shared import frame
from ui.shared.badges import SIMULATED, Badge

_CLOSING = "_may_close"  # in the session: whether most had voted, and all, when the page was drawn
CARD = 147  # pixels: five of them beside each other in a window of 1280 with a scroll bar


def live_state(store: Store, project: Project, view: CollectView, stage: DrawnStage) -> None:
    """The open ballot in three lines and a menu; while voting is open the lines are drawn anew every few seconds."""
    is_open = view.voting is not None and view.voting.state == "open"
    st.session_state.pop(_CLOSING, None)
    st.fragment(_lines, run_every=EVERY if is_open else None)(store, view, stage)
    with st.container(horizontal=True, vertical_alignment="center"):
        if view.voting is not None:
            st.markdown(voting_views.state_said(view.voting), width="content")
        with st.popover(MENU, icon=":material/front_hand:", key=f"stop-{stage.ballot.id}"):
            voting_states(store, project, stage.ballot, view.voting, "The ballot stays open for files.")
            if not view.may_close:
                close_steps(project, view, stage)


def _lines(store: Store, view: CollectView, stage: DrawnStage) -> None:
    said, share, now = view.headline, stage.progress.share, ""
    if view.voting is not None and view.voting.state == "open":
        found = voting_views.load_live(store, stage.ballot.id)
        said, share, now = view.open_said(stage, found.votes, found.wanted), found.share, found.said
        closing = (share >= MOST, share >= 1)
        if st.session_state.setdefault(_CLOSING, closing) != closing:
            st.rerun()  # what may be done now is outside
    frame.first_line(said, *badges(view))
    st.progress(share, text=f"{percent(share)} of the votes are in")
    for line in (now, collect_page.voters_said(stage.progress), collect_page.uncounted_said(stage.progress)):
        if line:
            st.caption(line)


def badges(view: CollectView) -> tuple[Badge, ...]:
    """What is always so of these votes."""
    return (SIMULATED,) if view.is_simulated else ()


def timeline(stages: tuple[Stage, ...]) -> None:
    """All ballots of the plan, drawn or not, in a row."""
    icons = {"closed": ":material/check_circle:", "open": ":material/how_to_vote:", "planned": ":material/schedule:"}
    with st.container(horizontal=True, gap="small"):
        for stage in stages:
            with st.container(border=True, width=CARD):
                st.markdown(f"{icons[stage.state]} **Ballot {stage.number}**")
                st.caption(
                    f"{many(stage.n_items, 'item')}  \n{many(stage.n_comparisons, 'comparison')}  \n{_said(stage)}"
                )


def _said(stage: Stage) -> str:
    """A stage's state in two words."""
    if not isinstance(stage, DrawnStage):
        return "planned"
    if stage.state == "closed":
        return f"closed, {many(stage.progress.votes, 'vote')}"
    return f"open, {percent(stage.progress.share)} voted"
