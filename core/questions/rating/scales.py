"""Rating scales with their wording, gold pairs by which raters qualify, and the type of a rating set that was read.

Two scales are ready. `STSS`: 0.0 to 4.0 in tenths, with a worded anchor at each whole number, as in O'Shea, Bandar,
Crockett, McLean (2013), Semantic similarity of short texts: anchors together with sorting first gave them the least
noise. `CLSS`: 0 to 4 in quarters, as in Jurgens, Pilehvar, Navigli (2016), Cross Level Semantic Similarity: how far the
smaller text holds the meaning of the larger. The wordings are Runoff's own.

Gold pairs are pairs whose rating is known: five as a rule, each to be rated within ±1 (Jurgens and others, section
4.2).

A rating set holds items, people, and each rating with the condition and the order it was given in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import InputError, Issue, PlanError
from ...i18n import translatable
from ...tables import Floats, Ints

MOST_CELLS = 50_000_000  # people × items


@dataclass(frozen=True, eq=False)
class RatingSet:
    """Items with people's ratings, or, where a file has only those, with the mean of them.

    first, second : the two texts of each item, of any size; level, genre : of each, "" where the file has none.
    people : names; `person`, `item`, `rating`, `condition`, `order` have an entry per rating (positions, the rating,
    texts; "" where the file says nothing). Higher = more related.
    mean, sd : as the file gives them, NaN where it doesn't. issues : what was left out, row by row; notes : what else
    a reader should know.
    """

    name: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    level: tuple[str, ...]
    genre: tuple[str, ...]
    people: tuple[str, ...]
    person: Ints
    item: Ints
    rating: Floats
    condition: tuple[str, ...]
    order: tuple[str, ...]
    mean: Floats
    sd: Floats
    issues: tuple[Issue, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.first) < 2:
            raise InputError(f"{self.name} has ratings of {len(self.first)} items; two are needed.", self.issues)
        if len(self.people) * len(self.first) > MOST_CELLS:
            raise InputError(
                f"{self.name} has {len(self.people):,} people and {len(self.first):,} items, which is more than "
                f"{MOST_CELLS:,} cells. Split it, by level or genre for instance."
            )

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.first)

    @property
    def has_people(self) -> bool:
        """Whether it is known who rated what; else there are means only."""
        return bool(self.people)

    @property
    def items(self) -> tuple[str, ...]:
        """Each item as one text."""
        return tuple(f"{a} – {b}" for a, b in zip(self.first, self.second, strict=True))

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions that ratings were given in, in the order of the file; none where it names none."""
        return tuple(name for name in dict.fromkeys(self.condition) if name)

    @cached_property
    def table(self) -> Floats:
        """People × items, NaN where somebody didn't rate; a person's ratings in several conditions are averaged."""
        return self._table(np.ones(len(self.rating), dtype=bool))

    def under(self, condition: str) -> Floats:
        """The table of one condition: those people who rated in it × all items."""
        rows = np.array([name == condition for name in self.condition], dtype=bool)
        table = self._table(rows)
        return np.asarray(table[np.unique(self.person[rows])])

    def _table(self, rows: NDArray[np.bool_]) -> Floats:
        shape = len(self.people), self.n_items
        total, count = np.zeros(shape), np.zeros(shape)
        np.add.at(total, (self.person[rows], self.item[rows]), self.rating[rows])
        np.add.at(count, (self.person[rows], self.item[rows]), 1)
        return np.asarray(np.divide(total, count, out=np.full(shape, np.nan), where=count > 0))

    def ordered(self) -> dict[int, tuple[Floats, Floats]]:
        """Ratings of each item with its texts in order A and in order B; items without both are left out."""
        by_item: dict[int, tuple[list[float], list[float]]] = {}
        for position, value, order in zip(self.item.tolist(), self.rating.tolist(), self.order, strict=True):
            if order:
                by_item.setdefault(position, ([], []))[order == "B"].append(value)
        return {at: (np.array(a), np.array(b)) for at, (a, b) in sorted(by_item.items()) if a and b}


_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Anchor:
    """A value of the scale and what it means."""

    value: float
    text: str


@dataclass(frozen=True)
class RatingScale:
    """Values from `low` to `high` in steps of `step`; higher = more related.

    `sorts_first`: people sort the items into piles before they rate them. Raises `InputError` for a scale whose steps
    don't lead from one end to the other, or with an anchor that is no value of it.
    """

    name: str
    low: float
    high: float
    step: float
    anchors: tuple[Anchor, ...] = ()
    sorts_first: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high and self.step > 0):
            raise InputError("A scale needs a lower end, a higher one, and steps above 0.")
        if not self._is_step(self.high):
            raise InputError(f"Steps of {self.step:g} don't lead from {self.low:g} to {self.high:g}.")
        off = [anchor for anchor in self.anchors if not self.allows(anchor.value)]
        if off:
            raise InputError(f"There is an anchor at {off[0].value:g}, which is no value of the scale.")

    def _is_step(self, value: float) -> bool:
        steps = (value - self.low) / self.step
        return abs(steps - round(steps)) < _TOLERANCE * max(1.0, abs(steps))

    def allows(self, value: float) -> bool:
        """Whether somebody may give this value."""
        return math.isfinite(value) and self.low <= value <= self.high and self._is_step(value)

    @property
    def values(self) -> tuple[float, ...]:
        """All values, ascending."""
        n = round((self.high - self.low) / self.step)
        return tuple(round(self.low + number * self.step, 9) for number in range(n + 1))

    def read(self, text: str, *, row: int | None = None) -> float:
        """A rating as a person wrote it; a comma may stand for the decimal point. Raises `InputError` with the row."""
        try:
            value = float(text.strip().replace(",", "."))
        except ValueError:
            value = math.nan
        if not self.allows(value):
            allowed = f"{self.low:g} to {self.high:g} in steps of {self.step:g}"
            raise InputError("This is no rating.", [Issue(f"a rating is {allowed}", row=row, found=text)])
        return value

    def describe(self, value: float) -> str:
        """The meaning of the nearest anchor at or below a value, "" where there is none."""
        below = [anchor for anchor in self.anchors if anchor.value <= value + _TOLERANCE]
        return max(below, key=lambda anchor: anchor.value).text if below else ""


STSS = RatingScale(
    "STSS",
    0.0,
    4.0,
    0.1,
    (
        Anchor(0.0, translatable("The two have nothing to do with each other.")),
        Anchor(1.0, translatable("There is a faint likeness in what they mean.")),
        Anchor(2.0, translatable("Much of what they mean is alike.")),
        Anchor(3.0, translatable("What they mean is closely connected.")),
        Anchor(4.0, translatable("They mean the same.")),
    ),
    sorts_first=True,
)
CLSS = RatingScale(
    "CLSS",
    0.0,
    4.0,
    0.25,
    (
        Anchor(0.0, translatable("About different things; nothing of the larger text is in the smaller.")),
        Anchor(1.0, translatable("About different things that belong to the same field.")),
        Anchor(2.0, translatable("Not the same, but they share some things that matter.")),
        Anchor(3.0, translatable("Nearly the same; some detail that matters differs or is missing.")),
        Anchor(4.0, translatable("All that matters of the larger text is in the smaller.")),
    ),
)
SCALES = {scale.name: scale for scale in (STSS, CLSS)}


MOST_GOLD = 10
TOLERANCE = 1.0


@dataclass(frozen=True)
class GoldRating:
    """A pair whose rating is known: shown before the rest, its rating never."""

    first: str
    second: str
    rating: float


@dataclass(frozen=True)
class Qualification:
    """How a person did on gold pairs: `n_within` of `n` ratings within the tolerance; passed where all are."""

    n_within: int
    n: int

    @property
    def passed(self) -> bool:
        """Whether every gold pair was rated near enough."""
        return self.n > 0 and self.n_within == self.n


@dataclass(frozen=True)
class Qualified:
    """How a voter did on the gold pairs; the `missing` ones, which the voter didn't rate, count as not near."""

    voter: str
    result: Qualification
    missing: int


def qualify(given: ArrayLike, gold: ArrayLike, *, tolerance: float = TOLERANCE) -> Qualification:
    """Check ratings of gold pairs, five as a rule, each to be within ±`tolerance` points; a missing one isn't.

    >>> qualify([0, 1, 2.5, 4, 3], [0, 1, 2, 3, 4]).passed
    True
    """
    one, other = np.asarray(given, dtype=np.float64), np.asarray(gold, dtype=np.float64)
    if one.shape != other.shape or one.ndim != 1:
        raise InputError(f"Each gold pair needs one rating: {one.size} ratings of {other.size} pairs.")
    if np.isnan(other).any():
        raise InputError("A gold pair has no rating to compare with.")
    return Qualification(int((np.round(np.abs(one - other), 9) <= tolerance).sum()), len(other))


def read_rated_pairs(text: str) -> tuple[GoldRating, ...]:
    """Gold pairs from lines such as "car, automobile: 4"; empty lines are passed over.

    Raises `PlanError` naming the first line that is no such pair.

    >>> read_rated_pairs("car, automobile: 4")
    (GoldRating(first='car', second='automobile', rating=4.0),)
    """
    pairs = []
    for number, line in enumerate(re.split("\r\n|\r|\n", text), start=1):
        if not line.strip():
            continue
        texts, _, rating = line.rpartition(":")
        try:
            first, second = (part.strip() for part in texts.split(","))
            pairs.append(GoldRating(first, second, float(rating)))
        except ValueError:
            raise PlanError(
                f"Line {number} of the gold pairs is “{line.strip()[:80]}”. Write two texts and their rating: "
                "car, automobile: 4."
            ) from None
    return tuple(pairs)


def check_gold(pairs: Sequence[GoldRating], tolerance: float, scale: RatingScale) -> None:
    """Raise `PlanError` for the first thing that makes no sense in the gold pairs of ratings on a scale."""
    if len(pairs) > MOST_GOLD:
        raise PlanError(f"{len(pairs)} gold pairs are more than {MOST_GOLD}.")
    for pair in pairs:
        named = f"The gold pair {pair.first} – {pair.second}"
        if not pair.first.strip() or not pair.second.strip():
            raise PlanError(f"{named} lacks a text.")
        if not scale.allows(pair.rating):
            raise PlanError(f"{named} has the rating {pair.rating:g}, which is no value of the scale.")
    if not 0 <= tolerance <= scale.high - scale.low:
        raise PlanError(f"{tolerance:g} points off that still pass don't fit the scale.")
