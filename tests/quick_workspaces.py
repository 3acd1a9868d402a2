"""Workspaces of tests, made and asked without SQLAlchemy working out again what it worked out for the last one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from core.store import dialects, engine


@contextmanager
def statements_worked_out_once() -> Iterator[None]:
    """Every workspace has an engine of its own, which compiles each statement anew, and those of the schema come anew
    too: together a third of what a small test of the store costs. Here SQLite's engines share what is compiled."""
    make_engine, make_schema = engine.make_engine, engine.make_schema
    first = make_engine(Path(":memory:"))
    with first.connect() as conn, conn.begin():
        make_schema(conn)
        schema = conn.exec_driver_sql("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").scalars().all()
        version = engine.schema_version(conn)

    def sharing_engine(database: Path) -> sa.Engine:
        made = make_engine(database)
        made.dialect, made._compiled_cache = first.dialect, first._compiled_cache
        return made

    def known_schema(conn: sa.Connection) -> None:
        if dialects.is_postgresql(conn):
            make_schema(conn)
            return
        for statement in schema:
            conn.exec_driver_sql(statement)
        conn.exec_driver_sql("INSERT INTO alembic_version VALUES (?)", (version,))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "make_engine", sharing_engine)
        patch.setattr(engine, "make_schema", known_schema)
        yield
    first.dispose()
