"""The whole likelihood of each item's score, beyond an estimate and its standard error.

Votes as a fit expects them are drawn here too: reliability and the stop rule are simulated by them.

An item that lost to a far weaker one either is weak or met a voter's slip, and its likelihood may have two
humps: then no standard error tells that it may well belong to the top. So the likelihood of every item's score is
laid out over a row of knots, with the others' scores and the voters' effects as fitted and the fit's prior.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import expit

from ..errors import InputError
from ..tables import Floats, Ints
from .bradley_terry import BradleyTerry
from .voter_effects import SMALLEST

N_KNOTS = 32
BLOCK = 1024  # votes worked on at once: few enough that they stay in the processor's cache


@dataclass(frozen=True)
class Posteriors:
    """Probabilities over knots of the scores of items.

    knots : scores θ, equally far apart, rising, shape (n_knots,); probability : of each item and knot, rows sum to 1,
    NaN for an item without votes, shape (n_items, n_knots); theta : the fitted scores, (n_items,).
    """

    knots: Floats
    probability: Floats
    theta: Floats

    def expected_weight(self, n0: float = 2.0) -> Floats:
        """The mean of 1/(rank + n₀) of each item over its probabilities, the rank among the fitted scores; (n_items,).

        Higher for items that are at the top, or may be. The weights of ρ_w and τ_w (Eq. 9) are 1/(rank + n₀)².
        """
        field = np.sort(self.theta[~np.isnan(self.theta)])
        rank = 1 + len(field) - np.searchsorted(field, self.knots, side="right")
        return np.asarray(self.probability @ (1.0 / (rank + n0)))

    def top_probability(self, n_top: int, *, of: Floats | None = None) -> Floats:
        """The probability that each item lies above the cut over which `n_top` items are expected; (n_items,).

        Items are taken as independent and the cut as known, which is close from some ten items on. Their sum is n_top.
        `of` are other probabilities over the same knots, shape (m, n_knots), judged by the same cut: then shape (m,).
        """
        known = ~np.isnan(self.probability[:, 0])
        if not 1 <= n_top <= known.sum():
            raise InputError(f"{n_top} items can't be the highest of {int(known.sum())}.")
        # Probability above the lower edge of each knot's cell, and above the last upper edge: 0.
        above = np.cumsum(self.probability[:, ::-1], axis=1)[:, ::-1]
        above = np.concatenate((above, np.zeros((len(above), 1))), axis=1)
        expected = above[known].sum(axis=0)
        after = int(np.clip(np.searchsorted(-expected, -float(n_top)), 1, len(expected) - 1))
        span = expected[after - 1] - expected[after]
        share = (expected[after - 1] - n_top) / span if span > 0 else 0.0
        if of is not None:
            above = np.concatenate((np.cumsum(of[:, ::-1], axis=1)[:, ::-1], np.zeros((len(of), 1))), axis=1)
        return np.asarray((1.0 - share) * above[:, after - 1] + share * above[:, after])


def item_posteriors(fit: BradleyTerry) -> Posteriors:
    """The posteriors of all items of a fit, each with the others' scores held fast.

    The knots reach from half a logit under the lowest score to a logit above the highest. O(votes · knots).
    Raises `DisconnectedError` as `fit.expected_borda` does where scores can't be compared.
    """
    fit.require_one_part()
    theta = fit.theta
    knots = np.linspace(np.nanmin(theta) - 0.5, np.nanmax(theta) + 1.0, N_KNOTS)
    total = -0.5 * fit.ridge * knots**2 + _log_likelihoods(fit, knots)
    total -= total.max(axis=1, keepdims=True)
    probability = np.exp(total)
    probability /= probability.sum(axis=1, keepdims=True)
    probability[np.isnan(theta)] = np.nan
    return Posteriors(knots, probability, theta)


def _log_likelihoods(fit: BradleyTerry, knots: Floats) -> Floats:
    """Log-likelihood of each item's votes with its score at each knot, (n_items, n_knots)."""
    data, effects = fit.likelihood.data, fit.effects
    lost = data.count - data.points
    # A row for either outcome of a vote as either of its items sees it: it won, or it lost.
    item = np.concatenate((data.one, data.other, data.one, data.other))
    opponent = fit.theta[np.concatenate((data.other, data.one, data.other, data.one))]
    times = np.concatenate((data.points, lost, lost, data.points))
    guess = fit.likelihood.guess
    guessed = np.concatenate((guess, 1.0 - guess, 1.0 - guess, guess))
    downwards = np.repeat((-1.0, 1.0), 2 * len(data.one)) * np.tile(effects.sharpness[data.voter], 4)
    lapse = np.tile(effects.lapse[data.voter], 4)
    rows = np.flatnonzero(times > 0)
    rows = rows[np.argsort(item[rows], kind="stable")]
    total = np.zeros((len(fit.theta), len(knots)))
    for at in range(0, len(rows), BLOCK):
        some = rows[at : at + BLOCK]
        sign = downwards[some]
        # The exponential of one knot after the other, times that of their distance; infinite ones are a chance of 0.
        odds, ratio = np.empty((len(knots), len(some))), np.exp(sign * (knots[1] - knots[0]))
        with np.errstate(over="ignore"):
            np.exp(sign * (knots[0] - opponent[some]), out=odds[0])
            for before, after in pairwise(odds):
                np.multiply(before, ratio, out=after)
        odds += 1.0
        chance = np.divide(1.0 - 2.0 * lapse[some], odds, out=odds)
        chance += 2.0 * lapse[some] * guessed[some]
        np.maximum(chance, SMALLEST, out=chance)
        logs = np.log(chance, out=chance)
        logs *= times[some]
        starts = np.flatnonzero(np.diff(item[some], prepend=-1))
        total[item[some[starts]]] += np.add.reduceat(logs, starts, axis=1).T
    return total


def likely_scores(posteriors: Posteriors, rng: np.random.Generator) -> Floats:
    """Scores θ as the votes leave them possible: each item's drawn from its posterior, independently; (n_items,).

    Within a knot's cell all values are alike. An item without a vote keeps NaN.
    """
    knots, share = posteriors.knots, np.cumsum(posteriors.probability, axis=1)
    at = np.minimum((share < rng.random(len(share))[:, None]).sum(axis=1), len(knots) - 1)
    drawn = knots[at] + (rng.random(len(share)) - 0.5) * (knots[1] - knots[0])
    return np.where(np.isnan(posteriors.theta), np.nan, drawn)


def simulated_outcomes(
    fit: BradleyTerry, theta: Floats, first: Ints, second: Ints, voter: Ints, rng: np.random.Generator
) -> Floats:
    """Whether the first item wins, 1 or 0, where true scores are `theta` and voters as in the fit; (n_votes,).

    P = ε_v + (1 − 2ε_v)·logistic(s_v·(θ_first − θ_second)). There are no ties: a tie is half a win and half a loss to
    the fit, so votes without ties hold somewhat more noise.
    """
    effects = fit.effects
    if len(effects.lapse) == 1:  # a fit in which all votes count alike
        voter = np.zeros_like(voter)
    lapse = effects.lapse[voter]
    chance = lapse + (1.0 - 2.0 * lapse) * expit(effects.sharpness[voter] * (theta[first] - theta[second]))
    return (rng.random(len(first)) < chance).astype(np.float64)
