"""τ-b of rankings under weights, in n·log n: the pairs by one merge sort read backwards.

Every sum here has terms of one sign only, and prefix sums start anew in each block. With weights that span twelve
powers of ten, differences of long running sums would cost the last digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .tables import Floats


def dot(a: Floats, b: Floats) -> float:
    """Σ a·b, summed pairwise. BLAS would take several threads, which wait for each other on a busy machine."""
    return float(np.add.reduce(a * b))


def clipped(value: Any) -> float:
    return float(min(1.0, max(-1.0, value)))


def runs(ordered: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Starts and lengths of the runs of equal values in an ordered array."""
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))) if len(ordered) else np.empty(0, int)
    return starts, np.diff(starts, append=len(ordered))


def tau_of_ranks(a: Floats, b: Floats, *weights: Floats) -> list[float]:
    """τ-b of two lists of ranks under each of several lists of weights of the items, a pair weighing w_i·w_j.

    a, b : shape (n,), multiples of one half, neither constant; weights : each (n,), none scaled. Several at once cost
    little more than one.
    """
    # Ties of a are placed in the order of b, and ties of b stand in the order of a: neither is discordant.
    order_a = _order(a, b)
    place = np.empty(len(a), dtype=np.int32 if len(a) < 1 << 30 else np.int64)
    place[order_a] = np.arange(len(a))
    order_b = _order(b, place)
    discordant = _discordant(place[order_b], np.stack(weights)[:, order_b])
    result = []
    for w, against in zip(weights, discordant.tolist(), strict=True):
        untied_a, untied_b = _untied(a, w, order_a), _untied(b, w, order_b)
        # The pairs that are tied in neither: those untied in a, without those among them that are tied in b.
        for_or_against = untied_a - _untied_within(a, b, w, order_b)
        result.append(clipped((for_or_against - 2 * against) / math.sqrt(untied_a) / math.sqrt(untied_b)))
    return result


def _untied_within(a: Floats, b: Floats, w: Floats, order: NDArray[np.intp]) -> float:
    """Σ w_i w_j over the pairs i < j that are tied in b, and not in a; `order` is that of b, ties in that of a."""
    starts, lengths = runs(b[order])
    tied = np.repeat(lengths > 1, lengths)
    if not tied.any():
        return 0.0
    rows = order[tied]
    which = np.repeat(np.arange(len(starts)), lengths)[tied]
    weight, rank = w[rows], a[rows]
    new = np.concatenate(([True], (rank[1:] != rank[:-1]) | (which[1:] != which[:-1])))
    first = np.flatnonzero(new)
    sums, run = np.add.reduceat(weight, first), which[first]
    before = np.cumsum(sums) - sums
    begins = np.flatnonzero(np.concatenate(([True], run[1:] != run[:-1])))
    before -= np.repeat(before[begins], np.diff(begins, append=len(run)))
    return dot(sums, np.maximum(before, 0.0))


def _untied(rank: Floats, w: Floats, order: NDArray[np.intp]) -> float:
    """Σ w_i w_j over the pairs i < j whose ranks, of which the `order` is known, differ."""
    starts, _ = runs(rank[order])
    sums = np.add.reduceat(w[order], starts)
    return dot(sums[1:], np.cumsum(sums)[:-1])


def _discordant(ordered: NDArray[Any], w: Floats) -> Floats:
    """Σ w_i w_j over the pairs whose ranks differ in both rankings, in opposite directions; (k,) for weights (k, n).

    ordered : the items' places in the order of a, (n,), as they stand in the order of b; w : (k, n) in the same order.

    Merge sort read backwards. A pair is discordant if the later one in b has the smaller place. Split at the highest
    bit of the place: any pair the bit tells apart is counted now, the others fall into the same half and are
    counted at a lower bit. Every half has the same known size, so a level is a handful of array calls.
    Weights that are all alike need no more than the number of pairs.
    """
    n = len(ordered)
    levels = max(1, (n - 1).bit_length())
    place: NDArray[Any] = np.arange(1 << levels, dtype=ordered.dtype)
    even = (w == w[:, :1]).all(axis=1)
    weight: NDArray[Any] = np.zeros(
        (int((~even).sum()), 1 << levels)
    )  # the padding up to a power of two weighs nothing
    place[:n], weight[:, :n] = ordered, w[~even]
    count, total, room = 0, np.zeros(len(w)), np.empty((2, 1 << levels))
    for level in reversed(range(levels)):
        size = 1 << level
        upper = (place & size) != 0
        if even.any():
            above = _running(upper.astype(place.dtype), 2 * size)
            count += int(np.add.reduce(above.compress(~upper), dtype=np.int64))
        for number, part in zip(np.flatnonzero(~even), weight, strict=True):
            total[number] += np.add.reduce(_against(part, upper, size, room))
            _halve(part, upper, size, room[0])
        _halve(place, upper, size, room[0].view(place.dtype))
    total[even] = count * w[even, 0] ** 2
    return total


def _against(weight: Floats, upper: NDArray[np.bool_], size: int, room: Floats) -> Floats:
    """For each item of a lower half its weight times that of those of the upper half before it, else 0; in `room`.

    Room is kept from level to level, (2, n) at least: asking the system for new pages takes longer than the sums.
    """
    opposed, before = room[0, : len(weight)], room[1, : len(weight)]
    np.multiply(weight, upper, out=opposed)
    _running(opposed, 2 * size, out=before)
    np.subtract(weight, opposed, out=opposed)
    return np.multiply(opposed, before, out=opposed)


def _halve(values: NDArray[Any], upper: NDArray[np.bool_], size: int, room: NDArray[Any]) -> None:
    """Bring those of the lower half to the front of every 2·`size` values, in place, else in the order they had."""
    # `compress` takes a tenth of the time of indexing with truth values.
    lower, above = room[: len(values) // 2], room[len(values) // 2 : len(values)]
    values.compress(~upper, out=lower)
    values.compress(upper, out=above)
    halves = values.reshape(-1, 2, size)
    halves[:, 0], halves[:, 1] = lower.reshape(-1, size), above.reshape(-1, size)


def _running(values: NDArray[Any], size: int, *, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Running sums that start anew every `size` values."""
    sums = np.empty_like(values) if out is None else out
    rows, into = values.reshape(-1, size), sums.reshape(-1, size)
    if size > 8:
        np.cumsum(rows, axis=1, dtype=values.dtype, out=into)
    else:  # many short rows go faster column by column
        into[:, 0] = rows[:, 0]
        for column in range(1, size):
            np.add(into[:, column - 1], rows[:, column], out=into[:, column])
    return sums


def _order(major: NDArray[Any], minor: NDArray[Any]) -> NDArray[np.intp]:
    """Order by `major`, ties by `minor`; both multiples of one half of a size up to n.

    One sort of whole numbers takes a fifth of the time of `numpy.lexsort`.
    """
    high, low = (np.rint(2 * key).astype(np.int64) for key in (major, minor))
    low -= low.min()
    return np.argsort(high * (low.max() + 1) + low)


def rho_and_tau_of_orders(
    a: Floats, b: Floats, orders: NDArray[np.intp], weight: Callable[[Floats], Floats]
) -> tuple[Floats, Floats]:
    """ρ_w and τ_w (τ-b) of two rankings for each of several ways to bring their items together; both (orders,).

    a, b : ranks in rising order, (n,), multiples of one half, neither constant; orders : (orders, n), each a
    permutation of 0 … n − 1: item i has the ranks a[orders[:, i]] and b[i]; weight : of a rank, above 0, an item
    weighing the sum of its two, in any scale. O(n log n) for each, all at once.
    """
    firsts = [runs(ranks)[0] for ranks in (a, b)]
    run_a, run_b = (np.searchsorted(first, np.arange(len(a)), side="right") - 1 for first in firsts)
    of_a, of_b = weight(a), weight(b)
    are_tied = [len(first) < len(a) for first in firsts]
    ordered, place = _placed(run_a, run_b, np.asarray(orders), *are_tied)
    w = of_a[ordered] + of_b
    by_a = np.empty_like(w)
    np.put_along_axis(by_a, place, w, axis=1)
    untied_a, untied_b = (_untied_rows(rows, first) for rows, first in ((by_a, firsts[0]), (w, firsts[1])))
    against = _discordant_rows(place, w)
    if not are_tied[1]:
        difference = untied_a - 2 * against
    elif not are_tied[0]:
        difference = untied_b - 2 * against
    else:  # what is concordant is discordant once a is reversed
        turned, place = _placed(run_a[-1] - run_a[::-1], run_b, len(a) - 1 - np.asarray(orders), True, True)
        difference = _discordant_rows(place, of_a[::-1][turned] + of_b) - against
    tau = np.clip(difference / np.sqrt(untied_a) / np.sqrt(untied_b), -1.0, 1.0)
    return _rho_rows(a[ordered], b, w), tau


def _placed(
    run_a: NDArray[np.intp], run_b: NDArray[np.intp], orders: NDArray[np.intp], tied_a: bool, tied_b: bool
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The orders with ties of b in the order of a, and each item's place in the order of a, its ties in that of b."""
    n = len(run_a)
    if tied_b:
        orders = np.sort(run_b * n + orders, axis=1) - run_b * n
    if not tied_a:
        return orders, orders
    place = np.empty_like(orders)
    at = np.broadcast_to(np.arange(n), orders.shape)
    np.put_along_axis(place, np.argsort(run_a[orders] * n + at, axis=1), at, axis=1)
    return orders, place


def _untied_rows(w: Floats, firsts: NDArray[np.intp]) -> Floats:
    """Σ w_i w_j over the pairs i < j of different runs, of each row; `firsts` are the runs' starts."""
    sums = np.add.reduceat(w, firsts, axis=1)
    return np.asarray(np.add.reduce(sums[:, 1:] * np.cumsum(sums, axis=1)[:, :-1], axis=1))


def _rho_rows(a: Floats, b: Floats, w: Floats) -> Floats:
    w = w / np.add.reduce(w, axis=1, keepdims=True)
    da = a - np.add.reduce(w * a, axis=1, keepdims=True)
    db = b - np.add.reduce(w * b, axis=1, keepdims=True)
    spread = np.sqrt(np.add.reduce(w * da * da, axis=1)) * np.sqrt(np.add.reduce(w * db * db, axis=1))
    return np.asarray(np.clip(np.add.reduce(w * da * db, axis=1) / spread, -1.0, 1.0))


def _discordant_rows(place: NDArray[np.intp], w: Floats) -> Floats:
    """Σ w_i w_j over the pairs i < j with place_i > place_j, of each row (rows, n); (rows,). See `_discordant`.

    Rows lie behind each other, each filled up to a power of two: no block of a level reaches over two of them.
    """
    rows, n = place.shape
    levels = max(1, (n - 1).bit_length())
    width = 1 << levels
    held: NDArray[Any] = np.tile(np.arange(width, dtype=np.int32 if width < 1 << 31 else np.int64), (rows, 1))
    weight = np.zeros((rows, width))
    held[:, :n], weight[:, :n] = place, w
    held, weight = held.ravel(), weight.ravel()
    total, room = np.zeros(rows), np.empty((2, rows * width))
    for level in reversed(range(levels)):
        size = 1 << level
        upper = (held & size) != 0
        total += np.add.reduce(_against(weight, upper, size, room).reshape(rows, width), axis=1)
        _halve(weight, upper, size, room[0])
        _halve(held, upper, size, room[0].view(held.dtype))
    return total
