"""Which servers of models a project may send its tokens to: none, until somebody switches one on.

The log says so, and nothing else: the newest entry about an address counts. An entry names its project too, so that a
copy, or an imported project, whose log it came with, may send nowhere.
"""

from __future__ import annotations

import sqlalchemy as sa

from ...errors import StoreError
from .. import schema as t
from ..command import command
from ..engine import Store

ALLOW, FORBID = "allow server", "forbid server"  # actions of the log


def allow_server(
    store: Store, project_id: str, address: str, on: bool, *, expected_revision: int | None = None
) -> None:
    """Let a project send its tokens to a server's address, or not any more."""
    with command(store, project_id, ALLOW if on else FORBID, expected_revision=expected_revision) as change:
        change.detail = {"address": address, "project": project_id}


def allowed_servers(store: Store, project_id: str) -> tuple[str, ...]:
    """The addresses that a project may send its tokens to, in the order they were switched on first."""
    query = sa.select(t.log.c.action, t.log.c.detail).order_by(t.log.c.id)
    query = query.where(t.log.c.project_id == project_id, t.log.c.action.in_([ALLOW, FORBID]))
    with store.read() as conn:
        rows = conn.execute(query).all()
    found: dict[str, bool] = {}
    for action, detail in rows:
        if isinstance(detail, dict) and detail.get("project") == project_id:
            found[str(detail.get("address"))] = action == ALLOW
    return tuple(address for address, on in found.items() if on)


def check_allowed(store: Store, project_id: str, address: str) -> None:
    """Raise `StoreError` where a project may not send its tokens to an address."""
    if address not in allowed_servers(store, project_id):
        raise StoreError(
            f"Sending tokens to {address} is switched off for this project. Switch it on first, on the Embeddings page "
            "or with --send. Nothing more is sent."
        )
