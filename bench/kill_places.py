"""Where the workspaces of `bench.kills` have their tables: each in its folder, or in a database of its own."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from core.store import Store
from core.store.backups import run_program
from core.store.dialects import DATABASE
from core.store.engine import HEAD, _open, database_url, make_engine, schema_version
from tests.postgres_server import PostgresServer

PATIENCE = 20.0  # seconds that a server may need to see that a killed client is gone
_RESET = """
DO $$ DECLARE r record; top bigint; BEGIN
FOR r IN SELECT table_name, pg_get_serial_sequence(quote_ident(table_name), 'id') AS sequence
         FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'id' LOOP
  IF r.sequence IS NOT NULL THEN
    EXECUTE 'SELECT max(id) FROM ' || quote_ident(r.table_name) INTO top;
    PERFORM setval(r.sequence, coalesce(top, 1), top IS NOT NULL);
  END IF;
END LOOP; END $$
"""


Rows = dict[str, list[str]]  # of each table


def rows_of(conn: sa.Connection) -> Rows:
    """All rows of all tables that are there, in order."""
    names = sa.inspect(conn).get_table_names()
    # Names of our own tables.
    return {name: sorted(repr(tuple(row)) for row in conn.exec_driver_sql(f'SELECT * FROM "{name}"')) for name in names}


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    """A workspace for a while, whose tables are where `RUNOFF_DATABASE_URL` says, else in the folder."""
    store = _open.__wrapped__(folder, database_url(folder))
    try:
        yield store
    finally:
        store.engine.dispose()


class InFolders:
    """SQLite: a workspace is its folder."""

    def url(self, folder: Path) -> str:
        """What a process that works there has in `RUNOFF_DATABASE_URL`."""
        return ""

    def make(self, folder: Path) -> None:
        """Make room for the tables of a new workspace."""

    def copy(self, source: Path, target: Path) -> None:
        """Copy a workspace."""
        shutil.copytree(source, target)

    def remove(self, folder: Path) -> None:
        """Delete a workspace."""
        shutil.rmtree(folder)

    def settle(self, folder: Path) -> None:
        """Wait until nothing of a killed process goes on, and let ids follow the highest ones again."""

    def version(self, folder: Path) -> str | None:
        """The schema that the tables have; None where there are none yet."""
        if not (folder / "runoff.sqlite").exists():
            return None
        with self._connected(folder / "runoff.sqlite") as conn:
            return schema_version(conn)

    def rows(self, folder: Path) -> Rows:
        """All rows of all tables, of whatever schema, as the database has them."""
        with self._connected(folder / "runoff.sqlite") as conn:
            return rows_of(conn)

    def backups(self, folder: Path) -> Iterator[tuple[str, Rows]]:
        """The backups that migrations made: the name of each, and the rows that come out of it."""
        for path in sorted((folder / "backups").glob("*.sqlite")):
            with self._connected(path) as conn:
                yield path.name, rows_of(conn)

    @contextmanager
    def _connected(self, database: Path) -> Iterator[sa.Connection]:
        engine = make_engine(database)
        try:
            with engine.connect() as conn:
                yield conn
        finally:
            engine.dispose()

    @contextmanager
    def at(self, folder: Path) -> Iterator[None]:
        """Let this process work there."""
        before = os.environ.get(DATABASE)
        os.environ[DATABASE] = self.url(folder)
        try:
            yield
        finally:
            os.environ.pop(DATABASE)
            if before is not None:
                os.environ[DATABASE] = before

    @contextmanager
    def opened(self, folder: Path) -> Iterator[Store]:
        """A workspace for a while."""
        with self.at(folder), opened(folder) as store:
            yield store


class OnPostgres(InFolders):
    """A database a workspace, copied with it. Ids that a killed command drew are given back: else those of the next
    command would be others, and contents couldn't be compared."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._names: dict[Path, str] = {}

    def url(self, folder: Path) -> str:
        return self._server.url(self._names[folder]).render_as_string(hide_password=False)

    def make(self, folder: Path) -> None:
        self._names[folder] = self._server.create()

    def copy(self, source: Path, target: Path) -> None:
        self._wait(self._names[source])
        super().copy(source, target)
        self._names[target] = self._server.create(self._names[source])
        self.settle(target)

    def remove(self, folder: Path) -> None:
        super().remove(folder)
        self._server.drop(self._names.pop(folder))

    def settle(self, folder: Path) -> None:
        self._wait(self._names[folder])
        with self._on(self._names[folder]) as conn, conn.begin():
            conn.exec_driver_sql(_RESET)

    def version(self, folder: Path) -> str | None:
        with self._on(self._names[folder]) as conn:
            return schema_version(conn) or HEAD  # a new database gets the newest schema at once

    def rows(self, folder: Path) -> Rows:
        with self._on(self._names[folder]) as conn:
            return rows_of(conn)

    def backups(self, folder: Path) -> Iterator[tuple[str, Rows]]:
        for path in sorted((folder / "backups").glob("*.pgdump")):
            name = self._server.create()
            try:
                run_program("pg_restore", self._server.url(name), ["--no-owner", "--exit-on-error", str(path)])
                with self._on(name) as conn:
                    yield path.name, rows_of(conn)
            finally:
                self._server.drop(name)

    @contextmanager
    def _on(self, name: str) -> Iterator[sa.Connection]:
        engine = self._server.engine(name)
        try:
            with engine.connect() as conn:
                yield conn
        finally:
            engine.dispose()

    def _wait(self, name: str) -> None:
        """Until the server has ended what its clients left: locks must not outlive them."""
        query = sa.text("SELECT count(*) FROM pg_stat_activity WHERE datname = :name")
        until = time.monotonic() + PATIENCE
        with self._server.admin().connect() as conn:
            while conn.execute(query, {"name": name}).scalar_one():
                if time.monotonic() > until:
                    raise RuntimeError(f"The server keeps a killed client's session for over {PATIENCE:.0f} s.")
                time.sleep(0.02)


__all__ = ["InFolders", "OnPostgres", "opened", "rows_of"]
