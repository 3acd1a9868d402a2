"""Tables too long to be held: the same decisions as for any other (`table`), made by reading them more than once.

    table = open_long(pieces, "similarities.csv", codec="utf-8")
    for number, cells in table.rows(pieces(), n_needed=3): ...

Bytes come in pieces, from the beginning each time they are asked for; a table that is packed is unpacked each time.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from ..errors import InputError, Issue
from .dialect import Dialect, find_long_dialect, records_of
from .table import is_blank, trimmed, why_unreadable

SAMPLE_BYTES = 1 << 20
_MAX_LINE = 64 << 20  # letters


class OddBytes(InputError):
    """Bytes that aren't in the encoding: `data` holds them at `start`, in line `line`."""

    def __init__(self, message: str, line: int, data: bytes, start: int) -> None:
        super().__init__(message)
        self.line, self.data, self.start = line, data, start


@dataclass(frozen=True)
class LongTable:
    """A long text with delimiters, opened: what `table.CsvTable` is of others."""

    name: str
    header: tuple[str, ...]
    dialect: Dialect
    codec: str
    errors: str = "strict"

    @property
    def notes(self) -> tuple[Issue, ...]:
        return self.dialect.notes

    def rows(self, pieces: Iterator[bytes], n_needed: int) -> Iterator[tuple[int, list[str] | Issue]]:
        """The rows that aren't blank, with their numbers (the header is row 1): as many cells as the header has, or
        why the row can't be read. A row needs `n_needed` cells."""
        width = len(self.header)
        lines = islice(_lines(pieces, self.name, self.codec, self.errors), int(self.dialect.start > 0), None)
        for number, record in enumerate(records_of(lines, self.dialect), 2):
            if isinstance(record, list) and is_blank(record):
                continue
            if isinstance(record, list) and len(record) == width:
                yield number, record
            elif reason := why_unreadable(record, width, n_needed):
                yield number, Issue(reason, row=number)
            elif isinstance(record, list):
                yield number, (record + [""] * (width - len(record)))[:width]


def open_long(
    pieces: Callable[[], Iterator[bytes]], name: str, *, codec: str = "utf-8", errors: str = "strict"
) -> LongTable:
    """Open a long text: its delimiter, its header, and whether marks stand around its cells are found as
    `table.open_csv` finds them.

    `pieces` gives its bytes from the beginning, `codec` and `errors` are its encoding as Python calls them. Raises
    `InputError` for a text without a header, and `OddBytes`.
    """
    has_marks = any(b'"' in piece for piece in pieces())
    sample = "".join(_some(_lines(pieces(), name, codec, errors)))
    dialect, first = find_long_dialect(sample, lambda: _lines(pieces(), name, codec, errors), name, has_marks=has_marks)
    header = tuple(map(trimmed, first))
    if not any(header):
        raise InputError(f"{name} has no header: its first row is blank. The first row must name the columns.")
    return LongTable(name, header, dialect, codec, errors)


def _some(lines: Iterator[str]) -> Iterator[str]:
    n_letters = 0
    for line in lines:
        yield line
        n_letters += len(line)
        if n_letters > SAMPLE_BYTES:
            return


def _lines(pieces: Iterator[bytes], name: str, codec: str, errors: str) -> Iterator[str]:
    """The lines with their ends (LF, CR or CRLF)."""
    decoder = codecs.getincrementaldecoder(codec)(errors)
    rest, n_lines, is_first = "", 0, True
    for piece, is_last in _with_end(pieces):
        try:
            text = rest + decoder.decode(piece, is_last)
        except UnicodeDecodeError as error:
            before = error.object[: error.start].decode(codec, "replace")
            line = n_lines + len(io.StringIO(rest + before + "x", newline="").readlines())
            told = f"{name}, line {line}, holds the byte 0x{error.object[error.start]:02x}, which isn't {codec}"
            raise OddBytes(told, line, error.object, error.start) from error
        if is_first and text:
            text, is_first = text.removeprefix("\ufeff"), False
        # A CR at the end may be the half of a CRLF.
        end = len(text) if is_last else max(text.rfind("\n"), text.rfind("\r", 0, len(text) - 1)) + 1
        rest = text[end:]
        if len(rest) > _MAX_LINE:
            raise InputError(f"{name}, row {n_lines + 1}, is over {_MAX_LINE >> 20} million letters long.")
        for line_text in io.StringIO(text[:end], newline=""):
            n_lines += 1
            yield line_text


def _with_end(pieces: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    for piece in pieces:
        yield piece, False
    yield b"", True
