"""Whether the way of asking moved the ratings: the two factors of STSS, and the order of the two texts.

Factors are crossed: order of presentation (one by one, or sorted first) × anchors (with, without). The analysis of
variance takes each item's mean rating in each of the four conditions, blocked by item:

    mean(item, order, anchors) = µ + item + order + anchors + order·anchors + error

with F = MS(effect)/MS(error) on 1 and 3·(n − 1) degrees of freedom.

Reference: O'Shea, Bandar, Crockett, McLean (2013), Semantic similarity of short texts, sections 4 and 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from ...base.arrays import Floats
from ...errors import InputError, UndefinedMetricError
from ...questions.rating.statistics import item_ratings, pearson


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
        effects[name] = FactorEffect(name, 2 * half, f, float(stats.f.sf(f, 1, df)))
    groups = residuals.reshape(4, n)
    bartlett, levene = _equal_variances(groups)
    left_out = cells.shape[2] - n
    return Anova(effects["order"], effects["anchors"], effects["interaction"], df, n, left_out, bartlett, levene)


def _equal_variances(groups: Floats) -> tuple[float | None, float | None]:
    if (np.ptp(groups, axis=1) < 1e-12).any():
        return None, None
    return float(stats.bartlett(*groups).pvalue), float(stats.levene(*groups).pvalue)


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
    t = float(stats.ttest_ind(a, b, equal_var=False).pvalue)
    u = float(stats.mannwhitneyu(a, b, alternative="two-sided").pvalue)
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
    found = {name: item_ratings(table) for name, table in ratings.items()}
    if len({len(items.mean) for items in found.values()}) > 1:
        raise InputError("The conditions need the same items.")
    result = []
    for one, other in combinations(found, 2):
        a, b = found[one], found[other]
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
    return float(stats.ttest_ind(a, b, equal_var=False).pvalue), ""
