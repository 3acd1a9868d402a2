"""What every command has in common: one transaction, the revision, the log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import sqlalchemy as sa

from ..errors import StaleError, StoreError
from . import schema as t
from .engine import Store, now


@dataclass
class Change:
    """A command under way: its connection, the project's row before it, and what the log will say."""

    conn: sa.Connection
    project: sa.Row
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
            "The project was changed in the meantime, perhaps in another tab. "
            "The page now shows how it stands; do it again if it is still what you want."
        )


@contextmanager
def command(
    store: Store, project_id: str, action: str, *, expected_revision: int | None = None, who: str = "owner"
) -> Iterator[Change]:
    """Carry out one command: everything in the block, the new revision and the log entry, or nothing.

    With `expected_revision`, raises `StaleError` if the project has changed since that revision.
    """
    with store.write() as conn:
        row = project_row(conn, project_id)
        check_revision(row, expected_revision)
        change = Change(conn, row)
        yield change
        revision = row.revision + 1
        conn.execute(sa.update(t.project).where(t.project.c.id == project_id).values(revision=revision))
        conn.execute(
            sa.insert(t.log).values(
                project_id=project_id, revision=revision, at=now(), who=who, action=action, detail=change.detail
            )
        )


def next_id(conn: sa.Connection, table: sa.Table) -> int:
    """The first free id of a table; safe inside a write transaction, which no other writer shares."""
    return int(conn.execute(sa.select(sa.func.coalesce(sa.func.max(table.c.id), 0))).scalar_one()) + 1


def insert_one(conn: sa.Connection, table: sa.Table, **values: Any) -> int:
    """Insert one row and return the id it got."""
    key = conn.execute(sa.insert(table).values(**values)).inserted_primary_key
    if key is None:
        raise StoreError(f"The database gave no id for a row of {table.name}.")
    return int(key[0])


def insert_rows(conn: sa.Connection, table: sa.Table, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert many rows through the driver's cursor, several times quicker than through SQLAlchemy's."""
    # Many rows a statement take half the time of one each. Older SQLite takes 999 values in a statement.
    per = max(1, min(100, 900 // len(columns)))
    whole = len(rows) // per * per
    names = ", ".join(f'"{table.c[column].name}"' for column in columns)
    one = f"({', '.join([_mark(conn)] * len(columns))})"
    statement = f'INSERT INTO "{table.name}" ({names}) VALUES '
    for start in range(0, whole, 1000 * per):
        stop = min(start + 1000 * per, whole)
        parts = [tuple(chain.from_iterable(rows[at : at + per])) for at in range(start, stop, per)]
        conn.exec_driver_sql(statement + ", ".join([one] * per), parts)
    if whole < len(rows):
        conn.exec_driver_sql(statement + one, list(rows[whole:]))


def update_rows(
    conn: sa.Connection, table: sa.Table, columns: Sequence[str], keys: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Set `columns` of many rows, each found by its `keys`; a tuple has the values first, then the keys."""
    if not len(rows):
        return
    values, where = (
        separator.join(f'"{table.c[column].name}" = {_mark(conn)}' for column in part)
        for separator, part in ((", ", columns), (" AND ", keys))
    )
    conn.exec_driver_sql(f'UPDATE "{table.name}" SET {values} WHERE {where}', rows)


def _mark(conn: sa.Connection) -> str:
    return "?" if conn.dialect.paramstyle == "qmark" else "%s"


def fetch_rows(conn: sa.Connection, query: sa.Select[Any]) -> list[tuple[Any, ...]]:
    """All rows of a query as plain tuples from the driver's cursor; pandas is slow with rows of another kind."""
    compiled = query.compile(conn, compile_kwargs={"render_postcompile": True})
    values: Any = compiled.params
    if compiled.positiontup is not None:
        values = [compiled.params[name] for name in compiled.positiontup]
    cursor = conn.connection.cursor()
    try:
        cursor.execute(compiled.string, values)
        return list(cursor.fetchall())
    finally:
        cursor.close()
