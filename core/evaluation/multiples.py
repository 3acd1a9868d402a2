"""Figures of two rankings when each item stands there several times, or not at all: what resampled tokens make of them.

An item of multiplicity m is m items with the same scores. Their copies tie with each other, so that everything follows
the rules of `core.metrics` for ties; nothing is copied, though, and the items are sorted once for all resamples.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import metrics, rank_kernels
from ..errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

NAMES = ("rho_w", "tau_w", "rho", "tau", "pearson", "precision")
TOP_K = 20
SIGNS_UP_TO = 1200  # items: beyond them the matrix of signs would be dearer than sorting
_BLOCK = 1 << 20  # values held of each array at a time


class Ranked:
    """The order of one list of scores, (n,), higher first, from which ranks follow for any multiplicities."""

    def __init__(self, scores: ArrayLike) -> None:
        rounded = metrics.rounded_scores(scores)
        self.order: Ints = np.argsort(-rounded, kind="stable")
        ordered = rounded[self.order]
        first = np.concatenate(([True], ordered[1:] != ordered[:-1])) if len(ordered) else np.empty(0, bool)
        self.starts: Ints = np.flatnonzero(first)
        # Which run of ties each item is in, 0 = the highest.
        self.run: Ints = np.empty(len(ordered), dtype=np.intp)
        self.run[self.order] = np.cumsum(first) - 1

    def runs(self, times: Floats) -> tuple[Floats, Floats]:
        """How many items stand above each run of ties, and how many are in it; both (resamples, runs)."""
        inside = np.add.reduceat(times[:, self.order], self.starts, axis=1)
        return np.cumsum(inside, axis=1) - inside, inside


class Multiples:
    """Two lists of scores of the same n items, and their figures for any multiplicities.

    x, y : shape (n,), higher = more related, without NaN; n0 : offset of the weights; top : k of the precision.
    """

    def __init__(self, x: ArrayLike, y: ArrayLike, *, n0: float = 2.0, top: int = TOP_K) -> None:
        self.x, self.y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        if self.x.shape != self.y.shape or self.x.ndim != 1 or not len(self.x):
            raise InputError(f"x and y must score the same items, found shapes {self.x.shape} and {self.y.shape}.")
        self.n0, self.top = n0, top
        self._x, self._y = Ranked(self.x), Ranked(self.y)
        self._signs: Floats | None = None

    def figures(self, times: ArrayLike, names: Iterable[str] = NAMES) -> dict[str, Floats]:
        """Each figure by each row of `times` (resamples, n), how often the items stand there; NaN where undefined.

        Returns arrays (resamples,) under `names`, of `NAMES`.
        """
        every, names = np.asarray(times, dtype=np.float64), tuple(names)
        step = max(1, _BLOCK // len(self.x))
        parts = [self._block(every[start : start + step], names) for start in range(0, len(every), step)]
        return {name: np.concatenate([part[name] for part in parts]) for name in names}

    def _block(self, times: Floats, names: tuple[str, ...]) -> dict[str, Floats]:
        above_x, inside_x = self._x.runs(times)
        above_y, inside_y = self._y.runs(times)
        # An item that stands there no time has no rank; 1 keeps its weight, which counts for nothing, a number.
        a = np.maximum(above_x + (inside_x + 1) / 2, 1)[:, self._x.run]
        b = np.maximum(above_y + (inside_y + 1) / 2, 1)[:, self._y.run]
        ranked = (np.count_nonzero(inside_x, axis=1) > 1) & (np.count_nonzero(inside_y, axis=1) > 1)
        raw = ((1 + self.n0) / (a + self.n0)) ** 2 + ((1 + self.n0) / (b + self.n0)) ** 2
        weight = times * raw
        made = {
            "rho_w": lambda: _correlation(a, b, weight, ranked),
            "tau_w": lambda: self._tau(a, b, weight),
            "rho": lambda: _correlation(a, b, times, ranked),
            "tau": lambda: self._tau(a, b, times),
            "pearson": lambda: _correlation(self.x[None], self.y[None], times, ranked),
            "precision": lambda: self._precision(times, (above_x, inside_x), (above_y, inside_y)),
        }
        return {name: made[name]() for name in names}

    def _precision(self, times: Floats, x: tuple[Floats, Floats], y: tuple[Floats, Floats]) -> Floats:
        """The share of the k highest by x that are among the k highest by y; ties at the cut count in part."""
        parts = []
        with np.errstate(invalid="ignore", divide="ignore"):
            for (above, inside), run in ((x, self._x.run), (y, self._y.run)):
                parts.append(np.clip(np.nan_to_num((self.top - above) / inside), 0, 1)[:, run])
        found = (times * parts[0] * parts[1]).sum(axis=1) / self.top
        return np.where(times.sum(axis=1) >= self.top, found, np.nan)

    def _tau(self, a: Floats, b: Floats, weight: Floats) -> Floats:
        if len(self.x) > SIGNS_UP_TO:
            return np.array([_tau(*row) for row in zip(a, b, weight, strict=True)])
        if self._signs is None:
            signs = [np.sign(ranked.run[:, None] - ranked.run[None]) for ranked in (self._x, self._y)]
            self._signs = (signs[0] * signs[1]).astype(np.float64)
        untied = [_untied(ranked, weight) for ranked in (self._x, self._y)]
        with np.errstate(invalid="ignore", divide="ignore"):
            found = ((weight @ self._signs) * weight).sum(axis=1) / 2 / np.sqrt(untied[0] * untied[1])
        possible = (untied[0] > 0) & (untied[1] > 0)
        return np.where(possible, np.clip(found, -1, 1), np.nan)


def _untied(ranked: Ranked, weight: Floats) -> Floats:
    """Σ w_i w_j over the pairs i < j of different ranks; (resamples,)."""
    sums = np.add.reduceat(weight[:, ranked.order], ranked.starts, axis=1)
    return (sums[:, 1:] * np.cumsum(sums, axis=1)[:, :-1]).sum(axis=1)


def _tau(a: Floats, b: Floats, weight: Floats) -> float:
    kept = weight > 0
    if not kept.any() or np.ptp(a[kept]) == 0 or np.ptp(b[kept]) == 0:
        return float("nan")
    return rank_kernels.tau_of_ranks(a[kept], b[kept], weight[kept])[0]


def _correlation(a: Floats, b: Floats, weight: Floats, varies: NDArray[np.bool_]) -> Floats:
    """Weighted Pearson correlations along rows; NaN where one of a and b doesn't vary, as `varies` (rows,) says."""
    total = weight.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        da = a - (weight * a).sum(axis=1, keepdims=True) / total
        db = b - (weight * b).sum(axis=1, keepdims=True) / total
        wa = weight * da
        spread = np.sqrt((wa * da).sum(axis=1)) * np.sqrt((weight * db * db).sum(axis=1))
        found = (wa * db).sum(axis=1) / spread
    return np.where(varies, np.clip(found, -1, 1), np.nan)
