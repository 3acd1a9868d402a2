"""Scores of a closed ballot or round: computed without the store, then written in one go, and anew for other voters.

What a ballot held and who went on stays as it was decided; scores follow the votes that count. So, where
voters are left out or come back, every closed ballot from the first one that holds a vote of theirs is scored again,
by the votes that are left, as closing would.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...base.estimates import LEVEL
from ...errors import DisconnectedError, InputError, NotConvergedError, StoreError
from ...protocols import Held, Scored, protocol_of
from ...questions import RoundScores
from ...scores import BallotVotes
from ...scores.bradley_terry import FittedVotes
from .. import schema as t
from ..ballots.ballot_rows import (
    FOR_INTERVALS,
    Ballot,
    answers_of,
    closed_ballots_of,
    rests_on,
    rounds_of,
    sentence_start,
)
from ..command import Change, fetch_rows, insert_rows
from ..projects.plans import rankings_of
from ..votes.tallies import ballot_votes, ballots_with
from .next_ballot_value import NextBallot, audit_votes, closed_fit_of, next_after, next_ballot_value, stored_audit

# Where scores are kept: those of a ballot's items with the ballot, those of the whole field in `item_score`.
OF_BALLOT = ("x", "y", "mean", "count", "lower", "upper")
OF_FIELD = ("theta", "error", "score", "lower", "upper", "rank_lower", "rank_upper")


@dataclass(frozen=True, eq=False)
class NewScores:
    """Scores of a ballot that wait to be written; fit : what is kept with the ballot besides."""

    ballot: Ballot
    n_votes: int
    scored: Scored
    fit: dict[str, Any] = field(default_factory=dict)

    @property
    def slope(self) -> float | None:
        """b̂; None where there is none."""
        return self.scored.slope

    @property
    def fitted(self) -> FittedVotes | None:
        """The fit of all votes, where the protocol scores by it."""
        return self.scored.state if isinstance(self.scored.state, FittedVotes) else None


def scores_of(votes: Sequence[BallotVotes], ballot: Ballot, *, bounds: str | None = None) -> Scored:
    """The scores after a ballot with their intervals, by the votes of all ballots up to it.

    The same votes give the same bits. bounds : as of `Protocol.intervals`.

    Raises `StoreError` where an item would have no score, `DisconnectedError` where votes leave items apart.
    """
    protocol = protocol_of(ballot.protocol)
    scored = protocol.score(votes[-1], [Held(before) for before in votes[:-1]])
    unscored = int(np.isnan(scored.rank_by).sum())
    if unscored:
        raise StoreError(
            f"{unscored:,} of {len(scored.items):,} items have no vote yet, so they would have no score. "
            "Collect more results before the ballot is closed."
        )
    rng = np.random.default_rng([ballot.seed, FOR_INTERVALS])
    return protocol.intervals(votes, scored, LEVEL, rng, bounds=bounds)


def columns_of(ballot: Ballot, scored: Scored) -> dict[str, np.ndarray]:
    """What is kept of each item of `scored`, by the names of the place where it is kept; NaN where there is nothing."""
    whole = protocol_of(ballot.protocol).about.whole_field
    known = {"theta": scored.rank_by, "score": scored.score} if whole else {"mean": scored.score}
    known |= scored.columns
    nothing = np.full(len(scored.items), np.nan)
    return {name: known.get(name, nothing) for name in (OF_FIELD if whole else OF_BALLOT)}


def score_ballot(
    votes: Sequence[BallotVotes], ballot: Ballot, *, coming: NextBallot | None, another: dict[str, Any] | None = None
) -> NewScores:
    """Score a ballot by the votes of all ballots up to it, by its protocol. The same votes give the same scores.

    coming : the ballot after it, whose worth is foreseen; with None `another` is kept for that. Raises as `scores_of`.
    """
    found = NewScores(ballot, len(votes[-1].first), scores_of(votes, ballot))
    found.fit.update(found.scored.fit)
    found.fit["another"] = another if coming is None else next_ballot_value(votes, ballot, coming, found.fitted)
    return found


def write_scores(change: Change, scores: NewScores) -> None:
    """Write the scores of a ballot in place of those it has."""
    conn, ballot = change.conn, scores.ballot
    columns = columns_of(ballot, scores.scored)
    rows = _rows(_item_ids(change), scores.scored.items, list(columns.values()))
    if protocol_of(ballot.protocol).about.whole_field:
        conn.execute(sa.delete(t.item_score).where(t.item_score.c.ballot_id == ballot.id))
        named = ["ballot_id", "item_id", *columns]
        insert_rows(conn, t.item_score, named, [(ballot.id, *row) for row in rows])
    else:
        _write_to_items(conn, ballot.id, list(columns), rows)
    values = {"slope": scores.slope, "interval_note": scores.scored.note or None, "fit": scores.fit}
    conn.execute(sa.update(t.ballot).where(t.ballot.c.id == ballot.id).values(values))


def _item_ids(change: Change) -> dict[int, int]:
    """The ids of the project's items by position."""
    query = sa.select(t.item.c.position, t.item.c.id).where(t.item.c.project_id == change.project_id)
    return dict(fetch_rows(change.conn, query))


def _rows(ids: dict[int, int], items: np.ndarray, columns: Sequence[np.ndarray]) -> list[tuple[Any, ...]]:
    """A row per item: its id, then the columns, NaN as NULL."""
    table = zip(*(column.tolist() for column in columns), strict=True)
    cells = ([None if value != value else value for value in row] for row in table)
    return [(ids[item], *row) for item, row in zip(items.tolist(), cells, strict=True)]


def _write_to_items(conn: sa.Connection, ballot_id: int, names: list[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Set these columns of a ballot's items; a row has the item's id first."""
    if not rows:
        return
    of_item = t.ballot_item.c.item_id == sa.bindparam("of_item")
    statement = sa.update(t.ballot_item).where(t.ballot_item.c.ballot_id == ballot_id, of_item)
    statement = statement.values({name: sa.bindparam(f"new_{name}") for name in names})
    keys = ("of_item", *(f"new_{name}" for name in names))
    conn.execute(statement, [dict(zip(keys, row, strict=True)) for row in rows])


def score_round(
    conn: sa.Connection, project_id: str, found: Ballot, without: frozenset[int] | None = None
) -> RoundScores:
    """The scores of a round by its counted answers; the same answers give the same scores.

    `without` names the voters to leave out in place of those who are. Raises as `RoundKind.score`.
    """
    before = [answers_of(conn, project_id, one, without) for one in rests_on(conn, project_id, found)]
    return found.asks.score(answers_of(conn, project_id, found, without), before, found.settings, found.seed)


def write_round_scores(change: Change, found: Ballot, scores: RoundScores) -> None:
    """Write the scores of a round in place of those it has."""
    conn = change.conn
    ids = _item_ids(change)
    names = ["x", "mean", "count", "lower", "upper"]
    _write_to_items(conn, found.id, names, _rows(ids, scores.items, [getattr(scores, name) for name in names]))
    conn.execute(sa.delete(t.item_score).where(t.item_score.c.ballot_id == found.id))
    if scores.fitted is not None:
        names = ["theta", "error", "score", "lower", "upper"]
        rows = _rows(ids, scores.fitted.items, [getattr(scores.fitted, name) for name in names])
        insert_rows(conn, t.item_score, ["ballot_id", "item_id", *names], [(found.id, *row) for row in rows])
    kept = {"fit": scores.fit, "interval_note": scores.note or None}
    conn.execute(sa.update(t.ballot).where(t.ballot.c.id == found.id).values(kept))


def fitted_items(conn: sa.Connection, ballot_id: int) -> pd.DataFrame:
    """Score and θ of the items of a closed round whose kind scores the whole field, by position."""
    b, s = t.ballot_item.c, t.item_score.c
    query = (
        sa.select(t.item.c.position, s.score, s.theta)
        .join(t.item, t.item.c.id == s.item_id)
        .join(t.ballot_item, sa.and_(b.item_id == s.item_id, b.ballot_id == s.ballot_id))
        .where(s.ballot_id == ballot_id)
        .order_by(t.item.c.position)
    )
    return pd.DataFrame(fetch_rows(conn, query), columns=["item", "score", "theta"]).set_index("item")


def scores_without(
    conn: sa.Connection, project_id: str, without: frozenset[int], moved: Collection[int]
) -> list[NewScores]:
    """New scores of the closed ballots that hold votes of the voters `moved`, and of those after them.

    `without` are all voters left out then. Nothing is written. Takes as long as closing these ballots did. Raises
    `StoreError` where a closed ballot can't be scored with the votes that are left.
    """
    found: list[NewScores] = []
    for ranking in rankings_of(conn, project_id):
        closed = closed_ballots_of(conn, project_id, ranking.area_id)
        found += _of_ranking(conn, project_id, closed, without, moved)
    return found


def _of_ranking(
    conn: sa.Connection,
    project_id: str,
    closed: list[Ballot],
    without: frozenset[int],
    moved: Collection[int],
) -> Iterator[NewScores]:
    touched = [place for place, ballot in enumerate(closed) if _has_votes_of(conn, ballot.id, moved)]
    if not touched:
        return
    votes = [ballot_votes(conn, ballot.id, without=without) for ballot in closed]
    audited = audit_votes(conn, [ballot.id for ballot in closed], without=without)
    for place in range(touched[0], len(closed)):
        ballot = closed[place]
        is_last = place == len(closed) - 1
        # What another ballot would have changed is of interest after the last one only; before that it is history.
        kept = closed_fit_of(conn, ballot.id).get("another")
        coming = next_after(conn, project_id, ballot) if is_last else None
        try:
            if not len(votes[place].first):
                raise StoreError("It would have no votes.")
            scores = score_ballot(votes[: place + 1], ballot, coming=coming, another=kept)
            here = closed[: place + 1]
            mine = audited[np.isin(audited[:, 0], [before.id for before in here])]
            if len(mine):
                scores.fit["audit"] = stored_audit(here, votes[: place + 1], mine, scores.fitted)
            yield scores
        except (StoreError, DisconnectedError, InputError, NotConvergedError) as error:
            raise StoreError(
                f"{sentence_start(ballot.called)} is closed and can't be scored without these voters: {error} Leave "
                "out fewer of them; or reopen the newest ballot, collect the missing votes, and leave them out then."
            ) from error


def _has_votes_of(conn: sa.Connection, ballot_id: int, voter_ids: Collection[int]) -> bool:
    j, a = t.judgement.c, t.assignment.c
    query = (
        sa.select(j.id)
        .join(t.assignment, a.id == j.assignment_id)
        .where(a.ballot_id == ballot_id, a.voter_id.in_(sorted(voter_ids)), j.value.is_not(None))
        .where(j.status.in_(["counted", "excluded"]))
    )
    return conn.execute(query.limit(1)).first() is not None


def rounds_without(
    conn: sa.Connection, project_id: str, without: frozenset[int], moved: Collection[int]
) -> list[tuple[Ballot, RoundScores]]:
    """New scores of the closed rounds with answers of the voters `moved`, and of those that rest on them.

    `without` are all voters left out then. Nothing is written. Takes as long as closing these rounds did. Raises
    `StoreError` where a closed round can't be scored with the answers that are left.
    """
    touched = ballots_with(conn, project_id, moved)
    found: list[tuple[Ballot, RoundScores]] = []
    for ranking in rankings_of(conn, project_id):
        moved_kinds: set[str] = set()  # of rounds before this one
        for one in rounds_of(conn, project_id, ranking.area_id):
            rests = one.asks.about.pools and one.scheme in moved_kinds
            if one.is_open or not (one.id in touched or rests):
                continue
            moved_kinds.add(one.scheme)
            found.append((one, _scores_left(conn, project_id, one, without)))
    return found


def _scores_left(conn: sa.Connection, project_id: str, found: Ballot, without: frozenset[int]) -> RoundScores:
    try:
        return score_round(conn, project_id, found, without)
    except (StoreError, DisconnectedError, InputError, NotConvergedError) as error:
        raise StoreError(
            f"{found.title}, is closed and can't be scored without these voters: {error} Leave out fewer of them; or "
            "reopen the round, collect the missing answers, and leave them out then."
        ) from error
