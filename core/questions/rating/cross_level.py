"""Models ranked on pairs of texts of different size: by level (paragraph to sentence, …) and by genre.

On each level a model's similarities are correlated with the gold ratings, and models stand in the order of the sum of
Pearson's r over the levels, Spearman's ρ beside it. A level that a model doesn't cover counts nothing, and says so. A
model may leave items out: it is then correlated over those it covers, and the number stands beside the figure.

Reference: Jurgens, Pilehvar, Navigli (2016), Cross Level Semantic Similarity, sections 4.1 and 5.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import InputError
from ...metrics import rounded_scores
from .statistics import pearson, spearman

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """Pearson's r and Spearman's ρ over `n` of `n_items` items, None with the reason where undefined."""

    pearson: float | None
    spearman: float | None
    n: int
    n_items: int
    reason: str = ""


@dataclass(frozen=True)
class Standing:
    """A model: its place (ties share the best), sums over levels, and its fit on each level and genre.

    unseen : over the genres that were held out, None where there are none.
    """

    model: str
    place: int
    sum_pearson: float
    sum_spearman: float
    by_level: Mapping[str, Fit]
    by_genre: Mapping[tuple[str, str], Fit]
    unseen: Fit | None


def fit_of(given: ArrayLike, gold: ArrayLike) -> Fit:
    """How a model's similarities go with gold ratings, items without either left out; equal to 12 digits is a tie."""
    x, y = np.asarray(given, dtype=np.float64), np.asarray(gold, dtype=np.float64)
    known = ~np.isnan(x) & ~np.isnan(y)
    r, reason = pearson(x[known], y[known])
    rho, _ = spearman(x[known], y[known])
    return Fit(r, rho, int(known.sum()), int((~np.isnan(y)).sum()), reason)


def rank_models(
    similarities: Mapping[str, ArrayLike],
    gold: ArrayLike,
    levels: Sequence[str],
    genres: Sequence[str],
    *,
    held_out: Sequence[str] = (),
) -> list[Standing]:
    """Models in the order of their summed Pearson's r, best first, equal sums in the order given.

    similarities : by model, (n,), NaN where it has none; gold : ratings (n,); levels, genres : of each item;
    held_out : genres that nobody could prepare for. Raises `InputError` where lengths differ or there is no item.
    """
    y, level, genre = np.asarray(gold, dtype=np.float64), np.asarray(levels), np.asarray(genres)
    values = {name: np.asarray(given, dtype=np.float64) for name, given in similarities.items()}
    if not len(y) or any(len(each) != len(y) for each in (level, genre, *values.values())):
        raise InputError(f"Levels, genres and every model need an entry for each of {len(y)} items.")
    strange = sorted(set(held_out) - set(genre.tolist()))
    if strange:
        raise InputError(f"There is no genre {', '.join(strange)} to hold out.")
    parts = list(dict.fromkeys(zip(level.tolist(), genre.tolist(), strict=True)))
    unseen = np.isin(genre, list(held_out))
    found = []
    for name, given in values.items():
        by_level = {str(one): fit_of(given[level == one], y[level == one]) for one in dict.fromkeys(level.tolist())}
        by_genre = {
            (str(one), str(other)): fit_of(given[here], y[here])
            for one, other in parts
            for here in [(level == one) & (genre == other)]
        }
        of_unseen = fit_of(given[unseen], y[unseen]) if unseen.any() else None
        sums = [sum(getattr(fit, figure) or 0.0 for fit in by_level.values()) for figure in ("pearson", "spearman")]
        found.append((name, sums, by_level, by_genre, of_unseen))
    totals = rounded_scores([sums[0] for _, sums, *_ in found]).tolist()
    standings = [
        Standing(name, 1 + sum(other > total for other in totals), sums[0], sums[1], by_level, by_genre, of_unseen)
        for (name, sums, by_level, by_genre, of_unseen), total in zip(found, totals, strict=True)
    ]
    return sorted(standings, key=lambda standing: standing.place)
