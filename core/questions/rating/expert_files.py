"""Ratings held against gold: who passes a qualification, and how far a crowd lies from experts, by genre.

Both sides are rating sets (`rating_files`); items are matched by their two texts, in either order, and by their level.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from .gold_pairs import Qualified, qualify
from .sets import RatingSet
from .statistics import Deviation, deviation_by_group, item_ratings

Floats = NDArray[np.float64]


def gold_of(ratings: RatingSet, gold: RatingSet) -> Floats:
    """The gold rating of each item of `ratings` (its mean over experts), NaN where it is no gold item."""
    means = item_ratings(gold.table).mean if gold.has_people else gold.mean
    known = {
        _key(first, second, level): value
        for first, second, level, value in zip(gold.first, gold.second, gold.level, means.tolist(), strict=True)
    }
    keys = [_key(*texts) for texts in zip(ratings.first, ratings.second, ratings.level, strict=True)]
    return np.array([known.get(key, known.get((key[0], ""), np.nan)) for key in keys])


def _key(first: str, second: str, level: str) -> tuple[tuple[str, str], str]:
    low, high = sorted((first, second))
    return (low, high), level


def qualify_people(ratings: RatingSet, gold: RatingSet, *, tolerance: float = 1.0) -> list[Qualified]:
    """Who rated all gold pairs within ±`tolerance`, in the order of the file; a pair that somebody left out isn't.

    Raises `InputError` where the ratings name nobody, the tolerance isn't above 0, or no gold pair was rated.
    """
    if not ratings.has_people:
        raise InputError(f"{ratings.name} doesn't say who rated what, so nobody can be qualified.")
    if not tolerance > 0:
        raise InputError(f"The tolerance must be above 0, found {tolerance:g}.")
    wanted = gold_of(ratings, gold)
    at = np.flatnonzero(~np.isnan(wanted))
    if not len(at):
        raise InputError(f"No item of {gold.name} was rated in {ratings.name}: the texts must be the same.")
    table = ratings.table[:, at]
    return [
        Qualified(voter, qualify(row, wanted[at], tolerance=tolerance), int(np.isnan(row).sum()))
        for voter, row in zip(ratings.people, table, strict=True)
    ]


def crowd_minus_experts(crowd: RatingSet, experts: RatingSet) -> Mapping[str, Deviation | None]:
    """Mean crowd rating minus expert rating, by genre (“all” where the crowd's file has none), and over all items.

    Raises `InputError` where the two have no item in common.
    """
    gold = gold_of(crowd, experts)
    if np.isnan(gold).all():
        raise InputError(f"{crowd.name} and {experts.name} have no item in common: the texts must be the same.")
    means = item_ratings(crowd.table).mean if crowd.has_people else crowd.mean
    whole = deviation_by_group(means, gold, ["all"] * crowd.n_items)
    if not any(crowd.genre):
        return whole
    by_genre = deviation_by_group(means, gold, [name or "(none)" for name in crowd.genre])
    return {**whole, **by_genre}
