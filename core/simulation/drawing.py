"""Drawing comparisons quickly, and as the paper's authors' released code draws them.

A simulation draws thousands of ballots, and nobody sees them: tasks and token orders are not needed. Hence a second
way to the same random graphs as `core.ballots.graphs`, some ten times as fast. It isn't used for real ballots, which
must stay the same, byte for byte, for the same seed.
"""

from __future__ import annotations

import numpy as np

from ..ballots.graphs import FEW_EDGES, PATIENCE, Ints, regular_pairs, simple_graph

FREE_DEGREE, FREE_TRIES = 3, 20  # up to this degree whole pairings are tried for one without a fault
# Share of faulty edges above which a graph is mixed: at 8 % (124 items, M = 20) repairs alone leave no trace in the
# number of triangles of 1,500 graphs, at 15 % (16 items of degree 5) 2 % are missing. From two rounds of switches on
# 15,000 such graphs have as many as after twenty.
MIX_ABOVE, MIX_ROUNDS = 0.1, 3
PARTNERS = 4  # edges looked at in a round for each faulty one
TABLE = 16_000_000  # pairs of vertices up to which a table of them is kept for mixing


def quick_comparisons(items: Ints, n_comparisons: int, rng: np.random.Generator) -> Ints:
    """`n_comparisons` random comparisons of `items`, by the rules of `core.ballots.draw_comparisons` but for the sides.

    Every item appears equally often within one; no item meets itself; the counts of any two pairs of items differ
    by at most one, so nobody meets twice while there are pairs left. Rows are in random order, columns mean nothing.
    Items (at least two, all different) and number (at least 1) are not checked. Shape (n_comparisons, 2).
    """
    pairs = items[regular_pairs(len(items), n_comparisons, rng, graph=quick_graph)]
    if 4 * n_comparisons > len(items) * (len(items) - 1):
        pairs = pairs[rng.permutation(n_comparisons)]  # those that `quick_graph` didn't draw stand in order
    return pairs


def quick_graph(degrees: Ints, rng: np.random.Generator) -> Ints:
    """What `core.ballots.graphs.simple_graph` draws, in less time and from other random numbers, shape (n_edges, 2).

    The edge ends are shuffled and paired, loops and repeats switched with random other edges, and dense graphs mixed
    by further switches. One sort of packed numbers finds the repeats, and a table of all pairs tells what is taken.
    """
    n, ends = len(degrees), np.repeat(np.arange(len(degrees)), degrees)
    m = len(ends) // 2
    tries = FREE_TRIES if m <= FEW_EDGES and degrees.max(initial=0) <= FREE_DEGREE else 0
    while True:
        edges = rng.permutation(ends).reshape(2, m)
        n_faulty = len(_faults(edges, n)[1])
        if n_faulty and tries:
            tries -= 1  # where degrees are low a pairing without a fault soon turns up, and that is exactly uniform
            continue
        mixing = n_faulty > MIX_ABOVE * m
        if mixing and n * n > TABLE:
            return simple_graph(degrees, rng)
        if _repaired(edges, n, rng):
            break
    if mixing:
        _mix(edges, n, rng)
    return edges.T


# Below, `edges` has shape (2, n_edges), and is worked on in place.


def _keys(one: Ints, other: Ints, n: int) -> Ints:
    """One number an unordered pair: lower end · n + higher end."""
    low = np.minimum(one, other)
    low *= n - 1
    low += one
    low += other
    return low


def _faults(edges: Ints, n: int) -> tuple[Ints, Ints]:
    """The sorted keys of all edges, and the edges to be changed: loops, and all but one of equal edges."""
    m = edges.shape[1]
    bits = max(1, m.bit_length())
    packed = _keys(edges[0], edges[1], n)
    packed <<= bits
    packed |= np.arange(m)
    packed.sort()
    taken = packed >> bits
    repeats = packed[1:][taken[1:] == taken[:-1]] & ((1 << bits) - 1)
    loops = np.flatnonzero(edges[0] == edges[1])
    repeats = repeats[edges[0, repeats] != edges[1, repeats]]  # a loop may be a repeat too, and counts once
    return taken, np.concatenate((repeats, loops))


def _repaired(edges: Ints, n: int, rng: np.random.Generator) -> bool:
    """Switch faulty edges with random others until none is left; False where that takes too long."""
    for _ in range(PATIENCE):
        taken, faulty = _faults(edges, n)
        if not len(faulty):
            return True
        _switch(edges, n, taken, faulty, rng)
    return False


def _switch(edges: Ints, n: int, taken: Ints, faulty: Ints, rng: np.random.Generator) -> None:
    """One round: a faulty edge {p, q} and another {r, s} become {p, r}, {q, s} where both are new.

    Two switches of a round may make the same edge; the next round finds it.
    """
    m, turns = edges.shape[1], np.arange(len(faulty))
    there = rng.integers(m, size=(PARTNERS, len(faulty)))
    coin = rng.integers(2, size=there.shape)
    mine, theirs = edges[:, None, faulty], edges[np.stack((coin, 1 - coin)), there]
    keys = _keys(np.broadcast_to(mine, theirs.shape), theirs, n)
    place = np.searchsorted(taken, keys)
    place[place == m] = 0
    good = ((taken[place] != keys) & (mine != theirs)).all(axis=0)
    first = good.argmax(axis=0)  # the first partner that will do
    there, theirs = there[first, turns], theirs[:, first, turns]
    owner = np.full(m, -1)
    owner[there] = turns
    owner[faulty] = -1
    free = good[first, turns] & (owner[there] == turns)  # an edge takes part in one switch
    here, mine, theirs, there = faulty[free], mine[:, 0, free], theirs[:, free], there[free]
    edges[:, here] = np.stack((mine[0], theirs[0]))
    edges[:, there] = np.stack((mine[1], theirs[1]))


def _mix(edges: Ints, n: int, rng: np.random.Generator) -> None:
    """Rounds of switches among all edges of a graph without faults; it stays without."""
    m = edges.shape[1]
    half = m // 2
    there_is = np.zeros(n * n, dtype=bool)
    there_is[_keys(edges[0], edges[1], n)] = True
    claim = np.empty(n * n, dtype=np.int64)  # read only where it was just written
    numbers = np.arange(2 * half).reshape(2, half)
    for _ in range(MIX_ROUNDS):
        order = rng.permutation(m)
        here, there = order[:half], order[half : 2 * half]
        mine, theirs = edges[:, here], edges[:, there]
        keys = _keys(mine, theirs, n)
        claim[keys] = numbers
        good = (~there_is[keys] & (claim[keys] == numbers) & (mine != theirs)).all(axis=0)
        mine, theirs = mine[:, good], theirs[:, good]
        there_is[_keys(mine[0], mine[1], n)] = False
        there_is[_keys(theirs[0], theirs[1], n)] = False
        there_is[keys[:, good]] = True
        edges[:, here[good]] = np.stack((mine[0], theirs[0]))
        edges[:, there[good]] = np.stack((mine[1], theirs[1]))
