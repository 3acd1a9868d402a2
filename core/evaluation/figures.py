"""The six figures of a model's scores against a dataset's, also over resampled items.

Where tokens are resampled, an item is there several times or not at all. An item of multiplicity m is m items with the
same scores. Their copies tie with each other, so that everything follows the rules of `core.metrics` for ties; nothing
is copied, though, and the items are sorted once for all resamples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import metrics, rank_kernels
from ..errors import InputError, UndefinedMetricError
from ..tables import Floats
from .results import NOT_TAKEN, Correlations, FigureEstimate

Ints = NDArray[np.intp]

NAMES = ("rho_w", "tau_w", "rho", "tau", "pearson", "precision")
TOP_K = 20


@dataclass(frozen=True)
class FigureSettings:
    """Which figures are taken, of `NAMES`, and how: n₀ of the weights, k of the precision among the top k, and whether
    they are means over areas ranked apart."""

    names: tuple[str, ...] = NAMES
    n0: float = 2.0
    top: int = TOP_K
    apart: bool = False


USUAL_FIGURES = FigureSettings()
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


class WeightedResamples:
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
        raw = metrics.rank_weights(a, self.n0) + metrics.rank_weights(b, self.n0)
        weight = times * raw
        figures = {
            "rho_w": lambda: _correlation(a, b, weight, ranked),
            "tau_w": lambda: self._tau(a, b, weight),
            "rho": lambda: _correlation(a, b, times, ranked),
            "tau": lambda: self._tau(a, b, times),
            "pearson": lambda: _correlation(self.x[None], self.y[None], times, ranked),
            "precision": lambda: self._precision(times, (above_x, inside_x), (above_y, inside_y)),
        }
        return {name: figures[name]() for name in names}

    def _precision(self, times: Floats, x: tuple[Floats, Floats], y: tuple[Floats, Floats]) -> Floats:
        """The share of the k highest by x that are among the k highest by y; ties at the cut count in part."""
        parts = []
        with np.errstate(invalid="ignore", divide="ignore"):
            for (above, inside), run in ((x, self._x.run), (y, self._y.run)):
                parts.append(np.clip(np.nan_to_num((self.top - above) / inside), 0, 1)[:, run])
        shared = (times * parts[0] * parts[1]).sum(axis=1) / self.top
        return np.where(times.sum(axis=1) >= self.top, shared, np.nan)

    def _tau(self, a: Floats, b: Floats, weight: Floats) -> Floats:
        if len(self.x) > SIGNS_UP_TO:
            return np.array([_tau(*row) for row in zip(a, b, weight, strict=True)])
        if self._signs is None:
            signs = [np.sign(ranked.run[:, None] - ranked.run[None]) for ranked in (self._x, self._y)]
            self._signs = (signs[0] * signs[1]).astype(np.float64)
        untied = [_untied(ranked, weight) for ranked in (self._x, self._y)]
        with np.errstate(invalid="ignore", divide="ignore"):
            tau = ((weight @ self._signs) * weight).sum(axis=1) / 2 / np.sqrt(untied[0] * untied[1])
        possible = (untied[0] > 0) & (untied[1] > 0)
        return np.where(possible, np.clip(tau, -1, 1), np.nan)


def _untied(ranked: Ranked, weight: Floats) -> Floats:
    """Σ w_i w_j over the pairs i < j of different ranks; (resamples,)."""
    sums = np.add.reduceat(weight[:, ranked.order], ranked.starts, axis=1)
    return (sums[:, 1:] * np.cumsum(sums, axis=1)[:, :-1]).sum(axis=1)


def _tau(a: Floats, b: Floats, weight: Floats) -> float:
    counts = weight > 0
    if not counts.any() or np.ptp(a[counts]) == 0 or np.ptp(b[counts]) == 0:
        return float("nan")
    return rank_kernels.tau_of_ranks(a[counts], b[counts], weight[counts])[0]


def _correlation(a: Floats, b: Floats, weight: Floats, varies: NDArray[np.bool_]) -> Floats:
    """Weighted Pearson correlations along rows; NaN where one of a and b doesn't vary, as `varies` (rows,) says."""
    total = weight.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        da = a - (weight * a).sum(axis=1, keepdims=True) / total
        db = b - (weight * b).sum(axis=1, keepdims=True) / total
        wa = weight * da
        spread = np.sqrt((wa * da).sum(axis=1)) * np.sqrt((weight * db * db).sum(axis=1))
        correlation = (wa * db).sum(axis=1) / spread
    return np.where(varies, np.clip(correlation, -1, 1), np.nan)


BY_RANKS = ("rho_w", "tau_w", "rho", "tau")
SIGNS: Mapping[str, str] = {
    "rho_w": "ρ_w",
    "tau_w": "τ_w",
    "rho": "ρ",
    "tau": "τ",
    "pearson": "Pearson",
    "precision": "precision",
}


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Pearson's correlation of two lists of scores (n ≥ 2), in [−1, 1].

    Unlike the others it depends on the scales. Raises `UndefinedMetricError` for fewer than two items, a NaN, or where
    all scores are equal.

    >>> round(pearson([1, 2, 3], [1, 2, 4]), 6)
    0.981981
    """
    a, b = _paired(x, y)
    if len(a) < 2:
        raise UndefinedMetricError(f"A correlation needs at least two items, found {len(a)}.")
    if np.isnan(a).any() or np.isnan(b).any():
        raise UndefinedMetricError("Scores are missing (NaN); leave those items out.")
    for name, values in (("x", a), ("y", b)):
        rounded = metrics.rounded_scores(values)
        if (rounded == rounded[0]).all():
            raise UndefinedMetricError(f"All {len(a)} scores of {name} are equal, so no correlation is defined.")
    # Scaled first, so that no square over- or underflows.
    da, db = (v / np.abs(v).max() for v in (a - a.mean(), b - b.mean()))
    return float(np.clip(np.add.reduce(da * db) / np.sqrt(np.add.reduce(da**2) * np.add.reduce(db**2)), -1, 1))


def _paired(x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Two lists of scores of the same items, or `InputError`."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise InputError(f"x and y must score the same items, found shapes {a.shape} and {b.shape}.")
    return a, b


def precision_at(x: ArrayLike, y: ArrayLike, k: int = TOP_K) -> float:
    """The share of the k highest items by x that are among the k highest by y, from 0 to 1.

    Where ties stand at the cut, each item of them is among the k with the same probability p, and the figure is
    Σ p_x·p_y / k: what is to be expected if ties were broken at random, in x and in y apart.
    Raises `InputError` for k < 1 or lists of other shapes, `UndefinedMetricError` for a NaN or fewer than k items.

    >>> precision_at([4, 3, 2, 1], [4, 1, 3, 2], 2)
    0.5
    >>> precision_at([3, 2, 2, 1], [3, 2, 1, 0], 2)
    0.75
    """
    if k < 1:
        raise InputError(f"The top has at least 1 item, found {k}.")
    a, b = _paired(x, y)
    return float((in_top(a, k) * in_top(b, k)).sum() / k)


def in_top(scores: np.ndarray, k: int) -> np.ndarray:
    """How far each item is among the k highest, (n,): 1, 0, or for those that tie at the cut what is left for each."""
    if np.isnan(scores).any():
        raise UndefinedMetricError("Scores are missing (NaN); leave those items out.")
    if len(scores) < k:
        raise UndefinedMetricError(f"There are no {k} highest of {len(scores)} items; take a smaller k.")
    rounded = metrics.rounded_scores(scores)
    cut = np.partition(rounded, len(rounded) - k)[len(rounded) - k]
    above, level = rounded > cut, rounded == cut
    return above + level * ((k - above.sum()) / level.sum())


def correlations(
    scores: np.ndarray,
    values: np.ndarray,
    *,
    n0: float = 2.0,
    apart: np.ndarray | None = None,
    top: int = TOP_K,
    names: Iterable[str] = NAMES,
) -> Correlations:
    """The figures of a dataset's `scores` (n,) and a model's `values` (n,), both higher = more related.

    NaN in `values` marks items that the model doesn't cover. `apart` (n,) has the area of each item where every area
    has a ranking of its own: scores of different areas then don't compare, and the figures are means over areas.
    `top` is the k of the precision among the top k; `names` are the figures wanted, of `NAMES`.

    >>> import numpy as np
    >>> result = correlations(np.array([1.0, 0.8, 0.6, 0.4, 0.2]), np.array([np.nan, 0.7, 0.9, 0.3, 0.1]))
    >>> result.n_covered, result.coverage, round(result.rho.estimate, 12)
    (4, 0.8, 0.8)
    """
    names = tuple(names)
    covered = ~np.isnan(values)
    x, y = scores[covered], values[covered]
    if apart is not None:
        of = apart[covered]
        parts = {
            str(area): correlations(x[of == area], y[of == area], n0=n0, top=top, names=names)
            for area in dict.fromkeys(of)
        }
        means = {name: _mean_figure(parts, name) for name in names}
        return _made(len(scores), len(x), means, top, n_areas=len(parts))
    return _made(len(scores), len(x), _figures(x, y, n0, top, names), top)


def _figures(x: np.ndarray, y: np.ndarray, n0: float, top: int, names: Sequence[str]) -> dict[str, FigureEstimate]:
    """The figures of two lists of scores; ranks are taken once for all four that go by them."""
    figures = {}
    if "pearson" in names:
        figures["pearson"] = _figure(lambda: pearson(x, y))
    if "precision" in names:
        figures["precision"] = _figure(lambda: precision_at(x, y, top))
    wanted = [name for name in names if name in BY_RANKS]
    try:
        a, b = metrics.two_rankings(x, y)
    except UndefinedMetricError as error:
        return figures | {name: FigureEstimate(None, reason=str(error)) for name in wanted}
    weighted, even = metrics.weights(a, b, n0), np.full(len(a), 1.0 / len(a))
    if "rho_w" in names:
        figures["rho_w"] = FigureEstimate(metrics.correlation_of_ranks(a, b, weighted))
    if "rho" in names:
        figures["rho"] = FigureEstimate(metrics.correlation_of_ranks(a, b, even))
    taus = [name for name in ("tau_w", "tau") if name in names]
    if taus:
        of = {"tau_w": weighted, "tau": np.ones(len(a))}
        values = rank_kernels.tau_of_ranks(a, b, *(of[name] for name in taus))
        figures |= {name: FigureEstimate(value) for name, value in zip(taus, values, strict=True)}
    return figures


def _made(
    n_items: int, n_covered: int, figures: Mapping[str, FigureEstimate], top: int, n_areas: int = 0
) -> Correlations:
    rho_w, tau_w, rho, tau, linear, precision = (figures.get(name, NOT_TAKEN) for name in NAMES)
    return Correlations(n_items, n_covered, rho_w, tau_w, rho, tau, n_areas, linear, precision, top)


def _mean_figure(parts: Mapping[str, Correlations], name: str) -> FigureEstimate:
    """The mean of a figure over areas; undefined where it is in one of them, or where there is none."""
    figures = {area: getattr(part, name) for area, part in parts.items()}
    undefined = [f"{area}: {figure.reason}" for area, figure in figures.items() if figure.estimate is None]
    if undefined or not figures:
        return FigureEstimate(None, reason=undefined[0] if undefined else "No item is covered.")
    return FigureEstimate(float(np.mean([figure.estimate for figure in figures.values()])))


def _figure(metric: Callable[[], float]) -> FigureEstimate:
    try:
        return FigureEstimate(metric())
    except UndefinedMetricError as error:
        return FigureEstimate(None, reason=str(error))
