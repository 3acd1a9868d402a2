"""Which pairs of tokens become items: all of them, a sample, or all but some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...errors import Issue
from ...tables import ITEMS
from ...tokens.files import AreaTokens
from ...tokens.items import all_pairs, exclude, merge_shared, sample_items


@dataclass(frozen=True)
class ItemRules:
    """`excluded` pairs (area, token, token) are left out first; with `merge_shared`, a pair of tokens that stands in
    several areas stays only in the first of them; then `sample_size` items an area are drawn (all for None).

    The draw follows from the project's seed.
    """

    sample_size: int | None = None
    excluded: tuple[tuple[str, str, str], ...] = ()
    merge_shared: bool = False

    @classmethod
    def of(cls, stored: dict[str, Any] | None) -> ItemRules:
        """The rules as the store keeps them; None stands for all pairs."""
        if stored is None:
            return cls()
        excluded = tuple((a, b, c) for a, b, c in stored.get("excluded", ()))
        return cls(stored.get("sample_size"), excluded, bool(stored.get("merge_shared")))

    def respelled(self, area: str, old: str, new: str) -> ItemRules:
        """The same rules for a token of an area that is spelled in another way now."""
        pairs: list[tuple[str, str, str]] = []
        for of, a, b in self.excluded:
            changed = (area, new if a == old else a, new if b == old else b)
            if of != area:
                pairs.append((of, a, b))  # one for all areas holds for the others as it was
            if of == area or (of == "" and old in (a, b)):
                pairs.append(changed)
        return ItemRules(self.sample_size, tuple(pairs), self.merge_shared)

    def stored(self) -> dict[str, Any]:
        """The rules as the store keeps them."""
        return asdict(self)


@dataclass(frozen=True)
class Made:
    """The items that follow from areas and rules, numbered 0…N−1, and what a person should know of them.

    `n_merged` pairs are in an earlier area already and so no items of their own.
    """

    items: pd.DataFrame
    n_pairs: int
    unknown: tuple[Issue, ...]
    without: tuple[tuple[str, str], ...]
    n_merged: int = 0


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
    n_merged = 0
    if rules.merge_shared:
        merged = merge_shared(items)
        items, n_merged = merged, len(items) - len(merged)
    if rules.sample_size is not None and len(items):
        rng = np.random.default_rng([seed, 1, 6])
        sampled = sample_items(items, size=rules.sample_size, rng=rng)
        items, without = sampled.items, sampled.without
    return Made(ITEMS.check(items), n_pairs, unknown, without, n_merged)
