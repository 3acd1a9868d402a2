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
from .uncertainty import Intervals, bootstrap_intervals

__all__ = [
    "BallotScores",
    "BallotVotes",
    "FinalScores",
    "Intervals",
    "Rescaled",
    "bootstrap_intervals",
    "borda",
    "final_scores",
    "rescale",
    "score_campaign",
]
