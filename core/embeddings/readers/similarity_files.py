"""A reader of tables of similarities that are too long to be held: recognised by their columns, read in pieces.

Such a file may be gigabytes long. It goes by once to see how it is written, where quotation marks are in it, and once
to be read. What is decided is what is decided of any other table (`core.tabular.table`).

    table = open_long(pieces, "similarities.csv", codec="utf-8")
    for number, cells in table.rows(pieces(), n_needed=3): ...

Bytes come in pieces, from the beginning each time they are asked for; a table that is packed is unpacked each time.
"""

from __future__ import annotations

import codecs
import io
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pyarrow as pa

from ...errors import InputError, Issue
from ...tabular.columns import lacking, places_of, same_name, trimmed
from ...tabular.dialect import Dialect, find_dialect, find_long_dialect, lines, records_of
from ...tabular.table import (
    is_blank,
    is_missing,
    long_column_numbers,
    why_unreadable,
)
from ..containers import open_content
from ..formats import BOM, SIMILARITIES, EncodingError, FileHead, Recognised, Source, suggest_encoding

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
            message = f"{name}, line {line}, holds the byte 0x{error.object[error.start]:02x}, which isn't {codec}"
            raise OddBytes(message, line, error.object, error.start) from error
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


FORMAT = "similarities of pairs (CSV)"
COLUMNS = ("token_a", "token_b", "similarity")
MAX_ISSUES = 100
_PIECE_BYTES = 4 << 20
_HEADER_BYTES = 10_000
_BATCH = 100_000
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class SimilarityRows:
    """The rows with a value: `tokens` (2n strings: a, b, a, b, …), `values` (n, float64), `numbers` of the rows (n,
    the header is row 1); `n_empty` rows had no value."""

    tokens: pa.ChunkedArray
    values: np.ndarray
    numbers: np.ndarray
    n_empty: int


def _codec(head: bytes, chosen: str) -> str:
    """The encoding as Python calls it: UTF-16 by its mark, else the chosen one."""
    return "utf-16" if head.startswith(_MARKS) else chosen


def recognise(head: FileHead) -> Recognised | None:
    """A first line that names the columns; see `Reader.recognise`."""
    codec = _codec(head.start, head.options.codec)
    beginning = head.start[:_HEADER_BYTES].decode(codec, "replace").removeprefix("\ufeff")
    first = list(islice(lines(beginning), 2))
    try:
        dialect, header = find_dialect("".join(first if beginning[:4].lower() == "sep=" else first[:1]), head.name)
    except InputError:
        return None
    names = list(map(same_name, header))
    if not set(COLUMNS) <= set(names):
        return None
    notes, needs_encoding = [], ""
    if head.start.startswith(BOM):
        notes.append("a byte order mark at its beginning was skipped")
    if head.start.startswith(_MARKS):
        notes.append("the file is in UTF-16")
    if others := [trimmed(name) for name in header if same_name(name) not in COLUMNS]:
        notes.append(f"columns that aren't needed, left out: {', '.join(others)[:100]}")
    try:
        codecs.getincrementaldecoder(codec)(head.options.errors).decode(head.start)
    except UnicodeDecodeError as error:
        needs_encoding = suggest_encoding(head.start)
        row = head.start.count(b"\n", 0, error.start) + 1
        notes.append(f"row {row}: not valid {head.options.encoding.upper()}; it can be read as {needs_encoding}")
    n_lines = _n_lines(head.start) - 1 + (not head.start.endswith((b"\n", b"\r")))
    n_expected = n_lines if head.is_whole else round(n_lines * head.size / len(head.start))
    return Recognised(
        FORMAT,
        None,
        0,
        True,
        tuple(notes),
        separator=dialect.delimiter,
        n_expected=max(n_expected, 1),
        kind=SIMILARITIES,
        needs_encoding=needs_encoding,
    )


def _n_lines(data: bytes) -> int:
    return data.count(b"\n") or data.count(b"\r")


def _pieces(source: Source) -> Iterator[bytes]:
    """The file's bytes, from the beginning each time, without the source being read."""
    with open_content(source.path, source.name) as content:
        while data := content.read(_PIECE_BYTES):
            yield data


def _once(source: Source) -> Iterator[bytes]:
    while data := source.read(_PIECE_BYTES):
        yield data


class _Collector:
    """Gathers rows and what is wrong with them."""

    def __init__(self, places: Sequence[int]) -> None:
        self._a, self._b, self._value = places
        self._tokens: list[str] = []
        self._texts: list[str] = []
        self._chunks: list[pa.Array] = []
        self._values: list[pa.Array] = []  # as they are written: commas are read when all have been seen
        self._numbers = array("q")
        self.issues: list[Issue] = []
        self.n_issues = self.n_empty = 0

    def wrong(self, issue: Issue) -> None:
        """Count a row that can't be used; the first are kept."""
        self.n_issues += 1
        if len(self.issues) < MAX_ISSUES:
            self.issues.append(issue)

    def add(self, row: list[str], number: int) -> None:
        """Take a row in."""
        a, b, text = row[self._a].strip(), row[self._b].strip(), row[self._value]
        if not a or not b:
            return self.wrong(Issue("the token is missing", row=number, column=COLUMNS[1] if a else COLUMNS[0]))
        if is_missing(text):
            self.n_empty += 1
            return None
        self._tokens += (a, b)
        self._texts.append(text)
        self._numbers.append(number)
        if len(self._texts) >= _BATCH:
            self._flush()
        return None

    def _flush(self) -> None:
        self._chunks.append(pa.array(self._tokens, pa.string()))
        self._values.append(pa.array(self._texts, pa.string()))
        self._tokens, self._texts = [], []

    def _by_piece(self) -> Iterator[tuple[list[str], Sequence[int]]]:
        start = 0
        for texts in self._values:
            yield texts.to_pylist(), self._numbers[start : start + len(texts)]
            start += len(texts)

    def rows(self, notes: list[str]) -> SimilarityRows:
        """All that was taken in; how commas were read goes to `notes`."""
        self._flush()
        values = []
        for read in long_column_numbers(self._by_piece, COLUMNS[2]):
            values.append(read.values)
            notes += map(str, read.notes)
            for issue in read.bad:
                self.wrong(issue)
        numbers = np.array(self._numbers, dtype=np.int64)
        return SimilarityRows(
            pa.chunked_array(self._chunks, pa.string()), np.concatenate(values), numbers, self.n_empty
        )


def read_rows(source: Source, notes: list[str]) -> SimilarityRows:
    """All rows of the file, remarks go to `notes`; raises `InputError` with an issue for each row that can't be
    used."""
    try:
        table = _open(source)
        places = _places(table)
        collector = _Collector(places)
        for number, row in table.rows(_once(source), max(places) + 1):
            if isinstance(row, Issue):
                collector.wrong(row)
            else:
                collector.add(row, number)
        notes += map(str, table.notes)
        rows = collector.rows(notes)
    except OddBytes as error:
        suggested = suggest_encoding(error.data)
        raise EncodingError(
            f"{source.name}, line {error.line}: the text isn't valid {source.options.encoding.upper()} (byte "
            f"0x{error.data[error.start]:02x}). Choose the encoding {suggested} if that is right, else another one, or "
            "save the file as UTF-8.",
            suggested,
        ) from error
    except UnicodeEncodeError as error:
        raise InputError(f"{source.name} has characters that aren't text. Choose another encoding.") from error
    if collector.n_issues:
        issues = sorted(collector.issues, key=lambda issue: issue.row or 0)
        raise InputError(f"{source.name}: {collector.n_issues:,} rows can't be used; correct them.", issues)
    return rows


def _open(source: Source) -> LongTable:
    beginning = next(_pieces(source), b"")
    codec = _codec(beginning, source.options.codec)
    return open_long(lambda: _pieces(source), source.name, codec=codec, errors=source.options.errors)


def _places(table: LongTable) -> list[int]:
    places = places_of(table, COLUMNS)
    missing = [column for column in COLUMNS if column not in places]
    if missing:
        raise lacking(table, missing)
    return [places[column] for column in COLUMNS]
