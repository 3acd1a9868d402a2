"""Scores of items from votes, and how sure they are."""

from __future__ import annotations

from .borda import (
    BallotScores,
    BallotVotes,
    FinalScores,
    Rescaled,
    borda,
    final_scores,
    rescale,
    score_campaign,
)
from .bradley_terry import BradleyTerry, expected_borda, fit_bradley_terry
from .uncertainty import Intervals, bootstrap_intervals

__all__ = [
    "BallotScores",
    "BallotVotes",
    "BradleyTerry",
    "FinalScores",
    "Intervals",
    "Rescaled",
    "bootstrap_intervals",
    "borda",
    "expected_borda",
    "fit_bradley_terry",
    "final_scores",
    "rescale",
    "score_campaign",
]
