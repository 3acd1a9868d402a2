"""How a project reads tables whose columns are no platform's own: remembered for each header."""

from __future__ import annotations

import json
from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from ...platforms import Mapping
from .. import schema as t
from ..command import command
from ..engine import Store, now

RULES = 2  # of what values mean that nobody said; 1 up to version 0.2


def header_key(header: Sequence[str]) -> str:
    """What two files share whose columns are the same, in any case of the letters.

    >>> header_key(["Voter", "choice "]) == header_key(["voter", "Choice"])
    True
    """
    return json.dumps([name.strip().casefold() for name in header], ensure_ascii=False)


def kept_mapping(mapping: Mapping | None) -> dict[str, Any]:
    """How an upload was read, as its row keeps it; see `read_again`."""
    return {"rules": RULES} | ({} if mapping is None else mapping.stored())


def read_again(stored: AnyMapping[str, Any] | None) -> Mapping:
    """How an upload is read once more: as it was read when it was taken, also by an earlier version.

    >>> read_again(None).former, read_again(kept_mapping(None)).former
    (True, False)
    """
    stored = stored or {}
    return replace(Mapping.of(stored), former=stored.get("rules", 1) < RULES)


def mapping_of(conn: sa.Connection, project_id: str, header: Sequence[str]) -> Mapping | None:
    """The mapping that a project remembers for these columns, None where it has none."""
    c = t.column_mapping.c
    query = sa.select(c.mapping).where(c.project_id == project_id, c.header == header_key(header))
    stored = conn.execute(query).scalar_one_or_none()
    return None if stored is None else Mapping.of(stored)


def read_mapping(store: Store, project_id: str, header: Sequence[str]) -> Mapping | None:
    """The mapping that a project remembers for these columns, None where it has none."""
    with store.read() as conn:
        return mapping_of(conn, project_id, header)


def remember_mapping(store: Store, project_id: str, header: Sequence[str], mapping: Mapping) -> None:
    """Read every file with these columns so from now on; a former mapping of theirs is replaced."""
    mapping.check(header)
    with command(store, project_id, "map columns") as change:
        _forget(change.conn, project_id, header)
        row = {"project_id": project_id, "header": header_key(header), "mapping": mapping.stored(), "at": now()}
        change.conn.execute(sa.insert(t.column_mapping).values(row))
        change.detail = {"columns": mapping.named()}


def forget_mapping(store: Store, project_id: str, header: Sequence[str]) -> None:
    """Read files with these columns as a platform's own again."""
    with command(store, project_id, "forget columns") as change:
        _forget(change.conn, project_id, header)


def _forget(conn: sa.Connection, project_id: str, header: Sequence[str]) -> None:
    c = t.column_mapping.c
    conn.execute(sa.delete(t.column_mapping).where(c.project_id == project_id, c.header == header_key(header)))
