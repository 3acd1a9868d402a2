"""Similarities that nobody measured: a family of distributions, given to items by the ranks of their scores.

What is fitted to votes with them is conditional on the family, and on the ranks, which the same votes made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..metrics import average_ranks
from .model import exponential, power_law

Floats = NDArray[np.float64]

FAMILIES = {"exponential": exponential, "power_law": power_law}


@dataclass(frozen=True, eq=False)
class AssumedSimilarity:
    """Similarities that nobody measured: z of a family, shape (n_items,), NaN where an item has no score."""

    z: Floats
    family: str


def similarity_from_ranks(scores: ArrayLike, family: str, *, notion: str = "relatedness") -> AssumedSimilarity:
    """Give the values of a family of distributions to items by the ranks of their scores.

    The item of the highest score gets the highest value: of |z| for relatedness (an opinion's |o| has the same law for
    z and −z, so |z| is given), of z for similarity. Tied items share the mean of their values. Items without a score
    (NaN) get none and don't count.

    family : "exponential" or "power_law" (`voters`). Raises `InputError` for another, or fewer than two scores.

    >>> similarity_from_ranks([0.1, 0.9, 0.1], "power_law", notion="similarity").z.round(3)
    array([0.051, 0.268, 0.051])
    """
    if family not in FAMILIES:
        raise InputError(f"The family must be one of {', '.join(FAMILIES)}, found {family!r}.")
    values = np.asarray(scores, dtype=np.float64)
    scored = np.flatnonzero(~np.isnan(values))
    if values.ndim != 1 or len(scored) < 2:
        raise InputError(f"Ranks need one row with at least two scores, found {len(scored)}.")
    drawn = FAMILIES[family](len(scored))
    drawn = np.sort(np.abs(drawn) if notion == "relatedness" else drawn)[::-1]
    _, place, count = np.unique(average_ranks(values[scored]), return_inverse=True, return_counts=True)
    ends = np.cumsum(count)
    sums = np.concatenate(([0.0], np.cumsum(drawn)))
    z = np.full(len(values), np.nan)
    z[scored] = ((sums[ends] - sums[ends - count]) / count)[place]
    return AssumedSimilarity(z, family)
