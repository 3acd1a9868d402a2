"""People's orders of target groups: a table of places read, checked, and worked out to comparisons.

A row a word that somebody placed: `target`, `voter`, `word`, `place` (1 = most similar; equal places are a tie). The
authors published shares only, not who ordered what, so the layout is Runoff's own. With the groups known, words that
are no positives are told; without, a target's positives are all the words that anybody placed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...errors import InputError, Issue
from ...tabular import Table, column_numbers, open_table, refuse_doubled, same_name, shown_header
from ...votes.reading import composed, why_lost
from ..rating.columns import NAMES, place_among
from .agreement import Orders
from .groups import GroupComparison, TargetGroup, from_orders

COLUMNS = ("target", "voter", "word", "place")


@dataclass(frozen=True)
class OrderFile:
    """Orders by voter → target → word → place. issues : rows that weren't taken; notes : what else to know."""

    orders: Mapping[str, Orders]
    issues: tuple[Issue, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def targets(self) -> tuple[str, ...]:
        """Every target that anybody ordered, as they come."""
        return tuple(dict.fromkeys(target for orders in self.orders.values() for target in orders))


def read_orders(
    data: bytes, name: str, groups: Iterable[TargetGroup] = (), *, encoding: str | None = None
) -> OrderFile:
    """Read people's orders from a CSV, TSV or Excel file; with `groups`, words that are no positives of their target
    aren't taken, and are told.

    Raises `InputError` for a file that is no table, lacks a column or has one twice, or has no row that can be used.

    >>> found = read_orders(b"target,voter,word,place\\nsinger,A,musician,1\\nsinger,A,person,2\\n", "orders.csv")
    >>> found.orders
    {'A': {'singer': {'musician': 1.0, 'person': 2.0}}}
    """
    table = open_table(data, name, encoding=encoding, fits=(_has_columns,))
    at = _places(table)
    texts = table.texts(at, max(at) + 1)
    rows, columns = texts.numbers.tolist(), texts.lists
    read = column_numbers(columns[-1], rows, table.header[at[-1]])
    positives = {group.target: set(group.positives) for group in groups}
    orders: dict[str, dict[str, dict[str, float]]] = {}
    issues = [*texts.issues, *read.notes]
    for row, value, *cells in zip(rows, read.values.tolist(), *columns, strict=True):
        target, voter, word, place = (" ".join(cell.split()) for cell in cells)
        voter = composed(voter)
        try:
            if lost := why_lost(voter):
                raise InputError(lost)
            _check(target, voter, word, value, positives)
            placed = orders.get(voter, {}).get(target, {})
            if word in placed:
                raise InputError(f"{voter} placed this word already, at {placed[word]:g}, which counts")
        except InputError as error:
            issues.append(Issue(str(error).rstrip("."), row=row, found=", ".join([target, voter, word, place])))
            continue
        orders.setdefault(voter, {}).setdefault(target, {})[word] = value
    if not orders:
        raise InputError(f"{name} has no order that can be used.", issues)
    unread = [title for n, title in enumerate(table.header) if title and n not in at]
    return OrderFile(orders, tuple(issues), (f"Columns that aren't read: {', '.join(unread)}.",) if unread else ())


def _places(table: Table) -> list[int]:
    """The positions of `COLUMNS`; `InputError` where one is missing or stands there twice."""
    names = [same_name(title) for title in table.header]
    refuse_doubled(table, [at for at, title in enumerate(names) if title in COLUMNS])
    found = [names.index(role) if role in names else None for role in COLUMNS]
    at_voter = COLUMNS.index("voter")
    if found[at_voter] is None:
        found[at_voter] = place_among(table, NAMES["voter"])
    places = [at for at in found if at is not None]
    if len(places) < len(COLUMNS):
        raise InputError(f"{table.name} needs the columns {', '.join(COLUMNS)}. Its columns are {shown_header(table)}.")
    return places


def _has_columns(header: Iterable[str]) -> bool:
    return {"target", "word", "place"} <= set(map(same_name, header))


def _check(target: str, voter: str, word: str, value: float, positives: Mapping[str, set[str]]) -> None:
    if not (target and voter and word):
        raise InputError("target, voter or word is empty")
    if word == target:
        raise InputError("the target itself can't be placed")
    if positives and target not in positives:
        raise InputError("is the target of no group")
    if positives and word not in positives[target]:
        raise InputError("is no positive of its target, and only positives are ordered")
    if not 1 <= value < 1000:
        raise InputError("a place is a number from 1 on")


def without(orders: Mapping[str, Orders], left_out: Iterable[str]) -> dict[str, Orders]:
    """The orders of everybody but some voters."""
    out = set(left_out)
    return {voter: of for voter, of in orders.items() if voter not in out}


def comparisons_of(orders: Mapping[str, Orders], groups: Iterable[TargetGroup] = ()) -> list[GroupComparison]:
    """R of every two positives that anybody ordered, and what holds by definition in `groups`.

    Without `groups` a target's positives are the words that were placed. Targets in the order of the groups, else as
    they come. Raises `InputError` where nobody ordered two words of a target.
    """
    known = list(groups)
    if not known:
        words: dict[str, dict[str, None]] = {}
        for of in orders.values():
            for target, places in of.items():
                words.setdefault(target, {}).update(dict.fromkeys(places))
        known = [TargetGroup(target, tuple(placed)) for target, placed in words.items()]
    found = [
        comparison
        for group in known
        for comparison in from_orders(group, [of[group.target] for of in orders.values() if group.target in of])
    ]
    if not any(comparison.kind == "positive" for comparison in found):
        raise InputError("Nobody ordered two words of the same target, so there is no share to work out.")
    return found
