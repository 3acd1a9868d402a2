"""Figures of the Evaluate page that take long: what is there, what a job measures, and the sign of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from core.base.numbers_in_words import percent
from core.commands import executor
from core.commands.figures import base
from core.commands.figures.base import MeasuredFigure, params_of, stored_ids
from core.commands.figures.evaluation import FIRST, FirstVisit, MeasuringPolicy, OfEvaluation, figure_of, share_out
from core.errors import RunoffError
from core.jobs import lifecycle as rows
from core.store.projects.project_commands import Project
from core.views.evaluate.evaluate_page import EvaluateView, intervals
from core.views.evaluate.token_intervals import tokens_view
from ui.shared import cache, frame, jobs

BEING_COMPUTED = "Intervals are being computed"
INTERVALS = ("votes", "tokens")  # without them nothing is told apart
_SHOWN: Mapping[str, Callable[[EvaluateView, Any], Any]] = {"votes": intervals, "tokens": tokens_view}


@dataclass(frozen=True)
class Visit:
    """What a visit of the page wants of its own accord, and who measures what isn't there.

    kept : for each of `FIRST` the row that keeps it; job : what measures those that are left to one, or has ended
    without them; None where there is nothing to measure.
    """

    view: EvaluateView
    project: Project
    kept: Mapping[str, str | None] = field(repr=False)
    shared: MeasuringPolicy
    job: rows.Job | None

    def figure(self, name: str, button: str, *, help: str = "") -> Any:
        """A figure of `FIRST`; None as long as it isn't there. One that nobody has asked for yet shows its `button`."""
        wanted, id_ = figure_of(name, self.project.id, self.view, self.project.revision), self.kept[name]
        if id_ is not None:
            return _read(wanted, id_, self.view, self.project)
        if name in self.shared.at_once:
            return _for_page(wanted, _measured(wanted, self.project), self.view, self.project)
        return None if name in self.shared.by_job else _on_request(wanted, button, self.view, self.project, help)

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

    @property
    def wanted(self) -> FirstVisit:
        """What the job of just this visit measures."""
        return FirstVisit(self.project.id, self.project.revision, self.view.key)

    def has_waited(self) -> bool:
        """Whether this visitor sees the job of these very figures, or saw it."""
        params, key = params_of(self.wanted), f"_waited-{self.project.id}"
        if self.job is not None and not self.job.ended:
            st.session_state[key] = params
        return bool(st.session_state.get(key) == params)

    def sign(self) -> None:
        """The job with its share done, or the button that starts it again where it ended early."""
        if self.job is None:
            return
        if not self.job.ended:
            mine = self.job.params == params_of(self.wanted)
            what = "Intervals" if any(map(self.is_coming, INTERVALS)) else "More figures"
            doing = f"{what} are being computed" if mine else "Figures for other settings come first"
            jobs.watch(self.job.id, partial(_bar, doing), self.job.id)
            return
        if self.job.state == "failed":
            st.warning(frame.plain(f"{self.wanted.doing} ended early. {self.job.error}"))
        jobs.start_button(self.wanted, "Compute intervals", f"first-{self.project.id}")


def visit(view: EvaluateView, project: Project) -> Visit:
    """What is there for a visit. What takes long and isn't there is begun, unless it was before and ended early."""
    wanted = _wanted(FIRST, view, project)
    kept = _kept_ids(wanted)
    without_job = Visit(
        view, project, kept, share_out([figure for figure in wanted if kept[figure.name] is None]), None
    )
    return (
        Visit(view, project, kept, without_job.shared, _job(without_job.wanted))
        if without_job.shared.by_job
        else without_job
    )


def kept(names: Sequence[str], view: EvaluateView, project: Project) -> list[Any]:
    """Figures that are kept of the project as it stands; None for one that isn't, and nothing is begun."""
    wanted = _wanted(names, view, project)
    ids = _kept_ids(wanted)
    return [None if (id_ := ids[each.name]) is None else _read(each, id_, view, project) for each in wanted]


def _wanted(names: Sequence[str], view: EvaluateView, project: Project) -> list[OfEvaluation[Any]]:
    return [figure_of(name, project.id, view, project.revision) for name in names]


def _kept_ids(wanted: Sequence[OfEvaluation[Any]]) -> dict[str, str | None]:
    """By figure's name the id of the job's row that stores it; None where there is none."""
    return dict(zip((figure.name for figure in wanted), stored_ids(frame.store(), wanted), strict=True))


def _read(wanted: OfEvaluation[Any], job_id: str, view: EvaluateView, project: Project) -> Any:
    """The figure that a job's row stores, read once."""
    measured = cache.kept(frame.store(), project, wanted, rows.read_job(frame.store(), job_id))
    return _for_page(wanted, measured, view, project)


def _for_page(wanted: OfEvaluation[Any], measured: MeasuredFigure[Any], view: EvaluateView, project: Project) -> Any:
    """A figure as pages take it: its result, or, for bounds, a view with intervals."""
    make = _SHOWN.get(wanted.name)
    if make is None:
        return measured.result
    return cache.of_figure(wanted.name, frame.store(), project, measured, lambda: make(view, measured.result))


def _measured(wanted: OfEvaluation[Any], project: Project) -> MeasuredFigure[Any]:
    """A figure measured at once."""
    with st.spinner(f"{wanted.doing} …", show_time=True):
        return cache.measured(frame.store(), project, wanted)


def _job(wanted: FirstVisit) -> rows.Job | None:
    """The job that measures a visit's figures; else one that does so with other settings, as a project has one at a
    time; else one that is started now. None where none can be.

    It begins by itself, whatever page the visitor came from, and changes nothing: so in the workspace without a guard.
    """
    store = frame.store()
    if (same := base.job_of(store, wanted)) is not None:
        return same
    busy = [job for job in rows.project_jobs(store, wanted.project_id, wanted.kind) if not job.ended]
    if busy:
        return busy[0]
    try:
        return rows.read_job(store, executor.start(frame.workspace(), wanted))
    except RunoffError as error:
        frame.show_error(error)
        return None


def _bar(doing: str, job: rows.Job) -> None:
    """How far a job is."""
    st.progress(job.share, text=f"{doing}, {percent(job.share)}. You may leave this page.")


def figure(name: str, button: str, view: EvaluateView, project: Project, *extra: Any, help: str = "") -> Any:
    """A figure that is asked for; None as long as it isn't there: its `button` or its job is shown. What is short is
    there at once."""
    return _on_request(figure_of(name, project.id, view, project.revision, *extra), button, view, project, help)


def _on_request(wanted: OfEvaluation[Any], button: str, view: EvaluateView, project: Project, help: str) -> Any:
    """A figure behind its button; None as long as it isn't there."""
    key = f"{wanted.name}-{project.id}-{'-'.join(map(str, wanted.extra))}"
    measured = jobs.figure(wanted, project, button, key=key, help=help or None)
    return None if measured is None else _for_page(wanted, measured, view, project)
