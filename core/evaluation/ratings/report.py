"""All that a rating set says of itself: items, agreement, adjudication, conditions, order in the pair."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...base.estimates import Estimate
from ...errors import RunoffError, UndefinedMetricError
from ...questions.rating.scales import RatingSet
from ...questions.rating.statistics import (
    LeaveOneOut,
    ModelPlace,
    Pairwise,
    adjudicate,
    alpha,
    alpha_by_group,
    item_ratings,
    leave_one_out,
    pairwise,
    rank_models,
)
from ...trust.agreement import KrippendorffAlpha
from .conditions import Anova, ConditionComparison, OrderTest, blocked_anova, compare_conditions, pair_order
from .text_overlap import BASELINES, baseline

ONLY_MEANS = "The file has means only: who rated what isn't in it."

FOUR_NEEDED = (
    "An analysis of variance needs four conditions that cross two factors, named like “single, none”, "
    "“single, anchors”, “sorted, none” and “sorted, anchors”."
)


@dataclass(frozen=True, eq=False)
class RatingReport:
    """A figure that can't be told is None, or a text that says why.

    mean, sd, n : of each item (n is 0 where the file has means only); waiting : positions of the items to adjudicate;
    gap : largest difference of people's means from the file's own, None where it has none.
    anova : with `factors`, the two levels of order and of anchors as the conditions name them.
    order_tests : by item position, of those rated in both orders.
    """

    ratings: RatingSet
    mean: Floats
    sd: Floats
    n: NDArray[np.int64]
    noise: Estimate
    leave_one_out: LeaveOneOut | str
    pairwise: Pairwise
    alpha: KrippendorffAlpha | str
    waiting: tuple[int, ...]
    by_genre: Mapping[str, KrippendorffAlpha | str]
    by_level: Mapping[str, KrippendorffAlpha | str]
    conditions: tuple[ConditionComparison, ...]
    anova: Anova | str
    factors: tuple[tuple[str, str], tuple[str, str]] | None
    order_tests: Mapping[int, OrderTest]
    gap: float | None


def report(ratings: RatingSet) -> RatingReport:
    """Work a rating set out. Nothing raises: what is undefined says so."""
    if not ratings.has_people:
        noise = ratings.sd[~np.isnan(ratings.sd)]
        found = Estimate(float(noise.mean())) if len(noise) else Estimate(None, reason="the file has no SDs")
        alone = Pairwise(None, 0, 0, ONLY_MEANS)
        nobody = np.zeros(ratings.n_items, dtype=np.int64)
        return RatingReport(
            ratings, ratings.mean, ratings.sd, nobody, found,
            ONLY_MEANS, alone, ONLY_MEANS, (), {}, {}, (), "", None, {},
            None,
        )  # fmt: skip
    table = ratings.table
    items = item_ratings(table)
    anova, factors = _anova(ratings)
    gap = np.abs(items.mean - ratings.mean)
    return RatingReport(
        ratings,
        items.mean,
        items.sd,
        items.n,
        items.noise,
        leave_one_out(table),
        pairwise(table),
        _alpha(table),
        tuple(adjudicate(table).waiting.tolist()),
        _grouped(table, ratings.genre),
        _grouped(table, ratings.level),
        _compared(ratings),
        anova,
        factors,
        {position: pair_order(*pair) for position, pair in ratings.ordered().items()},
        None if np.isnan(gap).all() else float(np.nanmax(gap)),
    )


def _alpha(table: Floats) -> KrippendorffAlpha | str:
    try:
        return alpha(table)
    except UndefinedMetricError as error:
        return str(error)


def _grouped(table: Floats, names: Sequence[str]) -> Mapping[str, KrippendorffAlpha | str]:
    return alpha_by_group(table, names) if any(names) else {}


def _compared(ratings: RatingSet) -> tuple[ConditionComparison, ...]:
    names = ratings.conditions
    return tuple(compare_conditions({name: ratings.under(name) for name in names})) if len(names) > 1 else ()


def factors_of(conditions: Sequence[str]) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """The two levels of each of two factors that four conditions cross, None where they don't.

    A name has two parts with one of , + / ; | between: "sorted+anchors"; or all names are of two letters, as the
    paper's QO, QW, CO, CW.

    >>> factors_of(["single, none", "single, anchors", "sorted, none", "sorted, anchors"])
    (('single', 'sorted'), ('none', 'anchors'))
    """
    parts = [_parts(name, conditions) for name in conditions]
    if len(parts) != 4 or any(len(pair) != 2 or not all(pair) for pair in parts):
        return None
    first, second = (tuple(dict.fromkeys(pair[at] for pair in parts)) for at in (0, 1))
    if len(first) != 2 or len(second) != 2 or len({tuple(pair) for pair in parts}) != 4:
        return None
    return (first[0], first[1]), (second[0], second[1])


def _parts(name: str, conditions: Sequence[str]) -> tuple[str, ...]:
    if all(len(other) == 2 for other in conditions):
        return tuple(name)
    return tuple(part.strip() for part in re.split(r"[,+/;|]", name))


def _anova(ratings: RatingSet) -> tuple[Anova | str, tuple[tuple[str, str], tuple[str, str]] | None]:
    names = ratings.conditions
    if len(names) < 2:
        return "", None
    factors = factors_of(names)
    if factors is None:
        return FOUR_NEEDED, None
    by_parts = {_parts(name, names): name for name in names}
    means = [[item_ratings(ratings.under(by_parts[one, other])).mean for other in factors[1]] for one in factors[0]]
    try:
        return blocked_anova(means), factors
    except RunoffError as error:
        return str(error), factors


def stand(
    ratings: RatingSet, gold: Floats, models: Mapping[str, Floats], *, held_out: Sequence[str] = ()
) -> list[ModelPlace]:
    """Models and the two string baselines against the means, by level and genre, the best first.

    models : similarities (n_items,), NaN where a model has none. Without levels or genres all items are of one, "all".
    held_out : genres that models couldn't prepare for, which get a figure of their own.
    A baseline whose name a model has already is called "… (baseline)": neither takes the other's place.
    """
    floor = {
        f"{name} (baseline)" if name in models else name: baseline(name, ratings.first, ratings.second)
        for name in BASELINES
    }
    level, genre = ([name or "all" for name in names] for names in (ratings.level, ratings.genre))
    return rank_models({**models, **floor}, gold, level, genre, held_out=held_out)
