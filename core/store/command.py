"""What every command has in common: one transaction, the project's revision, and the log.

Rows of the table `job` that say what came of some work are written here too.
"""

from __future__ import annotations

import gc
import itertools
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sqlalchemy as sa

from ..errors import StaleError, StoreError
from . import chain, dialects
from . import schema as t
from .engine import Store, now

ENDED = ("done", "failed", "cancelled")
# Of the command under way: ballots of which answers may stand otherwise since it began.
_judged: ContextVar[set[int] | None] = ContextVar("judged", default=None)


def insert_done(conn: sa.Connection, project_id: str, kind: str, params: Mapping[str, Any], result: Any) -> str:
    """Keep a result as that of a job which is done, whoever made it; the id of its row."""
    id_, moment = secrets.token_hex(8), now()
    row = {"id": id_, "project_id": project_id, "kind": kind, "params": dict(params), "result": result}
    times = dict.fromkeys(("created_at", "started_at", "heartbeat_at", "ended_at"), moment)
    conn.execute(sa.insert(t.job).values(**row, **times, state="done", message="Done."))
    return id_


def mark_done(conn: sa.Connection, job_id: str, result: Any) -> None:
    """Mark a job as done, in the transaction that writes what it made; `StoreError` if it was cancelled.

    One that is done already gets the result.
    """
    values = {"state": "done", "result": result, "ended_at": now(), "message": "Done."}
    row = sa.update(t.job).where(t.job.c.id == job_id, t.job.c.state.in_(["running", "done"]))
    if conn.execute(row.values(**values, done=t.job.c.total)).rowcount == 0:
        raise StoreError("The job was cancelled.")


PART = 100_000  # rows that are made Python's at once


@dataclass
class Change:
    """A command under way: its connection, the project's row before it, and what the log will call it and say."""

    conn: sa.Connection
    project: sa.Row
    action: str
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def project_id(self) -> str:
        return self.project.id


def project_row(conn: sa.Connection, project_id: str) -> sa.Row:
    """The project's row; `StoreError` if there is none."""
    row = conn.execute(sa.select(t.project).where(t.project.c.id == project_id)).one_or_none()
    if row is None:
        raise StoreError(f"There is no project {project_id!r} in this workspace. Choose another one in the side bar.")
    return row


def check_revision(row: sa.Row, expected: int | None) -> None:
    """Raise `StaleError` if the project isn't at the revision that somebody acted on."""
    if expected is not None and row.revision != expected:
        raise StaleError(
            "The project was changed in the meantime, in another tab or by a job that ended. "
            "The page now shows how it stands; do it again if it is still what you want."
        )


@contextmanager
def command(
    store: Store, project_id: str, action: str, *, expected_revision: int | None = None, who: str = "owner"
) -> Iterator[Change]:
    """Carry out one command: everything in the block, the new revision and the log entry, or nothing.

    With `expected_revision`, raises `StaleError` if the project has changed since that revision. The job that the store
    is for (`Store.for_job`) ends with it; what it found is told later.
    """
    with store.write(project_id) as conn:
        row = project_row(conn, project_id)
        check_revision(row, expected_revision)
        change = Change(conn, row, action)
        token = _judged.set(set())
        try:
            yield change
            write_entry(conn, project_id, row.revision + 1, change.action, change.detail, who)
        finally:
            _judged.reset(token)
        if store.job_id is not None:
            mark_done(conn, store.job_id, None)


@contextmanager
def many_rows() -> Iterator[None]:
    """Around what makes tuples of millions of rows, none of them garbage.

    Python's collector of cycles would look through all of them again and again: a seventh of the time in which a
    million votes are taken. It pauses for the whole process; what is in no cycle is freed as ever.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def note_judged(ballot_id: int) -> None:
    """Say that answers of a ballot may stand otherwise now, so that the command's entry seals them anew."""
    if (judged := _judged.get()) is not None:
        judged.add(ballot_id)


def write_entry(
    conn: sa.Connection, project_id: str, revision: int, action: str, detail: Mapping[str, Any], who: str = "owner"
) -> None:
    """Write a project's revision and the entry of its log, with what it seals (`chain`)."""
    conn.execute(sa.update(t.project).where(t.project.c.id == project_id).values(revision=revision))
    newest, at = chain.newest_head(conn, project_id), now()
    sealed = chain.seal(conn, project_id, revision, _judged.get() or ())
    entry = (revision, at, who, action, json.loads(json.dumps(detail)))
    values = dict(zip(("revision", "at", "who", "action", "detail"), entry, strict=True))
    head = chain.head_of(newest[1] if newest else "", entry, sealed)
    conn.execute(sa.insert(t.log).values(project_id=project_id, head=head, **values))


def next_id(conn: sa.Connection, table: sa.Table, n: int = dialects.MANY) -> int:
    """The first of `n` free ids of a table, above those that are there; inside a write transaction."""
    return dialects.next_id(conn, table, n)


def insert_missing(conn: sa.Connection, table: sa.Table, **values: Any) -> None:
    """Insert a row unless there is one with its key; for tables that no project's lock covers."""
    dialects.insert_missing(conn, table, **values)


def insert_one(conn: sa.Connection, table: sa.Table, **values: Any) -> int:
    """Insert one row and return the id it got."""
    key = conn.execute(sa.insert(table).values(**values)).inserted_primary_key
    if key is None:
        raise StoreError(f"The database gave no id for a row of {table.name}.")
    return int(key[0])


def insert_rows(conn: sa.Connection, table: sa.Table, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert many rows through the driver's cursor, several times quicker than through SQLAlchemy's."""
    if len(rows):
        dialects.insert_many(conn, table, columns, rows)


def insert_arrays(conn: sa.Connection, table: sa.Table, columns: Mapping[str, np.ndarray | str | int]) -> None:
    """Insert rows from arrays of equal lengths, a column each, or one value for all rows.

    Rows become Python's part by part: millions of them at once would take gigabytes. At least one column is an array;
    `StoreError` where their lengths differ.
    """
    lengths = {len(column) for column in columns.values() if isinstance(column, np.ndarray)}
    if len(lengths) != 1:
        raise StoreError(f"The columns for {table.name} have {sorted(lengths)} rows; they must have equally many.")
    n_rows = lengths.pop()
    for start in range(0, n_rows, PART):
        part = slice(start, min(start + PART, n_rows))
        values = [c[part].tolist() if isinstance(c, np.ndarray) else itertools.repeat(c) for c in columns.values()]
        if len(rows := list(zip(*values, strict=False))):  # a repeated value has no end
            dialects.insert_many(conn, table, list(columns), rows)


def update_rows(
    conn: sa.Connection, table: sa.Table, columns: Sequence[str], keys: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Set `columns` of many rows, each found by its `keys`; a tuple has the values first, then the keys."""
    if len(rows):
        dialects.update_many(conn, table, columns, keys, rows)


def fetch_rows(conn: sa.Connection, query: sa.Select[Any]) -> list[tuple[Any, ...]]:
    """All rows of a query as plain tuples from the driver's cursor; pandas is slow with rows of another kind."""
    return dialects.fetch(conn, query)


def fetch_integers(conn: sa.Connection, query: sa.Select[Any]) -> np.ndarray:
    """All rows of a query of integers without NULL, shape (rows, columns), int64."""
    with dialects.rows_of(conn, query) as rows:
        numbers = np.fromiter(itertools.chain.from_iterable(rows), np.int64)
    return numbers.reshape(-1, len(query.selected_columns))


def fetch_numbers(conn: sa.Connection, query: sa.Select[Any]) -> np.ndarray:
    """All rows of a query of numbers, shape (rows, columns), float64 with NaN for NULL."""
    return np.array(fetch_rows(conn, query), dtype=float).reshape(-1, len(query.selected_columns))
