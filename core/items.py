"""Items: all unordered pairs of the tokens of each area (§2.2 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pandas as pd

from .tables import ITEMS
from .tokens import AreaTokens


def all_pairs(areas: Sequence[AreaTokens]) -> pd.DataFrame:
    """Every pair of distinct tokens of each area, numbered 0…N−1 in the order of areas and tokens.

    N(N−1)/2 items an area of N tokens; tokens of different areas are never paired.

    >>> all_pairs([AreaTokens("x", ("a", "b", "c"))])[["token_a", "token_b"]].values.tolist()
    [['a', 'b'], ['a', 'c'], ['b', 'c']]
    """
    rows = [(area.name, a, b) for area in areas for a, b in combinations(area.tokens, 2)]
    frame = pd.DataFrame(rows, columns=["area", "token_a", "token_b"], dtype="str")
    frame.insert(0, "item", range(len(frame)))
    return ITEMS.check(frame.astype({"item": "int64"}))


def shared_pairs(areas: Sequence[AreaTokens]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Pairs of tokens that stand in more than one area, with the areas: each counts as an item of its own there."""
    seen: dict[tuple[str, str], list[str]] = {}
    for area in areas:
        for a, b in combinations(sorted(area.tokens), 2):
            seen.setdefault((a, b), []).append(area.name)
    return [(a, b, tuple(names)) for (a, b), names in seen.items() if len(names) > 1]
