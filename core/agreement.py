"""How far voters agree where they answered the same comparisons: Krippendorff's α.

Reference: K. Krippendorff, Content Analysis: An Introduction to Its Methodology (2018), chapter 12. The computation is
evalica's; what it leaves undefined, or answers with a number nobody should read, is refused here with a reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import evalica
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .errors import InputError, UndefinedMetricError
from .estimates import Share, widened_tails

Distance = Literal["nominal", "ordinal", "interval", "ratio"]
RESAMPLES = 1000
LEVEL = 0.9


@dataclass(frozen=True)
class Agreement:
    """Krippendorff's α with what it rests on.

    `alpha` is 1 for full agreement, 0 for what chance would give, below 0 for less. lower and upper bound its
    `level` interval (Krippendorff's bootstrap). It is taken over `n_units` units with at least two answers, of
    `n_answered` with any; `n_answers` answers of `n_voters` voters are in it.
    """

    alpha: float
    lower: float
    upper: float
    level: float
    n_units: int
    n_answered: int
    n_answers: int
    n_voters: int


def agreement(
    ratings: pd.DataFrame,
    *,
    distance: Distance = "nominal",
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Agreement:
    """Krippendorff's α = 1 − (observed disagreement) / (disagreement expected by chance).

    Parameters
    ----------
    ratings : one row a voter, one column a unit, numbers; NaN where a voter didn't answer.
    distance : how far two answers are apart; "nominal": equal or not, "interval": their squared difference.
    level, resamples, seed : of the interval; the same seed gives the same interval.

    Raises `UndefinedMetricError` where no unit has two answers, or where all answers to be compared are equal: then
    chance can't disagree either, and no figure tells agreement from habit. `InputError` for a table without numbers.

    >>> ratings = pd.DataFrame({1: [1, 1, np.nan], 2: [1, 1, 1], 3: [2, np.nan, 2]}, index=["W1", "W2", "W3"])
    >>> agreement(ratings).alpha
    1.0
    """
    if not all(pd.api.types.is_numeric_dtype(kind) for kind in ratings.dtypes):
        raise InputError("Answers must be numbers, one column a unit, with nothing where a voter didn't answer.")
    answered = ratings.loc[:, ratings.notna().any()]
    shared = answered.loc[:, answered.notna().sum() > 1].dropna(how="all")
    if shared.empty:
        raise UndefinedMetricError(
            f"Not enough overlap: α compares answers to the same comparison, and of {answered.shape[1]:,} answered "
            "comparisons none has answers of two voters."
        )
    values = shared.to_numpy(dtype=np.float64)
    if len(np.unique(values[~np.isnan(values)])) == 1:
        raise UndefinedMetricError(
            f"All {int((~np.isnan(values)).sum()):,} answers that could be compared are equal, so α is not defined: "
            "agreement can't be told from habit."
        )
    found = evalica.alpha_bootstrap(
        shared.astype("float64"), distance, n_resamples=resamples, confidence_level=level, random_state=seed
    )
    return Agreement(
        alpha=float(found.alpha),
        lower=float(found.low),
        upper=float(found.high),
        level=level,
        n_units=shared.shape[1],
        n_answered=answered.shape[1],
        n_answers=int((~np.isnan(values)).sum()),
        n_voters=shared.shape[0],
    )


def raw_agreement(
    unit: ArrayLike, answer: ArrayLike, *, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0
) -> Share:
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
        why = "one comparison has no interval" if len(pairs) < 2 else "all pairs of answers are alike, so none varies"
        return Share(count / total, reason=f"No interval: {why}.", count=count, total=total)
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(pairs), (resamples, len(pairs)))
    shares = equal[drawn].sum(axis=1) / pairs[drawn].sum(axis=1)
    lower, upper = np.quantile(shares, widened_tails(len(pairs), level))
    return Share(count / total, float(lower), float(upper), "", count, total)
