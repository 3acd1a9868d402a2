"""The protocol "runoff": more accuracy from a vote than random opponents and win ratios give.

Ballot 1 is drawn as the paper's, opponents at random. From then on one Bradley–Terry fit of all votes so far says who
goes on (`selection`), and items meet that it can't tell apart yet (`pairing`); nobody is asked about the same item
twice while others can be (`dealing`). The last fit's θ is the score. The method is described in docs/runoff.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .ballots import draw_comparisons
from .budgets import largest_within
from .errors import InputError, NotConvergedError, PlanError
from .pairing import connected_or_redrawn, draw_near_comparisons
from .plan import Plan
from .scores.borda import BallotVotes
from .scores.bradley_terry import BradleyTerry, fit_bradley_terry
from .selection import LeadingItems, select_leading

Ints = NDArray[np.int64]

RIDGE = 0.1  # of the fits behind ballots and scores; found by simulation, docs/runoff.md
# Appearances ballot by ballot, relative to the first: the whole field has its share, and the top is seen often.
PROFILE = (1.0, 0.65, 0.5, 0.75, 1.1, 1.8, 2.2)


@dataclass(frozen=True)
class RunoffBallot:
    """A ballot drawn by the protocol: its items, the comparisons (n, 2), and from ballot 2 on who went on and why."""

    items: Ints
    pairs: Ints
    leading: LeadingItems | None


def draw_runoff_ballot(
    fit: BradleyTerry | None, n_items: int, n_keep: int, appearances: int, *, rng: np.random.Generator
) -> RunoffBallot:
    """Draw the next ballot: `n_keep` of `n_items` items, each in `appearances` comparisons.

    `fit` is `fit_runoff` of all votes so far, None before the first ballot, which has all items. Errors as of
    `draw_comparisons`, `select_leading` and `draw_near_comparisons`.
    """
    if fit is None:
        items = np.arange(n_items)
        pairs = draw_comparisons(items, appearances, rng=rng)
        return RunoffBallot(items, connected_or_redrawn(pairs, items, appearances, rng=rng), None)
    leading = select_leading(fit, n_keep, rng=rng)
    items = leading.selection.items
    return RunoffBallot(items, near_comparisons(fit, items, appearances, rng=rng), leading)


def near_comparisons(fit: BradleyTerry, items: Ints, appearances: int, *, rng: np.random.Generator) -> Ints:
    """Comparisons of near neighbours by a fit of all votes so far, as positions in it; see `draw_near_comparisons`."""
    spread = spread_of(fit)[items]
    return draw_near_comparisons(items, appearances, score=fit.theta[items], spread=spread, rng=rng)


def spread_of(fit: BradleyTerry) -> NDArray[np.float64]:
    """Standard errors of θ against opponents taken as known, shape (n_items,); the exact ones take long."""
    return np.asarray(np.sqrt(1.0 / fit.graph.diagonal))


def fit_runoff(
    first: ArrayLike,
    second: ArrayLike,
    outcome: ArrayLike,
    *,
    n_items: int,
    voter: ArrayLike | None,
    start: ArrayLike | None = None,
    tolerance: float = 1e-6,
) -> BradleyTerry:
    """The protocol's fit of all votes so far: every voter with a lapse and a sharpness of their own, ridge 0.1.

    Without voters all votes count alike; so they do where the voters' own effects don't settle, as with few voters who
    never contradict themselves: θ is the same kind of score then, and `voter_lapse` has one entry. Parameters, range
    and errors are those of `fit_bradley_terry`.
    """
    how: dict[str, Any] = {"n_items": n_items, "ridge": RIDGE, "start": start, "tolerance": tolerance}
    if voter is not None:
        with suppress(NotConvergedError):
            return fit_bradley_terry(first, second, outcome, voter=voter, **how)
    return fit_bradley_terry(first, second, outcome, **how)


@dataclass(frozen=True)
class FittedVotes:
    """The protocol's fit of a campaign's votes; arrays of shape (n,) over the items of its first ballot.

    items : their positions in the project, ascending. fit : of items numbered 0…n−1 in that order.
    scores : expected Borda scores against the whole field, in [0, 1]; spread : standard errors of θ against opponents
    taken as known, which pairing goes by.
    """

    items: Ints
    fit: BradleyTerry
    scores: NDArray[np.float64]
    spread: NDArray[np.float64]


def fit_votes(votes: Sequence[BallotVotes]) -> FittedVotes:
    """Fit the votes of all ballots of a campaign; the first ballot has all items.

    Raises `InputError` for no ballot, `DisconnectedError` where votes leave items apart, and `NotConvergedError`.
    """
    if not votes:
        raise InputError("A fit needs the votes of one ballot at least.")
    items = np.sort(votes[0].items)
    first, second, outcome, voter = joined(votes, items)
    fit = fit_runoff(first, second, outcome, n_items=len(items), voter=voter)
    return FittedVotes(items, fit, fit.expected_borda(), spread_of(fit))


def joined(votes: Sequence[BallotVotes], items: Ints) -> tuple[Ints, Ints, NDArray[np.float64], Ints]:
    """The votes of all ballots in one: places of the first and second item in `items`, outcome, voter 0…V−1."""
    first = np.searchsorted(items, np.concatenate([ballot.first for ballot in votes]))
    second = np.searchsorted(items, np.concatenate([ballot.second for ballot in votes]))
    outcome = np.concatenate([ballot.outcome for ballot in votes])
    _, voter = np.unique(np.concatenate([ballot.voter for ballot in votes]), return_inverse=True)
    return first, second, outcome, voter


def spread_appearances(n_items: int, n_ballots: int, keep: float, n_comparisons: int) -> Plan:
    """The plan of at most `n_comparisons` comparisons with appearances as the protocol likes them.

    M of ballot k is proportional to `PROFILE` (for another number of ballots interpolated between its ends), each at
    least 2 and as large as the budget allows; what whole numbers leave over goes to the later ballots first.

    Raises `PlanError` where even two appearances in each ballot cost more.

    >>> plan = spread_appearances(990, 7, 0.5, 19_660)
    >>> plan.appearances, plan.n_comparisons <= 19_660
    ((23, 15, 12, 18, 27, 44, 53), True)
    """
    at = np.linspace(0, len(PROFILE) - 1, n_ballots) if n_ballots > 1 else np.zeros(1)
    shape = np.interp(at, np.arange(len(PROFILE)), PROFILE)

    def plan_of(scale: float) -> Plan:
        return Plan(n_items, n_ballots, keep, tuple(max(2, int(m)) for m in np.floor(scale * shape + 1e-9)))

    if plan_of(0.0).n_comparisons > n_comparisons:
        raise PlanError(
            f"{n_comparisons:,} comparisons are too few for {n_ballots} ballots of {n_items:,} items; "
            f"two appearances in each ballot need {plan_of(0.0).n_comparisons:,}."
        )
    appearances = list(largest_within(plan_of, n_comparisons).appearances_by_ballot)
    for ballot in reversed(range(n_ballots)):
        more = [*appearances[:ballot], appearances[ballot] + 1, *appearances[ballot + 1 :]]
        if Plan(n_items, n_ballots, keep, tuple(more)).n_comparisons <= n_comparisons:
            appearances = more
    return Plan(n_items, n_ballots, keep, tuple(appearances))
