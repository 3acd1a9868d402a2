"""Votes as a fit expects them: what reliability and the stop rule are simulated with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from .bradley_terry import BradleyTerry
from .posterior import Posteriors

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
