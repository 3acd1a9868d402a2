"""Files that wait in `incoming/` until a day after: uploads for commands and jobs, under their hash, and what jobs made
that is too large for the table `job` and not worth a backup, under their ids. Whoever wants one then has it made again.
"""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path

import sqlalchemy as sa

from ..base.durable import write_whole
from ..errors import StoreError
from . import schema as t
from .engine import Store

_UPLOADED, _MADE = "upload-", "made-"


def put_upload(store: Store, data: bytes) -> str:
    """Lay an uploaded file down, whole or not at all; returns its SHA-256. `StoreError` where it can't be written."""
    digest = hashlib.sha256(data).hexdigest()
    target = store.incoming / f"{_UPLOADED}{digest}"
    if target.is_file():
        with suppress(OSError):
            os.utime(target)  # it is wanted for another day
            return digest
    _write(target, data, f"The file can't be kept in {store.incoming} ({{why}}). Nothing was changed.")
    return digest


def read_upload(store: Store, sha256: str, name: str) -> bytes:
    """The bytes of an uploaded file; `StoreError` where it is gone."""
    try:
        return (store.incoming / f"{_UPLOADED}{sha256}").read_bytes()
    except OSError as error:
        raise StoreError(f"{name} is not there any more ({error.strerror}). Upload it again.") from error


def output_path(store: Store, job_id: str) -> Path:
    """Where the file of a job is, or would be."""
    return store.incoming / f"{_MADE}{job_id}"


def put_output(store: Store, job_id: str, data: bytes) -> None:
    """Write the file of a job, whole or not at all; `StoreError` where it can't be written."""
    _write(output_path(store, job_id), data, f"What was made can't be kept in {store.incoming} ({{why}}).")


def read_output(path: Path) -> bytes:
    """The file of a job; `StoreError` where it is gone."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise StoreError("The file is no longer kept. Make it again.") from error


def _write(target: Path, data: bytes, otherwise: str) -> None:
    try:
        write_whole(target, target.with_name(f"{target.name}.{os.getpid()}.part"), data)
    except OSError as error:
        raise StoreError(otherwise.format(why=error.strerror)) from error


def sweep_spool(store: Store, *, older_than: float, wanted: set[str]) -> None:
    """Remove files older than so many seconds, halves that a crash left, and what jobs made that aren't there any more
    or ended early; `wanted` are the paths of uploads that jobs still read."""
    halves = [*store.incoming.glob("*.part"), *(store.folder / "backups").glob("*.part")]
    for left in [*store.incoming.glob(f"{_UPLOADED}*"), *halves]:
        if left.is_file() and str(left) not in wanted and _age(left) > older_than:
            left.unlink(missing_ok=True)
    made = [path for path in store.incoming.glob(f"{_MADE}*") if path.suffix != ".part"]
    if not made:
        return
    with store.read() as conn:
        query = sa.select(t.job.c.id).where(t.job.c.state.in_(["queued", "running", "done"]))
        ids = set(conn.execute(query).scalars())
    for path in made:
        with suppress(OSError):
            if path.name.removeprefix(_MADE) not in ids or _age(path) > older_than:
                path.unlink()


def _age(path: Path) -> float:
    return time.time() - path.stat().st_mtime
