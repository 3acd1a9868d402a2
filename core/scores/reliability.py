"""How reliable scores are: halves of the voters against each other, and the best that any model could score.

Both bound what a comparison of a model with the scores can show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .bradley_terry import BradleyTerry, fit_bradley_terry
from .newton import minimise
from .voter_effects import Likelihood

Floats = NDArray[np.float64]
Metric = Callable[[ArrayLike, ArrayLike], float]

TOLERANCE, N_STEPS = 0.05, 20


@dataclass(frozen=True)
class Agreement:
    """A correlation over repetitions: `values` of each, shape (repetitions,), and their mean."""

    values: Floats

    @property
    def mean(self) -> float:
        """Of the repetitions."""
        return float(self.values.mean())


def split_half(
    first: ArrayLike,
    second: ArrayLike,
    outcome: ArrayLike,
    voter: ArrayLike,
    metric: Metric,
    *,
    n_items: int,
    repetitions: int = 20,
    rng: np.random.Generator,
    ridge: float = 0.1,
) -> Agreement:
    """The correlation between scores from one random half of the voters and from the other.

    Votes as in `fit_bradley_terry`; each half is fitted on its own, without voters' effects, and items without votes
    in a half are left out. No Spearman–Brown correction: it is for sums of scores, and these are ranks that look at
    the top. Scores of all voters are more reliable than this figure. Where ballots depended on earlier votes the
    halves share what those decided, such as which items have many votes.

    metric : of two rows of scores, such as `core.metrics.weighted_spearman`.

    Raises `InputError` for fewer than two voters or fewer than one repetition.
    """
    a, b, y = np.asarray(first), np.asarray(second), np.asarray(outcome, dtype=np.float64)
    codes, code = np.unique(np.asarray(voter), return_inverse=True)
    if len(codes) < 2 or repetitions < 1:
        raise InputError(f"Halves need two voters and one repetition, found {len(codes)} and {repetitions}.")
    values = np.empty(repetitions)
    for number in range(repetitions):
        half = rng.permutation(len(codes)) < len(codes) // 2
        one, other = (
            fit_bradley_terry(a[rows], b[rows], y[rows], n_items=n_items, ridge=ridge, by_part=True).theta
            for rows in (half[code], ~half[code])
        )
        both = ~np.isnan(one) & ~np.isnan(other)
        values[number] = metric(one[both], other[both])
    return Agreement(values)


def noise_ceiling(fit: BradleyTerry, metric: Metric, *, repetitions: int = 50, rng: np.random.Generator) -> Agreement:
    """What a perfect model would score against such votes: the correlation of the fit with fits of simulated votes.

    Votes on the same comparisons by the same voters are drawn from the fit's probabilities and fitted like the real
    ones, while the fit plays the truth. It is the ceiling of a model's figure. Fitted scores lie
    further apart than true ones, which makes the ceiling a little high. Raises `DisconnectedError`.
    """
    fit.require_one_part()
    known = fit.votes > 0
    theta = np.nan_to_num(fit.theta)
    at = Likelihood(fit.likelihood.data, theta, fit.effects)
    values = np.empty(repetitions)
    for number in range(repetitions):
        points = rng.binomial(at.data.count.astype(np.int64), np.minimum(at.win, 1.0)).astype(np.float64)
        data = replace(at.data, points=points)
        found = minimise(data, theta, fit.effects, fit.ridge, TOLERANCE, warm_steps=N_STEPS)
        values[number] = metric(theta[known], found.theta[known])
    return Agreement(values)
