"""A report on a set of ratings: items, agreement, adjudication, and whether the way of asking moved the ratings.

The way of asking is the order of the two texts of a pair, and the two factors of STSS, which are crossed: order of
presentation (one by one, or sorted first) × anchors (with, without). The analysis of variance takes each item's mean
rating in each of the four conditions, blocked by item:

    mean(item, order, anchors) = µ + item + order + anchors + order·anchors + error

with F = MS(effect)/MS(error) on 1 and 3·(n − 1) degrees of freedom.

Reference: O'Shea, Bandar, Crockett, McLean (2013), Semantic similarity of short texts, sections 4 and 5.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy  # its parts are loaded where they are first asked for: most processes never do
from numpy.typing import ArrayLike, NDArray

from ..base.estimates import Estimate
from ..errors import InputError, RunoffError, UndefinedMetricError
from ..questions.rating.scales import RatingSet
from ..questions.rating.statistics import (
    LeaveOneOut,
    ModelPlace,
    Pairwise,
    adjudicate,
    alpha,
    alpha_by_group,
    item_ratings,
    leave_one_out,
    pairwise,
    pearson,
    rank_models,
)
from ..tables import Floats
from ..trust.agreement import KrippendorffAlpha
from .baselines import BASELINES, baseline


@dataclass(frozen=True)
class FactorEffect:
    """An effect of the analysis: half of it is added at the second level, taken at the first."""

    name: str
    difference: float  # mean at the second level minus mean at the first; of the interaction, of the differences
    f: float
    p: float


@dataclass(frozen=True)
class Anova:
    """The three effects over `n_items` items that all four conditions have; `n_left_out` lack one.

    bartlett_p, levene_p : p of equal variances of the residuals in the four conditions; below .05 the analysis is on
    weak ground. None where a condition's residuals are all equal.
    """

    order: FactorEffect
    anchors: FactorEffect
    interaction: FactorEffect
    df_error: int
    n_items: int
    n_left_out: int
    bartlett_p: float | None
    levene_p: float | None


def blocked_anova(means: ArrayLike) -> Anova:
    """The analysis of variance of the module.

    means : shape (2, 2, n_items): order (first level 0) × anchors × item, NaN where an item has no rating in a
    condition; such items are left out. Raises `UndefinedMetricError` for fewer than two items that are left, or
    without any error to compare with, `InputError` for another shape.
    """
    cells = np.asarray(means, dtype=np.float64)
    if cells.ndim != 3 or cells.shape[:2] != (2, 2):
        raise InputError(f"Means are order × anchors × items, shape (2, 2, n), found {cells.shape}.")
    whole = ~np.isnan(cells).any(axis=(0, 1))
    y = cells[:, :, whole]
    n = y.shape[2]
    if n < 2:
        raise UndefinedMetricError(f"{n} items were rated in all four conditions, and two are needed.")
    centred = y - y.mean(axis=(0, 1))
    codes = np.array([-1.0, 1.0])
    designs = {
        "order": codes[:, None] * np.ones(2),
        "anchors": np.ones(2)[:, None] * codes,
        "interaction": codes[:, None] * codes,
    }
    halves = {name: float((design[:, :, None] * centred).sum() / (4 * n)) for name, design in designs.items()}
    fitted = sum(halves[name] * design for name, design in designs.items())
    residuals = centred - np.asarray(fitted)[:, :, None]
    df = 3 * (n - 1)
    error = float((residuals**2).sum() / df)
    if error <= 1e-24 * max(1.0, float((y**2).mean())):
        raise UndefinedMetricError("The four conditions differ by the same for every item: there is no error term.")
    effects = {}
    for name, half in halves.items():
        f = 4 * n * half**2 / error
        effects[name] = FactorEffect(name, 2 * half, f, float(scipy.stats.f.sf(f, 1, df)))
    groups = residuals.reshape(4, n)
    bartlett, levene = _equal_variances(groups)
    left_out = cells.shape[2] - n
    return Anova(effects["order"], effects["anchors"], effects["interaction"], df, n, left_out, bartlett, levene)


def _equal_variances(groups: Floats) -> tuple[float | None, float | None]:
    if (np.ptp(groups, axis=1) < 1e-12).any():
        return None, None
    return float(scipy.stats.bartlett(*groups).pvalue), float(scipy.stats.levene(*groups).pvalue)


@dataclass(frozen=True)
class OrderTest:
    """Whether an item was rated otherwise with its two texts exchanged: p of Welch's t-test and of Mann–Whitney.

    Both None with the reason where they can't be taken.
    """

    n_one: int
    n_other: int
    difference: float | None
    t_p: float | None
    mann_whitney_p: float | None
    reason: str = ""


def pair_order(one: ArrayLike, other: ArrayLike) -> OrderTest:
    """Compare an item's ratings with its texts in one order and in the other.

    Undefined where either has fewer than two ratings, or is constant, as in the paper.
    """
    a, b = (values[~np.isnan(values)] for values in (np.asarray(one, float), np.asarray(other, float)))
    if min(len(a), len(b)) < 2:
        return OrderTest(len(a), len(b), None, None, None, "an order has fewer than two ratings")
    gap = float(a.mean() - b.mean())
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return OrderTest(len(a), len(b), gap, None, None, "all ratings of an order are equal")
    t = float(scipy.stats.ttest_ind(a, b, equal_var=False).pvalue)
    u = float(scipy.stats.mannwhitneyu(a, b, alternative="two-sided").pvalue)
    return OrderTest(len(a), len(b), gap, t, u)


@dataclass(frozen=True)
class ConditionComparison:
    """Two conditions: correlation of their items' means, difference in noise with p of Welch's t-test over items.

    A figure is None where it is undefined; `reason` says why.
    """

    one: str
    other: str
    r: float | None
    noise_one: float | None
    noise_other: float | None
    noise_p: float | None
    n_items: int
    reason: str = ""


def compare_conditions(ratings: Mapping[str, ArrayLike]) -> list[ConditionComparison]:
    """Every two conditions, by name, of tables people × items with the same items in the same order."""
    by_name = {name: item_ratings(table) for name, table in ratings.items()}
    if len({len(items.mean) for items in by_name.values()}) > 1:
        raise InputError("The conditions need the same items.")
    result = []
    for one, other in combinations(by_name, 2):
        a, b = by_name[one], by_name[other]
        both = ~np.isnan(a.mean) & ~np.isnan(b.mean)
        r, why = pearson(a.mean[both], b.mean[both])
        p, why_not = _noise_test(a.sd, b.sd)
        of_r, of_noise = f"r: {why}", f"noise: {why_not}"
        both_said = f"{of_r}; {of_noise}"
        reason = both_said if why and why_not else of_r if why else of_noise if why_not else ""
        noise = (a.noise.estimate, b.noise.estimate)
        result.append(ConditionComparison(one, other, r, *noise, p, int(both.sum()), reason))
    return result


def _noise_test(one: Floats, other: Floats) -> tuple[float | None, str]:
    a, b = one[~np.isnan(one)], other[~np.isnan(other)]
    if min(len(a), len(b)) < 2:
        return None, "fewer than two items have two ratings"
    if np.ptp(a) == 0 and np.ptp(b) == 0:
        return None, "the SDs are the same for all items"
    return float(scipy.stats.ttest_ind(a, b, equal_var=False).pvalue), ""


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
        mean_sd = Estimate(float(noise.mean())) if len(noise) else Estimate(None, reason="the file has no SDs")
        alone = Pairwise(None, 0, 0, ONLY_MEANS)
        nobody = np.zeros(ratings.n_items, dtype=np.int64)
        return RatingReport(
            ratings, ratings.mean, ratings.sd, nobody, mean_sd,
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
