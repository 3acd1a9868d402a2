"""What all other voters' votes predict of each vote of a voter, and voters who can't be told from coin tosses.

Taking a voter out of a Bradley–Terry fit moves the differences of θ at the voter's own comparisons by one Newton step,

    δ = −(I − K D)⁻¹ K u,   K = B H⁻¹ Bᵀ,

with B the voter's comparisons (a row each, 1 at one item and −1 at the other), H the information of the fit with its
ridge, D the information of each vote and u its derivative of the log-likelihood. (I − K D)⁻¹ K is then the covariance
of these differences without the voter. So no fit is made anew; the other voters' effects are taken as they are.

Guessers
--------
The fit of all votes takes every voter for an ordinary one with a lapse near .03: where many toss coins it shares their
noise out among all. So each voter's votes are predicted from the others' (`leave_one_out`), and weighed against coins:
of all voters a share π are guessers, by the votes themselves (expectation and maximisation), and those who more likely
than not are one are left out of the next prediction, until nobody comes or goes. `simulated_with` makes votes with
guessers among them.

References: Pregibon (1981), Logistic regression diagnostics, Annals of Statistics 9 (the one-step deletion);
Spiegelhalter, Lauritzen (1990), Networks 20 (the prediction averaged over the uncertainty of θ).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from ..errors import InputError, NotConvergedError, RunoffError
from ..protocols import Votes
from ..scores import BallotVotes
from ..scores.bradley_terry import BradleyTerry, fit_votes, fit_with_voters, joined
from ..scores.pair_graph import MOST_DENSE, PairGraph
from ..scores.posterior import simulated_outcomes
from ..scores.reliability import CHANCE_Z
from ..scores.voter_effects import Data, Likelihood
from ..tables import Bools, Floats, Ints

MOST_VOTES = 4000  # of one voter, up to which variances are exact; above, opponents are taken as known
NEAR_ENOUGH = 1e-4  # of the derivative, at which a step of many items ends


@dataclass(frozen=True, eq=False)
class Predictions:
    """For each vote, what the others' votes make of its comparison; arrays of shape (n_votes,).

    gap : θ of the first item less that of the second, without the vote's voter; variance : of the gap.
    probability : that the first wins if an ordinary voter votes, averaged over the gap's uncertainty.
    informed : both items have votes of other voters.
    fit : of the votes that are in it; code : the place of each vote's voter in the fit's effects, −1 if not in it.
    """

    gap: Floats
    variance: Floats
    probability: Floats
    informed: Bools
    fit: BradleyTerry
    code: Ints


def predict(
    first: ArrayLike, second: ArrayLike, outcome: ArrayLike, voter: ArrayLike, *, n_items: int, counts: ArrayLike
) -> Predictions:
    """Predict each vote from the votes of the other voters.

    Parameters
    ----------
    first, second : item positions 0…n_items−1, outcome : 1, 0 or .5, voter : any code; shape (n_votes,) each.
    counts : True for votes that are in the fit; the others' voters are left out of it already.

    Raises `InputError` where no vote counts, `DisconnectedError` where votes leave items apart.
    """
    a, b = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    y, used = np.asarray(outcome, dtype=np.float64), np.asarray(counts, dtype=bool)
    names, place = np.unique(np.asarray(voter), return_inverse=True)
    if not used.any():
        raise InputError("No vote counts, so there is nothing to predict from.")
    inside, code = np.unique(place[used], return_inverse=True)
    fit = fit_with_voters(a[used], b[used], y[used], n_items=n_items, voter=code)
    positions = np.full(len(names), -1, dtype=np.int64)
    positions[inside] = np.arange(len(inside))
    rows = _by_vote(fit, a[used], b[used], y[used])
    gap, variance = _without_each(rows, fit, a, b, place, used)
    lapse = float(np.median(fit.voter_lapse))
    certain = expit(gap / np.sqrt(1.0 + np.pi * variance / 8.0))
    probability = lapse + (1.0 - 2.0 * lapse) * certain
    return Predictions(gap, variance, probability, _informed(a, b, place, used, n_items), fit, positions[place])


def _by_vote(fit: BradleyTerry, first: Ints, second: Ints, outcome: Floats) -> Likelihood:
    """The likelihood at the fit with a row for each vote."""
    if len(fit.effects.times) > 1:
        return fit.likelihood
    n = len(first)
    data = Data(first, second, np.ones(n), outcome, np.zeros(n, dtype=np.int64), np.full(n, 0.5))
    return Likelihood(data, np.nan_to_num(fit.theta), fit.effects)


def _without_each(
    rows: Likelihood, fit: BradleyTerry, a: Ints, b: Ints, place: Ints, used: Bools
) -> tuple[Floats, Floats]:
    """Gaps and their variances without the voter of each vote."""
    theta = np.nan_to_num(fit.theta)
    gap, variance = theta[a] - theta[b], np.zeros(len(a))
    weight, pull = rows.information(), rows.score()
    graph = PairGraph(rows.data.one, rows.data.other, len(theta))
    graph.weigh(weight, fit.ridge)
    inverse = _inverse(graph) if len(theta) <= MOST_DENSE else None
    many = _StepOfMany(graph, fit.ridge, weight, pull)
    at = np.cumsum(used) - 1  # the row of a vote in the fit
    order = np.argsort(place, kind="stable")
    for mine in np.split(order, np.flatnonzero(np.diff(place[order])) + 1):
        own, outside = mine[used[mine]], mine[~used[mine]]
        if len(outside):
            variance[outside] = _variance(graph, inverse, a[outside], b[outside])
        if len(own):
            if inverse is not None and len(own) <= MOST_VOTES:
                moved, variance[own] = _step(inverse, a[own], b[own], weight[at[own]], pull[at[own]])
            else:
                moved, variance[own] = many(a[own], b[own], at[own])
            gap[own] += moved
    return gap, np.maximum(variance, 0.0)


def _inverse(graph: PairGraph) -> Floats:
    """H⁻¹ for a matrix of which the ridge makes every part regular."""
    identity = np.eye(graph.n_items)
    return np.asarray(np.linalg.inv(graph.multiply(identity)))


def _variance(graph: PairGraph, inverse: Floats | None, a: Ints, b: Ints) -> Floats:
    """Variances of gaps by the fit as it is; against opponents taken as known where there is no inverse."""
    if inverse is None:
        spread = 1.0 / graph.diagonal
        return np.asarray(spread[a] + spread[b])
    return np.asarray(inverse[a, a] + inverse[b, b] - 2.0 * inverse[a, b])


def _step(inverse: Floats, a: Ints, b: Ints, weight: Floats, pull: Floats) -> tuple[Floats, Floats]:
    """How far the gaps of a voter's comparisons move without the voter, and their variances then."""
    rows_of = inverse[a] - inverse[b]
    k = rows_of[:, a] - rows_of[:, b]
    without = np.linalg.solve(np.eye(len(a)) - k * weight, k)
    return -without @ pull, np.diag(without).copy()


class _StepOfMany:
    """The same where there are too many items for an inverse, or too many votes of a voter.

    Newton's step is solved for the voter's own items. Any other item is taken to follow each of them by itself, which
    leaves its share in the diagonal (that of the Schur complement); only ways from one own item to another by a third
    item are left out. For variances opponents are taken as known.
    """

    def __init__(self, graph: PairGraph, ridge: float, weight: Floats, pull: Floats) -> None:
        self.graph, self.ridge, self.weight, self.pull = graph, ridge, weight, pull
        self._place = np.full(graph.n_items, -1, dtype=np.int64)  # of an item among the voter's; −1 outside a call
        self._is_own = np.zeros(len(weight), dtype=bool)
        pairs = np.minimum(graph.one, graph.other) * graph.n_items + np.maximum(graph.one, graph.other)
        self._repeats = len(np.unique(pairs)) < len(pairs)

    def __call__(self, a: Ints, b: Ints, rows: Ints) -> tuple[Floats, Floats]:
        """Of a voter's comparisons, with the places `rows` of their votes in the fit."""
        own, ends = np.unique(np.concatenate([a, b]), return_inverse=True)
        at_one, at_other = ends[: len(a)], ends[len(a) :]
        item, opponent, edge = self.graph.edges_of(own)
        self._place[own], self._is_own[rows] = np.arange(len(own)), True
        theirs, place = ~self._is_own[edge], self._place[opponent]
        self._place[own], self._is_own[rows] = -1, False
        item, place, opponent, each = item[theirs], place[theirs], opponent[theirs], self.weight[edge[theirs]]
        once, outside = item < place, place < 0
        near = PairGraph(item[once], place[once], len(own))
        near.weigh(each[once], self.ridge)
        spread = 1.0 / (np.bincount(item, each, len(own)) + self.ridge)
        near.diagonal += self._left_by(item[outside], opponent[outside], each[outside], len(own))
        right = np.bincount(at_other, self.pull[rows], len(own)) - np.bincount(at_one, self.pull[rows], len(own))
        moved = near.solve(np.asarray(right, dtype=np.float64), tolerance=NEAR_ENOUGH)
        if moved is None:
            raise NotConvergedError("The votes without one of the voters make a singular system. Collect more votes.")
        return moved[at_one] - moved[at_other], spread[at_one] + spread[at_other]

    def _left_by(self, item: Ints, opponent: Ints, each: Floats, n: int) -> Floats:
        """What edges to items that are not the voter's leave in the diagonal; (n,)."""
        if self._repeats:  # an opponent met several times follows all of it at once
            key, place = np.unique(item * self.graph.n_items + opponent, return_inverse=True)
            item, opponent = key // self.graph.n_items, key % self.graph.n_items
            each = np.bincount(place, each).astype(np.float64)
        weights = each * (1.0 - each / self.graph.diagonal[opponent])
        return np.bincount(item, weights, n).astype(np.float64)


def _informed(a: Ints, b: Ints, place: Ints, used: Bools, n_items: int) -> Bools:
    """Whether both items of each vote have votes of other voters."""
    votes = np.bincount(a[used], minlength=n_items) + np.bincount(b[used], minlength=n_items)
    key = place * n_items
    own_keys = np.concatenate([(key + a)[used], (key + b)[used]])
    keys, times = np.unique(own_keys, return_counts=True)

    def of_others(item: Ints) -> Ints:
        wanted = key + item
        at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        own = np.where(keys[at] == wanted, times[at], 0)
        return np.asarray(votes[item] - own)

    return np.asarray((of_others(a) > 0) & (of_others(b) > 0))


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
            predicted = predict(first, second, outcome, voter, n_items=len(items), counts=~out[voter])
        except RunoffError:
            break
        is_decided = predicted.informed & (outcome != 0.5)
        sure = np.where(outcome == 1, predicted.probability, 1.0 - predicted.probability)[is_decided]
        agreement = _agreement(2.0 * sure - 1.0, voter[is_decided], n)
        probability = _weighed(np.bincount(voter[is_decided], np.log(2.0 * sure), n).astype(np.float64))
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
        weights = share / (share + (1.0 - share) * odds)
        share = float(np.clip(weights.mean(), LEAST, MOST))
    return np.asarray(weights)


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
    rest = ~np.isin(ballot.voter, voters)
    return Votes(ballot.items, ballot.first[rest], ballot.second[rest], ballot.outcome[rest], ballot.voter[rest])
