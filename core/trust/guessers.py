"""Voters whose votes can't be told from coin tosses by what the others' votes say, and votes simulated with them.

The fit of all votes takes every voter for an ordinary one with a lapse near .03: where many toss coins it shares their
noise out among all. So each voter's votes are predicted from the others' (`leave_one_out`), and weighed against coins:
of all voters a share π are guessers, by the votes themselves (expectation and maximisation), and those who more
likely than not are one are left out of the next prediction, until nobody comes or goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..base.arrays import Bools, Floats, Ints
from ..errors import RunoffError
from ..protocols import Votes
from ..scores import BallotVotes
from ..scores.fit import fit_votes, joined
from ..scores.posterior import simulated_outcomes
from ..scores.signal_test import CHANCE_Z
from .leave_one_out import predict

FEWEST_VOTERS = 4  # fewest that can be told from each other
ROUNDS, STEPS = 5, 50  # of predictions, and of the share within one
START, LEAST, MOST = 0.1, 0.01, 0.95  # the share of guessers
SUSPECT = 0.1  # probability from which on a voter's votes are left to chance in simulations, if anybody guesses
CERTAIN = 50.0  # log odds beyond which nothing changes


@dataclass(frozen=True, eq=False)
class Guessers:
    """The voters (codes as in the votes, ascending), the probability that each guesses, and the votes of each; (V,).

    agreement : how far each votes as the others' votes say, in standard deviations of coin tosses; 0 where those say
    nothing. Whoever agrees little may be nearer to coins than to an ordinary voter, and no guesser all the same.
    """

    voters: Ints
    probability: Floats
    votes: Ints
    agreement: Floats

    @property
    def found(self) -> Ints:
        """Those who more likely than not guess."""
        return self.voters[self.probability > 0.5]

    @property
    def tossing(self) -> Bools:
        """Whose votes are nearer to coins than to an ordinary voter's, and can't be told from coin tosses; (V,)."""
        return np.asarray((self.probability > 0.5) & (self.agreement < CHANCE_Z))

    @property
    def suspected(self) -> Ints:
        """Those, and whoever may well guess besides: one that is missed costs a ceiling more than a reader left out."""
        return self.voters[self.probability > SUSPECT]

    @property
    def share(self) -> float:
        """Of the votes that are theirs."""
        return float(self.votes[self.probability > 0.5].sum() / self.votes.sum())


def find_guessers(votes: Sequence[BallotVotes]) -> Guessers:
    """Look for guessers in the votes of all ballots; nobody where voters are too few, or leave items apart."""
    items = np.sort(votes[0].items)
    first, second, outcome, voter = joined(votes, items)
    voters = np.unique(np.concatenate([ballot.voter for ballot in votes]))
    n = len(voters)
    probability, agreement, out = np.zeros(n), np.zeros(n), np.zeros(n, dtype=bool)
    for _ in range(ROUNDS if n >= FEWEST_VOTERS else 0):
        try:
            found = predict(first, second, outcome, voter, n_items=len(items), counts=~out[voter])
        except RunoffError:
            break
        told = found.informed & (outcome != 0.5)
        sure = np.where(outcome == 1, found.probability, 1.0 - found.probability)[told]
        agreement = _agreement(2.0 * sure - 1.0, voter[told], n)
        probability = _weighed(np.bincount(voter[told], np.log(2.0 * sure), n).astype(np.float64))
        before, out = out, probability > 0.5
        if (out == before).all() or out.sum() > n - 2:
            break
    return Guessers(voters, probability, np.bincount(voter, minlength=n), agreement)


def _agreement(lead: Floats, voter: Ints, n: int) -> Floats:
    """Each voter's agreement in standard deviations of coin tosses, (n,); lead : how much likelier than the other the
    answer given was, by the others' votes, in [-1, 1]."""
    total, variance = np.bincount(voter, lead, n), np.bincount(voter, lead**2, n)
    return np.asarray(np.divide(total, np.sqrt(variance), out=np.zeros(n), where=variance > 0))


def _weighed(better: Floats) -> Floats:
    """The probability that each voter guesses; better : log-likelihood of their votes over that of coins, (V,)."""
    share, odds = START, np.exp(np.clip(better, -CERTAIN, CERTAIN))
    for _ in range(STEPS):
        found = share / (share + (1.0 - share) * odds)
        share = float(np.clip(found.mean(), LEAST, MOST))
    return np.asarray(found)


def simulated_with(
    votes: Sequence[BallotVotes], guessers: Ints, n: int, rng: np.random.Generator
) -> Iterator[tuple[Floats, list[Votes]]]:
    """True scores, and votes on the same comparisons of which those of `guessers` are coin tosses, `n` times.

    The truth and what the others are like are the fit of the others' votes. Errors as of `fit_votes`.
    """
    items = np.sort(votes[0].items)
    fitted = fit_votes([_without(ballot, guessers) for ballot in votes])
    others = np.setdiff1d(np.concatenate([ballot.voter for ballot in votes]), guessers)
    for _ in range(n):
        again = []
        for ballot in votes:
            first, second = (np.searchsorted(items, side) for side in (ballot.first, ballot.second))
            code = np.minimum(np.searchsorted(others, ballot.voter), len(others) - 1)
            outcome = simulated_outcomes(fitted.fit, fitted.fit.theta, first, second, code, rng)
            coins = rng.integers(2, size=len(outcome)).astype(np.float64)
            outcome = np.where(np.isin(ballot.voter, guessers), coins, outcome)
            again.append(Votes(ballot.items, ballot.first, ballot.second, outcome, ballot.voter))
        yield fitted.fit.theta, again


def _without(ballot: BallotVotes, voters: Ints) -> Votes:
    kept = ~np.isin(ballot.voter, voters)
    return Votes(ballot.items, ballot.first[kept], ballot.second[kept], ballot.outcome[kept], ballot.voter[kept])
