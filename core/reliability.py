"""How reliable a campaign's scores are, by either protocol: halves of the voters, and what a perfect model would score.

For the protocol "runoff" `scores.reliability` has both. By the paper's protocol halves are scored by its own chain of
ratios, and the ceiling is simulated: true scores and voters as a Bradley–Terry fit of the votes knows them, the
same comparisons, and the paper's scores of the simulated votes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import metrics
from .errors import InputError, UndefinedMetricError
from .parallel import spread, workers_for
from .scores import BallotVotes, reliability
from .scores.fit import FittedVotes, fit_votes, joined
from .scores.posterior import item_posteriors
from .scores.reliability import Agreement, Metric
from .simulated_votes import likely_scores, scores_by, simulated_outcomes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

REPEATS, SIMULATIONS = 10, 10
FEWEST_VOTERS = 4
WEIGHTED = ("rho_w", "tau_w")
HALVES_SEED, CEILING_SEED = 6, 7  # what is drawn with a ballot's seed for each
WORTH_VOTES = 4_000_000  # votes that the paper's chain scores in all, from which on more processes are started


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
) -> Agreement:
    """ρ_w between the scores of two random halves of the voters, `repeats` times; items that one lacks are left out.

    Without Spearman–Brown, which is for sums of scores: each half has half of the votes, and the figure is that of a
    dataset of half the size. fitted : of all these votes. workers : processes to use; None takes one for each free core
    where that pays. Raises `UndefinedMetricError` for fewer than four voters, or where a half ranks nothing.
    """
    voters = np.unique(np.concatenate([ballot.voter for ballot in votes]))
    if len(voters) < FEWEST_VOTERS:
        raise UndefinedMetricError(f"Halves need votes of at least {FEWEST_VOTERS} voters; found {len(voters)}.")
    if protocol == "runoff":
        return reliability.split_half(
            *joined(votes, fitted.items),
            metric,
            n_items=len(fitted.items),
            repetitions=repeats,
            rng=rng,
            ridge=fitted.fit.ridge,
            workers=workers,
        )
    drawn = [rng.permutation(voters)[: len(voters) // 2] for _ in range(repeats)]
    job = partial(_agreement_of_halves, votes, protocol, fitted, metric)
    return Agreement(np.array(list(spread(job, drawn, workers=_workers(votes, repeats, workers)))))


def _workers(votes: Sequence[BallotVotes], times: int, workers: int | None) -> int:
    return workers_for(times * sum(len(ballot.first) for ballot in votes), WORTH_VOTES, workers)


def _agreement_of_halves(
    votes: Sequence[BallotVotes], protocol: str, fitted: FittedVotes, metric: Metric, half: Ints
) -> Any:
    one, other = (scores_by(_of_voters(votes, half, inside), protocol, fitted) for inside in (True, False))
    both = ~np.isnan(one) & ~np.isnan(other)
    return metric(one[both], other[both])


def _of_voters(votes: Sequence[BallotVotes], voters: Ints, inside: bool) -> list[BallotVotes]:
    result = []
    for ballot in votes:
        kept = np.isin(ballot.voter, voters) == inside
        columns = {name: getattr(ballot, name)[kept] for name in ("first", "second", "outcome", "voter")}
        result.append(replace(ballot, **columns))
    return result


def ceiling(
    votes: Sequence[BallotVotes],
    protocol: str,
    fitted: FittedVotes,
    *,
    simulations: int = SIMULATIONS,
    metric: Metric = metrics.weighted_spearman,
    rng: np.random.Generator,
    workers: int | None = None,
) -> Agreement:
    """The ρ_w that a model with the true ranking would be given by votes like these, simulation by simulation.

    workers : as in `halves`. Raises `InputError` for no simulation, and `UndefinedMetricError` where simulated scores
    are all equal.
    """
    if simulations < 1:
        raise InputError(f"A noise ceiling takes at least one simulation, found {simulations}.")
    if protocol == "runoff":
        return reliability.noise_ceiling(fitted.fit, metric, repetitions=simulations, rng=rng, workers=workers)
    posteriors = item_posteriors(fitted.fit)
    codes = np.unique(np.concatenate([ballot.voter for ballot in votes]))

    def simulated() -> Iterator[tuple[Floats, list[BallotVotes]]]:
        for _ in range(simulations):
            truth = likely_scores(posteriors, rng)
            again = []
            for ballot in votes:
                first, second = (np.searchsorted(fitted.items, side) for side in (ballot.first, ballot.second))
                voter = np.searchsorted(codes, ballot.voter)
                outcome = simulated_outcomes(fitted.fit, truth, first, second, voter, rng)
                again.append(replace(ballot, outcome=outcome))
            yield truth, again

    job = partial(_agreement_with_truth, protocol, fitted, metric)
    return Agreement(np.array(list(spread(job, simulated(), workers=_workers(votes, simulations, workers)))))


def both_weighted(x: ArrayLike, y: ArrayLike, *, n0: float = 2.0) -> Floats:
    """ρ_w and τ_w of two lists of scores, (2,): a metric for `halves` and `ceiling`. Errors as `weighted_spearman`."""
    return np.array([metrics.weighted_spearman(x, y, n0=n0), metrics.weighted_kendall(x, y, n0=n0)])


def one_by_one(found: Agreement) -> dict[str, Agreement]:
    """What `both_weighted` measured, by figure: "rho_w" and "tau_w"."""
    return {name: Agreement(np.ascontiguousarray(found.values[:, place])) for place, name in enumerate(WEIGHTED)}


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


def _agreement_with_truth(
    protocol: str, fitted: FittedVotes, metric: Metric, simulated: tuple[Floats, list[BallotVotes]]
) -> Any:
    truth, votes = simulated
    scores = scores_by(votes, protocol, fitted)
    known = ~np.isnan(scores) & ~np.isnan(truth)
    return metric(truth[known], scores[known])
