"""Random graphs behind a ballot: who meets whom, and who stands on which side.

Items are vertices 0…n−1, comparisons are edges, an item's appearances are its degree. A ballot
is drawn by them in `draw` and `pairing`.

References: Bender, Canfield (1978), The asymptotic number of labeled graphs with given degree sequences,
JCT A 24 (pairing of edge ends); McKay, Wormald (1990), Uniform generation of random regular graphs of
moderate degree, J. Algorithms 11 (switches).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..tables import Bools, Ints

MIX_ABOVE = 0.02  # share of faulty edges in the first pairing above which the graph is mixed
MIX_ROUNDS = 6
FEW_EDGES, TRIES = 10_000, 20  # small graphs: pairings tried for one without a fault
MAX_IDLE_ROUNDS = 60  # rounds without a repair after which the pairing starts anew
Draw = Callable[[Ints, np.random.Generator], Ints]


def regular_pairs(n: int, n_edges: int, rng: np.random.Generator, *, graph: Draw | None = None) -> Ints:
    """Random pairs of n vertices, all degrees equal within one, counts of any two pairs equal within one.

    Shape (n_edges, 2), neither rows nor ends in a meaningful order. The vertices of the higher degree are
    drawn at random; so is everything else. n ≥ 2. `graph` draws a graph with given degrees: `simple_graph` or
    another with the same promise.
    """
    draw = graph or simple_graph
    all_pairs = n * (n - 1) // 2
    rounds, rest = divmod(n_edges, all_pairs)
    degree, extra = divmod(2 * rest, n)
    degrees = np.full(n, degree, dtype=np.int64)
    degrees[rng.permutation(n)[:extra]] += 1
    if 2 * rest > all_pairs:
        # More than half of all pairs: draw the pairs that stay away.
        left_out = edge_keys(draw(n - 1 - degrees, rng), n)
        part = complement(left_out, n)
    else:
        part = draw(degrees, rng)
    if not rounds:
        return part
    whole = np.stack(np.triu_indices(n, 1), axis=1)
    return np.concatenate((*([whole] * rounds), part))


def simple_graph(degrees: Ints, rng: np.random.Generator) -> Ints:
    """A random graph without loops and repeated edges with these near-equal degrees, shape (n_edges, 2).

    The edge ends are shuffled and paired. A pairing without loops and repeats is exactly uniform over all
    such graphs, and where degrees are low one soon turns up. Else loops and repeats are switched away with
    random other edges; where there were many of them (dense graphs) further random switches bring the draw
    near to uniform. Degrees must leave room: at most about half of all pairs.
    """
    n = len(degrees)
    ends = np.repeat(np.arange(n), degrees)
    for _ in range(TRIES if len(ends) <= 2 * FEW_EDGES and degrees.max(initial=0) <= 3 else 0):
        edges = rng.permutation(ends).reshape(-1, 2)
        if not faulty_edges(edges, n).any():
            return edges
    while True:
        edges = rng.permutation(ends).reshape(-1, 2)
        faulty = faulty_edges(edges, n)
        mixing = MIX_ROUNDS if faulty.sum() > MIX_ABOVE * len(edges) else 0
        idle = 0
        while faulty.any() and idle < MAX_IDLE_ROUNDS:
            # Idle twice in a row: the faults may be locked in, so other edges move too.
            changed = _switch(edges, n, rng, None if idle > 2 else faulty)
            before, faulty = int(faulty.sum()), faulty_edges(edges, n) if changed else faulty
            idle = 0 if faulty.sum() < before else idle + 1
        if not faulty.any():
            break
    for _ in range(mixing):
        _switch(edges, n, rng, None)
    return edges


def _switch(edges: Ints, n: int, rng: np.random.Generator, faulty: Bools | None) -> bool:
    """One round of switches in place: edges {a, b}, {c, d} become {a, c}, {b, d} where both are new.

    Only the faulty edges are switched, each with a random sound one; without `faulty` all edges are
    paired at random. Returns whether anything changed.
    """
    if faulty is None:
        order = rng.permutation(len(edges))
        here, there = order[: len(order) // 2], order[len(order) // 2 : len(order) // 2 * 2]
    else:
        here = np.flatnonzero(faulty)
        # Random edges, each once. A fault may be chosen as partner of another; that is as good.
        there = rng.permutation(np.setdiff1d(rng.integers(len(edges), size=2 * len(here) + 8), here))[: len(here)]
        here = rng.permutation(here)[: len(there)]
    if not len(here):
        return False
    return exchange(edges, here, there, n, rng)


def exchange(edges: Ints, here: Ints, there: Ints, n: int, rng: np.random.Generator) -> bool:
    """Exchange ends of the edges at `here` and `there` in place, where both new edges are new.

    `here` and `there` are equally long, and no edge is in them twice.
    {a, b}, {c, d} become {a, c}, {b, d} or {a, d}, {b, c}, by a coin. Degrees stay. Returns whether anything changed.
    """
    turned = np.where(rng.random((len(there), 1)) < 0.5, edges[there], edges[there][:, ::-1])
    proposed = np.stack((np.stack((edges[here, 0], turned[:, 0]), 1), np.stack((edges[here, 1], turned[:, 1]), 1)), 1)
    keys = edge_keys(proposed.reshape(-1, 2), n)
    _, back, times = np.unique(keys, return_inverse=True, return_counts=True)
    taken = np.sort(edge_keys(edges, n))
    place = np.minimum(np.searchsorted(taken, keys), len(taken) - 1)
    sound = (taken[place] != keys) & (times[back] == 1) & (keys // n != keys % n)
    accepted = sound.reshape(-1, 2).all(axis=1)
    edges[here[accepted]] = proposed[accepted, 0]
    edges[there[accepted]] = proposed[accepted, 1]
    return bool(accepted.any())


def edge_keys(edges: Ints, n: int) -> Ints:
    """One number an unordered pair: lower end · n + higher end."""
    return edges.min(axis=1) * n + edges.max(axis=1)


def faulty_edges(edges: Ints, n: int) -> Bools:
    """Loops, and every edge that repeats an earlier one."""
    keys = edge_keys(edges, n)
    order = stable_order(keys)
    repeats = np.zeros(len(edges), dtype=bool)
    repeats[order[1:]] = keys[order[1:]] == keys[order[:-1]]
    return repeats | (edges[:, 0] == edges[:, 1])


def stable_order(keys: Ints) -> Ints:
    """`np.argsort(keys, kind="stable")` of whole numbers from 0 on, shape (n,), several times as fast.

    Each key is joined with its place into one number: those are all different, so that any sort of them is stable.
    Where the joined numbers would be too large, it is argsort itself.

    >>> stable_order(np.array([2, 0, 2, 1])).tolist()
    [1, 3, 0, 2]
    """
    n = len(keys)
    if not n or int(keys.min()) < 0 or int(keys.max()) >= np.iinfo(np.int64).max // n - 1:
        return np.argsort(keys, kind="stable")
    joined = keys.astype(np.int64) * n + np.arange(n)
    joined.sort()
    return joined % n


def complement(keys: Ints, n: int) -> Ints:
    """All pairs of n vertices but those with these keys."""
    low, high = np.triu_indices(n, 1)
    wanted = np.ones(len(low), dtype=bool)
    # The pairs stand in the order of their keys.
    wanted[np.searchsorted(low * n + high, keys)] = False
    return np.stack((low[wanted], high[wanted]), axis=1)


def balanced_sides(edges: Ints, rng: np.random.Generator) -> Bools:
    """Which edges to turn round so that every vertex stands first and second equally often within one.

    Shape (n_edges,); edges without loops, repeats are fine. At each vertex the edge ends are paired at
    random, and paired ends must stand on opposite sides. That ties the edges into chains and closed
    chains; each has exactly two solutions, of which one is drawn.
    """
    n_edges = len(edges)
    ends = edges.ravel()  # end 2e + s is side s of edge e
    shuffled = rng.permutation(2 * n_edges)
    order = shuffled[stable_order(ends[shuffled])]
    starts = np.flatnonzero(np.concatenate(([True], np.diff(ends[order]) != 0))) if n_edges else np.empty(0, int)
    rank = np.arange(2 * n_edges) - np.repeat(starts, np.diff(starts, append=2 * n_edges))
    second = np.flatnonzero(rank % 2 == 1)  # pairs with the end before it, which is the same vertex's
    one, other = order[second - 1], order[second]
    # Node 2e + t: "edge e is turned: t". Ends on opposite sides: turned_e ^ s_e differs from turned_f ^ s_f.
    link = 1 ^ (one & 1) ^ (other & 1)
    nodes_one = np.concatenate((one & ~1, (one & ~1) + 1))
    nodes_other = np.concatenate(((other & ~1) + link, (other & ~1) + (1 ^ link)))
    graph = coo_array((np.ones(len(nodes_one), np.int8), (nodes_one, nodes_other)), shape=(2 * n_edges, 2 * n_edges))
    n_parts, part = connected_components(graph, directed=False)
    # "Turned" and "not turned" of an edge lie in two mirrored parts: a coin decides which of them holds.
    mirror = np.empty(n_parts, dtype=np.int64)
    mirror[part[0::2]], mirror[part[1::2]] = part[1::2], part[0::2]
    coin = rng.random(n_parts) < 0.5
    holds = np.where(np.arange(n_parts) < mirror, coin, ~coin[mirror])
    return holds[part[1::2]]
