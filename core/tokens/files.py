"""Tokens and semantic areas: read from a text box or a file, and corrected."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, repeat
from typing import Protocol

from rapidfuzz.fuzz import ratio

from ..errors import InputError, Issue
from ..tabular import (
    CsvTable,
    Dialect,
    RowTable,
    Sheet,
    SourceTable,
    bare_name,
    choose_sheet,
    chosen_column,
    csv_of,
    decode_bytes,
    is_blank,
    is_workbook,
    lacking,
    positions,
    read_workbook,
    records,
    refuse_doubled,
    same_name,
    sheet_table,
    trimmed,
)
from ..tabular.csv_writing import csv_text
from .lists import (
    MAX_TOKEN_LENGTH,
    TOKEN_NAMES,
    AreaTokens,
    Column,
    GuessedColumns,
    TokenLists,
    alike,
    checked,
    clean_token,
    collect,
    guess_columns,
    holds_breaks,
    invisible_characters,
    is_several,
)

__all__ = [
    "MAX_TOKEN_LENGTH",
    "AreaTokens",
    "Column",
    "GuessedColumns",
    "Renamed",
    "TokenFile",
    "TokenLists",
    "alike",
    "checked",
    "clean_token",
    "guess_columns",
    "invisible_characters",
    "is_several",
    "open_list",
    "read_areas_file",
    "read_pasted",
    "renamed",
    "write_list",
]


def read_pasted(name: str, text: str, *, split: bool | None = None, is_new: bool = False) -> TokenLists:
    """One area from a text box: one token per line, or with `split` several where commas or semicolons stand between.

    Empty lines are passed over; a token given twice is kept once and reported. Of a list that `is_new` a first line
    that names the column, as it is copied from a spreadsheet, is left out, and said; in one that is edited it is a
    token.

    Raises `InputError` if there are no tokens, one holds a control character, or the text has columns.
    """
    lines = [(n, trimmed(line)) for n, line in enumerate(re.split("\r\n|\r|\n", text), 1) if trimmed(line)]
    columns = [Issue("holds a tab", row=n, found=line) for n, line in lines if "\t" in line]
    if columns:
        raise InputError(
            "Nothing was taken from the text: it holds a tab, which stands between the columns of a table. Paste the "
            "column of the tokens alone, or save the table as a file and bring that.",
            columns,
        )
    if not is_new:
        return collect(((n, name, line) for n, line in lines), source="the text", split=split)
    found = _plain_list(name, lines, ())
    notes = list(found.issues)
    if len(found.rows) < len(lines):
        first, header = lines[0]
        text = "the first line was taken for the column's name and left out; if it is a token, write it further down"
        notes.append(Issue(text, row=first, found=header))
    lists = collect(found.rows, source="the text", split=split)
    return TokenLists(lists.areas, (*notes, *lists.notes))


@dataclass(frozen=True)
class TokenFile:
    """A file with token lists, opened: what it holds is shown, and read, from here, so that both are the same.

    `header` and `sample` are the columns' names and the first rows of its table (of a workbook's first sheet, unless
    one was named); A file that is no table but holds a token a line has no header. `sheets` are
    the names of a workbook's, and `guess` says which columns seem to hold the areas and the tokens.
    """

    name: str
    header: tuple[str, ...]
    sample: tuple[tuple[str, ...], ...]
    sheets: tuple[str, ...]
    guess: GuessedColumns
    _parts: tuple[_ListPart, ...] = field(repr=False)

    @property
    def is_all_lists(self) -> bool:
        """Whether it can be read as it is without a sheet being named: it has one, or a list on each."""
        return len(self._parts) == 1 or all(len(part.header) < 2 for part in self._parts)

    def read(self, columns: tuple[Column | None, Column] | None = None, *, split: bool | None = None) -> TokenLists:
        """The areas: of a table by its columns `area` and `token`, or by those chosen (see `read_areas_file`); with
        `split`, a cell or line that lists several tokens makes several.

        Raises `InputError` as that does.
        """
        if not self.is_all_lists:
            names = ", ".join(map(repr, self.sheets))
            raise InputError(f"{self.name} has several sheets: {names}. Choose one of them.")
        parts = [part.read(columns) for part in self._parts]
        rows_told = {row for each in parts for row in each.told}
        lists = collect([row for each in parts for row in each.rows], source=self.name, told=rows_told, split=split)
        return TokenLists(lists.areas, (*(issue for each in parts for issue in each.issues), *lists.notes))


@dataclass(frozen=True)
class _Read:
    """Rows of (row number, area, token) as written, what was noticed, and the rows whose cells were `told`."""

    rows: list[tuple[int, str, str]]
    issues: tuple[Issue, ...]
    told: frozenset[int | None] = frozenset()


class _ListPart(Protocol):
    """A list, a table, or a sheet of a workbook; its header is empty where it is a list of lines."""

    @property
    def header(self) -> tuple[str, ...]: ...

    def sample(self, n: int) -> tuple[tuple[str, ...], ...]:
        """The first n rows, as long as the header."""

    def read(self, columns: tuple[Column | None, Column] | None) -> _Read: ...


@dataclass(frozen=True)
class _TokenLines:
    """A list: a token per line, the lines that aren't blank with their numbers."""

    area: str
    lines: tuple[tuple[int, str], ...]
    notes: tuple[Issue, ...]
    header: tuple[str, ...] = ()

    def sample(self, n: int) -> tuple[tuple[str, ...], ...]:
        return tuple((text,) for _, text in self.lines[:n])

    def read(self, columns: tuple[Column | None, Column] | None) -> _Read:
        if columns is not None:
            raise InputError("A list of one token per line has no columns to choose from.")
        return _plain_list(self.area, self.lines, self.notes)


@dataclass(frozen=True)
class _CsvPart:
    """A text with delimiters; `area` is the only one where no column says them."""

    area: str
    table: CsvTable

    @property
    def header(self) -> tuple[str, ...]:
        return self.table.header

    def sample(self, n: int) -> tuple[tuple[str, ...], ...]:
        width = len(self.header)
        return tuple(tuple((row + [""] * width)[:width]) for row in self.table.head(n))

    def read(self, columns: tuple[Column | None, Column] | None) -> _Read:
        area, token = _wanted(self.table, columns)
        # Rows that stop before the last wanted column are unreadable.
        rows = self.table.read(range(len(self.header)), max(token, -1 if area is None else area) + 1)
        areas = repeat(self.area) if area is None else rows.columns[area]
        # The issues begin with the notes on how the file was opened.
        return _Read(list(zip(rows.numbers, areas, rows.columns[token], strict=False)), rows.issues)


@dataclass(frozen=True)
class _SheetPart:
    """A workbook's sheet. One of a single column is a list, whose first row is a token unless columns were chosen."""

    area: str
    sheet: Sheet
    table: RowTable

    @property
    def header(self) -> tuple[str, ...]:
        return self.table.header

    def sample(self, n: int) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(row) for row in self.table.rows[:n])

    def read(self, columns: tuple[Column | None, Column] | None) -> _Read:
        area, token = _wanted(self.table, columns)
        remarks = self.sheet.remarks_on(*(at for at in (area, token) if at is not None))
        rows_told = frozenset(issue.row for issue in remarks)
        if columns is None and area is None:
            lines = [(number, row[0]) for number, row in zip(self.sheet.numbers, self.sheet.rows, strict=True)]
            return replace(_plain_list(self.area, lines, remarks), told=rows_told)
        rows = zip(self.table.numbers, self.table.rows, strict=True)
        read = [(number, self.area if area is None else row[area], row[token]) for number, row in rows]
        return _Read(read, (*self.table.notes, *remarks), rows_told)


def _plain_list(area: str, lines: Sequence[tuple[int, str]], notes: Sequence[Issue]) -> _Read:
    """The tokens of a list, without a first line that says `token`; another that may be a name is told."""
    issues, rows = list(notes), [(number, area, text) for number, text in lines]
    first = clean_token(lines[0][1]) if lines else ""
    if same_name(first) == "token":
        return _Read(rows[1:], tuple(issues))
    if first.lower() in TOKEN_NAMES:
        advice = "the first line was taken for a token; if it names the list, write token in its place"
        issues.append(Issue(advice, row=lines[0][0], found=first))
    return _Read(rows, tuple(issues))


_BY_PLACE = ", or choose one by its place"


def _wanted(table: SourceTable, columns: tuple[Column | None, Column] | None) -> tuple[int | None, int]:
    """The positions of the areas (None: one area) and of the tokens."""
    if columns is not None:
        area, token = columns
        return None if area is None else chosen_column(table, area, then=_BY_PLACE), chosen_column(
            table, token, then=_BY_PLACE
        )
    known = {name: positions(table.header, [name]) for name in ("area", "token")}
    if all(known.values()):
        refuse_doubled(table, chain.from_iterable(known.values()), named=bare_name, then=_BY_PLACE)
        return known["area"][0], known["token"][0]
    if len(table.header) == 1:
        return None, 0
    missing = [name for name, places in known.items() if not places]
    raise lacking(table, missing, then="Name two of them area and token, or choose them.")


def open_list(
    data: bytes,
    filename: str,
    *,
    sheet: str | None = None,
    encoding: str | None = None,
    by_lines: bool | None = None,
    n: int = 50,
) -> TokenFile:
    """Open a file with token lists: a text of one token per line, a CSV or TSV, or an Excel workbook.

    Parameters
    ----------
    sheet : the name of a workbook's sheet; None shows the first and reads all, if each is a list.
    encoding : what a person chose; None to find it.
    by_lines : whether a text is a list of one token per line, in which commas and quotation marks are letters. None to
        find out: a text without the columns `area` and `token` is a list if its lines have no columns in common.
    n : rows of the sample.

    Raises `InputError` for an empty file and one of another kind, and where no encoding fits.
    """
    if is_workbook(data):
        parts, sheets = _open_sheets(data, filename, sheet)
    else:
        parts, sheets = (_open_text(data, filename, encoding, by_lines),), ()
    first = parts[0]
    sample = first.sample(n)
    guess = guess_columns(first.header, sample) if first.header else GuessedColumns(0, None, True)
    return TokenFile(filename, first.header, sample, sheets, guess, parts)


def read_areas_file(
    data: bytes,
    filename: str,
    *,
    columns: tuple[Column | None, Column] | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
    by_lines: bool | None = None,
) -> TokenLists:
    """Areas from a file with the columns `area` and `token` (any case, any order), or from a list; see `open_list`.

    A table of one column, or a list, is one area named after the file. A workbook of several sheets with a list each
    has areas named after its sheets.

    Parameters
    ----------
    columns : the area column and the token column by name or position from 0, for files with other names
        (`guess_columns` proposes them); an area column of None makes one area named after the file (or the sheet).
    sheet : the name of a workbook's sheet, needed where several hold tables.

    Raises `InputError` if there are no such columns, several of one name, or no usable area.
    """
    lines = False if columns is not None and by_lines is None else by_lines
    return open_list(data, filename, sheet=sheet, encoding=encoding, by_lines=lines).read(columns)


def write_list(areas: Iterable[AreaTokens]) -> bytes:
    """Areas as a CSV file in UTF-8, as `read_areas_file` reads it.

    >>> write_list([AreaTokens("sea", ("ship", "boat"))])
    b'area,token\\nsea,ship\\nsea,boat\\n'
    """
    return csv_text(["area", "token"], [(area.name, token) for area in areas for token in area.tokens]).encode()


def _stem(filename: str) -> str:
    return filename.rsplit("/", 1)[-1].rsplit(".", 1)[0] or "Area"


def _open_sheets(data: bytes, filename: str, name: str | None) -> tuple[tuple[_ListPart, ...], tuple[str, ...]]:
    """The sheet of this name, or all; and the names of all."""
    sheets = read_workbook(data, filename)
    names = tuple(sheet.name for sheet in sheets)
    if name is not None or not sheets:
        chosen, _ = choose_sheet(sheets, filename, sheet=name)
        sheets = (chosen,)
    stem = _stem(filename) if len(names) == 1 else None
    return tuple(_SheetPart(stem or one.name, one, sheet_table((one, ()), filename)) for one in sheets), names


# How JSON begins; a list may begin with a brace, too.
_JSON = re.compile(rb'\s*(?:\{\s*["}]|\[\s*\{)')
_BLANK_LINES = re.compile(r"(?:[^\S\r\n]*(?:\r\n|\r|\n))+")
_NO_DELIMITER = "\x1f"  # no token may hold it
_SAMPLE = 1000  # lines that tell whether there are columns


def _open_text(data: bytes, filename: str, encoding: str | None, by_lines: bool | None) -> _ListPart:
    decoded = decode_bytes(data, filename, encoding=encoding, braces=not _JSON.match(data[:512]))
    if not decoded.text.strip():
        raise InputError(f"{filename} is empty. Give one token per line, or a table with the columns area and token.")
    blank = _BLANK_LINES.match(decoded.text)
    if by_lines is None and blank is not None:
        by_lines = _is_list(csv_of(replace(decoded, text=decoded.text[blank.end() :]), filename))
    if by_lines:
        lines = enumerate(re.split("\r\n|\r|\n", decoded.text), 1)
        return _TokenLines(_stem(filename), tuple((n, line) for n, line in lines if line.strip()), decoded.notes)
    table = csv_of(decoded, filename)
    if by_lines is None and _is_list(table):
        return _list_of(table)
    return _CsvPart(_stem(filename), table)


def _list_of(table: CsvTable) -> _TokenLines:
    """A text as a list of one token per line; marks around whole lines are taken off where the text is quoted."""
    dialect = Dialect(_NO_DELIMITER, table.dialect.quoted, False)
    lines, notes = [], list(table.notes)
    # What comes first is a header to others.
    for number, record in enumerate(records("\n" + table.decoded.text[table.dialect.start :], dialect), 1):
        if not isinstance(record, list):
            fault = (
                "the quotation marks of the line don't fit, and it was left out; double those that belong to the token"
            )
            notes.append(Issue(fault, row=number))
        elif not is_blank(record):
            lines.append((number, _NO_DELIMITER.join(record)))
    return _TokenLines(_stem(table.name), tuple(lines), tuple(notes))


def _is_list(table: CsvTable) -> bool:
    """Whether a text that could be a table is a list: it has one column, or its lines have no columns in common.

    In a file that is called .csv or .tsv, it is enough for a table that half of its lines have several cells.
    """
    names = list(map(bare_name, table.header))
    if len(names) == 1:
        return True
    if "area" in names and "token" in names:
        return False
    rows = [row for row in islice(records(table.decoded.text, table.dialect), _SAMPLE) if row]
    widths = [len(names), *(len(row) if isinstance(row, list) else 1 for row in rows)]
    if table.name.lower().endswith((".csv", ".tsv")):
        return 2 * sum(width > 1 for width in widths) < len(widths)
    width, n = Counter(widths).most_common(1)[0]
    return len(widths) == 1 or width == 1 or 2 * n <= len(widths)


@dataclass(frozen=True)
class Renamed:
    """Areas with corrected spellings, in the same order; what was changed as (area, old, new), for the log; and what
    a person should look at again."""

    areas: tuple[AreaTokens, ...]
    changes: tuple[tuple[str, str, str], ...]
    notes: tuple[Issue, ...] = ()


def renamed(areas: Sequence[AreaTokens], corrections: Mapping[str, str], *, area: str | None = None) -> Renamed:
    """Correct spellings, old → new, in one area or (None) in all that have the token; every token keeps its place.

    A new spelling is cleaned as all tokens are, and must not be another token of the area, so that no two tokens are
    merged or swapped. One that shares under half of its letters with the old is noted: it looks like another token.
    Raises `InputError` with all the corrections that can't be made; then none is.

    >>> renamed([AreaTokens("sea", ("ship", "bota"))], {"bota": "boat"}).areas[0].tokens
    ('ship', 'boat')
    """
    if area is not None and area not in {each.name for each in areas}:
        raise InputError(f"There is no area {area!r}. The areas are {', '.join(repr(each.name) for each in areas)}.")
    cleaned = {old: clean_token(new) for old, new in corrections.items() if clean_token(new) != old}
    chosen = [each for each in areas if area is None or each.name == area]
    issues = [issue for old, new in cleaned.items() for issue in _faults(chosen, old, new)]
    issues += [
        Issue(f"{list(cleaned.values()).count(new)} tokens would become this one", found=new)
        for new in dict.fromkeys(cleaned.values())
        if any(sum(cleaned.get(token) == new for token in each.tokens) > 1 for each in chosen)
    ]
    if issues:
        raise InputError("No spelling was corrected.", issues)
    changes = [(each.name, old, cleaned[old]) for each in chosen for old in each.tokens if old in cleaned]
    result = tuple(
        AreaTokens(each.name, tuple(cleaned.get(token, token) for token in each.tokens)) if each in chosen else each
        for each in areas
    )
    notes = tuple(
        Issue(f"{old!r} became another text altogether; is it the same token?", found=new)
        for old, new in cleaned.items()
        if ratio(old.casefold(), new.casefold()) < 50
    )
    return Renamed(result, tuple(changes), notes)


def _faults(areas: Sequence[AreaTokens], old: str, new: str) -> Iterator[Issue]:
    """Why a token can't be spelled `new`."""
    having = [area for area in areas if old in area.tokens]
    if not having:
        yield Issue("no such token", found=old)
    if not new:
        yield Issue(f"the new spelling of {old!r} is empty")
    elif holds_breaks(new):
        yield Issue(f"the new spelling of {old!r} holds a tab, a line break or another control character", found=new)
    elif len(new) > MAX_TOKEN_LENGTH:
        yield Issue(f"the new spelling of {old!r} is longer than {MAX_TOKEN_LENGTH} characters")
    for area in having:
        if new in area.tokens:
            yield Issue(f"{area.name} has a token of that spelling already", found=new)
