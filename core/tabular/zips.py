"""Zip files: written so that they depend on their contents alone; and read, whoever made them."""

from __future__ import annotations

import hashlib
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterable

from ..errors import InputError

DATE = (1980, 1, 1, 0, 0, 0)
# What no file that somebody made for Runoff comes near, but one made to fill the memory does.
SMALL_BYTES, MAX_RATIO = 16 << 20, 100
MAX_JSON = 4 << 20  # of JSON, which takes up to 24 times its length as Python's objects
_PIECE_BYTES = 1 << 16
# What a damaged or hostile zip file can raise.
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    LookupError,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,
)


def most_unpacked(n_packed: int) -> int:
    """How many bytes a packed file of so many may hold: more only one has that was made to fill the memory.

    >>> most_unpacked(24_000), most_unpacked(10**6)
    (16777216, 100000000)
    """
    return max(SMALL_BYTES, MAX_RATIO * n_packed)


def check_sizes(archive: zipfile.ZipFile, n_packed: int, limit: int) -> None:
    """Raise `InputError` for a zip file of `n_packed` bytes that unpacks to more than `limit` bytes, or to over 16 MB
    and more than 100 times its own size, or packs a member otherwise than zip programs do (stored or deflated).

    The sizes are those that the zip states; `zipfile` hands out no more of a member, but unpacks more where it is asked
    for all of it at once: read members piece by piece, or see `check_stated`. Of the other ways of packing one small
    piece can fill the memory.
    """
    entries = archive.infolist()
    n_bytes = sum(entry.file_size for entry in entries)
    if n_bytes > min(limit, most_unpacked(n_packed)):
        raise InputError(
            f"This file has {n_packed:,} bytes and unpacks to {n_bytes:,}: more than such a file may have "
            f"(up to {limit:,} bytes, and {MAX_RATIO} times what it is). Choose another file."
        )
    if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
        raise InputError("This zip file is packed in an unusual way. Pack it again, as a plain zip file.")


def read_member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limit: int) -> bytes:
    """The bytes of a member; `InputError` where it unpacks to more than `limit`."""
    with archive.open(entry) as handle:
        data = handle.read(limit + 1)
    if len(data) > limit:
        raise InputError(
            f"{entry.filename[:100]} unpacks to more than the {limit:,} bytes it may have. Choose another file."
        )
    return data


def check_stated(archive: zipfile.ZipFile) -> None:
    """Raise `InputError` where a member unpacks to more than the zip states: for programs that then read it whole."""
    for entry in archive.infolist():
        stated = entry.file_size
        entry.file_size, left = stated + 1, stated + 1
        try:
            with archive.open(entry) as member:
                while left > 0 and (piece := member.read(min(left, _PIECE_BYTES))):
                    left -= len(piece)
        finally:
            entry.file_size = stated
        if left <= 0:
            raise InputError("This zip file holds more than it states: it is damaged, or made to do harm.")


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
