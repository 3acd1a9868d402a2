"""The project's own protocol in a simulation: see `core/runoff.py` for what it does, and docs/runoff.md for why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..dealing import count_seen, deal_to_voters
from ..pairing import connected_or_redrawn
from ..panel import Floats, Ints
from ..plan import Plan
from ..runoff import near_comparisons
from ..scores.borda import BallotScores
from ..scores.bradley_terry import BradleyTerry
from ..scores.fit import fit_with_voters
from ..selection import select_leading
from .drawing import quick_comparisons
from .methods import Ballot, Votes, borda_of

TOLERANCE = 0.01  # of the fits: far below the noise of the votes


@dataclass(frozen=True)
class FittedScores(BallotScores):
    """Scores after a ballot with the fit behind them; y, mean and slope don't exist, `x` is the ballot's win ratio."""

    fit: BradleyTerry


class Near:
    """Ballot 1 as the paper's; then one fit of all votes, and near neighbours meet."""

    def ballots(self, plan: Plan) -> Sequence[tuple[int, int]]:
        """The plan's (Eqs. 2, 3)."""
        return list(zip(plan.sizes, plan.comparisons, strict=True))

    def draw(self, items: Ints, n_comparisons: int, so_far: Sequence[Ballot], rng: np.random.Generator) -> Ints:
        """Opponents at random in ballot 1, then near neighbours; each item equally often within one."""
        appearances = 2 * n_comparisons // len(items)
        if not so_far:
            return connected_or_redrawn(quick_comparisons(items, n_comparisons, rng), items, appearances, rng=rng)
        return near_comparisons(_fit_after(so_far), items, appearances, rng=rng)

    def deal(
        self, pairs: Ints, so_far: Sequence[Ballot], n_voters: int, n_items: int, rng: np.random.Generator
    ) -> Ints:
        """Equally many comparisons a voter within one, and items they haven't seen where possible."""
        seen = np.zeros((n_voters, n_items), dtype=np.int32)
        for votes, _ in so_far:
            met = np.stack((votes.first, votes.second), axis=1)
            seen += count_seen(met, votes.voter, n_voters=n_voters, n_items=n_items)
        return deal_to_voters(pairs, n_voters, seen=seen, n_items=n_items, rng=rng)

    def score(self, votes: Votes, so_far: Sequence[Ballot], n_items: int) -> FittedScores:
        """One fit of the votes of all ballots."""
        all_votes = [*(ballot.votes for ballot in so_far), votes]
        fit = fit_with_voters(
            *(np.concatenate([getattr(part, name) for part in all_votes]) for name in ("first", "second", "outcome")),
            n_items=n_items,
            voter=np.concatenate([part.voter for part in all_votes]),
            start=_fit_after(so_far).theta if so_far else None,
            tolerance=TOLERANCE,
        )
        x, times = borda_of(votes, n_items)
        none = np.full(len(x), np.nan)
        count = np.zeros(len(x), dtype=np.int64)
        return FittedScores(len(so_far) + 1, votes.items, x, none, none, count, np.nan, times, fit)

    def select(self, scores: BallotScores, n_keep: int, rng: np.random.Generator) -> Ints:
        """Those that may matter most to the top; items cut before may come back."""
        return select_leading(_fit_of(scores), n_keep, rng=rng).selection.items

    def final(self, held: Sequence[Ballot], n_items: int) -> Floats:
        """θ of the last fit."""
        return _fit_after(held).theta


def _fit_after(held: Sequence[Ballot]) -> BradleyTerry:
    return _fit_of(held[-1].scores)


def _fit_of(scores: BallotScores) -> BradleyTerry:
    if not isinstance(scores, FittedScores):
        raise TypeError("These scores are of another protocol.")
    return scores.fit
