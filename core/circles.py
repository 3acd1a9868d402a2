"""Votes that go round in a circle: A beats B, B beats C, C beats A, so that no ranking is right."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

Ints = NDArray[np.int64]

LEVEL = 0.05


def circles_of(first: ArrayLike, second: ArrayLike, outcome: ArrayLike, items: Ints, *, level: float = LEVEL) -> int:
    """How many of some items stand in a circle of clear majorities.

    Of two items one has a clear majority where so uneven a split has a chance below `level` (exact sign test,
    two-sided; ties are left out). An item is in a circle where majorities lead from it back to it. Of a circle of
    single votes this says nothing: there the scores are equal (`foresight.is_level`).

    Parameters: votes as for `scores.borda`; items : the positions looked at.

    >>> circles_of([0] * 6 + [1] * 6 + [2] * 6, [1] * 6 + [2] * 6 + [0] * 6, [1] * 18, np.array([0, 1, 2]))
    3
    """
    one, other = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    won = np.asarray(outcome, dtype=np.float64)
    used = np.isin(one, items) & np.isin(other, items) & (won != 0.5)
    if not used.any():
        return 0
    one, other, won = one[used], other[used], won[used] == 1.0
    winner, loser = np.where(won, one, other), np.where(won, other, one)
    n = int(max(winner.max(), loser.max())) + 1
    beaten = csr_array((np.ones(len(winner)), (winner, loser)), shape=(n, n))
    met = beaten + beaten.T
    high, low = beaten.nonzero()
    wins = np.asarray(beaten[high, low]).ravel()
    total = np.asarray(met[high, low]).ravel()
    clear = (2 * wins > total) & (2 * stats.binom.sf(wins - 1, total, 0.5) < level)
    majority = csr_array((np.ones(int(clear.sum())), (high[clear], low[clear])), shape=(n, n))
    _, label = connected_components(majority, directed=True, connection="strong")
    sizes = np.bincount(label)
    return int(sizes[sizes > 1].sum())
