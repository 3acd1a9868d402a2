"""What an embedding file is, judged by its content and never by its name.

A format is one module with a `Reader`: `recognise` looks at the beginning of a file, `read` yields its words
and vectors block by block. Add the reader to `READERS` in `__init__`, and everything else follows. What is
recognised but can't be read is in `_REFUSED`, each with the way out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from ..errors import InputError

HEAD_BYTES = 1 << 20
MAX_DIMENSIONS = 100_000
HEADER = re.compile(rb"\s*(\d{1,15})[ \t]+(\d{1,15})[ \t\r]*\n")
BOM = b"\xef\xbb\xbf"

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Recognised:
    """What a file was found to be.

    `format` is its name for people; `n_words` is what the header claims, None without a header; `dimensions`
    is the length of a vector; `notes` are remarks for people. The rest is for the format's reader: `offset`
    is where the first word begins, `separator` stands between fields (" ", a tab, or "mixed"), and
    `n_expected` is the number of words by the header or estimated from the file's size.
    """

    format: str
    n_words: int | None
    dimensions: int
    header: bool
    notes: tuple[str, ...] = ()
    offset: int = 0
    separator: str = " "
    n_expected: int = 0


@dataclass(frozen=True)
class Block:
    """Some words of a file in its order: `words` (n strings), `vectors` (n × dimensions, float32)."""

    words: pa.StringArray
    vectors: np.ndarray


@dataclass(frozen=True)
class Head:
    """A file's name, its size in bytes, and its first `HEAD_BYTES` bytes."""

    path: Path
    size: int
    start: bytes

    @property
    def is_whole(self) -> bool:
        """True when the file is no longer than its head."""
        return len(self.start) >= self.size


class Source:
    """A file read once from its beginning: counts and hashes what was read, and reports progress."""

    def __init__(self, file: BinaryIO, path: Path, size: int, progress: Progress | None = None) -> None:
        self.path, self.size, self.done = path, size, 0
        self._file, self._progress, self._hash = file, progress, hashlib.sha256()

    def read(self, n_bytes: int) -> bytes:
        """The next bytes, fewer than asked for only at the end of the file."""
        try:
            data = self._file.read(n_bytes)
        except OSError as error:
            raise InputError(f"{self.path.name} can't be read any further than byte {self.done}: {error}.") from error
        self._hash.update(data)
        self.done += len(data)
        if self._progress is not None:
            self._progress(self.done, self.size)
        return data

    def sha256(self) -> str:
        """The hash of everything read so far, as hexadecimal digits."""
        return self._hash.hexdigest()


@dataclass(frozen=True)
class Reader:
    """One format. `recognise(head)` returns None if the file isn't of this format, and raises `InputError` if it
    is but can't be used; `read(source, recognised, notes)` yields the blocks and appends remarks to `notes`."""

    name: str
    recognise: Callable[[Head], Recognised | None]
    read: Callable[[Source, Recognised, list[str]], Iterator[Block]]


def read_head(path: Path) -> Head:
    """The beginning of the file at `path`; raises `InputError` where there is none to read."""
    try:
        with path.open("rb") as file:
            return Head(path, path.stat().st_size, file.read(HEAD_BYTES))
    except FileNotFoundError as error:
        raise InputError(f"There is no file {path}. Check the path.") from error
    except IsADirectoryError as error:
        raise InputError(f"{path} is a folder; choose the file of an embedding.") from error
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror or error}.") from error


_UNPACK = "unpack it and choose the file inside"
# Bytes at an offset, what they mean, and what to do. The longest magics come first where they overlap.
_REFUSED: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"version https://git-lfs", "a Git LFS pointer, not the model itself", "fetch the model with `git lfs pull`"),
    (0, b"\x1f\x8b", "compressed (gzip)", _UNPACK),
    (0, b"BZh", "compressed (bzip2)", _UNPACK),
    (0, b"\xfd7zXZ", "compressed (xz)", _UNPACK),
    (0, b"\x28\xb5\x2f\xfd", "compressed (zstandard)", _UNPACK),
    (0, b"7z\xbc\xaf", "a 7z archive", _UNPACK),
    (0, b"PK\x03\x04", "a zip archive", _UNPACK),
    (0, b"PK\x05\x06", "an empty zip archive", "choose another file"),
    (257, b"ustar", "a tar archive", _UNPACK),
    (0, b"\xba\x16\x4f\x2f", "a fastText binary model", "choose the model's .vec file, which comes with it"),
    (0, b"\x93NUMPY", "a NumPy array without its words", "choose the model it belongs to, saved in word2vec format"),
    (0, b"\x89HDF", "an HDF5 file", "export the model in word2vec format"),
    (0, b"SQLite format 3", "an SQLite database (a Magnitude file, perhaps)", "export the model in word2vec format"),
    (0, b"PAR1", "a Parquet file", "export the model in word2vec format"),
    (0, b"ARROW1", "an Arrow file", "export the model in word2vec format"),
    (0, b"%PDF", "a PDF document", "choose the model"),
    (0, b"\xff\xfe", "text in UTF-16", "save it as UTF-8"),
    (0, b"\xfe\xff", "text in UTF-16", "save it as UTF-8"),
)
_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_WEB_PAGE = re.compile(rb"\s*<(!doctype|html|\?xml)", re.IGNORECASE)


def refuse(head: Head) -> None:
    """Raise `InputError` for a file that is known to be something else, saying what it is and what to do."""
    if head.size == 0:
        raise InputError(f"{head.path.name} is empty. Fetch it again.")
    for offset, magic, what, remedy in _REFUSED:
        if head.start.startswith(magic, offset):
            raise InputError(f"{head.path.name} is {what}: {remedy}.")
    if _PICKLE.match(head.start):
        raise InputError(
            f"{head.path.name} is a Python pickle (a gensim model, perhaps), which could run any program when opened: "
            "export the vectors with gensim's save_word2vec_format and choose that file."
        )
    if _WEB_PAGE.match(head.start):
        raise InputError(f"{head.path.name} is a web page, not the model: fetch the model itself.")


def check_dimensions(head: Head, dimensions: int) -> None:
    """Raise `InputError` for a vector length that no embedding has."""
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        raise InputError(
            f"{head.path.name}: the first line says {dimensions} dimensions; between 1 and {MAX_DIMENSIONS:,} can be. "
            "The file is damaged or of another format."
        )
