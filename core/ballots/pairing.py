"""How the protocol "runoff" draws its ballots after the first: which items go on, who meets whom, and who is asked.

Which items go on
-----------------
Scores are those of Bradley–Terry, and uncertain, so a cut may hit an item of the true top. `select_leading` keeps the
items that may matter most and says how likely a good one was cut.

Pairing
-------
A comparison of two items whose order is known already says little; one of near neighbours says most. How near is near
depends on how sure the scores are, so the order in which neighbours meet is drawn anew again and again from what is
known: score + standard error × normal noise.

References: Thompson (1933), On the likelihood that one unknown probability exceeds another, Biometrika 25 (drawing from
what is known); Heckel, Shah, Ramchandran, Wainwright (2019), Active ranking from pairwise comparisons, Annals of
Statistics 47 (why adaptive comparisons need fewer votes).

Assigning comparisons to voters
-------------------------------
Nobody is asked about the same item twice while others can be: a voter's opinion of an item hardly changes, and who is
asked again repeats it, right or wrong. So votes on an item say more the more people cast them. Where a platform hands
out tasks in its own way this can't be steered across tasks.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..errors import InputError
from ..scores.bradley_terry import BradleyTerry
from ..scores.posterior import item_posteriors
from ..tables import Floats, Ints
from .draw import (
    Selection,
    balanced_sides,
    checked_items,
    checked_pairs,
    complement,
    edge_keys,
    exchange,
    faulty_edges,
    regular_pairs,
    select_items,
    whole_number,
)


@dataclass(frozen=True)
class LeadingItems:
    """Who goes on, and what the cut may cost.

    selection : the items that stay, and ties at the cut (see `Selection`).
    n_top, probability : of every item of the fit, to be truly among the first `n_top`; shape (n_items,).
    lost : items of the true top that were cut, expected; certain : items among the first with 95% or more.
    """

    selection: Selection
    n_top: int
    probability: Floats
    lost: float
    certain: int


def select_leading(
    fit: BradleyTerry, n_keep: int, *, rng: np.random.Generator, n_top: int | None = None
) -> LeadingItems:
    """The `n_keep` items of a fit that may matter most to a ranking that looks at the top; ties at the cut are drawn.

    An item stays for the mean of 1/(rank + n₀), n₀ = 2, over what its votes leave possible
    (`Posteriors.expected_weight`), so that one which may be far up is not cut for a slip or two. Items cut before may
    come back.

    Parameters
    ----------
    fit : of the votes so far, one connected part; n_keep : how many go on.
    n_top : the top whose loss is reported; default `n_keep`.

    Raises `InputError` where fewer than `n_keep` items have votes, and `DisconnectedError`.
    """
    known = np.flatnonzero(fit.votes > 0)
    posteriors = item_posteriors(fit)
    chosen = select_items(known, posteriors.expected_weight(2.0)[known], n_keep, rng=rng)
    top = n_keep if n_top is None else n_top
    probability = posteriors.top_probability(top)
    lost = float(np.delete(probability, chosen.items)[np.delete(fit.votes > 0, chosen.items)].sum())
    return LeadingItems(chosen, top, probability, lost, int((probability >= 0.95).sum()))


EXCHANGES = 20  # of exchanges; later ones find little
MOST_CELLS = 200_000_000  # voters × items up to which repeats are looked for


def assign_to_voters(
    pairs: ArrayLike, n_voters: int, *, seen: ArrayLike | None = None, n_items: int, rng: np.random.Generator
) -> Ints:
    """Assign comparisons to voters: each gets equally many within one, and items they haven't seen where possible.

    A random assignment is bettered by exchanges: two comparisons change voters where that leaves fewer voters with
    an item they know. It is a good assignment, not always the best one.

    Parameters
    ----------
    pairs : the items of each comparison, positions 0…n_items−1, shape (n, 2).
    n_voters : at least 1.
    seen : how often each voter was asked about each item in earlier ballots, shape (n_voters, n_items); default never.
    rng : source of the assignment.

    Returns the voter 0…n_voters−1 of each comparison, shape (n,). Above 200,000,000 voters × items the random
    deal stays as it is. Raises `InputError` for values that don't fit.

    >>> voter = assign_to_voters([[0, 1], [0, 2], [0, 3]], 3, n_items=4, rng=np.random.default_rng(1))
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
    for _ in range(EXCHANGES):
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


ROUNDS, FEW = 8, 40  # rounds in which repeats are repaired together, and how few are left to be repaired one by one
MAX_TRIES = 300  # edges that one repeat is tried with, and rounds in which parts are joined
TRIES = 5  # draws before the ballot is drawn without regard to scores


def draw_near_comparisons(
    items: ArrayLike,
    appearances: int,
    *,
    score: ArrayLike,
    spread: ArrayLike,
    rng: np.random.Generator,
) -> Ints:
    """Draw a ballot's comparisons between near neighbours: each item appears M times.

    For every two appearances the items are put into an order drawn from score + spread·η, η ~ N(0, 1), and joined to
    a ring: first of next neighbours, since only they tell items apart that are sure of their places, then of
    items near to each other in an order blurred by more and more ranks, since pairs must not repeat. Where more than
    half of all pairs are to meet, those stay away that are far apart.

    No item meets itself, and the ballot's graph is connected where M ≥ 2. If M·N is odd, one item appears M + 1 times.
    No two items meet twice while M ≤ N − 1; above that the counts of any two pairs differ by at most one. In each of
    the two columns every item appears equally often, within one.

    Parameters
    ----------
    items : the N ≥ 2 items of the ballot, whole numbers, all different, shape (N,).
    appearances : M, at least 1.
    score : of each item, any scale, shape (N,); spread : its standard error on that scale, from 0 on, shape (N,).
    rng : source of the draw.

    Returns shape (⌈M·N/2⌉, 2): the values in `items` that meet, rows in random order.
    Raises `InputError` for fewer than two items, repeated items, M < 1, or scores that don't fit.

    >>> pairs = draw_near_comparisons(
    ...     [10, 20, 30, 40, 50, 60], 2, score=[6, 5, 4, 3, 2, 1], spread=[0.1] * 6, rng=np.random.default_rng(1)
    ... )
    >>> np.unique(pairs, return_counts=True)[1].tolist()
    [2, 2, 2, 2, 2, 2]
    """
    values = checked_items(items)
    n, m = len(values), whole_number(appearances, 1, "appearances")
    centre, width = (_numbers(given, n, name) for given, name in ((score, "score"), (spread, "spread")))
    if (width < 0).any():
        raise InputError("spread must be 0 or more.")
    rounds, rest = divmod(m, n - 1)
    if 2 * rest > n - 1:
        # More than half of all pairs: draw the pairs that stay away, far ones.
        order = _drawn_order(centre, width, 0, rng)
        pairs = complement(edge_keys(order[_far_pairs(n, n - 1 - rest)], n), n)
    else:
        pairs = _near_pairs(centre, width, rest, rng)
    if rounds:
        pairs = np.concatenate((*([complement(np.empty(0, np.int64), n)] * rounds), pairs))
    pairs = rng.permutation(pairs)
    turned = balanced_sides(pairs, rng)
    pairs[turned] = pairs[turned][:, ::-1]
    return values[pairs]


def connected_or_redrawn(pairs: Ints, items: ArrayLike, appearances: int, *, rng: np.random.Generator) -> Ints:
    """Comparisons drawn at random, or others as random where those leave items apart.

    A fit of all votes needs one connected graph, which opponents at random don't promise where M is small. Then rings
    in random order are drawn, as `draw_near_comparisons` does of items that nothing is known of.

    Parameters
    ----------
    pairs : the comparisons, values of `items`, shape (n, 2); items, appearances, rng : as they were drawn with.

    Returns `pairs` where they are connected, or where M = 1 can't be; else a new draw.
    """
    values = checked_items(items)
    places = np.searchsorted(np.sort(values), pairs)
    links = coo_array((np.ones(len(places)), places.T), shape=(len(values), len(values)))
    if appearances < 2 or connected_components(links, directed=False)[0] == 1:
        return pairs
    unknown, wide = np.zeros(len(values)), np.ones(len(values))
    return draw_near_comparisons(values, appearances, score=unknown, spread=wide, rng=rng)


def _far_pairs(n: int, degree: int) -> Ints:
    """Pairs of places in an order, each place in `degree` of them, as far apart as that allows; none repeated.

    Places r and r + offset round the circle meet, for the offsets next to n/2. If n·degree is odd, one place is in one
    pair fewer. The degree is at most n/2.
    """
    half, place = n // 2, np.arange(n)
    parts = [np.empty((0, 2), dtype=np.int64)]
    if degree % 2 and n % 2 == 0:
        parts.append(np.stack((place[:half], place[half:]), axis=1))
    elif degree % 2:
        ring = np.arange(n) * half % n  # half has no divisor in common with n = 2·half + 1
        parts.append(ring[: n - 1].reshape(-1, 2))
    nearest = half - 1 if n % 2 == 0 or degree % 2 else half
    for offset in range(nearest, nearest - degree // 2, -1):
        parts.append(np.stack((place, (place + offset) % n), axis=1))
    return np.concatenate(parts)


def _near_pairs(score: Floats, spread: Floats, m: int, rng: np.random.Generator) -> Ints:
    """Pairs of vertices with near scores, each vertex in M of them, none repeated; connected where M ≥ 2.

    If M·n is odd, one vertex is in M + 1 of them.
    """
    n = len(score)
    if m == 0:
        return np.empty((0, 2), dtype=np.int64)
    rank = np.empty(n, dtype=np.int64)
    rank[np.argsort(score, kind="stable")] = np.arange(n)
    for _ in range(TRIES):
        rings = [_ring(_drawn_order(score, spread, 2 * turn, rng), turn) for turn in range(m // 2)]
        if m % 2:
            rings.append(_matching(_drawn_order(score, spread, m - 1, rng), rng))
        edges = np.concatenate(rings)
        if _repair(edges, rank, rng) and (m < 2 or _join(edges, n, rng)):
            return edges
    # Small graphs may leave no room for a repair: then without regard to scores.
    return regular_pairs(n, len(edges), rng)


def _drawn_order(score: Floats, spread: Floats, blur: int, rng: np.random.Generator) -> Ints:
    order = np.argsort(score + spread * rng.standard_normal(len(score)), kind="stable")
    place = np.arange(len(order)) + rng.uniform(-blur, blur, len(order))
    return order[np.argsort(place, kind="stable")]


def _ring(order: Ints, turn: int) -> Ints:
    """A ring: the first turn joins every item to the next, the others every second one upwards and back on the rest."""
    ring = order if turn == 0 else np.concatenate((order[::2], order[1::2][::-1]))
    return np.stack((ring, np.roll(ring, -1)), axis=1)


def _matching(order: Ints, rng: np.random.Generator) -> Ints:
    """Each item with the next; one of an odd number is left over, and meets a neighbour besides."""
    if len(order) % 2 == 0:
        return order.reshape(-1, 2)
    single = 2 * int(rng.integers(len(order) // 2 + 1))
    neighbour = single - 1 if single else 1
    return np.concatenate((np.delete(order, single).reshape(-1, 2), [[order[single], order[neighbour]]]))


def _repair(edges: Ints, rank: Ints, rng: np.random.Generator) -> bool:
    """Exchange ends of repeated edges with edges nearby in rank, in place, until none is left.

    Many at once while there are many; the last ones each on their own. Returns whether none is left.
    """
    n = len(rank)
    order = np.argsort(rank[edges].sum(axis=1), kind="stable")
    # Next neighbours, the first ring, stay together if there is anything else to exchange with.
    place = order[order >= n] if len(edges) >= 2 * n else order
    where = np.searchsorted(rank[edges[place]].sum(axis=1), rank[edges].sum(axis=1))
    for _ in range(ROUNDS):
        faulty = np.flatnonzero(faulty_edges(edges, n))
        if len(faulty) <= FEW:
            break
        partner = _partners(where[faulty], place, 8, rng)
        # No edge may stand in two exchanges at once.
        ends = np.concatenate((faulty, partner))
        first = np.zeros(len(ends), dtype=bool)
        first[np.unique(ends, return_index=True)[1]] = True
        free = first[: len(faulty)] & first[len(faulty) :]
        if free.any():
            exchange(edges, faulty[free], partner[free], n, rng)
    faulty = np.flatnonzero(faulty_edges(edges, n))
    times = Counter(edge_keys(edges, n).tolist()) if len(faulty) else Counter()
    for edge in faulty.tolist():
        partners = _partners(np.repeat(where[edge], MAX_TRIES), place, np.arange(8, 8 + 2 * MAX_TRIES, 2), rng)
        if times[int(edge_keys(edges[edge : edge + 1], n)[0])] > 1 and not _exchange_one(
            edges, edge, partners, n, times
        ):
            return False
    return True


def _partners(at: Ints, place: Ints, reach: int | Ints, rng: np.random.Generator) -> Ints:
    """For each edge that stands `at` a place of the order `place` another one at most `reach` places off."""
    shift = rng.integers(1, reach, len(at)) * (2 * rng.integers(2, size=len(at)) - 1)
    return place[np.clip(at + shift, 0, len(place) - 1)]


def _exchange_one(edges: Ints, edge: int, partners: Ints, n: int, times: Counter[int]) -> bool:
    """Exchange ends of one edge with the first of `partners` that leaves no loop and no new repeat."""
    a, b = edges[edge].tolist()
    taken = times.get

    def key(u: int, v: int) -> int:
        return u * n + v if u < v else v * n + u

    for partner, (c, d) in zip(partners.tolist(), edges[partners].tolist(), strict=True):
        if c in (a, b, d) or d in (a, b):
            continue
        one, other, ends = key(a, c), key(b, d), ((a, c), (b, d))  # four different ends make two different edges
        if taken(one) or taken(other):
            one, other, ends = key(a, d), key(b, c), ((a, d), (b, c))
            if taken(one) or taken(other):
                continue
        edges[edge], edges[partner] = ends
        times[key(a, b)] -= 1
        times[key(c, d)] -= 1
        times[one] = times[other] = 1
        return True
    return False


def _join(edges: Ints, n: int, rng: np.random.Generator) -> bool:
    """Exchange ends of edges of different parts, in place, until the graph is connected."""
    for _ in range(MAX_TRIES):
        graph = coo_array((np.ones(len(edges), np.int8), (edges[:, 0], edges[:, 1])), shape=(n, n))
        n_parts, part = connected_components(graph, directed=False)
        if n_parts == 1:
            return True
        drawn = rng.permutation(len(edges))
        _, at = np.unique(part[edges[drawn, 0]], return_index=True)  # a random edge of every part
        chosen = drawn[at][: len(at) // 2 * 2]
        exchange(edges, chosen[0::2], chosen[1::2], n, rng)
    return False


def _numbers(values: ArrayLike, n: int, name: str) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (n,) or not np.isfinite(array).all():
        raise InputError(f"{name} must be one finite number for each of {n} items, found shape {array.shape}.")
    return array
