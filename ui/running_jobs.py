"""Long work that runs in the background, watched and stopped."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core import job_sweep, jobs
from core.store.projects import Project
from ui import frame


@st.fragment(run_every=1)
def watch(project: Project, doing: Mapping[str, str], *, at_most: bool = False) -> None:
    """Jobs of the kinds in `doing`, which says in words what each does; the page is drawn anew once none runs.

    at_most : the time left is an upper bound.
    """
    store = frame.workspace()
    job_sweep.sweep(store)
    running = [job for job in jobs.project_jobs(store, project.id, *doing) if not job.ended]
    if not running:
        st.rerun()
    for job in running:
        with st.container(horizontal=True, vertical_alignment="center"):
            left = job.seconds_left()
            done = doing[job.kind]
            if left is None:
                text = f"{done}…"
            elif at_most:
                text = f"{done}, at most {left:,.0f} s left"
            else:
                text = f"{done}, {left:,.0f} s left"
            st.progress(job.share, text=text)
            if st.button("Stop", key=f"stop-{job.id}"):
                jobs.cancel(store, job.id)
                st.rerun()
