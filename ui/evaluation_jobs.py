"""Figures that take long: at once where they are small, else by a job that any tab finds again."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core import job_sweep, jobs
from core.errors import RunoffError
from core.spoken import say
from core.store import Store
from core.store.projects import Project
from core.views import evaluate_jobs
from core.views.evaluate import EvaluateView
from core.views.evaluate_jobs import KIND, SLOW
from ui import cache, frame


def figure(name: str, button: str, view: EvaluateView, project: Project, *extra: Any, help: str = "") -> Any:
    """A figure of `evaluate_jobs.SLOW`; None as long as it isn't there: its `button` or its job is shown."""
    store, slow = frame.store(), SLOW[name]
    if evaluate_jobs.is_quick(name, view, *extra):
        if name == "votes":  # whose draws are kept for every n₀
            return cache.load_intervals(store, project, view)
        with st.spinner(f"{say(slow.label)} …", show_time=True):
            return cache.of_evaluation(slow.made, store, project, view, *extra)
    params = evaluate_jobs.params_of(name, view, project.stamp, *extra)
    job = evaluate_jobs.known(store, project.id, params)
    if job is not None and job.state == "done":
        return cache.of_evaluation(_found, store, project, view, job)
    key = f"{name}-{project.id}-{'-'.join(map(str, extra))}"
    if job is not None and not job.ended:
        watch(store, job.id, slow.label, key)
        return None
    if job is not None and job.state == "failed":
        st.warning(frame.plain(say("{what} ended early. {error}", what=say(slow.label), error=job.error)))
    if st.button(button, key=f"compute-{key}", icon=":material/calculate:", help=help or None):
        try:
            jobs.start(store, KIND, params, project_id=project.id, once=True)
        except RunoffError as error:
            frame.show_error(error)
            return None
        st.rerun()
    return None


def _found(_store: Store, _project_id: str, view: EvaluateView, job: jobs.Job) -> Any:
    return evaluate_jobs.result_of(job, view)


@st.fragment(run_every=1)
def watch(store: Store, job_id: str, label: str, key: str) -> None:
    """The sign of a job that runs, with its time and a way to stop it; the page runs anew once it has ended."""
    job_sweep.sweep(store)
    job = jobs.read_job(store, job_id)
    if job.ended:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        if job.started_at is None:
            said = say("{what} in the background, starting. You may leave this page.", what=say(label))
        else:
            said = say(
                "{what} in the background, {seconds:,.0f} s so far. You may leave this page.",
                what=say(label),
                seconds=jobs.age(job.started_at),
            )
        st.caption(f":material/hourglass_top: {said}")
        if st.button(say("Stop"), key=f"stop-{key}"):
            jobs.cancel(store, job_id)
            st.rerun()
