"""People's ratings of items, and the comparisons those people would have answered by them.

Rows are people, columns items, NaN where a person did not rate an item; higher = more related. A comparison is
answered by one person where somebody rated both items: by the two ratings, equal ratings are a tie. Where nobody did,
it takes two people, one who rated the first item and one who rated the second, and their ratings are compared. Such a
vote holds also how differently the two use the scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import InputError
from core.questions.rating.statistics import checked_ratings
from core.tables import Floats, Ints

CELLS = 8_000_000  # people × comparisons looked at at once


@dataclass(frozen=True, eq=False)
class RatingPanel:
    """Voters made of ratings.

    ratings : shape (n_people, n_items), NaN where there is none; every item needs one.
    Raises `InputError` for another shape, infinite ratings, fewer than two items, or an item without a rating.
    """

    ratings: Floats

    def __post_init__(self) -> None:
        table = checked_ratings(self.ratings)
        object.__setattr__(self, "ratings", table)
        bare = np.flatnonzero(np.isnan(table).all(axis=0))
        if len(bare):
            raise InputError(f"{len(bare)} items have no rating, the first is item {bare[0]}; leave them out.")

    @property
    def n_people(self) -> int:
        """Number of people; votes of two people carry this number as their voter."""
        return len(self.ratings)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.ratings.shape[1]

    def mean(self) -> Floats:
        """Mean rating of each item, shape (n_items,)."""
        return mean_ratings(self.ratings)

    def raters(self, first: ArrayLike, second: ArrayLike, *, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Who answers each comparison for its first and for its second item: one person twice, or two.

        Where people rated both items one of them is drawn, each with equal chance. Else one is drawn from those
        who rated the first item and one from those who rated the second.
        """
        a, b = self._positions(first, "first"), self._positions(second, "second")
        luck = rng.random((3, len(a)))
        rated = ~np.isnan(self.ratings)
        one, other = _drawn(rated, a, luck[1]), _drawn(rated, b, luck[2])
        size = max(1, CELLS // self.n_people)
        for start in range(0, len(a), size):
            part = slice(start, start + size)
            both = rated[:, a[part]] & rated[:, b[part]]
            count = both.sum(axis=0)
            chosen = np.floor(luck[0, part] * count) + 1
            person = (np.cumsum(both, axis=0) == chosen).argmax(axis=0)
            one[part] = np.where(count > 0, person, one[part])
            other[part] = np.where(count > 0, person, other[part])
        return one, other

    def answer(self, first: ArrayLike, second: ArrayLike, *, rng: np.random.Generator) -> tuple[Floats, Ints]:
        """Votes on comparisons, and whose they are; each of shape (n,).

        Outcomes are 1 where the first item is rated higher, 0 the second, 0.5 equally. The voter is the person's row,
        or `n_people` for a vote of two. Raises `InputError` for positions that don't exist.

        >>> panel = RatingPanel(np.array([[5.0, 2.0, np.nan], [np.nan, np.nan, 5.0]]))
        >>> panel.answer([0, 0], [1, 2], rng=np.random.default_rng(1))
        (array([1. , 0.5]), array([0, 2]))
        """
        one, other = self.raters(first, second, rng=rng)
        rated, against = self.ratings[one, np.asarray(first)], self.ratings[other, np.asarray(second)]
        return 0.5 + 0.5 * np.sign(rated - against), np.where(one == other, one, self.n_people)

    def _positions(self, values: ArrayLike, name: str) -> Ints:
        array = np.asarray(values, dtype=np.int64)
        if array.ndim != 1 or ((array < 0) | (array >= self.n_items)).any():
            raise InputError(f"{name} must be item positions from 0 to {self.n_items - 1}.")
        return array


def _drawn(rated: NDArray[np.bool_], item: Ints, luck: Floats) -> Ints:
    """A person who rated each item, each of them with equal chance."""
    items, people = np.nonzero(rated.T)
    count = np.bincount(items, minlength=rated.shape[1])
    start = np.cumsum(count) - count
    return np.asarray(people[start[item] + np.floor(luck * count[item]).astype(np.int64)])


@dataclass(frozen=True, eq=False)
class Halves:
    """Two halves of the people, and the items that both have rated: voters' and others' ratings of those items."""

    items: Ints
    voters: RatingPanel
    others: RatingPanel


def halve(ratings: ArrayLike, *, rng: np.random.Generator) -> Halves:
    """Split the people at random into two halves, equal within one; the second is the larger.

    Raises `InputError` where that leaves fewer than two items that both halves rated, or for ratings that don't fit.
    """
    table = checked_ratings(ratings)
    order = rng.permutation(len(table))
    one, other = table[order[: len(table) // 2]], table[order[len(table) // 2 :]]
    common = np.flatnonzero((~np.isnan(one)).any(axis=0) & (~np.isnan(other)).any(axis=0))
    if len(common) < 2:
        raise InputError(f"Two halves of {len(table)} people have {len(common)} rated items in common; two are needed.")
    return Halves(common, RatingPanel(one[:, common]), RatingPanel(other[:, common]))


def mean_ratings(ratings: Floats) -> Floats:
    """Mean rating of each item over the people who rated it, NaN where nobody did."""
    there = ~np.isnan(ratings)
    count = there.sum(axis=0)
    total = np.where(there, ratings, 0.0).sum(axis=0)
    return np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
