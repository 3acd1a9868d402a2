"""A reader of word2vec's binary format: a header line, then the bytes and the values of each word.

The header is "words dimensions"; then come per word its bytes, a space, and its values as little-endian float32, often
(not always) followed by a line feed.

Nothing says where a word ends but the space after it, and words may hold spaces ("ice cream"). Taken for the end of
its word, such a space puts all values out of step. So each word is checked: it is text, its values are of a size that
vectors have, and where they end another word begins. Where that fails, every space is tried, and the one that fits is
taken; where none or several do, the file is refused with the word. No vector is ever read out of step.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ..formats import HEADER, Block, FileHead, Reader, Recognised, Source, check_dimensions, note_broken, texts_of

FORMAT = "word2vec binary"
CHUNK_BYTES = 8 << 20
MAX_WORD_BYTES = 2000
_N_CHECKED = 20
_N_TRIED = 50  # spaces that are tried as the end of one word
_LONG_BYTES = 256  # a shorter vector could be all words and pass for values, so each is looked at closely
_TEXT_BYTES = 1 << 16
_CONTROLS = bytes([*range(32), 127])
# Absolute values that vectors have, as the bits of float32: 1e-9 to 1e4. Bytes out of step are of any size.
_LEAST, _MOST = (int(np.array(bound, "<f4").view("<u4")) for bound in (1e-9, 1e4))


def recognise(head: FileHead) -> Recognised | None:
    """A header line, and words that stand where its vector length puts them; see `Reader.recognise`."""
    match = HEADER.match(head.start)
    if match is None:
        return None
    n_words, dimensions = int(match[1]), int(match[2])
    check_dimensions(head, dimensions)
    body = head.start[match.end() :]
    if not _words_fit(body, 4 * dimensions, n_words, head):
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


def _has_controls(word: bytes) -> bool:
    return len(word.translate(None, _CONTROLS)) != len(word)


def _is_plain(word: bytes, codec: str) -> bool:
    """Whether bytes are text without control characters, as words are."""
    if _has_controls(word):
        return False
    try:
        text = word.decode(codec)
    except UnicodeDecodeError:
        return False
    return word.isascii() or not any("\x80" <= char <= "\x9f" for char in text)


def _are_sane(values: np.ndarray) -> bool:
    """Whether values (float32) are all zero or of a size that vectors have."""
    bits = values.view(np.uint32) & np.uint32(0x7FFFFFFF)
    odd = (bits - np.uint32(_LEAST)) > np.uint32(_MOST - _LEAST)  # what is smaller wraps around
    return not odd.any() or not bits[odd].any()


class _Unsure(Exception):
    """No end of a word fits, or several do: `words` are what it could be."""

    def __init__(self, words: list[bytes]) -> None:
        super().__init__(words)
        self.words = words


@dataclass(frozen=True)
class _Layout:
    """What a file's entries have in common: bytes a vector, the words' encoding, a line feed after each vector."""

    n_bytes: int
    codec: str
    has_feeds: bool = False

    def entry(self, data: bytes, start: int, *, is_last: bool, at_end: bool) -> tuple[int, int] | None:
        """Where the word of the entry at `start` ends, and where the next entry begins; None if the data end before
        that can be told. `is_last`: no word follows; `at_end`: the file ends with `data`. Raises `_Unsure`."""
        ranked: list[tuple[int, bool, tuple[int, int]]] = []
        end = start - 1
        for _ in range(_N_TRIED):
            end = data.find(b" ", end + 1, start + MAX_WORD_BYTES)
            following = end + 1 + self.n_bytes
            if end < 0 or (ranked and _has_controls(data[start:end].lstrip(b"\n"))):
                break  # no longer one is a word, either
            if following + (0 if at_end else MAX_WORD_BYTES) > len(data):
                if at_end and ranked:
                    break
                return None
            plain = self._is_word(data[start:end])
            sane = _are_sane(np.frombuffer(data, "<f4", self.n_bytes // 4, end + 1))
            fits = self._is_followed(data, following, is_last, at_end)
            rank = (
                4 if plain and sane and fits else 3 if plain and (sane or fits) else 2 if sane and fits else int(sane)
            )
            ranked.append((rank, sane, (end, following)))
        if not ranked:
            if len(data) - start < MAX_WORD_BYTES + (self.n_bytes if at_end else 0):
                return None  # at the file's end it is cut
            raise _Unsure([])
        best = max(rank for rank, _, _ in ranked)
        ways = [(sane, ends) for rank, sane, ends in ranked if rank == best]
        # Values of odd sizes are taken only where no other reading has ordinary ones.
        doubtful = not ways[0][0] and any(sane and rank > 1 for rank, sane, _ in ranked)
        if best == 0 or len(ways) > 1 or doubtful:
            raise _Unsure(
                [data[start:end].lstrip(b"\n") for _, _, (end, _) in ranked if self._is_word(data[start:end])]
            )
        return ways[0][1]

    def _is_word(self, word: bytes) -> bool:
        word = word.lstrip(b"\n")
        return bool(word) and _is_plain(word, self.codec)

    def _is_followed(self, data: bytes, at: int, is_last: bool, at_end: bool) -> bool:
        """Whether what stands there is what stands after a vector: another word, or the end of the file."""
        if is_last:
            return at_end and data[at:] in ((b"\n",) if self.has_feeds else (b"", b"\n"))
        if self.has_feeds and data[at : at + 1] != b"\n":
            return False
        end = data.find(b" ", at, at + MAX_WORD_BYTES)
        return end >= 0 and self._is_word(data[at:end])

    def are_in_step(self, words: list[bytes], vectors: np.ndarray, is_first: bool) -> bool:
        """Whether words that were cut off at their first spaces, and their vectors, are beyond doubt."""
        stripped = [word.lstrip(b"\n") for word in words]
        feeds = not self.has_feeds or all(word.startswith(b"\n") for word in words[is_first:])
        return all(stripped) and feeds and _is_plain(b" ".join(stripped), self.codec) and _are_sane(vectors)


def _layout(data: bytes, n_bytes: int, codec: str, n_words: int, *, at_end: bool) -> tuple[_Layout, int]:
    """The layout by the first entries, and how many of them could be told."""
    for has_feeds in (True, False):
        layout, at, n_told = _Layout(n_bytes, codec, has_feeds), 0, 0
        try:
            while n_told < min(_N_CHECKED, n_words):
                entry = layout.entry(data, at, is_last=n_told == n_words - 1, at_end=at_end)
                if entry is None or (has_feeds and data[entry[1] : entry[1] + 1] not in (b"\n", b"")):
                    break
                at, n_told = entry[1], n_told + 1
            else:
                entry = None
            if not has_feeds or (n_told and entry is None):
                return layout, n_told
        except _Unsure:
            if not has_feeds:
                break
    return layout, n_told


def _words_fit(body: bytes, n_bytes: int, n_words: int, head: FileHead) -> bool:
    """Whether the first words of `body`, as far as it reaches, look like words among values."""
    if _is_text(body[:_TEXT_BYTES]):
        return False
    end = body.find(b" ", 0, MAX_WORD_BYTES)
    is_word = end >= 0 and _is_plain(body[:end].lstrip(b"\n"), head.options.codec)
    return is_word or _layout(body, n_bytes, head.options.codec, n_words, at_end=head.is_whole)[1] > 0


def _cut(data: bytes, n_bytes: int, n_left: int) -> tuple[list[bytes], list[int], int]:
    """Cut off up to `n_left` whole entries at the first space of each: their words, where their values begin, where
    the rest begins."""
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
    """The vectors that begin at these places."""
    # One entry a row of opaque bytes at any offset: numpy copies whole rows at the speed of memory.
    row = np.dtype((np.void, 4 * dimensions))
    rows = np.ndarray((len(data) - row.itemsize + 1,), dtype=row, buffer=data, strides=(1,))
    vectors = rows[np.array(places, dtype=np.int64)].view("<f4").reshape(len(places), dimensions)
    return vectors.astype(np.float32, copy=False)


class _Cutter:
    """Cuts pieces of one file into entries, all of them in step."""

    def __init__(self, name: str, layout: _Layout, n_total: int) -> None:
        self._name, self._layout, self._n_total = name, layout, n_total
        self._n_done = 0

    def cut(self, data: bytes, *, at_end: bool) -> tuple[list[bytes], np.ndarray, int]:
        """Words, vectors and where the rest begins: entries whose following word can be seen, too."""
        n_left, dimensions = self._n_total - self._n_done, self._layout.n_bytes // 4
        words, places, at = _cut(data, self._layout.n_bytes, n_left)
        if words and not at_end and (len(words) < n_left or len(data) - at < MAX_WORD_BYTES):
            at = places[-1] - 1 - len(words[-1])
            del words[-1], places[-1]
        vectors = _vectors(data, places, dimensions) if words else np.empty((0, dimensions), np.float32)
        is_whole = not words or len(words) < n_left or not data[at:].strip(b"\n")
        is_long = self._layout.n_bytes >= _LONG_BYTES
        if not (is_long and is_whole and self._layout.are_in_step(words, vectors, self._n_done == 0)):
            words, places, at = self._cut_closely(data, n_left, at_end)
            vectors = _vectors(data, places, dimensions) if words else np.empty((0, dimensions), np.float32)
        self._n_done += len(words)
        return words, vectors, at

    def _cut_closely(self, data: bytes, n_left: int, at_end: bool) -> tuple[list[bytes], list[int], int]:
        """As `_cut`, each entry at the one space that fits; raises `InputError` with the word where none does."""
        words: list[bytes] = []
        places: list[int] = []
        at = 0
        while len(words) < n_left:
            try:
                entry = self._layout.entry(data, at, is_last=len(words) == n_left - 1, at_end=at_end)
            except _Unsure as error:
                raise self._unsure(self._n_done + len(words) + 1, error.words) from None
            if entry is None:
                break
            words.append(data[at : entry[0]])
            places.append(entry[0] + 1)
            at = entry[1]
        return words, places, at

    def _unsure(self, number: int, words: list[bytes]) -> InputError:
        if not words:
            return InputError(f"{self._name}: word {number:,} has no end. The file is damaged, fetch it again.")
        shown = " or ".join(repr(word.decode(self._layout.codec)[:60]) for word in words[:3])
        return InputError(
            f"{self._name}: word {number:,} begins {shown}, and where its vector begins can't be told. Words with "
            "spaces in them don't fit into word2vec's binary format, or the file is damaged: write it as text "
            "(gensim: save_word2vec_format with binary=False) or with _ in place of spaces, or fetch it again."
        )


def read(source: Source, recognised: Recognised, notes: list[str]) -> Iterator[Block]:
    """Yield the file's words and vectors; see `Reader.read`.

    A word that isn't in the file's encoding (word2vec cuts long words between bytes) keeps its vector and is noted.
    """
    source.read(recognised.offset)
    n_bytes, n_total = 4 * recognised.dimensions, recognised.n_expected
    n_done, rest, at_end = 0, b"", False
    cutter: _Cutter | None = None
    broken: list[str] = []
    n_spaced = 0
    while n_done < n_total:
        data = source.read(max(CHUNK_BYTES, 2 * n_bytes))
        rest, at_end = rest + data, not data
        if cutter is None:
            if not at_end and len(rest) < _N_CHECKED * (n_bytes + MAX_WORD_BYTES):
                continue
            layout, _ = _layout(rest, n_bytes, source.options.codec, n_total, at_end=at_end)
            cutter = _Cutter(source.name, layout, n_total)
        words, vectors, at = cutter.cut(rest, at_end=at_end)
        if words:
            stripped = [word.lstrip(b"\n") for word in words]
            n_spaced += sum(b" " in word for word in stripped)
            yield Block(texts_of(stripped, source.options, broken), vectors)
        n_done += len(words)
        rest = rest[at:]
        if at_end and n_done < n_total:
            raise InputError(
                f"{source.name}: the file is truncated, it ends in word {n_done + 1} of {n_total}. Fetch it again."
            )
    n_over = len(rest.strip(b"\n")) + source.drain()
    if n_over:
        notes.append(f"bytes after the last of {n_total:,} words, left out: {n_over:,}")
    if n_spaced:
        notes.append(f"words that hold spaces: {n_spaced:,}; where they end was told by the vectors after them")
    note_broken(broken, source.options, notes)


READER = Reader(FORMAT, recognise, read)
