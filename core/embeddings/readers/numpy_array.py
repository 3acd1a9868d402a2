"""A NumPy array (.npy) of vectors, whose words stand in a file of their own (see `vocabulary`)."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ...base.file_names import shown_name
from ...errors import InputError
from ..formats import Block, Head, Reader, Recognised, Source, check_dimensions
from ..vocabulary import SUFFIXES, Vocabulary, find_vocabulary, read_vocabulary_file

FORMAT = "NumPy array"
MAGIC = b"\x93NUMPY"
CHUNK_BYTES = 4 << 20
_MAX_HEADER = 10_000
# NumPy reads a header with Python's own parser, and lets through what that raises.
_HEADER_ERRORS = (
    ValueError,
    TypeError,
    SyntaxError,
    tokenize.TokenError,
    KeyError,
    EOFError,
    OverflowError,
    RecursionError,
    MemoryError,
)


def _header(data: bytes, name: str) -> tuple[tuple[int, ...], bool, np.dtype, int]:
    """Shape, whether columns come first, type, and where the values begin."""
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"version {version[0]}.{version[1]} isn't for plain numbers")
        shape, fortran, dtype = read(stream, max_header_size=_MAX_HEADER)
    except _HEADER_ERRORS as error:
        raise InputError(f"{name} is a NumPy file whose header can't be read ({error}). Fetch it again.") from error
    return shape, fortran, dtype, stream.tell()


def recognise(head: Head) -> Recognised | None:
    """The format's mark, and two dimensions of floating-point numbers; see `Reader.recognise`."""
    if not head.start.startswith(MAGIC):
        return None
    shape, fortran, dtype, offset = _header(head.start, head.name)
    if dtype.hasobject:
        raise InputError(
            f"{head.name} is a NumPy array of Python objects, which could run any program when opened. Save the "
            "vectors as numbers (float32)."
        )
    if dtype.kind != "f" or dtype.itemsize not in (2, 4, 8) or len(shape) != 2:
        raise InputError(
            f"{head.name} is a NumPy array of {len(shape)} dimensions and type {dtype}; vectors are an array of two "
            "dimensions (words × values) of float16, float32 or float64."
        )
    n_words, dimensions = shape
    if n_words == 0:
        raise InputError(f"{head.name} is a NumPy array without rows. Fetch it again.")
    check_dimensions(head, dimensions)
    if fortran and head.packing:
        raise InputError(
            f"{head.name} is a packed NumPy array in Fortran's order: unpack it and choose the file inside."
        )
    n_needed = offset + n_words * dimensions * dtype.itemsize
    if head.is_exact and head.size < n_needed:
        raise InputError(
            f"{head.name}: the file is truncated, {n_words:,} × {dimensions} values of {dtype} take {n_needed:,} bytes "
            f"and it has {head.size:,}. Fetch it again."
        )
    words = head.options.vocabulary or find_vocabulary(head.path)
    notes = () if words is None else (f"its words are taken from {shown_name(words)}",)
    needs = (
        ""
        if words
        else (
            "an array has no words: name the file that has them, one a line in the order of the rows (or put it beside "
            f"the array, under the same name with {' or '.join(SUFFIXES)}, or as vocab.txt)."
        )
    )
    name = f"{FORMAT}, {dtype}"
    return Recognised(name, n_words, dimensions, True, notes, offset, n_expected=n_words, needs_vocabulary=needs)


def _vocabulary(source: Source, n_rows: int) -> Vocabulary:
    path = source.options.vocabulary or find_vocabulary(source.path)
    if path is None:
        raise InputError(f"{source.name}: the file of its words is gone. Name it again.")
    vocabulary = read_vocabulary_file(path, source.options, n_rows)
    if len(vocabulary.words) != n_rows:
        raise InputError(
            f"{source.name} has {n_rows:,} rows, {shown_name(path)} has {len(vocabulary.words):,} words: they don't "
            "belong together. Name the right file of words."
        )
    source.companions.append((shown_name(path), vocabulary.sha256))
    return vocabulary


def _rows(source: Source, recognised: Recognised) -> Iterator[np.ndarray]:
    """The array's rows as float32, some at a time."""
    shape, fortran, dtype, _ = _header(source.read(recognised.offset), source.name)
    n_rows, dimensions = shape
    step = max(1, CHUNK_BYTES // (dimensions * dtype.itemsize))
    if fortran:
        matrix = np.memmap(
            source.path, dtype=dtype, mode="r", offset=recognised.offset, shape=(n_rows, dimensions), order="F"
        )
    for start in range(0, n_rows, step):
        n_now = min(step, n_rows - start)
        data = source.read(n_now * dimensions * dtype.itemsize)
        if len(data) < n_now * dimensions * dtype.itemsize:
            n_found = start + len(data) // (dimensions * dtype.itemsize)
            raise InputError(
                f"{source.name}: the file is truncated, it has {n_found:,} of {n_rows:,} rows. Fetch it again."
            )
        part = matrix[start : start + n_now] if fortran else np.frombuffer(data, dtype).reshape(n_now, dimensions)
        with np.errstate(over="ignore", invalid="ignore"):
            yield np.ascontiguousarray(part, dtype=np.float32)


def read(source: Source, recognised: Recognised, notes: list[str]) -> Iterator[Block]:
    """Yield the words and their rows; see `Reader.read`. Rows without a word are left out and noted."""
    vocabulary = _vocabulary(source, recognised.n_expected)
    notes.extend(vocabulary.notes)
    at = n_nameless = 0
    for rows in _rows(source, recognised):
        words = vocabulary.words[at : at + len(rows)]
        at += len(rows)
        named = np.array([bool(word.strip()) for word in words])
        n_nameless += int((~named).sum())
        try:
            texts = pa.array([word for word in words if word.strip()], pa.string())
        except UnicodeEncodeError as error:
            raise InputError(f"A word of {source.name} can't be written as UTF-8 ({error.reason}).") from error
        yield Block(texts, rows[named])
    if n_nameless:
        notes.append(f"rows without a word, left out: {n_nameless:,}")
    if n_over := source.drain():
        notes.append(f"bytes after the last row, left out: {n_over:,}")


READER = Reader(FORMAT + " with a file of its words", recognise, read)
