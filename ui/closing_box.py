"""Closing a ballot of many votes: a job, with a sign that it runs."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core import job_sweep, jobs
from core.errors import RunoffError
from core.store.projects import Project
from core.views import closing
from core.views.collect import DrawnStage
from ui import frame

HELP = "It scores this many votes in the background, which may take minutes, or hours. You may leave this page."


def close_button(project: Project, area_id: int | None, stage: DrawnStage, **options: Any) -> None:
    """The button that starts the job, or the job's sign; `options` go to the button."""
    store, key = frame.store(), f"{project.id}-{area_id}-{stage.number}"
    revision = frame.expected()
    job = closing.newest(store, project.id, stage, area_id, revision)
    if job is not None and not job.ended:
        _watch(job.id, stage, key)
        return
    if job is not None and job.state in ("failed", "cancelled"):
        st.warning(frame.plain(closing.ended_said(store, stage, job)))
    if st.button(f"Close {stage.called}", help=HELP, key=f"close-{key}", **options):
        try:
            jobs.start(
                store, closing.KIND, closing.params_of(stage, area_id, revision), project_id=project.id, once=True
            )
        except RunoffError as error:
            frame.show_error(error)
            return
        st.rerun()


@st.fragment(run_every=2)
def _watch(job_id: str, stage: DrawnStage, key: str) -> None:
    store, number = frame.workspace(), stage.number
    job_sweep.sweep(store)
    job = jobs.read_job(store, job_id)
    if job.ended:
        if job.state == "done":
            frame.flash(f"Ballot {number} is closed and its scores are computed.")
        frame.changed_here()
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        message = (
            ":material/hourglass_top: Ballot {number} is being closed in the background, {seconds:,.0f} s so far. "
            "{rests}You may leave this page. Any change to the project stops it."
        )
        if job.started_at is None:
            message = (
                ":material/hourglass_top: Ballot {number} is being closed in the background, starting. {rests}You may "
                "leave this page. Any change to the project stops it."
            )
        rests = "Voting rests meanwhile. " if closing.is_resting(store, stage) else ""
        seconds = jobs.age(job.started_at) if job.started_at else 0.0
        st.caption(message.format(number=number, seconds=seconds, rests=rests))
        if st.button("Stop", key=f"stop-{key}"):
            jobs.cancel(store, job_id)
            frame.changed_here()
            st.rerun()
