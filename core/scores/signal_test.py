"""Whether voters agree on anything at all: a test against coin tosses that holds however the ballots were drawn.

In adaptive comparisons the items that won by luck meet again at the top, and a scale made of coin tosses looks reliable
to whatever takes the fitted scores for true ones (Bramley and Vitello 2019, Assessment in Education 26). What can be
asked without a fit: do the votes of one voter go with those of the *others* on the same item?

Let ξ = 1 where an item won, −1 where it lost, 0 for a tie, and S_iv the sum of ξ over voter v's votes on item i. Then
Q = Σ_i [(Σ_v S_iv)² − Σ_v S_iv²] adds up the products of ξ of different voters on the same item. If every vote is a
fair coin, each vote on items a and b changes Q by ±2·(D_a − D_b), D being the sum of ξ of the other voters' earlier
votes, so Q is a martingale: its mean is 0 although later ballots were drawn by earlier votes, and Q divided by the root
of Σ 4ξ²(D_a − D_b)² is close to standard normal (Hall and Heyde 1980, Martingale Limit Theory, section 3.2).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..tables import Floats, Ints
from .borda import VotesOf
from .bradley_terry import joined

COIN_TOSSES = "the votes can't be told from coin tosses"  # said wherever no opinion shows
CHANCE_Z = 2.33  # of a hundred campaigns of coin tosses one is above it


def signal_z(votes: Sequence[VotesOf]) -> float:
    """By how many standard deviations different voters agree more than coin tosses would; 0 where nothing can be told.

    votes : of the ballots in the order they were held; the first has all items. Above `CHANCE_Z` voters share an
    opinion. O(n log n) in the votes.
    """
    first, second, outcome, voter = joined(votes, np.sort(votes[0].items))
    sign = 2.0 * outcome - 1.0
    item, signed = np.stack((first, second), axis=1).ravel(), np.stack((sign, -sign), axis=1).ravel()
    n_voters = int(voter.max(initial=0)) + 1
    own = item * n_voters + np.repeat(voter, 2)
    others = _sum_before(item, signed) - _sum_before(own, signed)
    step = 2.0 * sign * (others[0::2] - others[1::2])
    spread = float(np.sqrt(np.sum(step**2)))
    return float(np.sum(step)) / spread if spread > 0 else 0.0


def by_chance(votes: Sequence[VotesOf]) -> str:
    """That the votes can't be told from coin tosses, in a sentence; "" where voters share an opinion."""
    z = signal_z(votes)
    if z > CHANCE_Z:
        return ""
    return (
        f"Votes of different voters on the same items can't be told from coin tosses (z = {z:.1f}; above {CHANCE_Z:g} "
        "they could)."
    )


def _sum_before(group: Ints, values: Floats) -> Floats:
    """The sum of the earlier values of the same group, at each value."""
    order = np.argsort(group, kind="stable")
    sorted_, total = group[order], np.cumsum(values[order])
    starts = np.flatnonzero(np.r_[True, sorted_[1:] != sorted_[:-1]])
    before = total - values[order]
    result = np.empty(len(values))
    result[order] = before - np.repeat(before[starts], np.diff(np.r_[starts, len(values)]))
    return result
