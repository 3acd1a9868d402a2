"""Which servers of models a project may ask: none, until its owner switches one on.

What stands here is this workspace's alone. It is in no project's file, and a copy or an imported project has none, so
that an address which came in a file is never asked, and gets no key. Keys stand nowhere: they are in the environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from ...errors import StoreError
from .. import schema as t
from ..command import Change, command, project_row
from ..engine import Store

CHAT = "chat"  # language models that answer comparisons (`core.judges`): one at a time, with its settings
EMBEDDINGS = "embeddings"  # what makes vectors of tokens (`core.encoders.server`): any number of addresses


def server_of(conn: sa.Connection, project_id: str, kind: str) -> dict[str, Any] | None:
    """What is switched on of a kind: its address and settings; None where nothing is."""
    address = (project_row(conn, project_id).servers or {}).get(kind)
    return dict(address) if isinstance(address, Mapping) else None


def read_server(store: Store, project_id: str, kind: str) -> dict[str, Any] | None:
    """What is switched on of a kind; None where nothing is."""
    with store.read() as conn:
        return server_of(conn, project_id, kind)


def switch_on(
    store: Store, project_id: str, kind: str, settings: Mapping[str, Any], *, expected_revision: int | None = None
) -> None:
    """Let a project ask a server, with these settings (`address` among them), in the place of the one before."""
    with command(store, project_id, "switch server on", expected_revision=expected_revision) as change:
        named = {name: settings[name] for name in ("address", "model") if name in settings}
        change.detail = {"kind": kind} | named
        _put(change, {**(change.project.servers or {}), kind: dict(settings)})


def switch_off(store: Store, project_id: str, kind: str, *, expected_revision: int | None = None) -> None:
    """Let a project ask no server of a kind any more; nothing happens where it asks none."""
    if read_server(store, project_id, kind) is None:
        return
    with command(store, project_id, "switch server off", expected_revision=expected_revision) as change:
        change.detail = {"kind": kind}
        _put(change, {name: of for name, of in (change.project.servers or {}).items() if name != kind})


def allow_server(
    store: Store, project_id: str, address: str, on: bool, *, expected_revision: int | None = None
) -> None:
    """Let a project send its tokens to a server's address, or not any more."""
    action = "allow server" if on else "forbid server"
    with command(store, project_id, action, expected_revision=expected_revision) as change:
        change.detail = {"address": address}
        others = {kind: of for kind, of in (change.project.servers or {}).items() if kind != EMBEDDINGS}
        allowed = [other for other in _addresses(change.conn, project_id) if other != address] + [address] * on
        _put(change, others | ({EMBEDDINGS: {"addresses": allowed}} if allowed else {}))


def allowed_servers(store: Store, project_id: str) -> tuple[str, ...]:
    """The addresses that a project may send its tokens to, in the order they were switched on."""
    with store.read() as conn:
        return tuple(_addresses(conn, project_id))


def check_allowed(store: Store, project_id: str, address: str) -> None:
    """Raise `StoreError` where a project may not send its tokens to an address."""
    if address not in allowed_servers(store, project_id):
        raise StoreError(
            f"Sending tokens to {address} is switched off for this project. Switch it on first, on the Embeddings page "
            "or with --send. Nothing more is sent."
        )


def _addresses(conn: sa.Connection, project_id: str) -> list[str]:
    return list((server_of(conn, project_id, EMBEDDINGS) or {}).get("addresses", []))


def _put(change: Change, servers: Mapping[str, Any]) -> None:
    row = sa.update(t.project).where(t.project.c.id == change.project_id)
    change.conn.execute(row.values(servers=dict(servers) or sa.null()))
