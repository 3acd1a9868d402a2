"""Which items votes join: scores can be compared only along chains of votes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ..errors import DisconnectedError, InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def parts(one: Ints, other: Ints, n_items: int, *, one_way: bool = False) -> Ints:
    """Number 0… of the connected part of each item, by the order of their first items; −1 without an edge.

    `one_way`: parts in which every item reaches every other along the direction one → other.
    """
    graph = csr_array((np.ones(len(one), np.int8), (one, other)), shape=(n_items, n_items))
    _, label = connected_components(graph, directed=one_way, connection="strong" if one_way else "weak")
    met = np.zeros(n_items, dtype=bool)
    met[one] = met[other] = True
    result = np.full(n_items, -1, dtype=np.int64)
    _, first_at, code = np.unique(label[met], return_index=True, return_inverse=True)
    result[met] = np.argsort(np.argsort(first_at))[code]
    return result


def connected_parts(one: Ints, other: Ints, n_items: int) -> tuple[Ints, ...]:
    """The positions of the items in each connected part (see `parts`), the largest part first.

    Parts of one size stand by their first item. An item without a vote is in none.

    >>> [part.tolist() for part in connected_parts(np.array([0, 1, 5]), np.array([2, 0, 6]), 7)]
    [[0, 1, 2], [5, 6]]
    """
    label = parts(one, other, n_items)
    order = np.argsort(label, kind="stable")
    found = np.split(order, np.flatnonzero(np.diff(label[order], prepend=-1)))[1:]
    return tuple(sorted(found, key=lambda part: (-len(part), int(part[0]))))


def checked_parts(a: Ints, b: Ints, y: Floats, n_items: int, ridge: float, by_part: bool) -> Ints:
    """The part of each item (see `parts`), or the error that keeps its votes a, b, y from being fitted."""
    part = parts(a, b, n_items)
    if part.max(initial=-1) < 0:
        raise InputError("There are no votes, so there is nothing to score.")
    if part.max() > 0 and not by_part:
        raise disconnected(part)
    if ridge == 0:
        won, lost = y > 0, y < 1
        winner, loser = np.concatenate((a[won], b[lost])), np.concatenate((b[won], a[lost]))
        if parts(winner, loser, n_items, one_way=True).max() > part.max():
            raise InputError(
                "Without a ridge the scores exist only if every item can be reached from every other along wins, "
                "and here some items never lost to the others. Use a ridge above 0."
            )
    return part


def disconnected(part: Ints) -> DisconnectedError:
    """The error that names the parts."""
    members = [tuple(np.flatnonzero(part == number).tolist()) for number in range(int(part.max()) + 1)]
    shown = "; ".join(
        f"{len(items)} items ({', '.join(map(str, items[:3]))}{', …' if len(items) > 3 else ''})"
        for items in members[:4]
    )
    more = f"; and {len(members) - 4} more" if len(members) > 4 else ""
    return DisconnectedError(
        f"No chain of votes joins {len(members)} parts of the items, so their scores can't be compared: {shown}{more}. "
        "Collect votes on comparisons between the parts.",
        members,
    )
