"""Intervals of a model's correlations with the *true* ranking, the items fixed and the voters resampled.

A model's correlation with scores of noisy votes lies below that with the true ranking. Resampled votes hold the noise
once more, so that each resample correlates still less, and their quantiles miss the truth. So the interval is
reflected at the estimate, [2·estimate − q_upper, 2·estimate − q_lower] (basic bootstrap), cut at ±1. The estimate itself
may lie below it: by as much as the noise of the votes is thought to take. docs/runoff.md has how often it covers.

Reference: Davison, Hinkley (1997), Bootstrap Methods and their Application, section 5.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from . import metrics
from .errors import InputError, UndefinedMetricError
from .evaluation import Comparison, Correlations, Evaluation, model_scores

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

LEVEL = 0.9
MOST_UNDEFINED = 0.2  # share of resamples in which a figure may be undefined and still get an interval
METRICS: dict[str, Callable[..., float]] = {
    "rho_w": metrics.weighted_spearman,
    "tau_w": metrics.weighted_kendall,
    "rho": metrics.spearman,
    "tau": metrics.kendall,
}
WEIGHTED = ("rho_w", "tau_w")


@dataclass(frozen=True)
class Difference:
    """How sure it is that one model ranks the items better than another, over the items that both cover.

    rho_w : the first model's less the second's; lower, upper : its 90 % interval; first_better : the share of the
    corrected resamples in which the first is ahead, 0 to 1.
    """

    first: str
    second: str
    rho_w: float
    lower: float
    upper: float
    first_better: float

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves 0 out, so that the two can be told apart."""
        return self.lower > 0 or self.upper < 0


def reflected(
    estimate: float, drawn: Floats, *, level: float = LEVEL, limit: float = 1.0
) -> tuple[float, float] | None:
    """The basic bootstrap interval, cut at ±`limit`; None where over a fifth of `drawn` are NaN.

    >>> low, high = reflected(0.9, np.array([0.8, 0.85, 0.9]), level=0.5)
    >>> round(low, 3), round(high, 3)
    (0.925, 0.975)
    """
    if not 0 < level < 1:
        raise InputError(f"The level must be between 0 and 1, found {level!r}.")
    found = drawn[~np.isnan(drawn)]
    if len(found) == 0 or len(found) < (1 - MOST_UNDEFINED) * len(drawn):
        return None
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    bounds = np.clip([2 * estimate - high, 2 * estimate - low], -limit, limit)
    return float(bounds[0]), float(bounds[1])


@dataclass(frozen=True, eq=False)
class Resampled:
    """The dataset's scores by resampled voters, and what the correlations are taken with.

    drawn : shape (resamples, n), columns as the rows of `Evaluation.pairs`, NaN where a resample has no score.
    apart : the area of each item, (n,), where each area has a ranking of its own; figures are then means over areas.
    """

    drawn: Floats
    apart: NDArray[np.object_] | None = None

    def figures(self, name: str, values: Floats, rows: Bools, n0: float) -> Floats:
        """A correlation with the model's `values` (n,) by each resample, over some rows (n,); shape (resamples,)."""
        where = rows & ~np.isnan(values)
        if self.apart is None:
            return self._figures(name, values, where, n0)
        areas = dict.fromkeys(self.apart[where])
        return np.asarray(
            np.mean([self._figures(name, values, where & (self.apart == area), n0) for area in areas], axis=0)
        )

    def _figures(self, name: str, values: Floats, where: Bools, n0: float) -> Floats:
        given = {"n0": n0} if name in WEIGHTED else {}
        model, result = values[where], np.full(len(self.drawn), np.nan)
        for number, scores in enumerate(self.drawn[:, where]):
            known = ~np.isnan(scores)
            try:
                result[number] = METRICS[name](scores[known], model[known], **given)
            except UndefinedMetricError:
                continue
        return result


def with_intervals(comparison: Comparison, resampled: Resampled) -> tuple[Comparison, tuple[Difference, ...]]:
    """A comparison with bounds in its figures, and how any two of its models compare.

    ρ_w, τ_w, ρ and τ overall get an interval; over parts of the items ρ_w and τ_w do. Raises `InputError` where the
    columns of the resamples aren't the items of the comparison.
    """
    n = len(comparison.evaluations[0].pairs)
    if resampled.drawn.ndim != 2 or resampled.drawn.shape[1] != n:
        raise InputError(f"The resamples need a score for each of {n} items, found shape {resampled.drawn.shape}.")
    every = np.ones(n, dtype=bool)
    covered = np.logical_and.reduce([~np.isnan(_values(e)) for e in comparison.evaluations])
    evaluations, common = [], []
    drawn_rho_w = []
    for evaluation, over_common in zip(comparison.evaluations, comparison.common, strict=True):
        overall = _bounded(evaluation.overall, evaluation, resampled, every)
        same = over_common.n_covered == evaluation.overall.n_covered
        evaluations.append(replace(evaluation, overall=overall, areas=_by_area(evaluation, resampled)))
        bounded = replace(overall, n_items=over_common.n_items)
        common.append(bounded if same else _bounded(over_common, evaluation, resampled, covered, WEIGHTED))
        drawn_rho_w.append(resampled.figures("rho_w", _values(evaluation), covered, evaluation.n0))
    found = replace(comparison, evaluations=tuple(evaluations), common=tuple(common))
    return found, _differences(found, drawn_rho_w)


def _by_area(evaluation: Evaluation, resampled: Resampled) -> Mapping[str, Correlations]:
    areas = evaluation.pairs["area"].to_numpy()
    within = Resampled(resampled.drawn)
    return {
        area: _bounded(figures, evaluation, within, areas == area, WEIGHTED)
        for area, figures in evaluation.areas.items()
    }


def _values(evaluation: Evaluation) -> Floats:
    return np.asarray(model_scores(evaluation.pairs["cosine"].to_numpy(), evaluation.notion))


def _bounded(
    figures: Correlations,
    evaluation: Evaluation,
    resampled: Resampled,
    rows: Bools,
    names: tuple[str, ...] = tuple(METRICS),
) -> Correlations:
    """The figures over some rows, with bounds where they are defined."""
    found = {}
    for name in names:
        figure = getattr(figures, name)
        if figure.estimate is None:
            continue
        drawn = resampled.figures(name, _values(evaluation), rows, evaluation.n0)
        bounds = reflected(figure.estimate, drawn)
        if bounds is not None:
            found[name] = replace(figure, lower=bounds[0], upper=bounds[1])
    return replace(figures, **found)


def _differences(comparison: Comparison, drawn: list[Floats]) -> tuple[Difference, ...]:
    """Every two models, in the order of the comparison; none where a ρ_w is undefined."""
    result = []
    names = [evaluation.model for evaluation in comparison.evaluations]
    for one, other in combinations(range(len(names)), 2):
        estimates = [comparison.common[place].rho_w.estimate for place in (one, other)]
        if estimates[0] is None or estimates[1] is None:
            continue
        gap, gaps = estimates[0] - estimates[1], drawn[one] - drawn[other]
        bounds = reflected(gap, gaps, limit=2.0)
        if bounds is not None:
            corrected = 2 * gap - gaps[~np.isnan(gaps)]
            better = float(np.mean(corrected > 0) + np.mean(corrected == 0) / 2)
            result.append(Difference(names[one], names[other], gap, *bounds, better))
    return tuple(result)
