"""Files that are kept byte for byte, under their hash."""

from __future__ import annotations

import hashlib
import os
import re

from ..errors import StoreError
from .engine import Store


def safe_name(filename: str) -> str:
    """A file's own name without folders and control characters, at most 120 characters."""
    name = re.split(r"[/\\]", filename)[-1]
    return "".join(c for c in name if c.isprintable())[:120] or "results.csv"


def keep_bytes(store: Store, data: bytes) -> str:
    """Write the file under its hash before its votes are in the store, so that a vote is never without its source."""
    digest = hashlib.sha256(data).hexdigest()
    target = store.uploads / digest
    part = store.incoming / f"{digest}.{os.getpid()}.part"
    try:
        if not target.exists():
            with open(part, "wb") as handle:
                handle.write(data)
                handle.flush()
                os.fsync(handle.fileno())
            part.replace(target)
    except OSError as error:
        raise StoreError(
            f"The file can't be kept in {store.uploads} ({error.strerror}). Nothing was changed."
        ) from error
    return digest
