"""What a figure is, and how it is kept: measured once of the project as it stands, by a page, a job or a script.

A figure hangs on the project's revision, which every command raises, and on settings. It is kept as the outcome of a
job that is done, whoever measured it. So any tab finds it, also after a restart, and it goes with its project. Those of
an earlier revision go as soon as a newer one is kept. A file that goes with it lies beside (`put_output`) for a
day. Votes that come in on the voting page raise no revision: a kept figure is of the votes there were, and says so.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar, get_args

import sqlalchemy as sa

from ...base.parallel import Progress, split
from ...errors import StoreError
from ...jobs.lifecycle import JOBS, Job, same_job
from ...store import Store
from ...store import schema as t
from ...store.command import ENDED, insert_done, mark_done
from ...store.projects.project_commands import Project, get_project
from ...store.stored_files import output_path, put_output, read_output
from ..base import from_json, result_type, to_json

CHANGED = "The votes or the project changed while this was computed. Ask again."
MAX_STORED = 200  # figures of one kind that a project keeps: the newest
R = TypeVar("R")


@dataclass(frozen=True)
class Figure(ABC, Generic[R]):
    """What is measured of a project as it stands at a revision; its other fields are its arguments.

    name : what is measured; version : raised whenever the same arguments would give another result, or another shape of
    it; doing : what a job says meanwhile; kind : of the rows that keep it.
    """

    name: ClassVar[str]
    version: ClassVar[int]
    doing: ClassVar[str]
    kind: ClassVar[str] = "figure"
    lasts: ClassVar[bool] = False  # it hangs on its arguments alone, whatever becomes of the project; revision is 0

    project_id: str
    revision: int

    @property
    def arguments(self) -> Mapping[str, Any]:
        """All else that the result hangs on, as JSON."""
        return {name: value for name, value in to_json(self).items() if name not in ("project_id", "revision")}

    @classmethod
    def result(cls) -> Any:
        """The type of the result."""
        return get_args(result_type(cls.measure))[0]

    @abstractmethod
    def seconds(self, conn: sa.Connection) -> float:
        """How long it takes, roughly, on one quiet core: at once or as a job is decided by this alone."""

    @abstractmethod
    def measure(self, store: Store, progress: Progress | None) -> tuple[R, bytes | None]:
        """Measure it of the project as it is now: the result, whose type is declared, and the file that goes with it,
        if there is one."""


@dataclass(frozen=True, eq=False)
class MeasuredFigure(Generic[R]):
    """A figure that was measured: its result, and what reads its file (`StoreError` where that is gone).

    key : tells it from others of the same kind; job : that which keeps it, None where it was measured at once.
    """

    result: R
    key: str
    read_file: Callable[[], bytes]
    job: Job | None = None

    def votes_since(self, project: Project) -> int:
        """How many votes were given or taken back on the voting page since it was begun; 0 for one of now."""
        pulse = (self.job.result or {}).get("pulse") if self.job else None
        return 0 if pulse is None else project.pulse - int(pulse)


def params_of(figure: Figure[Any]) -> dict[str, Any]:
    """What a figure is found by, beside its project and its kind."""
    settings = json.loads(json.dumps(figure.arguments))
    return {"figure": figure.name, "version": figure.version, "revision": figure.revision, **settings}


def figure_of(job: Job, kind: type[Figure[R]]) -> Figure[R]:
    """The figure of a job's parameters."""
    settings = {name: value for name, value in job.params.items() if name not in ("figure", "version")}
    return from_json({"project_id": job.project_id, **settings}, kind)


def measure_now(store: Store, figure: Figure[R]) -> MeasuredFigure[R]:
    """Measure a figure for whoever waits for it; nothing is kept. Errors as of the figure."""
    result, data = figure.measure(store, None)
    return MeasuredFigure(result, f"{json.dumps(params_of(figure))} now", lambda: data or b"")


def kept_or_measured(store: Store, figure: Figure[R], project: Project) -> MeasuredFigure[R]:
    """What is kept of a figure, if no vote came in since, else the figure measured now; errors as of the figure."""
    job = job_of(store, figure)
    if job is not None and is_there(store, figure, job):
        found = read(store, figure, job)
        if not found.votes_since(project):
            return found
    return measure_now(store, figure)


def job_of(store: Store, figure: Figure[Any]) -> Job | None:
    """The newest job that measures just this, or has; None without one."""
    return same_job(store, figure.project_id, figure.kind, params_of(figure))


def is_there(store: Store, figure: Figure[Any], job: Job) -> bool:
    """Whether what a job has found is still there: files go after a day."""
    return job.state == "done" and (not (job.result or {}).get("file") or output_path(store, job.id).is_file())


def read(store: Store, figure: Figure[R], job: Job) -> MeasuredFigure[R]:
    """What a job that is done has found."""
    result = from_json((job.result or {})["found"], figure.result())
    return MeasuredFigure(result, job.id, partial(read_output, output_path(store, job.id)), job)


def stored_ids(store: Store, figures: Sequence[Figure[Any]]) -> list[str | None]:
    """For each of some figures of one kind and project the id of the row that keeps it; None where none does."""
    if not figures:
        return []
    first = figures[0]
    with store.read() as conn:
        query = sa.select(t.job.c.id, t.job.c.params).where(*_of(first.project_id, first.kind), t.job.c.state == "done")
        rows = conn.execute(query.order_by(t.job.c.created_at.desc())).all()
    return [next((id_ for id_, known in rows if known == wanted), None) for wanted in map(params_of, figures)]


def carry_out(store: Store, figure: Figure[Any], job_id: str, progress: Progress | None) -> None:
    """Measure a figure as its job does, and keep it in the job's row; errors as of `measured`."""
    result, data = measured(store, figure, progress)
    if data is not None:
        put_output(store, job_id, data)
    with store.write(JOBS) as conn:
        mark_done(conn, job_id, result)
        tidy(conn, figure.project_id, figure.kind, figure.revision)


def measured(
    store: Store, figure: Figure[Any], progress: Progress | None = None
) -> tuple[dict[str, Any], bytes | None]:
    """A figure's result as it is kept, and its file. `StoreError` where the project isn't at the figure's revision
    before it or after it; errors of the figure."""
    project = get_project(store, figure.project_id)
    if not figure.lasts and project.revision != figure.revision:
        raise StoreError(CHANGED)
    result, data = figure.measure(store, progress)
    if not figure.lasts and get_project(store, figure.project_id).revision != figure.revision:
        raise StoreError(CHANGED)
    content = json.loads(json.dumps(to_json(result, figure.result()), allow_nan=False))
    return {"pulse": project.pulse, "found": content} | ({"file": True} if data is not None else {}), data


def measure_and_keep(store: Store, figures: Iterable[Figure[Any]], progress: Progress | None = None) -> list[str]:
    """Measure figures without files one after the other, each kept as soon as it is there; the names of those that
    weren't before.

    `progress` is told of all of them together. Raises as `measured`; what was kept until then stays.
    """
    every = list(figures)
    missing = [figure for figure, id_ in zip(every, stored_ids(store, every), strict=True) if id_ is None]
    with store.read() as conn:
        seconds = [figure.seconds(conn) for figure in missing]
    for figure, of_this in zip(missing, split(progress, seconds), strict=True):
        keep(store, figure, measured(store, figure, of_this)[0])
        if of_this is not None:
            of_this(1, 1)
    return [figure.name for figure in missing]


def keep(store: Store, figure: Figure[Any], result: Mapping[str, Any]) -> str:
    """Keep a result of `measured` in the place of older ones; the id of its row."""
    with store.write(JOBS) as conn:
        id_ = insert_done(conn, figure.project_id, figure.kind, params_of(figure), dict(result))
        tidy(conn, figure.project_id, figure.kind, figure.revision)
    return id_


def tidy(conn: sa.Connection, project_id: str, kind: str, revision: int) -> None:
    """Remove what was kept, or failed, of another revision of a project, and the oldest of more than `MAX_STORED`."""
    query = sa.select(t.job.c.id, t.job.c.params).where(*_of(project_id, kind), t.job.c.state.in_(ENDED))
    rows = conn.execute(query.order_by(t.job.c.created_at.desc())).all()
    old = [id_ for id_, params in rows if params.get("revision") != revision]
    current = [id_ for id_, params in rows if params.get("revision") == revision]
    if gone := [*old, *current[MAX_STORED:]]:
        conn.execute(sa.delete(t.job).where(t.job.c.id.in_(gone)))


def _of(project_id: str, kind: str) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return t.job.c.project_id == project_id, t.job.c.kind == kind
