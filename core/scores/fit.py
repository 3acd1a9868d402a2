"""The one Bradley–Terry fit of all votes of a campaign, whichever protocol collected them.

The protocol "runoff" scores by it; what another ballot would change, audits of cut items, clear pairs for gold, halves
of the voters and what the votes of others predict go by it under any protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.arrays import Ints
from ..errors import InputError, NotConvergedError
from .borda import VotesOf
from .bradley_terry import BradleyTerry, fit_bradley_terry

RIDGE = 0.1  # of the fits behind ballots and scores; found by simulation, docs/runoff.md


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
    """The fit of all votes so far: every voter with a lapse and a sharpness of their own, ridge 0.1.

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
        """Standard errors of θ against opponents taken as known, which pairing goes by."""
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
