"""Commands carried out and figures measured: at once where they are short, else by a job in a process of its own.

Any tab can say what a job's command does and did, from the row of the job: its parameters are the command as JSON, its
result what came of it. The job ends in the command's own transaction, so that a command never happens without its job
saying so; of a command in several parts, or of the workspace, in a transaction after it.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, overload

import sqlalchemy as sa

from ..base.parallel import Progress
from ..errors import StoreError
from ..jobs import lifecycle
from ..jobs.lifecycle import JOBS, Job
from ..store import Store
from ..store import schema as t
from ..store.command import mark_done
from . import ballots, judging, projects, votes
from .base import Command, R, from_json, result_type, to_json
from .figures import base as figures
from .figures.base import Figure, MeasuredFigure, measure_now
from .figures.evaluation import OF_EVALUATION, FirstVisit
from .figures.files import Assignments, DatasetFile, ProjectFile, ReadFile
from .figures.rehearsal import Rehearsal
from .figures.simulations import BestPlan, KindsAtEqualTime, OtherBudgets, PlanOutlook, RequiredSample
from .figures.votes import ChecksOfVotes, TrustLines, VoterFigures, WithoutVoters
from .judging import JudgeFigure

KIND = "command"  # of jobs
AT_ONCE = 2.0  # seconds that somebody waits for; what takes longer is a job
OTHER_VERSION = "This work was begun by another version of Runoff. Ask for it again."
_OF_VOTES: tuple[type[Figure[Any]], ...] = (
    *(VoterFigures, ChecksOfVotes, TrustLines, WithoutVoters),
    *(ReadFile, DatasetFile, ProjectFile, Assignments, JudgeFigure, Rehearsal),
)
_EVALUATION: tuple[type[Figure[Any]], ...] = (*OF_EVALUATION.values(), FirstVisit, RequiredSample)
_SIMULATED: tuple[type[Figure[Any]], ...] = (PlanOutlook, OtherBudgets, BestPlan, KindsAtEqualTime)
FIGURES: dict[str, type[Figure[Any]]] = {figure.name: figure for figure in (*_OF_VOTES, *_EVALUATION, *_SIMULATED)}
COMMANDS: dict[str, type[Command[Any]]] = {
    command.name: command
    for command in (
        *(ballots.DrawBallot, ballots.DrawWaiting, ballots.DiscardBallot, ballots.CloseBallot, ballots.ReopenBallot),
        *(ballots.DrawRound, ballots.SimulateVotes, ballots.OpenVoting, judging.AskModel),
        *(votes.ExcludeVoters, votes.ReadmitVoters, votes.WithdrawVoters, votes.ReviewAssignments),
        *(votes.TakeUploads, votes.WithdrawUpload, votes.SetPolicy),
        *(projects.CopyProject, projects.DeleteProject, projects.ImportProject, projects.ReleaseVersion),
    )
}


@dataclass(frozen=True)
class Done(Generic[R]):
    """What came of a command, or the figure as it was measured (`figures.base.MeasuredFigure`)."""

    result: R


@dataclass(frozen=True)
class Started:
    """The job that carries a command out, or measures a figure."""

    job_id: str


@overload
def submit(store: Store, what: Command[R]) -> Done[R] | Started: ...
@overload
def submit(store: Store, what: Figure[R]) -> Done[MeasuredFigure[R]] | Started: ...
def submit(store: Store, what: Command[Any] | Figure[Any]) -> Done[Any] | Started:
    """Carry a command out or measure a figure at once, or have a job do it, by how long it takes; errors as of it."""
    if takes_long(store, what):
        return Started(start(store, what))
    return Done(what.run(store) if isinstance(what, Command) else measure_now(store, what))


def takes_long(store: Store, what: Command[Any] | Figure[Any]) -> bool:
    """Whether a command or a figure is one for a job."""
    with store.read() as conn:
        return what.seconds(conn) > AT_ONCE


def start(store: Store, what: Command[Any] | Figure[Any]) -> str:
    """Have a job carry a command out or measure a figure, whatever it takes; the id of the one that does so already,
    if there is one."""
    if isinstance(what, Command):
        return lifecycle.start(store, KIND, params_of(what), project_id=what.project_id, once=True)
    return lifecycle.start(store, what.kind, figures.params_of(what), project_id=what.project_id, once=True)


def params_of(command: Command[Any]) -> dict[str, Any]:
    """A command as its job keeps it."""
    arguments = json.loads(json.dumps(to_json(command)))  # as the table of jobs gives it back: keys are texts
    arguments.pop("project_id", None)
    arguments.pop("revision", None)
    return {"command": command.name, "arguments": arguments, "revision": command.revision}


def command_of(job: Job) -> Command[Any] | None:
    """The command of a job; None where this version knows none such."""
    kind = COMMANDS.get(str(job.params.get("command"))) if job.kind == KIND else None
    if kind is None:
        return None
    of_project = {"project_id": job.project_id, "revision": job.params.get("revision")}
    try:
        return from_json({**job.params["arguments"], **of_project}, kind)
    except Exception:  # noqa: BLE001 - cattrs raises groups of whatever a type's own code raises
        return None


def measure(store: Store, job: Job, progress: Progress | None) -> None:
    """Measure the figure that a job is for, and keep it."""
    kind = FIGURES.get(str(job.params.get("figure")))
    if kind is None or kind.version != job.params.get("version"):
        raise StoreError(OTHER_VERSION)
    figures.carry_out(store, figures.figure_of(job, kind), job.id, progress)


def carry_out(store: Store, job: Job, progress: Progress | None = None) -> None:
    """Do the command that a job is for. It stops at a signal as an error would, so that what must be put back is."""
    command = command_of(job)
    if command is None:
        raise StoreError(OTHER_VERSION)
    in_one = command.project_id is not None and not command.in_parts
    with _signals_as_errors():
        result = command.run_with(store.for_job(job.id) if in_one else store, progress)
    with store.write(JOBS) as conn:
        mark_done(conn, job.id, {"found": to_json(result, result_type(type(command).run))})


@contextmanager
def _signals_as_errors() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def result_of(command: Command[R], job: Job) -> R | None:
    """What came of the command of a job that is done; None where its process ended before it could tell."""
    if job.result is None:
        return None
    return from_json(job.result["found"], result_type(type(command).run))


def doing(job: Job) -> str:
    """What a job does, in words."""
    command = command_of(job)
    return "Work of another version of Runoff" if command is None else command.doing


def done_text(job: Job) -> str:
    """What a job that is done did."""
    command = command_of(job)
    if command is None or job.result is None:
        return f"{doing(job)} has ended; the log says what was done."
    return command.summary(result_of(command, job))


def opened(job: Job) -> str | None:
    """The project that whoever asked for a job that is done wants to see."""
    command = command_of(job)
    return None if command is None or job.result is None else command.opens(result_of(command, job))


def ended_text(store: Store, job: Job) -> str:
    """That a command was stopped, or ended early, and why."""
    command = command_of(job)
    sentence = f"{doing(job)} ended early. {job.error or ''}".rstrip()
    if job.state == "cancelled" and command is not None and command.in_parts:
        sentence = f"{command.doing} was cancelled. What was done before stands in the log."
    elif job.state == "cancelled":
        sentence = f"{doing(job)} was cancelled; nothing was changed."
    if command is None:
        return sentence
    with store.read() as conn:
        return f"{sentence} {command.afterwards(conn)}".rstrip()


def meanwhile(store: Store, job: Job) -> str:
    """What else is to be known while a job runs."""
    command = command_of(job)
    if command is None:
        return ""
    with store.read() as conn:
        return command.meanwhile(conn)


def under_way(store: Store, project_id: str | None) -> list[Job]:
    """The commands of a project, and of the workspace, that jobs carry out now."""
    here = sa.or_(t.job.c.project_id == project_id, t.job.c.project_id.is_(None))
    with store.read() as conn:
        return lifecycle.running_jobs(conn, here, t.job.c.kind == KIND)


def last_of(store: Store, command: Command[Any]) -> Job | None:
    """The newest job of just this command; None without one."""
    return lifecycle.same_job(store, command.project_id or "", KIND, params_of(command)) if command.project_id else None
