"""Long work as jobs: each runs in a process of its own, and the table `job` holds its progress and its result.

A page starts a job and looks at its row; the process (`core/worker.py`) writes progress and a heartbeat there, and its
result in the transaction that ends it. Cancelling ends the process. `sweep` finds jobs whose process is gone, marks
them, and removes the files that they or a crash left.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from ..base.durable import private
from ..base.processes import is_alive
from ..errors import StoreError
from ..installed import HOME, LIBRARY
from ..store import Store
from ..store import schema as t
from ..store.command import ENDED
from ..store.engine import now
from ..store.stored_files import output_path, sweep_blobs, sweep_spool
from ..store.voting.closing_pause import resume_voting

REPORT_SECONDS = 0.5
STALE_SECONDS = 60.0
ASLEEP_SECONDS = 24 * 3600.0
STOPPED = "The program stopped while this was running. Start it again; runoff.log in the workspace may say more."
JOBS = "jobs"  # what `Store.write` calls them
# What `core/worker.py` can do.
KINDS = (
    "import_embedding",
    "encode_tokens",
    "command",
    "figure",
    "evaluation_figure",
    "evaluation_figures",
    "simulation",
)


@dataclass(frozen=True)
class Job:
    """A job as pages see it; `done` and `total` are in the unit of `message`'s work (bytes for imports)."""

    id: str
    project_id: str | None
    kind: str
    params: dict
    state: str
    pid: int | None
    done: float
    total: float
    message: str
    result: dict | None
    error: str | None
    created_at: str
    started_at: str | None
    heartbeat_at: str | None
    ended_at: str | None

    @property
    def ended(self) -> bool:
        return self.state in ENDED

    @property
    def share(self) -> float:
        return min(self.done / self.total, 1.0) if self.total else 0.0

    def seconds_left(self) -> float | None:
        """Time left at the pace so far; None while nothing is known."""
        if self.started_at is None or self.share <= 0.01:
            return None
        return age(self.started_at) * (1 - self.share) / self.share


def age(moment: str) -> float:
    """Seconds since a time the store wrote."""
    return (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds()


def _select(conn: sa.Connection, *where: Any, limit: int | None = None) -> list[Job]:
    query = (
        sa.select(*[t.job.c[name] for name in Job.__annotations__]).where(*where).order_by(t.job.c.created_at.desc())
    )
    return [Job(*row) for row in conn.execute(query.limit(limit))]


def read_job(store: Store, job_id: str) -> Job:
    """One job; `StoreError` if there is none of that id."""
    job = find_job(store, job_id)
    if job is None:
        raise StoreError(f"There is no job {job_id!r}.")
    return job


def find_job(store: Store, job_id: str) -> Job | None:
    """One job; None where it is gone, as the outcomes of earlier revisions are (`figures.base.tidy`)."""
    with store.read() as conn:
        return next(iter(_select(conn, t.job.c.id == job_id)), None)


def project_jobs(store: Store, project_id: str, *kinds: str, limit: int = 10) -> list[Job]:
    """The project's newest jobs of some kinds (of all, if none is named), the newest first."""
    of_kind = [t.job.c.kind.in_(kinds)] if kinds else []
    with store.read() as conn:
        return _select(conn, t.job.c.project_id == project_id, *of_kind, limit=limit)


def recent_paths(store: Store) -> list[str]:
    """Up to eight files that were imported by their path and are still there, the newest first."""
    query = sa.select(t.job.c.params).where(t.job.c.kind == "import_embedding").order_by(t.job.c.created_at.desc())
    with store.read() as conn:
        asked = conn.execute(query).scalars().all()
    paths = dict.fromkeys(params["path"] for params in asked if not params.get("uploaded"))
    return [path for path in paths if Path(path).is_file()][:8]


def same_job(store: Store, project_id: str, kind: str, params: dict) -> Job | None:
    """The project's newest job with just these parameters, whatever became of it; None if there is none."""
    with store.read() as conn:
        job_id = _same(conn, kind, params, project_id)
    return read_job(store, job_id) if job_id else None


def _same(conn: sa.Connection, kind: str, params: dict, project_id: str | None, *where: Any) -> str | None:
    """The id of the newest job of a kind with these parameters; results, which may be long, aren't read."""
    query = sa.select(t.job.c.id, t.job.c.params).where(t.job.c.kind == kind, t.job.c.project_id == project_id, *where)
    rows = conn.execute(query.order_by(t.job.c.created_at.desc()))
    return next((job_id for job_id, known in rows if known == params), None)


def start(store: Store, kind: str, params: dict, *, project_id: str | None = None, once: bool = False) -> str:
    """Write a job down and start its process; returns the job's id at once.

    With `once`, a job of the project that does just this already is returned in its place.
    """
    if kind not in KINDS:
        raise StoreError(f"There is no kind of job {kind!r}.")
    job_id = secrets.token_hex(8)
    row = {"id": job_id, "project_id": project_id, "kind": kind, "params": params, "state": "queued"}
    with store.write(JOBS) as conn:
        if once and (same := _same(conn, kind, params, project_id, t.job.c.state.in_(["queued", "running"]))):
            return same
        conn.execute(sa.insert(t.job).values(**row, created_at=now()))
    environment = {**os.environ, **store.environment}
    if LIBRARY == "core":
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HOME), os.environ.get("PYTHONPATH", "")]))
    try:
        with open(store.folder / "runoff.log", "ab", opener=private) as log:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", LIBRARY, "job", job_id],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
    except OSError as error:
        finish(store, job_id, state="failed", error=f"It could not be started ({error.strerror}).")
        raise StoreError(f"The work could not be started ({error.strerror}: {sys.executable}).") from error
    _children[job_id] = process
    with store.write(JOBS) as conn:
        conn.execute(sa.update(t.job).where(t.job.c.id == job_id, t.job.c.pid.is_(None)).values(pid=process.pid))
    return job_id


_children: dict[str, subprocess.Popen] = {}


def cancel(store: Store, job_id: str) -> None:
    """End a job's process and mark it cancelled; nothing happens if it has ended already."""
    job = read_job(store, job_id)
    if job.ended:
        return
    _end_process(job)
    finish(store, job_id, state="cancelled", message="Cancelled.")
    clean_up(store, job)
    resume_voting(store, {job.pid} if job.pid else ())


def _end_process(job: Job) -> None:
    child = _children.pop(job.id, None)
    if child is not None:
        child.terminate()
        try:
            child.wait(timeout=2)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    elif job.pid and job.heartbeat_at and abs(age(job.heartbeat_at)) < STALE_SECONDS and is_alive(job.pid):
        # Started by another server process; the fresh heartbeat says that the pid is still this job's.
        os.kill(job.pid, signal.SIGTERM)
        for _ in range(20):
            if not is_alive(job.pid):
                return
            time.sleep(0.1)


def _gone(job: Job) -> bool:
    """Whether a job's process has ended. Its own children are asked for their exit, so that none stays a zombie."""
    child = _children.get(job.id)
    if child is not None:
        return child.poll() is not None
    return job.pid is not None and not is_alive(job.pid)


def _is_silent(job: Job) -> bool:
    """Whether a job has given no sign of life for too long; a process that lives may have slept with its machine.

    A sign from the future is none: the clock was set back since.
    """
    quiet = age(job.heartbeat_at or job.created_at)
    lives = job.id in _children or (job.pid is not None and is_alive(job.pid))
    return quiet > ASLEEP_SECONDS if lives else abs(quiet) > STALE_SECONDS


def running_jobs(conn: sa.Connection, *where: Any) -> list[Job]:
    """The jobs that claim to wait or to run."""
    return _select(conn, t.job.c.state.in_(["queued", "running"]), *where)


def dead_jobs(conn: sa.Connection) -> list[Job]:
    """The jobs that claim to wait or to run, and of which no process is there any more."""
    return [job for job in running_jobs(conn) if _gone(job) or _is_silent(job)]


def finish(store: Store, job_id: str, **values: Any) -> None:
    """Mark a job as ended, unless it has ended already."""
    with store.write(JOBS) as conn:
        conn.execute(
            sa.update(t.job).where(t.job.c.id == job_id, t.job.c.state.not_in(ENDED)).values(**values, ended_at=now())
        )


def clean_up(store: Store, job: Job) -> None:
    """Remove what a job that didn't end well left in `incoming/`."""
    shutil.rmtree(store.incoming / f"job-{job.id}.part", ignore_errors=True)
    shutil.rmtree(store.incoming / f"job-{job.id}", ignore_errors=True)
    output_path(store, job.id).unlink(missing_ok=True)
    remove_upload(store, job.params)


def remove_upload(store: Store, params: dict) -> None:
    """Remove the file that was uploaded for a job."""
    path = Path(params.get("path", ""))
    if params.get("uploaded") and path.parent == store.incoming:
        path.unlink(missing_ok=True)


class Reporter:
    """Writes a job's progress, at most twice a second."""

    def __init__(self, store: Store, job_id: str) -> None:
        self._store, self._job_id, self._last = store, job_id, 0.0

    def __call__(self, done: float, total: float, message: str = "") -> None:
        moment = time.monotonic()
        if moment - self._last < REPORT_SECONDS and done < total:
            return
        self._last = moment
        with self._store.write(JOBS) as conn:
            conn.execute(
                sa.update(t.job)
                .where(t.job.c.id == self._job_id)
                .values(done=done, total=total, message=message, heartbeat_at=now())
            )


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
    resume_voting(store, {job.pid for job in dead if job.pid})
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
