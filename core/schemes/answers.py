"""How simulated voters rate, name extremes and put into order, from the opinions they hold (`core.voters`).

Opinions are numbers in [0, 1], higher = more related; a lapse is the probability of an answer that isn't meant.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def rate(
    opinion: Floats, stretch: Floats | float, cuts: Floats, lapse: Floats | float, rng: np.random.Generator
) -> Ints:
    """Ratings 0…k−1: o^g cut at the points below it, or by a lapse any value.

    opinion, stretch (g, above 0), lapse : shape (n,); cuts : ascending, (n, k − 1). Returns shape (n,).

    >>> rate(np.array([0.2, 0.9]), 1.0, np.array([[0.5], [0.5]]), 0.0, np.random.default_rng(1))
    array([0, 1])
    """
    found = ((opinion**stretch)[:, None] > cuts).sum(axis=1)
    slip = rng.random(len(found)) < lapse
    return np.asarray(np.where(slip, rng.integers(0, cuts.shape[1] + 1, len(found)), found))


def choose_extremes(opinion: Floats, lapse: Floats | float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Places of the best and the worst of each row of opinions (n, size); equal opinions are drawn.

    Each of the two is by a lapse another item, but never the one that was named the other way.

    >>> choose_extremes(np.array([[0.1, 0.9, 0.5]]), 0.0, np.random.default_rng(1))
    (array([1]), array([0]))
    """
    n, size = opinion.shape
    order = np.lexsort((rng.random(opinion.shape), opinion), axis=1)
    worst, best = order[:, 0].copy(), order[:, -1].copy()
    for place, taken in ((best, worst), (worst, best)):
        for row in np.flatnonzero(rng.random(n) < lapse).tolist():
            others = [at for at in range(size) if at not in (place[row], taken[row])]
            if others:
                place[row] = others[int(rng.integers(len(others)))]
    return best, worst


def put_in_order(opinion: Floats, lapse: Floats | float, rng: np.random.Generator) -> Ints:
    """Places 1…size of each row's items (n, size), 1 = most related; by a lapse each two neighbours change places.

    >>> put_in_order(np.array([[0.1, 0.9, 0.5]]), 0.0, np.random.default_rng(1))
    array([[3, 1, 2]])
    """
    n, size = opinion.shape
    order = np.lexsort((rng.random(opinion.shape), -opinion), axis=1)
    for place in range(size - 1):
        slip = rng.random(n) < lapse
        order[slip, place : place + 2] = order[slip, place : place + 2][:, ::-1]
    places = np.empty_like(order)
    np.put_along_axis(places, order, np.arange(1, size + 1)[None, :].repeat(n, axis=0), axis=1)
    return places


def deal_in_turn(item: Ints, n_voters: int, n_items: int, rng: np.random.Generator) -> Ints:
    """Who judges each item, (n,): nobody judges an item twice before everybody did. Items are 0…n_items−1."""
    order = np.argsort(item, kind="stable")
    counts = np.bincount(item, minlength=n_items)
    turn = np.empty(len(item), dtype=np.int64)
    turn[order] = np.arange(len(item)) - np.repeat(np.cumsum(counts) - counts, counts)
    start, name = rng.integers(0, n_voters, n_items), rng.permutation(n_voters)
    return np.asarray(name[(start[item] + turn) % n_voters])
