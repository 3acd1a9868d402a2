"""Zip files that depend on their contents alone: the same members give the same bytes."""

from __future__ import annotations

import hashlib
import io
import struct
import zipfile
import zlib
from collections.abc import Iterable

DATE = (1980, 1, 1, 0, 0, 0)
# What a damaged or hostile zip file can raise.
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,
)


def pack(members: Iterable[tuple[str, bytes]]) -> bytes:
    """A zip of the members in their order, without dates, users or machines in it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members:
            entry = zipfile.ZipInfo(name, DATE)
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            archive.writestr(entry, data, compresslevel=6)
    return out.getvalue()


def checksum(data: bytes) -> str:
    """SHA-256 in hex digits.

    >>> checksum(b"")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(data).hexdigest()


def sums(members: dict[str, bytes]) -> dict[str, dict[str, int | str]]:
    """Size and SHA-256 of each member, as manifests list them."""
    return {name: {"bytes": len(data), "sha256": checksum(data)} for name, data in members.items()}
