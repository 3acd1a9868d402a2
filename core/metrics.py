"""Rank correlations that look at the top: ρ_w, τ_w, and their plain counterparts ρ, τ.

All of them take *scores*, higher = more related, and rank them first: rank 1 is the top, tied scores
share their average rank, and scores are compared as `rounded_scores` has them, so that float noise makes
no ranks at any scale. All are symmetric in x and y, lie in [−1, 1], and don't change when items are reordered.

Undefined is an error, never 0: a NaN, fewer than two items, or all scores equal raise
`UndefinedMetricError` with the reason.

Reference: Lombardo, Boiardi, Colombo, Schiavone, Tamagnone (2020), Top-Rank-Focused Adaptive Vote
Collection for the Evaluation of Domain-Specific Semantic Models, EMNLP, Eqs. 7–9.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from .errors import InputError, UndefinedMetricError
from .rank_kernels import clipped, dot, runs, tau_of_ranks
from .tables import Floats

DIGITS = 12

Rounding = Callable[[ArrayLike], Floats]  # how the scores of a column are compared


def weighted_spearman(x: ArrayLike, y: ArrayLike, *, n0: float = 2.0) -> float:
    """ρ_w: the correlation of two rankings, each item weighted by how near the top it stands.

    ρ_w = Σ w_i (a_i − ā)(b_i − b̄) / (σ_a σ_b), with a, b the average ranks of x, y, weights w of
    `weights`, and means and variances taken with those weights (Eq. 8).

    Parameters
    ----------
    x, y : scores of the same n ≥ 2 items, higher = more related.
    n0 : offset of the weights, above −1; smaller looks harder at the first ranks (`first_rank_share`).

    Returns a value in [−1, 1]: 1 if and only if the two rankings are the same, −1 if and only if one
    is the other reversed. Unrelated rankings are not 0 on average: an item at the top of only one of
    them weighs much, so the value tends below 0.

    Raises `UndefinedMetricError` (see the module) and `InputError` for shapes or n0 that don't fit.

    >>> round(weighted_spearman([4, 3, 2, 1], [3, 4, 2, 1]), 6)
    0.634656
    """
    a, b = two_rankings(x, y)
    return _correlation(a, b, weights(a, b, n0))


def weighted_kendall(x: ArrayLike, y: ArrayLike, *, n0: float = 2.0) -> float:
    """τ_w: concordant less discordant pairs of items, a pair weighing w_i·w_j.

    τ_w = Σ w_i w_j sgn(a_j − a_i) sgn(b_j − b_i) / √(Σ w_i w_j sgn²(a_j − a_i) · Σ w_i w_j sgn²(b_j − b_i)),
    the sums over all i, j: Eq. 8 with the general normaliser of Eq. 7, so that ties are treated as in
    Kendall's τ-b. Without ties the normaliser is 1 − Σ w_i².

    Parameters, range and errors are those of `weighted_spearman`. O(n log n) time, O(n) memory.

    >>> round(weighted_kendall([4, 3, 2, 1], [3, 4, 2, 1]), 6)
    0.261735
    """
    a, b = two_rankings(x, y)
    return tau_of_ranks(a, b, weights(a, b, n0))[0]


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's ρ: Pearson's correlation of average ranks. Errors as in `weighted_spearman`.

    >>> spearman([1, 2, 3], [1, 2, 3])
    1.0
    """
    a, b = two_rankings(x, y)
    return _correlation(a, b, np.full(len(a), 1.0 / len(a)))


def kendall(x: ArrayLike, y: ArrayLike) -> float:
    """Kendall's τ-b, exact up to the last division. Errors as in `weighted_spearman`.

    >>> round(kendall([1, 2, 3, 4], [1, 2, 4, 3]), 6)
    0.666667
    """
    a, b = two_rankings(x, y)
    return tau_of_ranks(a, b, np.ones(len(a)))[0]


def first_rank_share(n0: float) -> float:
    """R(n₀): the share of all weight that the first rank carries in an endless ranking.

    R(n₀) = f(1) / Σ_{n≥1} f(n) = 1 / ((n₀ + 1)² ψ′(n₀ + 1)), f(n) = 1/(n + n₀)².
    In (0, 1), falling with n₀. Raises `InputError` unless n0 is a number above −1.

    >>> round(first_rank_share(0), 2), round(first_rank_share(2), 2)
    (0.61, 0.28)
    """
    from scipy.special import zeta  # here, not above: `import core.metrics` stays light

    _check_offset(n0)
    # ψ′(q) is Hurwitz's ζ(2, q); q·ζ(2, q) stays near 1 where q² would overflow.
    q = n0 + 1.0
    return float(1.0 / q / (q * zeta(2.0, q)))


def average_ranks(values: ArrayLike, *, rounding: Rounding | None = None) -> Floats:
    """Ranks of scores: 1 is the highest, ties share their average rank.

    Values are compared as `rounding` has them, `rounded_scores` by default. Raises `UndefinedMetricError` on a NaN and
    `InputError` unless `values` is one-dimensional.

    >>> average_ranks([0.2, 0.9, 0.2, 0.1])
    array([2.5, 1. , 2.5, 4. ])
    """
    array = _vector(values, "values")
    if np.isnan(array).any():
        raise UndefinedMetricError(
            f"{int(np.isnan(array).sum())} of {len(array)} scores are missing (NaN), so there is no ranking; "
            "leave those items out and say how many are left."
        )
    rounded = (rounding or rounded_scores)(array)
    order = np.argsort(-rounded)
    starts, lengths = runs(rounded[order])
    ranks = np.empty(len(array))
    # A run of `length` ties from position `start` covers the ranks start + 1 … start + length.
    ranks[order] = np.repeat(starts + (lengths + 1) / 2.0, lengths)
    return ranks


def rounded_scores(values: ArrayLike, *, largest: float | None = None, axis: int | None = None) -> Floats:
    """Scores as they are compared, in units of the largest absolute value of their column and rounded to 12 decimals.

    So ties and order of a column are the same at any scale: 1e-13 and 2e-13 differ, 30000 and 30000.000000000004 don't.

    values : a column, any shape; with `axis` each line along it is a column of its own.
    largest : above 0, where the scale is known beforehand, as 1 for cosines: what is nothing but noise beside it is 0.

    NaN and infinite values stay as they are and are no scale.

    >>> rounded_scores([4e-14, 2e-14, 2.00000000000001e-14]).tolist()
    [1.0, 0.5, 0.5]
    """
    array = np.asarray(values, dtype=np.float64)
    if largest is not None:
        return np.asarray(np.round(array / largest, DIGITS))
    sizes = np.where(np.isfinite(array), np.abs(array), 0.0)
    scale = np.asarray(sizes.max(axis=axis, keepdims=True, initial=0.0))
    return np.asarray(np.round(array / np.where(scale > 0, scale, 1.0), DIGITS))


def absolutely_rounded_scores(values: ArrayLike) -> Floats:
    """Scores as versions before 0.3.0 compared them, float64 rounded to 12 decimals: for what they published.

    From 2^53 / 10^12 on a float64 has no twelfth decimal, and such values stay as they are.
    """
    array = np.asarray(values, dtype=np.float64)
    small = np.abs(array) < 2.0**53 / 10.0**DIGITS
    return np.where(small, np.round(np.where(small, array, 0.0), DIGITS), array)


def weights(a: ArrayLike, b: ArrayLike, n0: float = 2.0) -> Floats:
    """Weights of items from their two ranks: w_i ∝ f(a_i) + f(b_i), f(n) = 1/(n + n₀)², Σ w = 1 (Eq. 9).

    a, b : ranks from 1, shape (n,). Raises `InputError` unless n0 is a number above −1.

    >>> weights([1, 2], [2, 1], 0)
    array([0.5, 0.5])
    """
    raw = rank_weights(a, n0) + rank_weights(b, n0)
    return np.asarray(raw / raw.sum())


def rank_weights(ranks: ArrayLike, n0: float = 2.0) -> Floats:
    """f(n) / f(1) of ranks from 1, of any shape, f(n) = 1/(n + n₀)²: relative to f(1), so that no n₀ makes them
    underflow. Raises `InputError` unless n0 is a number above −1.

    >>> rank_weights([1, 3], 1)
    array([1.  , 0.25])
    """
    _check_offset(n0)
    return np.asarray(((1.0 + n0) / (np.asarray(ranks, dtype=np.float64) + n0)) ** 2)


def _check_offset(n0: float) -> None:
    if not (math.isfinite(n0) and n0 > -1):
        raise InputError(f"The offset n0 must be a number above -1, found {n0!r}; the paper advises 2.")


def _vector(values: ArrayLike, name: str) -> Floats:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers ({error}).") from None
    if array.ndim != 1:
        raise InputError(f"{name} must be one row of numbers, found an array of shape {array.shape}.")
    return array


def two_rankings(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """The average ranks of two lists of scores, for which a correlation is defined; raises as `weighted_spearman`."""
    first, second = _vector(x, "x"), _vector(y, "y")
    if len(first) != len(second):
        raise InputError(f"x and y must score the same items, found {len(first)} and {len(second)} scores.")
    if len(first) < 2:
        raise UndefinedMetricError(f"A rank correlation needs at least two items, found {len(first)}.")
    ranks = average_ranks(first), average_ranks(second)
    for name, rank in zip("xy", ranks, strict=True):
        if (rank == rank[0]).all():
            raise UndefinedMetricError(
                f"All {len(rank)} scores of {name} are equal, so they rank nothing and no correlation is defined."
            )
    return ranks


def _correlation(a: Floats, b: Floats, w: Floats) -> float:
    da, db = a - dot(w, a), b - dot(w, b)
    return clipped(dot(w * da, db) / math.sqrt(dot(w * da, da)) / math.sqrt(dot(w * db, db)))


def correlation_of_ranks(a: Floats, b: Floats, w: Floats) -> float:
    """Pearson's correlation of two lists of ranks (n,), neither constant, with weights w (n,) of sum 1."""
    return _correlation(a, b, w)
