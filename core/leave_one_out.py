"""What the votes of all other voters say of each vote of a voter: predictions without that voter, from one fit.

Taking a voter out of a Bradley–Terry fit moves the differences of θ at the voter's own comparisons by one Newton step,

    δ = −(I − K D)⁻¹ K u,   K = B H⁻¹ Bᵀ,

with B the voter's comparisons (a row each, 1 at one item and −1 at the other), H the information of the fit with its
ridge, D the information of each vote and u its derivative of the log-likelihood. (I − K D)⁻¹ K is then the covariance
of these differences without the voter. So no fit is made anew; the other voters' effects are taken as they are.

References: Pregibon (1981), Logistic regression diagnostics, Annals of Statistics 9 (the one-step deletion);
Spiegelhalter, Lauritzen (1990), Networks 20 (the prediction averaged over the uncertainty of θ).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from .errors import InputError, NotConvergedError
from .runoff import fit_runoff
from .scores.bradley_terry import BradleyTerry
from .scores.pair_graph import MOST_DENSE, PairGraph
from .scores.voter_effects import Data, Likelihood

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MOST_VOTES = 4000  # of one voter, up to which variances are exact; above, opponents are taken as known


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
    fit = fit_runoff(a[used], b[used], y[used], n_items=n_items, voter=code)
    found = np.full(len(names), -1, dtype=np.int64)
    found[inside] = np.arange(len(inside))
    rows = _by_vote(fit, a[used], b[used], y[used])
    gap, variance = _without_each(rows, fit, a, b, place, used)
    lapse = float(np.median(fit.voter_lapse))
    certain = expit(gap / np.sqrt(1.0 + np.pi * variance / 8.0))
    probability = lapse + (1.0 - 2.0 * lapse) * certain
    return Predictions(gap, variance, probability, _informed(a, b, place, used, n_items), fit, found[place])


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
    at = np.cumsum(used) - 1  # the row of a vote in the fit
    order = np.argsort(place, kind="stable")
    for mine in np.split(order, np.flatnonzero(np.diff(place[order])) + 1):
        own, outside = mine[used[mine]], mine[~used[mine]]
        if len(outside):
            variance[outside] = _variance(graph, inverse, a[outside], b[outside])
        if len(own):
            exact = inverse if len(own) <= MOST_VOTES else None
            moved, variance[own] = _step(exact, graph, fit.ridge, a[own], b[own], weight, pull, at[own])
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


def _step(
    inverse: Floats | None, graph: PairGraph, ridge: float, a: Ints, b: Ints, weight: Floats, pull: Floats, rows: Ints
) -> tuple[Floats, Floats]:
    """How far the gaps of a voter's comparisons move without the voter, and their variances then."""
    if inverse is not None:
        rows_of = inverse[a] - inverse[b]
        k = rows_of[:, a] - rows_of[:, b]
        without = np.linalg.solve(np.eye(len(a)) - k * weight[rows], k)
        return -without @ pull[rows], np.diag(without).copy()
    rest = weight.copy()
    rest[rows] = 0.0
    graph.weigh(rest, ridge)
    at_other, at_one = (np.bincount(end, pull[rows], graph.n_items) for end in (b, a))
    right = np.asarray(at_other - at_one, dtype=np.float64)
    moved = graph.solve(right, tolerance=1e-4)
    spread = 1.0 / graph.diagonal
    graph.weigh(weight, ridge)
    if moved is None:
        raise NotConvergedError("The votes without one of the voters make a singular system. Collect more votes.")
    return moved[a] - moved[b], spread[a] + spread[b]


def _informed(a: Ints, b: Ints, place: Ints, used: Bools, n_items: int) -> Bools:
    """Whether both items of each vote have votes of other voters."""
    votes = np.bincount(a[used], minlength=n_items) + np.bincount(b[used], minlength=n_items)
    key = place * n_items
    own_keys = np.concatenate([(key + a)[used], (key + b)[used]])
    found, times = np.unique(own_keys, return_counts=True)

    def of_others(item: Ints) -> Ints:
        wanted = key + item
        at = np.minimum(np.searchsorted(found, wanted), max(len(found) - 1, 0))
        own = np.where(found[at] == wanted, times[at], 0)
        return np.asarray(votes[item] - own)

    return np.asarray((of_others(a) > 0) & (of_others(b) > 0))
