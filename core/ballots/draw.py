"""Drawing a ballot: its items, its comparisons, what is shown where, and who gets which task.

Everything random comes from a generator that is passed in: the same seed gives the same ballot, byte
for byte. The rules are those of Lombardo et al. (2020), EMNLP, sections 2.4 and 2.5.

Behind a ballot are random graphs: items are vertices 0…n−1, comparisons are edges, an item's appearances are its
degree.

References: Bender, Canfield (1978), The asymptotic number of labeled graphs with given degree sequences,
JCT A 24 (pairing of edge ends); McKay, Wormald (1990), Uniform generation of random regular graphs of
moderate degree, J. Algorithms 11 (switches).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..errors import InputError
from ..metrics import rounded_scores
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


def draw_comparisons(items: ArrayLike, appearances: int, *, rng: np.random.Generator) -> Ints:
    """Draw a ballot's comparisons: each item appears M times, opponents uniformly at random.

    If M·N is odd, one item drawn at random appears M + 1 times. No item meets itself. No two items
    meet twice while M ≤ N − 1; above that the counts of any two pairs of items differ by at most one.
    In each of the two columns every item appears equally often, within one.

    Parameters
    ----------
    items : the N ≥ 2 items of the ballot, whole numbers, all different, shape (N,).
    appearances : M, at least 1.
    rng : source of the draw.

    Returns shape (⌈M·N/2⌉, 2): the values in `items` that meet, rows in random order.
    Raises `InputError` for fewer than two items, repeated items, or M < 1.

    >>> pairs = draw_comparisons([10, 20, 30], 2, rng=np.random.default_rng(1))
    >>> sorted(sorted(pair) for pair in pairs.tolist())
    [[10, 20], [10, 30], [20, 30]]
    """
    values = checked_items(items)
    return _draw(values, (whole_number(appearances, 1, "appearances") * len(values) + 1) // 2, rng)


def draw_uniform(items: ArrayLike, n_comparisons: int, *, rng: np.random.Generator) -> Ints:
    """Draw exactly `n_comparisons` comparisons, every item ⌊M⌋ or ⌈M⌉ times with M = 2·n_comparisons/N.

    The protocol "uniform": one ballot with the votes of a whole plan. Otherwise as `draw_comparisons`.
    """
    return _draw(checked_items(items), whole_number(n_comparisons, 1, "n_comparisons"), rng)


def _draw(values: Ints, n_comparisons: int, rng: np.random.Generator) -> Ints:
    pairs = rng.permutation(regular_pairs(len(values), n_comparisons, rng))
    turned = balanced_sides(pairs, rng)
    pairs[turned] = pairs[turned][:, ::-1]
    return values[pairs]


def orient(pairs: ArrayLike, *, rng: np.random.Generator) -> Bools:
    """Which comparisons to show flipped (first item on the right), shape (n,).

    Every item is shown on the left and on the right equally often within one, whatever the columns
    of `pairs` are. Raises `InputError` unless `pairs` has shape (n, 2) without an item against itself.

    >>> orient([[0, 1], [0, 1]], rng=np.random.default_rng(1)).sum()
    np.int64(1)
    """
    return balanced_sides(checked_pairs(pairs), rng)


def balanced_swaps(pairs: ArrayLike, *, rng: np.random.Generator) -> Bools:
    """Where to print an item's second token first, shape (n, 2) like `pairs`.

    Over its showings every item has either order equally often within one, drawn at random.

    >>> balanced_swaps([[0, 1], [1, 0]], rng=np.random.default_rng(1)).sum()
    np.int64(2)
    """
    ends = checked_pairs(pairs).ravel()
    shuffled = rng.permutation(len(ends))
    order = shuffled[stable_order(ends[shuffled])]
    _, starts, counts = np.unique(ends[order], return_index=True, return_counts=True)
    rank = np.arange(len(ends)) - np.repeat(starts, counts)
    odd_one = np.repeat(rng.integers(2, size=len(starts)), counts)
    swapped = np.empty(len(ends), dtype=bool)
    swapped[order] = (rank + odd_one) % 2 == 1
    return swapped.reshape(-1, 2)


def split_into_tasks(pairs: ArrayLike, task_size: int, *, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Split comparisons into tasks at random.

    There are T tasks: ⌈n / task_size⌉, or more where the same two items meet more than T times, since
    no task holds the same two items twice. The sizes of tasks differ by at most one.

    Parameters
    ----------
    pairs : the items of each comparison, shape (n, 2); `task_size` : most comparisons in a task, at least 1.

    Returns task 0…T−1 of each comparison and its position 0… within the task, both of shape (n,).

    >>> task, position = split_into_tasks([[0, 1], [1, 0], [0, 2]], 3, rng=np.random.default_rng(1))
    >>> bool(task[0] != task[1]), sorted(np.bincount(task).tolist())
    (True, [1, 2])
    """
    met, size = checked_pairs(pairs), whole_number(task_size, 1, "task_size")
    if not len(met):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    # One number a pair of items, in the order of the pairs: far quicker to sort than the pairs themselves.
    _, code = np.unique(met, return_inverse=True)
    low, high = np.sort(code.reshape(-1, 2), axis=1).T
    _, group, counts = np.unique(low * (code.max() + 1) + high, return_inverse=True, return_counts=True)
    n_tasks = max(-(-len(met) // size), int(counts.max()))
    # Comparisons of the same two items lie side by side; put into tasks in turn they reach different tasks.
    shuffled = rng.permutation(len(met))
    order = shuffled[stable_order(rng.permutation(len(counts))[group[shuffled]])]
    task = np.empty(len(met), dtype=np.int64)
    task[order] = rng.permutation(n_tasks)[np.arange(len(met)) % n_tasks]
    return task, _random_places(task, rng)


def _random_places(task: Ints, rng: np.random.Generator) -> Ints:
    shuffled = rng.permutation(len(task))
    order = shuffled[stable_order(task[shuffled])]
    counts = np.bincount(task)
    position = np.empty(len(task), dtype=np.int64)
    position[order] = np.arange(len(task)) - np.repeat(np.cumsum(counts) - counts, counts)
    return position


@dataclass(frozen=True)
class DrawnBallot:
    """A drawn ballot, one row per comparison, sorted by task and position; all arrays of shape (n,).

    first, second : the values in `items` that meet; flipped : first is shown on the right;
    left_swapped, right_swapped : the item on that side has its second token printed first;
    task, position : from 0.
    """

    first: Ints
    second: Ints
    flipped: Bools
    left_swapped: Bools
    right_swapped: Bools
    task: Ints
    position: Ints

    @property
    def n_tasks(self) -> int:
        """Number of tasks."""
        return int(self.task.max(initial=-1)) + 1


def draw_ballot(
    items: ArrayLike,
    appearances: int,
    *,
    task_size: int,
    seed: int,
    pairs_of: Callable[[np.random.Generator], Ints] | None = None,
) -> DrawnBallot:
    """Draw a whole ballot: comparisons, sides, token orders and tasks, each balanced by its own function.

    `items` and `appearances` as in `draw_comparisons`, `task_size` as in `split_into_tasks`. `pairs_of` draws the
    comparisons of these items, (n, 2), in place of opponents drawn uniformly. The same seed (a whole number from 0 on)
    gives the same arrays. Raises `InputError`.
    """
    rng = np.random.default_rng(whole_number(seed, 0, "seed"))
    pairs = draw_comparisons(items, appearances, rng=rng) if pairs_of is None else pairs_of(rng)
    task, position = split_into_tasks(pairs, task_size, rng=rng)
    order = np.lexsort((position, task))
    pairs = pairs[order]
    flipped = orient(pairs, rng=rng)
    shown = np.where(flipped[:, None], pairs[:, ::-1], pairs)
    swapped = balanced_swaps(shown, rng=rng)
    return DrawnBallot(
        first=pairs[:, 0],
        second=pairs[:, 1],
        flipped=flipped,
        left_swapped=swapped[:, 0],
        right_swapped=swapped[:, 1],
        task=task[order],
        position=position[order],
    )


@dataclass(frozen=True)
class Selection:
    """Items that go on to the next ballot, in the order in which they were given.

    n_tied : items whose equal score lies on the cut, so that a draw decided; n_tied_kept : those of them
    that stayed. Both 0 where no draw was needed.
    """

    items: Ints
    n_tied: int
    n_tied_kept: int


def select_items(items: ArrayLike, mean: ArrayLike, n_keep: int, *, rng: np.random.Generator) -> Selection:
    """The `n_keep` items with the highest mean score; ties at the cut are drawn.

    Scores are compared as `metrics.rounded_scores` has them. The generator is used only for a draw.

    Parameters
    ----------
    items : whole numbers, all different, shape (n,); mean : their scores, shape (n,).
    n_keep : from 1 to n.

    Raises `InputError` for a missing score (NaN), or values that don't fit.

    >>> select_items([7, 8, 9], [0.2, 0.9, 0.5], 2, rng=np.random.default_rng(1))
    Selection(items=array([8, 9]), n_tied=0, n_tied_kept=0)
    """
    values = checked_items(items, least=1)
    scores = rounded_scores(mean)
    if scores.shape != values.shape:
        raise InputError(f"Each of {len(values)} items needs one score, found an array of shape {scores.shape}.")
    missing = int(np.isnan(scores).sum())
    if missing:
        raise InputError(
            f"{missing} of {len(values)} items have no score (the first is item {values[np.isnan(scores)][0]}); "
            "collect a vote on each before the next ballot is drawn."
        )
    keep = whole_number(n_keep, 1, "n_keep")
    if keep > len(values):
        raise InputError(f"{keep} items can't be kept of {len(values)}.")
    cut = np.partition(scores, len(scores) - keep)[len(scores) - keep]
    chosen, tied = scores > cut, np.flatnonzero(scores == cut)
    wanted = keep - int(chosen.sum())
    drawn = wanted < len(tied)
    chosen[rng.choice(tied, size=wanted, replace=False) if drawn else tied] = True
    return Selection(values[chosen], len(tied) if drawn else 0, wanted if drawn else 0)


def checked_items(items: ArrayLike, least: int = 2) -> Ints:
    """Different whole numbers, at least `least` of them, or `InputError`."""
    values = np.asarray(items)
    if values.ndim != 1 or not (np.issubdtype(values.dtype, np.integer) or values.size == 0):
        raise InputError(f"Items must be one row of whole numbers, found {values.dtype} of shape {values.shape}.")
    if len(values) < least:
        raise InputError(f"A ballot needs at least {least} items, found {len(values)}.")
    ordered = np.sort(values)
    if (ordered[1:] == ordered[:-1]).any():
        raise InputError(f"Item {ordered[1:][ordered[1:] == ordered[:-1]][0]} is in the list twice.")
    return values.astype(np.int64)


def checked_pairs(pairs: ArrayLike) -> Ints:
    values = np.asarray(pairs)
    if values.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if values.ndim != 2 or values.shape[1] != 2 or not np.issubdtype(values.dtype, np.integer):
        raise InputError(f"Comparisons must be whole numbers of shape (n, 2), found {values.dtype} {values.shape}.")
    if (values[:, 0] == values[:, 1]).any():
        raise InputError(f"Item {values[values[:, 0] == values[:, 1]][0, 0]} is compared with itself.")
    return values.astype(np.int64)


def whole_number(value: int, least: int, name: str) -> int:
    """The whole number, or `InputError` where it is none or below `least`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{name} must be a whole number, found {value!r}.") from None
    if number < least:
        raise InputError(f"{name} must be at least {least}, found {number}.")
    return number
