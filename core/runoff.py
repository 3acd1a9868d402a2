"""The protocol "runoff": more accuracy from a vote than random opponents and win ratios give.

Ballot 1 is drawn as the paper's, opponents at random. From then on one Bradley–Terry fit of all votes so far says who
goes on (`selection`), and items meet that it can't tell apart yet (`pairing`); nobody is asked about the same item
twice while others can be (`dealing`). The last fit's θ is the score. The method is described in docs/runoff.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .ballots import draw_comparisons
from .budgets import largest_within
from .errors import PlanError
from .pairing import connected_or_redrawn, draw_near_comparisons
from .plan import Plan
from .scores.bradley_terry import BradleyTerry
from .scores.fit import spread_of
from .selection import LeadingItems, select_leading

Ints = NDArray[np.int64]

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

    `fit` is `fit_with_voters` of all votes so far, None before the first ballot, which has all items. Errors as of
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
