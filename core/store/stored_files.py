"""Files of a workspace: those kept byte for byte under their hash, and those that wait in `incoming/`.

The latter wait until a day after: uploads for commands and jobs, under their hash, and what jobs made that is too large
for the table `job` and not worth a backup, under their ids. Whoever wants one then has it made again.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from ..base.durable import sync_folder, write_whole
from ..errors import StoreError
from . import schema as t
from .engine import Store

_DIGEST = re.compile("[0-9a-f]{64}")
KEEPERS = (t.upload, t.frequency_source, t.release)  # tables that name stored files by `sha256`


def safe_name(filename: str) -> str:
    """A file's own name without folders and control characters, at most 120 characters."""
    name = re.split(r"[/\\]", filename)[-1]
    return "".join(c for c in name if c.isprintable())[:120] or "results.csv"


def put_blob(store: Store, data: bytes) -> str:
    """Have the file under its hash on the disk before its votes are in the store, so that no vote is without source."""
    digest = hashlib.sha256(data).hexdigest()
    target = store.uploads / digest
    part = store.incoming / f"{digest}.{os.getpid()}.part"
    try:
        if target.exists():
            sync_folder(store.uploads)  # whoever wrote it may not have come so far
        else:
            write_whole(target, part, data)
    except OSError as error:
        raise StoreError(
            f"The file can't be kept in {store.uploads} ({error.strerror}). Nothing was changed."
        ) from error
    return digest


def read_blob(store: Store, sha256: str, what: str, then: str = ".") -> bytes:
    """The bytes of a kept file; where they are gone, `StoreError` with what it is and what to do (`then`)."""
    if not _DIGEST.fullmatch(sha256):
        raise StoreError(f"{what} can't be read (it is named as no kept file is){then}")
    try:
        return (store.uploads / sha256).read_bytes()
    except OSError as error:
        raise StoreError(f"{what} can't be read ({error.strerror}){then}") from error


def check_blobs(conn: sa.Connection, belongs_to: Callable[[sa.Table], sa.ColumnElement[bool]]) -> None:
    """Raise ValueError where a row names a kept file as none is named: it would be read from another place."""
    for table in KEEPERS:
        for name in conn.execute(blobs_of(table).where(belongs_to(table))).scalars():
            if not _DIGEST.fullmatch(name):
                raise ValueError(f"no kept file is called {name[:80]!r}")


def blobs_of(table: sa.Table) -> sa.Select[Any]:
    """The names of the files that one of `KEEPERS` needs."""
    return sa.select(table.c.sha256).where(table.c.sha256.is_not(None))


def sweep_blobs(store: Store, *, older_than: float) -> int:
    """Remove stored files that nothing needs and that are older than so many seconds; returns how many.

    A command that was cut short can leave one: the file is written before its row, and goes after it.
    """

    def unneeded(conn: sa.Connection) -> Iterator[Path]:
        needed = {digest for table in KEEPERS for digest in conn.execute(blobs_of(table)).scalars()}
        for path in store.uploads.iterdir():
            is_kept = _DIGEST.fullmatch(path.name) and path.name not in needed
            if is_kept and time.time() - path.stat().st_mtime > older_than:
                yield path

    with store.read() as conn:
        if not any(True for _ in unneeded(conn)):
            return 0
    n = 0
    with store.write() as conn:  # under the lock, so that no upload of the same file comes between
        for path in unneeded(conn):
            path.unlink(missing_ok=True)
            n += 1
    return n


_UPLOADED, _MADE, _OF_JOB = "upload-", "made-", "job-"


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
    or ended early; `wanted` are the paths of uploads that jobs still read.

    So are folders that a killed backup, restore or import left, each as large as a workspace or an embedding; those of
    jobs are `lifecycle.sweep`'s, who knows which of them run.
    """
    for folder in store.incoming.iterdir():
        with suppress(OSError):  # it may be gone by now
            if folder.is_dir() and not folder.name.startswith(_OF_JOB) and _age(folder) > older_than:
                shutil.rmtree(folder, ignore_errors=True)
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
    """Seconds since a file, or anything in a folder, was changed."""
    return time.time() - max(inner.stat().st_mtime for inner in (path, *path.rglob("*")))
