"""word2vec's binary format: a header line "words dimensions", then per word its bytes, a space, and its values
as little-endian float32, often (not always) followed by a line feed."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

import numpy as np

from ..errors import InputError
from .formats import HEADER, Block, Head, Reader, Recognised, Source, check_dimensions
from .mending import note_broken, texts_of

FORMAT = "word2vec binary"
CHUNK_BYTES = 8 << 20
MAX_WORD_BYTES = 2000
_N_CHECKED = 20
_TEXT_BYTES = 1 << 16


def recognise(head: Head) -> Recognised | None:
    """A header line, and words that stand where its vector length puts them; see `Reader.recognise`."""
    match = HEADER.match(head.start)
    if match is None:
        return None
    n_words, dimensions = int(match[1]), int(match[2])
    check_dimensions(head, dimensions)
    body = head.start[match.end() :]
    if not _words_fit(body, 4 * dimensions):
        return None
    if n_words == 0:
        raise InputError(f"{head.name}: the first line says 0 words. Fetch the file again.")
    n_needed = match.end() + n_words * (4 * dimensions + 1)
    if head.is_exact and head.size < n_needed:
        raise InputError(
            f"{head.name}: the file is truncated, {n_words} words of {dimensions} dimensions take at least "
            f"{n_needed:,} bytes and it has {head.size:,}. Fetch it again."
        )
    return Recognised(FORMAT, n_words, dimensions, True, offset=match.end(), n_expected=n_words)


def _is_text(data: bytes) -> bool:
    """Whether `data` is the beginning of readable text, which values in float32 never are."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return not any(byte < 9 for byte in data)


def _words_fit(body: bytes, n_bytes: int) -> bool:
    """Whether the first words of `body`, as far as it reaches, look like words among values."""
    if _is_text(body[:_TEXT_BYTES]):
        return False
    at = 0
    for _ in range(_N_CHECKED):
        if at >= len(body):
            break
        end = body.find(b" ", at, at + MAX_WORD_BYTES)
        word = body[at:end].lstrip(b"\n")
        if end < 0:
            return at > 0 and len(body) - at < MAX_WORD_BYTES
        if any(byte < 32 for byte in word):
            return False
        at = end + 1 + n_bytes
    return len(body) > 0


def _cut(data: bytes, n_bytes: int, n_left: int) -> tuple[list[bytes], list[int], int]:
    """Cut off up to `n_left` whole entries: their words, where their values begin, where the rest begins."""
    words: list[bytes] = []
    places: list[int] = []
    at, size, find = 0, len(data), data.find
    while n_left:
        end = find(b" ", at)
        following = end + 1 + n_bytes
        if end < 0 or following > size:
            break
        words.append(data[at:end])
        places.append(end + 1)
        at = following
        n_left -= 1
    return words, places, at


def _vectors(data: bytes, places: list[int], dimensions: int) -> np.ndarray:
    """The vectors that begin at the places found by `_cut`."""
    # One entry a row of opaque bytes at any offset: numpy copies whole rows at the speed of memory.
    row = np.dtype((np.void, 4 * dimensions))
    rows = np.ndarray((len(data) - row.itemsize + 1,), dtype=row, buffer=data, strides=(1,))
    vectors = rows[np.array(places, dtype=np.int64)].view("<f4").reshape(len(places), dimensions)
    return vectors.astype(np.float32, copy=False)


def read(source: Source, recognised: Recognised, notes: list[str]) -> Iterator[Block]:
    """Yield the file's words and vectors; see `Reader.read`.

    A word that isn't in the file's encoding (word2vec cuts long words between bytes) keeps its vector and is noted.
    """
    source.read(recognised.offset)
    n_bytes, n_total = 4 * recognised.dimensions, recognised.n_expected
    n_done, rest = 0, b""
    broken: list[str] = []
    while n_done < n_total:
        data = source.read(max(CHUNK_BYTES, 2 * n_bytes))
        if not data:
            raise InputError(
                f"{source.name}: the file is truncated, it ends in word {n_done + 1} of {n_total}. Fetch it again."
            )
        rest += data
        words, places, at = _cut(rest, n_bytes, n_total - n_done)
        if not words and len(rest) > n_bytes + MAX_WORD_BYTES:
            raise InputError(f"{source.name}: word {n_done + 1} has no end. The file is damaged, fetch it again.")
        if words:
            texts = texts_of([word.lstrip(b"\n") for word in words], source.options, broken)
            yield Block(texts, _vectors(rest, places, recognised.dimensions))
        n_done += len(words)
        rest = rest[at:]
    n_over = len(rest.strip(b"\n")) + source.drain()
    if n_over:
        notes.append(f"bytes after the last of {n_total:,} words, left out: {n_over:,}")
    note_broken(broken, source.options, notes)


READER = Reader(FORMAT, recognise, read)
