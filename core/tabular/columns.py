"""The columns of a table from elsewhere, found by the names that a reader accepts for them.

    places = places_of(table, ("voter", "choice"))            # names that Runoff or a platform writes
    score = find_column(table, ("score", "mean", "gold"))     # names that people write, with synonyms

Names that programs write are compared by `same_name` (case and spaces around them don't count), names that people
write by `bare_name` (nor do spaces, underscores and other signs within them). Of several accepted names the one that
stands first in the reader's list goes first, whatever the order of the columns.

Where two columns have the name that a reader looks for, nobody can say which is meant: `refuse_doubled` names both.
Where one is missing, `lacking` names it and the columns that there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..errors import InputError, Issue

Key = Callable[[str], str]  # what of a column's name counts
NUMBER = "{n}"  # in a column's name: any number from 1 on, of a row's comparisons or items
_NAMED, _LONG = 12, 40  # columns that a message names, and letters of each


class Headed(Protocol):
    """What has a header, held or not."""

    @property
    def name(self) -> str: ...

    @property
    def header(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class Header:
    """The columns of a table that isn't opened, or whose first row may be no header; `name` says whose in messages."""

    name: str
    header: tuple[str, ...]


def trimmed(text: str) -> str:
    """A cell or a column's name without what stands around it: spaces of any kind, line ends, a byte order mark.

    >>> trimmed(" ship\\u00a0\\r"), trimmed("\\ufeffarea")
    ('ship', 'area')
    """
    return text.strip().strip("\ufeff").strip()


def same_name(name: str) -> str:
    """A column's name as names are compared: whatever the case of its letters and the spaces around it."""
    return trimmed(name).casefold()


def bare_name(name: str) -> str:
    """A column's name by its letters and digits alone, in lower case.

    >>> bare_name(" Semantic_area"), bare_name("Human (mean)")
    ('semanticarea', 'humanmean')
    """
    return re.sub(r"[\W_]+", "", name.casefold())


def positions(header: Sequence[str], names: Iterable[str], key: Key = bare_name) -> tuple[int, ...]:
    """The columns that have the first of the accepted names that there is; several of them are ambiguous.

    >>> positions(["Word", "area", "word_"], ("token", "word")), positions(["a"], ("token", "word"))
    ((0, 2), ())
    """
    keys = list(map(key, header))
    name = next((wanted for wanted in map(key, names) if wanted and wanted in keys), None)
    return tuple(at for at, other in enumerate(keys) if other == name)


def find_column(table: Headed, names: Iterable[str]) -> int | None:
    """The position of the column with the first of the accepted names that there is, None where there is none.

    Raises `InputError` where two columns have that name.
    """
    places = positions(table.header, names, bare_name)
    refuse_doubled(table, places, named=bare_name)
    return places[0] if places else None


def places_of(table: Headed, names: Iterable[str]) -> dict[str, int]:
    """The positions of those columns that the table has; `InputError` where it has one of them twice.

    >>> places_of(Header("x.csv", ("Voter", " choice ", "n")), ("choice", "voter", "seconds"))
    {'choice': 1, 'voter': 0}
    """
    header = list(map(same_name, table.header))
    wanted = {name: same_name(name) for name in names}
    refuse_doubled(table, [at for at, name in enumerate(header) if name in set(wanted.values())])
    return {name: header.index(same) for name, same in wanted.items() if same in header}


def chosen_column(table: Headed, column: str | int, *, then: str = "") -> int:
    """The position of a column that somebody chose, by its position from 0 or by its name.

    A name goes by `same_name`, else by `bare_name`. Raises `InputError` where there is no such column, and where
    several have the name; `then` is what can be done about that besides.
    """
    if isinstance(column, int):
        if 0 <= column < len(table.header):
            return column
        raise InputError(f"{table.name} has no column {column}: it has {len(table.header)}, counted from 0.")
    for key in (same_name, bare_name):
        if places := positions(table.header, (column,), key):
            refuse_doubled(table, places, named=key, then=then)
            return places[0]
    raise lacking(table, [column])


def numbered_columns(header: Sequence[str], name: str) -> dict[int, int]:
    """The positions of a column by the number in its name, {1: position} for a name without `{n}`.

    Names match by `same_name`; of several that do, the one written so goes first, then the first.

    >>> numbered_columns(["Choice1", "choice2"], "choice{n}"), numbered_columns(["a", "A"], "A")
    ({1: 0, 2: 1}, {1: 1})
    >>> numbered_columns(["a"], "b")
    {}
    """
    keys = list(map(same_name, header))
    if NUMBER not in name:
        exact = [at for at, column in enumerate(header) if column == name]
        same = exact or [at for at, key in enumerate(keys) if key == same_name(name)]
        return {1: same[0]} if name and same else {}
    before, _, after = same_name(name).partition(NUMBER)
    places: dict[int, int] = {}
    for at, key in enumerate(keys):
        middle = key[len(before) : len(key) - len(after)]
        fits = key.startswith(before) and key.endswith(after) and len(key) > len(before) + len(after)
        if fits and middle.isascii() and middle.isdigit() and len(middle) < 5 and int(middle) > 0:
            places.setdefault(int(middle), at)
    return dict(sorted(places.items()))


def refuse_doubled(
    table: Headed, places: Iterable[int] | None = None, *, named: Key = same_name, then: str = ""
) -> None:
    """Raise `InputError` where two of these columns (all, unless some are given) have one name; both are named.

    `named` is what of a name counts, `then` what can be done besides keeping one of each.

    >>> refuse_doubled(Header("x.csv", ("voter", "Voter")))
    Traceback (most recent call last):
    core.errors.InputError: x.csv has several columns of one name (voter, Voter). Keep one of each. column voter: \
stands in column 1, and so does another of this name; column Voter: stands in column 2, and so does another of this \
name.
    """
    by_name: dict[str, list[int]] = {}
    for at in dict.fromkeys(range(len(table.header)) if places is None else places):
        by_name.setdefault(named(table.header[at]), []).append(at)
    doubled = [places for name, places in by_name.items() if name and len(places) > 1]
    if doubled:
        issues = [
            Issue(f"stands in column {at + 1}, and so does another of this name", column=table.header[at])
            for places in doubled
            for at in places
        ]
        names = ", ".join(f"({', '.join(table.header[at] for at in places)})" for places in doubled)
        raise InputError(f"{table.name} has several columns of one name {names}. Keep one of each{then}.", issues)


def lacking(table: Headed, missing: Collection[str], *, then: str = "") -> InputError:
    """What to raise where columns are missing: their names, those that there are, and what to do.

    >>> str(lacking(Header("x.csv", ("a", "b")), ["voter"]))
    'x.csv lacks the column voter. Its columns are a, b.'
    """
    word = "column" if len(missing) == 1 else "columns"
    message = f"{table.name} lacks the {word} {', '.join(missing)}. Its columns are {shown_header(table)}."
    return InputError(f"{message} {then}".strip())


def shown_header(table: Headed) -> str:
    """The names of the columns for a message: the first of them, each cut where it is long.

    >>> shown_header(Header("x.csv", ("a", "", "b")))
    'a, b'
    """
    names = [name if len(name) <= _LONG else name[:_LONG] + "…" for name in table.header if name]
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
