"""Scores of the paper's protocol: x, y and ȳ of a ballot's items, with intervals drawn from the ballot's seed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import StoreError
from ..scores import BallotScores, BallotVotes, Intervals, bootstrap_intervals, score_campaign
from .ballots import LEVEL, RESAMPLES, Ballot


def paper_scores(votes: Sequence[BallotVotes], n_items: int, ballot: Ballot) -> tuple[BallotScores, Intervals]:
    """The scores of the last of these ballots; the same votes and seed give the same bits.

    votes : of all ballots up to `ballot`. Raises `StoreError` where an item of it has no vote in any.
    """
    scored = score_campaign(votes, n_items)[-1]
    unscored = int(np.isnan(scored.mean).sum())
    if unscored:
        raise StoreError(
            f"{unscored:,} of {ballot.n_items:,} items have no vote yet, so they would have no score. "
            "Collect more results before the ballot is closed."
        )
    rng = np.random.default_rng([ballot.seed, 2])
    return scored, bootstrap_intervals(votes, n_items, resamples=RESAMPLES, level=LEVEL, rng=rng, workers=None)
