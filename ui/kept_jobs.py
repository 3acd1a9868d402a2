"""What a job finds and keeps: the button that asks for it, the sign that it runs, and what became of it.

Any tab finds it: jobs are looked up by what they were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from core import job_sweep, jobs
from core.errors import RunoffError
from core.percent import percent
from core.plurals import plural
from core.store import Store
from core.store.projects import Project
from core.views.kept_figures import KeptFigures
from core.views.words import moment
from ui import frame

HELP = "It reads all votes in the background, which may take some minutes. You may leave this page."


def of_votes(
    figures: KeptFigures[Any],
    project: Project,
    area_id: int | None,
    button: str,
    *,
    place: str,
    extra: Sequence[int] = (),
) -> jobs.Job | None:
    """The job that has measured the votes of a ranking, with `extra` asked for; see `job_of`.

    Where votes have come in on the voting page since, that is said above the figures, and they can be made anew.
    """
    key = f"{place}-{project.id}-{area_id}"
    params = figures.params_of(area_id, project.revision, *extra)
    job = job_of(project, figures.kind, params, figures.label, button, key=key, help=HELP, holds=figures.is_there)
    since = figures.votes_since(project, job) if job is not None else 0
    if job is not None and since:
        with st.container(horizontal=True, vertical_alignment="center"):
            told = plural(
                since,
                "As of {moment}; {n} vote was given or taken back since.",
                "As of {moment}; {n} votes were given or taken back since.",
                moment=moment(job.created_at),
            )
            st.caption(f":material/history: {frame.plain(told)}")
            start_button(project, figures.kind, params, "Compute it anew", f"anew-{key}", HELP)
    return job


def job_of(
    project: Project,
    kind: str,
    params: dict[str, Any],
    label: str,
    button: str,
    *,
    key: str,
    help: str = "",
    holds: Callable[[Store, jobs.Job], bool] | None = None,
) -> jobs.Job | None:
    """The job that has done just this; None as long as none has: the `button` that starts it, or its sign, is shown.

    label : what a job says is going on; holds : whether what a job that is done has made is still there.
    """
    store = frame.store()
    job = jobs.same_job(store, project.id, kind, params)
    if job is not None and job.state == "done" and (holds is None or holds(store, job)):
        return job
    if job is not None and not job.ended:
        watch(job.id, partial(so_far, label), key)
        return None
    if job is not None and job.state == "failed":
        st.warning(frame.plain(f"{label} ended early. {job.error}"))
    start_button(project, kind, params, button, f"compute-{key}", help)
    return None


def start_button(project: Project, kind: str, params: dict[str, Any], button: str, key: str, help: str = "") -> None:
    """A button that starts a job, unless the same is under way."""
    if st.button(button, key=key, icon=":material/calculate:", help=help or None):
        try:
            jobs.start(frame.store(), kind, params, project_id=project.id, once=True)
        except RunoffError as error:
            frame.show_error(error)
            return
        st.rerun()


@st.fragment(run_every=1)
def watch(job_id: str, sign: Callable[[jobs.Job], Any], key: str) -> None:
    """The `sign` of a job that runs, and a way to stop it; the page runs anew once it has ended."""
    store = frame.workspace()
    job_sweep.sweep(store)
    job = jobs.find_job(store, job_id)
    if job is None or job.ended:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        sign(job)
        if st.button("Stop", key=f"stop-{key}"):
            jobs.cancel(store, job_id)
            st.rerun()


def so_far(label: str, job: jobs.Job) -> None:
    """How far a job is, and its time."""
    if job.started_at is None:
        said = f"{label} in the background, starting. You may leave this page."
    else:
        done = f"{percent(job.share)}, " if job.total else ""
        done += f"{jobs.age(job.started_at):,.0f} s so far"
        said = f"{label} in the background, {done}. You may leave this page."
    st.caption(f":material/hourglass_top: {said}")
