"""What cells say that are no texts: marks of a missing value, and numbers as people and programs write them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
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
NEGATIONS = frozenset({"0", "0.0", "false", "f", "no", "n", "off", "falsch", "faux", "falso"})

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
    cells = [trimmed(text) for text in texts]
    has_commas = [at for at, cell in enumerate(cells) if "," in cell]
    groups = _groups(cells) if has_commas else False
    values = np.full(len(cells), math.nan)
    bad: list[Issue] = []
    for at, cell in enumerate(cells):
        value, fault = _read(cell, bool(has_commas), groups)
        values[at] = value
        if fault:
            bad.append(Issue(fault, row=rows[at], column=column, found=cell))
    return Numbers(values, tuple(bad), _said(cells, rows, column, groups, has_commas))


def _read(cell: str, has_commas: bool, groups: bool) -> tuple[float, str]:
    """A cell's value, and what is wrong with it."""
    if _NUMBER.fullmatch(cell) and not (has_commas and not groups and "." in cell):
        value = float(cell)
        return (value, "") if math.isfinite(value) else (math.nan, "must be a number that isn't endless")
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
    return math.nan, "must be a number"


def _groups(cells: Sequence[str]) -> bool:
    """Whether commas mark thousands, given that some cell has one."""
    fits = Counter[str]()
    before, longest = 0, 0
    for cell in cells:
        if "," not in cell:
            if whole := _WHOLE.fullmatch(cell):
                longest = max(longest, len(whole[1]))
            elif "." in cell and _NUMBER.fullmatch(cell):
                fits["point"] += 1
            continue
        is_group, is_decimal = bool(_COMMA_GROUPS.fullmatch(cell)), bool(_DECIMAL_COMMA.fullmatch(cell))
        fits["group"] += is_group and not is_decimal
        fits["decimal"] += is_decimal and not is_group
        fits["either"] += is_group and is_decimal
        before = max(before, len(cell.lstrip("+-").split(",")[0]))
    if fits["decimal"]:
        return fits["group"] > fits["decimal"]
    if not fits["either"]:
        return fits["group"] > 0
    return fits["group"] > 0 or fits["point"] > 0 or longest > before


def _said(
    cells: Sequence[str], rows: Sequence[int], column: str, groups: bool, has_commas: Sequence[int]
) -> tuple[Issue, ...]:
    """What to say where a comma could be either."""
    if not groups and any(not _COMMA_GROUPS.fullmatch(cells[at]) for at in has_commas):
        return ()
    for at in has_commas:
        if _COMMA_GROUPS.fullmatch(cells[at]) and _DECIMAL_COMMA.fullmatch(cells[at]):
            meant = "thousands, as the other numbers of the column show" if groups else "a decimal comma"
            told = f"the comma was read as {meant}; if it isn't one, write the numbers of the column without it"
            return (Issue(told, row=rows[at], column=column, found=cells[at]),)
    return ()
