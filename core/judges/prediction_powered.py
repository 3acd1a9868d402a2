"""Prediction-powered estimates: what people's votes say of a whole ballot with the help of a model's answers.

People have judged some comparisons of a ballot, taken as drawn from it at random; a model has judged others too. An
estimate from people's votes minimises the mean of a loss over them. The prediction-powered one minimises

    mean of the loss of people's votes + λ·(mean of the loss of the model's answers to the rest
                                            − mean of the loss of the model's answers to what people judged)

The bracket is 0 on average whatever the model answers, so that a wrong model costs precision and not truth, and the
weight λ is the one that leaves the least variance. Its greatest value lets an answer count as much as a vote.

Votes of one voter hang together: they are one unit of the sandwich variance where voters are given.

References: Angelopoulos, Bates, Fannjiang, Jordan, Zrnic (2023), Prediction-powered inference, Science 382;
Angelopoulos, Duchi, Zrnic (2023), PPI++: Efficient prediction-powered inference, preprint (λ, the variance).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy  # its parts are loaded where they are first asked for: most processes never do
from scipy.sparse import coo_array, csr_array
from scipy.special import expit, ndtri

from ..base.estimates import LEVEL, MIN_VOTERS, Estimate
from ..base.numbers_in_words import many
from ..errors import InputError, NotConvergedError, RunoffError
from ..scores import BallotVotes
from ..scores.bradley_terry import RIDGE
from ..scores.pair_graph import checked_parts
from ..tables import Bools, Floats, Ints

FEWEST = 30  # votes on comparisons that the model judged, and comparisons without a vote
VOTES_AN_ITEM = 20  # below which intervals of θ are far too narrow (docs/judges.md)
MOST_ITEMS = 1000  # whose curvature is kept whole
TOLERANCE = 1e-6  # wanted of the largest derivative of the sum over votes; above `NEAR_ENOUGH` it is an error
NEAR_ENOUGH = 1e-3
MOST_STEPS = 5000


@dataclass(frozen=True, eq=False)
class JudgedComparisons:
    """Votes of people with the model's answers to their comparisons, and comparisons that the model alone judged.

    first, second : items 0…n_items−1 of each vote, shape (n,); outcome : 1 the first won, 0 the second, ½ a tie;
    predicted : what the model says of the same comparison, in [0, 1], NaN where it wasn't asked; voter : code of who
    voted, or None where votes are independent. rest_first, rest_second, rest_predicted : the same of the comparisons
    without a vote of people, shape (N,).
    """

    n_items: int
    first: Ints
    second: Ints
    outcome: Floats
    predicted: Floats
    rest_first: Ints
    rest_second: Ints
    rest_predicted: Floats
    voter: Ints | None = None

    @property
    def known(self) -> Bools:
        """The votes on comparisons that the model judged too."""
        return ~np.isnan(self.predicted)


@dataclass(frozen=True)
class PoweredMean:
    """A mean by people's votes alone, and prediction-powered; weight : λ."""

    plain: Estimate
    powered: Estimate
    weight: float
    n_votes: int
    n_rest: int


@dataclass(frozen=True, eq=False)
class PoweredScores:
    """θ of all items by people's votes alone and prediction-powered, with standard errors; summing to zero.

    In logits, shape (n_items,), higher = more related; covariance : of `powered`, (n_items, n_items). weight : λ.
    """

    plain: Floats
    plain_error: Floats
    powered: Floats
    covariance: Floats
    weight: float

    @property
    def powered_error(self) -> Floats:
        """Standard errors of `powered`."""
        return np.asarray(np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))


def powered_mean(
    values: Floats, predicted: Floats, rest: Floats, *, voter: Ints | None = None, weight: float | None = None
) -> PoweredMean:
    """The mean of `values` in [0, 1] with intervals at `LEVEL`.

    Parameters
    ----------
    values, predicted : of each vote, and what the model predicts of it, shape (n,) with n ≥ 2.
    rest : what it predicts where nobody voted, (N,); fewer than two leave the plain mean.
    voter : code of who voted, for intervals over voters; weight : λ, or None for the best in [0, N/(N + n)].

    Raises `InputError` for fewer than two votes or voters, or shapes that don't fit.

    >>> found = powered_mean(np.array([0.0, 1, 1, 1]), np.array([0.0, 1, 1, 1]), np.array([0.0, 0, 1, 1]), weight=0.5)
    >>> found.plain.estimate, found.powered.estimate
    (0.75, 0.625)
    """
    _check(values, predicted, voter)
    of_votes, of_rest = csr_array(np.ones((len(values), 1))), csr_array(np.ones((len(rest), 1)))
    spread = _Spread((of_votes, of_rest), values, predicted, rest, voter)
    most = len(rest) / (len(rest) + len(values))
    used = _best_weight(spread, np.ones((1, 1)), most) if weight is None else weight
    if len(rest) < 2:
        used = 0.0
    plain, shift = float(values.mean()), (float(rest.mean() - predicted.mean()) if used else 0.0)
    reach = float(ndtri((1 + LEVEL) / 2))
    ends = []
    for at, lam in ((plain, 0.0), (plain + used * shift, used)):
        error = reach * float(np.sqrt(spread.of_mean(lam)[0, 0]))
        ends.append(Estimate(at, at - error, at + error))
    return PoweredMean(ends[0], ends[1], used, len(values), len(rest))


def powered_scores(data: JudgedComparisons, *, ridge: float, weight: float | None = None) -> PoweredScores:
    """Bradley–Terry scores without a lapse, by people's votes alone and prediction-powered.

    ridge : λ/2·Σθ² with this λ is added to the sum over votes, as in `scores.bradley_terry`; weight : λ of the model's
    answers, None for the one that leaves the least total variance of θ.
    Raises `InputError` for votes that don't fit, `NotConvergedError`.
    """
    _check(data.outcome, data.predicted, data.voter)
    problem = _Problem(data, ridge)
    n, n_rest, n_known = len(data.outcome), len(data.rest_predicted), int(data.known.sum())
    plain = problem.fitted(0.0, np.zeros(data.n_items))
    spread, inverse = problem.at(plain, 0.0)
    covariance = inverse @ spread.of_mean(0.0) @ inverse
    error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    used = 0.0 if weight is None else weight
    if weight is None and min(n_rest, n_known) >= 2:
        most = min(n_rest / (n_rest + n_known), n_known / n)  # the second keeps the objective convex
        # Where scores are fitted to few votes, what is left of these says too little: so with the model's whole help.
        used = _best_weight(*problem.at(problem.fitted(most, plain), most), most)
    if not used:
        return PoweredScores(plain, error, plain, covariance, 0.0)
    powered = problem.fitted(used, plain)
    spread, inverse = problem.at(powered, used)
    return PoweredScores(plain, error, powered, inverse @ spread.of_mean(used) @ inverse, used)


class _Problem:
    """The objective of `powered_scores`, as a sum over people's votes."""

    def __init__(self, data: JudgedComparisons, ridge: float) -> None:
        self.data, self.ridge = data, ridge
        self.votes = _design(data.first, data.second, data.n_items)
        self.rest = _design(data.rest_first, data.rest_second, data.n_items)
        self.n, self.n_rest = len(data.outcome), len(data.rest_predicted)
        # So that a sum over all votes is one over those whose comparison the model judged.
        self.share = np.where(data.known, self.n / max(int(data.known.sum()), 1), 0.0)
        self.predicted = np.where(data.known, data.predicted, 0.5)

    def cost(self, theta: Floats, weight: float) -> tuple[float, Floats]:
        """The objective and its derivatives in θ."""
        value, slope = 0.5 * self.ridge * float(theta @ theta), self.ridge * theta
        of_rest = np.full(self.n_rest, weight * self.n / max(self.n_rest, 1))
        for design, outcome, times in (
            (self.votes, self.data.outcome, np.ones(self.n)),
            (self.votes, self.predicted, -weight * self.share),
            (self.rest, self.data.rest_predicted, of_rest),
        ):
            logit = design @ theta
            value += float(times @ (np.logaddexp(0.0, logit) - outcome * logit))
            slope = slope + design.T @ (times * (expit(logit) - outcome))
        return value, slope

    def fitted(self, weight: float, start: Floats) -> Floats:
        """θ that minimises it."""
        optimum = scipy.optimize.minimize(
            self.cost, start, (weight,), jac=True, method="L-BFGS-B",
            options={"maxiter": MOST_STEPS, "maxfun": 2 * MOST_STEPS, "ftol": 0.0, "gtol": TOLERANCE, "maxcor": 20},
        )  # fmt: skip
        if np.abs(self.cost(optimum.x, weight)[1]).max() > NEAR_ENOUGH:
            raise NotConvergedError(f"The scores did not settle in {optimum.nit} steps.")
        return np.asarray(optimum.x - optimum.x.mean())

    def at(self, theta: Floats, weight: float) -> tuple[_Spread, Floats]:
        """The spread of derivatives, and the inverse of the objective's curvature with the sum of θ held fast."""
        chance, chance_rest = expit(self.votes @ theta), expit(self.rest @ theta)
        spread = _Spread(
            (self.votes, self.rest), chance - self.data.outcome, self.share * (chance - self.predicted),
            chance_rest - self.data.rest_predicted, self.data.voter,
        )  # fmt: skip
        bend = _curvature(self.votes, chance * (1.0 - chance) * (1.0 - weight * self.share)) / self.n
        if weight:
            bend = bend + weight / self.n_rest * _curvature(self.rest, chance_rest * (1.0 - chance_rest))
        along = np.full((len(theta),) * 2, 1.0 / len(theta))
        fixed = np.eye(len(theta)) - along
        inverse = np.linalg.inv(bend + np.eye(len(theta)) * self.ridge / self.n + along)
        return spread, fixed @ inverse @ fixed


class _Spread:
    """How much a mean of derivatives varies with who voted on what: of the votes, of the answers to them, of the rest.

    Each derivative is a number times a row of a design; the votes of a voter are one unit.
    """

    def __init__(
        self, designs: tuple[csr_array, csr_array], own: Floats, predicted: Floats, of_rest: Floats, voter: Ints | None
    ) -> None:
        votes, rest = designs
        codes = np.arange(len(own)) if voter is None else np.unique(voter, return_inverse=True)[1]
        groups = int(codes.max()) + 1
        member = coo_array((np.ones(len(own)), (codes, np.arange(len(own)))), shape=(groups, len(own))).tocsr()
        size = np.bincount(codes)[:, None] / len(own)
        factor = np.sqrt(groups / (groups - 1))

        def centred(values: Floats) -> Floats:
            rows = (member @ votes.multiply(values[:, None]).tocsr()).toarray() / len(own)
            return np.asarray(factor * (rows - size * rows.sum(axis=0)))

        one, other, n_rest = centred(own), centred(predicted), len(of_rest)
        self.of_votes, self.crossed, self.of_predicted = one.T @ one, one.T @ other, other.T @ other
        self.of_rest = np.zeros_like(self.of_votes)
        if n_rest > 1:
            rows = rest.multiply(of_rest[:, None]).tocsr()
            mean = np.asarray(rows.sum(axis=0))[:, None] / n_rest
            self.of_rest = ((rows.T @ rows).toarray() / n_rest - mean @ mean.T) / (n_rest - 1)

    def of_mean(self, weight: float) -> Floats:
        """The covariance of the mean derivative with this λ."""
        crossed = weight * (self.crossed + self.crossed.T)
        return np.asarray(self.of_votes - crossed + weight**2 * (self.of_predicted + self.of_rest))


SCORES = ("item", "plain", "plain lower", "plain upper", "powered", "powered lower", "powered upper")


@dataclass(frozen=True)
class WithModel:
    """A ballot by people's votes alone, and with the help of a model's answers to the comparisons without a vote.

    agreement : how often people answer as the model does, over all that it judged, a tie half; predicted by whether
    its answers in both orders are alike. scores : θ with intervals at `LEVEL`, columns `SCORES`, a row an item; `error`
    the mean standard error of θ, alone and with the model; weight : λ of θ. Without them `reason` says why; without
    intervals of θ, which are NaN then, and errors `no_intervals`.
    """

    n_votes: int
    n_both: int  # of these on comparisons that the model judged
    n_rest: int  # comparisons that it judged and nobody voted on
    n_voters: int
    agreement: PoweredMean | None
    scores: pd.DataFrame
    error: tuple[float, float] | None
    weight: float
    reason: str = ""
    no_intervals: str = ""


def with_model(answers: pd.DataFrame, votes: BallotVotes | None) -> WithModel:
    """What a model's answers (MODEL_ANSWERS) add to people's votes on the same ballot.

    An answer that is no vote counts as ½, like a tie: whatever rule the model follows is right, if it is one.
    """
    nothing = pd.DataFrame(columns=list(SCORES)).astype("float64")
    if votes is None or not len(votes.first):
        return WithModel(0, 0, 0, 0, None, nothing, None, 0.0, "There are no votes of people yet.")
    data, items = judged_comparisons(answers, votes)
    n, n_both, n_rest = len(data.outcome), int(data.known.sum()), len(data.rest_predicted)
    n_voters = len(np.unique(votes.voter))
    reason = ""
    if n_both < FEWEST or n_rest < FEWEST:
        reason = (
            f"It takes {FEWEST} votes on comparisons that the model judged, and {FEWEST} comparisons that it judged "
            f"and nobody voted on; there are {n_both:,} and {n_rest:,}."
        )
    elif n_voters < MIN_VOTERS:
        reason = f"An interval needs votes of at least {MIN_VOTERS} voters; found {n_voters}."
    elif len(items) > MOST_ITEMS:
        reason = (
            f"Scores with a model's help are computed up to {MOST_ITEMS:,} items; there are {many(len(items), 'item')}."
        )
    agreement, scores = None, None
    if not reason:
        known = data.known
        alike = 1.0 - np.abs(data.outcome[known] - data.predicted[known])
        sure, sure_rest = (np.abs(2.0 * predicted - 1.0) for predicted in (data.predicted[known], data.rest_predicted))
        try:
            agreement = powered_mean(alike, sure, sure_rest, voter=votes.voter[known])
            checked_parts(data.first, data.second, data.outcome, len(items), RIDGE, False)
            scores = powered_scores(data, ridge=RIDGE)
        except RunoffError as error:
            reason = f"The votes can't be fitted: {error}"
    if scores is None:
        return WithModel(n, n_both, n_rest, n_voters, agreement, nothing, None, 0.0, reason)
    reach, each = float(ndtri((1 + LEVEL) / 2)), 2 * n / len(items)
    no_intervals, errors = "", (float(scores.plain_error.mean()), float(scores.powered_error.mean()))
    if each < VOTES_AN_ITEM:
        no_intervals = f"θ has no intervals: they take {VOTES_AN_ITEM} votes per item, and there are {each:.1f}."
        reach = np.nan
    columns: list[Ints | Floats] = [items]
    for theta, error_of in ((scores.plain, scores.plain_error), (scores.powered, scores.powered_error)):
        columns += [theta, theta - reach * error_of, theta + reach * error_of]
    table = pd.DataFrame(dict(zip(SCORES, columns, strict=True)))
    shown = None if no_intervals else errors
    return WithModel(n, n_both, n_rest, n_voters, agreement, table, shown, scores.weight, no_intervals=no_intervals)


def judged_comparisons(answers: pd.DataFrame, votes: BallotVotes) -> tuple[JudgedComparisons, Ints]:
    """Votes and answers (MODEL_ANSWERS) laid side by side by their two items, and the positions of the items voted on.

    A comparison's answers in the two orders count half each. Comparisons of items that nobody voted on are left out.
    """
    items = np.unique(np.concatenate((votes.first, votes.second)))
    judged = answers.assign(value=answers["value"].where(answers["reason"] == "", 0.5))
    judged = judged[judged["first"].isin(items) & judged["second"].isin(items)]
    turned = judged["first"] > judged["second"]
    by_pair = pd.DataFrame(
        {
            "low": judged[["first", "second"]].min(axis=1),
            "high": judged[["first", "second"]].max(axis=1),
            "value": judged["value"].where(~turned, 1.0 - judged["value"]),
        }
    )
    says = by_pair.groupby(["low", "high"])["value"].mean()
    low, high = np.minimum(votes.first, votes.second), np.maximum(votes.first, votes.second)
    asked = pd.MultiIndex.from_arrays([low, high], names=["low", "high"])
    predicted = says.reindex(asked).to_numpy(dtype=np.float64)
    rest = says[~says.index.isin(asked)]
    alone = np.array(rest.index.to_list(), dtype=np.int64).reshape(-1, 2)
    one, other, rest_one, rest_other = (np.searchsorted(items, side) for side in (low, high, alone[:, 0], alone[:, 1]))
    outcome = np.where(votes.first > votes.second, 1.0 - votes.outcome, votes.outcome)
    of_rest = (rest_one, rest_other, rest.to_numpy(dtype=np.float64))
    return JudgedComparisons(len(items), one, other, outcome, predicted, *of_rest, votes.voter), items


def _best_weight(spread: _Spread, inverse: Floats, most: float) -> float:
    """λ that leaves the least total variance, within 0 and `most`."""
    square = inverse @ inverse
    wanted = float(np.sum(square * (spread.crossed + spread.crossed.T))) / 2.0
    cost = float(np.sum(square * (spread.of_predicted + spread.of_rest)))
    return float(np.clip(wanted / cost, 0.0, most)) if cost > 0 else 0.0


def _design(first: Ints, second: Ints, n_items: int) -> csr_array:
    """A row a comparison: 1 for its first item, −1 for its second."""
    rows = np.arange(len(first))
    values = np.concatenate((np.ones(len(first)), -np.ones(len(first))))
    at = (np.concatenate((rows, rows)), np.concatenate((first, second)))
    return coo_array((values, at), shape=(len(first), n_items)).tocsr()


def _curvature(design: csr_array, times: Floats) -> Floats:
    """Σ times·x·xᵀ over the rows x."""
    return np.asarray((design.T @ design.multiply(times[:, None]).tocsr()).toarray())


def _check(values: Floats, predicted: Floats, voter: Ints | None) -> None:
    if len(values) < 2 or predicted.shape != values.shape or (voter is not None and voter.shape != values.shape):
        raise InputError(f"An estimate needs two votes at least, each with its prediction; found {values.shape}.")
    if voter is not None and len(np.unique(voter)) < 2:
        raise InputError("An interval over voters needs the votes of two at least.")
