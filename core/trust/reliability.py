"""How reliable a campaign's scores are, by its protocol: halves of the voters, and what a perfect model would score.

Whether voters agree on anything at all: a test against coin tosses that holds however the ballots were drawn.

In adaptive comparisons the items that won by luck meet again at the top, and a scale made of coin tosses looks reliable
to whatever takes the fitted scores for true ones (Bramley and Vitello 2019, Assessment in Education 26). What can be
asked without a fit: do the votes of one voter go with those of the *others* on the same item?

Let ξ = 1 where an item won, −1 where it lost, 0 for a tie, and S_iv the sum of ξ over voter v's votes on item i. Then
Q = Σ_i [(Σ_v S_iv)² − Σ_v S_iv²] adds up the products of ξ of different voters on the same item. If every vote is a
fair coin, each vote on items a and b changes Q by ±2·(D_a − D_b), D being the sum of ξ of the other voters' earlier
votes, so Q is a martingale: its mean is 0 although later ballots were drawn by earlier votes, and Q divided by the root
of Σ 4ξ²(D_a − D_b)² is close to standard normal (Hall and Heyde 1980, Martingale Limit Theory, section 3.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from .. import metrics
from ..errors import InputError, UndefinedMetricError
from ..protocols import protocol_of
from ..scores import BallotVotes
from ..scores.borda import VotesOf
from ..scores.bradley_terry import FittedVotes, fit_votes, joined
from ..scores.reliability import Metric, RepeatedCorrelation
from ..tables import Floats, Ints
from .leave_one_out import Guessers, find_guessers, simulated_with

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
    """That the votes can't be told from coin tosses, in a sentence; "" where voters share an opinion."""
    z = signal_z(votes)
    if z > CHANCE_Z:
        return ""
    return (
        f"Votes of different voters on the same items can't be told from coin tosses (z = {z:.1f}; above {CHANCE_Z:g} "
        "they could)."
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


REPEATS, SIMULATIONS = 10, 10
WEIGHTED = ("rho_w", "tau_w")
HALVES_SEED, CEILING_SEED = 6, 7  # what is drawn with a ballot's seed for each


class Drawn(Protocol):
    """What counts here of a ballot."""

    @property
    def seed(self) -> int: ...
    @property
    def protocol(self) -> str: ...


def halves(
    votes: Sequence[BallotVotes],
    protocol: str,
    fitted: FittedVotes,
    *,
    repeats: int = REPEATS,
    metric: Metric = metrics.weighted_spearman,
    rng: np.random.Generator,
    workers: int | None = None,
) -> RepeatedCorrelation:
    """ρ_w between the scores of two random halves of the voters, `repeats` times; items that one lacks are left out.

    Without Spearman–Brown, which is for sums of scores: each half has half of the votes, and the figure is that of a
    dataset of half the size. fitted : of all these votes. workers : processes to use; None takes one for each free core
    where that pays. Raises `UndefinedMetricError` for fewer than four voters, or where a half ranks nothing.
    """
    return protocol_of(protocol).halves(votes, fitted, metric, repeats, rng, workers)


def ceiling(
    votes: Sequence[BallotVotes],
    protocol: str,
    fitted: FittedVotes,
    *,
    simulations: int = SIMULATIONS,
    metric: Metric = metrics.weighted_spearman,
    rng: np.random.Generator,
    workers: int | None = None,
    guessers: Guessers | None = None,
) -> RepeatedCorrelation:
    """The ρ_w that a model with the true ranking would be given by votes like these, simulation by simulation.

    Where some voters guess, their votes are coin tosses in the simulations too, and the truth is what the others say.

    guessers : of these votes; default `find_guessers`. workers : as in `halves`, where nobody guesses. Raises
    `InputError` for no simulation, and `UndefinedMetricError` where simulated scores are all equal, or where the votes
    can't be told from coin tosses: scores fitted to those lie apart too, and votes simulated from them would agree with
    them.
    """
    if simulations < 1:
        raise InputError(f"A noise ceiling takes at least one simulation, found {simulations}.")
    if why := by_chance(votes):
        raise UndefinedMetricError(why)
    found = find_guessers(votes) if guessers is None else guessers
    if len(found.found):
        return protocol_of(protocol).against_truth(simulated_with(votes, found.suspected, simulations, rng), metric)
    return protocol_of(protocol).ceiling(votes, fitted, metric, simulations, rng, workers)


def both_weighted(x: ArrayLike, y: ArrayLike, *, n0: float = 2.0) -> Floats:
    """ρ_w and τ_w of two lists of scores, (2,): a metric for `halves` and `ceiling`. Errors as `weighted_spearman`."""
    return np.array([metrics.weighted_spearman(x, y, n0=n0), metrics.weighted_kendall(x, y, n0=n0)])


def one_by_one(found: RepeatedCorrelation) -> dict[str, RepeatedCorrelation]:
    """What `both_weighted` measured, by figure: "rho_w" and "tau_w"."""
    return {
        name: RepeatedCorrelation(np.ascontiguousarray(found.values[:, place])) for place, name in enumerate(WEIGHTED)
    }


def ceilings(rankings: Sequence[tuple[Sequence[Drawn], Sequence[BallotVotes]]], *, n0: float = 2.0) -> dict[str, float]:
    """What a perfect model gets by "rho_w" and "tau_w": the mean over rankings, each of its closed ballots and votes.

    The very figures of the pages. Empty for no ranking. Raises what `fit_votes` and `ceiling` do.
    """
    found = []
    for ballots, votes in rankings:
        rng = np.random.default_rng([ballots[-1].seed, CEILING_SEED])
        metric = partial(both_weighted, n0=n0)
        found.append(ceiling(votes, ballots[-1].protocol, fit_votes(votes), metric=metric, rng=rng).values)
    if not found:
        return {}
    return dict(zip(WEIGHTED, np.mean(found, axis=0).mean(axis=0).tolist(), strict=True))
