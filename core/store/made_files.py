"""Files that a job made and that its result speaks of: too large for the table `job`, and not worth a backup.

They lie in `incoming/` under the job's id until a day after; whoever wants one then has it made again.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

import sqlalchemy as sa

from ..durable import write_whole
from ..errors import StoreError
from . import schema as t
from .engine import Store

PREFIX = "made-"


def made_path(store: Store, job_id: str) -> Path:
    """Where the file of a job is, or would be."""
    return store.incoming / f"{PREFIX}{job_id}"


def read_made(path: Path) -> bytes:
    """The file of a job; `StoreError` where it is gone."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise StoreError("The file isn't kept any more. Have it made again.") from error


def keep_made(store: Store, job_id: str, data: bytes) -> None:
    """Write the file of a job, whole or not at all; `StoreError` where it can't be written."""
    target = made_path(store, job_id)
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        write_whole(target, part, data)
    except OSError as error:
        raise StoreError(f"What was made can't be kept in {store.incoming} ({error.strerror}).") from error


def sweep_made(store: Store, *, older_than: float) -> None:
    """Remove files older than so many seconds, and those of jobs that aren't there any more or ended early."""
    files = [path for path in store.incoming.glob(f"{PREFIX}*") if path.suffix != ".part"]
    if not files:
        return
    with store.read() as conn:
        query = sa.select(t.job.c.id).where(t.job.c.state.in_(["queued", "running", "done"]))
        wanted = set(conn.execute(query).scalars())
    for path in files:
        with suppress(OSError):
            if path.name.removeprefix(PREFIX) not in wanted or time.time() - path.stat().st_mtime > older_than:
                path.unlink()
