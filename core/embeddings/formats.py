"""What every reader of an embedding format shares: its interface, what a person can say of a file, and its errors.

A format is one module with a `Reader`: `recognise` looks at the beginning of a file, `read` yields its words and
vectors block by block. A file is judged by its content and never by its name. Add the reader to `READERS` in `loading`,
and everything else follows. What is recognised but can't be read is in `tabular.encoding.foreign` and here, each with
what to do about it.

Words that aren't in the encoding they are read in are mended, and listed.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path, PurePath

import numpy as np
import pyarrow as pa

from ..base.durable import shown_name, shown_path
from ..errors import InputError
from ..tabular import encoding
from ..tabular.encoding import ENCODINGS, MENDED, UTF8
from . import containers
from .containers import Content, open_content, packing_of


class TrustError(InputError):
    """The file could run any program when opened, and nobody has said that it is trusted."""


class VocabularyError(InputError):
    """An array without words: the file that has them must be named."""


class EncodingError(InputError):
    """Text that isn't in the encoding it was read as; `suggested` is one that fits."""

    def __init__(self, message: str, suggested: str) -> None:
        super().__init__(message)
        self.suggested = suggested


@dataclass(frozen=True)
class Options:
    """How to read a file.

    `trusted` lets a Python pickle be opened; `encoding` is that of the words ("utf-8-replace" reads
    UTF-8 and puts U+FFFD in place of what isn't, which is noted); `vocabulary` is the file with the
    words of a NumPy array, None to look for one beside it.
    """

    trusted: bool = False
    encoding: str = UTF8
    vocabulary: Path | None = None

    def __post_init__(self) -> None:
        if self.encoding == MENDED:
            return
        try:
            name = codecs.lookup(self.encoding).name
            plain = bytes(range(128)).decode(name) == "".join(map(chr, range(128)))
        except (LookupError, UnicodeDecodeError) as error:
            raise InputError(
                f"There is no text encoding {self.encoding!r} for words. Try one of: {', '.join(ENCODINGS)}."
            ) from error
        if not plain:
            raise InputError(
                f"{self.encoding} writes plain letters in another way than ASCII, such files can't be read line by "
                "line: save the file as UTF-8."
            )
        object.__setattr__(self, "encoding", UTF8 if name in ("utf-8", "utf-8-sig", "ascii") else name)

    @property
    def codec(self) -> str:
        """The encoding as Python calls it."""
        return UTF8 if self.encoding == MENDED else self.encoding

    @property
    def errors(self) -> str:
        """What becomes of bytes that aren't in the encoding, as Python calls it."""
        return "replace" if self.encoding == MENDED else "strict"

    @property
    def is_utf8(self) -> bool:
        """Whether the words are in UTF-8."""
        return self.encoding == UTF8


def suggest_encoding(data: bytes) -> str:
    """A Western encoding in which `data`, which isn't UTF-8, can be read.

    >>> suggest_encoding(b"fl\\xfbte"), suggest_encoding(b"it\\x92s")
    ('latin-1', 'cp1252')
    """
    if any(0x80 <= byte < 0xA0 for byte in data):
        try:
            data.decode("cp1252")
        except UnicodeDecodeError:
            return "latin-1"
        return "cp1252"
    return "latin-1"


_N_SHOWN = 5


def texts_of(words: list[bytes], options: Options, broken: list[str]) -> pa.StringArray:
    """The words as text; those that aren't in the encoding get U+FFFD and are put on the list `broken`."""
    if options.codec == "utf-8":
        try:
            return pa.array(words, pa.binary()).cast(pa.string())
        except pa.ArrowInvalid:
            pass
    texts = []
    for word in words:
        try:
            texts.append(word.decode(options.codec))
        except UnicodeDecodeError:
            texts.append(word.decode(options.codec, "replace"))
            broken.append(texts[-1])
    return pa.array(texts, pa.string())


def note_broken(broken: list[str], options: Options, notes: list[str]) -> None:
    """Add a remark on the words that were mended, if there are any."""
    if broken:
        shown = ", ".join(repr(text) for text in broken[:_N_SHOWN])
        notes.append(f"words that aren't valid {options.codec.upper()}, mended with U+FFFD: {len(broken):,} ({shown})")


HEAD_BYTES = 1 << 20
MAX_DIMENSIONS = 100_000
HEADER = re.compile(rb"\s*(\d{1,15})[ \t]+(\d{1,15})[ \t]*(?:\r*\n|\r)")
BOM = b"\xef\xbb\xbf"
VECTORS, SIMILARITIES = "vectors", "similarities"

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Recognised:
    """What a file was found to be.

    `format` is its name for people; `n_words` is what the header claims, None without a header; `dimensions`
    is the length of a vector, 0 where it isn't known before the file is read; `notes` are remarks for people.
    What is still needed before it can be imported: `needs_trust` and `needs_vocabulary` say why (see `Options`),
    `needs_encoding` is an encoding that fits, where the file's beginning isn't in the one it was read as.
    `packing` is "gzip", "bzip2", "xz", "zip" or ""; `kind` "vectors" or "similarities"; `has_subwords` says that
    vectors of other words can be made from parts of words.

    The rest is for the format's reader: `offset` is where the first word begins, `separator` stands between
    fields (" ", a tab, or "mixed"), `ends_in_cr` says that a carriage return alone ends a line, `dress` what stands
    around words ("quotes", "numbers", "numbers and quotes", or ""), and `n_expected` is the number of words by the
    header or estimated from the file's size.
    """

    format: str
    n_words: int | None
    dimensions: int
    header: bool
    notes: tuple[str, ...] = ()
    offset: int = 0
    separator: str = " "
    ends_in_cr: bool = False
    dress: str = ""
    n_expected: int = 0
    packing: str = ""
    kind: str = VECTORS
    has_subwords: bool = False
    needs_trust: str = ""
    needs_vocabulary: str = ""
    needs_encoding: str = ""

    def sentence(self) -> str:
        """What was recognised, for people.

        >>> Recognised("word2vec text", 40000, 300, True).sentence()
        'word2vec text, 40,000 words, 300 dimensions'
        """
        counts = []
        if self.n_words is not None:
            counts = [_counted(self.kind, self.n_words)]
        elif self.n_expected:
            counts = [f"about {_counted(self.kind, self.n_expected)}"]
        if self.dimensions:
            counts.append(f"{self.dimensions:,} dimensions")
        return ", ".join([self.format, *counts])


def _counted(kind: str, n: int) -> str:
    return f"{n:,} pairs of tokens" if kind == SIMILARITIES else f"{n:,} words"


@dataclass(frozen=True)
class Block:
    """Some words of a file in its order: `words` (n strings), `vectors` (n × dimensions, float32)."""

    words: pa.StringArray
    vectors: np.ndarray


@dataclass(frozen=True)
class FileHead:
    """The first `HEAD_BYTES` bytes of a file's content, and how long all of it is.

    `name` is what messages call the file; `size` is exact if `is_exact`, else (of a packed file) estimated.
    """

    path: Path
    size: int
    start: bytes
    name: str = ""
    is_exact: bool = True
    packing: str = ""
    notes: tuple[str, ...] = ()
    options: Options = field(default_factory=Options)

    @property
    def is_whole(self) -> bool:
        """True when the content is no longer than its head."""
        return len(self.start) >= self.size


@dataclass(frozen=True)
class Subwords:
    """What makes vectors of words from their parts: the n-grams of `min_n` to `max_n` characters, and a row of
    `ngrams` (n_buckets × dimensions, float32) for each hash of one; words are cut up in the model's `encoding`."""

    min_n: int
    max_n: int
    ngrams: np.ndarray
    encoding: str = "utf-8"


class Source:
    """A file's content read once from its beginning; counts what was read, and reports progress.

    `wanted` are the only words that matter, None if all do (a reader may leave out others, but need not);
    `scratch` is a folder for what doesn't fit in memory; `keeps_ngrams` says that rows of n-grams are to be
    written there, into `NGRAMS`. A reader that finds n-grams sets `subwords`; one that reads other files too
    puts their names and hashes into `companions`; `threads` are for readers that use several.
    """

    NGRAMS = "ngrams.f32"

    def __init__(
        self, content: Content, head: FileHead, threads: ThreadPoolExecutor, progress: Progress | None = None
    ) -> None:
        self.path, self.name, self.options = head.path, head.name, head.options
        self.packing, self.done, self.threads = content.packing, 0, threads
        self.wanted: frozenset[str] | None = None
        self.scratch = Path()
        self.keeps_ngrams = False
        self.subwords: Subwords | None = None
        self.companions: list[tuple[str, str]] = []
        self._content, self._progress = content, progress

    def read(self, n_bytes: int) -> bytes:
        """The next bytes, fewer than asked for only at the end of the content."""
        data = self._content.read(n_bytes)
        self.done += len(data)
        if self._progress is not None:
            self._progress(self._content.file_done, self._content.file_size)
        return data

    def drain(self) -> int:
        """Read what is left, and return how many bytes that were."""
        n_bytes = 0
        while data := self.read(4 << 20):
            n_bytes += len(data)
        return n_bytes

    def sha256(self) -> str:
        """The hash of the whole file, as hexadecimal digits; reads what is left of it."""
        self.drain()
        digest = self._content.sha256()
        if self._progress is not None:
            self._progress(self._content.file_size, self._content.file_size)
        return digest

    @property
    def file_size(self) -> int:
        """The file's size in bytes, packed or not."""
        return self._content.file_size

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on how the file is packed."""
        return tuple(self._content.notes)


@dataclass(frozen=True)
class Reader:
    """One format. `recognise(head)` returns None if the file isn't of this format, and raises `InputError` if it
    is but can't be used; `read(source, recognised, notes)` yields the blocks and appends remarks to `notes`."""

    name: str
    recognise: Callable[[FileHead], Recognised | None]
    read: Callable[[Source, Recognised, list[str]], Iterator[Block]] = field(repr=False)


def read_head(path: Path, name: str = "", options: Options | None = None) -> FileHead:
    """The beginning of the file at `path`, which messages call `name`; raises `InputError` where there is none."""
    name, options = shown_path(name) or shown_name(path), options or Options()
    with open_content(path, name) as content:
        start = content.read(HEAD_BYTES)
        size, is_whole = content.size, not content.read(1)
        if size is None:
            # As much again for each byte of the file as for those unpacked so far.
            ratio = content.file_size / max(content.file_done, 1)
            size = len(start) if is_whole else max(len(start) + 1, round(len(start) * ratio))
        return FileHead(path, size, start, name, content.size is not None or is_whole, content.packing, options=options)


_UNPACK = "unpack it and choose the file inside"
# What to do about files of another kind, by their keys in `foreign`; those that it doesn't know.
_REMEDIES = {
    encoding.LFS: "fetch the model with `git lfs pull`",
    encoding.ARCHIVE: _UNPACK,
    encoding.WEB_PAGE: "fetch the model itself",
    encoding.PICTURE: "choose the model",
    encoding.PDF: "choose the model",
    encoding.OLD_OFFICE: "choose the model",
}
_OTHER = "export the model in word2vec format"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def refuse(head: FileHead) -> None:
    """Raise `InputError` for a file that is known to be something else, saying what it is and what to do."""
    if head.size == 0:
        raise InputError(f"{head.name} is empty. Fetch it again.")
    within = f", packed by {head.packing}" if head.packing else ""
    if twice := packing_of(head.start):
        raise InputError(f"{head.name} is packed twice ({head.packing} and {twice}): unpack it once.")
    inside = PurePath(head.name).stem if head.packing else head.name
    verb = f"holds, packed by {head.packing}," if head.packing else "is"
    for known in containers.KNOWN:
        if reason := known(head.start, inside):
            raise InputError(f"{head.name} {verb} {reason}")
    if other := encoding.foreign(head.start):
        key, what = other
        raise InputError(f"{head.name} is {what}{within}: {_REMEDIES.get(key, _OTHER)}.")
    if head.start.startswith(_UTF16):
        raise InputError(f"{head.name} is text in UTF-16{within}: save it as UTF-8.")


def check_dimensions(head: FileHead, dimensions: int) -> None:
    """Raise `InputError` for a vector length that no embedding has."""
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        raise InputError(
            f"{head.name}: the first line says {dimensions} dimensions; between 1 and {MAX_DIMENSIONS:,} can be. "
            "The file is damaged or of another format."
        )
