"""Closed ballots scored anew where voters are left out, or come back.

What a ballot held and who went on stays as it was decided; scores follow the votes that count. So every closed ballot
from the first one that holds a vote of these voters is scored anew, by the votes that are left, as closing would.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import sqlalchemy as sa

from ...errors import DisconnectedError, InputError, NotConvergedError, StoreError
from ...questions import RoundScores
from .. import schema as t
from ..ballots.ballots import Ballot, ballots_of, rounds_of, sentence_start
from ..projects.rankings import rankings_of
from ..votes.tallies import ballot_votes
from .audits import audit_votes, stored_audit
from .foresights import closed_fit_of, next_after
from .scoring import NewScores, score_ballot, score_round


def scores_without(
    conn: sa.Connection, project_id: str, without: frozenset[int], moved: Collection[int]
) -> list[NewScores]:
    """New scores of the closed ballots that hold votes of the voters `moved`, and of those after them.

    `without` are all voters left out then. Nothing is written. Takes as long as closing these ballots did. Raises
    `StoreError` where a closed ballot can't be scored with the votes that are left.
    """
    found: list[NewScores] = []
    for ranking in rankings_of(conn, project_id):
        closed = [ballot for ballot in ballots_of(conn, project_id, ranking.area_id) if not ballot.is_open]
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
    a = t.assignment.c
    theirs = sa.select(a.ballot_id).where(a.voter_id.in_(sorted(moved))).distinct()
    touched = set(conn.execute(theirs).scalars())
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
