"""Dealing comparisons to voters so that nobody is asked about the same item twice while others can be.

A voter's opinion of an item hardly changes: asked again, the voter repeats it, right or wrong. So votes on an item
say more the more people cast them. Where a platform hands out tasks in its own way this can't be steered
across tasks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .draw import checked_pairs, whole_number

Ints = NDArray[np.int64]

ROUNDS = 20  # of exchanges; later ones find little
MOST_CELLS = 200_000_000  # voters × items up to which repeats are looked for


def deal_to_voters(
    pairs: ArrayLike, n_voters: int, *, seen: ArrayLike | None = None, n_items: int, rng: np.random.Generator
) -> Ints:
    """Deal comparisons to voters: each gets equally many within one, and items they haven't seen where possible.

    A random deal is bettered by exchanges: two comparisons change voters where that leaves fewer voters with
    an item they know. It is a good deal, not always the best one.

    Parameters
    ----------
    pairs : the items of each comparison, positions 0…n_items−1, shape (n, 2).
    n_voters : at least 1.
    seen : how often each voter was asked about each item in earlier ballots, shape (n_voters, n_items); default never.
    rng : source of the deal.

    Returns the voter 0…n_voters−1 of each comparison, shape (n,). Above 200,000,000 voters × items the random
    deal stays as it is. Raises `InputError` for values that don't fit.

    >>> voter = deal_to_voters([[0, 1], [0, 2], [0, 3]], 3, n_items=4, rng=np.random.default_rng(1))
    >>> sorted(voter.tolist())
    [0, 1, 2]
    """
    met, n = checked_pairs(pairs), whole_number(n_voters, 1, "n_voters")
    if met.max(initial=-1) >= n_items or met.min(initial=0) < 0:
        raise InputError(f"Items must be positions from 0 to {n_items - 1}.")
    voter = rng.permutation(rng.permutation(n)[np.arange(len(met)) % n])
    if n == 1 or len(met) < 2 or n * n_items > MOST_CELLS:
        return voter
    return _exchanged(met, voter, _times(met, voter, (n, n_items), seen), rng)


def count_seen(pairs: ArrayLike, voter: ArrayLike, *, n_voters: int, n_items: int) -> NDArray[np.int32]:
    """How often each voter was asked about each item, shape (n_voters, n_items)."""
    return _times(checked_pairs(pairs), np.asarray(voter, dtype=np.int64), (n_voters, n_items), None)


def _times(pairs: Ints, voter: Ints, shape: tuple[int, int], seen: ArrayLike | None) -> NDArray[np.int32]:
    cells = (voter[:, None] * shape[1] + pairs).ravel()
    now = np.bincount(cells, minlength=shape[0] * shape[1]).astype(np.int32).reshape(shape)
    if seen is None:
        return now
    before = np.asarray(seen)
    if before.shape != shape or not np.issubdtype(before.dtype, np.integer):
        raise InputError(f"seen must be whole numbers of shape {shape}, found {before.dtype} {before.shape}.")
    return now + before.astype(np.int32)


def _exchanged(pairs: Ints, voter: Ints, times: NDArray[np.int32], rng: np.random.Generator) -> Ints:
    """The deal after rounds of exchanges; `times` counts this deal and is changed."""
    one, other = pairs.T
    for _ in range(ROUNDS):
        cost = times[voter, one] + times[voter, other] - 2
        here = rng.permutation(np.flatnonzero(cost > 0))[: max(1, len(pairs) // 3)]
        if not len(here):
            break
        at_home = np.ones(len(pairs), dtype=bool)
        at_home[here] = False
        there = rng.permutation(np.flatnonzero(at_home))[: len(here)]
        here = here[: len(there)]
        mine, theirs = voter[here], voter[there]
        after = times[theirs, one[here]] + times[theirs, other[here]]
        after = after + times[mine, one[there]] + times[mine, other[there]]
        # Each exchange is judged as if it were the only one; the next round's counts are right again.
        better = (after < cost[here] + cost[there]) & (mine != theirs)
        here, there = here[better], there[better]
        for rows, sign in ((here, -1), (there, -1)):
            np.add.at(times, (np.repeat(voter[rows], 2), pairs[rows].ravel()), sign)
        voter[here], voter[there] = voter[there], voter[here].copy()
        for rows, sign in ((here, 1), (there, 1)):
            np.add.at(times, (np.repeat(voter[rows], 2), pairs[rows].ravel()), sign)
    return voter
