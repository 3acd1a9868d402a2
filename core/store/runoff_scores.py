"""Scores of the protocol "runoff": θ from the votes of all ballots, written for every item of the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from ..errors import StoreError
from ..scores import BallotVotes
from ..scores.bradley_terry import expected_borda
from ..scores.fit import FittedVotes, fit_votes, joined
from ..scores.voter_bootstrap import resample_voters
from . import schema as t
from .ballots import LEVEL, Ballot
from .command import Change, fetch_rows, insert_rows

RESAMPLES = 300  # each takes a few Newton steps; their 5 % and 95 % points are near those of a thousand
MIN_VOTERS = 5  # fewest to make intervals from
COLUMNS = ("theta", "error", "score", "lower", "upper", "rank_lower", "rank_upper")


@dataclass(frozen=True)
class RunoffScores:
    """What is written at closing: the items' positions, a row of `COLUMNS` each, what the fit says of itself, and why
    there are no intervals, or ""."""

    items: np.ndarray
    values: np.ndarray
    fit: dict[str, Any]
    note: str
    fitted: FittedVotes


def runoff_scores(votes: Sequence[BallotVotes], ballot: Ballot) -> RunoffScores:
    """The scores after a ballot, from the votes of all ballots up to it; `StoreError` where an item has no vote."""
    fitted = fit_votes(votes)
    unscored = int((fitted.fit.votes == 0).sum())
    if unscored:
        raise StoreError(
            f"{unscored:,} of {len(fitted.items):,} items have no vote yet, so they would have no score. "
            "Collect more results before the ballot is closed."
        )
    values = np.full((len(fitted.items), len(COLUMNS)), np.nan)
    values[:, 0], values[:, 1], values[:, 2] = fitted.fit.theta, fitted.fit.standard_error, fitted.scores
    note, tied = _add_intervals(values, fitted, votes, np.random.default_rng([ballot.seed, 2]))
    described = _described(fitted, votes) | {"tied_for_first": tied}
    return RunoffScores(fitted.items, values, described, note, fitted)


def _add_intervals(
    values: np.ndarray, fitted: FittedVotes, votes: Sequence[BallotVotes], rng: np.random.Generator
) -> tuple[str, list[int]]:
    """Put the intervals of scores and ranks into their columns; why there are none, or "", and who is tied for first.

    The ridge draws the extremes of resamples in, so that an interval is widened where it would miss its own score.
    """
    first, second, outcome, voter = joined(votes, fitted.items)
    n_voters = len(np.unique(voter))
    if n_voters < MIN_VOTERS:
        return f"An interval needs votes of at least {MIN_VOTERS} voters; found {n_voters}.", []
    moved = resample_voters(fitted.fit, first, second, outcome, voter, resamples=RESAMPLES, rng=rng, workers=None)
    bounds = moved.score_intervals(LEVEL)
    for column, theta, wider in zip(("lower", "upper"), bounds, (np.minimum, np.maximum), strict=True):
        bound = expected_borda(theta, lapse=fitted.fit.lapse, field=fitted.fit.theta)
        values[:, COLUMNS.index(column)] = wider(bound, fitted.scores)
    for column, ranks in zip(("rank_lower", "rank_upper"), moved.rank_intervals(LEVEL), strict=True):
        values[:, COLUMNS.index(column)] = ranks
    return "", fitted.items[moved.tied_for_first(LEVEL)].tolist()


def _described(fitted: FittedVotes, votes: Sequence[BallotVotes]) -> dict[str, Any]:
    fit = fitted.fit
    return {
        "estimator": "Bradley–Terry with a lapse and a sharpness of each voter"
        if len(fit.voter_lapse) > 1
        else "Bradley–Terry with one lapse for all voters, whose own effects did not settle",
        "ridge": fit.ridge,
        "lapse": float(np.average(fit.voter_lapse)),
        "iterations": fit.n_iterations,
        "gradient": fit.gradient_norm,
        "votes": int(sum(len(ballot.first) for ballot in votes)),
        "voters": len(np.unique(np.concatenate([ballot.voter for ballot in votes]))),
        "undefeated": fitted.items[fit.undefeated].tolist(),
        "winless": fitted.items[fit.winless].tolist(),
    }


def write_runoff_scores(change: Change, ballot_id: int, scores: RunoffScores) -> None:
    """Write the scores of a ballot that is closed."""
    query = sa.select(t.item.c.position, t.item.c.id).where(t.item.c.project_id == change.project_id)
    ids = dict(fetch_rows(change.conn, query))
    rows = [
        (ballot_id, ids[position], *(None if np.isnan(value) else value for value in row))
        for position, row in zip(scores.items.tolist(), scores.values.tolist(), strict=True)
    ]
    insert_rows(change.conn, t.item_score, ["ballot_id", "item_id", *COLUMNS], rows)
    change.conn.execute(sa.update(t.ballot).where(t.ballot.c.id == ballot_id).values(fit=scores.fit))
