"""The scores of a closed ballot: computed from votes without the store, then written in one go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sqlalchemy as sa

from ..scores import BallotScores, BallotVotes, Intervals
from ..scores.fit import FittedVotes
from . import schema as t
from .ballots import Ballot
from .command import Change, fetch_rows
from .foresights import NextBallot, foresight_of
from .paper_scores import paper_scores
from .runoff_scores import RunoffScores, runoff_scores, write_runoff_scores


@dataclass(frozen=True, eq=False)
class NewScores:
    """Scores of a ballot that wait to be written: those of its protocol, why there are no intervals (or ""), b̂."""

    ballot: Ballot
    n_votes: int
    note: str
    slope: float | None
    runoff: RunoffScores | None = None
    borda: tuple[BallotScores, Intervals] | None = None
    fit: dict[str, Any] = field(default_factory=dict)  # what else is kept with the ballot

    @property
    def fitted(self) -> FittedVotes | None:
        """The fit of all votes, by the protocol "runoff"."""
        return self.runoff.fitted if self.runoff is not None else None


def score_ballot(
    votes: Sequence[BallotVotes],
    ballot: Ballot,
    n_items: int,
    *,
    coming: NextBallot | None,
    another: dict[str, Any] | None = None,
) -> NewScores:
    """Score a ballot by the votes of all ballots up to it, by its protocol. The same votes give the same scores.

    coming : the ballot after it, whose worth is foreseen; with None `another` is kept for that.
    Raises `StoreError` where an item would have no score, `DisconnectedError` where votes leave items apart.
    """
    n_votes = len(votes[-1].first)
    if ballot.protocol == "runoff":
        scores = runoff_scores(votes, ballot)
        found = another if coming is None else foresight_of(votes, ballot, coming, scores.fitted)
        scores.fit["another"] = found
        return NewScores(ballot, n_votes, scores.note, None, runoff=scores, fit=scores.fit)
    scored, intervals = paper_scores(votes, n_items, ballot)
    slope = None if np.isnan(scored.slope) or ballot.number == 1 else float(scored.slope)
    fit = {"another": another if coming is None else foresight_of(votes, ballot, coming)}
    return NewScores(ballot, n_votes, intervals.reason, slope, borda=(scored, intervals), fit=fit)


def write_scores(change: Change, scores: NewScores) -> None:
    """Write the scores of a ballot in place of those it has."""
    conn, ballot_id = change.conn, scores.ballot.id
    if scores.runoff is not None:
        conn.execute(sa.delete(t.item_score).where(t.item_score.c.ballot_id == ballot_id))
        write_runoff_scores(change, ballot_id, scores.runoff)
    if scores.borda is not None:
        _write_borda(change, ballot_id, *scores.borda)
    values = {"slope": scores.slope, "interval_note": scores.note or None, "fit": scores.fit}
    conn.execute(sa.update(t.ballot).where(t.ballot.c.id == ballot_id).values(values))


def _write_borda(change: Change, ballot_id: int, scored: BallotScores, intervals: Intervals) -> None:
    query = sa.select(t.item.c.position, t.item.c.id).where(t.item.c.project_id == change.project_id)
    ids = dict(fetch_rows(change.conn, query))
    columns = {
        "x": scored.x,
        "y": scored.y,
        "mean": scored.mean,
        "count": scored.count,
        "lower": intervals.lower[scored.items],
        "upper": intervals.upper[scored.items],
    }
    rows = []
    for place, position in enumerate(scored.items.tolist()):
        values = {f"new_{name}": column[place].item() for name, column in columns.items()}
        row = {name: None if np.isnan(value) else value for name, value in values.items()}
        rows.append({"of_item": ids[position], **row})
    statement = (
        sa.update(t.ballot_item)
        .where(t.ballot_item.c.ballot_id == ballot_id, t.ballot_item.c.item_id == sa.bindparam("of_item"))
        .values({name: sa.bindparam(f"new_{name}") for name in columns})
    )
    change.conn.execute(statement, rows)
