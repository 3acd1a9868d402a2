"""Workspaces of earlier schemas: made of the projects that are kept under fixtures/, or kept whole as a backup."""

from __future__ import annotations

import csv
import io
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from core.store import schema as t
from core.store.command import insert_rows
from core.store.engine import HEAD, make_engine
from core.store.migrations import upgrade
from core.store.projects.project_zip import BALLOT_TO_0007, TABLES, is_of

FIXTURES = Path(__file__).parent / "fixtures"
ALL = sorted(path.stem.rsplit("-", 1)[1] for path in FIXTURES.glob("project-schema-*.zip"))
OLD = [schema for schema in ALL if schema != HEAD]  # those that today's code migrates
BEFORE_NAMES = [schema for schema in OLD if schema < "0007"]  # two projects could have one name
KEPT = FIXTURES / "workspace-schema-0006.zip"  # as `backup --embeddings` wrote it
# The same, brought up and gone on with by the code of each schema; see test_newest_schema.
GONE_ON = [path for path in sorted(FIXTURES.glob("workspace-schema-*.zip")) if path != KEPT]
MAIN, TRIAL, TWIN, ARCHIVED = "f9scaj8z", "z22ui9dm", "53g6rf66", "2e58v4fn"  # the projects in it that hold something


def old_project(schema: str) -> bytes:
    """The project that was exported by the last commit with this schema."""
    return (FIXTURES / f"project-schema-{schema}.zip").read_bytes()


def make_old_workspace(folder: Path, schema: str) -> None:
    """Write a workspace as that schema had it, with that project: its tables, and the files that it kept.

    Its embeddings, which no project's file holds, are those of the workspace of that schema that is kept whole.
    """
    (folder / "uploads").mkdir(parents=True)
    engine = make_engine(folder / "runoff.sqlite")
    with (
        zipfile.ZipFile(io.BytesIO(old_project(schema))) as archive,
        engine.connect().execution_options(runoff_write=True) as conn,
        conn.begin(),
    ):
        upgrade(conn, schema)
        for table in [table for table in TABLES if is_of(table, schema)]:
            _insert(conn, table, archive.read(f"tables/{table.name}.csv").decode("utf-8"))
        for name in archive.namelist():
            if name.startswith("uploads/"):
                (folder / name).write_bytes(archive.read(name))
    engine.dispose()
    whole = kept_workspace(schema)
    if whole.exists():
        with zipfile.ZipFile(whole) as archive:
            archive.extractall(folder, [name for name in archive.namelist() if name.startswith("embeddings/")])


def unpack_kept_workspace(folder: Path, kept: Path = KEPT) -> None:
    """Write a workspace that is kept whole as it was: its database, and the files beside it."""
    with zipfile.ZipFile(kept) as archive:
        archive.extractall(folder)
    (folder / "manifest.json").unlink()


def kept_workspace(schema: str) -> Path:
    """The workspace of a schema that is kept whole."""
    return FIXTURES / f"workspace-schema-{schema}.zip"


def rows_of_kept(folder: Path) -> dict[str, tuple[list[str], list[tuple[Any, ...]]]]:
    """Of each table of a workspace's file, as SQLite has them: the names of its columns, and its rows in order."""
    with closing(sqlite3.connect(folder / "runoff.sqlite")) as conn:
        names = [row[0] for row in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        found = {}
        for name in names:
            columns = [row[1] for row in conn.execute(f'PRAGMA table_info("{name}")')]
            found[name] = (columns, sorted(conn.execute(f'SELECT * FROM "{name}"'), key=repr))
        return found


_BALLOT_AS_BEFORE = (  # constraints and indexes go with their columns
    "ALTER TABLE ballot DROP COLUMN purpose, DROP COLUMN kind, DROP COLUMN ordinal, ADD COLUMN number BIGINT NOT NULL, "
    "ADD COLUMN scheme TEXT COLLATE \"C\" DEFAULT 'comparison' NOT NULL, ALTER COLUMN plan_id SET NOT NULL",
    "ALTER TABLE ballot ADD CONSTRAINT uq_ballot_project_id_area_id_number UNIQUE (project_id, area_id, number)",
    "CREATE UNIQUE INDEX uq_ballot_of_all_areas ON ballot (project_id, number) WHERE area_id IS NULL",
)


def put_back_on_postgresql(conn: sa.Connection, folder: Path) -> None:
    """Make the tables of today's schema, which are empty, those of the workspace that is kept whole.

    What later migrations added is taken back: earlier ones can't be put through, as SQLite alone had them.
    """
    kept = rows_of_kept(folder)
    with closing(sqlite3.connect(folder / "runoff.sqlite")) as old:
        indexes = {row[0] for row in old.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
    for statement in _BALLOT_AS_BEFORE:
        conn.exec_driver_sql(statement)
    since = [table for table in t.metadata.sorted_tables if table.name not in kept]
    for table in reversed(since):
        conn.exec_driver_sql(f'DROP TABLE "{table.name}" CASCADE')
    for now in [table for table in t.metadata.sorted_tables if table not in since]:
        table = BALLOT_TO_0007 if now is t.ballot else now
        for index in now.indexes:
            if index.name not in indexes:
                conn.exec_driver_sql(f'DROP INDEX "{index.name}"')
        columns, rows = kept[table.name]
        for column in set(table.c.keys()) - set(columns):
            conn.exec_driver_sql(f'ALTER TABLE "{table.name}" DROP COLUMN "{column}"')
        insert_rows(conn, table, columns, rows)
        if isinstance(table.c[columns[0]].type, sa.Integer) and columns[0] == "id":
            last = f'(SELECT MAX(id) FROM "{table.name}")'
            conn.exec_driver_sql(f"SELECT setval(pg_get_serial_sequence('\"{table.name}\"', 'id'), {last})")
    (version,) = kept["alembic_version"][1]
    conn.execute(sa.text("UPDATE alembic_version SET version_num = :version"), {"version": version[0]})


def _insert(conn: sa.Connection, table: sa.Table, text: str) -> None:
    nullable = {column.name for column in table.c if column.nullable}
    for line in csv.DictReader(io.StringIO(text, newline="")):
        values = {name: None if cell == "" and name in nullable else cell for name, cell in line.items()}
        names = ", ".join(f'"{name}"' for name in values)
        marks = ", ".join(f":{name}" for name in values)
        conn.execute(sa.text(f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})'), values)
