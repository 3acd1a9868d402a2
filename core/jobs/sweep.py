"""What jobs left behind: those whose process is gone are marked, and their files and those of crashes are removed."""

from __future__ import annotations

import shutil
import time

import sqlalchemy as sa

from ..store import Store
from ..store import schema as t
from ..store.blobs import sweep_blobs
from ..store.spool import sweep_spool
from ..store.voting.rest import wake_voting
from .jobs import STOPPED, clean_up, dead_jobs, finish, read_job, running_jobs

LEFT_SECONDS = 24 * 3600.0
ORPHAN_SECONDS = 600.0


def sweep(store: Store) -> int:
    """Mark jobs whose process is gone as failed and clear what they left; returns how many.

    Called at start, and by whoever watches a job.
    """
    with store.read() as conn:
        running, dead = running_jobs(conn), dead_jobs(conn)
    swept = 0
    for job in dead:
        if read_job(store, job.id).ended:
            continue  # it came to its end in the meantime
        finish(store, job.id, state="failed", error=STOPPED)
        clean_up(store, job)
        swept += 1
    wake_voting(store, {job.pid for job in dead if job.pid})
    gone = {job.id for job in dead}
    running = [job for job in running if job.id not in gone]
    sweep_blobs(store, older_than=LEFT_SECONDS)
    sweep_spool(store, older_than=LEFT_SECONDS, wanted={str(job.params.get("path")) for job in running})
    if not running:
        _sweep_embeddings(store)
    busy = {job.id for job in running}
    for left in store.incoming.glob("job-*"):
        if left.name.removeprefix("job-").removesuffix(".part") not in busy:
            shutil.rmtree(left, ignore_errors=True)
    return swept


def _sweep_embeddings(store: Store) -> None:
    """Remove imported folders that no row knows of: their process ended between the move and the row."""
    with store.read() as conn:
        known = set(conn.execute(sa.select(t.embedding.c.id)).scalars())
    for folder in store.embeddings.iterdir():
        if folder.name not in known and time.time() - folder.stat().st_mtime > ORPHAN_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)
