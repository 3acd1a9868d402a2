"""Which pairs of tokens become items: all of them, a sample, or all but some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..errors import Issue
from ..items import all_pairs, exclude, sample_items
from ..tables import ITEMS
from ..tokens import AreaTokens


@dataclass(frozen=True)
class ItemRules:
    """`excluded` pairs (area, token, token) are left out first; then `sample_size` items an area are drawn, or none.

    The draw follows from the project's seed.
    """

    sample_size: int | None = None
    excluded: tuple[tuple[str, str, str], ...] = ()

    @classmethod
    def of(cls, stored: dict[str, Any] | None) -> ItemRules:
        """The rules as the store keeps them; None stands for all pairs."""
        if stored is None:
            return cls()
        return cls(stored.get("sample_size"), tuple((a, b, c) for a, b, c in stored.get("excluded", ())))

    def stored(self) -> dict[str, Any]:
        """The rules as the store keeps them."""
        return asdict(self)


@dataclass(frozen=True)
class Made:
    """The items that follow from areas and rules, numbered 0…N−1, and what a person should know of them."""

    items: pd.DataFrame
    n_pairs: int
    unknown: tuple[Issue, ...]
    without: tuple[tuple[str, str], ...]


def make_items(areas: Sequence[AreaTokens], rules: ItemRules, seed: int) -> Made:
    """The items of the areas by the rules. The same seed draws the same sample.

    Exclusions of pairs that aren't there are `unknown`; tokens that a sample leaves without an item are `without`.
    """
    items = all_pairs(areas)
    n_pairs = len(items)
    unknown: tuple[Issue, ...] = ()
    without: tuple[tuple[str, str], ...] = ()
    if rules.excluded:
        pairs = pd.DataFrame(list(rules.excluded), columns=["area", "token_a", "token_b"], dtype="str")
        left = exclude(items, pairs)
        items, unknown = left.items, left.unknown
    if rules.sample_size is not None and len(items):
        rng = np.random.default_rng([seed, 1, 6])
        sampled = sample_items(items, size=rules.sample_size, rng=rng)
        items, without = sampled.items, sampled.without
    return Made(ITEMS.check(items), n_pairs, unknown, without)
