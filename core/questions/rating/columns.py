"""The columns of a file of ratings: which is which by its name, with a header put before a table that has none."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...errors import InputError, Issue
from ...tabular import (
    CsvTable,
    Numbers,
    RowTable,
    SourceTable,
    Texts,
    column_numbers,
    csv_of,
    is_missing,
    open_table,
    refuse_doubled,
)

_FIRST = "tokena worda word1 texta text1 sentencea sentence1 itema item1 token1 first a larger"
_SECOND = "tokenb wordb word2 textb text2 sentenceb sentence2 itemb item2 token2 second b smaller"
_VOTER = "voter person rater annotator worker workerid voterid annotatorid participant subject"
NAMES: dict[str, frozenset[str]] = {
    "first": frozenset(_FIRST.split()),
    "second": frozenset(_SECOND.split()),
    "voter": frozenset(_VOTER.split()),
    "rating": frozenset(["rating"]),
    "mean": frozenset(
        ["mean", "humanmean", "score", "goldscore", "gold", "similarity", "relatedness", "average", "simlex999"]
    ),
    "sd": frozenset(["sd", "std", "stdev", "sdsimlex", "standarddeviation"]),
    "level": frozenset(["level"]),
    "genre": frozenset(["genre", "domain"]),
    "condition": frozenset(["condition"]),
    "order": frozenset(["order"]),
}
# Numbers of an item that aren't ratings: numbering, years, frequencies, SimLex-999's concreteness and association.
_NO_PEOPLE = frozenset(
    [
        "index",
        "id",
        "itemid",
        "pairid",
        "oldindex",
        "year",
        "n",
        "count",
        "freq",
        "frequency",
        "concw1",
        "concw2",
        "concq",
        "assocusf",
        "simassoc333",
    ]
)


@dataclass(frozen=True)
class Cells:
    """A file's columns, all of them: `titles`, the rows' `numbers`, the texts of each column, and its numbers.

    issues : rows that weren't taken, and what else to say of the file.
    """

    name: str
    titles: tuple[str, ...]
    numbers: list[int]
    columns: list[list[str]]
    issues: tuple[Issue, ...]

    @cached_property
    def _read(self) -> dict[int, Numbers]:
        return {}

    @cached_property
    def _faults(self) -> dict[int, dict[int | None, str]]:
        return {}

    def values(self, at: int) -> Numbers:
        """The numbers of a column, whose commas are read by all of its cells."""
        if at not in self._read:
            self._read[at] = column_numbers(self.columns[at], self.numbers, self.titles[at])
        return self._read[at]

    def faults(self, at: int) -> Mapping[int | None, str]:
        """What is wrong with cells of a column that hold something else than a number, by their rows."""
        if at not in self._faults:
            self._faults[at] = {issue.row: issue.message for issue in self.values(at).bad}
        return self._faults[at]


def people_columns(cells: Cells, places: Mapping[str, int]) -> list[int]:
    """The columns that are a person's ratings: those of numbers with no other meaning."""
    taken = {at for role, at in places.items() if role != "rating"}
    others = _NO_PEOPLE | NAMES["mean"] | NAMES["sd"]
    return [
        at
        for at, title in enumerate(cells.titles)
        if title and at not in taken and plain_title(title) not in others and _mostly_numbers(cells, at)
    ]


def plain_title(title: str) -> str:
    """A column's title by its letters and digits alone, in lower case."""
    return re.sub(r"[\W_]+", "", title.casefold())


def place_of(table: SourceTable, role: str) -> int | None:
    """The first column whose name says that role, None where none does; see `place_among`."""
    return place_among(table, NAMES[role])


def place_among(table: SourceTable, known: Collection[str]) -> int | None:
    """The first column whose plain title is one of those, None where none is.

    Raises `InputError` where two columns are called the same by it: both are named, as it could be either.
    """
    found = [at for at, title in enumerate(table.header) if plain_title(title) in known]
    refuse_doubled(table, found, named=plain_title)
    return found[0] if found else None


def has_texts(header: Sequence[str]) -> bool:
    """Whether a table's columns name the two texts of an item."""
    titles = set(map(plain_title, header))
    return bool(titles & NAMES["first"]) and bool(titles & NAMES["second"])


def open_ratings(data: bytes, name: str, *, encoding: str | None = None) -> tuple[SourceTable, bool]:
    """A file, and whether a header was put before its first row. Raises `InputError` for what is no table."""
    table = open_table(data, name, encoding=encoding, fits=(has_texts,))
    numeric = [at for at, title in enumerate(table.header) if is_number(title)]
    titles = set(map(plain_title, table.header))
    width = len(table.header)
    if titles & (NAMES["first"] | NAMES["second"]) or not numeric or width < 3:
        return table, False
    if width == 3:
        at = numeric[0] if numeric[0] in (0, 2) else 0
        names = {at: "score", (1 if at == 0 else 0): "sentence1", (2 if at == 0 else 1): "sentence2"}
    else:
        after = [at for at in numeric if at + 2 < width]
        at = after[-1] if after else width - 3
        names = {0: "genre", at: "score", at + 1: "sentence1", at + 2: "sentence2"}
    return _titled(table, tuple(names.get(place, f"column {place + 1}") for place in range(width))), True


def read_cells(table: SourceTable, n_needed: int) -> Cells:
    """All columns of a table; a row with fewer than `n_needed` fields isn't taken."""
    texts = table.texts(range(len(table.header)), n_needed)
    return Cells(table.name, table.header, texts.numbers.tolist(), texts.lists, texts.issues)


def is_number(text: str) -> bool:
    """Whether a text is a number by itself."""
    return bool(np.isfinite(column_numbers([text], [0], "").values[0]))


@dataclass(frozen=True)
class _Titled:
    """A text whose first row is no header, under titles of ours: its rows count from 1, as do its `notes`."""

    table: CsvTable
    notes: tuple[Issue, ...]

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def header(self) -> tuple[str, ...]:
        return self.table.header

    def texts(self, wanted: Sequence[int], n_needed: int) -> Texts:
        found = self.table.texts(wanted, n_needed)
        unread = tuple(map(_earlier, found.unread))
        told = [_earlier(issue) for issue in found.issues if issue not in self.table.notes]
        return replace(found, numbers=found.numbers - 1, unread=unread, issues=(*self.notes, *told))

    def head(self, n: int) -> list[list[str]]:
        return self.table.head(n)


def _earlier(issue: Issue) -> Issue:
    return issue if issue.row is None else replace(issue, row=issue.row - 1)


def _titled(table: SourceTable, titles: tuple[str, ...]) -> SourceTable:
    """A table without a header under these titles, its first row among the others."""
    if isinstance(table, CsvTable):
        text = table.delimiter.join(titles) + "\n" + table.decoded.text[table.dialect.start :]
        return _Titled(csv_of(replace(table.decoded, text=text), table.name), table.notes)
    if isinstance(table, RowTable):
        first = table.numbers[0] - 1 if table.numbers else 1
        return replace(table, header=titles, numbers=(first, *table.numbers), rows=[table.header, *table.rows])
    raise InputError(f"{table.name} has no header: its first row must name the columns.")


def _mostly_numbers(cells: Cells, at: int) -> bool:
    n_filled = sum(not is_missing(cell) for cell in cells.columns[at])
    return n_filled > 0 and 2 * int(np.isfinite(cells.values(at).values).sum()) >= n_filled
