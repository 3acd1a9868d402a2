"""Estimates with their intervals or the reason for none: Wilson's interval of shares, and p-values of several tests.

Reference: Wilson (1927), Probable inference, the law of succession, and statistical inference, JASA 22.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError

LEVEL = 0.9
MIN_VOTERS = 5  # fewest to make intervals from


@dataclass(frozen=True)
class Estimate:
    """A value and the bounds of its interval, each None where there is none.

    `reason` says why the value, or else the interval, is undefined; empty where both are defined.
    """

    estimate: float | None
    lower: float | None = None
    upper: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Share(Estimate):
    """A share count / total in [0, 1], undefined where total is 0."""

    count: int = 0
    total: int = 0


def share(count: int, total: int, level: float = LEVEL) -> Share:
    """The share `count` of `total`, with Wilson's interval at `level`.

    The interval takes the cases as independent; where they come in groups (a voter's votes) it is too narrow.
    Raises `InputError` unless 0 ≤ count ≤ total and 0 < level < 1.

    >>> share(2, 50).estimate, round(share(2, 50).lower, 4), round(share(2, 50).upper, 4)
    (0.04, 0.0133, 0.1139)
    """
    if not 0 <= count <= total or not 0 < level < 1:
        raise InputError(f"A share needs 0 ≤ count ≤ total and a level in (0, 1), found {count}, {total}, {level}.")
    if not total:
        return Share(None, reason="There is nothing to take a share of.")
    lower, upper = wilson(count / total, total, level)
    return Share(count / total, 0.0 if count == 0 else lower, 1.0 if count == total else upper, "", count, total)


def wilson(p: float, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's interval of a mean p in [0, 1] of n ≥ 1 independent cases, each in [0, 1]; wide for ties at ½."""
    from scipy.special import ndtri  # here, not above: a light module

    z2 = float(ndtri((1 + level) / 2)) ** 2
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return max(centre - half, 0.0), min(centre + half, 1.0)


def widened_tails(n: int, level: float = LEVEL) -> tuple[float, float]:
    """The quantiles of a percentile interval over resamples of n ≥ 2 units: ½(1 ∓ level), further out for small n.

    The plain percentile interval of n units is too narrow by √((n−1)/n), and by the normal quantile for Student's.

    Reference: Hesterberg (2015), What teachers should know about the bootstrap, The American Statistician 69.
    """
    from scipy.special import ndtr, stdtrit

    tail = float(ndtr(-math.sqrt(n / (n - 1)) * stdtrit(n - 1, (1 + level) / 2)))
    return tail, 1.0 - tail


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """p-values adjusted for being several (Holm), so that those below a level are right together at that level.

    The smallest of n is taken times n, the next times n − 1, and so on; none falls below one before it, none exceeds 1.
    NaN stays NaN and counts for nothing.

    Reference: Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of
    Statistics 6.

    >>> holm([0.01, 0.04, 0.03]).round(4)
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p, dtype=np.float64)
    result = np.full(values.shape, np.nan)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    steps = values[order] * np.arange(len(order), 0, -1)
    result[order] = np.minimum(1.0, np.maximum.accumulate(steps)) if len(order) else steps
    return result
