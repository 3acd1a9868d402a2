"""What cells say that are no texts: marks of a missing value, and numbers as people and programs write them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import Issue
from .table import trimmed

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
            value, fault = _read(cell, has_commas, groups)
            values[at] = value
            if fault:
                bad.append(Issue(fault, row=rows[at], column=column, found=cell))
        notes = () if is_told else _comma_note(cells, rows, column, seen)
        is_told = is_told or bool(notes)
        yield Numbers(values, tuple(bad), notes)


def _read(cell: str, has_commas: bool, groups: bool) -> tuple[float, str]:
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
            told = f"the comma was read as {meant}; if it isn't one, write the numbers of the column without it"
            return (Issue(told, row=rows[at], column=column, found=cell),)
    return ()
