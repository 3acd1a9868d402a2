"""What SQLite would do for the statements of a block: which tables it reads as a whole, and where deleting does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from core.store import Store
from core.store import schema as t

_SCAN = re.compile(r"^SCAN (\w+)")
_NAMED = re.compile(r'"?(\w+)"? AS "?(\w+)"?')
_DELETES = re.compile(r'^DELETE FROM "?(\w+)"?')


class Statements:
    """The statements that were carried out, each once for each shape; those of connections with foreign keys."""

    def __init__(self) -> None:
        self.all: dict[str, str] = {}  # one of each shape
        self.deleted: set[str] = set()  # tables, while SQLite followed foreign keys
        self._without_keys: set[int] = set()

    def note(self, dbapi: Any, statement: str) -> None:
        if statement.startswith("PRAGMA foreign_keys=OFF"):
            self._without_keys.add(id(dbapi))
        shape = re.sub(r"'(?:[^']|'')*'|\b\d[\d.e+-]*\b", "?", statement)
        self.all.setdefault(re.sub(r"\?(?:, \?)+", "?", shape), statement)
        found = _DELETES.match(statement)
        if found and id(dbapi) not in self._without_keys:
            self.deleted.add(found[1])


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
    """By table, the statements for which SQLite would read it, or an index of it, from its first row to its last."""
    found: dict[str, list[str]] = {}
    with store.read() as conn:
        for statement in statements.all.values():
            if not statement.startswith(("SELECT", "UPDATE", "DELETE", "INSERT", "WITH")):
                continue
            named = {name: table for table, name in _NAMED.findall(statement)}
            for row in conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}"):
                scan = _SCAN.match(str(row[3]))
                table = named.get(scan[1], scan[1]) if scan else ""
                if table in t.metadata.tables:
                    found.setdefault(table, []).append(statement)
    return found


def unled_keys(store: Store, deleted: set[str]) -> list[str]:
    """The foreign keys by which deleting rows of these tables reads another table as a whole, as no index leads it."""
    inspector, found, seen = sa.inspect(store.engine), [], set[str]()
    left = set(deleted)
    while left:
        parent = left.pop()
        seen.add(parent)
        for table in t.metadata.sorted_tables:
            led = {index["column_names"][0] for index in inspector.get_indexes(table.name)}
            led |= {key["column_names"][0] for key in inspector.get_unique_constraints(table.name)}
            led.add(next(iter(inspector.get_pk_constraint(table.name)["constrained_columns"]), None))
            for column in table.c:
                for key in column.foreign_keys:
                    if key.column.table.name == parent:
                        if column.name not in led:
                            found.append(f"{table.name}.{column.name}")
                        if key.ondelete == "CASCADE" and table.name not in seen:
                            left.add(table.name)
    return sorted(set(found))
