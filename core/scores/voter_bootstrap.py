"""How far Bradley–Terry scores would move with other voters, and what that leaves of ranks and correlations.

The votes of one voter hang together, so whole voters are drawn with replacement (cluster bootstrap). A resample is
not fitted anew to the end: a few Newton steps from the fit, in which votes count as often as their voters were drawn,
land near where the new fit would. The voters' effects move too: how much each is trusted follows from the votes, and
holding that fast would hide half of the noise at the top.

Correlations of the scores with a model's can't be read off the resamples: see `core.evaluation.intervals`.

Reference: Davison, Hinkley (1997), Bootstrap Methods and their Application, sections 2.7 and 3.8.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.parallel import check_workers, spread, workers_for
from ..base.progress import Progress
from ..errors import InputError
from ..metrics import average_ranks, rounded_scores
from .bradley_terry import BradleyTerry
from .newton import minimise
from .pair_graph import PairGraph
from .voter_effects import Data, Effects, Likelihood

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_STEPS = 7
ABSENT = 1e-3  # how often a voter counts who was not drawn
BATCH_VOTES = 2_000_000  # votes that another process takes up at a time, over its resamples: some .4 s
TOLD = 20  # times that the work of one process says how far it is
WORTH_VOTES = 12_000_000  # votes of all resamples from which on more processes are started: some 2.5 s of one core


@dataclass(frozen=True)
class Resamples:
    """Scores of resampled voters, `theta` of shape (resamples, n_items), NaN for items without votes."""

    fit: BradleyTerry
    theta: Floats
    n_voters: int

    def score_intervals(self, level: float = 0.9) -> tuple[Floats, Floats]:
        """Percentile intervals of θ, shape (n_items,) each."""
        lower, upper = np.quantile(self.theta, _tails(level), axis=0)
        return lower, upper

    def rank_intervals(self, level: float = 0.9) -> tuple[Ints, Ints]:
        """The best and the worst rank of each item, whole numbers, (n_items,) each; 0 for items without votes.

        Ranks of the resampled scores, percentiles rounded outwards, and always around the item's own rank. Resamples
        scatter twice as far as the scores do from the truth, so these intervals hold at least what they promise.
        """
        known = np.flatnonzero(self.fit.votes > 0)
        order = np.argsort(-self.theta[:, known], axis=1)
        ranks = np.empty_like(order)
        np.put_along_axis(ranks, order, np.arange(1, len(known) + 1)[None, :], axis=1)
        tails = _tails(level)
        # θ has a scale of its own: where all are level, noise must rank none.
        own = average_ranks(self.fit.theta[known], rounding=partial(rounded_scores, largest=1))
        best = np.minimum(np.quantile(ranks, tails[0], axis=0, method="lower"), np.floor(own))
        worst = np.maximum(np.quantile(ranks, tails[1], axis=0, method="higher"), np.ceil(own))
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
    first: ArrayLike,
    second: ArrayLike,
    outcome: ArrayLike,
    voter: ArrayLike,
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
    fit : of these votes; first, second, outcome, voter : the votes, as they were given to `fit_bradley_terry`.
    resamples : how often the voters are drawn, at least 1.
    workers : processes to use; 1 stays in this one, None takes a process for each free core where that pays.
    backend : "loky", or "dask" for the workers of a Dask cluster (`parallel.spread`).
    progress : is told how many resamples are done.

    Raises `InputError` for votes that aren't the fit's, or fewer than two voters, and `DisconnectedError`.
    """
    check_workers(workers, backend)
    fit.require_one_part()
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
    workers = workers_for(resamples * len(cluster), WORTH_VOTES, workers)
    size = min(max(1, BATCH_VOTES // len(cluster)), -(-resamples // (workers if workers > 1 else TOLD)))
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
        there = times[self.cluster] > 0  # votes that count zero times change no sum
        weight, data = times[self.cluster[there]], self.data
        points = weight * data.points[there]
        part = Data(data.one[there], data.other[there], weight, points, data.voter[there], data.left[there])
        effects = self.effects.counted(np.maximum(times, ABSENT)) if len(self.effects.times) > 1 else self.effects
        graph = self.graph.part(there)
        return minimise(part, self.start, effects, self.ridge, 0.0, graph=graph, warm_steps=N_STEPS).theta


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


def _tails(level: float) -> tuple[float, float]:
    if not 0 < level < 1:
        raise InputError(f"The level must be between 0 and 1, found {level!r}.")
    return (1.0 - level) / 2.0, (1.0 + level) / 2.0
