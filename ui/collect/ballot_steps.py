"""The commands of the Collect page that move a collection on: draw, close, reopen, discard."""

from __future__ import annotations

import streamlit as st

from core.commands.ballots import CloseBallot, DiscardBallot, DrawBallot, DrawWaiting, ReopenBallot
from core.store.projects.project_commands import Project
from core.views.collect.collect_page import CollectView, DrawnStage
from core.views.overview import RankingStatus
from ui.scores import trust_panel
from ui.shared import frame, jobs


def close_steps(project: Project, view: CollectView, stage: DrawnStage) -> None:
    """The end of a ballot, with what should be known before; or its draw taken back, before the first vote.

    It is the page's next step once most have voted, and stands in the menu until then.
    """
    if stage.progress.untouched:
        st.caption("It can be closed once it has votes.")
    elif view.warnings:
        said = "\n\n".join(map(frame.plain, view.warnings))
        if view.may_close:
            st.warning(said, icon=":material/lightbulb:")
        else:
            st.caption(said)
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
