"""Which tables SQLite would read as a whole for the statements of a block."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import sqlalchemy as sa

from core.store import Store
from core.store import schema as t

_SCAN = re.compile(r"^SCAN (\w+)")
_NAMED = re.compile(r'"?(\w+)"? AS "?(\w+)"?')


class Statements:
    """The statements that were carried out, one of each shape, and whether SQLite followed foreign keys then."""

    def __init__(self) -> None:
        self.of_shape: dict[tuple[str, bool], str] = {}
        self._without_keys: set[int] = set()

    def note(self, dbapi: Any, statement: str) -> None:
        if statement.startswith("PRAGMA foreign_keys"):
            (self._without_keys.add if statement.endswith("OFF") else self._without_keys.discard)(id(dbapi))
        shape = re.sub(r"'(?:[^']|'')*'|\b\d[\d.e+-]*\b", "?", statement)
        shape = re.sub(r"\?(?:, \?)+", "?", shape)
        self.of_shape.setdefault((shape, id(dbapi) not in self._without_keys), statement)


@contextmanager
def noted(store: Store) -> Iterator[Statements]:
    """Note what every connection to SQLite is asked in the block."""
    found = Statements()

    def connected(dbapi: Any, _: Any) -> None:
        dbapi.set_trace_callback(lambda statement: found.note(dbapi, statement))

    store.engine.dispose()
    sa.event.listen(sa.Engine, "connect", connected)
    try:
        yield found
    finally:
        sa.event.remove(sa.Engine, "connect", connected)
        store.engine.dispose()


def whole_tables(store: Store, statements: Statements) -> dict[str, list[str]]:
    """By table, the statements for which SQLite would read it, or an index of it, from its first row to its last; also
    because a row is deleted to which others may point, and no index leads to those."""
    found: dict[str, list[str]] = {}
    with closing(sqlite3.connect(store.folder / "runoff.sqlite", isolation_level=None)) as conn:
        for (_, with_keys), statement in statements.of_shape.items():
            if not statement.startswith(("SELECT", "UPDATE", "DELETE", "INSERT", "WITH")):
                continue
            conn.execute(f"PRAGMA foreign_keys={'ON' if with_keys else 'OFF'}")
            named: dict[str, str] = {name: table for table, name in _NAMED.findall(statement)}
            for row in conn.execute(f"EXPLAIN QUERY PLAN {statement}"):
                scan = _SCAN.match(str(row[3]))
                table = str(named.get(scan[1], scan[1])) if scan else ""
                if table in t.metadata.tables:
                    found.setdefault(table, []).append(statement)
    return found
