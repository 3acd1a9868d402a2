"""A file from elsewhere opened as a table, in one way for all kinds of file, and the values of its cells.

    table = open_table(data, "votes.csv")
    places = places_of(table, ("voter", "choice"))
    texts = table.texts(list(places.values()), n_needed=2)

Bytes become text (`encoding`), text becomes rows (`dialect`), a workbook's sheet is chosen; each step says what it
decided in `notes`. What the columns mean is the reader's business. Nothing is dropped silently: a row that can't be
read becomes an `Issue` with its number, which is the one a spreadsheet shows (the header is row 1).

Cells that are no plain texts are understood here too: marks of a missing value, and numbers as people and programs
write them.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..errors import InputError, Issue
from ..tables import Ints
from .columns import Headed, trimmed
from .dialect import Dialect, find_dialect, is_unclosed, read_at_once, records
from .encoding import Decoded, decode_bytes
from .workbook_reading import Sheet, is_workbook, read_workbook

Fits = Callable[[tuple[str, ...]], bool]  # whether a sheet with this header is the one


@dataclass(frozen=True)
class Texts:
    """The wanted columns of a table as arrays of texts.

    `numbers` are the rows' numbers as a spreadsheet shows them, shape (n,); `columns` has one Series of texts a wanted
    column; `n_rows` counts all rows that aren't blank, `unread` are those left out, each with its row and why; `issues`
    are those and what else a person should know, the table's notes included.
    """

    numbers: Ints
    columns: list[pd.Series]
    n_rows: int
    unread: tuple[Issue, ...]
    issues: tuple[Issue, ...]

    @property
    def lists(self) -> list[list[str]]:
        """The columns as lists, for small tables."""
        return [column.tolist() for column in self.columns]

    @property
    def remarks(self) -> list[Issue]:
        """The issues without the rows that were left out: what to say of those that were read."""
        left_out = set(self.unread)
        return [issue for issue in self.issues if issue not in left_out]


class SourceTable(Headed, Protocol):
    """A table from elsewhere: a CSV file, a workbook's sheet, an export in JSON. `notes` say how it was opened."""

    @property
    def notes(self) -> tuple[Issue, ...]: ...

    def texts(self, wanted: Sequence[int], n_needed: int) -> Texts:
        """The columns at the positions `wanted`; a row with fewer than `n_needed` fields is left out."""

    def head(self, n: int) -> list[list[str]]:
        """The first n rows as they are."""


def is_blank(row: Iterable[str]) -> bool:
    """Whether a row holds nothing but spaces: it is no row then, and is passed over by every reader."""
    return not any(map(str.strip, row))


def open_table(
    data: bytes,
    name: str,
    *,
    encoding: str | None = None,
    sheet: str | None = None,
    fits: Sequence[Fits] = (),
) -> SourceTable:
    """Open a CSV file (any delimiter) or an Excel workbook, known by its content.

    Parameters
    ----------
    encoding : what a person chose; None to find it.
    sheet : the name of a workbook's sheet. None takes its only one, or of several the one whose header `fits`: by the
        first of these rules that any sheet keeps.

    Raises `InputError` for other kinds of files, damaged ones, a file without a header, and a workbook of several
    sheets where none is named and not exactly one `fits`; it names them.

    >>> table = open_table(b"area;token\\r\\nsea;ship\\r\\n", "tokens.csv")
    >>> table.header, table.head(5)
    (('area', 'token'), [['sea', 'ship']])
    """
    if is_workbook(data):
        return sheet_table(choose_sheet(read_workbook(data, name), name, sheet=sheet, fits=fits), name)
    return open_csv(data, name, encoding=encoding)


def open_csv(data: bytes, name: str, *, encoding: str | None = None) -> CsvTable:
    """Open a text with delimiters: its encoding, its delimiter, its marks and its header are found.

    Raises `InputError` where this is no such text with a header (see `decode_bytes`).
    """
    return csv_of(decode_bytes(data, name, encoding=encoding), name)


def csv_of(decoded: Decoded, name: str) -> CsvTable:
    """A text as a table. Raises `InputError` for one without a header."""
    dialect, first = find_dialect(decoded.text, name)
    header = tuple(map(trimmed, first))
    if not any(header):
        raise InputError(f"{name} has no header: its first row is blank. The first row must name the columns.")
    return CsvTable(name, header, dialect, decoded)


@dataclass(frozen=True)
class ColumnLists:
    """The wanted columns of a file as lists: as `Texts`, for readers that go row by row."""

    numbers: list[int]
    columns: list[list[str]]
    n_rows: int
    n_unreadable: int
    issues: tuple[Issue, ...]
    unread: tuple[Issue, ...] = ()  # of those left out, which are among the issues


@dataclass(frozen=True)
class CsvTable:
    """An opened text with delimiters: its header as written, how it is written, and its text."""

    name: str
    header: tuple[str, ...]
    dialect: Dialect
    decoded: Decoded

    @property
    def delimiter(self) -> str:
        return self.dialect.delimiter

    @property
    def notes(self) -> tuple[Issue, ...]:
        return (*self.decoded.notes, *self.dialect.notes)

    def texts(self, wanted: Sequence[int], n_needed: int) -> Texts:
        """As `read`, at once for all rows where every line is a row of as many cells as the header."""
        return at_once(self, wanted) or as_texts(self.read(wanted, n_needed))

    def read(self, wanted: Sequence[int], n_needed: int) -> ColumnLists:
        """The columns at the positions `wanted`, row by row; a row with fewer than `n_needed` fields is unreadable.

        Rows between `n_needed` and the header's length are filled with empty texts (Mechanical Turk leaves off the
        last two fields), longer rows are readable if what is over is empty (spreadsheets add delimiters).
        """
        return _read(self, wanted, n_needed)

    def head(self, n: int) -> list[list[str]]:
        """The first n rows that can be read, as they are."""
        rows = records(self.decoded.text, self.dialect)
        return list(islice((row for row in rows if isinstance(row, list) and not is_blank(row)), n))


@dataclass(frozen=True)
class RowTable:
    """A table whose rows are in memory: `numbers` as people count them, `rows` of texts as long as the header.

    `remarks` are on cells of a column (its position). Where a whole column is of one kind that isn't text, such as
    dates, that is what it holds, and nothing is said.
    """

    name: str
    header: tuple[str, ...]
    numbers: tuple[int, ...]
    rows: Sequence[Sequence[str]]
    notes: tuple[Issue, ...] = ()
    unread: tuple[Issue, ...] = ()
    remarks: tuple[tuple[int, Issue], ...] = ()

    def texts(self, wanted: Sequence[int], n_needed: int) -> Texts:
        """The columns at the positions `wanted`, and the remarks on them."""
        columns = [pd.Series([row[at] for row in self.rows], dtype="str") for at in wanted]
        n_rows = len(self.rows) + len(self.unread)
        numbers = np.array(self.numbers, dtype=np.int64)
        issues = [issue for at in dict.fromkeys(wanted) for issue in self.remarks_on(at)]
        return Texts(numbers, columns, n_rows, self.unread, (*self.notes, *self.unread, *issues))

    def remarks_on(self, at: int) -> list[Issue]:
        """What to say of the cells of a column."""
        remarks = [issue for place, issue in self.remarks if place == at]
        filled = sum(1 for row in self.rows if row[at].strip())
        one_kind = len({issue.message for issue in remarks}) == 1 and len(remarks) == filled > 1
        return [] if one_kind else remarks

    def head(self, n: int) -> list[list[str]]:
        """The first n rows."""
        return [list(row) for row in self.rows[:n]]


def choose_sheet(
    sheets: Sequence[Sheet],
    name: str,
    *,
    sheet: str | None = None,
    fits: Sequence[Fits] = (),
) -> tuple[Sheet, tuple[Issue, ...]]:
    """The sheet to read, and what to say of the others. See `open_table`."""
    if not sheets:
        raise InputError(f"{name} is empty: none of its sheets holds any text.")
    names = ", ".join(repr(each.name) for each in sheets)
    if sheet is not None:
        named = [each for each in sheets if each.name == sheet]
        if not named:
            raise InputError(f"{name} has no sheet {sheet!r} with any text. Its sheets are {names}.")
        return named[0], ()
    if len(sheets) == 1:
        return sheets[0], ()
    headers = [tuple(map(trimmed, each.rows[0])) for each in sheets]
    fitting_by_rule = ([each for each, header in zip(sheets, headers, strict=True) if rule(header)] for rule in fits)
    fitting = next(filter(None, fitting_by_rule), [])
    if len(fitting) != 1:
        how_many = f"{len(fitting)} of them hold" if fitting else "none of them holds"
        why = f", and {how_many} the columns that are looked for" if fits else ""
        raise InputError(f"{name} has several sheets: {names}{why}. Choose one of them, or save it by itself.")
    return fitting[0], (Issue(f"only the sheet {fitting[0].name!r} was read, of {names}"),)


def sheet_table(chosen: tuple[Sheet, tuple[Issue, ...]], name: str) -> RowTable:
    """A workbook's sheet as a table."""
    sheet, notes = chosen
    header = tuple(map(trimmed, sheet.rows[0]))
    first = sheet.numbers[0]
    remarks = tuple((at, issue) for at, issue in sheet.remarks if issue.row != first)
    return RowTable(name, header, sheet.numbers[1:], sheet.rows[1:], notes, (), remarks)


@dataclass(frozen=True)
class Lines:
    """A text of one entry per line: the numbers of the lines that aren't blank, what they hold, and notes."""

    numbers: list[int]
    texts: list[str]
    notes: tuple[Issue, ...]


def read_lines(data: bytes, name: str, *, encoding: str | None = None) -> Lines:
    """The lines of a text, trimmed, the blank ones left out. No delimiter and no mark means anything here.

    Lines end at LF, CR or CRLF, and nowhere else. Raises `InputError` as `decode_bytes`.

    >>> read_lines(b'anvil\\n\\nrock, paper\\n"\\n', "x.txt").texts
    ['anvil', 'rock, paper', '"']
    """
    decoded = decode_bytes(data, name, encoding=encoding, braces=True)
    rows = enumerate(map(trimmed, re.split("\r\n|\r|\n", decoded.text)), 1)
    filled = [(number, text) for number, text in rows if text]
    notes = decoded.notes
    if decoded.is_cut:
        notes += (Issue("the file ends inside a letter, which was left out: the file is cut"),)
    return Lines([number for number, _ in filled], [text for _, text in filled], notes)


def as_texts(rows: ColumnLists) -> Texts:
    """Rows that were read one by one as arrays."""
    columns = [pd.Series(column, dtype="str") for column in rows.columns]
    return Texts(np.asarray(rows.numbers, dtype=np.int64), columns, rows.n_rows, rows.unread, rows.issues)


def _read(file: CsvTable, wanted: Sequence[int], n_needed: int) -> ColumnLists:
    # itemgetter of one position gives a bare value, hence the doubled last position.
    pick = itemgetter(*wanted, wanted[-1])
    width = len(file.header)
    numbers: list[int] = []
    values: list[tuple[str, ...]] = []
    issues = list(file.notes)
    unread: list[Issue] = []
    n_rows = n_unreadable = last_length = previous_length = 0
    for number, record in enumerate(records(file.decoded.text, file.dialect), 2):
        if isinstance(record, list) and is_blank(record):
            continue
        n_rows += 1
        if isinstance(record, list) and len(record) == width:
            previous_length, last_length = last_length, width
            numbers.append(number)
            values.append(pick(record))
            continue
        reason = why_unreadable(record, width, n_needed)
        if reason:
            n_unreadable += 1
            unread.append(Issue(reason, row=number))
            issues.append(unread[-1])
            previous_length, last_length = last_length, 0
        elif isinstance(record, list):
            previous_length, last_length = last_length, len(record)
            numbers.append(number)
            values.append(pick(record + [""] * (width - len(record))))
    if n_rows and _ends_early(file, last_length, previous_length):
        text = (
            "the file seems to end in the middle of its last row, so there may be rows missing. Download it again "
            "(from Turkle: on the admin site, whose file is whole)"
        )
        issues.append(Issue(text, row=numbers[-1] if last_length else None))
    columns = [list(column) for column in zip(*values, strict=True)][: len(wanted)] or [[] for _ in wanted]
    return ColumnLists(numbers, columns, n_rows, n_unreadable, tuple(issues), tuple(unread))


def why_unreadable(record: list[str] | csv.Error, width: int, n_needed: int) -> str:
    """Why a row can't be read under a header of `width` cells, of which `n_needed` are needed; "" where it can."""
    if isinstance(record, csv.Error):
        if is_unclosed(record):
            return (
                "a quoted field is never closed, so nothing from here on can be read: the file is cut, "
                "or a quotation mark is missing"
            )
        return f"the quotation marks don't fit ({record})"
    if len(record) < n_needed:
        return f"the row stops after {len(record)} fields, and {n_needed} are needed: the row is cut"
    if any(map(str.strip, record[width:])):
        return f"the row has {len(record)} fields, more than the header's {width}"
    return ""


def _ends_early(file: CsvTable, last_length: int, previous_length: int) -> bool:
    if file.decoded.is_cut:
        return True
    ends_open = not file.decoded.text.endswith(("\n", "\r"))
    return ends_open and last_length < max(previous_length, 1)


def at_once(file: CsvTable, wanted: Sequence[int]) -> Texts | None:
    """The texts of a file that needs no second look at any row, else None."""
    if file.decoded.is_cut:
        return None
    cells = read_at_once(file.decoded.text, file.dialect, len(file.header), sorted(set(wanted)))
    if cells is None:
        return None
    numbers, columns = cells
    return Texts(numbers, [columns[at] for at in wanted], len(numbers), (), file.notes)


# What programs write where there is nothing (R, pandas, SQL, spreadsheets, people), casefolded.
MISSING = frozenset(
    {"", "na", "n/a", "n.a.", "<na>", "#n/a", "#na", "nan", "-nan", "null", "nil", "none", "nat", "\\n", "-", "--"}
    | {"\u2013", "\u2014", "."}
)
# What says no, casefolded: in English, and as spreadsheets in German, French, Spanish, Italian, Portuguese say false.

NO_NUMBER = "must be a number"  # of a cell that holds none, whatever the column's others are like

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
_COMMA_GROUPS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?")
_POINT_GROUPS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+(?:,[0-9]*)?")
_SPACE_GROUPS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:[ \u00a0\u202f'\u2019][0-9]{3})+(?:[.,][0-9]*)?")
_SPACES = re.compile(r"[ \u00a0\u202f'\u2019]")
_WHOLE = re.compile(r"[+-]?([0-9]+)")


def is_missing(text: str) -> bool:
    """Whether a cell holds a mark of a missing value. Not for tokens: `null` and `NA` are words too.

    >>> is_missing(" N/A "), is_missing("-"), is_missing("0")
    (True, True, False)
    """
    return trimmed(text).casefold() in MISSING


@dataclass(frozen=True)
class Numbers:
    """The numbers of a column, shape (n,): NaN where a cell is missing or no number. `bad` are the cells that hold
    something else, with their rows; `notes` say how commas were read where it isn't plain."""

    values: npt.NDArray[np.float64]
    bad: tuple[Issue, ...] = ()
    notes: tuple[Issue, ...] = ()


def column_numbers(texts: Sequence[str], rows: Sequence[int], column: str) -> Numbers:
    """Read the numbers of a column, whose convention is decided by all of its cells together.

    Decimal points are read, and thousands marked by spaces or apostrophes. Commas are decimal commas, unless the other
    cells say that they mark thousands: `1,234` stands beside `985`, which has more digits before its end than stand
    before the comma, or beside `0.5`. Infinities are no numbers. `rows` are the cells' row numbers.

    >>> column_numbers(["1,234", "985", "12"], [2, 3, 4], "score").values.tolist()
    [1234.0, 985.0, 12.0]
    >>> column_numbers(["0,5", "NA", "1,234"], [2, 3, 4], "score").values.tolist()
    [0.5, nan, 1.234]
    >>> str(column_numbers(["0,5", "0.75", "0,25"], [2, 3, 4], "score").bad[0])
    "row 3, column score: a point where the other numbers have a decimal comma (found '0.75')"
    """
    return next(long_column_numbers(lambda: iter([(texts, rows)]), column))


def long_column_numbers(
    pieces: Callable[[], Iterator[tuple[Sequence[str], Sequence[int]]]], column: str
) -> Iterator[Numbers]:
    """As `column_numbers`, of a column in pieces: all of them are looked at before the first is read. `pieces` gives
    the texts and row numbers of each, as often as it is asked."""
    seen = _Commas()
    if any("," in text for texts, _ in pieces() for text in texts):
        for texts, _ in pieces():
            seen.add(texts)
    has_commas, groups, is_told = seen.has_commas, seen.groups, False
    for texts, rows in pieces():
        cells = [trimmed(text) for text in texts]
        values = np.full(len(cells), math.nan)
        bad: list[Issue] = []
        for at, cell in enumerate(cells):
            value, fault = _read_number(cell, has_commas, groups)
            values[at] = value
            if fault:
                bad.append(Issue(fault, row=rows[at], column=column, found=cell))
        notes = () if is_told else _comma_note(cells, rows, column, seen)
        is_told = is_told or bool(notes)
        yield Numbers(values, tuple(bad), notes)


def _read_number(cell: str, has_commas: bool, groups: bool) -> tuple[float, str]:
    """A cell's value, and what is wrong with it."""
    if _NUMBER.fullmatch(cell) and not (has_commas and not groups and "." in cell):
        value = float(cell)
        return (value, "") if math.isfinite(value) else (math.nan, "must be a number that isn't infinite")
    if cell.casefold() in MISSING:
        return math.nan, ""
    if groups:
        if _COMMA_GROUPS.fullmatch(cell):
            return float(cell.replace(",", "")), ""
    elif has_commas:
        if _DECIMAL_COMMA.fullmatch(cell):
            return float(cell.replace(",", ".")), ""
        if _POINT_GROUPS.fullmatch(cell) and ("," in cell or cell.count(".") > 1):
            return float(cell.replace(".", "").replace(",", ".")), ""
        if _NUMBER.fullmatch(cell):
            return math.nan, "a point where the other numbers have a decimal comma"
    if _SPACE_GROUPS.fullmatch(cell):
        return float(_SPACES.sub("", cell).replace(",", ".")), ""
    return math.nan, NO_NUMBER


class _Commas:
    """What the cells of a column show of its commas, gathered piece by piece."""

    def __init__(self) -> None:
        self._fits = Counter[str]()
        self._before = self._longest = 0
        self.has_commas = self.has_plain_decimals = False

    def add(self, texts: Sequence[str]) -> None:
        """Look at some cells."""
        for cell in map(trimmed, texts):
            if "," not in cell:
                if whole := _WHOLE.fullmatch(cell):
                    self._longest = max(self._longest, len(whole[1]))
                elif "." in cell and _NUMBER.fullmatch(cell):
                    self._fits["point"] += 1
                continue
            self.has_commas = True
            is_group, is_decimal = bool(_COMMA_GROUPS.fullmatch(cell)), bool(_DECIMAL_COMMA.fullmatch(cell))
            self._fits["group"] += is_group and not is_decimal
            self._fits["decimal"] += is_decimal and not is_group
            self._fits["either"] += is_group and is_decimal
            self.has_plain_decimals |= not is_group
            self._before = max(self._before, len(cell.lstrip("+-").split(",")[0]))

    @property
    def groups(self) -> bool:
        """Whether commas mark thousands."""
        fits = self._fits
        if fits["decimal"]:
            return fits["group"] > fits["decimal"]
        if not fits["either"]:
            return fits["group"] > 0
        return fits["group"] > 0 or fits["point"] > 0 or self._longest > self._before


def _comma_note(cells: Sequence[str], rows: Sequence[int], column: str, seen: _Commas) -> tuple[Issue, ...]:
    """What to say where a comma could be either."""
    if not seen.has_commas or (not seen.groups and seen.has_plain_decimals):
        return ()
    for at, cell in enumerate(cells):
        if _COMMA_GROUPS.fullmatch(cell) and _DECIMAL_COMMA.fullmatch(cell):
            meant = "thousands, as the other numbers of the column show" if seen.groups else "a decimal comma"
            note = f"the comma was read as {meant}; if it isn't one, write the numbers of the column without it"
            return (Issue(note, row=rows[at], column=column, found=cell),)
    return ()
