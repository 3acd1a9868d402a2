"""Rows of the table `job` that say what came of some work."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from ..errors import StoreError
from . import schema as t
from .engine import now

ENDED = ("done", "failed", "cancelled")


def insert_done(conn: sa.Connection, project_id: str, kind: str, params: Mapping[str, Any], result: Any) -> str:
    """Keep a result as that of a job which is done, whoever made it; the id of its row."""
    id_, moment = secrets.token_hex(8), now()
    row = {"id": id_, "project_id": project_id, "kind": kind, "params": dict(params), "result": result}
    times = dict.fromkeys(("created_at", "started_at", "heartbeat_at", "ended_at"), moment)
    conn.execute(sa.insert(t.job).values(**row, **times, state="done", message="Done."))
    return id_


def mark_done(conn: sa.Connection, job_id: str, result: Any) -> None:
    """Mark a job as done, in the transaction that writes what it made; `StoreError` if it was cancelled.

    One that is done already gets the result.
    """
    values = {"state": "done", "result": result, "ended_at": now(), "message": "Done."}
    row = sa.update(t.job).where(t.job.c.id == job_id, t.job.c.state.in_(["running", "done"]))
    if conn.execute(row.values(**values, done=t.job.c.total)).rowcount == 0:
        raise StoreError("The job was cancelled.")
