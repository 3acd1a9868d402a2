"""The commands of the Collect page that move a collection on: draw, close, reopen, discard."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.store.ballots import PILOT, sentence_start
from core.store.closing import close_ballot, reopen_ballot
from core.store.drawing import discard_ballot, draw_next_ballot, draw_waiting
from core.store.projects import Project
from core.views.closing import takes_long
from core.views.collect import CollectView, Stage
from core.views.overview import Standing
from ui import closing_box, frame, trust_panel


def close_box(project: Project, area_id: int | None, view: CollectView, stage: Stage) -> None:
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
                partial(close_ballot, area_id=area_id),
                project.id,
                done="The pilot is closed: its figures stand below."
                if stage.number == PILOT
                else f"Ballot {stage.number} is closed and its scores are computed.",
                type=kind,
                disabled=not sure,
            )
        if stage.progress.untouched:
            frame.command_button(
                "Discard this draw",
                partial(discard_ballot, area_id=area_id),
                project.id,
                done=f"{sentence_start(stage.called)} is discarded.",
                help="Takes the ballot back; before ballot 1 the plan can be changed again.",
            )


def between_ballots(project: Project, area_id: int | None, view: CollectView, standings: tuple[Standing, ...]) -> None:
    """No ballot is open: draw the next, look at the scores, or open the last one again."""
    trust_panel.worth_of_next(project, area_id)
    with st.container(horizontal=True, vertical_alignment="center"):
        if view.next_number is not None:
            frame.command_button(
                f"Draw ballot {view.next_number}",
                partial(draw_next_ballot, area_id=area_id),
                project.id,
                done=lambda number: f"Ballot {number} is drawn. Download its batch and give it to voters.",
                type="primary",
                icon=":material/casino:",
            )
        waiting = [standing for standing in standings if standing.waits_for_draw]
        if len(waiting) > 1 and view.next_number is not None:
            frame.command_button(
                f"Draw in all {len(waiting)} areas that wait",
                draw_waiting,
                project.id,
                done=lambda n: f"{n} ballots are drawn. Choose an area for its batch.",
                help="Draws the next ballot of every area that has a plan and no open ballot.",
            )
        if view.last_closed is not None:
            frame.link("scores", "See the scores", icon=":material/leaderboard:")
            frame.command_button(
                f"Reopen ballot {view.last_closed.number}",
                partial(reopen_ballot, area_id=area_id),
                project.id,
                done=f"Ballot {view.last_closed.number} is open again.",
                help="Its scores are taken off until it is closed again.",
            )
