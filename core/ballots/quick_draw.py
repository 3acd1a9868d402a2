"""Drawing for simulations alone: the same random graphs as for ballots of people, in a fraction of the time.

A simulation draws thousands of ballots, and nobody sees them: sides, tasks and token orders are not needed. Nothing
here draws a real ballot, which must stay the same, byte for byte, for the same seed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..tables import Floats, Ints
from .draw import FEW_EDGES, MAX_IDLE_ROUNDS, regular_pairs, simple_graph
from .pairing import draw_near_comparisons

FREE_DEGREE, FREE_TRIES = 3, 20  # up to this degree whole pairings are tried for one without a fault
# Share of faulty edges above which a graph is mixed: at 8 % (124 items, M = 20) repairs alone leave no trace in the
# number of triangles of 1,500 graphs, at 15% (16 items of degree 5) 2% are missing. From two rounds of switches on
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
    """What `core.ballots.draw.simple_graph` draws, in less time and from other random numbers, shape (n_edges, 2).

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
    for _ in range(MAX_IDLE_ROUNDS):
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


NEAR_ROUNDS = 20  # of exchanges, before the drawing of real ballots takes over
FIRST_REACH = 8  # how far off in rank a partner is looked for first
NEAR_LOOKS, NEAR_PARTNERS = 2048, (10, 400)  # partners looked at in a round: in all, and for each repeat


def quick_near(items: Ints, appearances: int, score: Floats, spread: Floats, rng: np.random.Generator) -> Ints:
    """Comparisons between near neighbours by the rules of `pairing.draw_near_comparisons`, but for the sides.

    All rings are drawn at once, and all repeats of a round are exchanged together. Where nearly all pairs of items are
    to meet, or no exchange is left, that function draws. Items (at least two, all different), scores and spreads of
    shape (n,), and M from 1 on are not checked. Shape (⌈M·n/2⌉, 2); rows come ring by ring, columns mean nothing.
    """
    n = len(items)
    whole, rest = divmod(appearances, n - 1)
    if rest and 2 * rest <= n - 1 and n * n <= TABLE:
        edges = _rings(score, spread, rest, rng)
        if _near_repaired(edges, score, rng):
            pairs = items[edges.T]
            return pairs if not whole else np.concatenate((*[items[np.stack(np.triu_indices(n, 1), 1)]] * whole, pairs))
    return draw_near_comparisons(items, appearances, score=score, spread=spread, rng=rng)


def _rings(score: Floats, spread: Floats, m: int, rng: np.random.Generator) -> Ints:
    """The rings of `pairing._near_pairs`, each item in `m` of their edges, (2, n_edges); repeats are left in."""
    n, turns = len(score), m // 2
    blur = np.append(2.0 * np.arange(turns), [m - 1.0] * (m % 2))[:, None]
    order = np.argsort(score + spread * rng.standard_normal((len(blur), n)), axis=1)
    place = np.arange(n) + blur * rng.uniform(-1.0, 1.0, order.shape)
    order = np.take_along_axis(order, np.argsort(place, axis=1), axis=1)
    rings = order[:turns].copy()
    rings[1:] = np.concatenate((order[1:turns, ::2], order[1:turns, 1::2][:, ::-1]), axis=1)
    edges = np.stack((rings.ravel(), np.roll(rings, -1, axis=1).ravel()))
    if m % 2 == 0:
        return edges
    last = order[-1]
    if n % 2:  # one is left over, and meets a neighbour besides
        single = 2 * int(rng.integers(n // 2 + 1))
        pair = [[last[single]], [last[single - 1 if single else 1]]]
        return np.concatenate((edges, np.delete(last, single).reshape(-1, 2).T, pair), axis=1)
    return np.concatenate((edges, last.reshape(-1, 2).T), axis=1)


def _near_repaired(edges: Ints, score: Floats, rng: np.random.Generator) -> bool:
    """Exchange ends of repeated edges with those of edges near in rank, in place; False where repeats are left.

    The first ring stays, so that the graph is connected.
    """
    n, free = len(score), np.arange(len(score), edges.shape[1])
    faulty = _faults(edges, n)[1]
    if not len(faulty):
        return True
    rank = np.empty(n, dtype=np.int64)
    rank[np.argsort(score, kind="stable")] = np.arange(n)
    place = free[np.argsort(rank[edges[0, n:]] + rank[edges[1, n:]], kind="stable")]
    where = np.empty(edges.shape[1], dtype=np.int64)
    where[place] = np.arange(len(place))
    times = np.zeros(n * n, dtype=np.int16)
    np.add.at(times, _keys(edges[0], edges[1], n), np.int16(1))
    for turn in range(NEAR_ROUNDS):
        tries = max(NEAR_PARTNERS[0], min(NEAR_LOOKS // len(faulty), NEAR_PARTNERS[1]))
        reach = FIRST_REACH + (2 + turn) * np.arange(tries)[:, None]  # of the tries, one after the other
        shift = rng.integers(-reach, reach + 1, (tries, len(faulty)))
        there = place[np.minimum(np.maximum(where[faulty] + shift, 0), len(place) - 1)]
        moved = _exchange_near(edges, faulty, there, times, rng)
        suspects = np.unique(np.concatenate((faulty, moved)))
        faulty = suspects[times[_keys(edges[0, suspects], edges[1, suspects], n)] > 1]
        if not len(faulty):
            return True
    return False


def _exchange_near(edges: Ints, faulty: Ints, there: Ints, times: NDArray[np.int16], rng: np.random.Generator) -> Ints:
    """Exchange ends of faulty edges, each with the first of its partners `there` that will do, in place.

    there : (tries, n_faulty). times : how often each pair is an edge, by its key; kept up to date. Two exchanges may
    make the same edge. Returns the partners that were taken.
    """
    n, turns = int(np.sqrt(len(times))), np.arange(len(faulty))
    coin = rng.integers(2, size=there.shape)
    mine, theirs = edges[:, None, faulty], edges[np.stack((coin, 1 - coin)), there]
    good = ((times[_keys(np.broadcast_to(mine, theirs.shape), theirs, n)] == 0) & (mine != theirs)).all(axis=0)
    first = good.argmax(axis=0)
    there, theirs = there[first, turns], theirs[:, first, turns]
    owner = np.full(edges.shape[1], -1)
    owner[there] = turns
    owner[faulty] = -1
    free = good[first, turns] & (owner[there] == turns)  # an edge takes part in one exchange
    here, mine, theirs, there = faulty[free], mine[:, 0, free], theirs[:, free], there[free]
    both = np.concatenate((here, there))
    np.subtract.at(times, _keys(edges[0, both], edges[1, both], n), np.int16(1))
    edges[:, here] = np.stack((mine[0], theirs[0]))
    edges[:, there] = np.stack((mine[1], theirs[1]))
    np.add.at(times, _keys(edges[0, both], edges[1, both], n), np.int16(1))
    return there


DEAL_LOOKS = 4096  # others looked at in a round
DEAL_ROUNDS = 7  # of exchanges between voters: as few repeats as twenty of `assign_to_voters` leave
MOST_CELLS = 20_000_000  # voters × items up to which repeats are looked for


def quick_deal(pairs: Ints, n_voters: int, n_items: int, seen: Ints | None, rng: np.random.Generator) -> Ints:
    """The voter of each comparison by the rules of `pairing.assign_to_voters`, from other random numbers; (n,).

    Each comparison with an item that its voter knows is tried with several others, and changes voters with the one
    that leaves fewest such items.

    pairs : items of each comparison, (n, 2). seen : cells voter·n_items + item that were asked before, each as often
    as it was, (any,); None for none.
    """
    m = len(pairs)
    voter = rng.permutation(np.resize(rng.permutation(n_voters), m))
    if n_voters == 1 or m < 2 or n_voters * n_items > MOST_CELLS:
        return voter
    one, other = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
    row = voter * n_items
    cells = np.concatenate((row + one, row + other) if seen is None else (row + one, row + other, seen))
    times = np.bincount(cells, minlength=n_voters * n_items).astype(np.int32)  # small: it is read at random
    owner = np.empty(m, dtype=np.int64)
    for _ in range(DEAL_ROUNDS):
        cost = times[row + one] + times[row + other] - 2
        here = np.flatnonzero(cost)
        if not len(here):
            break
        if 3 * len(here) > m:
            here = rng.permutation(here)[: m // 3 + 1]
        turns = np.arange(len(here))
        there = rng.integers(m, size=(max(1, min(DEAL_LOOKS // len(here), 8)), len(here)))
        mine, theirs = row[here], row[there]
        after = times[theirs + one[here]] + times[theirs + other[here]]
        after += times[mine + one[there]] + times[mine + other[there]]
        gain = cost[here] + cost[there] - after
        gain[mine == theirs] = 0
        best = gain.argmax(axis=0) if len(there) > 1 else np.zeros_like(turns)
        there = there[best, turns]
        # Each exchange is judged as if it were the only one; the next round's counts are right again.
        owner[there] = turns
        owner[here] = -1
        free = (gain[best, turns] > 0) & (owner[there] == turns)  # a comparison takes part in one exchange
        here, there = here[free], there[free]
        changed = np.concatenate((here, there, here, there))
        ends = np.concatenate((one[here], one[there], other[here], other[there]))
        np.subtract.at(times, row[changed] + ends, np.int32(1))
        row[here], row[there] = row[there], row[here]
        np.add.at(times, row[changed] + ends, np.int32(1))
    return row // n_items
