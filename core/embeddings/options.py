"""What a person can say about a file beyond its path, and the errors that ask for it.

Words that aren't in the encoding they are read in: mended, and listed.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from ..errors import InputError
from ..tabular.encoding import ENCODINGS, MENDED, UTF8


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
