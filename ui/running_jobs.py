"""Long work that runs in the background, watched and stopped."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core import jobs
from core.store.projects import Project
from ui import frame


@st.fragment(run_every=1)
def watch(project: Project, doing: Mapping[str, str], *, at_most: bool = False) -> None:
    """Jobs of the kinds in `doing`, which says in words what each does; the page is drawn anew once none runs.

    at_most : the time left is an upper bound.
    """
    store = frame.store()
    jobs.sweep(store)
    running = [job for job in jobs.project_jobs(store, project.id, *doing) if not job.ended]
    if not running:
        st.rerun()
    for job in running:
        with st.container(horizontal=True, vertical_alignment="center"):
            left = job.seconds_left()
            rest = "…" if left is None else f", {'at most ' if at_most else ''}{left:,.0f} s left"
            st.progress(job.share, text=doing[job.kind] + rest)
            if st.button("Stop", key=f"stop-{job.id}"):
                jobs.cancel(store, job.id)
                st.rerun()
