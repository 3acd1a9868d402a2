"""Delimited text split into rows of cells: which delimiter, whether quotation marks enclose cells, and the reading.

Delimiter and marks are decided once for a file. Where the marks balance at the borders of cells they are taken off;
where taking them so would swallow whole rows, or most of them stand alone, they are letters like others, which is said.

A text whose lines are rows of one length is read in a few passes over arrays; any other row by row (`table`). Both ways
give the same for every input: what isn't plain enough is left to the other.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..errors import InputError, Issue

if TYPE_CHECKING:
    import pyarrow as pa


DELIMITERS: tuple[str, ...] = (",", ";", "\t", "|")
MOST_COLUMNS = 1 << 14  # of a table in every spreadsheet program; each of ours becomes an array
SPARE_CELLS = 100  # of a row beyond its columns: more than another version has, and few enough to be told
_SAMPLE = 1000  # lines that tell how many cells are usual
_MOST_LINES = 1000  # that a damaged row may have taken before they are read once more, each by itself
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True)
class Dialect:
    """How a text is written: its `delimiter`; whether it is `quoted`, so that marks around cells are taken off; where
    its header begins (`start`). In a `simple` text each line is a row by itself, whatever the marks."""

    delimiter: str
    quoted: bool
    simple: bool
    start: int = 0
    notes: tuple[Issue, ...] = ()


def bounded(lines: Iterable[str], most: int, where: str, delimiter: str = ",") -> Iterator[str]:
    """The lines as they are, for the csv module; `InputError` before it gets a row of more than `most` cells.

    It makes all cells of a row before it hands out the first, and a few kilobytes of a zip can hold millions.

    >>> list(bounded(["a,b\\n", '"c,d\\n', 'e",f\\n'], 2, "x.csv"))
    ['a,b\\n', '"c,d\\n', 'e",f\\n']
    """
    n_cells, number, quoted = 0, 0, False
    for line in lines:
        at = 0
        if not quoted:
            n_cells, number = 1, number + 1
            if '"' not in line:
                n_cells, at = 1 + line.count(delimiter), len(line)
        while at < len(line) and n_cells <= most:
            if not quoted and line[at] == '"':
                quoted, at = True, at + 1
            if quoted:
                end = line.find('"', at)
                if end < 0:
                    break
                if line.startswith('""', end):
                    at = end + 2
                    continue
                quoted, at = False, end + 1
            comma = line.find(delimiter, at)
            if comma < 0:
                break
            n_cells, at = n_cells + 1, comma + 1
        if n_cells > most:
            raise InputError(
                f"{where} has over {most:,} cells in row {number:,}. Fetch it again, or choose another file."
            )
        yield line


def find_dialect(text: str, name: str, *, delimiters: tuple[str, ...] = DELIMITERS) -> tuple[Dialect, list[str]]:
    """How a text is written, and the cells of its first row.

    The delimiter is the one of `delimiters` that makes most cells of the first row, or the one in a line `sep=` above
    it. Raises `InputError` where the first row has more cells than any table.

    >>> find_dialect('word;n\\n5" nail;3\\n";2\\n";1\\n', "x.csv")[0].quoted
    False
    """
    begin = _begin(text, name, delimiters)
    if '"' not in text:
        return Dialect(begin.delimiter, False, True, begin.start), begin.header
    simple = _simple(begin.delimiter).fullmatch
    if simple(text, begin.start) if POSSESSIVE else all(simple(line) for line in lines(text, begin.start)):
        return Dialect(begin.delimiter, True, True, begin.start), begin.header
    return _by_marks(begin, lambda: lines(text, begin.start), name)


def find_long_dialect(
    sample: str, again: Callable[[], Iterator[str]], name: str, *, has_marks: bool
) -> tuple[Dialect, list[str]]:
    """As `find_dialect`, of a text too long to be held: `sample` is its beginning, with all of its first row; `again`
    gives all of its lines from the first on; `has_marks` says whether a quotation mark is among them."""
    begin = _begin(sample, name)
    n_before = 1 if begin.start else 0
    if not has_marks:
        return Dialect(begin.delimiter, False, True, begin.start), begin.header
    simple = _simple(begin.delimiter)
    if all('"' not in line or simple.fullmatch(line) for line in islice(again(), n_before, None)):
        return Dialect(begin.delimiter, True, True, begin.start), begin.header
    return _by_marks(begin, lambda: islice(again(), n_before, None), name)


@dataclass(frozen=True)
class _Beginning:
    """Where the header begins, the delimiter, the header's cells without the marks around them, and its first line."""

    start: int
    delimiter: str
    header: list[str]
    first: str


def _begin(text: str, name: str, delimiters: tuple[str, ...] = DELIMITERS) -> _Beginning:
    start, candidates = 0, delimiters
    if text[:4].lower() == "sep=" and text[4:5] in DELIMITERS:
        # Excel writes its delimiter in a line of its own, and doesn't count that line.
        candidates = (text[4],)
        start = 5 + len(_line_end(text[5:7]))
    first = next(lines(text, start), "")
    headers = {one: _first_record(text, one, start, name) or first.rstrip("\r\n").split(one) for one in candidates}
    delimiter = max(candidates, key=lambda one: len(headers[one]))
    return _Beginning(start, delimiter, headers[delimiter], first)


def _by_marks(begin: _Beginning, again: Callable[[], Iterator[str]], name: str) -> tuple[Dialect, list[str]]:
    """The dialect of a text whose marks have to be looked at; `again` gives its lines from the header on."""
    delimiter, first, header = begin.delimiter, begin.first, begin.header
    quoted, notes = _marks(again, delimiter, len(header), first.count(delimiter) + 1)
    if not quoted and '"' in first:
        for _ in bounded([first.replace('"', "'")], MOST_COLUMNS, name, delimiter):
            header = first.rstrip("\r\n").split(delimiter)
    elif not quoted:
        header = first.rstrip("\r\n").split(delimiter)
    return Dialect(delimiter, quoted, not quoted, begin.start, notes), header


def lines(text: str, start: int = 0) -> Iterator[str]:
    """The lines with their ends (LF, CR or CRLF), without a copy of the whole text."""
    return (match[0] for match in _LINE.finditer(text, start))


def records(text: str, dialect: Dialect) -> Iterator[list[str] | csv.Error]:
    """The rows after the header, blank ones as []; one that breaks the rules of quoting comes as its error.

    Of such a row over several lines the first is damaged, and the others are read once more, each by itself.
    """
    return records_of(lines(text, dialect.start), dialect)


def records_of(rows: Iterator[str], dialect: Dialect) -> Iterator[list[str] | csv.Error]:
    """As `records`, of the text's lines from the header on."""
    source = None if dialect.simple else _Again(rows)
    lines_or_rows = source or rows
    if dialect.quoted:
        reader = csv.reader(lines_or_rows, delimiter=dialect.delimiter, strict=True)
    else:
        reader = csv.reader(lines_or_rows, delimiter=dialect.delimiter, quoting=csv.QUOTE_NONE, strict=True)
    is_header = True
    while True:
        try:
            for record in reader:
                if not is_header:
                    yield record
                is_header = False
                if source:
                    source.forget()
            return
        except csv.Error as error:
            if not is_header:
                yield error
            if source and not is_unclosed(error):
                source.again()
            is_header = False


def is_unclosed(error: csv.Error) -> bool:
    """Whether a quoted cell is open at the end of the text."""
    return "unexpected end of data" in str(error)


class _Again:
    """Lines for the csv module, of which those after the first since `forget` can be given once more."""

    def __init__(self, source: Iterator[str]) -> None:
        self._source, self._given, self._back = source, list[str](), list[str]()

    def __iter__(self) -> _Again:
        return self

    def __next__(self) -> str:
        line = self._back.pop() if self._back else next(self._source)
        if len(self._given) <= _MOST_LINES:
            self._given.append(line)
        return line

    def forget(self) -> None:
        self._given.clear()

    def again(self) -> None:
        if 1 < len(self._given) <= _MOST_LINES:
            self._back += reversed(self._given[1:])
        self._given.clear()


def _line_end(text: str) -> str:
    return text if text == "\r\n" else text[:1] if text[:1] in ("\r", "\n") else ""


def _first_record(text: str, delimiter: str, start: int, name: str) -> list[str]:
    try:
        return next(csv.reader(bounded(lines(text, start), MOST_COLUMNS, name, delimiter), delimiter=delimiter), [])
    except csv.Error:
        return []


# Python 3.11 matched possessive quantifiers wrongly before 3.11.5. Without them the same texts match, but a long text
# takes much memory: there lines are looked at one by one.
POSSESSIVE = "+" if sys.version_info >= (3, 11, 5) else ""


@cache
def _simple(delimiter: str) -> re.Pattern[str]:
    """A text in which every mark belongs to a pair around a cell, no such cell holds a line end, and none begins or
    ends with a delimiter, as what lies between two marks that are cells does."""
    d, all_of = re.escape(delimiter), f"*{POSSESSIVE}"
    cell = rf'(?:"(?!{d})(?:[^"\r\n]|""){all_of}(?<!{d})"|[^"\r\n{d}]{all_of})'
    row = rf"{cell}(?:{d}{cell}){all_of}"
    return re.compile(rf"(?:{row}(?:\r\n|\r|\n)){all_of}{row}")


def _marks(
    again: Callable[[], Iterator[str]], delimiter: str, n_header: int, n_plain: int
) -> tuple[bool, tuple[Issue, ...]]:
    """Whether marks stand around cells, and what to say of it.

    Rows that hold a whole quoted cell speak for it, with as many lines as they have. Lines speak against it that have
    as many cells as the header where marks are letters, if taking the marks off would make one row of several of them,
    or a damaged one.
    """
    usual = {n_plain, _usual(again(), delimiter, n_plain)}
    simple = _simple(delimiter).fullmatch
    n_for = n_against = n_within = 0
    odd = unsure = None
    is_open = has_marks = False
    row = _Row(1)
    for number, line in enumerate(again(), 1):
        if not is_open:
            if '"' not in line:
                continue
            if simple(line):
                n_for, has_marks = n_for + 1, True
                continue
            row = _Row(number)
        is_open, failed = row.add(line, delimiter, is_open, usual)
        has_marks |= is_open or failed or row.has_cell
        if is_open:
            continue
        verdict = row.verdict(n_header, failed, delimiter)
        n_for += row.n_lines * (verdict > 0)
        n_against += row.n_lines * (verdict < 0)
        if verdict < 0 and odd is None:
            odd = row.number
        if verdict > 0 and row.n_lines > 1 and row.all_usual and unsure is None:
            unsure = Issue(
                f"in row {row.number - n_within} a cell in quotation marks was read across {row.n_lines} lines, each "
                "of which could be a row by itself"
            )
        n_within += row.n_lines - 1
    if is_open and row.all_usual:
        n_against += row.n_lines
        odd = odd or row.number
    if has_marks and n_for >= n_against:
        return True, (unsure,) if unsure else ()
    message = f"quotation marks were read as letters: in row {odd} one stands by itself, not in a pair around a cell"
    return False, (Issue(message),) if odd else ()


def _usual(rows: Iterator[str], delimiter: str, n_header: int) -> int:
    """How many cells most lines have, of the first that hold no marks."""
    counts = Counter(line.count(delimiter) + 1 for line in islice(rows, _SAMPLE) if '"' not in line and line.strip())
    return max(counts, key=lambda n: counts[n], default=n_header)


@dataclass
class _Row:
    """A row as the marks make it: the number of its first line; its lines and cells; whether each line alone has as
    many cells as is usual, or is blank; whether a quoted cell is whole in it; and whether all its quoted cells have
    letters at both ends, as those have that marks stand around.
    """

    number: int
    n_lines: int = 0
    n_cells: int = 1
    all_usual: bool = True
    has_cell: bool = False
    worded: bool = True

    def add(self, line: str, delimiter: str, is_open: bool, usual: set[int]) -> tuple[bool, bool]:
        """Take a line in. Returns whether a quoted cell is open at its end, and whether a mark is followed by what
        can't be there."""
        body = line.rstrip("\r\n")
        self.n_lines += 1
        self.all_usual &= body.count(delimiter) + 1 in usual or not body.replace(delimiter, "").strip()
        at, goes_on = 0, is_open
        while True:
            if goes_on or body.startswith('"', at):
                begin = at if goes_on else at + 1
                end = _closing(body, begin)
                if not goes_on:
                    self.worded &= begin < len(body) and body[begin] != delimiter
                if end < 0:
                    return True, False
                self.worded &= begin < end and body[end - 1] != delimiter
                self.has_cell, goes_on, at = True, False, end + 1
                if at < len(body) and body[at] != delimiter:
                    return False, True
            else:
                at = body.find(delimiter, at)
                if at < 0:
                    return False, False
            if at >= len(body):
                return False, False
            self.n_cells, at = self.n_cells + 1, at + 1

    def verdict(self, n_header: int, failed: bool, delimiter: str) -> int:
        """1 where the marks are rightly taken off, -1 where the lines are better as they are, 0 where neither shows."""
        fits = self.n_cells == n_header
        if failed or not self.has_cell:
            return -1 if failed and self.all_usual else 0
        if self.n_lines == 1:
            return -1 if self.all_usual and not fits and not self.worded else 1
        if self.all_usual:
            # Prose with commas, or in a narrow table, can have lines that look like rows. Marks that are cells can't.
            return 1 if fits and self.worded and (delimiter == "," or n_header <= 2) else -1
        return 1 if fits else 0


def _closing(body: str, at: int) -> int:
    """Where the mark is that ends a quoted cell; two marks are one that belongs to it."""
    while (end := body.find('"', at)) >= 0 and body.startswith('""', end):
        at = end + 2
    return end


_MOST_BLANK = 100_000  # lines, of a table that is read at once

ParsedColumns = tuple[npt.NDArray[np.int64], dict[int, pd.Series]]


def read_at_once(text: str, dialect: Dialect, n_columns: int, used: Sequence[int]) -> ParsedColumns | None:
    """The numbers of the rows that aren't blank, and the columns at the positions `used`; None where a row needs a
    second look."""
    if not dialect.simple or "\x00" in text or n_columns < 2 or not used:
        return None
    if not text.endswith("\n") or text.count("\r") != text.count("\r\n"):
        return None
    begin = text.index("\n", dialect.start)
    table, blank = _table(text, begin, dialect, n_columns, used), list[int]()
    if table is None or _may_be_blank(table, used[0]):
        cells = _without_blanks(text[begin:], dialect)
        if cells is None or (table is None and not cells[1]):
            return None
        body, blank = cells
        table = _table(body, 0, dialect, n_columns, used) if blank else table
    if table is None or not table.num_rows:
        return None
    numbers = np.delete(np.arange(2, table.num_rows + len(blank) + 2, dtype=np.int64), blank)
    return numbers, {at: pd.Series(table[str(at)].to_pandas(), dtype="str") for at in used}


def _table(text: str, begin: int, dialect: Dialect, n_columns: int, used: Sequence[int]) -> pa.Table | None:
    """The rows after the line end at a position of a text; None where one has more or fewer cells."""
    import pyarrow as pa
    from pyarrow import csv

    names = [str(at) for at in range(n_columns)]
    quote: Any = '"' if dialect.quoted else False
    options = (
        # The line end is a row of its own: what begins with a byte order mark would lose it.
        csv.ReadOptions(skip_rows=1, column_names=names, use_threads=False, block_size=1 << 24),
        csv.ParseOptions(delimiter=dialect.delimiter, quote_char=quote, ignore_empty_lines=False),
        csv.ConvertOptions(
            include_columns=[names[at] for at in used],
            column_types={names[at]: pa.large_string() for at in used},
            strings_can_be_null=False,
            quoted_strings_can_be_null=False,
        ),
    )
    try:
        rows = pa.py_buffer(text.encode()).slice(len(text[:begin].encode()))
        return csv.read_csv(pa.BufferReader(rows), *options)
    except pa.ArrowInvalid:
        return None


def _may_be_blank(table: pa.Table, at: int) -> bool:
    """Whether some row could be a blank line: its cell of one column holds nothing but spaces."""
    import pyarrow.compute as pc

    column = table[str(at)]
    if pc.any(pc.equal(pc.binary_length(column), 0)).as_py():
        return True
    return bool(pc.any(pc.utf8_is_space(column)).as_py())


@cache
def _blank_line(delimiter: str, quoted: bool) -> re.Pattern[str]:
    """A line end and a blank line after it.

    Without possessive quantifiers (see `POSSESSIVE`): what spaces match and the delimiter are disjoint, so that nothing
    is tried twice.
    """
    d = re.escape(delimiter)
    spaces = rf"[^\S\n{d}]*"
    cell = rf'(?:"[^\S\n]*"|{spaces})' if quoted else spaces
    return re.compile(rf"\n{cell}(?:{d}{cell})*\r?(?=\n)")


def _without_blanks(body: str, dialect: Dialect) -> tuple[str, list[int]] | None:
    """Lines, each after its line end, without those that are blank; and the positions of these among all lines. None
    where so many are blank that it is no table."""
    ends: list[int] = []
    n = before = 0
    pattern = _blank_line(dialect.delimiter, dialect.quoted)
    for match in pattern.finditer(body):
        n += body.count("\n", before, match.start())
        before = match.start()
        ends.append(n)
        if len(ends) > _MOST_BLANK:
            return None
    return (pattern.sub("", body), ends) if ends else (body, ends)
