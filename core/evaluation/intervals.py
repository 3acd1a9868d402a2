"""Intervals of models' figures over *votes*: overall, by area, and of the differences of any two models.

The items are fixed and the voters resampled; `interval_rules` says what an interval is made of, and docs/runoff.md how
often it holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from ..base.progress import Progress
from ..errors import InputError
from . import TOP_K, Comparison, Correlations, Evaluation, correlations, model_scores
from .interval_rules import FIGURES, Interval, interval

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

MOST_FOR_TAU_OF_AREAS = 300  # items of the ranking: from more of them, bounds of an area's τ_w hold far too seldom

WHY_NOT_PAPER = (
    "There are no intervals by the paper's protocol: resampling voters doesn't show by how much rescaled win ratios "
    "misplace items, and in simulated campaigns 90 % intervals held the true τ_w in only 37 to 71 of 100."
)


@dataclass(frozen=True)
class Difference:
    """How sure it is that one model ranks the items better than another, over the items that all models cover.

    difference : the first model's `figure` less the second's; lower, upper : its 90 % interval; error : its standard
    error; corrected : the difference with the noise of the votes taken out; first_better : the probability that the
    first is better, with the difference taken as normal about the corrected one.
    """

    first: str
    second: str
    difference: float
    lower: float
    upper: float
    first_better: float
    corrected: float
    error: float
    figure: str = "rho_w"


@dataclass(frozen=True, eq=False)
class Resampled:
    """The dataset's scores by resampled voters, and what the correlations are taken with.

    drawn : shape (resamples, n), columns as the rows of `Evaluation.pairs`, NaN where a resample has no score.
    apart : the area of each item, (n,), where each area has a ranking of its own; figures are then means over areas.
    """

    drawn: Floats
    apart: NDArray[np.object_] | None = None

    @property
    def n_items(self) -> int:
        """Items of a ranking: all, or the mean over areas where each has its own."""
        n_rankings = 1 if self.apart is None else max(len(set(self.apart)), 1)
        return round(self.drawn.shape[1] / n_rankings)

    def figures(self, values: Floats, rows: Bools, n0: float) -> dict[str, Floats]:
        """The `FIGURES` of `values` (n,) with each resample, over some rows (n,); each of shape (resamples,).

        NaN where one is undefined.
        """
        where = rows & ~np.isnan(values)
        if self.apart is None:
            return self._figures(values, where, n0)
        areas = dict.fromkeys(self.apart[where])
        parts = [self._figures(values, where & (self.apart == area), n0) for area in areas]
        nothing = np.full(len(self.drawn), np.nan)
        return {name: np.asarray(np.mean([p[name] for p in parts], axis=0)) if parts else nothing for name in FIGURES}

    def _figures(self, values: Floats, where: Bools, n0: float) -> dict[str, Floats]:
        model, result = values[where], {name: np.full(len(self.drawn), np.nan) for name in FIGURES}
        for number, scores in enumerate(self.drawn[:, where]):
            known = ~np.isnan(scores)
            found = correlations(scores[known], model[known], n0=n0, names=FIGURES)
            for name in FIGURES:
                estimate = getattr(found, name).estimate
                result[name][number] = np.nan if estimate is None else estimate
        return result


@dataclass(frozen=True, eq=False)
class _Drawn:
    """The R_b of one model and the O_b by figure, over the same rows."""

    drawn: dict[str, Floats]
    own: dict[str, Floats]
    n_items: int


@dataclass(frozen=True, eq=False)
class _Source:
    """The resamples and the dataset's scores; `known` keeps the O_b, which models of equal coverage share; `names` are
    the figures that get bounds."""

    resampled: Resampled
    scores: Floats
    n_items: int
    known: dict[tuple[float, bytes], dict[str, Floats]]
    names: tuple[str, ...] = FIGURES

    def of(self, values: Floats, rows: Bools, n0: float) -> _Drawn:
        key = (n0, rows.tobytes())
        if key not in self.known:
            self.known[key] = self.resampled.figures(self.scores, rows, n0)
        return _Drawn(self.resampled.figures(values, rows, n0), self.known[key], self.n_items)


def difference_interval(
    scores: Floats, drawn: Floats, one: Floats, other: Floats, figure: str = "rho_w", *, n0: float = 2.0
) -> Interval | None:
    """The interval of the difference of two models' figure, as `with_intervals` takes it.

    scores, one, other : of the items, (n,), without NaN; drawn : the scores by each resample, (resamples, n).
    """
    estimates = [getattr(correlations(scores, model, n0=n0, names=[figure]), figure).estimate for model in (one, other)]
    if estimates[0] is None or estimates[1] is None:
        return None
    source = _Source(Resampled(drawn), scores, len(scores), {})
    every = np.ones(len(scores), dtype=np.bool_)
    of, against = source.of(one, every, n0), source.of(other, every, n0)
    gap = estimates[0] - estimates[1]
    moved = of.drawn[figure] - against.drawn[figure]
    return interval(gap, moved, of.own[figure], name=figure, of_difference=True, n_items=len(scores))


def with_intervals(
    comparison: Comparison, resampled: Resampled, *, progress: Progress | None = None
) -> tuple[Comparison, tuple[Difference, ...]]:
    """A comparison with bounds of the `FIGURES` overall, over the common items and by area, and any two models' gaps.

    Differences are of each figure in turn. Precision has bounds among the top `TOP_K` only. `progress` is told how many
    models are done. Raises `InputError` where the columns of the resamples aren't the items of the comparison.
    """
    pairs = comparison.evaluations[0].pairs
    if resampled.drawn.ndim != 2 or resampled.drawn.shape[1] != len(pairs):
        shape = resampled.drawn.shape
        raise InputError(f"The resamples need a score for each of {len(pairs)} items, found shape {shape}.")
    names = tuple(n for n in FIGURES if n != "precision" or comparison.evaluations[0].overall.top == TOP_K)
    source = _Source(resampled, pairs["score"].to_numpy(dtype=np.float64), resampled.n_items, {}, names)
    covered = np.logical_and.reduce([~np.isnan(_values(e)) for e in comparison.evaluations])
    evaluations, common, drawn = [], [], []
    for evaluation, over_common in zip(comparison.evaluations, comparison.common, strict=True):
        overall, of_all = _bounded(evaluation.overall, evaluation, source, ~np.isnan(_values(evaluation)))
        if over_common.n_covered == evaluation.overall.n_covered:
            bounded, of_common = replace(overall, n_items=over_common.n_items), of_all
        else:
            bounded, of_common = _bounded(over_common, evaluation, source, covered)
        areas = _by_area(evaluation, overall, source)
        evaluations.append(replace(evaluation, overall=overall, areas=areas))
        common.append(bounded)
        drawn.append(of_common)
        if progress is not None:
            progress(len(drawn), len(comparison.evaluations))
    found = replace(comparison, evaluations=tuple(evaluations), common=tuple(common))
    return found, tuple(each for name in names for each in _differences(found, drawn, name))


def _values(evaluation: Evaluation) -> Floats:
    return np.asarray(model_scores(evaluation.pairs["cosine"].to_numpy(), evaluation.notion))


def _by_area(evaluation: Evaluation, overall: Correlations, source: _Source) -> dict[str, Correlations]:
    """The figures of each area with bounds; where one area holds all items they are those overall.

    τ_w has none in large rankings, whose areas hang on the order of items that few votes were about.
    """
    if len(evaluation.areas) == 1 and source.resampled.apart is None:
        return dict.fromkeys(evaluation.areas, overall)
    areas, covered = evaluation.pairs["area"].to_numpy(), ~np.isnan(_values(evaluation))
    within = replace(source, resampled=Resampled(source.resampled.drawn), known={})
    apart = source.resampled.apart is not None
    few = apart or source.n_items <= MOST_FOR_TAU_OF_AREAS
    within = replace(within, names=tuple(name for name in source.names if few or name != "tau_w"))
    return {
        area: _bounded(figures, evaluation, within, covered & (areas == area))[0]
        for area, figures in evaluation.areas.items()
    }


def _bounded(
    figures: Correlations, evaluation: Evaluation, source: _Source, rows: Bools
) -> tuple[Correlations, _Drawn]:
    """The figures over some rows, with bounds where they are defined, and what they come from."""
    found, of = {}, source.of(_values(evaluation), rows, evaluation.n0)
    for name in source.names:
        figure = getattr(figures, name)
        bounds = None
        if figure.estimate is not None:
            bounds = interval(figure.estimate, of.drawn[name], of.own[name], name=name, n_items=of.n_items)
        if bounds is not None:
            found[name] = figure.with_votes(bounds.corrected, bounds.lower, bounds.upper)
    return replace(figures, **found), of


def _differences(comparison: Comparison, drawn: list[_Drawn], figure: str) -> Iterator[Difference]:
    """Every two models, in the order of the comparison; without those whose figure is undefined."""
    names = [evaluation.model for evaluation in comparison.evaluations]
    for one, other in combinations(range(len(names)), 2):
        estimates = [getattr(comparison.common[place], figure).estimate for place in (one, other)]
        if estimates[0] is None or estimates[1] is None:
            continue
        gap = estimates[0] - estimates[1]
        of, against = drawn[one], drawn[other]
        moved = of.drawn[figure] - against.drawn[figure]
        found = interval(gap, moved, of.own[figure], name=figure, of_difference=True, n_items=of.n_items)
        if found is not None:
            better = float(ndtr(found.corrected / found.error)) if found.error > 0 else (1 + float(np.sign(gap))) / 2
            bounds = (found.lower, found.upper, better, found.corrected, found.error)
            yield Difference(names[one], names[other], gap, *bounds, figure)
