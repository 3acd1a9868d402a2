"""Drawing a ballot: its items, its comparisons, what is shown where, and who gets which task.

Everything random comes from a generator that is passed in: the same seed gives the same ballot, byte
for byte. The rules are those of Lombardo et al. (2020), EMNLP, sections 2.4 and 2.5.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..metrics import rounded_scores
from ..tables import Bools, Ints
from .graphs import balanced_sides, regular_pairs, stable_order


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
