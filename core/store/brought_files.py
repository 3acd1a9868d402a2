"""Files that somebody uploaded and that a job is to read: in `incoming/`, under their hash, until a day after."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress

from ..durable import write_whole
from ..errors import StoreError
from .engine import Store

_PREFIX = "upload-"


def bring(store: Store, data: bytes) -> str:
    """Lay a file down for a job, whole or not at all; returns its SHA-256. `StoreError` where it can't be written."""
    digest = hashlib.sha256(data).hexdigest()
    target = store.incoming / f"{_PREFIX}{digest}"
    if target.is_file():
        with suppress(OSError):
            os.utime(target)  # it is wanted for another day
            return digest
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        write_whole(target, part, data)
    except OSError as error:
        raise StoreError(
            f"The file can't be kept in {store.incoming} ({error.strerror}). Nothing was changed."
        ) from error
    return digest


def brought(store: Store, sha256: str, name: str) -> bytes:
    """The bytes of a file that was brought; `StoreError` where it is gone."""
    try:
        return (store.incoming / f"{_PREFIX}{sha256}").read_bytes()
    except OSError as error:
        raise StoreError(f"{name} is not there any more ({error.strerror}). Upload it again.") from error
