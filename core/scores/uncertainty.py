"""Uncertainty of scores and ranks over voters: a bootstrap of Bradley–Terry scores and of the paper's chain of scores,
and intervals of the paper's scores by a fit.

The votes of one voter hang together, so whole voters are drawn with replacement, with all their votes in all ballots
(cluster bootstrap). The item lists of the ballots stay as they were drawn. By the paper's protocol every resample runs
through the whole chain of Borda scores, rescaling and averaging again.

No resample knows that ȳ lies beside the share of votes that an item would win against all others: those who go on were
lucky, and noise in x draws the slopes in. A fit of all votes has neither fault: it takes opponents for what they are,
and all votes for what they say, those that let an item in too. So intervals around ȳ are its (`fitted_intervals`).

A resample of Bradley–Terry scores is not fitted anew to the end: a few Newton steps from the fit, in which votes count
as often as their voters were drawn, land near where the new fit would. The voters' effects move too: how much each is
trusted follows from the votes, and holding that fast would hide half of the noise at the top.

Few voters make intervals too narrow: quantiles of the paper's scores lie further out (`widened_tails`), resampled θ are
drawn out by √(V/(V−1)). Few votes do so too: of an item that won nearly all of its votes hardly a resample differs. So
θ is drawn out until it scatters by its standard error at least (`Resamples.scatter`).

Correlations of the scores with a model's can't be read off the resamples: see `core.evaluation.vote_intervals`.

References: Davison, Hinkley (1997), Bootstrap Methods and their Application, sections 2.7, 3.8 and 5.3; Liang, Zeger
(1986), Longitudinal data analysis using generalized linear models, Biometrika 73 (`clustering`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.special import expit, ndtri

from ..base.estimates import MIN_VOTERS, widened_tails
from ..base.parallel import Progress, check_workers, spread, workers_for
from ..errors import InputError
from ..metrics import average_ranks, rounded_scores
from ..tables import Floats, Ints, VoteColumns
from .borda import VotesOf, chained, check_range, places_of, updated_mean
from .bradley_terry import BradleyTerry, expected_borda, normal_curve
from .newton import Start, minimise
from .pair_graph import PairGraph
from .voter_effects import Data, Effects, Likelihood

N_STEPS = 7
ABSENT = 1e-3  # how often a voter counts who was not drawn
BATCH_VOTES = 2_000_000  # votes that another process takes up at a time, over its resamples: some .4 s
FEWEST_RESAMPLES = 20  # times that the work of one process says how far it is
WORTH_FITTED_VOTES = (
    12_000_000  # votes of all resamples from which on more processes are started: some 2.5 s of one core
)


@dataclass(frozen=True)
class Resamples:
    """Scores of resampled voters, `theta` of shape (resamples, n_items), NaN for items without votes."""

    fit: BradleyTerry
    theta: Floats
    n_voters: int

    @cached_property
    def scatter(self) -> Floats:
        """By how much moves from the fit are to be drawn out, (n_items,), above 1.

        √(V/(V−1)) for V voters, and where their standard deviation is below the standard error of θ, up to that.
        """
        known = np.flatnonzero(self.fit.votes > 0)
        result = np.full(len(self.fit.theta), np.sqrt(self.n_voters / (self.n_voters - 1)))
        if len(self.theta) > 1:
            moved = self.theta[:, known].std(axis=0, ddof=1)
            error = self.fit.standard_error[known]
            short = np.divide(error, moved, out=np.ones_like(error), where=moved > 0)
            result[known] = np.maximum(result[known], short)
        return result

    def score_intervals(self, level: float = 0.9, *, plain: bool = False) -> tuple[Floats, Floats]:
        """Percentile intervals of θ, shape (n_items,) each; `plain` ones are widened for nothing."""
        lower, upper = np.quantile(self.theta, _tails(level), axis=0)
        if not plain:
            lower, upper = (self.fit.theta + self.scatter * (end - self.fit.theta) for end in (lower, upper))
        return lower, upper

    def borda_intervals(self, scores: Floats, level: float = 0.9) -> tuple[Floats, Floats]:
        """Intervals of the share of votes each item would win against all others, around its `scores`, (n_items,) each.

        The bounds of θ as expected Borda scores, by the logistic curve or the normal one, whichever lies further out,
        since votes hardly tell the two apart; and drawn out by the voters' lapse, of which the fit takes the usual one:
        an item that wins every clear comparison falls short of 1 by nothing else.
        """
        fit = self.fit
        far = ndtri(_tails(level)[1]) * fit.lapse_error * np.abs(2.0 * scores - 1.0) / (1.0 - 2.0 * fit.lapse)
        result = []
        for theta, side, outer in zip(self.score_intervals(level), (-1.0, 1.0), (np.fmin, np.fmax), strict=True):
            by_curve = (
                expected_borda(theta, lapse=fit.lapse, field=fit.theta, curve=curve) for curve in (expit, normal_curve)
            )
            bound = outer(scores, outer(*by_curve))
            result.append(np.clip(scores + side * np.hypot(bound - scores, far), 0.0, 1.0))
        return result[0], result[1]

    def rank_intervals(self, level: float = 0.9, *, plain: bool = False) -> tuple[Ints, Ints]:
        """The best and the worst rank of each item, whole numbers, (n_items,) each; 0 for items without votes.

        Percentiles of the resampled scores' ranks, half of those that share a rank counting as beyond it (mid-P), and
        always around the item's own rank. `plain` as of `score_intervals`; those are rounded outwards.

        Reference: Lancaster (1961), Significance tests in discrete distributions, JASA 56.
        """
        known = np.flatnonzero(self.fit.votes > 0)
        fitted = self.fit.theta[known]
        drawn = self.theta[:, known]
        order = np.argsort(-(drawn if plain else fitted + self.scatter[known] * (drawn - fitted)), axis=1)
        ranks = np.empty_like(order)
        np.put_along_axis(ranks, order, np.arange(1, len(known) + 1)[None, :], axis=1)
        tails = _tails(level)
        # θ has a scale of its own: where all are level, noise must rank none.
        own = average_ranks(fitted, rounding=partial(rounded_scores, largest=1))
        best: NDArray[Any]
        worst: NDArray[Any]
        if plain:
            best = np.quantile(ranks, tails[0], axis=0, method="lower")
            worst = np.quantile(ranks, tails[1], axis=0, method="higher")
        else:
            ordered = np.sort(ranks, axis=0)
            best, worst = _mid_quantile(ordered, tails[0]), -_mid_quantile(-ordered[::-1], tails[0])
        best, worst = np.minimum(best, np.floor(own)), np.maximum(worst, np.ceil(own))
        result = np.zeros((2, len(self.fit.theta)), dtype=np.int64)
        result[:, known] = best, worst
        return result[0], result[1]

    def tied_for_first(self, level: float = 0.9) -> Ints:
        """The items that can't be told from the best: in resamples they beat it too often for `level`; best first.

        An item belongs to the group where more than (1 − level)/2 of the resamples place it above the one that leads.
        """
        best = int(np.nanargmax(self.fit.theta))
        above = np.mean(self.theta >= self.theta[:, [best]], axis=0)
        group = np.flatnonzero(above > _tails(level)[0])
        return group[np.argsort(-self.fit.theta[group], kind="stable")]


def resample_voters(
    fit: BradleyTerry,
    votes: VoteColumns,
    *,
    resamples: int = 1000,
    rng: np.random.Generator,
    workers: int | None = 1,
    backend: str = "loky",
    progress: Progress | None = None,
) -> Resamples:
    """Scores as they would be with other voters; the same whoever computes them.

    Parameters
    ----------
    fit : of these votes, as they were given to `fit_bradley_terry`.
    resamples : how often the voters are drawn, at least 1.
    workers : processes to use; 1 stays in this one, None takes a process for each free core where that pays.
    backend : "loky", or "dask" for the workers of a Dask cluster (`parallel.spread`).
    progress : is told how many resamples are done.

    Raises `InputError` for votes that aren't the fit's, or fewer than two voters, and `DisconnectedError`.
    """
    check_workers(workers, backend)
    fit.require_one_part()
    first, second, outcome, voter = votes
    codes, cluster = np.unique(np.asarray(voter), return_inverse=True)
    if len(codes) < 2 or resamples < 1:
        raise InputError(f"Resampling needs at least two voters and one resample, found {len(codes)} and {resamples}.")
    at = _by_vote(fit, first, second, outcome)
    if len(cluster) != len(at.data.one):
        raise InputError(f"There are {len(at.data.one)} votes, and voters of {len(cluster)}.")
    if len(fit.effects.times) > 1 and not np.array_equal(codes, np.arange(len(fit.effects.times))):
        raise InputError("The voters must be those of the fit, coded 0, 1, 2, … without a gap.")
    drawn = rng.multinomial(len(codes), np.full(len(codes), 1.0 / len(codes)), size=resamples).astype(np.float64)
    start = np.nan_to_num(fit.theta)
    graph = PairGraph(at.data.one, at.data.other, len(start))
    job = _Refit(at.data, start, fit.effects, fit.ridge, graph, cluster)
    workers = workers_for(resamples * len(cluster), WORTH_FITTED_VOTES, workers)
    size = min(max(1, BATCH_VOTES // len(cluster)), -(-resamples // (workers if workers > 1 else FEWEST_RESAMPLES)))
    batches = [drawn[number : number + size] for number in range(0, resamples, size)]
    moved = np.empty((resamples, len(start)))
    for number, theta in enumerate(spread(job, batches, workers=workers, backend=backend)):
        moved[number * size : (number + 1) * size] = theta
        if progress is not None:
            progress(min((number + 1) * size, resamples), resamples)
    moved[:, fit.votes == 0] = np.nan
    return Resamples(fit, moved, len(codes))


@dataclass(frozen=True, eq=False)
class _Refit:
    """What all resamples have in common; called with how often each voter was drawn, it fits each anew.

    Takes shape (some resamples, n_voters), returns (some resamples, n_items).
    """

    data: Data
    start: Floats
    effects: Effects
    ridge: float
    graph: PairGraph
    cluster: Ints

    def __call__(self, drawn: Floats) -> Floats:
        return np.array([self._refitted(times) for times in drawn])

    def _refitted(self, times: Floats) -> Floats:
        """θ with each voter's votes counted `times` (n_voters,)."""
        there = times[self.cluster] > 0  # votes that count zero times change no sum
        weight, data = times[self.cluster[there]], self.data
        points = weight * data.points[there]
        part = Data(data.one[there], data.other[there], weight, points, data.voter[there], data.left[there])
        effects = self.effects.counted(np.maximum(times, ABSENT)) if len(self.effects.times) > 1 else self.effects
        graph = self.graph.part(there)
        start = Start(self.start, effects, graph=graph)
        return minimise(part, start, self.ridge, 0.0, warm_steps=N_STEPS).theta


def _by_vote(fit: BradleyTerry, first: ArrayLike, second: ArrayLike, outcome: ArrayLike) -> Likelihood:
    """The likelihood at the fit with a row for each vote."""
    if fit.effects.free[[0, 2]].any():
        return fit.likelihood
    one, other = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    n = len(one)
    data = Data(one, other, np.ones(n), np.asarray(outcome, dtype=np.float64), np.zeros(n, np.int64), np.full(n, 0.5))
    if n != int(fit.votes.sum()) // 2:
        raise InputError(f"The fit is of {int(fit.votes.sum()) // 2} votes, and {n} were given.")
    return Likelihood(data, np.nan_to_num(fit.theta), fit.effects)


def fitted_intervals(
    fit: BradleyTerry, votes: VoteColumns, items: Ints, scores: Floats, level: float = 0.9
) -> tuple[Floats, Floats]:
    """Intervals of the share of votes that items would win against all others, by the fit of all votes, (n,) each.

    θ ± z·√(φ·V/(V−1)) standard errors, for V voters and the φ of `clustering`, as expected Borda scores; and out to the
    item's own score, where that lies beside. NaN for an item without a vote.

    Parameters
    ----------
    fit : of these votes, as they were given to `fit_bradley_terry`.
    items : whose intervals are wanted, positions in the fit, (n,); scores : their published scores in [0, 1], (n,).

    Raises `DisconnectedError` where votes leave items apart, and `InputError` as `resample_voters`.
    """
    fit.require_one_part()
    n_voters = len(np.unique(votes[3]))
    if n_voters < 2:
        raise InputError(f"An interval needs votes of at least two voters, found {n_voters}.")
    far = ndtri(_tails(level)[1]) * np.sqrt(clustering(fit, votes, items) * n_voters / (n_voters - 1))
    known = np.flatnonzero(fit.votes[items] > 0)
    field = fit.theta[fit.votes > 0]
    theta, error = fit.theta[items[known]], fit.standard_error[items[known]]
    result = np.full((2, len(items)), np.nan)
    for row, side, outer in ((0, -far, np.fmin), (1, far, np.fmax)):
        bound = expected_borda(theta + side * error, lapse=fit.lapse, field=field)
        result[row, known] = outer(bound, scores[known])
    return result[0], result[1]


def clustering(fit: BradleyTerry, votes: VoteColumns, items: Ints) -> float:
    """How many times as large the variance of these items' θ is as if a voter's votes were independent; 1 at least.

    A voter who has an item too high has it so in every vote on it, which no standard error of single votes knows. Of
    each item the derivatives of the log-likelihood are added up by voter, squared and summed, times V/(V−1), and set
    against the sum of the single ones' squares, each times n/(n−1) for the θ that its n votes were fitted with. The
    ratio is of the sums over all of `items`, since one item's says little. Parameters as of `fitted_intervals`.
    """
    first, second, outcome, voter = votes
    codes, cluster = np.unique(np.asarray(voter), return_inverse=True)
    pull = _by_vote(fit, first, second, outcome).score()
    item, of_vote = np.concatenate((first, second)), np.concatenate((pull, -pull))
    inside = np.isin(item, items)
    item, of_vote = item[inside], of_vote[inside]
    _, cell = np.unique(item * len(codes) + np.tile(cluster, 2)[inside], return_inverse=True)
    together = np.sum(np.bincount(cell, of_vote) ** 2) * len(codes) / (len(codes) - 1)
    times = fit.votes[item]
    apart = np.sum(of_vote**2 * times / np.maximum(times - 1, 1))
    return float(max(1.0, together / apart)) if apart > 0 else 1.0


def _tails(level: float) -> tuple[float, float]:
    """The probabilities at which an interval of a level ends."""
    if not 0 < level < 1:
        raise InputError(f"The level must be between 0 and 1, found {level!r}.")
    return (1.0 - level) / 2.0, (1.0 + level) / 2.0


def _mid_quantile(ordered: Ints, tail: float) -> Ints:
    """The least value of each column of which less than `tail` lies below, half of those level with it; (n,).

    ordered : whole numbers, ascending along axis 0, shape (draws, n).
    """
    n, columns = len(ordered), np.arange(ordered.shape[1])
    quantile = ordered[int(tail * n)]
    below, up_to = (ordered < quantile).sum(axis=0), (ordered <= quantile).sum(axis=0)
    after = ordered[np.minimum(up_to, n - 1), columns]
    return np.where(below + up_to >= 2 * tail * n, quantile, after)


MOST_UNDEFINED = 0.2  # share of resamples an item may be undefined in and still get an interval
CELLS = 4_000_000  # items × resamples worked on at once: some 200 MB with all intermediate arrays
WORTH_VOTES = 300_000_000  # votes of all resamples from which on more processes are started: some 2.5 s of one core


@dataclass(frozen=True)
class Intervals:
    """Percentile intervals of the final scores.

    lower, upper : shape (n_items,), NaN where there is no interval; resamples : how many were drawn;
    n_voters : voters who cast the votes; reason : why no item has an interval, or "".
    """

    lower: Floats
    upper: Floats
    resamples: int
    n_voters: int
    reason: str


def bootstrap_intervals(
    ballots: Sequence[VotesOf],
    n_items: int,
    *,
    resamples: int = 1000,
    level: float = 0.9,
    rng: np.random.Generator,
    workers: int | None = 1,
    backend: str = "loky",
) -> Intervals:
    """Intervals of the final scores (see `final_scores`) by drawing voters with replacement.

    lower and upper are quantiles of the score over the resamples in which it is defined: (1 − level)/2 and
    (1 + level)/2, further out where voters are few (`widened_tails`). An item undefined in more than a fifth of them
    gets NaN. With fewer than five voters no item gets an interval and `reason` says so.

    What the votes can't show, the interval can't either: an item that won all its votes has [1, 1].

    Parameters
    ----------
    ballots : the votes of each ballot, voters coded alike in all of them.
    n_items : number of items of the project.
    resamples : how many times the voters are drawn, at least 1.
    level : share of the resampled scores inside the interval, between 0 and 1.
    rng : source of the draws; the same generator state gives the same intervals.
    workers : processes to use; 1 stays in this one, None takes a process for each free core where that pays.
    backend : "loky", or "dask" for the workers of a Dask cluster (`parallel.spread`). The intervals are the same.

    Raises `InputError` for values out of range. Memory is bounded whatever the number of items.
    """
    check_workers(workers, backend)
    if resamples < 1 or not 0 < level < 1:
        raise InputError(f"Give at least 1 resample and a level between 0 and 1, found {resamples} and {level}.")
    for ballot in ballots:
        check_range(ballot.items, n_items)
    lower, upper = np.full(n_items, np.nan), np.full(n_items, np.nan)
    codes = np.unique(np.concatenate([np.empty(0, np.int64), *(ballot.voter for ballot in ballots)]))
    if len(codes) < MIN_VOTERS:
        reason = f"An interval needs votes of at least {MIN_VOTERS} voters; found {len(codes)}."
        return Intervals(lower, upper, resamples, len(codes), reason)
    tails = widened_tails(len(codes), level)
    measure = partial(quantiles, tails=tails)
    workers = workers_for(resamples * sum(len(ballot.first) for ballot in ballots), WORTH_VOTES, workers)
    tallies, drawn = _drawn(ballots, codes, resamples, rng)
    for items, ends in _resampled(tallies, drawn, n_items, measure, workers=workers, backend=backend):
        lower[items], upper[items] = ends
    return Intervals(lower, upper, resamples, len(codes), "")


def resampled_scores(
    ballots: Sequence[VotesOf], n_items: int, *, resamples: int, rng: np.random.Generator
) -> Iterator[tuple[Ints, Floats]]:
    """Item positions with their final scores in every resample of voters (items × resamples), a block at a time.

    NaN where a resample has no vote on an item. Items and voters as in `bootstrap_intervals`, unchecked.
    """
    codes = np.unique(np.concatenate([np.empty(0, np.int64), *(ballot.voter for ballot in ballots)]))
    yield from _resampled(*_drawn(ballots, codes, resamples, rng), n_items, _identity)


def _drawn(
    ballots: Sequence[VotesOf], codes: Ints, resamples: int, rng: np.random.Generator
) -> tuple[list[_Tally], Floats]:
    """The ballots' tallies, and how often each voter counts in each resample (voters × resamples)."""
    drawn = rng.multinomial(len(codes), np.full(len(codes), 1 / len(codes)), size=resamples).T.astype(np.float64)
    return [_Tally.of(ballot, codes) for ballot in ballots], drawn


@dataclass(frozen=True)
class _Tally:
    """Points and times presented of one ballot: sparse, items of the ballot × voters."""

    items: Ints
    points: csr_array
    votes: csr_array

    @classmethod
    def of(cls, ballot: VotesOf, codes: Ints) -> _Tally:
        first, second = places_of(ballot)
        row = np.concatenate((first, second))
        column = np.tile(np.searchsorted(codes, ballot.voter), 2)
        shape = (len(ballot.items), len(codes))
        points = np.concatenate((ballot.outcome, 1.0 - ballot.outcome))
        return cls(
            ballot.items,
            csr_array((points, (row, column)), shape=shape),
            csr_array((np.ones(len(row)), (row, column)), shape=shape),
        )

    def part(self, wanted: NDArray[np.bool_]) -> tuple[Ints, csr_array, csr_array]:
        inside = wanted[self.items]
        if inside.all():
            return self.items, self.points, self.votes
        rows = np.flatnonzero(inside)
        return self.items[rows], self.points[rows], self.votes[rows]


def _resampled(
    tallies: list[_Tally],
    drawn: Floats,
    n_items: int,
    measure: Callable[[Floats], Any],
    *,
    workers: int = 1,
    backend: str = "loky",
) -> Iterator[tuple[Ints, Any]]:
    """Item positions with what `measure` makes of their final scores (items × resamples), a block of items at a time.

    Items meet only in the slopes. Where items × resamples is too much at once, the slopes come from
    blocks of resamples, and the scores then from blocks of items. Slopes hang on items of later ballots alone.
    """
    resamples = drawn.shape[1]
    voted = np.unique(np.concatenate([tally.items for tally in tallies]))
    slopes = None
    if len(voted) * resamples > CELLS:
        slopes = np.ones((len(tallies), resamples))
        later = np.unique(np.concatenate([np.empty(0, np.int64), *(tally.items for tally in tallies[1:])]))
        width = max(1, CELLS // max(len(later), 1))
        parts = [slice(start, start + width) for start in range(0, resamples, width)] if len(later) else []
        slopes_of = partial(_slopes, tallies, drawn, later, n_items)
        for part, of_part in zip(parts, spread(slopes_of, parts, workers=workers, backend=backend), strict=True):
            slopes[:, part] = of_part
    height = max(1, CELLS // resamples)
    blocks = [voted[start : start + height] for start in range(0, len(voted), height)]
    scores_of = partial(_measured, tallies, drawn, n_items, slopes, measure)
    yield from zip(blocks, spread(scores_of, blocks, workers=workers, backend=backend), strict=True)


def _slopes(tallies: list[_Tally], drawn: Floats, items: Ints, n_items: int, part: slice) -> Floats:
    """The slopes (ballots × resamples) of a part of the resamples."""
    return _replay(tallies, drawn[:, part], items, n_items)[1]


def _measured(
    tallies: list[_Tally], drawn: Floats, n_items: int, slopes: Floats | None, measure: Callable, items: Ints
) -> Any:
    """`measure` of the final scores (items × resamples)."""
    return measure(_replay(tallies, drawn, items, n_items, slopes)[0])


def _identity(scores: Floats) -> Floats:
    return scores


def _replay(
    tallies: list[_Tally], drawn: Floats, items: Ints, n_items: int, slopes: Floats | None = None
) -> tuple[Floats, Floats]:
    """Final scores (items × resamples) and slopes (ballots × resamples) with voters counted as `drawn`.

    `drawn` is voters × resamples. Without `slopes` they are computed, for which `items` must be all of later ballots.
    """
    wanted = np.zeros(n_items, dtype=bool)
    wanted[items] = True
    place = np.zeros(n_items, dtype=np.int64)
    place[items] = np.arange(len(items))
    mean = np.full((len(items), drawn.shape[1]), np.nan)
    count = np.zeros(mean.shape, dtype=np.int64)
    used = np.ones((len(tallies), drawn.shape[1]))
    for number, tally in enumerate(tallies):
        positions, points, votes = tally.part(wanted)
        rows = place[positions]
        times = votes @ drawn
        x = np.divide(points @ drawn, times, out=np.full(times.shape, np.nan), where=times != 0)
        if number == 0:
            mean[rows], count[rows] = updated_mean(x, mean[rows], count[rows])
        else:
            step = chained(x, mean[rows], count[rows], None if slopes is None else slopes[number])
            used[number], mean[rows], count[rows] = step.slope, step.mean, step.count
    return mean, used


def quantiles(scores: Floats, tails: tuple[float, float]) -> tuple[Floats, Floats]:
    """Quantiles along axis 1 of the defined scores, interpolated linearly; NaN where too few are."""
    ordered = np.sort(scores, axis=1)  # NaN stand last
    defined = np.count_nonzero(~np.isnan(ordered), axis=1)
    enough = defined >= max(1.0, (1 - MOST_UNDEFINED) * scores.shape[1])
    rows = np.flatnonzero(enough)
    result = np.full((2, len(scores)), np.nan)
    for row, tail in enumerate(tails):
        at = tail * (defined[rows] - 1)
        low = np.floor(at).astype(np.int64)
        high = np.minimum(low + 1, defined[rows] - 1)
        below, above = ordered[rows, low], ordered[rows, high]
        result[row, rows] = below + (at - low) * (above - below)
    return result[0], result[1]
