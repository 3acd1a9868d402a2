"""Bradley–Terry scores: one scale for all items, whoever their opponents were, fitted to all votes of a campaign.

Every item has a score θ, and of two items the first wins with probability

    P = ε + (1 − 2ε)·logistic(θ_first − θ_second)

where the lapse ε is the probability that a voter names the wrong item of even the clearest comparison. Unlike a Borda
score, θ may be computed from the votes of all ballots together, whichever way opponents were drawn. It minimises

    −Σ [y·log P + (1 − y)·log(1 − P)] + λ/2·Σ θ²

over the votes with outcome y (a tie is half a win and half a loss); λ is the ridge, a normal prior of variance 1/λ,
which keeps items finite that never lost or never won. The θ of connected items sum to zero.

A campaign has one such fit, whichever protocol collected the votes. The protocol "runoff" scores by it; what another
ballot would change, audits of cut items, clear pairs for gold, halves of the voters and what the votes of others
predict go by it under any protocol.

References: Bradley, Terry (1952), Rank analysis of incomplete block designs, Biometrika 39; Hunter (2004), MM
algorithms for generalized Bradley–Terry models, Annals of Statistics 32 (when a fit exists); Chen, Bennett,
Collins-Thompson, Horvitz (2013), Pairwise ranking aggregation in a crowdsourced setting, WSDM (voters who guess);
Haley (1952), Estimation of the dosage mortality relationship when the dose is subject to error, Stanford technical
report 15 (the logistic and the normal curve).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy  # its parts are loaded where they are first asked for: most processes never do
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtr

from ..errors import InputError, NotConvergedError
from ..tables import Bools, Floats, Ints
from .borda import VotesOf, checked_votes, tally
from .newton import Start, minimise
from .pair_graph import PairGraph, checked_parts, disconnected
from .voter_effects import Data, Effects, Likelihood

DEFAULT_LAPSE = 0.03
DEFAULT_RIDGE = 0.02  # of `fit_bradley_terry` where nobody says otherwise
RIDGE = 0.1  # of every fit behind ballots, scores and halves: the best rankings in simulations, docs/runoff.md
TOLERANCE = 1e-6
EXACT_BORDA = 2000  # items up to which expected Borda scores are plain sums
KNOT_DISTANCE = 0.05
CELLS = 4_000_000
NORMAL_UNIT = 1.702  # logits to a unit of the normal curve at which the two are nearest, within .01: Haley (1952)


@dataclass(frozen=True)
class BradleyTerry:
    """Scores of items, and how sure they are; arrays of shape (n_items,) unless said otherwise.

    theta : higher = more related, in logits; NaN for an item without a vote.
    converged : True; a fit that does not converge is an error unless that was switched off.
    gradient_norm : largest absolute derivative of the objective at the end; n_iterations : steps taken.
    votes : votes on each item.
    part : number of the connected part, −1 without a vote; scores of different parts can't be compared.
    undefeated, winless : the item never lost or tied, never won or tied; its score is finite by the ridge alone.
    lapse : ε, of the ordinary voter where voters have their own; ridge : λ.
    effects : s, ε and b of each voter (see `voter_effects`), one for all where votes came without voters.
    """

    theta: Floats
    converged: bool
    gradient_norm: float
    n_iterations: int
    votes: Ints
    part: Ints
    undefeated: Bools
    winless: Bools
    lapse: float
    ridge: float
    effects: Effects
    likelihood: Likelihood
    graph: PairGraph

    @property
    def n_parts(self) -> int:
        """Connected parts of the items that have votes; 1 where all scores can be compared."""
        return int(self.part.max(initial=-1)) + 1

    def require_one_part(self) -> None:
        """Raise `DisconnectedError` where there are several parts."""
        if self.n_parts > 1:
            raise disconnected(self.part)

    @property
    def voter_sharpness(self) -> Floats:
        """s of each voter, geometric mean 1."""
        return self.effects.sharpness

    @property
    def voter_lapse(self) -> Floats:
        """ε of each voter."""
        return self.effects.lapse

    @property
    def lapse_error(self) -> float:
        """Standard error of the mean ε of the people whom the voters stand for; 0 where all are taken to have `lapse`.

        Two things make it: what votes and priors leave unknown of each voter's ε, and how much voters differ.
        """
        effects = self.effects
        if not effects.free[1]:
            return 0.0
        lapse, n = effects.lapse, len(effects.lapse)
        unknown = lapse * (1.0 - 2.0 * lapse) * self.likelihood.effects_error()[int(effects.free[0])]
        between = float(np.var(lapse, ddof=1)) if n > 1 else 0.0
        return float(np.sqrt(np.mean(unknown**2) / n + between / n))

    @cached_property
    def standard_error(self) -> Floats:
        """Standard errors of θ by the Fisher information with the ridge, scores summing to zero; NaN without votes.

        Computed when first asked for. The voters' effects are taken as known. Votes of one voter are taken as
        independent; intervals that don't (`resample_voters`) resample voters. Above 3,000 items an estimate within
        some per cent (`PairGraph.variances`); where there are several parts, from the diagonal of the information.
        """
        if self.n_parts > 1:
            variance = 1.0 / self.graph.diagonal
        else:
            variance = np.full(len(self.theta), np.nan)
            variance[self._voted] = self._compact.variances(self.ridge)
        return np.where(self.votes > 0, np.sqrt(variance), np.nan)

    @cached_property
    def covariance(self) -> Floats:
        """Covariance of θ, shape (n_items, n_items), as in `standard_error`, always exact; needs one connected part."""
        self.require_one_part()
        result = np.full((len(self.theta),) * 2, np.nan)
        result[np.ix_(self._voted, self._voted)] = self._compact.covariance(self.ridge)
        return result

    @property
    def _voted(self) -> Ints:
        """The items that have a vote."""
        return np.flatnonzero(self.votes > 0)

    @cached_property
    def _compact(self) -> PairGraph:
        """The graph of the items that have votes, weighted with the information."""
        place = np.cumsum(self.votes > 0) - 1
        data = self.likelihood.data
        graph = PairGraph(place[data.one], place[data.other], int((self.votes > 0).sum()))
        graph.weigh(self.likelihood.information(), self.ridge)
        return graph

    def expected_borda(self) -> Floats:
        """The Borda score each item would have against the whole field, see `expected_borda`; NaN without votes."""
        self.require_one_part()
        result = np.full(len(self.theta), np.nan)
        result[self._voted] = expected_borda(self.theta[self._voted], lapse=self.lapse)
        return result


def fit_bradley_terry(
    first: ArrayLike,
    second: ArrayLike,
    outcome: ArrayLike,
    *,
    n_items: int,
    lapse: float | None = DEFAULT_LAPSE,
    ridge: float = DEFAULT_RIDGE,
    voter: ArrayLike | None = None,
    flipped: ArrayLike | None = None,
    start: ArrayLike | BradleyTerry | None = None,
    by_part: bool = False,
    tolerance: float = TOLERANCE,
    must_converge: bool = True,
) -> BradleyTerry:
    """Fit Bradley–Terry scores with a lapse to votes (the objective is in the module's docstring).

    Parameters
    ----------
    first, second : item positions 0…n_items−1 of each vote, shape (n_votes,).
    outcome : 1 the first item won, 0 the second won, 0.5 a tie.
    lapse : ε in [0, ½); None estimates one for all votes, with a weak prior about 0.03.
    ridge : λ ≥ 0. With 0 the scores exist only if every item can be reached from every other along wins.
    voter : code 0… of who cast each vote. Then every voter has a lapse of their own about `lapse` (above 0, None
        for 0.03) and a sharpness of their own, with weak priors.
    flipped : whether the first item was shown on the right. Then guesses may favour a side, for each voter, or
        for all votes where `voter` is absent.
    start : θ to start from; NaN counts as 0. Or the fit before the newest votes, of the same items: then voters'
        effects start from it too, where it is of as many voters, who must be the same.
    by_part : fit items that no chain of votes joins all the same; their scores can't be compared (`part`).
    tolerance : on the largest absolute derivative of the objective.
    must_converge : False returns a fit that did not reach it, with `converged` False.

    Raises `InputError` for votes and values that don't fit, `DisconnectedError` where the votes fall into parts,
    and `NotConvergedError`.

    >>> fit = fit_bradley_terry([0, 0, 1], [1, 2, 2], [1, 1, 1], n_items=3)
    >>> fit.theta.argsort().tolist(), fit.undefeated.tolist()
    ([2, 1, 0], [True, False, False])
    """
    a, b, y = checked_votes(first, second, outcome, n_items=n_items)
    _check(lapse, ridge, voter is not None)
    part = checked_parts(a, b, y, n_items, ridge, by_part)
    data, n_voters = _data(a, b, y, voter, flipped)
    effects = Effects.start(
        n_voters,
        DEFAULT_LAPSE if lapse is None else lapse,
        sharpness=voter is not None,
        own_lapse=voter is not None or lapse is None,
        side=flipped is not None,
    )
    mature = False
    if isinstance(start, BradleyTerry):
        before, start = start.effects, start.theta
        mature = before.values.shape == effects.values.shape and np.array_equal(before.free, effects.free)
        effects = before if mature else effects
    optimum = minimise(data, Start(_start(start, n_items), effects, mature), ridge, tolerance)
    if must_converge and not optimum.converged:
        raise NotConvergedError(
            f"The scores did not settle in {optimum.n_iterations} steps: the largest derivative is {optimum.norm:.2g}, "
            f"wanted {tolerance:.2g}. A ridge above {ridge:g} helps."
        )
    optimum.graph.weigh(optimum.likelihood.information(), ridge)
    points, votes = tally(a, b, y, n_items=n_items)
    common = DEFAULT_LAPSE if lapse is None else lapse
    if n_voters == 1 and voter is None:
        common = float(optimum.likelihood.effects.lapse[0])
    return BradleyTerry(
        theta=np.where(votes > 0, optimum.theta, np.nan),
        converged=optimum.converged,
        gradient_norm=optimum.norm,
        n_iterations=optimum.n_iterations,
        votes=votes,
        part=part,
        undefeated=(votes > 0) & (points == votes),
        winless=(votes > 0) & (points == 0),
        lapse=common,
        ridge=float(ridge),
        effects=optimum.likelihood.effects,
        likelihood=optimum.likelihood,
        graph=optimum.graph,
    )


def normal_curve(gap: Floats) -> Floats:
    """P(i beats j) by the gap θi − θj in logits, where opinions scatter as the normal distribution does."""
    return np.asarray(ndtr(gap / NORMAL_UNIT))


def expected_borda(
    theta: ArrayLike,
    *,
    lapse: float = DEFAULT_LAPSE,
    field: ArrayLike | None = None,
    curve: Callable[[Floats], Floats] = expit,
) -> Floats:
    """The mean over all other items j of P(i beats j): what x of ballot 1 would be with votes without end.

    Parameters
    ----------
    theta : Bradley–Terry scores, shape (n,) with n ≥ 2; lapse : ε.
    field : scores of all items where `theta` are some that are not among them; default `theta` itself.
    curve : P(i beats j) by the gap θi − θj, without lapses: the fit's logistic one, or `normal_curve`.

    Returns shape (n,), in [ε, 1 − ε], rising with θ. Above 2,000 items computed exactly at knots 0.05 logits
    apart and interpolated between them (cubic spline, error below 1e-8), so O(n) apart from a factor of the range.

    >>> expected_borda([1.0, 0.0, -1.0], lapse=0.0).round(3)
    array([0.806, 0.5  , 0.194])
    """
    scores = np.asarray(theta, dtype=np.float64)
    own = field is None
    others = scores if field is None else np.asarray(field, dtype=np.float64)
    if scores.ndim != 1 or others.ndim != 1 or len(others) < (2 if own else 1) or not np.isfinite(others).all():
        raise InputError("Expected Borda scores need finite scores of at least two items.")
    if not 0 <= lapse <= 0.5:
        raise InputError(f"The lapse must be from 0 to 0.5, found {lapse!r}.")
    if len(scores) <= EXACT_BORDA or np.ptp(scores) / KNOT_DISTANCE > len(scores):
        sums = _sums_of_wins(scores, others, curve)
    else:
        knots = np.arange(scores.min() - KNOT_DISTANCE, scores.max() + 2 * KNOT_DISTANCE, KNOT_DISTANCE)
        sums = scipy.interpolate.CubicSpline(knots, _sums_of_wins(knots, others, curve))(scores)
    if own:
        return np.asarray(lapse + (1.0 - 2.0 * lapse) * (sums - 0.5) / (len(others) - 1))
    return np.asarray(lapse + (1.0 - 2.0 * lapse) * sums / len(others))


def _sums_of_wins(scores: Floats, others: Floats, curve: Callable[[Floats], Floats]) -> Floats:
    """Σ_j curve(θ_i − θ_j), a block of i at a time."""
    size = max(1, CELLS // len(others))
    blocks = [scores[at : at + size] for at in range(0, len(scores), size)]
    return np.concatenate([curve(block[:, None] - others).sum(axis=1) for block in blocks])


def _data(a: Ints, b: Ints, y: Floats, voter: ArrayLike | None, flipped: ArrayLike | None) -> tuple[Data, int]:
    """Votes as rows of the likelihood, and the number of voters.

    Votes on the same two items are added up where nothing else tells them apart.
    """
    code, n_voters = np.zeros(len(a), dtype=np.int64), 1
    if voter is not None:
        code = np.asarray(voter)
        if code.shape != a.shape or not np.issubdtype(code.dtype, np.integer) or (code < 0).any():
            raise InputError(f"voter must be a code, 0 or more, for each of {len(a)} votes.")
        n_voters = int(code.max(initial=0)) + 1
    left = np.full(len(a), 0.5)
    if flipped is not None:
        turned = np.asarray(flipped)
        if turned.shape != a.shape or turned.dtype != bool:
            raise InputError(f"flipped must be true or false for each of {len(a)} votes.")
        left = np.where(turned, 0.0, 1.0)
    if voter is None and flipped is None:
        n = int(max(a.max(initial=0), b.max(initial=0))) + 1
        turned = a > b
        key = np.where(turned, b * n + a, a * n + b)
        unique, place, count = np.unique(key, return_inverse=True, return_counts=True)
        points = np.bincount(place, np.where(turned, 1.0 - y, y), len(unique)).astype(np.float64)
        zeros = np.zeros(len(unique))
        return Data(unique // n, unique % n, count.astype(np.float64), points, zeros.astype(np.int64), zeros + 0.5), 1
    return Data(a, b, np.ones(len(a)), y, code.astype(np.int64), left), n_voters


def _start(start: ArrayLike | None, n_items: int) -> Floats:
    """The initial θ: zeros, or `start` with NaN as 0."""
    theta = np.zeros(n_items) if start is None else np.nan_to_num(np.asarray(start, dtype=np.float64))
    if theta.shape != (n_items,):
        raise InputError(f"start must have a score for each of {n_items} items, found shape {theta.shape}.")
    return theta


def _check(lapse: float | None, ridge: float, own_lapse: bool) -> None:
    """Raise `InputError` for a lapse or a ridge out of its range."""
    if lapse is not None and not (0 < lapse < 0.5 if own_lapse else 0 <= lapse < 0.5):
        least = "above 0" if own_lapse else "from 0 on"
        raise InputError(f"The lapse must be {least} and below 0.5, found {lapse!r}.")
    if not 0 <= ridge < np.inf:
        raise InputError(f"The ridge must be a number, 0 or more, found {ridge!r}.")


def fit_with_voters(
    first: ArrayLike,
    second: ArrayLike,
    outcome: ArrayLike,
    *,
    n_items: int,
    voter: ArrayLike | None,
    start: ArrayLike | BradleyTerry | None = None,
    tolerance: float = 1e-6,
) -> BradleyTerry:
    """The fit of all votes so far: every voter with a lapse and a sharpness of their own, ridge `RIDGE`.

    Without voters all votes count alike; so they do where the voters' own effects don't converge, as with few voters
    who never contradict themselves: θ is the same kind of score then, and `voter_lapse` has one entry. Parameters,
    range and errors are those of `fit_bradley_terry`.
    """
    how: dict[str, Any] = {"n_items": n_items, "ridge": RIDGE, "start": start, "tolerance": tolerance}
    if voter is not None:
        with suppress(NotConvergedError):
            return fit_bradley_terry(first, second, outcome, voter=voter, **how)
    return fit_bradley_terry(first, second, outcome, **how)


@dataclass(frozen=True)
class FittedVotes:
    """The fit of a campaign's votes; arrays of shape (n,) over the items of its first ballot.

    items : their positions in the project, ascending. fit : of items numbered 0…n−1 in that order.
    """

    items: Ints
    fit: BradleyTerry

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """Expected Borda scores against the whole field, in [0, 1]."""
        return self.fit.expected_borda()

    @cached_property
    def spread(self) -> NDArray[np.float64]:
        """Standard errors of θ against opponents taken as known, used for pairing."""
        return spread_of(self.fit)


def fit_votes(votes: Sequence[VotesOf]) -> FittedVotes:
    """Fit the votes of all ballots of a campaign; the first ballot has all items.

    Raises `InputError` for no ballot, `DisconnectedError` where votes leave items apart, and `NotConvergedError`.
    """
    if not votes:
        raise InputError("A fit needs the votes of one ballot at least.")
    items = np.sort(votes[0].items)
    first, second, outcome, voter = joined(votes, items)
    fit = fit_with_voters(first, second, outcome, n_items=len(items), voter=voter)
    fit.require_one_part()
    return FittedVotes(items, fit)


def joined(votes: Sequence[VotesOf], items: Ints) -> tuple[Ints, Ints, NDArray[np.float64], Ints]:
    """The votes of all ballots in one: places of the first and second item in `items`, outcome, voter 0…V−1."""
    first = np.searchsorted(items, np.concatenate([ballot.first for ballot in votes]))
    second = np.searchsorted(items, np.concatenate([ballot.second for ballot in votes]))
    outcome = np.concatenate([ballot.outcome for ballot in votes])
    _, voter = np.unique(np.concatenate([ballot.voter for ballot in votes]), return_inverse=True)
    return first, second, outcome, voter


def spread_of(fit: BradleyTerry) -> NDArray[np.float64]:
    """Standard errors of θ against opponents taken as known, shape (n_items,); the exact ones take long."""
    return np.asarray(np.sqrt(1.0 / fit.graph.diagonal))
