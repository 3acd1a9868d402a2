"""A NumPy array (.npy) of vectors, whose words stand as a list in a file of their own (`find_vocabulary`)."""

from __future__ import annotations

import hashlib
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from ...base.durable import shown_name
from ...errors import InputError
from ...tabular.json_files import parse_json
from ..containers import open_content
from ..formats import (
    BOM,
    Block,
    EncodingError,
    FileHead,
    Options,
    Reader,
    Recognised,
    Source,
    check_dimensions,
    read_head,
    suggest_encoding,
)
from .text import recognise as recognise_text
from .text import without_marks

BESIDE = ("vocab.txt", "vocab.json")
SUFFIXES = (".txt", ".vocab", ".json")
_MAX_BYTES = 2 << 30
_COUNTED = re.compile(r"(.*\S)[ \t](\d+)")


@dataclass(frozen=True)
class Vocabulary:
    """The words in the order of the array's rows, the hash of their file, and remarks for people."""

    words: list[str]
    sha256: str
    notes: tuple[str, ...] = ()


def find_vocabulary(path: Path) -> Path | None:
    """The file of words that lies beside an array: of the same stem, or called vocab.txt or vocab.json."""
    stem = path.name.split(".npy")[0].removesuffix(".npz")
    for name in [*(stem + suffix for suffix in SUFFIXES), *BESIDE]:
        candidate = path.with_name(name)
        if candidate != path and candidate.is_file() and not _is_embedding(candidate):
            return candidate
    return None


def _is_embedding(path: Path) -> bool:
    """Whether a file has vectors beside its words: then it isn't a list of words."""
    try:
        head = read_head(path)
        return recognise_text(head) is not None
    except InputError:
        return False


def read_vocabulary_file(path: Path, options: Options, n_rows: int | None = None) -> Vocabulary:
    """The words in the file at `path`: one per line, or a JSON list of them, or a JSON object of word and row.

    Counts after the words (as GloVe's vocab.txt has them), and R's quotation marks and numbers of rows are left out.
    Lines end at line feeds; where that doesn't make `n_rows` words, or there are none, at carriage returns too.
    Raises `InputError` for what is no list.
    """
    name = shown_name(path)
    if _is_embedding(path):
        raise InputError(f"{name} has vectors beside its words: choose it as the embedding itself.")
    with open_content(path, name) as content:
        data = content.read(_MAX_BYTES)
        if content.read(1):
            raise InputError(f"{name} is over {_MAX_BYTES >> 30} GB long, too much for a list of words.")
    text = _decode(FileHead(path, len(data), data, name, options=options))
    digest = hashlib.sha256(data).hexdigest()
    if text.lstrip()[:1] in ("[", "{"):
        words = _from_json(name, text)
        if words is not None:
            return Vocabulary(words, digest)
    lines = _lines(text, n_rows)
    counted = _without_counts(lines)
    if counted is not None:
        return Vocabulary(counted, digest, (f"the counts after the words of {name} were left out",))
    undressed = without_marks(lines)
    if undressed is not None:
        note = f"the words of {name} stand in quotation marks or after the numbers of their rows: these were left out"
        return Vocabulary(undressed, digest, (note,))
    return Vocabulary(lines, digest)


def _lines(text: str, n_rows: int | None) -> list[str]:
    text = text.replace("\r\n", "\n")
    lines = text.rstrip("\n").split("\n")
    if "\r" in text and len(lines) != n_rows:
        by_all = text.replace("\r", "\n").rstrip("\n").split("\n")
        if len(lines) == 1 or len(by_all) == n_rows:
            return by_all
    return lines


def _decode(head: FileHead) -> str:
    data = head.start.removeprefix(BOM)
    try:
        return data.decode(head.options.codec, head.options.errors)
    except UnicodeDecodeError as error:
        number, suggested = data.count(b"\n", 0, error.start) + 1, suggest_encoding(data)
        line = data.split(b"\n")[number - 1].decode(suggested, "replace").strip()
        raise EncodingError(
            f"{head.name}, line {number}: the word isn't valid {head.options.encoding.upper()}; in {suggested} it "
            f"would be {line[:40]!r}. Choose the encoding {suggested} if that is right, else another one.",
            suggested,
        ) from error


def _from_json(name: str, text: str) -> list[str] | None:
    """The words of a JSON list or object; None if the text isn't JSON, but a list whose first word is a bracket."""
    try:
        value = parse_json(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        rows = list(value.values())
        if all(type(row) is int for row in rows) and sorted(rows) == list(range(len(rows))):
            return sorted(value, key=value.__getitem__)
        raise InputError(f"{name}: each word must have its row, 0 to {len(rows) - 1}, each once. Correct the file.")
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return value
    raise InputError(f"{name} isn't a JSON list of words, nor an object that gives each word its row.")


def _without_counts(lines: list[str]) -> list[str] | None:
    """The words of lines "word count" with counts that never rise; None for any other lines."""
    words, previous = [], None
    for line in lines:
        match = _COUNTED.fullmatch(line)
        if match is None or len(match[2]) > 18 or (previous is not None and int(match[2]) > previous):
            return None
        words.append(match[1])
        previous = int(match[2])
    return words if len(words) > 1 else None


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


def recognise(head: FileHead) -> Recognised | None:
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
            "an array has no words: name the file that has them, one per line in the order of the rows (or put it "
            f"beside the array, under the same name with {' or '.join(SUFFIXES)}, or as vocab.txt)."
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
