"""Gold pairs of ratings: pairs whose rating is known, by which people qualify: five as a rule, each within ±1.

Reference: Jurgens, Pilehvar, Navigli (2016), Cross Level Semantic Similarity, section 4.2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InputError, PlanError
from .scales import RatingScale

MOST_GOLD = 10
TOLERANCE = 1.0


@dataclass(frozen=True)
class GoldPair:
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


def read_rated_pairs(text: str) -> tuple[GoldPair, ...]:
    """Gold pairs from lines such as "car, automobile: 4"; empty lines are passed over.

    Raises `PlanError` naming the first line that is no such pair.

    >>> read_rated_pairs("car, automobile: 4")
    (GoldPair(first='car', second='automobile', rating=4.0),)
    """
    pairs = []
    for number, line in enumerate(re.split("\r\n|\r|\n", text), start=1):
        if not line.strip():
            continue
        texts, _, rating = line.rpartition(":")
        try:
            first, second = (part.strip() for part in texts.split(","))
            pairs.append(GoldPair(first, second, float(rating)))
        except ValueError:
            raise PlanError(
                f"Line {number} of the gold pairs is “{line.strip()[:80]}”. Write two texts and their rating: "
                "car, automobile: 4."
            ) from None
    return tuple(pairs)


def check_gold(pairs: Sequence[GoldPair], tolerance: float, scale: RatingScale) -> None:
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
