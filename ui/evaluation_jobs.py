"""Figures of the Evaluate page that take long: what is there, what a job measures, and the sign of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from core import figures, jobs
from core.errors import RunoffError
from core.percent import percent
from core.store import Store
from core.store.projects import Project
from core.views import evaluate_jobs
from core.views.evaluate import EvaluateView
from core.views.evaluate_jobs import FIRST, KIND, SEVERAL, SLOW, Shared
from ui import cache, frame, kept_jobs

BEING_COMPUTED = "Intervals are being computed"
INTERVALS = ("votes", "tokens")  # without them nothing is told apart


@dataclass(frozen=True)
class Visit:
    """What a visit of the page wants of its own accord, and who measures what isn't there.

    kept : for each of `FIRST` the row that keeps it; job : what measures those that are left to one, or has ended
    without them; None where there is nothing to measure.
    """

    view: EvaluateView
    project: Project
    kept: dict[str, str | None] = field(repr=False)
    shared: Shared
    job: jobs.Job | None

    def figure(self, name: str, button: str, *, help: str = "") -> Any:
        """A figure of `FIRST`; None as long as it isn't there. One that nobody has asked for yet shows its `button`."""
        id_ = self.kept[name]
        if id_ is not None:
            return _read(name, id_, self.view, self.project)
        if name in self.shared.at_once:
            return _at_once(name, self.view, self.project)
        return None if name in self.shared.by_job else _by_own_job(name, button, self.view, self.project, help=help)

    def is_coming(self, name: str) -> bool:
        """Whether a job measures it now."""
        return name in self.shared.by_job and self.job is not None and not self.job.ended

    @property
    def awaited(self) -> str:
        """Why nobody can be named the best yet, in words: intervals are being computed, or weren't. "" where they are
        there, or are told at once."""
        missing = [name for name in INTERVALS if self.kept[name] is None and name not in self.shared.at_once]
        if any(self.is_coming(name) for name in missing):
            return BEING_COMPUTED
        return "Intervals haven't been computed" if missing else ""

    def has_waited(self) -> bool:
        """Whether this visitor sees the job of these very figures, or saw it."""
        params = evaluate_jobs.params_of_several(self.view, self.project.revision)
        key = f"_waited-{self.project.id}"
        if self.job is not None and not self.job.ended:
            st.session_state[key] = params
        return bool(st.session_state.get(key) == params)

    def sign(self) -> None:
        """The job with its share done, or the button that starts it again where it ended early."""
        if self.job is None:
            return
        params = evaluate_jobs.params_of_several(self.view, self.project.revision)
        if not self.job.ended:
            mine = self.job.params == params
            what = "Intervals" if any(map(self.is_coming, INTERVALS)) else "More figures"
            said = f"{what} are being computed" if mine else "Figures for other settings come first"
            kept_jobs.watch(self.job.id, partial(_bar, said), self.job.id)
            return
        if self.job.state == "failed":
            st.warning(frame.plain(f"Computing the intervals ended early. {self.job.error}"))
        kept_jobs.start_button(self.project, SEVERAL, params, "Compute intervals", f"first-{self.project.id}")


def visit(view: EvaluateView, project: Project) -> Visit:
    """What is there for a visit. What takes long and isn't there is begun, unless it was before and ended early."""
    wanted = _wanted(FIRST, view, project)
    kept = _kept_ids(wanted)
    shared = evaluate_jobs.share_out([figure for figure in wanted if kept[figure.name] is None])
    return Visit(view, project, kept, shared, _job(frame.store(), view, project) if shared.by_job else None)


def kept(names: Sequence[str], view: EvaluateView, project: Project) -> list[Any]:
    """Figures that are kept of the project as it stands; None for one that isn't, and nothing is begun."""
    return [
        None if id_ is None else _read(name, id_, view, project)
        for name, id_ in _kept_ids(_wanted(names, view, project)).items()
    ]


def _wanted(names: Sequence[str], view: EvaluateView, project: Project) -> list[evaluate_jobs.EvaluateFigure]:
    return [evaluate_jobs.figure_of(name, project.id, view, project.revision) for name in names]


def _kept_ids(wanted: Sequence[evaluate_jobs.EvaluateFigure]) -> dict[str, str | None]:
    """By name the row that keeps a figure."""
    return dict(zip((figure.name for figure in wanted), figures.kept_ids(frame.store(), wanted), strict=True))


def _read(name: str, job_id: str, view: EvaluateView, project: Project) -> Any:
    """What a row keeps, read once."""
    return cache.of_evaluation(_found, frame.store(), project, view, name, job_id)


def _job(store: Store, view: EvaluateView, project: Project) -> jobs.Job | None:
    """The job that measures a view's figures; else one that does so with other settings, as a project has one at a
    time; else one that is started now. None where none can be.

    It begins by itself, whatever page the visitor came from, and changes nothing: so in the workspace without a guard.
    """
    params = evaluate_jobs.params_of_several(view, project.revision)
    if (same := jobs.same_job(store, project.id, SEVERAL, params)) is not None:
        return same
    busy = [job for job in jobs.project_jobs(store, project.id, SEVERAL) if not job.ended]
    if busy:
        return busy[0]
    try:
        return jobs.read_job(store, jobs.start(frame.workspace(), SEVERAL, params, project_id=project.id, once=True))
    except RunoffError as error:
        frame.show_error(error)
        return None


def _bar(said: str, job: jobs.Job) -> None:
    """How far a job is."""
    st.progress(job.share, text=f"{said}, {percent(job.share)}. You may leave this page.")


def figure(name: str, button: str, view: EvaluateView, project: Project, *extra: Any, help: str = "") -> Any:
    """A figure of `evaluate_jobs.SLOW` that is asked for; None as long as it isn't there: its `button` or its job is
    shown. What takes next to nothing is there at once."""
    wanted = evaluate_jobs.figure_of(name, project.id, view, project.revision, *extra)
    if wanted.seconds() <= evaluate_jobs.AT_ONCE:
        return _at_once(name, view, project, *extra)
    return _by_own_job(name, button, view, project, *extra, help=help)


def _at_once(name: str, view: EvaluateView, project: Project, *extra: Any) -> Any:
    with st.spinner(f"{SLOW[name].label} …", show_time=True):
        return cache.of_evaluation(SLOW[name].made, frame.store(), project, view, *extra)


def _by_own_job(name: str, button: str, view: EvaluateView, project: Project, *extra: Any, help: str = "") -> Any:
    params = evaluate_jobs.params_of(name, view, project.revision, *extra)
    key = f"{name}-{project.id}-{'-'.join(map(str, extra))}"
    job = kept_jobs.job_of(project, KIND, params, SLOW[name].label, button, key=key, help=help)
    return None if job is None else _read(name, job.id, view, project)


def _found(store: Store, _project_id: str, view: EvaluateView, _name: str, job_id: str) -> Any:
    return evaluate_jobs.result_of(jobs.read_job(store, job_id), view)
