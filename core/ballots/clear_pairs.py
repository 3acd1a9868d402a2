"""Comparisons whose answer the votes so far leave no doubt about: gold for the ballots to come."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from ..scores.fit import FittedVotes

CLEAR = 0.98  # an ordinary voter who reads names the right item at least so often …
DOUBT = 2.33  # … and that at the 99 % lower bound of the difference of the two scores


def clear_pairs(fitted: FittedVotes, n: int, *, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Up to `n` pairs of items whose order is beyond doubt, the higher one first; items as positions in the project.

    Of every pair logistic(θ_i − θ_j − 2.33·√(s_i² + s_j²)) ≥ .98: the estimate alone wouldn't do, since an item with
    few votes may stand far up by luck. Pairs are drawn at random, no item is in two of them. There may be fewer, or
    none.
    """
    theta, spread = fitted.fit.theta, fitted.spread
    pairs: list[tuple[int, int]] = []
    free = ~np.isnan(theta)
    for item in rng.permutation(np.flatnonzero(free)).tolist():
        if len(pairs) >= n:
            break
        if not free[item]:
            continue
        gap = np.abs(theta - theta[item]) - DOUBT * np.hypot(spread, spread[item])
        clear: NDArray[np.int64] = np.flatnonzero(free & (gap >= logit(CLEAR)))
        if len(clear):
            other = int(rng.choice(clear))
            free[[item, other]] = False
            more, less = (item, other) if theta[item] > theta[other] else (other, item)
            pairs.append((int(fitted.items[more]), int(fitted.items[less])))
    return pairs
