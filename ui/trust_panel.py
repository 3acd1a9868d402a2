"""How far to trust the scores, line by line, and what another ballot would change."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.store.projects import Project
from core.trust import AMBER, GREEN, RED, Line
from core.views import trust_job
from core.views.trust import QUICK, TrustView, bounds_said, headline, worth_said
from ui import cache, frame, kept_jobs

MARKS = {
    GREEN: ":green[:material/check_circle: good]",
    AMBER: ":orange[:material/warning: weak]",
    RED: ":red[:material/error: bad]",
}

WORST_FIRST = (RED, AMBER, GREEN)


def show(project: Project, area_id: int | None, n_votes: int) -> None:
    """The panel of the Scores page: at once where votes are few, else by a job."""
    st.subheader("How far to trust it")
    view = _view(project, area_id, n_votes)
    if view is None:
        return
    st.markdown(f"**{headline(view.lines)}**")
    _lines(view.lines)
    frame.link("voters", "Look at each voter", icon=":material/groups:", area_id=area_id)
    if view.foresight is None:
        st.caption("What another ballot would change isn't known: it is simulated at closing, up to 200,000 votes.")
        return
    st.markdown(frame.plain(worth_said(view.foresight, view.after, is_last=view.is_last)))
    st.caption(frame.plain(bounds_said()))


def _view(project: Project, area_id: int | None, n_votes: int) -> TrustView | None:
    """The lines with what goes with them; None as long as the job of many votes isn't done."""
    if n_votes <= QUICK:
        return cache.load_trust(frame.store(), project, area_id)
    job = kept_jobs.of_votes(trust_job.FIGURES, project, area_id, "Check the scores", place="trust")
    return None if job is None else cache.load_trust_of(frame.store(), project, area_id, job.id)


def worth_of_next(project: Project, area_id: int | None) -> None:
    """The sentence of the Collect page between two ballots."""
    foresight, after, is_last = cache.load_foresight(frame.store(), project, area_id)
    if foresight is not None:
        st.markdown(frame.plain(worth_said(foresight, after, is_last=is_last)))


def _lines(lines: Sequence[Line]) -> None:
    """The worst come first."""
    for line in sorted(lines, key=lambda line: WORST_FIRST.index(line.level)):
        name, reason, cure = (frame.plain(text) for text in (line.name, line.reason, line.cure))
        st.markdown(f"{MARKS[line.level]} **{name}.** {reason}" + (f" *{cure}*" if cure else ""))
