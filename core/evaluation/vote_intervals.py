"""Intervals over *votes* of models' figures against the *true* ranking, by scores of resampled voters.

They are for figures overall and by area, and for the differences of any two models.

The items are fixed and the voters resampled: the votes of one voter hang together, so whole voters are drawn with
replacement, and every resample is scored as the protocol scores (`Protocol.resample`). docs/runoff.md has how often the
intervals hold.

What an interval is made of
---------------------------
A model's correlation with scores of noisy votes lies below that with the true ranking. Resampled votes hold the noise
once more, so that each resample correlates still less; a percentile interval misses the truth nearly always, and what
the resamples lost has to be added to the estimate. Voters drawn with replacement make more noise than the votes have,
so not all of it:

    E + c·D ± 1.645·v·√((k·s)² + (h·D)²)
    E = ρ(model, scores),  R_b = ρ(model, scores by resample b),  D = E − mean of the R_b

cut at the ends of the figure. Two things move R_b: how much noise resample b holds, which takes the same from every
model, is seen in O_b = ρ(scores, scores by resample b), and is made up for by c; and where the noise happens to lie,
for this model or against it. Only the second is an error of the corrected figure. So s is what of R_b the O_b leave
unexplained (standard deviation about a straight line), and k may rise with L = 1 − mean of the O_b: how much to make up
for is the less sure, the more it is. h stands for what isn't known of c: campaigns of other similarities lose more, or
less, by the same resamples, above all in ρ and τ, which ask about the bottom of the ranking, where ballots ask least.

τ_w hangs on the order of a few first items. Noise turns two of them round once it exceeds their distance: where that is
rare in resamples, it is far rarer in the votes. So for τ_w only a share u of what resamples lose and of their variance
counts, u = L/.2 or L/.3, at most 1; s is the standard deviation of the R_b.

Voters are few next to votes: of V of them the deviation over resamples is too small by √((V−1)/V), so v = √(V/(V−1)):
1.12 for 5 voters, 1.02 for 30. Student's quantile besides is more than these intervals need (docs/runoff.md).

What two models lose in ρ_w and τ_w differs by little more than chance, so their differences have c = 0; in ρ and τ a
good model loses more than a poor one. The constants (`RULES`) are those at which simulated campaigns of three kinds
hold the truth in about nine of ten (calibrated coverage), for rankings of up to 150 items and of 990; docs/runoff.md
has how often they held, on others. Pearson's correlation has none: it hangs on the scale of the scores, which isn't
that of the true similarities, and what it loses by that no resample shows.

The estimate may lie at the lower end of its interval, or below: noise only takes away. For the paper's protocol the
same resampling knows nothing of what rescaling and early cuts do to scores, and holds too seldom: there is no interval.

References: Davison, Hinkley (1997), Bootstrap Methods and their Application, sections 2.3 and 5.2; Loh (1987),
Calibrating confidence coefficients, Journal of the American Statistical Association 82; Hesterberg (2015), What
teachers should know about the bootstrap, The American Statistician 69 (v).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from ..base.estimates import MIN_VOTERS
from ..base.parallel import Progress
from ..errors import InputError, UndefinedMetricError
from ..metrics import rounded_scores
from ..protocols import Held, collectable, protocol_of
from ..scores import BallotVotes
from ..tables import Bools, Floats, Ints
from . import TOP_K, Correlations, Evaluation, ModelComparison, correlations, model_scores

WORK_VOTES, FEWEST_RESAMPLES, MOST_RESAMPLES = (
    2_000_000,
    100,
    400,
)  # resamples: as many as have this many votes, within these bounds


@dataclass(frozen=True, eq=False)
class ScoreDraws:
    """Scores of resampled voters.

    items : positions in the project, ascending, shape (n,); estimate : their scores by all votes, higher = more
    related, (n,); drawn : the same by each resample, shape (resamples, n), NaN where one has no vote on an item;
    n_voters : who voted. For "runoff" scores are θ, for "paper" ȳ of the last ballot an item was in.
    """

    protocol: str
    items: Ints
    estimate: Floats
    drawn: Floats
    n_voters: int

    @property
    def resamples(self) -> int:
        """How often the voters were drawn."""
        return len(self.drawn)

    def top_probability(self, n_top: int) -> Floats:
        """The share of resamples in which each item is among the `n_top` highest; ties at the cut count in part; (n,).

        Raises `InputError` for more than there are.
        """
        if not 1 <= n_top <= len(self.items):
            raise InputError(f"{n_top} items can't be the highest of {len(self.items)}.")
        filled = np.where(np.isnan(self.drawn), -np.inf, rounded_scores(self.drawn, axis=1))
        cut = -np.partition(-filled, n_top - 1, axis=1)[:, [n_top - 1]]
        above, at = filled > cut, filled == cut
        room = n_top - above.sum(axis=1, keepdims=True)
        return np.asarray((above + at * room / at.sum(axis=1, keepdims=True)).mean(axis=0))

    def tied_for_first(self, level: float = 0.9) -> Ints:
        """Positions of the items that can't be told from the best; best first.

        An item belongs to them where more than (1 − level)/2 of the resamples have it at least level with the item of
        the highest score. `uncertainty.Resamples.tied_for_first` says the same of θ.
        """
        if not 0 < level < 1:
            raise InputError(f"The level must be between 0 and 1, found {level!r}.")
        best = int(np.nanargmax(self.estimate))
        compared = rounded_scores(self.drawn, axis=1)
        level_with = np.mean(compared >= compared[:, [best]], axis=0)
        group = np.flatnonzero((level_with > (1.0 - level) / 2.0) | (np.arange(len(self.items)) == best))
        return np.asarray(self.items[group[np.argsort(-self.estimate[group], kind="stable")]])


def number_of_resamples(n_votes: int) -> int:
    """How many resamples a page takes unless it is told: 100 for 20,000 votes, more for fewer."""
    return int(np.clip(WORK_VOTES // max(n_votes, 1), FEWEST_RESAMPLES, MOST_RESAMPLES))


def draw_scores(
    votes: Sequence[BallotVotes],
    protocol: str,
    *,
    resamples: int,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> ScoreDraws:
    """Resample the voters of a campaign.

    Parameters
    ----------
    votes : of its ballots in order, voters coded alike in all of them; the first has all items.
    protocol : "runoff" or "paper"; resamples : at least 1; rng : source of the draws.
    progress : is told how many resamples are done, where they are made one after the other.

    Raises `UndefinedMetricError` for fewer than five voters, `InputError` for no votes or another protocol,
    `DisconnectedError` where votes of the protocol "runoff" leave items apart.
    """
    method = protocol_of(protocol, collectable())
    codes = np.unique(np.concatenate([np.empty(0, np.int64), *(ballot.voter for ballot in votes)]))
    if len(codes) < MIN_VOTERS:
        raise UndefinedMetricError(
            f"Intervals over voters need votes of at least {MIN_VOTERS} voters; found {len(codes)}."
        )
    scores = method.field([Held(ballot) for ballot in votes])
    drawn = np.full((resamples, len(scores.items)), np.nan)
    for positions, block in method.resample(votes, scores, resamples, rng, progress):
        drawn[:, np.searchsorted(scores.items, positions)] = block.T
    return ScoreDraws(protocol, scores.items, scores.rank_by, drawn, len(codes))


LEVEL = 0.9
MOST_UNDEFINED = 0.2  # share of resamples in which a figure may be undefined and still get an interval
FEWEST = 3  # resamples
FIGURES = ("rho_w", "tau_w", "rho", "tau", "precision")  # those that have intervals over votes
SMALL, LARGE = 150, 990  # items: one rule holds up to the first, another from the second on


@dataclass(frozen=True)
class IntervalRule:
    """What the interval of a figure is made of; see the module.

    share is c; widening + rise·L is k; doubt is h; full is the L from which on losses count in full, 0 for always.
    """

    share: float
    widening: float
    rise: float = 0.0
    doubt: float = 0.0
    full: float = 0.0

    def at(self, noise: float) -> Floats:
        """c, k and h at an L, (3,); `noise` is L."""
        part = float(np.clip(noise / self.full, 0.0, 1.0)) if self.full else 1.0
        return np.array([self.share * part, (self.widening + self.rise * noise) * np.sqrt(part), self.doubt * part])


BY_LINE = ("rho_w", "rho", "tau", "precision")  # their s is what the O_b leave unexplained; τ_w's all of the deviation
_PAIR_OF_RHO, _PAIR_OF_TAU = IntervalRule(share=1.5, widening=1.5), IntervalRule(share=2.5, widening=2.2, doubt=0.4)
_PRECISION, _PAIR_OF_PRECISION = (
    IntervalRule(share=0.7, widening=1.5, rise=2.0),
    IntervalRule(share=0.3, widening=1.3, rise=2.0),
)
# Of each figure, and of differences in it: the rules of small and of large campaigns.
RULES: dict[tuple[str, bool], tuple[IntervalRule, IntervalRule]] = {
    ("rho_w", False): (
        IntervalRule(share=2 / 3, widening=1.0, rise=2.5),
        IntervalRule(share=2 / 3, widening=0.72, rise=2.5),
    ),
    ("rho_w", True): (
        IntervalRule(share=0.0, widening=0.8, rise=4.0),
        IntervalRule(share=0.0, widening=0.72, rise=1.0),
    ),
    ("tau_w", False): (
        IntervalRule(share=0.8, widening=1.9, full=0.3),
        IntervalRule(share=0.6, widening=1.3, full=0.2),
    ),
    ("tau_w", True): (IntervalRule(share=0.0, widening=1.5, full=0.2), IntervalRule(share=0.0, widening=1.3, full=0.2)),
    ("rho", False): (
        IntervalRule(share=1.4, widening=1.4, doubt=0.2),
        IntervalRule(share=1.1, widening=1.3, doubt=0.15),
    ),
    ("rho", True): (_PAIR_OF_RHO, _PAIR_OF_RHO),
    ("tau", False): (
        IntervalRule(share=1.9, widening=1.8, doubt=0.35),
        IntervalRule(share=1.5, widening=1.8, doubt=0.2),
    ),
    ("tau", True): (_PAIR_OF_TAU, _PAIR_OF_TAU),
    ("precision", False): (_PRECISION, _PRECISION),
    ("precision", True): (_PAIR_OF_PRECISION, _PAIR_OF_PRECISION),
}


@dataclass(frozen=True)
class Interval:
    """A figure with the noise of the votes taken out, not cut, its standard error, and the bounds of its interval.

    error : such that corrected ± 1.645·error are the bounds before they are cut, so that few voters make it larger.
    """

    corrected: float
    error: float
    lower: float
    upper: float


def interval(
    estimate: float,
    drawn: Floats,
    own: Floats,
    *,
    name: str = "rho_w",
    of_difference: bool = False,
    n_items: int = LARGE,
    n_voters: int | None = None,
) -> Interval | None:
    """The interval of the module; None where over a fifth of the resamples are NaN, or fewer than three are left.

    estimate : E, by all votes; drawn : R_b of each resample, (resamples,); own : O_b, of the scores with each resample,
    (resamples,); name : of `FIGURES`; of_difference : E and R_b are differences of two models; n_items : of the ranking
    that the votes are about, of which the figure may be over a part; n_voters : who were resampled, None for so many
    that their number widens nothing.

    >>> drawn, own = np.array([0.6, 0.7, 0.8, 0.7]), np.array([0.8, 0.9, 0.9, 0.8])
    >>> found = interval(0.85, drawn, own)
    >>> round(found.corrected, 3), round(found.error, 3), round(found.lower, 3), round(found.upper, 3)
    (0.95, 0.077, 0.823, 1.0)
    """
    known = ~np.isnan(drawn) & ~np.isnan(own)
    of_model, of_scores = drawn[known], own[known]
    if len(of_model) < FEWEST or len(of_model) < (1 - MOST_UNDEFINED) * len(drawn):
        return None
    by_line = name in BY_LINE
    # As the module's formula names them: s, D (here `lost`), and L by which c, k and h are found.
    s = _unexplained(of_model, of_scores) if by_line else float(of_model.std(ddof=1))
    c, k, h = _constants(name, of_difference, n_items, noise=1.0 - float(of_scores.mean()))
    lost = estimate - float(of_model.mean())
    corrected = estimate + c * lost
    error = float(np.hypot(k * s, h * lost))
    reach = float(ndtri((1 + LEVEL) / 2))
    if n_voters is not None:
        error *= float(np.sqrt(n_voters / (n_voters - 1)))
    reach *= error
    least, most = (0.0, 1.0) if name == "precision" else (-1.0, 1.0)
    ends = (least - most, most - least) if of_difference else (least, most)
    lower, upper = np.clip([corrected - reach, corrected + reach], *ends).tolist()
    return Interval(corrected, error, lower, upper)


def _constants(name: str, of_difference: bool, n_items: int, noise: float) -> tuple[float, float, float]:
    """c, k and h at an L of `noise`; between `SMALL` and `LARGE` items by the logarithm of their number."""
    small, large = (rule.at(max(noise, 0.0)) for rule in RULES[name, of_difference])
    part = float(np.clip(np.log(LARGE / max(n_items, 1)) / np.log(LARGE / SMALL), 0.0, 1.0))
    c, k, h = (part * small + (1 - part) * large).tolist()
    return c, k, h


def _unexplained(values: Floats, by: Floats) -> float:
    """Standard deviation of `values` about the straight line on `by`."""
    off, along = values - values.mean(), by - by.mean()
    power = float(np.sum(along * along))
    slope = float(np.sum(off * along)) / power if power > 0 else 0.0
    rest = off - slope * along
    return float(np.sqrt(np.sum(rest * rest) / (len(values) - 2)))


MOST_FOR_TAU_OF_AREAS = 300  # items of the ranking: from more of them, bounds of an area's τ_w hold far too seldom

WHY_NOT_PAPER = (
    "There are no intervals by the paper's protocol: resampling voters doesn't show by how much rescaled win ratios "
    "misplace items, and in simulated campaigns 90% intervals held the true τ_w in only 37 to 71 of 100."
)


@dataclass(frozen=True)
class ModelDifference:
    """How sure it is that one model ranks the items better than another, over the items that all models cover.

    difference : the first model's `figure` less the second's; lower, upper : its 90% interval; error : its standard
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
    n_voters : who were resampled, of a ranking; None for so many that their number widens nothing.
    """

    drawn: Floats
    apart: NDArray[np.object_] | None = None
    n_voters: int | None = None

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
            figures = correlations(scores[known], model[known], n0=n0, names=FIGURES)
            for name in FIGURES:
                estimate = getattr(figures, name).estimate
                result[name][number] = np.nan if estimate is None else estimate
        return result


@dataclass(frozen=True, eq=False)
class _Drawn:
    """The R_b of one model and the O_b by figure, over the same rows; items and voters as `interval` takes them."""

    drawn: dict[str, Floats]
    own: dict[str, Floats]
    n_items: int
    n_voters: int | None


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
        return _Drawn(self.resampled.figures(values, rows, n0), self.known[key], self.n_items, self.resampled.n_voters)


def difference_interval(
    draws: ScoreDraws, one: Floats, other: Floats, figure: str = "rho_w", *, n0: float = 2.0
) -> Interval | None:
    """The interval of the difference of two models' figure, as `with_intervals` takes it.

    draws : of scores without NaN; one, other : of its items, (n,).
    """
    scores, drawn, n_voters = draws.estimate, draws.drawn, draws.n_voters
    estimates = [getattr(correlations(scores, model, n0=n0, names=[figure]), figure).estimate for model in (one, other)]
    if estimates[0] is None or estimates[1] is None:
        return None
    source = _Source(Resampled(drawn, n_voters=n_voters), scores, len(scores), {})
    every = np.ones(len(scores), dtype=np.bool_)
    of, against = source.of(one, every, n0), source.of(other, every, n0)
    gap = estimates[0] - estimates[1]
    moved = of.drawn[figure] - against.drawn[figure]
    return interval(gap, moved, of.own[figure], name=figure, of_difference=True, n_items=len(scores), n_voters=n_voters)


def with_intervals(
    comparison: ModelComparison, resampled: Resampled, *, progress: Progress | None = None
) -> tuple[ModelComparison, tuple[ModelDifference, ...]]:
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
    within = replace(source, resampled=replace(source.resampled, apart=None), known={})
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
    bounded, of = {}, source.of(_values(evaluation), rows, evaluation.n0)
    for name in source.names:
        figure = getattr(figures, name)
        bounds = None
        if figure.estimate is not None:
            bounds = interval(
                figure.estimate,
                of.drawn[name],
                of.own[name],
                name=name,
                n_items=of.n_items,
                n_voters=of.n_voters,
            )
        if bounds is not None:
            bounded[name] = figure.with_votes(bounds.corrected, bounds.lower, bounds.upper)
    return replace(figures, **bounded), of


def _differences(comparison: ModelComparison, drawn: list[_Drawn], figure: str) -> Iterator[ModelDifference]:
    """Every two models, in the order of the comparison; without those whose figure is undefined."""
    names = [evaluation.model for evaluation in comparison.evaluations]
    for one, other in combinations(range(len(names)), 2):
        estimates = [getattr(comparison.common[place], figure).estimate for place in (one, other)]
        if estimates[0] is None or estimates[1] is None:
            continue
        gap = estimates[0] - estimates[1]
        of, against = drawn[one], drawn[other]
        moved = of.drawn[figure] - against.drawn[figure]
        difference = interval(
            gap,
            moved,
            of.own[figure],
            name=figure,
            of_difference=True,
            n_items=of.n_items,
            n_voters=of.n_voters,
        )
        if difference is not None:
            better = (
                float(ndtr(difference.corrected / difference.error))
                if difference.error > 0
                else (1 + float(np.sign(gap))) / 2
            )
            bounds = (difference.lower, difference.upper, better, difference.corrected, difference.error)
            yield ModelDifference(names[one], names[other], gap, *bounds, figure)
