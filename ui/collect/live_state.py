"""How far a collection of votes is, as it goes on: one bar, who votes and how evenly, and one menu to pause or stop it.

The commands that move a ballot on are here too: draw, close, reopen, discard.
"""

from __future__ import annotations

import streamlit as st

from core.base.numbers_in_words import many, percent
from core.commands.ballots import CloseBallot, DiscardBallot, DrawBallot, DrawWaiting, ReopenBallot
from core.store import Store
from core.store.projects.project_commands import Project
from core.views.collect import collect_page
from core.views.collect import voting as voting_views
from core.views.collect.collect_page import MOST, CollectView, DrawnStage, Stage
from core.views.overview import RankingStatus
from ui.collect.voting_box import EVERY, MENU, voting_states
from ui.help import glossary
from ui.scores import trust_panel
from ui.shared import frame, jobs
from ui.shared.frame import SIMULATED, Badge


def close_steps(project: Project, view: CollectView, stage: DrawnStage) -> None:
    """The end of a ballot, with what should be known before; or its draw taken back, before the first vote.

    It is the page's next step once most have voted, and stands in the menu until then.
    """
    if stage.progress.untouched:
        st.caption("It can be closed once it has votes.")
    elif view.warnings:
        warnings = "\n\n".join(map(frame.plain, view.warnings))
        if view.may_close:
            st.warning(warnings, icon=":material/lightbulb:")
        else:
            st.caption(warnings)
    complete = not view.warnings
    ask = not complete and not stage.progress.untouched
    sure = complete or (ask and st.checkbox("Close anyway", key=f"sure-{project.id}-{project.revision}"))
    with st.container(horizontal=True):
        kind = "primary" if complete else "secondary"
        close = CloseBallot.of(project.id, frame.expected(), stage.ballot)
        jobs.offer(f"Close {stage.called}", close, type=kind, disabled=not sure)
        if stage.progress.untouched:
            jobs.offer(
                "Discard this draw",
                DiscardBallot.of(project.id, frame.expected(), stage.ballot),
                help="Takes the ballot back; before ballot 1 the plan can be changed again.",
            )


def between_ballots(
    project: Project, area_id: int | None, view: CollectView, standings: tuple[RankingStatus, ...]
) -> None:
    """No ballot is open: draw the next, look at the scores, or open the last one again."""
    trust_panel.worth_of_next(project, area_id)
    expected = frame.expected()
    with st.container(horizontal=True, vertical_alignment="center"):
        if view.next_number is not None:
            draw = DrawBallot(project.id, expected, area_id)
            jobs.offer(f"Draw ballot {view.next_number}", draw, type="primary", icon=":material/casino:")
        waiting = [standing for standing in standings if standing.waits_for_draw]
        if len(waiting) > 1 and view.next_number is not None:
            jobs.offer(
                f"Draw in all {len(waiting)} areas that are waiting",
                DrawWaiting(project.id, expected),
                help="Draws the next ballot of every area that has a plan and no open ballot.",
            )
        if view.last_closed is not None:
            frame.link("scores", "See the scores", icon=":material/leaderboard:")
            jobs.offer(
                f"Reopen ballot {view.last_closed.number}",
                ReopenBallot.of(project.id, expected, view.last_closed.ballot),
                help="Its scores are removed until it is closed again.",
            )


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
    """The open ballot's first line, its bar and its voters; of an open voting page as they stand now."""
    headline, share, now = view.headline, stage.progress.share, ""
    if view.voting is not None and view.voting.state == "open":
        progress = voting_views.load_live(store, stage.ballot.id)
        headline, share, now = view.open_said(stage, progress.votes, progress.wanted), progress.share, progress.said()
        closing = (share >= MOST, share >= 1)
        if st.session_state.setdefault(_CLOSING, closing) != closing:
            st.rerun()  # what may be done now is outside
    frame.first_line(headline, *badges(view))
    st.progress(share, text=f"{percent(share)} of the votes are in")
    lines = {
        now: None,
        collect_page.voters_said(stage.progress): glossary.of("Effective voters"),
        collect_page.uncounted_said(stage.progress): None,
    }
    for line, about in lines.items():
        if line:
            st.caption(line, help=about)


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
                    f"{many(stage.n_items, 'item')}  \n{many(stage.n_comparisons, 'comparison')}  \n{_state(stage)}"
                )


def _state(stage: Stage) -> str:
    """A stage's state in two words."""
    if not isinstance(stage, DrawnStage):
        return "planned"
    if stage.state == "closed":
        return f"closed, {many(stage.progress.votes, 'vote')}"
    return f"open, {percent(stage.progress.share)} voted"
