"""How reliable scores are: halves of the voters compared, the best any model could score, and a test against chance.

The halves and the ceiling bound what a comparison of a model with the scores can show.

The test asks whether voters agree on anything at all, and holds however the ballots were drawn. In adaptive comparisons
the items that won by luck meet again at the top, and a scale made of coin tosses looks reliable to whatever takes the
fitted scores for true ones (Bramley and Vitello 2019, Assessment in Education 26). What can be asked without a fit: do
the votes of one voter go with those of the *others* on the same item?

Let ξ = 1 where an item won, −1 where it lost, 0 for a tie, and S_iv the sum of ξ over voter v's votes on item i. Then Q
= Σ_i [(Σ_v S_iv)² − Σ_v S_iv²] adds up the products of ξ of different voters on the same item. If every vote is a fair
coin, each vote on items a and b changes Q by ±2·(D_a − D_b), D being the sum of ξ of the other voters' earlier votes,
so Q is a martingale: its mean is 0 although later ballots were drawn by earlier votes, and Q divided by the root of Σ
4ξ²(D_a − D_b)² is close to standard normal (Hall and Heyde 1980, Martingale Limit Theory, section 3.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.numbers_in_words import with_decimals
from ..base.parallel import check_workers, spread, workers_for
from ..errors import InputError
from ..tables import Bools, Floats, Ints, VoteColumns
from .borda import VotesOf
from .bradley_terry import RIDGE, BradleyTerry, fit_bradley_terry, joined
from .newton import Start, minimise
from .voter_effects import Data, Effects, Likelihood

COIN_TOSSES = "the votes can't be told from coin tosses"  # said wherever no opinion shows
CHANCE_Z = 2.33  # of a hundred campaigns of coin tosses one is above it


def signal_z(votes: Sequence[VotesOf]) -> float:
    """By how many standard deviations different voters agree more than coin tosses would; 0 where nothing can be told.

    votes : of the ballots in the order they were held; the first has all items. Above `CHANCE_Z` voters share an
    opinion. O(n log n) in the votes.
    """
    first, second, outcome, voter = joined(votes, np.sort(votes[0].items))
    sign = 2.0 * outcome - 1.0
    item, signed = np.stack((first, second), axis=1).ravel(), np.stack((sign, -sign), axis=1).ravel()
    n_voters = int(voter.max(initial=0)) + 1
    own = item * n_voters + np.repeat(voter, 2)
    others = _sum_before(item, signed) - _sum_before(own, signed)
    step = 2.0 * sign * (others[0::2] - others[1::2])
    spread = float(np.sqrt(np.sum(step**2)))
    return float(np.sum(step)) / spread if spread > 0 else 0.0


def by_chance(votes: Sequence[VotesOf]) -> str:
    """The sentence that the votes don't differ from coin tosses; "" where voters share an opinion."""
    z = signal_z(votes)
    if z > CHANCE_Z:
        return ""
    return (
        f"Votes of different voters on the same items can't be told from coin tosses (z = {with_decimals(z, 1)}; "
        f"above {CHANCE_Z:g} they could)."
    )


def _sum_before(group: Ints, values: Floats) -> Floats:
    """The sum of the earlier values of the same group, at each value."""
    order = np.argsort(group, kind="stable")
    sorted_, total = group[order], np.cumsum(values[order])
    starts = np.flatnonzero(np.r_[True, sorted_[1:] != sorted_[:-1]])
    before = total - values[order]
    result = np.empty(len(values))
    result[order] = before - np.repeat(before[starts], np.diff(np.r_[starts, len(values)]))
    return result


# A figure, or several at once, (k,): what is measured is then (repetitions, k).
Metric = Callable[[ArrayLike, ArrayLike], Any]

TOLERANCE, N_STEPS = 0.05, 20
WORTH_VOTES = 1_500_000  # votes fitted in all from which on more processes are started: some 2.5 s of one core


@dataclass(frozen=True)
class RepeatedCorrelation:
    """A correlation over repetitions: `values` of each, shape (repetitions,), and their mean."""

    values: Floats

    @property
    def mean(self) -> float:
        """Of the repetitions."""
        return float(self.values.mean())


def split_half(
    votes: VoteColumns,
    metric: Metric,
    *,
    n_items: int,
    repetitions: int = 20,
    rng: np.random.Generator,
    ridge: float = RIDGE,
    workers: int | None = 1,
) -> RepeatedCorrelation:
    """The correlation between scores from one random half of the voters and from the other.

    Each half is fitted on its own, without voters' effects, and items without votes
    in a half are left out. No Spearman–Brown correction: it is for sums of scores, and these are ranks that look at
    the top. Scores of all voters are more reliable than this figure. Where ballots depended on earlier votes the
    halves share what those decided, such as which items have many votes.

    metric : of two rows of scores, such as `core.metrics.weighted_spearman`.
    workers : processes to use; 1 stays in this one, None takes a process for each free core where that pays. The
        values are the same.

    Raises `InputError` for fewer than two voters or fewer than one repetition.
    """
    check_workers(workers, "loky")
    first, second, outcome, voter = votes
    a, b, y = np.asarray(first), np.asarray(second), np.asarray(outcome, dtype=np.float64)
    codes, code = np.unique(np.asarray(voter), return_inverse=True)
    if len(codes) < 2 or repetitions < 1:
        raise InputError(f"Halves need two voters and one repetition, found {len(codes)} and {repetitions}.")
    halves = [(rng.permutation(len(codes)) < len(codes) // 2)[code] for _ in range(repetitions)]
    job = partial(_agreement_of_halves, a, b, y, metric, n_items, ridge)
    n_workers = workers_for(repetitions * len(a), WORTH_VOTES, workers)
    return RepeatedCorrelation(np.array(list(spread(job, halves, workers=n_workers))))


def _agreement_of_halves(
    first: Ints, second: Ints, outcome: Floats, metric: Metric, n_items: int, ridge: float, half: Bools
) -> Any:
    """The metric between θ by the votes in `half` and θ by the others, over the items that have both."""
    one, other = (
        fit_bradley_terry(first[rows], second[rows], outcome[rows], n_items=n_items, ridge=ridge, by_part=True).theta
        for rows in (half, ~half)
    )
    both = ~np.isnan(one) & ~np.isnan(other)
    return metric(one[both], other[both])


def noise_ceiling(
    fit: BradleyTerry,
    metric: Metric,
    *,
    repetitions: int = 50,
    rng: np.random.Generator,
    workers: int | None = 1,
) -> RepeatedCorrelation:
    """What a perfect model would score against such votes: the correlation of the fit with fits of simulated votes.

    Votes on the same comparisons by the same voters are drawn from the fit's probabilities and fitted like the real
    ones, while the fit plays the truth. It is the ceiling of a model's figure. Fitted scores lie
    further apart than true ones, which makes the ceiling a little high. `workers` as in `split_half`. Raises
    `DisconnectedError`.
    """
    check_workers(workers, "loky")
    fit.require_one_part()
    known = fit.votes > 0
    theta = np.nan_to_num(fit.theta)
    at = Likelihood(fit.likelihood.data, theta, fit.effects)
    count, win = at.data.count.astype(np.int64), np.minimum(at.win, 1.0)

    def simulated() -> Iterator[Floats]:
        for _ in range(repetitions):
            yield rng.binomial(count, win).astype(np.float64)

    job = partial(_agreement_with_refit, at.data, theta, fit.effects, fit.ridge, metric, known)
    n_workers = workers_for(repetitions * float(count.sum()), WORTH_VOTES, workers)
    return RepeatedCorrelation(np.array(list(spread(job, simulated(), workers=n_workers))))


def _agreement_with_refit(
    data: Data, theta: Floats, effects: Effects, ridge: float, metric: Metric, known: Bools, points: Floats
) -> Any:
    """The metric between θ and θ refitted to other outcomes (`points`), over the items `known`."""
    refitted = minimise(replace(data, points=points), Start(theta, effects), ridge, TOLERANCE, warm_steps=N_STEPS)
    return metric(theta[known], refitted.theta[known])
