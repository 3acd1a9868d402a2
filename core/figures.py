"""Figures of a project that take long to measure: measured once of the project as it stands, and kept on the disk.

A figure hangs on the project's revision, which every command raises, and on settings. It is kept as the outcome of a
job that is done, whoever measured it: a job's process, or a script. So any tab finds it, also after a restart, and it
goes with its project. Those of an earlier revision go as soon as a newer one is kept. Votes that come in on the voting
page raise no revision.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import sqlalchemy as sa

from .errors import StoreError
from .jobs import JOBS
from .progress import Progress, split
from .store import Store
from .store import schema as t
from .store.job_rows import ENDED, insert_done
from .store.projects import get_project

CHANGED = "The votes or the project changed while this was computed. Ask again."
MOST_KEPT = 200  # figures of one kind that a project keeps: the newest
R = TypeVar("R")


class Figure(Protocol[R]):
    """What is measured of a project as it stands at a revision.

    kind : of `jobs.KINDS`, that of the rows that keep it; name : what is measured; version : raised whenever the same
    name and settings would give another result, or another shape of it.
    """

    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def project_id(self) -> str: ...
    @property
    def revision(self) -> int: ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """All else that the result hangs on, as JSON."""

    def seconds(self) -> float:
        """How long it takes, roughly, on one quiet core."""

    def measure(self, store: Store, progress: Progress | None) -> R:
        """Measure it of the project as it is now."""

    def kept(self, found: R) -> Any:
        """The result as JSON without NaN."""

    def found(self, kept: Any) -> R:
        """The inverse of `kept`."""


def params_of(figure: Figure[Any]) -> dict[str, Any]:
    """What a figure is found by, beside its project and its kind."""
    return {"figure": figure.name, "version": figure.version, "revision": figure.revision, **figure.settings}


def kept_ids(store: Store, figures: Sequence[Figure[Any]]) -> list[str | None]:
    """For each of some figures of one kind and project the id of the row that keeps it; None where none does."""
    if not figures:
        return []
    first = figures[0]
    with store.read() as conn:
        query = sa.select(t.job.c.id, t.job.c.params).where(*_of(first.project_id, first.kind), t.job.c.state == "done")
        rows = conn.execute(query.order_by(t.job.c.created_at.desc())).all()
    return [next((id_ for id_, known in rows if known == wanted), None) for wanted in map(params_of, figures)]


def measured(store: Store, figure: Figure[Any], progress: Progress | None = None) -> dict[str, Any]:
    """A figure's result as it is kept. Errors as of `of_one_state`, and those of the figure."""

    def made() -> dict[str, Any]:
        return {"found": figure.kept(figure.measure(store, progress))}

    found: dict[str, Any] = of_one_state(store, figure.project_id, figure.revision, made)
    return found


def measure_and_keep(store: Store, figures: Iterable[Figure[Any]], progress: Progress | None = None) -> list[str]:
    """Measure figures one after the other, each kept as soon as it is there; the names of those that weren't before.

    `progress` is told of all of them together. Raises as `measured`; what was kept until then stays.
    """
    every = list(figures)
    missing = [figure for figure, id_ in zip(every, kept_ids(store, every), strict=True) if id_ is None]
    told = split(progress, [figure.seconds() for figure in missing])
    for figure, of_this in zip(missing, told, strict=True):
        keep(store, figure, measured(store, figure, of_this))
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
    """Remove what was kept, or failed, of another revision of a project, and the oldest of more than `MOST_KEPT`."""
    query = sa.select(t.job.c.id, t.job.c.params).where(*_of(project_id, kind), t.job.c.state.in_(ENDED))
    rows = conn.execute(query.order_by(t.job.c.created_at.desc())).all()
    old = [id_ for id_, params in rows if params.get("revision") != revision]
    current = [id_ for id_, params in rows if params.get("revision") == revision]
    if gone := [*old, *current[MOST_KEPT:]]:
        conn.execute(sa.delete(t.job).where(t.job.c.id.in_(gone)))


def _of(project_id: str, kind: str) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return t.job.c.project_id == project_id, t.job.c.kind == kind


def of_one_state(store: Store, project_id: str, revision: int, made: Callable[[], Any]) -> Any:
    """What `made()` gives, as JSON. `StoreError` where the project isn't at this revision before it or after it."""
    _check_revision(store, project_id, revision)
    found = made()
    _check_revision(store, project_id, revision)
    return json.loads(json.dumps(found, allow_nan=False))


def _check_revision(store: Store, project_id: str, revision: int) -> None:
    if get_project(store, project_id).revision != revision:
        raise StoreError(CHANGED)
