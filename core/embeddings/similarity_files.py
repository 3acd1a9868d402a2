"""Reading a CSV file of similarities: what it is known by, and its rows."""

from __future__ import annotations

import codecs
import csv
import io
import math
from array import array
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..errors import InputError, Issue
from .formats import BOM, SIMILARITIES, Head, Recognised, Source
from .options import EncodingError, suggest_encoding

FORMAT = "similarities of pairs (CSV)"
COLUMNS = ("token_a", "token_b", "similarity")
MAX_ISSUES = 100
_DELIMITERS = (",", ";", "\t")
_CHUNK_BYTES = 4 << 20
_MAX_LINE_BYTES = 64 << 20
_BATCH = 100_000


@dataclass(frozen=True)
class Rows:
    """The rows with a value: `tokens` (2n strings: a, b, a, b, …), `values` (n, float64), `numbers` of the rows (n,
    the header is row 1); `n_empty` rows had no value."""

    tokens: pa.ChunkedArray
    values: np.ndarray
    numbers: np.ndarray
    n_empty: int


def _fields(line: str, delimiter: str) -> list[str]:
    try:
        return [field.strip().lower() for field in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        return []


def _first_line(data: bytes) -> str:
    line = data.removeprefix(BOM)[:10_000].replace(b"\r", b"\n").split(b"\n", 1)[0]
    return line.decode("utf-8", "replace")


def _delimiter(data: bytes) -> str | None:
    """The delimiter with which the first line names all the columns, None if there is none."""
    line = _first_line(data)
    return next((mark for mark in _DELIMITERS if set(COLUMNS) <= set(_fields(line, mark))), None)


def recognise(head: Head) -> Recognised | None:
    """A first line that names the columns; see `Reader.recognise`."""
    delimiter = _delimiter(head.start)
    if delimiter is None:
        return None
    notes, needs_encoding = [], ""
    if head.start.startswith(BOM):
        notes.append("a byte order mark at its beginning was skipped")
    names = _fields(_first_line(head.start), delimiter)
    if others := [name for name in names if name not in COLUMNS]:
        notes.append(f"columns that aren't needed, left out: {', '.join(others)[:100]}")
    try:
        codecs.getincrementaldecoder(head.options.codec)(head.options.errors).decode(head.start)
    except UnicodeDecodeError as error:
        needs_encoding = suggest_encoding(head.start)
        row = head.start.count(b"\n", 0, error.start) + 1
        notes.append(f"row {row}: not valid {head.options.encoding.upper()}; it can be read as {needs_encoding}")
    n_lines = head.start.count(b"\n") - 1 + (not head.start.endswith(b"\n"))
    n_expected = n_lines if head.is_whole else round(n_lines * head.size / len(head.start))
    return Recognised(
        FORMAT,
        None,
        0,
        True,
        tuple(notes),
        separator=delimiter,
        n_expected=max(n_expected, 1),
        kind=SIMILARITIES,
        needs_encoding=needs_encoding,
    )


def _lines(source: Source) -> Iterator[str]:
    """The file's lines as text, each with its end."""
    rest, n_lines, is_first = b"", 0, True
    while True:
        data = source.read(_CHUNK_BYTES)
        cut = data.rfind(b"\n") + 1 if data else 0
        if data and not cut:
            rest += data
            if len(rest) > _MAX_LINE_BYTES:
                raise InputError(f"{source.name}, row {n_lines + 1}, is over {_MAX_LINE_BYTES >> 20} MB long.")
            continue
        whole, rest = rest + data[:cut], data[cut:]
        if is_first:
            whole, is_first = whole.removeprefix(BOM), False
        yield from io.StringIO(_decode(source, whole, n_lines), newline="")
        n_lines += whole.count(b"\n")
        if not data:
            return


def _decode(source: Source, data: bytes, n_before: int) -> str:
    try:
        return data.decode(source.options.codec, source.options.errors)
    except UnicodeDecodeError as error:
        suggested = suggest_encoding(data)
        line = n_before + data.count(b"\n", 0, error.start) + 1
        raise EncodingError(
            f"{source.name}, line {line}: the text isn't valid {source.options.encoding.upper()}. Choose the encoding "
            f"{suggested} if that is right, else another one, or save the file as UTF-8.",
            suggested,
        ) from error


def _number(text: str, delimiter: str) -> float | None:
    """The number that a field spells, with a decimal comma where commas don't separate; None if it spells none."""
    if delimiter == ";":
        text = text.replace(",", ".")
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


class _Collector:
    """Gathers rows and what is wrong with them."""

    def __init__(self, places: tuple[int, int, int], delimiter: str) -> None:
        self._places, self._delimiter = places, delimiter
        self._tokens: list[str] = []
        self._chunks: list[pa.Array] = []
        self._values, self._numbers = array("d"), array("q")
        self.issues: list[Issue] = []
        self.n_issues = self.n_empty = 0

    def _wrong(self, issue: Issue) -> None:
        self.n_issues += 1
        if len(self.issues) < MAX_ISSUES:
            self.issues.append(issue)

    def add(self, row: list[str], number: int) -> None:
        if not any(field.strip() for field in row):
            return
        if len(row) <= max(self._places):
            return self._wrong(Issue(f"the row has {len(row)} fields, {max(self._places) + 1} are needed", row=number))
        a, b, text = (row[place].strip() for place in self._places)
        for column, token in zip(COLUMNS, (a, b), strict=False):
            if not token:
                return self._wrong(Issue("the token is missing", row=number, column=column))
        if not text:
            self.n_empty += 1
            return None
        value = _number(text, self._delimiter)
        if value is None or not math.isfinite(value):
            return self._wrong(Issue("must be a finite number", row=number, column=COLUMNS[2], found=text[:40]))
        self._tokens += (a, b)
        self._values.append(value)
        self._numbers.append(number)
        if len(self._tokens) >= _BATCH:
            self._flush()
        return None

    def _flush(self) -> None:
        self._chunks.append(pa.array(self._tokens, pa.string()))
        self._tokens = []

    def rows(self) -> Rows:
        self._flush()
        values, numbers = np.array(self._values, dtype=np.float64), np.array(self._numbers, dtype=np.int64)
        return Rows(pa.chunked_array(self._chunks, pa.string()), values, numbers, self.n_empty)


def read_rows(source: Source, recognised: Recognised) -> Rows:
    """All rows of the file; raises `InputError` with an issue for each row that can't be used."""
    reader = csv.reader(_lines(source), delimiter=recognised.separator)
    try:
        names = [field.strip().lower() for field in next(reader, [])]
        collector = _Collector(_places(source, names), recognised.separator)
        for number, row in enumerate(reader, start=2):
            collector.add(row, number)
        rows = collector.rows()
    except csv.Error as error:
        raise InputError(f"{source.name}, line {reader.line_num}, isn't CSV: {error}. Correct the file.") from error
    except UnicodeEncodeError as error:
        raise InputError(f"{source.name} has characters that aren't text. Choose another encoding.") from error
    if collector.n_issues:
        raise InputError(f"{source.name}: {collector.n_issues:,} rows can't be used; correct them.", collector.issues)
    return rows


def _places(source: Source, names: list[str]) -> tuple[int, int, int]:
    for column in COLUMNS:
        if names.count(column) != 1:
            raise InputError(f"{source.name} has the column {column} {names.count(column)} times, once is needed.")
    a, b, value = (names.index(column) for column in COLUMNS)
    return a, b, value
