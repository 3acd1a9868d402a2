"""How far voters agree where they answered the same comparisons: Krippendorff's α.

    α = 1 − D_o / D_e
    D_o = Σ_u Σ_c,k n_uc n_uk d²(c, k) / (n_u − 1)       D_e = Σ_c,k n_c n_k d²(c, k) / (n − 1)

n_uc counts answer c to unit u, over units with at least two answers. The interval is that of resampled **units**: the
answers to one unit hang together. Krippendorff's own bootstrap draws single disagreements as if all units had equally
many answers; where a few have many more than the others, its interval need not even hold the estimate.

References: K. Krippendorff, Content Analysis: An Introduction to Its Methodology (2018), chapter 12; Davison, Hinkley
(1997), Bootstrap Methods and their Application, section 3.8 (whole groups are drawn).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..base.estimates import Share, widened_tails
from ..base.numbers_in_words import percent, with_decimals
from ..errors import InputError, UndefinedMetricError
from ..tables import Floats

Distance = Literal["nominal", "interval"]
RESAMPLES = 1000
LEVEL = 0.9
CELLS = 4_000_000  # resamples × units worked on at once


@dataclass(frozen=True)
class KrippendorffAlpha:
    """Krippendorff's α with what it rests on.

    `alpha` is 1 for full agreement, 0 for what chance would give, below 0 for less. lower and upper bound its `level`
    interval (units resampled), NaN where there is one unit. It is taken over `n_units` units with at least two answers,
    of `n_answered` with any; `n_answers` answers of `n_voters` voters are in it.
    """

    alpha: float
    lower: float
    upper: float
    level: float
    n_units: int
    n_answered: int
    n_answers: int
    n_voters: int

    def interval(self, digits: int = 2) -> str:
        """The interval in words, or why there is none."""
        if np.isnan(self.lower):
            return "no interval: it takes two units with several answers"
        lower, upper = (with_decimals(bound, digits) for bound in (self.lower, self.upper))
        return f"{percent(self.level)} interval {lower} to {upper}"


def agreement(
    ratings: pd.DataFrame,
    *,
    distance: Distance = "nominal",
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> KrippendorffAlpha:
    """Krippendorff's α = 1 − (observed disagreement) / (disagreement expected by chance).

    Parameters
    ----------
    ratings : one row per voter, one column per unit, numbers; NaN where a voter didn't answer.
    distance : how far two answers are apart; "nominal": equal or not, "interval": their squared difference.
    level, resamples, seed : of the interval; the same seed gives the same interval. Tails are widened for few units.

    Raises `UndefinedMetricError` where no unit has two answers, or where all answers to be compared are equal: then
    chance can't disagree either, and no figure tells agreement from habit. `InputError` for a table without numbers.

    >>> ratings = pd.DataFrame({1: [1, 1, np.nan], 2: [1, 1, 1], 3: [2, np.nan, 2]}, index=["W1", "W2", "W3"])
    >>> agreement(ratings).alpha
    1.0
    """
    if not all(pd.api.types.is_numeric_dtype(kind) for kind in ratings.dtypes):
        raise InputError("Answers must be numbers, one column per unit, with nothing where a voter didn't answer.")
    answered = ratings.loc[:, ratings.notna().any()]
    shared = answered.loc[:, answered.notna().sum() > 1].dropna(how="all")
    if shared.empty:
        raise UndefinedMetricError(
            f"Not enough overlap: α compares answers to the same comparison, and of {answered.shape[1]:,} answered "
            "comparisons none has answers of two voters."
        )
    values = shared.to_numpy(dtype=np.float64)
    is_given = ~np.isnan(values)
    kinds, code = np.unique(values[is_given], return_inverse=True)
    if len(kinds) == 1:
        raise UndefinedMetricError(
            f"All {int(is_given.sum()):,} answers that could be compared are equal, so α is not defined: "
            "agreement can't be told from habit."
        )
    counts = np.zeros((values.shape[1], len(kinds)))
    np.add.at(counts, (np.nonzero(is_given)[1], code), 1)
    gap = kinds[:, None] - kinds
    apart = gap**2 if distance == "interval" else (gap != 0).astype(np.float64)
    lower, upper = _interval(counts, apart, level, resamples, seed)
    return KrippendorffAlpha(
        alpha=float(_alphas(np.ones((1, len(counts))), counts, apart)[0]),
        lower=lower,
        upper=upper,
        level=level,
        n_units=values.shape[1],
        n_answered=answered.shape[1],
        n_answers=int(is_given.sum()),
        n_voters=values.shape[0],
    )


def _alphas(times: Floats, counts: Floats, apart: Floats) -> Floats:
    """α where units, rows of `counts`, come as often as each row of `times` says; NaN where all answers are equal."""
    within = np.einsum("uc,ck,uk->u", counts, apart, counts) / (counts.sum(axis=1) - 1)
    totals = times @ counts
    n = totals.sum(axis=1)
    chance = np.einsum("rc,ck,rk->r", totals, apart, totals) / (n - 1)
    alphas = np.full(len(times), np.nan)
    np.divide(times @ within, chance, out=alphas, where=chance > 0)
    return np.asarray(1 - alphas)


def _interval(counts: Floats, apart: Floats, level: float, resamples: int, seed: int) -> tuple[float, float]:
    """Bounds of α over resampled units; units with the same answers are drawn together, as so many of a kind."""
    if len(counts) < 2:
        return float("nan"), float("nan")
    kinds, n = np.unique(counts, axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    step = max(1, CELLS // len(kinds))
    parts = [
        _alphas(rng.multinomial(len(counts), n / len(counts), min(step, resamples - start)).astype(float), kinds, apart)
        for start in range(0, resamples, step)
    ]
    drawn = np.concatenate(parts)
    lower, upper = np.quantile(drawn[~np.isnan(drawn)], widened_tails(len(counts), level)).tolist()
    return lower, upper


def raw_agreement(unit: ArrayLike, answer: ArrayLike) -> Share:
    """The share of equal answers among all pairs of answers to the same unit, with an interval.

    Chance isn't taken out, as α does. The interval is the percentile one of resampled units, since pairs of one unit
    hang together, its tails widened for few units; there is none for a single unit, or where all pairs are alike.

    Parameters: `unit` and `answer`, shape (n,): what was answered and how, one answer a voter and unit.

    >>> found = raw_agreement([1, 1, 1, 2, 2], [1, 1, 0, 1, 1])
    >>> found.count, found.total
    (2, 4)
    """
    units, code = np.unique(np.asarray(unit), return_inverse=True)
    _, kind = np.unique(np.asarray(answer), return_inverse=True)
    table = np.zeros((len(units), int(kind.max(initial=-1)) + 1), dtype=np.int64)
    np.add.at(table, (code, kind), 1)
    equal, n = (table * (table - 1) // 2).sum(axis=1), table.sum(axis=1)
    pairs = n * (n - 1) // 2
    equal, pairs = equal[pairs > 0], pairs[pairs > 0]
    if not len(pairs):
        return Share(None, reason="No comparison has answers of two voters.")
    count, total = int(equal.sum()), int(pairs.sum())
    if len(pairs) < 2 or count in (0, total):
        why = "No interval: all pairs of answers are alike, so none varies."
        if len(pairs) < 2:
            why = "No interval: one comparison has no interval."
        return Share(count / total, reason=why, count=count, total=total)
    rng = np.random.default_rng(0)
    step = max(1, CELLS // len(pairs))  # resamples at once: the same numbers, and no gigabytes where overlap is large
    shares = np.empty(RESAMPLES)
    for start in range(0, RESAMPLES, step):
        drawn = rng.integers(0, len(pairs), (min(step, RESAMPLES - start), len(pairs)))
        shares[start : start + step] = equal[drawn].sum(axis=1) / pairs[drawn].sum(axis=1)
    lower, upper = np.quantile(shares, widened_tails(len(pairs), LEVEL))
    return Share(count / total, float(lower), float(upper), "", count, total)
