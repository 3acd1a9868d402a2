"""What a job's process does: its work, with progress and a sign of life every few seconds."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from .commands.executor import OTHER_VERSION
from .errors import RunoffError, StoreError
from .jobs import JOBS, Reporter, clean_up, finish, read_job
from .store import Store, open_store
from .store import schema as t
from .store.engine import now
from .work import WORK

BEAT_SECONDS = 5.0


@contextmanager
def _heartbeat(store: Store, job_id: str) -> Iterator[None]:
    """Say every few seconds that the process is alive, also while its work has nothing to report."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(BEAT_SECONDS):
            with store.write(JOBS) as conn:
                conn.execute(sa.update(t.job).where(t.job.c.id == job_id).values(heartbeat_at=now()))

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def run(job_id: str) -> None:
    """Carry out a job in this process: what `python -m core job ID` does."""
    store = open_store()
    job = read_job(store, job_id)
    if job.state != "queued":
        return
    with store.write(JOBS) as conn:
        conn.execute(
            sa.update(t.job)
            .where(t.job.c.id == job_id, t.job.c.state == "queued")
            .values(state="running", pid=os.getpid(), started_at=now(), heartbeat_at=now())
        )
    try:
        with _heartbeat(store, job_id):
            if job.kind not in WORK:
                raise StoreError(OTHER_VERSION)
            WORK[job.kind](store, job, Reporter(store, job_id))
    except RunoffError as error:
        finish(store, job_id, state="failed", error=str(error))
        clean_up(store, job)
    except MemoryError:
        finish(store, job_id, state="failed", error="This machine has not enough free memory for it.")
        clean_up(store, job)
    except OSError as error:
        finish(store, job_id, state="failed", error=f"{error.strerror or error} ({error.filename or 'no file named'}).")
        clean_up(store, job)
