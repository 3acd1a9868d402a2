"""Files that are kept byte for byte, under their hash."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from ..errors import StoreError
from . import schema as t
from .engine import Store

KEEPERS = (t.upload, t.frequency_source, t.release)  # tables that name kept files by `sha256`


def safe_name(filename: str) -> str:
    """A file's own name without folders and control characters, at most 120 characters."""
    name = re.split(r"[/\\]", filename)[-1]
    return "".join(c for c in name if c.isprintable())[:120] or "results.csv"


def write_whole(target: Path, part: Path, data: bytes) -> None:
    """Write a file by way of `part`, so that it is there whole or not at all; `OSError` where it can't be written."""
    try:
        with open(part, "wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        part.replace(target)
    except OSError:
        with suppress(OSError):
            part.unlink()  # on a full disk the half would be in the way
        raise


def keep_bytes(store: Store, data: bytes) -> str:
    """Write the file under its hash before its votes are in the store, so that a vote is never without its source."""
    digest = hashlib.sha256(data).hexdigest()
    target = store.uploads / digest
    part = store.incoming / f"{digest}.{os.getpid()}.part"
    try:
        if not target.exists():
            write_whole(target, part, data)
    except OSError as error:
        raise StoreError(
            f"The file can't be kept in {store.uploads} ({error.strerror}). Nothing was changed."
        ) from error
    return digest


def read_kept(store: Store, sha256: str, what: str, then: str = ".") -> bytes:
    """The bytes of a kept file; where they are gone, `StoreError` with what it is and what to do (`then`)."""
    try:
        return (store.uploads / sha256).read_bytes()
    except OSError as error:
        raise StoreError(f"{what} can't be read ({error.strerror}){then}") from error


def kept_by(table: sa.Table) -> sa.Select[Any]:
    """The names of the files that one of `KEEPERS` needs."""
    return sa.select(table.c.sha256).where(table.c.sha256.is_not(None))


def sweep_kept(store: Store, *, older_than: float) -> int:
    """Remove kept files that nothing needs and that are older than so many seconds; returns how many.

    A command that was cut short can leave one: the file is written before its row, and goes after it.
    """

    def unneeded(conn: sa.Connection) -> Iterator[Path]:
        needed = {digest for table in KEEPERS for digest in conn.execute(kept_by(table)).scalars()}
        for path in store.uploads.iterdir():
            is_kept = re.fullmatch("[0-9a-f]{64}", path.name) and path.name not in needed
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
