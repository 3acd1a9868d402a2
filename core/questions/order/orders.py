"""People's orders of target groups: a table of places read, checked and turned into comparisons; their agreement.

One row per word that somebody placed: `target`, `voter`, `word`, `place` (1 = most similar; equal places are a tie).
The authors published shares only, not who ordered what, so the layout is Runoff's own. With the groups known, words
that aren't positives are reported; without, a target's positives are all the words that anybody placed.

The agreement of two people is the mean over the targets both ordered of Spearman's ρ between their orders (of the words
both placed); a person's is the mean with everybody else who shares a target, and the dataset's the mean over pairs of
people. Whoever's lies more than one standard deviation under the mean of all people's is proposed for exclusion, as
Avraham and Goldberg (2016) did after Hill, Reichart and Korhonen (2015). That is a proposal: leaving out whoever
disagrees raises agreement by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...errors import InputError, Issue, UndefinedMetricError
from ...metrics import rounded_scores, spearman
from ...tabular import SourceTable, column_numbers, find_column, lacking, open_table, places_of, same_name
from ...votes.reading import usual_id, why_lost
from ..rating.files import NAMES
from .groups import GroupComparison, TargetGroup, from_orders

Orders = Mapping[str, Mapping[str, float]]  # of one person: target → word → place, 1 = most similar


@dataclass(frozen=True)
class PersonAgreement:
    """A person's mean agreement with others, −1 to 1, None where nobody shares a target with two words; n: others."""

    voter: str
    agreement: float | None
    n: int
    n_targets: int


@dataclass(frozen=True)
class GroupAgreement:
    """mean : over `n_pairs` pairs of people; bound : mean minus one standard deviation over people (n − 1).

    `proposed` lie below the bound, lowest first; none where fewer than three people have an agreement.
    """

    mean: float
    n_pairs: int
    bound: float | None
    people: tuple[PersonAgreement, ...]
    proposed: tuple[str, ...]


def agree(one: Orders, other: Orders) -> float | None:
    """Mean Spearman's ρ over the targets that two people ordered; None where there is none it is defined for.

    >>> agree({"singer": {"artist": 1, "person": 2}}, {"singer": {"artist": 2, "person": 1}})
    -1.0
    """
    correlations = []
    for target in one.keys() & other.keys():
        words = sorted(one[target].keys() & other[target].keys())
        places = [np.array([float(of[target][word]) for word in words]) for of in (one, other)]
        if len(words) >= 2 and all(np.ptp(place) > 0 for place in places):
            correlations.append(spearman(*places))
    return round(float(np.mean(sorted(correlations))), 12) if correlations else None


def group_agreement(orders: Mapping[str, Orders]) -> GroupAgreement:
    """The agreement of people, by the name of each.

    Raises `UndefinedMetricError` where no two people ordered a target in common.
    """
    voters = list(orders)
    of_pairs: dict[tuple[str, str], float] = {}
    for one, other in combinations(voters, 2):
        value = agree(orders[one], orders[other])
        if value is not None:
            of_pairs[one, other] = value
    if not of_pairs:
        raise UndefinedMetricError("No two people ordered two words of the same target, so agreement can't be told.")
    people = tuple(_person(voter, orders[voter], of_pairs) for voter in voters)
    known = [(person.agreement, person.voter) for person in people if person.agreement is not None]
    bound, proposed = None, []
    if len(known) >= 3:
        values = np.array([value for value, _ in known])
        bound = float(values.mean() - values.std(ddof=1))
        # Where all agree alike, float noise mustn't put anybody below.
        *compared, least = rounded_scores([*values, bound], largest=1).tolist()
        below = (value < least for value in compared)
        proposed = [voter for (_, voter), is_below in sorted(zip(known, below, strict=True)) if is_below]
    mean = float(np.mean(list(of_pairs.values())))
    return GroupAgreement(mean, len(of_pairs), bound, people, tuple(proposed))


def _person(voter: str, orders: Orders, of_pairs: Mapping[tuple[str, str], float]) -> PersonAgreement:
    values = [value for pair, value in of_pairs.items() if voter in pair]
    return PersonAgreement(voter, float(np.mean(values)) if values else None, len(values), len(orders))


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
        voter = usual_id(voter)
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


def _places(table: SourceTable) -> list[int]:
    """The positions of `COLUMNS`; `InputError` where one is missing or stands there twice."""
    places = places_of(table, COLUMNS)
    if "voter" not in places and (at_voter := find_column(table, NAMES["voter"])) is not None:
        places["voter"] = at_voter
    if missing := [name for name in COLUMNS if name not in places]:
        raise lacking(table, missing)
    return [places[name] for name in COLUMNS]


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
    comparisons = [
        comparison
        for group in known
        for comparison in from_orders(group, [of[group.target] for of in orders.values() if group.target in of])
    ]
    if not any(comparison.kind == "positive" for comparison in comparisons):
        raise InputError("Nobody ordered two words of the same target, so there is no share to work out.")
    return comparisons
