"""A workspace on the disk: the folder that holds a project's database and files, and how it is opened.

It knows where the folder is, whose it is, and which database belongs to it.

runoff.sqlite        projects, ballots, votes, jobs; with `RUNOFF_DATABASE_URL` these are in PostgreSQL instead,
database.json        and this says in which database
uploads/<sha256>     every accepted result file, byte for byte
embeddings/<id>/     imported embeddings as memory maps
incoming/            files on their way in, and half-done imports (swept at start)
backups/             the database before each migration, and projects before their deletion
answers/             what servers of models answered, so that no text is asked and paid for twice
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from ..base.durable import make_folder, put, rights_in, sync_folder, tighten, write_whole
from ..errors import StaleError, StoreError
from . import dialects
from . import schema as t


def default_workspace() -> Path:
    """`RUNOFF_WORKSPACE`, or the platform's data folder."""
    named = os.environ.get("RUNOFF_WORKSPACE")
    if named:
        return Path(named).expanduser().resolve()
    import platformdirs

    return Path(platformdirs.user_data_dir("runoff", appauthor=False))


# What is made in a workspace's folder itself, by its beginning; an earlier Runoff left it readable for everybody.
_OURS = ("runoff.sqlite", "runoff.log", "voting.log", "voting.json", "database.json", "demo.lock", "tour-seen")
PARTS = ("uploads", "embeddings", "incoming", "backups", "answers")


def prepare_folder(folder: Path) -> int:
    """Make a workspace's folder, for its owner alone: it holds who voted how, and the secret of every link.

    A folder that is there keeps its rights: somebody may have shared it on purpose. What is in it is for those who may
    write in it, and that is made so where it isn't yet. Returns the rights of what is made there.
    """
    make_folder(folder, 0o700)
    rights = rights_in(folder)
    for part in PARTS:
        make_folder(folder / part, rights)
    for path in folder.iterdir():
        if path.name in PARTS or path.name.startswith(_OURS):
            tighten(path, rights)
    return rights


_BADGE, _BADGE_BEGUN = "database.json", "database.part"


def badge_of(folder: Path, name: str = _BADGE) -> str | None:
    """The id by which a folder and its PostgreSQL database know each other; None for a folder without."""
    try:
        return str(json.loads((folder / name).read_text(encoding="utf-8"))["id"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


HEAD = "0011"  # the newest migration; a test holds it against the migrations folder
BUSY_MS = 30_000
CACHE_KB = 64_000  # a ballot of a million comparisons is one transaction
JOURNAL_BYTES = 16_000_000  # what stays of SQLite's journal after a larger one


def now() -> str:
    """The time as the store writes it: UTC, ISO 8601, microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


@dataclass(frozen=True)
class Store:
    """An open workspace. Cheap to pass around; connections come from the engine's pool."""

    folder: Path
    engine: sa.Engine
    job_id: str | None = None  # the job that carries out one command, and ends with it

    @property
    def uploads(self) -> Path:
        return self.folder / "uploads"

    @property
    def embeddings(self) -> Path:
        return self.folder / "embeddings"

    @property
    def incoming(self) -> Path:
        return self.folder / "incoming"

    @property
    def answers(self) -> Path:
        return self.folder / "answers"

    @property
    def environment(self) -> dict[str, str]:
        """What a process of its own must be told to work on the same workspace."""
        told = {"RUNOFF_WORKSPACE": str(self.folder), dialects.DATABASE: ""}
        if dialects.is_postgresql(self.engine):
            url = self.engine.url.set(drivername="postgresql")
            told[dialects.DATABASE] = url.render_as_string(hide_password=False)
        return told

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """One consistent look at the store; nothing is written."""
        with _readable_error(self), self._connected(writes=False) as conn, conn.begin():
            yield conn

    @contextmanager
    def write(self, of: dialects.Of = None, *, wait: float | None = None) -> Iterator[sa.Connection]:
        """One transaction that holds the write lock from its first statement: all of it happens, or nothing.

        `of` is the project's id (or a query for it) where only rows of one project are written; "jobs" for jobs.
        Writers of different projects needn't wait for each other on PostgreSQL. SQLite has one writer at a time.
        Raises `BusyError` where another writer has the lock for half a minute, or for `wait` seconds.
        """
        with _readable_error(self), self._connected(writes=True, wait=wait) as conn, conn.begin():
            dialects.lock(conn, of, wait)
            yield conn

    def _connected(self, *, writes: bool, wait: float | None = None) -> sa.Connection:
        return self.engine.connect().execution_options(**dialects.options(self.engine, writes=writes, wait=wait))

    def looked_at(self, why: str) -> Store:
        """The same workspace for somebody who may change nothing in it, which is told by a `StaleError` with `why`."""
        return _LookedAt(self.folder, self.engine, why=why)

    def for_job(self, job_id: str) -> Store:
        """The same workspace for a job that is done as soon as one command is: in its transaction (`command`)."""
        return replace(self, job_id=job_id)

    @contextmanager
    def without_keys(self) -> Iterator[Store]:
        """The same workspace for a writer for whom SQLite doesn't follow foreign keys.

        For each deleted token, item and voter it would read all items and votes of all projects, which takes minutes.
        Whoever deletes here must delete from every table that points to the rows. PostgreSQL follows them by indexes
        (`postgresql.index_keys`).
        """
        if dialects.is_postgresql(self.engine):
            yield self
            return
        engine = make_engine(self.folder / "runoff.sqlite")
        # The switch works outside a transaction only, so these connections have it off from the start.
        sa.event.listen(engine, "connect", lambda dbapi, _: dbapi.execute("PRAGMA foreign_keys=OFF"))
        try:
            yield Store(self.folder, engine)
        finally:
            engine.dispose()


@dataclass(frozen=True)
class _LookedAt(Store):
    """See `Store.looked_at`."""

    why: str = ""

    @contextmanager
    def write(self, of: dialects.Of = None, *, wait: float | None = None) -> Iterator[sa.Connection]:
        raise StaleError(self.why)
        yield

    @contextmanager
    def without_keys(self) -> Iterator[Store]:
        yield self


@contextmanager
def _readable_error(store: Store) -> Iterator[None]:
    try:
        yield
    except (sa.exc.SQLAlchemyError, sqlite3.Error) as error:  # bulk reads go past SQLAlchemy, and so do their errors
        told = dialects.in_words(store.engine, store.folder, error)
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
        f"journal_size_limit={JOURNAL_BYTES}",
    )
    for pragma in pragmas:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(conn: sa.Connection) -> None:
    options = conn.get_execution_options()
    wait = options.get("runoff_wait")
    # Said each time, as the connection goes back to the pool for others.
    conn.exec_driver_sql(f"PRAGMA busy_timeout={BUSY_MS if wait is None else round(1000 * wait)}").close()
    conn.exec_driver_sql("BEGIN IMMEDIATE" if options.get("runoff_write") else "BEGIN")


def make_engine(database: Path) -> sa.Engine:
    """An engine on a SQLite file: WAL, foreign keys, `BEGIN IMMEDIATE` for writers, full syncs."""
    url = sa.URL.create("sqlite", database=str(database))
    # An error that nobody foresaw goes to the log: as a statement, without the names and secrets in it.
    engine = sa.create_engine(url, connect_args={"check_same_thread": False}, hide_parameters=True)
    sa.event.listen(engine, "connect", _set_up_connection)
    sa.event.listen(engine, "begin", _begin)
    return engine


def open_store(folder: Path | None = None) -> Store:
    """Open (or make) a workspace; the database is brought to the newest schema, with a backup before.

    The tables are in PostgreSQL where `RUNOFF_DATABASE_URL` says so, else in the folder. Raises `StoreError` if the
    folder can't be written, the database can't be reached, is another workspace's, or is from a newer Runoff.
    """
    folder = Path(folder) if folder is not None else default_workspace()
    return _open(folder, database_url(folder))


def database_url(folder: Path) -> sa.URL | None:
    """Where the tables of a workspace are: a PostgreSQL database, or None for SQLite.

    Raises `StoreError` where the folder has its tables elsewhere already: a workspace has one database.
    """
    url = dialects.url_of(dialects.DATABASE)
    if url is None and badge_of(folder):
        raise StoreError(
            f"The tables of the workspace {folder} are in a PostgreSQL database (database.json says which). Set "
            f"{dialects.DATABASE} to its address, or choose another folder with RUNOFF_WORKSPACE."
        )
    if url is not None and (folder / "runoff.sqlite").exists():
        raise StoreError(
            f"{dialects.DATABASE} is set, but the workspace {folder} has its tables in runoff.sqlite. Unset it, or "
            "choose another folder with RUNOFF_WORKSPACE; projects move as exported files."
        )
    return url


@contextmanager
def open_apart(folder: Path) -> Iterator[Store]:
    """A workspace for a while, whose connections are closed at the end, so that its folder can be deleted.

    Its tables are in the folder, whatever `RUNOFF_DATABASE_URL` says.
    """
    store = _open.__wrapped__(folder, None)
    try:
        yield store
    finally:
        store.engine.dispose()


@lru_cache(maxsize=8)
def _open(folder: Path, url: sa.URL | None) -> Store:
    try:
        rights = prepare_folder(folder)
        if url is None and not (folder / "runoff.sqlite").exists():  # SQLite's journal gets the rights of the database
            (folder / "runoff.sqlite").touch(mode=rights & 0o666)
            sync_folder(folder)
    except OSError as error:
        raise StoreError(
            f"The workspace folder {folder} can't be made ({error.strerror}). "
            "Set RUNOFF_WORKSPACE to a folder you can write to."
        ) from error
    engine = make_engine(folder / "runoff.sqlite") if url is None else dialects.postgresql().make_engine(url)
    store = Store(folder, engine)
    try:
        if url is None:
            _migrate(store)
        else:
            _open_postgresql(store)
    except sa.exc.DatabaseError as error:
        engine.dispose()
        raise StoreError(
            f"{dialects.name_of(engine, starts=True)} can't be read ({error.orig}). "
            f"Restore a copy from {folder / 'backups'}, or choose another folder with RUNOFF_WORKSPACE."
        ) from error
    except StoreError:
        engine.dispose()
        raise
    return store


def _open_postgresql(store: Store) -> None:
    """Make the tables where there are none, else bring them up; whose they are is written on both sides.

    The folder's side is laid down before the database's is committed, and gets its name after it: a first start that
    was cut short in between goes on at the next.
    """
    module = dialects.postgresql()
    with store.read() as conn:
        fault, version = module.fault(conn), schema_version(conn)
        badge = module.badge(conn) if version else None
    if fault:
        raise StoreError(f"A workspace can't be in {dialects.name_of(store.engine)}: {fault}.")
    mine, begun = badge_of(store.folder), store.folder / _BADGE_BEGUN
    if mine is None and badge is not None and badge == badge_of(store.folder, _BADGE_BEGUN):
        _name_badge(begun)
        mine = badge
    if (mine or badge) and mine != badge:
        raise StoreError(
            f"{dialects.name_of(store.engine, starts=True)} and the folder {store.folder} are of different workspaces. "
            "Choose the folder that belongs to the database with RUNOFF_WORKSPACE (it holds the uploaded files), or an "
            "empty database and an empty folder."
        )
    if version is None:
        with store.write() as conn:
            if schema_version(conn) is None:  # another process may have been quicker
                make_schema(conn)
            badge = module.badge(conn) or secrets.token_hex(8)
            module.write_badge(conn, badge)
            told = {"id": badge, "database": dialects.shown(store.engine.url)}
            write_whole(begun, begun.with_suffix(f".{os.getpid()}.part"), json.dumps(told, indent=1).encode())
        _name_badge(begun)
    _migrate(store)


def _name_badge(begun: Path) -> None:
    with suppress(FileNotFoundError):  # another process was quicker, with the same
        put(begun, begun.with_name(_BADGE))


def make_schema(conn: sa.Connection) -> None:
    """Make all tables as they are in the newest schema, in a database without any."""
    t.metadata.create_all(conn)
    version = sa.Table("alembic_version", sa.MetaData(), sa.Column("version_num", sa.String(32), primary_key=True))
    version.create(conn)
    conn.execute(sa.insert(version).values(version_num=HEAD))
    if dialects.is_postgresql(conn):
        dialects.postgresql().index_keys(conn)


def schema_version(conn: sa.Connection) -> str | None:
    """The migration a database stands at; None for a new one."""
    if not sa.inspect(conn).has_table("alembic_version"):
        return None
    return conn.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one_or_none()


def _migrate(store: Store) -> None:
    with store.read() as conn:
        version = schema_version(conn)
    if version == HEAD:
        return
    if version is not None and version > HEAD:
        raise StoreError(
            f"The workspace {store.folder} was last used by a newer Runoff (schema {version}, this one knows {HEAD}). "
            "Update Runoff, or choose another folder with RUNOFF_WORKSPACE."
        )
    if version is None:
        with store.write() as conn:
            if schema_version(conn) is None:  # another process may have been quicker
                make_schema(conn)
        return
    from .backups import before_migration
    from .migrations import upgrade  # alembic takes a while to import and is seldom needed

    before_migration(store, HEAD)
    # A migration may rebuild a table that others point to: with foreign keys on, dropping the old one would take
    # their rows with it.
    with store.without_keys() as free, free.write() as conn:
        if schema_version(conn) != HEAD:  # another process may have been quicker
            upgrade(conn)
            broken = dialects.check_keys(conn)
            if broken:
                raise StoreError(f"The migration would lose {broken} links, so it was not made. Report this.")
