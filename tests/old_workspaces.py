"""Workspaces of earlier schemas, made of the projects that are kept under fixtures/."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

import sqlalchemy as sa

from core.store.engine import make_engine
from core.store.migrations import upgrade
from core.store.project_zip import TABLES, is_of

FIXTURES = Path(__file__).parent / "fixtures"
OLD = sorted(path.stem.rsplit("-", 1)[1] for path in FIXTURES.glob("project-schema-*.zip"))


def old_project(schema: str) -> bytes:
    """The project that was exported by the last commit with this schema."""
    return (FIXTURES / f"project-schema-{schema}.zip").read_bytes()


def make_old_workspace(folder: Path, schema: str) -> None:
    """Write a workspace as that schema had it, with that project: its tables, and the files that it kept."""
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


def _insert(conn: sa.Connection, table: sa.Table, text: str) -> None:
    nullable = {column.name for column in table.c if column.nullable}
    for line in csv.DictReader(io.StringIO(text, newline="")):
        values = {name: None if cell == "" and name in nullable else cell for name, cell in line.items()}
        names = ", ".join(f'"{name}"' for name in values)
        marks = ", ".join(f":{name}" for name in values)
        conn.execute(sa.text(f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})'), values)
