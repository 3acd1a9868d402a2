"""Parts of the items that votes join."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import DisconnectedError
from core.scores import fit_bradley_terry
from core.scores.pair_graph import connected_parts

votes = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)).filter(lambda pair: pair[0] != pair[1]), max_size=14)


def by_flooding(pairs):
    """Parts by walking from item to item."""
    parts, seen = [], set()
    for start in sorted({item for pair in pairs for item in pair}):
        if start in seen:
            continue
        part, todo = set(), [start]
        while todo:
            item = todo.pop()
            part.add(item)
            todo += [b for a, b in [*pairs, *((b, a) for a, b in pairs)] if a == item and b not in part]
        seen |= part
        parts.append(sorted(part))
    return sorted(parts, key=lambda part: (-len(part), part[0]))


@settings(deadline=None)
@given(votes)
def test_parts_are_those_found_by_walking(pairs):
    first, second = (np.array([pair[side] for pair in pairs], dtype=int) for side in (0, 1))
    assert [part.tolist() for part in connected_parts(first, second, 13)] == by_flooding(pairs)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("44-votes-disconnected.csv", [(0, 1), (2, 3)]),
        ("45-votes-undefeated.csv", [(0, 1, 2)]),
        ("47-votes-cycle.csv", [(0, 1, 2)]),
    ],
)
def test_cases(cases, name, parts):
    table = pd.read_csv(cases / name)
    first, second = table["winner"].to_numpy(), table["loser"].to_numpy()
    assert [tuple(part.tolist()) for part in connected_parts(first, second, 13)] == parts
    fit = partial(
        fit_bradley_terry, first, second, np.ones(len(table)), n_items=int(max(first.max(), second.max())) + 1
    )
    if len(parts) == 1:
        assert fit().converged
    else:
        with pytest.raises(DisconnectedError, match="2 parts") as caught:
            fit()
        assert list(caught.value.parts) == parts
