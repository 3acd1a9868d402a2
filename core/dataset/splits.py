"""A dataset in two parts that share no token, so that what is tuned on one tells nothing of the other.

Items of a split by items would share their tokens: a model that learns where "ship" lies from the one part knows half
of each item with "ship" in the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..errors import InputError
from ..tables import DATASET

RULE = (
    "Each area's tokens are drawn at random into dev and test; an item belongs to the part that has both of its "
    "tokens, and an item with a token in each is left out. A token of several areas is in one part in all of them."
)


@dataclass(frozen=True, eq=False)
class Split:
    """The two parts (schema DATASET, rows in the dataset's order), and what is left out."""

    dev: pd.DataFrame
    test: pd.DataFrame
    left_out: pd.DataFrame
    dev_tokens: frozenset[str]
    test_tokens: frozenset[str]

    @property
    def sizes(self) -> dict[str, int]:
        """Items and tokens of each part."""
        return {
            "dev_items": len(self.dev),
            "test_items": len(self.test),
            "left_out_items": len(self.left_out),
            "dev_tokens": len(self.dev_tokens),
            "test_tokens": len(self.test_tokens),
        }


def split_by_tokens(dataset: pd.DataFrame, *, dev_share: float, rng: np.random.Generator) -> Split:
    """Draw `dev_share` of each area's tokens into dev, the others into test; see `RULE` for the items.

    With a share p about p² of the items are in dev and (1 − p)² in test. Ranks and scores stay those of the whole
    dataset. Tokens are compared as they are written. The same dataset and generator state give the same split,
    whatever the order of its rows. Raises `InputError` for a share outside 0 to 1, or where a part has fewer than two
    items.

    >>> table = pd.DataFrame({"area": "x", "token_a": list("aaabbc"), "token_b": list("bcdcdd"), "score": 0.5})
    >>> split = split_by_tokens(table, dev_share=0.5, rng=np.random.default_rng(0))
    Traceback (most recent call last):
        ...
    core.errors.InputError: Split by tokens, dev would have 1 item and test 1 item; each needs two at least. Choose \
another share, or leave the dataset in one part.
    """
    DATASET.check(dataset)
    if not 0 < dev_share < 1:
        raise InputError(f"The share of the tokens in dev must lie between 0 and 1, found {dev_share:g}.")
    dev: set[str] = set()
    test: set[str] = set()
    for area in sorted(dataset["area"].unique()):
        rows = dataset[dataset["area"] == area]
        tokens = sorted(set(rows["token_a"]) | set(rows["token_b"]))
        new = [token for token in tokens if token not in dev and token not in test]
        wanted = round(dev_share * len(tokens)) - sum(token in dev for token in tokens)
        drawn = rng.permutation(len(new))[: max(0, wanted)]
        chosen = {new[place] for place in drawn.tolist()}
        dev |= chosen
        test |= set(new) - chosen
    inside = dataset["token_a"].isin(list(dev)).astype(int) + dataset["token_b"].isin(list(dev)).astype(int)
    parts = [dataset[inside == n].reset_index(drop=True) for n in (2, 0, 1)]
    if min(len(parts[0]), len(parts[1])) < 2:
        counts = [f"{len(part)} item{'s' * (len(part) != 1)}" for part in parts[:2]]
        raise InputError(
            f"Split by tokens, dev would have {counts[0]} and test {counts[1]}; each needs two at least. "
            "Choose another share, or leave the dataset in one part."
        )
    return Split(parts[0], parts[1], parts[2], frozenset(dev), frozenset(test))
