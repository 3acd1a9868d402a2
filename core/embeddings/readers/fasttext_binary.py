"""fastText's own binary format: arguments, dictionary, and the matrix of words and n-grams.

A word's vector is the mean of its row and its n-grams' rows (see `subwords`); the output matrix after them isn't
needed. Files of versions 11 and 12, and older ones that don't begin with the magic number.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...errors import InputError
from ..formats import Block, FileHead, Reader, Recognised, Source, Subwords, check_dimensions, note_broken, texts_of
from ..storage import check_room
from ..subwords import sum_ngrams
from .word2vec_binary import MAX_WORD_BYTES

FORMAT = "fastText binary"
MAGIC = b"\xba\x16\x4f\x2f"
CHUNK_BYTES = 4 << 20
# fastText makes no n-grams of its mark for the end of a sentence.
EOS = b"</s>"
_ARGS = struct.Struct("<12id")
_N_WORDS_AT_ONCE = 2000
_SUPERVISED = 3
_MAX_N = 1000


@dataclass(frozen=True)
class _FasttextHeader:
    """What stands before the dictionary; `is_old` without magic number, `end` is where the dictionary begins."""

    dimensions: int
    n_buckets: int
    min_n: int
    max_n: int
    n_entries: int
    n_words: int
    n_pruned: int
    is_old: bool
    end: int

    @property
    def n_rows(self) -> int:
        return self.n_words + self.n_buckets

    @property
    def has_subwords(self) -> bool:
        return self.n_buckets > 0 and self.max_n > 0


def _header(start: bytes) -> _FasttextHeader | None:
    """The header in the first bytes of a file, None if they are too few."""
    is_old = not start.startswith(MAGIC)
    counts = struct.Struct("<3iq" if is_old else "<3iqq")
    at = 0 if is_old else 8
    if len(start) < at + _ARGS.size + counts.size:
        return None
    dimensions, _, _, _, _, _, _, model, n_buckets, min_n, max_n, _, _ = _ARGS.unpack_from(start, at)
    n_entries, n_words, n_labels, _, *pruned = counts.unpack_from(start, at + _ARGS.size)
    if n_entries != n_words + n_labels or min(n_words, n_labels, n_buckets) < 0:
        return None
    if not is_old and struct.unpack_from("<i", start, 4)[0] == 11 and model == _SUPERVISED:
        max_n = 0  # fastText itself reads such models so
    n_pruned = pruned[0] if pruned else -1
    end = at + _ARGS.size + counts.size
    return _FasttextHeader(dimensions, n_buckets, min_n, max_n, n_entries, n_words, n_pruned, is_old, end)


def _looks_old(start: bytes) -> bool:
    """Whether the first bytes are the arguments of a fastText model from before the magic number."""
    if len(start) < _ARGS.size:
        return False
    dim, ws, epoch, min_count, neg, word_ngrams, loss, model, buckets, min_n, max_n, rate, t = _ARGS.unpack_from(start)
    return (
        1 <= dim <= 10_000
        and all(0 <= value <= 100_000 for value in (ws, epoch, min_count, neg, word_ngrams))
        and loss in (1, 2, 3)
        and model in (1, 2, 3)
        and 0 <= buckets <= 1 << 30
        and 0 <= min_n <= 100
        and 0 <= max_n <= 100
        and 0 <= rate <= 1 << 30
        and 0 <= t <= 1
    )


def recognise(head: FileHead) -> Recognised | None:
    """The magic number, or the arguments of a model older than it; see `Reader.recognise`."""
    has_magic = head.start.startswith(MAGIC)
    if not has_magic and not _looks_old(head.start):
        return None
    if has_magic and len(head.start) >= 8:
        version = struct.unpack_from("<i", head.start, 4)[0]
        if version not in (11, 12):
            raise InputError(
                f"{head.name} is a fastText model of version {version}; 11 and 12 can be read. Choose its .vec file."
            )
    header = _header(head.start)
    if header is None:
        if has_magic:
            raise InputError(f"{head.name} is a fastText model that is truncated or damaged. Fetch it again.")
        return None
    check_dimensions(head, header.dimensions)
    if header.n_pruned >= 0:
        raise _quantised(head.name)
    if header.max_n > _MAX_N:
        raise InputError(f"{head.name} says n-grams of {header.max_n} characters: it is damaged, fetch it again.")
    if header.n_words == 0:
        raise InputError(f"{head.name} is a fastText model without words. Fetch it again.")
    n_needed = header.end + 10 * header.n_entries + 16 + 4 * header.n_rows * header.dimensions
    if head.is_exact and head.size < n_needed:
        raise InputError(
            f"{head.name}: the file is truncated or damaged, {header.n_words:,} words and {header.n_buckets:,} rows of "
            f"n-grams in {header.dimensions} dimensions take at least {n_needed:,} bytes and it has {head.size:,}. "
            "Fetch it again."
        )
    notes = ("vectors of words outside its vocabulary can be made on request",) if header.has_subwords else ()
    return Recognised(
        FORMAT,
        header.n_words,
        header.dimensions,
        True,
        notes,
        header.end,
        n_expected=header.n_rows,
        has_subwords=header.has_subwords,
    )


def _quantised(name: str) -> InputError:
    return InputError(
        f"{name} is a quantised fastText model (.ftz), whose vectors are only approximate: choose the model it was "
        "made from, its .bin or .vec file."
    )


class _Stream:
    """The source in pieces of any length; raises `InputError` where it ends too early."""

    def __init__(self, source: Source) -> None:
        self._source, self._data, self._at = source, b"", 0

    def _fill(self) -> None:
        data = self._source.read(CHUNK_BYTES)
        if not data:
            raise InputError(
                f"{self._source.name}: the file is truncated, it ends after {self._source.done:,} bytes. "
                "Fetch it again."
            )
        self._data, self._at = self._data[self._at :] + data, 0

    @property
    def position(self) -> int:
        return self._source.done - len(self._data) + self._at

    def take(self, n_bytes: int) -> bytes:
        while len(self._data) - self._at < n_bytes:
            self._fill()
        self._at += n_bytes
        return self._data[self._at - n_bytes : self._at]

    def word(self) -> bytes:
        """The bytes up to the next zero byte."""
        while (end := self._data.find(b"\0", self._at)) < 0:
            if len(self._data) - self._at > MAX_WORD_BYTES:
                raise InputError(f"{self._source.name} is damaged: a word in its dictionary has no end.")
            self._fill()
        word, self._at = self._data[self._at : end], end + 1
        return word

    def pieces(self, n_bytes: int) -> Iterator[bytes]:
        """The next `n_bytes`, in pieces of moderate size."""
        while n_bytes:
            if self._at == len(self._data):
                self._fill()
            piece = self._data[self._at : self._at + n_bytes]
            self._at += len(piece)
            n_bytes -= len(piece)
            yield piece


def _words(stream: _Stream, header: _FasttextHeader, name: str) -> list[bytes]:
    """The words of the dictionary, without labels."""
    words = []
    for number in range(header.n_entries):
        word = stream.word()
        kind = stream.take(9)[8]
        if kind != (0 if number < header.n_words else 1):
            raise InputError(f"{name} is damaged: entry {number + 1} of its dictionary has the kind {kind}.")
        if number < header.n_words:
            words.append(word)
    return words


def _write(stream: _Stream, n_bytes: int, path: Path | None) -> None:
    """Move the next bytes into a file, or past them if `path` is None."""
    if path is None:
        for _ in stream.pieces(n_bytes):
            pass
        return
    with path.open("wb") as file:
        for piece in stream.pieces(n_bytes):
            check_room(path.parent, len(piece))
            file.write(piece)


def _map(path: Path, n_rows: int, dimensions: int, offset: int = 0) -> np.ndarray:
    if n_rows == 0:
        return np.empty((0, dimensions), dtype=np.float32)
    return np.memmap(path, dtype="<f4", mode="r", offset=offset, shape=(n_rows, dimensions))


def _matrices(stream: _Stream, source: Source, header: _FasttextHeader) -> tuple[np.ndarray, np.ndarray]:
    """The rows of words and of n-grams: in the file itself, or unpacked into the scratch folder."""
    if not header.is_old and stream.take(1) != b"\0":
        raise _quantised(source.name)
    n_rows, dimensions = struct.unpack("<2q", stream.take(16))
    if (n_rows, dimensions) != (header.n_rows, header.dimensions):
        raise InputError(
            f"{source.name} is damaged: its matrix has {n_rows} × {dimensions} values, its header says "
            f"{header.n_rows} × {header.dimensions}. Fetch it again."
        )
    row_bytes, at = 4 * header.dimensions, stream.position
    rows_path, ngrams_path = source.scratch / "rows.f32", source.scratch / Source.NGRAMS
    keeps_ngrams = header.has_subwords and (source.keeps_ngrams or bool(source.packing))
    _write(stream, row_bytes * header.n_words, rows_path if source.packing else None)
    _write(stream, row_bytes * header.n_buckets, ngrams_path if keeps_ngrams else None)
    if source.packing:
        rows = _map(rows_path, header.n_words, header.dimensions)
    else:
        rows = _map(source.path, header.n_words, header.dimensions, at)
    if keeps_ngrams:
        return rows, _map(ngrams_path, header.n_buckets, header.dimensions)
    n_ngrams = header.n_buckets if header.has_subwords else 0
    return rows, _map(source.path, n_ngrams, header.dimensions, at + row_bytes * header.n_words)


def read(source: Source, recognised: Recognised, notes: list[str]) -> Iterator[Block]:
    """Yield the model's words and vectors; see `Reader.read`. Words that aren't wanted have a vector of zeros."""
    stream = _Stream(source)
    header = _header(stream.take(recognised.offset))
    if header is None:
        raise InputError(f"{source.name} has changed while it was read. Start again.")
    raw_words = _words(stream, header, source.name)
    rows, ngrams = _matrices(stream, source, header)
    subwords = Subwords(header.min_n, header.max_n, ngrams, source.options.codec) if header.has_subwords else None
    source.drain()
    broken: list[str] = []
    for start in range(0, header.n_words, _N_WORDS_AT_ONCE):
        part = raw_words[start : start + _N_WORDS_AT_ONCE]
        words = texts_of(part, source.options, broken)
        vectors = np.array(rows[start : start + len(part)], dtype=np.float32)
        if source.wanted is not None:
            chosen = np.array([word in source.wanted for word in words.to_pylist()])
            vectors[~chosen] = 0
        else:
            chosen = np.ones(len(part), dtype=bool)
        if subwords is not None and chosen.any():
            words_or_none = [part[i] if part[i] != EOS else None for i in np.flatnonzero(chosen)]
            vectors[chosen] = _means(vectors[chosen], words_or_none, subwords)
        yield Block(words, vectors)
    note_broken(broken, source.options, notes)
    source.subwords = subwords
    del rows
    (source.scratch / "rows.f32").unlink(missing_ok=True)


def _means(rows: np.ndarray, words: list[bytes | None], subwords: Subwords) -> np.ndarray:
    """The words' vectors from their own rows and their n-grams'; None stands for a word without n-grams."""
    has_parts = np.array([word is not None for word in words])
    sums, counts = sum_ngrams([word for word in words if word is not None], subwords)
    vectors = rows.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        vectors[has_parts] = (rows[has_parts] + sums) / (counts[:, None] + 1).astype(np.float32)
    return vectors


READER = Reader(FORMAT, recognise, read)
