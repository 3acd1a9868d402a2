"""Intervals of a model's ρ_w and τ_w against the *true* ranking: the items fixed, the voters resampled.

A model's correlation with scores of noisy votes lies below that with the true ranking. Resampled votes hold the noise
once more, so that each resample correlates still less; a percentile interval misses the truth nearly always, and what
the resamples lost has to be added to the estimate. Voters drawn with replacement make more noise than the votes have,
so not all of it:

    E + c·(E − mean of the R_b) ± 1.645·k·s,    E = ρ(model, scores),  R_b = ρ(model, scores by resample b)

cut at ±1. Two things move R_b: how much noise resample b holds, which takes the same from every model, is seen in
O_b = ρ(scores, scores by resample b), and is made up for by c; and where the noise happens to lie, for this model
or against it. Only the second is an error of the corrected figure. For ρ_w, s is therefore what of R_b the O_b
leave unexplained (standard deviation about a straight line), c = 2/3 and k = .72 + 2.5·L, L = 1 − mean of the O_b: how
much to make up for is the less sure, the more it is.

τ_w hangs on the order of a few first items. Noise turns two of them round once it exceeds their distance: where that is
rare in resamples, it is far rarer in the votes. So for τ_w only a share u of what resamples lose and of their variance
counts, which falls with L: s is the standard deviation of the R_b, c = .6·u, k = 1.3·√u, u = L/.2, at most 1.

What two models lose differs by little more than chance, so their difference has c = 0; s is that of the differences of
their R_b, and for ρ_w k = .72 + L. The constants are those at which simulated campaigns of three kinds hold the truth
in about nine of ten (calibrated coverage); docs/runoff.md has how often they did, on others.

The estimate may lie at the lower end of its interval, or below: noise only takes away. For the paper's protocol the
same resampling knows nothing of what rescaling and early cuts do to scores, and holds too seldom: there is no interval.

References: Davison, Hinkley (1997), Bootstrap Methods and their Application, sections 2.3 and 5.2; Loh (1987),
Calibrating confidence coefficients, Journal of the American Statistical Association 82.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from . import metrics
from .errors import InputError, UndefinedMetricError
from .evaluation import Comparison, Correlations, Evaluation, model_scores

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

LEVEL = 0.9
MOST_UNDEFINED = 0.2  # share of resamples in which a figure may be undefined and still get an interval
FEWEST = 3  # resamples
METRICS: dict[str, Callable[..., float]] = {"rho_w": metrics.weighted_spearman, "tau_w": metrics.weighted_kendall}
SHARE_OF_LOSS = {"rho_w": 2 / 3, "tau_w": 0.6}  # c, for τ_w at u = 1
SPREAD_RHO, SPREAD_BY_LOSS, SPREAD_BY_LOSS_OF_DIFFERENCE = 0.72, 2.5, 1.0  # k of ρ_w at L = 0, and its rise
SPREAD_TAU, FULL_LOSS = 1.3, 0.2  # k of τ_w at u = 1, and the L from which on u = 1
WHY_NOT_PAPER = (
    "There are no intervals by the paper's protocol: resampling voters doesn't show by how much rescaled win ratios "
    "misplace items, and in simulated campaigns 90 % intervals held the true τ_w in only 37 to 71 of 100."
)


@dataclass(frozen=True)
class Interval:
    """A figure with the noise of the votes taken out, not cut, its standard error, and the bounds of its interval."""

    corrected: float
    error: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Difference:
    """How sure it is that one model ranks the items better than another, over the items that all models cover.

    rho_w : the first model's less the second's; lower, upper : its 90 % interval; first_better : the probability that
    the first is better, with the difference taken as normal about its corrected value.
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


def interval(
    estimate: float,
    drawn: Floats,
    own: Floats,
    *,
    name: str = "rho_w",
    of_difference: bool = False,
    level: float = LEVEL,
) -> Interval | None:
    """The interval of the module; None where over a fifth of the resamples are NaN, or fewer than three are left.

    estimate : E, by all votes; drawn : R_b of each resample, (resamples,); own : O_b, of the scores with each resample,
    (resamples,); name : "rho_w" or "tau_w"; of_difference : E and R_b are differences of two models.

    >>> drawn, own = np.array([0.6, 0.7, 0.8, 0.7]), np.array([0.8, 0.9, 0.9, 0.8])
    >>> found = interval(0.85, drawn, own)
    >>> round(found.corrected, 3), round(found.error, 3), round(found.lower, 3), round(found.upper, 3)
    (0.95, 0.077, 0.823, 1.0)
    """
    if not 0 < level < 1:
        raise InputError(f"The level must be between 0 and 1, found {level!r}.")
    known = ~np.isnan(drawn) & ~np.isnan(own)
    found, of_scores = drawn[known], own[known]
    if len(found) < FEWEST or len(found) < (1 - MOST_UNDEFINED) * len(drawn):
        return None
    own_loss = 1.0 - float(of_scores.mean())
    share = 1.0
    if name == "rho_w":
        rise = SPREAD_BY_LOSS_OF_DIFFERENCE if of_difference else SPREAD_BY_LOSS
        error = (SPREAD_RHO + rise * own_loss) * _unexplained(found, of_scores)
    else:
        share = float(np.clip(own_loss / FULL_LOSS, 0.0, 1.0))
        error = SPREAD_TAU * float(np.sqrt(share)) * float(found.std(ddof=1))
    loss = 0.0 if of_difference else estimate - float(found.mean())
    corrected = estimate + share * SHARE_OF_LOSS[name] * loss
    reach, limit = float(ndtri((1 + level) / 2)) * error, 2.0 if of_difference else 1.0
    lower, upper = np.clip([corrected - reach, corrected + reach], -limit, limit).tolist()
    return Interval(corrected, error, lower, upper)


def _unexplained(values: Floats, by: Floats) -> float:
    """Standard deviation of `values` about the straight line on `by`."""
    off, along = values - values.mean(), by - by.mean()
    power = float(np.sum(along * along))
    slope = float(np.sum(off * along)) / power if power > 0 else 0.0
    rest = off - slope * along
    return float(np.sqrt(np.sum(rest * rest) / (len(values) - 2)))


@dataclass(frozen=True, eq=False)
class Resampled:
    """The dataset's scores by resampled voters, and what the correlations are taken with.

    drawn : shape (resamples, n), columns as the rows of `Evaluation.pairs`, NaN where a resample has no score.
    apart : the area of each item, (n,), where each area has a ranking of its own; figures are then means over areas.
    """

    drawn: Floats
    apart: NDArray[np.object_] | None = None

    def figures(self, name: str, values: Floats, rows: Bools, n0: float) -> Floats:
        """ρ_w or τ_w of `values` (n,) with each resample, over some rows (n,); shape (resamples,).

        NaN where it is undefined.
        """
        where = rows & ~np.isnan(values)
        if self.apart is None:
            return self._figures(name, values, where, n0)
        areas = dict.fromkeys(self.apart[where])
        parts = [self._figures(name, values, where & (self.apart == area), n0) for area in areas]
        return np.asarray(np.mean(parts, axis=0)) if parts else np.full(len(self.drawn), np.nan)

    def _figures(self, name: str, values: Floats, where: Bools, n0: float) -> Floats:
        model, result = values[where], np.full(len(self.drawn), np.nan)
        for number, scores in enumerate(self.drawn[:, where]):
            known = ~np.isnan(scores)
            try:
                result[number] = METRICS[name](scores[known], model[known], n0=n0)
            except UndefinedMetricError:
                continue
        return result


@dataclass(frozen=True, eq=False)
class _Figures:
    """The R_b of one model and the O_b, over the same rows."""

    drawn: Floats
    own: Floats


@dataclass(frozen=True, eq=False)
class _Source:
    """The resamples and the dataset's scores; `known` keeps the O_b, which models of equal coverage share."""

    resampled: Resampled
    scores: Floats
    known: dict[tuple[str, float, bytes], Floats]

    def of(self, name: str, values: Floats, rows: Bools, n0: float) -> _Figures:
        key = (name, n0, rows.tobytes())
        if key not in self.known:
            self.known[key] = self.resampled.figures(name, self.scores, rows, n0)
        return _Figures(self.resampled.figures(name, values, rows, n0), self.known[key])


def with_intervals(comparison: Comparison, resampled: Resampled) -> tuple[Comparison, tuple[Difference, ...]]:
    """A comparison with bounds of ρ_w and τ_w overall and over the common items, and how any two models compare.

    Raises `InputError` where the columns of the resamples aren't the items of the comparison.
    """
    pairs = comparison.evaluations[0].pairs
    if resampled.drawn.ndim != 2 or resampled.drawn.shape[1] != len(pairs):
        shape = resampled.drawn.shape
        raise InputError(f"The resamples need a score for each of {len(pairs)} items, found shape {shape}.")
    source = _Source(resampled, pairs["score"].to_numpy(dtype=np.float64), {})
    covered = np.logical_and.reduce([~np.isnan(_values(e)) for e in comparison.evaluations])
    evaluations, common, drawn = [], [], []
    for evaluation, over_common in zip(comparison.evaluations, comparison.common, strict=True):
        overall, of_all = _bounded(evaluation.overall, evaluation, source, ~np.isnan(_values(evaluation)))
        if over_common.n_covered == evaluation.overall.n_covered:
            bounded, of_common = replace(overall, n_items=over_common.n_items), of_all
        else:
            bounded, of_common = _bounded(over_common, evaluation, source, covered)
        evaluations.append(replace(evaluation, overall=overall))
        common.append(bounded)
        drawn.append(of_common)
    found = replace(comparison, evaluations=tuple(evaluations), common=tuple(common))
    return found, _differences(found, drawn)


def _values(evaluation: Evaluation) -> Floats:
    return np.asarray(model_scores(evaluation.pairs["cosine"].to_numpy(), evaluation.notion))


def _bounded(
    figures: Correlations, evaluation: Evaluation, source: _Source, rows: Bools
) -> tuple[Correlations, _Figures]:
    """The figures over some rows, with bounds where they are defined, and what those of ρ_w come from."""
    found = {}
    of = {name: source.of(name, _values(evaluation), rows, evaluation.n0) for name in METRICS}
    for name, part in of.items():
        figure = getattr(figures, name)
        bounds = None if figure.estimate is None else interval(figure.estimate, part.drawn, part.own, name=name)
        if bounds is not None:
            found[name] = replace(figure, lower=bounds.lower, upper=bounds.upper)
    return replace(figures, **found), of["rho_w"]


def _differences(comparison: Comparison, figures: list[_Figures]) -> tuple[Difference, ...]:
    """Every two models, in the order of the comparison; without those whose ρ_w is undefined."""
    result = []
    names = [evaluation.model for evaluation in comparison.evaluations]
    for one, other in combinations(range(len(names)), 2):
        estimates = [comparison.common[place].rho_w.estimate for place in (one, other)]
        if estimates[0] is None or estimates[1] is None:
            continue
        gap = estimates[0] - estimates[1]
        of, against = figures[one], figures[other]
        found = interval(gap, of.drawn - against.drawn, of.own, of_difference=True)
        if found is not None:
            better = float(ndtr(found.corrected / found.error)) if found.error > 0 else (1 + np.sign(gap)) / 2
            result.append(Difference(names[one], names[other], gap, found.lower, found.upper, float(better)))
    return tuple(result)
