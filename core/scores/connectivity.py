"""Which items the votes join: scores compare only within a part whose items are linked by votes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..errors import DisconnectedError

Ints = NDArray[np.int64]


def connected_parts(first: Ints, second: Ints) -> tuple[Ints, ...]:
    """The parts of the items that votes join, whoever won: sorted positions, the largest part first.

    Parts of one size stand by their first item. An item without a vote is in no part.

    Parameters: `first`, `second`, item positions of each vote, shape (n_votes,).

    >>> [part.tolist() for part in connected_parts(np.array([0, 1, 5]), np.array([2, 0, 6]))]
    [[0, 1, 2], [5, 6]]
    """
    first, second = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    items, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    if not len(items):
        return ()
    edges = (np.ones(len(first), dtype=np.int8), (place[: len(first)], place[len(first) :]))
    _, label = connected_components(coo_array(edges, shape=(len(items), len(items))), directed=False)
    order = np.argsort(label, kind="stable")
    found = np.split(items[order], np.flatnonzero(np.diff(label[order])) + 1)
    return tuple(sorted(found, key=lambda part: (-len(part), part[0])))


def check_connected(first: Ints, second: Ints) -> None:
    """Raise `DisconnectedError`, naming the parts, where votes leave the items in several."""
    parts = connected_parts(first, second)
    if len(parts) > 1:
        raise DisconnectedError(
            f"The votes leave the items in {len(parts)} parts that no vote joins, so there is no ranking over all of "
            "them. Collect votes on comparisons across the parts, or rank each by itself.",
            [tuple(part.tolist()) for part in parts],
        )
