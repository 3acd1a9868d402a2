"""A model's figures over parts of the items: frequent or rare tokens, the related or the unrelated."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .compare import over
from .results import Correlations, Evaluation

RARE, NOT_RARE = "with a rare token", "without a rare token"
UNKNOWN = "a frequency isn't known"
THIRDS = ("least frequent third", "middle third", "most frequent third")
RELATED = ("first tenth by people", "next tenth to half", "second half")
ORDER = (*RELATED, NOT_RARE, RARE, *THIRDS, UNKNOWN)
_CUTS = (0.1, 0.5)


def by_rarity(pairs: pd.DataFrame, rare: Mapping[str, bool | None]) -> NDArray[np.object_]:
    """The band of each item by whether one of its tokens is rare, (n,); None, or no entry, is unknown.

    One rare token is enough; an item that has none, but one that isn't known, is unknown.
    """
    known = [(rare.get(a), rare.get(b)) for a, b in zip(pairs["token_a"], pairs["token_b"], strict=True)]
    bands = [RARE if True in both else UNKNOWN if None in both else NOT_RARE for both in known]
    return np.array(bands, dtype=object)


def by_frequency(pairs: pd.DataFrame, frequency: Mapping[str, float]) -> NDArray[np.object_]:
    """The band of each item by the frequency of its rarer token, in thirds of the items whose frequencies are known.

    Equal frequencies fall into the same band, the lower one.
    """
    a, b = (pairs[side].map(frequency).to_numpy(dtype=np.float64) for side in ("token_a", "token_b"))
    rarer = np.minimum(a, b)  # NaN where one isn't known
    known = rarer[~np.isnan(rarer)]
    bands = np.full(len(pairs), UNKNOWN, dtype=object)
    if len(known):
        cuts = np.quantile(known, [1 / 3, 2 / 3], method="lower")
        place = np.searchsorted(cuts, rarer, side="left")
        for number, name in enumerate(THIRDS):
            bands[(place == number) & ~np.isnan(rarer)] = name
    return bands


def by_relatedness(scores: np.ndarray) -> NDArray[np.object_]:
    """The band of each item by its rank among people's scores (n,): the first tenth, up to the half, the rest.

    Equal scores fall into the same band, the higher one.
    """
    ordered = np.sort(-scores)
    places = np.searchsorted(ordered, -scores, side="left") / max(len(scores), 1)
    return np.array(RELATED, dtype=object)[np.searchsorted(_CUTS, places, side="right")]


def over_bands(
    evaluation: Evaluation, bands: NDArray[np.object_], *, items: NDArray[np.bool_] | None = None, apart: bool = False
) -> dict[str, Correlations]:
    """A model's figures over each band that has items; `items` (n,) says which of all items take part.

    Ranks are taken within a band. A band is narrower than the whole, so that its figures are lower: compare models
    within a band, not bands of a model.
    """
    inside = np.ones(len(bands), dtype=bool) if items is None else items
    named = sorted(set(bands[inside]), key=ORDER.index)
    return {name: over(evaluation, inside & (bands == name), apart=apart) for name in named}
