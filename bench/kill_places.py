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
        """The schema that the tables have."""
        engine = make_engine(folder / "runoff.sqlite")
        try:
            with engine.connect() as conn:
                return schema_version(conn)
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
        engine = self._server.engine(self._names[folder])
        try:
            with engine.connect() as conn, conn.begin():
                conn.exec_driver_sql(_RESET)
        finally:
            engine.dispose()

    def version(self, folder: Path) -> str | None:
        return HEAD  # new databases have the newest schema at once

    def _wait(self, name: str) -> None:
        """Until the server has ended what its clients left: locks must not outlive them."""
        query = sa.text("SELECT count(*) FROM pg_stat_activity WHERE datname = :name")
        until = time.monotonic() + PATIENCE
        with self._server.admin().connect() as conn:
            while conn.execute(query, {"name": name}).scalar_one():
                if time.monotonic() > until:
                    raise RuntimeError(f"The server keeps a killed client's session for over {PATIENCE:.0f} s.")
                time.sleep(0.02)


__all__ = ["InFolders", "OnPostgres", "opened"]
