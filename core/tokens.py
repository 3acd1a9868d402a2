"""Tokens and semantic areas: read from a text box or a file, and corrected."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz.fuzz import ratio

from .errors import InputError, Issue
from .tabular import Sheet, is_workbook, open_csv, read_workbook
from .token_columns import Column, Guess, guess_columns, position
from .token_lists import (
    MAX_TOKEN_LENGTH,
    AreaTokens,
    TokenLists,
    checked,
    clean_token,
    collect,
    holds_breaks,
    invisible_characters,
)

__all__ = [
    "MAX_TOKEN_LENGTH",
    "AreaTokens",
    "Column",
    "Guess",
    "Preview",
    "Renamed",
    "TokenLists",
    "checked",
    "clean_token",
    "guess_columns",
    "invisible_characters",
    "preview",
    "read_areas_file",
    "read_pasted",
    "renamed",
]


def read_pasted(name: str, text: str) -> TokenLists:
    """One area from a text box: one token a line.

    Empty lines are passed over; a token given twice is kept once and reported.

    Raises `InputError` if there are no tokens, or one holds a tab or another control character.
    """
    rows = ((number, name, line) for number, line in enumerate(text.splitlines(), start=1))
    return collect(rows, source="the text")


@dataclass(frozen=True)
class Preview:
    """What is in a file before it is read: its columns, some rows, its sheets (none but for workbooks), and which
    columns seem to hold the areas and the tokens."""

    header: tuple[str, ...]
    sample: tuple[tuple[str, ...], ...]
    sheets: tuple[str, ...]
    guess: Guess


@dataclass(frozen=True)
class _Table:
    """A table of texts, the header aside; `notes_on` gives remarks on some columns."""

    name: str
    header: tuple[str, ...]
    numbers: Sequence[int]
    columns: Sequence[Sequence[str]]
    notes_on: Callable[..., tuple[Issue, ...]]
    first_row: int = 1


def preview(data: bytes, filename: str, *, sheet: str | None = None, n: int = 50) -> Preview:
    """The columns and the first `n` rows of a file with areas (of the first sheet, unless one is named).

    Raises `InputError` where there is no table.
    """
    sheets = _open_sheets(data, filename) if is_workbook(data) else ()
    table = _of_sheet(filename, _named_sheet(filename, sheets, sheet or sheets[0].name)) if sheets else None
    if table is None:
        opened = open_csv(data, filename)
        rows = opened.read(range(len(opened.header)), 1)
        table = _Table(filename, opened.header, rows.numbers, rows.columns, lambda *_: ())
    sample = tuple(zip(*(column[:n] for column in table.columns), strict=True))
    return Preview(table.header, sample, tuple(each.name for each in sheets), guess_columns(table.header, sample))


def read_areas_file(
    data: bytes, filename: str, *, columns: tuple[Column | None, Column] | None = None, sheet: str | None = None
) -> TokenLists:
    """Areas from a CSV, TSV or Excel (.xlsx) file with the columns `area` and `token` (any case, any order).

    A table of one column, or a plain list, is one area named after the file. A workbook of several sheets with a list
    each has areas named after its sheets.

    Parameters
    ----------
    columns : the area column and the token column by name or position from 0, for files with other names
        (`guess_columns` proposes them); an area column of None makes one area named after the file (or the sheet).
    sheet : the name of a workbook's sheet, needed where several hold tables.

    Raises `InputError` if there are no such columns or no usable area.
    """
    if not is_workbook(data):
        return _read_table(_csv_table(data, filename, columns), columns, _stem(filename))
    sheets = _open_sheets(data, filename)
    if sheet is None and len(sheets) > 1:
        if any(each.width > 1 for each in sheets):
            names = ", ".join(repr(each.name) for each in sheets)
            raise InputError(f"{filename} has several sheets: {names}. Choose one of them.")
        found = [_rows_of(_of_sheet(filename, each), None, each.name) for each in sheets]
        notes = [note for each in sheets for note in each.remarks_on(0)]
        lists = collect([row for rows in found for row in rows], source=filename)
        return TokenLists(lists.areas, (*notes, *lists.notes))
    chosen = _named_sheet(filename, sheets, sheet or sheets[0].name)
    return _read_table(_of_sheet(filename, chosen), columns, _stem(filename) if len(sheets) == 1 else chosen.name)


def _stem(filename: str) -> str:
    return filename.rsplit("/", 1)[-1].rsplit(".", 1)[0] or "Area"


def _open_sheets(data: bytes, filename: str) -> tuple[Sheet, ...]:
    sheets = read_workbook(data, filename)
    if not sheets:
        raise InputError(f"{filename} is empty: none of its sheets holds any text.")
    return sheets


def _named_sheet(filename: str, sheets: Sequence[Sheet], name: str) -> Sheet:
    for sheet in sheets:
        if sheet.name == name:
            return sheet
    names = ", ".join(repr(sheet.name) for sheet in sheets)
    raise InputError(f"{filename} has no sheet {name!r} with any text. Its sheets are {names}.")


def _of_sheet(filename: str, sheet: Sheet) -> _Table:
    header = tuple(text.strip() for text in sheet.rows[0])
    columns = list(zip(*sheet.rows[1:], strict=True)) or [()] * sheet.width
    return _Table(filename, header, sheet.numbers[1:], columns, sheet.remarks_on, sheet.numbers[0])


def _csv_table(data: bytes, filename: str, columns: tuple[Column | None, Column] | None) -> _Table:
    """All columns of a CSV file; rows that stop before the last wanted one are unreadable."""
    opened = open_csv(data, filename)
    wanted = _wanted(opened.header, columns, filename)
    rows = opened.read(range(len(opened.header)), max(place for place in wanted if place is not None) + 1)
    # The issues of the rows begin with the notes on the encoding.
    return _Table(filename, opened.header, rows.numbers, rows.columns, lambda *_: rows.issues)


def _wanted(header: Sequence[str], columns: tuple[Column | None, Column] | None, source: str) -> tuple[int | None, int]:
    """The positions of the areas (None: one area) and of the tokens."""
    if columns is not None:
        area, token = columns
        return None if area is None else position(header, area, source), position(header, token, source)
    names = [name.strip().lower() for name in header]
    if "token" in names and "area" in names:
        return names.index("area"), names.index("token")
    if len(names) == 1:
        return None, 0
    raise InputError(
        f"{source} has no columns named area and token. "
        f"Its columns are {', '.join(map(repr, header[:8]))}; name two of them area and token, or choose them."
    )


def _read_table(table: _Table, columns: tuple[Column | None, Column] | None, name: str) -> TokenLists:
    wanted = _wanted(table.header, columns, table.name)
    lists = collect(_rows_of(table, columns, name), source=table.name)
    return TokenLists(lists.areas, (*table.notes_on(*wanted), *lists.notes))


def _rows_of(table: _Table, columns: tuple[Column | None, Column] | None, name: str) -> Iterator[tuple[int, str, str]]:
    """Row number, area and token; `name` is the area where no column says one."""
    area, token = _wanted(table.header, columns, table.name)
    if columns is None and area is None and table.header[0].strip().lower() != "token":
        # A plain list has no header: its first row is a token.
        yield table.first_row, name, table.header[0]
    for place, number in enumerate(table.numbers):
        yield number, name if area is None else table.columns[area][place], table.columns[token][place]


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
