"""What SQLite and PostgreSQL do in different ways; all other code of the store is the same for both.

The branch is taken here by the engine's dialect. `postgresql` is imported only where it is used: SQLite is the default,
and PostgreSQL's driver an option.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from ..errors import BusyError, InputError, RunoffError, StoreError

if TYPE_CHECKING:
    from types import ModuleType

Of = str | sa.ScalarSelect[Any] | None
MANY = 4_000_000  # ids set apart where nobody says how many it will be
Rows = Sequence[tuple[Any, ...]]
DATABASE, VOTERS_DATABASE = "RUNOFF_DATABASE_URL", "RUNOFF_VOTING_DATABASE_URL"


def is_postgresql(of: sa.Connection | sa.Engine) -> bool:
    """Whether it is a PostgreSQL database; else it is SQLite."""
    return of.dialect.name == "postgresql"


def postgresql() -> ModuleType:
    """What PostgreSQL needs; `StoreError` where its driver isn't installed."""
    try:
        from . import postgresql as module
    except ImportError as error:
        raise StoreError(
            f"{DATABASE} names a PostgreSQL database, and Python's driver for it isn't here ({error}). Install it with "
            "pip install 'psycopg[binary]', or unset the variable to use SQLite."
        ) from error
    return module


def url_of(variable: str) -> sa.URL | None:
    """The PostgreSQL address in an environment variable, None where it isn't set. What it holds is never repeated."""
    text = os.environ.get(variable, "").strip()
    if not text:
        return None
    try:
        url = sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):
        url = None
    if url is None or url.drivername.partition("+")[0] not in ("postgresql", "postgres") or not url.database:
        raise StoreError(
            f"{variable} isn't the address of a PostgreSQL database. It looks like postgresql://user@host/database; "
            "special characters of a password are written as %40 and the like."
        )
    return url


def shown(url: sa.URL) -> str:
    """The address of a database as it may be shown: without a password or anything else that is secret."""
    return without_password(url).set(query={}).render_as_string()


def without_password(url: sa.URL) -> sa.URL:
    """The address as PostgreSQL's programs take it, less the password."""
    query = {name: value for name, value in url.query.items() if "password" not in name}
    return sa.URL.create("postgresql", url.username, None, url.host, url.port, url.database, query)


def name_of(engine: sa.Engine, *, starts: bool = False) -> str:
    """What sentences call the database, at their start or within them."""
    name = shown(engine.url) if is_postgresql(engine) else engine.url.database
    return f"{'The' if starts else 'the'} database {name}"


# Transactions


def options(engine: sa.Engine, *, writes: bool, wait: float | None = None) -> dict[str, Any]:
    """How a connection begins: a look is one snapshot, a writer waits for its turn first (`lock`)."""
    if is_postgresql(engine):
        return dict(postgresql().WRITES if writes else postgresql().READS)
    return {"runoff_write": writes, "runoff_wait": wait}


def lock(conn: sa.Connection, of: Of, wait: float | None = None) -> None:
    """Wait for the turn of a writer. SQLite has one writer in all, which `BEGIN IMMEDIATE` has made it already."""
    if is_postgresql(conn):
        postgresql().lock(conn, of, wait)


# SQLSTATE, or its class, and what that means to a person; the rest of the sentence is the same for all
_BUSY = ("55P03", "57014", "53300", "40")  # of these, what a moment later is another thing
_STATES = {
    "55P03": "another program holds it for too long. Try again",
    "57014": "it took too long. Try again",
    "53100": "the disk of the database is full. Make room",
    "53300": "it has no connection left. Try again, or raise max_connections",
    "40": "another program changed the same. Try again",
    "57P": "the database was shut down. Try again when it is back",
    "28": "the role or its password was refused. Look at the address",
    "3D": "there is no such database. Make it first (docs/voting.md)",
    "42501": "the role may not do that. For the voters' role run `python -m core voters-role`",
    "25006": "the database takes no changes now",
    "none": "it can't be reached. Look whether the server runs, and at the address",
    "08": "the connection was lost. Look whether it was done, and try again",
}


def in_words(engine: sa.Engine, folder: Path, error: sa.exc.SQLAlchemyError | sqlite3.Error) -> RunoffError | None:
    """What a person is told about an error of the database; None for those that are faults of the program."""
    if isinstance(error, sa.exc.TimeoutError):
        return BusyError("Too much is asked of the database at once. Try again in a moment.")
    if isinstance(error, sqlite3.Error):
        return _sqlite_in_words(folder, error)
    if not isinstance(error, sa.exc.DBAPIError):
        return None
    if not is_postgresql(engine):
        return _sqlite_in_words(folder, error)
    if isinstance(error, sa.exc.IntegrityError):
        return None
    said = str(error.orig).strip().partition("\n")[0]
    state = getattr(error.orig, "sqlstate", None) or _state_by(str(error.orig))
    if "NUL" in said or state in ("22P05", "22021"):
        return InputError("A text holds a character that the database can't keep (NUL). Take it out.")
    for part, told in _STATES.items():
        if state.startswith(part):
            if part in _BUSY:  # PostgreSQL's own words (a deadlock, a timeout) would say nothing to an owner
                return BusyError(f"{name_of(engine, starts=True)} can't do it now, and nothing was changed: {told}.")
            return StoreError(f"{name_of(engine, starts=True)} can't do it ({said}): {told}.")
    return None


def _state_by(text: str) -> str:
    """The SQLSTATE of an error from before there was a connection, which comes as text only."""
    if "database" in text and "does not exist" in text:
        return "3D"
    if any(part in text for part in ("authentication", "no pg_hba.conf entry", "role ")):
        return "28"
    return "none" if "connection failed" in text else "08"


# Rows


def next_id(conn: sa.Connection, table: sa.Table, n: int) -> int:
    """The first of `n` free ids of a table, which follow each other."""
    if is_postgresql(conn):
        return int(postgresql().next_id(conn, table, n))
    return int(conn.execute(sa.select(sa.func.coalesce(sa.func.max(table.c.id), 0))).scalar_one()) + 1


def insert_missing(conn: sa.Connection, table: sa.Table, **values: Any) -> None:
    """Insert a row unless one with its key is there, perhaps since a moment ago."""
    from sqlalchemy.dialects import postgresql as of_postgresql
    from sqlalchemy.dialects import sqlite as of_sqlite

    insert = of_postgresql.insert if is_postgresql(conn) else of_sqlite.insert
    conn.execute(insert(table).values(**values).on_conflict_do_nothing())


def insert_many(conn: sa.Connection, table: sa.Table, columns: Sequence[str], rows: Rows) -> None:
    """Insert rows through the driver."""
    if is_postgresql(conn):
        postgresql().insert_many(conn, table, columns, rows)
        return
    # Many rows a statement take less than half the time of one each. SQLite takes 32,766 values in one.
    per = min(500, 30_000 // len(columns))
    whole = len(rows) // per * per
    names = ", ".join(f'"{table.c[column].name}"' for column in columns)
    one = f"({', '.join('?' * len(columns))})"
    statement = f'INSERT INTO "{table.name}" ({names}) VALUES '  # nosec B608 # names of our own tables
    for start in range(0, whole, 200 * per):
        stop = min(start + 200 * per, whole)
        parts = [tuple(chain.from_iterable(rows[at : at + per])) for at in range(start, stop, per)]
        conn.exec_driver_sql(statement + ", ".join([one] * per), parts)
    if whole < len(rows):
        conn.exec_driver_sql(statement + one, list(rows[whole:]))


def update_many(conn: sa.Connection, table: sa.Table, columns: Sequence[str], keys: Sequence[str], rows: Rows) -> None:
    """Set `columns` of rows found by `keys` through the driver."""
    if is_postgresql(conn):
        postgresql().update_many(conn, table, columns, keys, rows)
        return
    values, where = (
        separator.join(f'"{table.c[column].name}" = ?' for column in part)
        for separator, part in ((", ", columns), (" AND ", keys))
    )
    statement = f'UPDATE "{table.name}" SET {values} WHERE {where}'  # nosec B608 # names of our own tables
    conn.exec_driver_sql(statement, list(rows))


@contextmanager
def rows_of(conn: sa.Connection, query: sa.Select[Any]) -> Iterator[Iterable[tuple[Any, ...]]]:
    """The rows of a query as the driver has them: booleans as 0 and 1, JSON as its text.

    Of SQLite one is there at a time, which takes less time than a list of a million.
    """
    if is_postgresql(conn):
        compiled = query.compile(conn, compile_kwargs={"render_postcompile": True})
        yield postgresql().fetch(conn, compiled.string, compiled.params)
        return
    with closing(conn.execute(query)) as result:  # by SQLAlchemy's cache of statements
        rows: Any = result.cursor  # the driver's own
        yield rows


def fetch(conn: sa.Connection, query: sa.Select[Any]) -> list[tuple[Any, ...]]:
    """All rows of a query, as `rows_of` has them."""
    with rows_of(conn, query) as rows:
        return list(rows)


def check_keys(conn: sa.Connection) -> int:
    """After a migration: how many foreign keys lead nowhere. PostgreSQL lets none, and gets indexes for new ones."""
    if is_postgresql(conn):
        postgresql().index_keys(conn)
        return 0
    return len(conn.exec_driver_sql("PRAGMA foreign_key_check").fetchall())


# A part of SQLite's own words, and what to do then; the first that fits is taken.
_CURES = {
    "readonly": "Runoff may not write there. Give the user who runs it the right to write to {folder} and all in it, "
    "or choose another folder with RUNOFF_WORKSPACE.",
    "unable to open": "Runoff may not read or write there, or the disk is full. Look at the rights of {folder} and at "
    "the room on its disk.",
    "full": "The disk is full: make room on the one that holds {folder}, and do it again.",
    "disk I/O": "The disk that holds {folder} may be full, or broken: make room, look at it, and do it again.",
}
_DAMAGED = ("malformed", "not a database", "database corruption")


def _sqlite_in_words(folder: Path, error: sa.exc.DBAPIError | sqlite3.Error) -> StoreError | None:
    """What a person is told about an error of SQLite, wrapped or not; None for a fault of the program."""
    cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    said = str(cause)
    if any(part in said for part in _DAMAGED):
        return StoreError(
            f"The database {folder / 'runoff.sqlite'} can't be read ({said}). "
            f"Restore a copy from {folder / 'backups'}, or choose another folder with RUNOFF_WORKSPACE."
        )
    if not isinstance(cause, sqlite3.OperationalError):
        return None
    if "locked" in said:
        return BusyError(f"Another program is at work in {folder} for too long. Nothing was changed: try again.")
    cures = (cure for part, cure in _CURES.items() if part in said)
    cure = next(cures, "If the disk is full, make room. Then try again.")
    return StoreError(f"The workspace can't do it now ({said}), and nothing was changed. {cure.format(folder=folder)}")
