"""A workspace: one folder with the database, the uploads, the imported embeddings and the backups.

runoff.sqlite        projects, ballots, votes, jobs
uploads/<sha256>     every accepted result file, byte for byte
embeddings/<id>/     imported embeddings as memory maps
incoming/            files on their way in, and half-done imports (swept at start)
backups/             the database before each migration, and projects before their deletion
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from ..errors import StoreError
from .sqlite_faults import in_words

HEAD = "0005"  # the newest migration; a test holds it against the migrations folder
BUSY_MS = 30_000
CACHE_KB = 64_000  # a ballot of a million comparisons is one transaction


def now() -> str:
    """The time as the store writes it: UTC, ISO 8601, microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def default_workspace() -> Path:
    """`RUNOFF_WORKSPACE`, or the platform's data folder."""
    named = os.environ.get("RUNOFF_WORKSPACE")
    if named:
        return Path(named).expanduser().resolve()
    import platformdirs

    return Path(platformdirs.user_data_dir("runoff", appauthor=False))


@dataclass(frozen=True)
class Store:
    """An open workspace. Cheap to pass around; connections come from the engine's pool."""

    folder: Path
    engine: sa.Engine

    @property
    def uploads(self) -> Path:
        return self.folder / "uploads"

    @property
    def embeddings(self) -> Path:
        return self.folder / "embeddings"

    @property
    def incoming(self) -> Path:
        return self.folder / "incoming"

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """One consistent look at the store; nothing is written."""
        with _told_in_words(self), self.engine.connect() as conn, conn.begin():
            yield conn

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """One transaction that holds the write lock from its first statement: all of it happens, or nothing."""
        with (
            _told_in_words(self),
            self.engine.connect().execution_options(runoff_write=True) as conn,
            conn.begin(),
        ):
            yield conn

    @contextmanager
    def without_keys(self) -> Iterator[Store]:
        """The same workspace for a writer for whom the database doesn't follow foreign keys.

        For each deleted token, item and voter it would read all items and votes of all projects, which takes minutes.
        Whoever deletes here must delete from every table that points to the rows.
        """
        engine = make_engine(self.folder / "runoff.sqlite")
        # The switch works outside a transaction only, so these connections have it off from the start.
        sa.event.listen(engine, "connect", lambda dbapi, _: dbapi.execute("PRAGMA foreign_keys=OFF"))
        try:
            yield Store(self.folder, engine)
        finally:
            engine.dispose()


@contextmanager
def _told_in_words(store: Store) -> Iterator[None]:
    try:
        yield
    except (sa.exc.DBAPIError, sqlite3.Error) as error:  # bulk reads go past SQLAlchemy, and so do their errors
        told = in_words(store.folder, error)
        if told is None:
            raise
        raise told from error


def _set_up_connection(dbapi: Any, _record: Any) -> None:
    # The driver's own transaction handling begins late and loses updates: switch it off, begin ourselves.
    dbapi.isolation_level = None
    cursor = dbapi.cursor()
    pragmas = (
        "journal_mode=WAL",
        "foreign_keys=ON",
        f"busy_timeout={BUSY_MS}",
        "synchronous=FULL",
        f"cache_size=-{CACHE_KB}",
    )
    for pragma in pragmas:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(conn: sa.Connection) -> None:
    write = conn.get_execution_options().get("runoff_write", False)
    conn.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def make_engine(database: Path) -> sa.Engine:
    """An engine on a SQLite file: WAL, foreign keys, `BEGIN IMMEDIATE` for writers, full syncs."""
    url = sa.URL.create("sqlite", database=str(database))
    engine = sa.create_engine(url, connect_args={"check_same_thread": False})
    sa.event.listen(engine, "connect", _set_up_connection)
    sa.event.listen(engine, "begin", _begin)
    return engine


def open_store(folder: Path | None = None) -> Store:
    """Open (or make) a workspace; the database is brought to the newest schema, with a backup before.

    Raises `StoreError` if the folder can't be written or the database is from a newer Runoff.
    """
    return _open(Path(folder) if folder is not None else default_workspace())


@contextmanager
def open_apart(folder: Path) -> Iterator[Store]:
    """A workspace for a while, whose connections are closed at the end, so that its folder can be deleted."""
    store = _open.__wrapped__(folder)
    try:
        yield store
    finally:
        store.engine.dispose()


@lru_cache(maxsize=8)
def _open(folder: Path) -> Store:
    try:
        for part in ("uploads", "embeddings", "incoming", "backups"):
            (folder / part).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The workspace folder {folder} can't be made ({error.strerror}). "
            "Set RUNOFF_WORKSPACE to a folder you can write to."
        ) from error
    database = folder / "runoff.sqlite"
    store = Store(folder, make_engine(database))
    try:
        _migrate(store, database)
    except sa.exc.DatabaseError as error:
        store.engine.dispose()
        raise StoreError(
            f"The database {database} can't be read ({error.orig}). "
            f"Restore a copy from {folder / 'backups'}, or choose another folder with RUNOFF_WORKSPACE."
        ) from error
    return store


def schema_version(conn: sa.Connection) -> str | None:
    """The migration a database stands at; None for a new one."""
    if not sa.inspect(conn).has_table("alembic_version"):
        return None
    return conn.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one_or_none()


def _migrate(store: Store, database: Path) -> None:
    with store.read() as conn:
        version = schema_version(conn)
    if version == HEAD:
        return
    if version is not None and version > HEAD:
        raise StoreError(
            f"The workspace {store.folder} was last used by a newer Runoff (schema {version}, this one knows {HEAD}). "
            "Update Runoff, or choose another folder with RUNOFF_WORKSPACE."
        )
    from .migrations import upgrade  # alembic takes a while to import and is seldom needed

    if version is not None:
        back_up(database, store.folder / "backups", f"before-{HEAD}")
    # A migration may rebuild a table that others point to: with foreign keys on, dropping the old one would take
    # their rows with it.
    with store.without_keys() as free, free.write() as conn:
        if schema_version(conn) != HEAD:  # another process may have been quicker
            upgrade(conn)
            broken = conn.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
            if broken:
                raise StoreError(f"The migration would lose {len(broken)} links, so it was not made. Report this.")


def back_up(database: Path, folder: Path, label: str) -> Path:
    """A consistent copy of a database that may be in use; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{now().replace(':', '').replace('+0000', '')}-{label}.sqlite"
    part = target.with_suffix(".part")
    source = sqlite3.connect(database)
    copy = sqlite3.connect(part)
    try:
        with copy:
            source.backup(copy)
    finally:
        copy.close()
        source.close()
    part.rename(target)
    return target
