"""Text as rows of cells: which delimiter, and whether quotation marks stand around cells or are letters like others.

Both are decided once for a file. Where the marks balance at the borders of cells they are taken off; where taking them
so would swallow whole rows, or most of them stand alone, they are letters, which is said.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice

from ..errors import InputError, Issue

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


def find_dialect(text: str, name: str) -> tuple[Dialect, list[str]]:
    """How a text is written, and the cells of its first row.

    The delimiter is the one of `DELIMITERS` that makes most cells of the first row, or the one in a line `sep=` above
    it. Raises `InputError` where the first row has more cells than any table.

    >>> find_dialect('word;n\\n5" nail;3\\n";2\\n";1\\n', "x.csv")[0].quoted
    False
    """
    start, candidates = 0, DELIMITERS
    if text[:4].lower() == "sep=" and text[4:5] in DELIMITERS:
        # Excel writes its delimiter in a line of its own, and doesn't count that line.
        candidates = (text[4],)
        start = 5 + len(_line_end(text[5:7]))
    first = next(lines(text, start), "")
    headers = {one: _first_record(text, one, start, name) or first.rstrip("\r\n").split(one) for one in candidates}
    delimiter = max(candidates, key=lambda one: len(headers[one]))
    if '"' not in text:
        return Dialect(delimiter, False, True, start), headers[delimiter]
    if _simple(delimiter).fullmatch(text, start):
        return Dialect(delimiter, True, True, start), headers[delimiter]
    quoted, notes = _marks(text, delimiter, start, len(headers[delimiter]), first.count(delimiter) + 1)
    if not quoted and '"' in first:
        for _ in bounded([first.replace('"', "'")], MOST_COLUMNS, name, delimiter):
            headers[delimiter] = first.rstrip("\r\n").split(delimiter)
    elif not quoted:
        headers[delimiter] = first.rstrip("\r\n").split(delimiter)
    return Dialect(delimiter, quoted, not quoted, start, notes), headers[delimiter]


def lines(text: str, start: int = 0) -> Iterator[str]:
    """The lines with their ends (LF, CR or CRLF), without a copy of the whole text."""
    return (match[0] for match in _LINE.finditer(text, start))


def records(text: str, dialect: Dialect) -> Iterator[list[str] | csv.Error]:
    """The rows after the header, blank ones as []; one that breaks the rules of quoting comes as its error.

    Of such a row over several lines the first is damaged, and the others are read once more, each by itself.
    """
    source = None if dialect.simple else _Again(lines(text, dialect.start))
    reader = csv.reader(
        source or lines(text, dialect.start),
        delimiter=dialect.delimiter,
        quoting=csv.QUOTE_MINIMAL if dialect.quoted else csv.QUOTE_NONE,
        strict=True,
    )
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


@cache
def _simple(delimiter: str) -> re.Pattern[str]:
    """A text in which every mark belongs to a pair around a cell, no such cell holds a line end, and none begins or
    ends with a delimiter, as what lies between two marks that are cells does."""
    d = re.escape(delimiter)
    cell = rf'(?:"(?!{d})(?:[^"\r\n]|"")*+(?<!{d})"|[^"\r\n{d}]*+)'
    row = rf"{cell}(?:{d}{cell})*+"
    return re.compile(rf"(?:{row}(?:\r\n|\r|\n))*+{row}")


def _marks(text: str, delimiter: str, start: int, n_header: int, n_plain: int) -> tuple[bool, tuple[Issue, ...]]:
    """Whether marks stand around cells, and what to say of it.

    Rows that hold a whole quoted cell speak for it, with as many lines as they have. Lines speak against it that have
    as many cells as the header where marks are letters, if taking the marks off would make one row of several of them,
    or a damaged one.
    """
    usual = {n_plain, _usual(text, delimiter, start, n_plain)}
    simple = _simple(delimiter).fullmatch
    n_for = n_against = n_within = 0
    odd = unsure = None
    is_open = has_marks = False
    row = _Row(1)
    for number, line in enumerate(lines(text, start), 1):
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
                f"in row {row.number - n_within} a cell in quotation marks was read over {row.n_lines} lines, each of "
                "which could be a row by itself"
            )
        n_within += row.n_lines - 1
    if is_open and row.all_usual:
        n_against += row.n_lines
        odd = odd or row.number
    if has_marks and n_for >= n_against:
        return True, (unsure,) if unsure else ()
    told = f"quotation marks were read as letters: in row {odd} one stands by itself, not in a pair around a cell"
    return False, (Issue(told),) if odd else ()


def _usual(text: str, delimiter: str, start: int, n_header: int) -> int:
    """How many cells most lines have, of the first that hold no marks."""
    counts = Counter(
        line.count(delimiter) + 1 for line in islice(lines(text, start), _SAMPLE) if '"' not in line and line.strip()
    )
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
