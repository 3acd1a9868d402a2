"""How reliable a campaign's scores are, by its protocol: halves of the voters, and what a perfect model would score."""

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
from ..scores.bradley_terry import FittedVotes, fit_votes
from ..scores.reliability import Metric, RepeatedCorrelation, by_chance
from ..tables import Floats
from .leave_one_out import Guessers, find_guessers, simulated_with

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
    guessers: Guessers | None = None,
) -> RepeatedCorrelation:
    """The ρ_w that a model with the true ranking would be given by votes like these, simulation by simulation.

    Where some voters guess, their votes are coin tosses in the simulations too, and the truth is what the others say.

    guessers : of these votes; default `find_guessers`. Raises `InputError` for no simulation, and
    `UndefinedMetricError` where simulated scores are all equal, or where the votes can't be told from coin tosses:
    scores fitted to those lie apart too, and votes simulated from them would agree with them.
    """
    if simulations < 1:
        raise InputError(f"A noise ceiling takes at least one simulation, found {simulations}.")
    if why := by_chance(votes):
        raise UndefinedMetricError(why)
    guessers = find_guessers(votes) if guessers is None else guessers
    if len(guessers.found):
        return protocol_of(protocol).against_truth(simulated_with(votes, guessers.suspected, simulations, rng), metric)
    return protocol_of(protocol).ceiling(votes, fitted, metric, simulations, rng)


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
    by_ballot = []
    for ballots, votes in rankings:
        rng = np.random.default_rng([ballots[-1].seed, CEILING_SEED])
        metric = partial(both_weighted, n0=n0)
        by_ballot.append(ceiling(votes, ballots[-1].protocol, fit_votes(votes), metric=metric, rng=rng).values)
    if not by_ballot:
        return {}
    return dict(zip(WEIGHTED, np.mean(by_ballot, axis=0).mean(axis=0).tolist(), strict=True))
