"""The commands of the Collect page that move a collection on: draw, close, reopen, discard."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.protocols import protocol_of
from core.store.ballots import PILOT
from core.store.closing import close_ballot
from core.store.projects import Project
from core.views.closing import takes_long
from core.views.collect import CollectView, DrawnStage
from core.views.long_commands import FITTED, is_many
from core.views.overview import Standing
from ui import closing_box, frame, long_commands, trust_panel


def close_box(project: Project, area_id: int | None, view: CollectView, stage: DrawnStage) -> None:
    """The end of a ballot, with what should be known before."""
    if stage.progress.untouched:
        st.caption("It can be closed once it has votes.")
    if view.warnings and not stage.progress.untouched:
        st.warning("\n\n".join(map(frame.plain, view.warnings)), icon=":material/lightbulb:")
    complete = not view.warnings
    ask = not complete and not stage.progress.untouched
    sure = complete or (ask and st.checkbox("Close it all the same", key=f"sure-{project.id}-{project.revision}"))
    with st.container(horizontal=True):
        kind = "primary" if complete else "secondary"
        if takes_long(view, stage):
            closing_box.close_button(project, area_id, stage, type=kind, disabled=not sure)
        else:
            frame.command_button(
                f"Close {stage.called}",
                partial(close_ballot, area_id=area_id, code=stage.ballot.code),
                project.id,
                done="The pilot is closed: its figures stand below."
                if stage.number == PILOT
                else f"Ballot {stage.number} is closed and its scores are computed.",
                type=kind,
                disabled=not sure,
            )
        if stage.progress.untouched:
            long_commands.offer(
                "Discard this draw",
                project,
                "discard_ballot",
                {"area_id": area_id, "code": stage.ballot.code, "number": stage.number},
                is_long=is_many(stage.n_comparisons),
                help="Takes the ballot back; before ballot 1 the plan can be changed again.",
            )


def between_ballots(project: Project, area_id: int | None, view: CollectView, standings: tuple[Standing, ...]) -> None:
    """No ballot is open: draw the next, look at the scores, or open the last one again."""
    trust_panel.worth_of_next(project, area_id)
    with st.container(horizontal=True, vertical_alignment="center"):
        if view.next_number is not None:
            long_commands.offer(
                f"Draw ballot {view.next_number}",
                project,
                "draw_ballot",
                {"area_id": area_id},
                is_long=_draw_is_long(view),
                type="primary",
                icon=":material/casino:",
            )
        waiting = [standing for standing in standings if standing.waits_for_draw]
        if len(waiting) > 1 and view.next_number is not None:
            long_commands.offer(
                f"Draw in all {len(waiting)} areas that wait",
                project,
                "draw_waiting",
                {},
                is_long=is_many(len(waiting) * view.stages[view.next_number - 1].n_comparisons),
                help="Draws the next ballot of every area that has a plan and no open ballot.",
            )
        if view.last_closed is not None:
            frame.link("scores", "See the scores", icon=":material/leaderboard:")
            long_commands.offer(
                f"Reopen ballot {view.last_closed.number}",
                project,
                "reopen_ballot",
                {"area_id": area_id, "code": view.last_closed.ballot.code, "number": view.last_closed.number},
                is_long=is_many(view.last_closed.n_comparisons),
                help="Its scores are taken off until it is closed again.",
            )


def _draw_is_long(view: CollectView) -> bool:
    """Whether drawing the next ballot takes more than about a second; a protocol may fit all votes so far."""
    coming = next(stage for stage in view.stages if stage.number == view.next_number)
    votes = sum(stage.n_comparisons for stage in view.drawn if protocol_of(stage.ballot.protocol).about.whole_field)
    return is_many(coming.n_comparisons) or votes > FITTED
