"""Figures that take long: at once where they are small, else by a job that any tab finds again."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core import jobs
from core.store import Store
from core.store.projects import Project
from core.views import evaluate_jobs
from core.views.evaluate import EvaluateView
from core.views.evaluate_jobs import KIND, SLOW
from ui import cache, frame, kept_jobs


def figure(name: str, button: str, view: EvaluateView, project: Project, *extra: Any, help: str = "") -> Any:
    """A figure of `evaluate_jobs.SLOW`; None as long as it isn't there: its `button` or its job is shown."""
    store, slow = frame.store(), SLOW[name]
    if evaluate_jobs.is_quick(name, view, *extra):
        if name == "votes":  # whose draws are kept for every n₀
            return cache.load_intervals(store, project, view)
        with st.spinner(f"{slow.label} …", show_time=True):
            return cache.of_evaluation(slow.made, store, project, view, *extra)
    params = evaluate_jobs.params_of(name, view, project.revision, *extra)
    key = f"{name}-{project.id}-{'-'.join(map(str, extra))}"
    job = kept_jobs.job_of(project, KIND, params, slow.label, button, key=key, help=help)
    return None if job is None else cache.of_evaluation(_found, store, project, view, job)


def _found(_store: Store, _project_id: str, view: EvaluateView, job: jobs.Job) -> Any:
    return evaluate_jobs.result_of(job, view)
