"""How a campaign asks and scores: the protocols, each a class with its own drawing, scores and choice of items.

`Method` says what a protocol must do; `conventions` lists those there are. Two come from the paper: `Paper`, the
adaptive protocol (sections 2.5 and 2.6), and `Uniform` (section 2.4), one ballot with the votes of a whole plan.

Reference: Lombardo et al. (2020), EMNLP, Eqs. 1–6.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from ..ballots import select_items
from ..panel import Floats, Ints
from ..plan import Plan
from ..scores.borda import BallotScores, rescaled, rescaling_slope, tally, updated_mean
from .drawing import quick_comparisons


class Votes(NamedTuple):
    """The votes of one simulated ballot; positions 0…n_items−1 in the campaign's items.

    items : of the ballot, shape (n,); first, second, outcome (1 the first won, 0 the second, 0.5 a tie), voter
    (number of who answered): shape (n_votes,), in the order drawn. They are not checked: a simulation made them.
    """

    items: Ints
    first: Ints
    second: Ints
    outcome: Floats
    voter: Ints


class Ballot(NamedTuple):
    """A ballot that was held: its votes, and what they made of the scores."""

    votes: Votes
    scores: BallotScores


class Method(Protocol):
    """A protocol. Everything random comes from the generator passed in; `so_far` are the ballots held, in order."""

    def ballots(self, plan: Plan) -> Sequence[tuple[int, int]]:
        """Numbers of items and comparisons of each ballot. The first has all items of the plan."""

    def draw(self, items: Ints, n_comparisons: int, so_far: Sequence[Ballot], rng: np.random.Generator) -> Ints:
        """The comparisons of a ballot, values of `items`, shape (n_comparisons, 2), in random order: votes are dealt
        by row.
        """

    def deal(
        self, pairs: Ints, so_far: Sequence[Ballot], n_voters: int, n_items: int, rng: np.random.Generator
    ) -> Ints | None:
        """Who answers which comparison, voters 0…n_voters−1, shape (n,); None leaves that to the convention."""

    def score(self, votes: Votes, so_far: Sequence[Ballot], n_items: int) -> BallotScores:
        """The scores after a ballot; `mean` is what its items are ranked by."""

    def select(self, scores: BallotScores, n_keep: int, rng: np.random.Generator) -> Ints:
        """The items of the next ballot."""

    def final(self, held: Sequence[Ballot], n_items: int) -> Floats:
        """The score of every item after the last ballot, higher = more related, shape (n_items,)."""


class Paper:
    """The paper's adaptive protocol: opponents at random, the top by ȳ goes on, ȳ is the score."""

    def ballots(self, plan: Plan) -> Sequence[tuple[int, int]]:
        """The plan's (Eqs. 2, 3)."""
        return list(zip(plan.sizes, plan.comparisons, strict=True))

    def draw(self, items: Ints, n_comparisons: int, so_far: Sequence[Ballot], rng: np.random.Generator) -> Ints:
        """Each item equally often within one, opponents uniformly at random, as in `core.ballots`."""
        return quick_comparisons(items, n_comparisons, rng)

    def deal(
        self, pairs: Ints, so_far: Sequence[Ballot], n_voters: int, n_items: int, rng: np.random.Generator
    ) -> Ints | None:
        """By the convention."""
        return None

    def score(self, votes: Votes, so_far: Sequence[Ballot], n_items: int) -> BallotScores:
        """x (Eq. 1), rescaled and averaged (Eqs. 5, 6), as `core.scores.score_campaign` has it."""
        x, times = borda_of(votes, n_items)
        mean, count = standing(so_far, n_items)
        if not so_far:
            return BallotScores(1, votes.items, x, x, x, np.ones(len(x), dtype=np.int64), 1.0, times)
        mean, count = mean[votes.items], count[votes.items]
        slope = rescaling_slope(x, mean)
        y = rescaled(x, slope)
        mean, count = updated_mean(y, mean, count)
        return BallotScores(len(so_far) + 1, votes.items, x, y, mean, count, float(slope), times)

    def select(self, scores: BallotScores, n_keep: int, rng: np.random.Generator) -> Ints:
        """The highest ȳ; ties at the cut are drawn."""
        return select_items(scores.items, scores.mean, n_keep, rng=rng).items

    def final(self, held: Sequence[Ballot], n_items: int) -> Floats:
        """ȳ of the last ballot an item was in."""
        return standing(held, n_items)[0]


class Uniform(Paper):
    """Every item alike: one ballot with exactly the comparisons of the whole plan, so that both cost the same."""

    def ballots(self, plan: Plan) -> Sequence[tuple[int, int]]:
        """One, of all items; they appear ⌊M_unif⌋ or ⌈M_unif⌉ times (Eq. 4)."""
        return [(plan.n_items, plan.n_comparisons)]


def borda_of(votes: Votes, n_items: int) -> tuple[Floats, Ints]:
    """x of the ballot's items (Eq. 1) and how often each was shown; drawing leaves no item without a vote."""
    points, times = tally(votes.first, votes.second, votes.outcome, n_items=n_items)
    return points[votes.items] / times[votes.items], times[votes.items]


def standing(held: Sequence[Ballot], n_items: int) -> tuple[Floats, Ints]:
    """ȳ of every item as of the last ballot it was in, and the number of its scores; NaN and 0 where it has none."""
    mean, count = np.full(n_items, np.nan), np.zeros(n_items, dtype=np.int64)
    for _, scores in held:
        mean[scores.items], count[scores.items] = scores.mean, scores.count
    return mean, count
