"""How well a dataset's votes determine its ranking: halves of the voters against each other, and the noise ceiling.

References: Spearman (1910), Correlation calculated from faulty data, and Brown (1910), Some experimental results in
the correlation of mental abilities, British Journal of Psychology 3 (reliability from two halves).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from . import metrics
from .errors import DisconnectedError, InputError, UndefinedMetricError
from .runoff import FittedVotes
from .scores import BallotVotes
from .scores.posterior import item_posteriors
from .simulated_votes import likely_scores, scores_by, simulated_outcomes

Floats = NDArray[np.float64]

REPEATS, SIMULATIONS = 6, 8
FEWEST_VOTERS = 4
MOST_LEFT_OUT = 0.2  # share of the items that halves may leave without a score


@dataclass(frozen=True)
class SplitHalf:
    """How far rankings by two halves of the voters agree; means over the `repeats` random splits that were possible.

    rho : Spearman's ρ between the halves; rho_w : ρ_w between them, each half with half of the votes.
    whole : 2ρ/(1 + ρ), the Spearman–Brown estimate of what two datasets as large as this one would agree by (ρ_w has no
    such rule). left_out : the mean share of the items that a half had no score for.
    """

    rho: float
    rho_w: float
    repeats: int
    left_out: float

    @property
    def whole(self) -> float:
        """The Spearman–Brown estimate for all votes; −1 … 1, never above what ρ > −1 allows."""
        return stepped_up(self.rho)


def stepped_up(correlation: float) -> float:
    """Spearman–Brown: the correlation of two halves as that of two wholes; a negative one stays as it is.

    >>> stepped_up(0.5), stepped_up(-0.2)
    (0.6666666666666666, -0.2)
    """
    return 2.0 * correlation / (1.0 + correlation) if correlation > 0 else correlation


def split_half(
    votes: Sequence[BallotVotes],
    protocol: str,
    fitted: FittedVotes,
    *,
    repeats: int = REPEATS,
    rng: np.random.Generator,
) -> SplitHalf:
    """Score two random halves of the voters apart, and correlate the items that both score; `repeats` times.

    fitted : of all these votes. Raises `UndefinedMetricError` for fewer than four voters, or where no split gives both
    halves a ranking of four fifths of the items.
    """
    voters = np.unique(np.concatenate([ballot.voter for ballot in votes]))
    if len(voters) < FEWEST_VOTERS or repeats < 1:
        raise UndefinedMetricError(f"Halves need votes of at least {FEWEST_VOTERS} voters; found {len(voters)}.")
    found = []
    for _ in range(repeats):
        half = rng.permutation(voters)[: len(voters) // 2]
        try:
            one, other = (
                scores_by(_of_voters(votes, half, inside), protocol, fitted) for inside in (True, False)
            )
            both = ~np.isnan(one) & ~np.isnan(other)
            if np.mean(~both) > MOST_LEFT_OUT:
                continue
            pair = (one[both], other[both])
            found.append((metrics.spearman(*pair), metrics.weighted_spearman(*pair), np.mean(~both)))
        except (DisconnectedError, InputError, UndefinedMetricError):
            continue  # this split's halves have too few votes to rank the items
    if not found:
        raise UndefinedMetricError("Half of the voters gave too few votes to rank the items, in every split tried.")
    rho, rho_w, left_out = np.mean(found, axis=0).tolist()
    return SplitHalf(rho, rho_w, len(found), left_out)


def _of_voters(votes: Sequence[BallotVotes], voters: NDArray[np.int64], inside: bool) -> list[BallotVotes]:
    result = []
    for ballot in votes:
        kept = np.isin(ballot.voter, voters) == inside
        columns = {name: getattr(ballot, name)[kept] for name in ("first", "second", "outcome", "voter")}
        result.append(replace(ballot, **columns))
    return result


@dataclass(frozen=True)
class NoiseCeiling:
    """The ρ_w and τ_w that a model with the true ranking would be given by votes like these, means over simulations;
    lowest and highest ρ_w of them."""

    rho_w: float
    tau_w: float
    lowest: float
    highest: float
    simulations: int


def noise_ceiling(
    votes: Sequence[BallotVotes],
    protocol: str,
    fitted: FittedVotes,
    *,
    simulations: int = SIMULATIONS,
    rng: np.random.Generator,
) -> NoiseCeiling:
    """Simulate from the fit what a perfect model would score.

    True scores are drawn from what the votes leave possible, the same comparisons answered by the same voters, as the fit
    knows them, and scored as the protocol does; the scores' ρ_w with the true ones is what a perfect model would get.

    Raises `InputError` for no simulation, and `UndefinedMetricError` where scores came out all equal.
    """
    if simulations < 1:
        raise InputError(f"A noise ceiling takes at least one simulation, found {simulations}.")
    posteriors = item_posteriors(fitted.fit)
    codes = np.unique(np.concatenate([ballot.voter for ballot in votes]))
    found = []
    for _ in range(simulations):
        truth = likely_scores(posteriors, rng)
        again = []
        for ballot in votes:
            first, second = (np.searchsorted(fitted.items, side) for side in (ballot.first, ballot.second))
            voter = np.searchsorted(codes, ballot.voter)
            again.append(
                replace(ballot, outcome=simulated_outcomes(fitted.fit, truth, first, second, voter, rng))
            )
        scores = scores_by(again, protocol, fitted)
        known = ~np.isnan(scores) & ~np.isnan(truth)
        pair = (truth[known], scores[known])
        found.append((metrics.weighted_spearman(*pair), metrics.weighted_kendall(*pair)))
    rho_w, tau_w = np.array(found).T
    return NoiseCeiling(
        float(rho_w.mean()), float(tau_w.mean()), float(rho_w.min()), float(rho_w.max()), simulations
    )
