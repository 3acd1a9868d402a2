"""What the scores would be with other voters left out, by the protocol in use; nothing is written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...metrics import average_ranks
from ...protocols import Held, protocol_of
from ...scores import borda
from .. import schema as t
from ..ballots.ballots import ballots_of
from ..command import fetch_rows
from ..projects.rankings import Ranking, rankings_of
from ..tokens.areas import items_of
from ..votes.tallies import ballot_votes
from .scores import dataset_of


@dataclass(frozen=True)
class Counted:
    """Counts over the ballots of a project: votes, and comparisons without one."""

    votes: int
    unvoted: int


def counted_without(conn: sa.Connection, project_id: str, without: frozenset[int]) -> Counted:
    """Votes and comparisons without a vote in all ballots, pilots aside, if these voters were left out."""
    votes = unvoted = 0
    for ranking in rankings_of(conn, project_id):
        for ballot in ballots_of(conn, project_id, ranking.area_id):
            voted = _voted(conn, ballot.id, without)
            votes += len(voted)
            unvoted += ballot.n_comparisons - len(np.unique(voted))
    return Counted(votes, unvoted)


def _voted(conn: sa.Connection, ballot_id: int, without: frozenset[int]) -> np.ndarray:
    """The question of each vote that would count."""
    j, a = t.judgement.c, t.assignment.c
    query = (
        sa.select(j.question_id, a.voter_id)
        .join(t.assignment, a.id == j.assignment_id)
        .join(t.question, t.question.c.id == j.question_id)
        .where(a.ballot_id == ballot_id, t.question.c.role == "main")
        .where(j.status.in_(["counted", "excluded"]), j.value.is_not(None))
    )
    rows = np.array(fetch_rows(conn, query), dtype=np.int64).reshape(-1, 2)
    return np.asarray(rows[~np.isin(rows[:, 1], sorted(without)), 0])


def dataset_without(conn: sa.Connection, project_id: str, without: frozenset[int]) -> pd.DataFrame:
    """The project's dataset (schema DATASET, without intervals) if these voters were left out.

    Equal to `dataset_of` in scores and ranks for those who are left out now. Errors as of scoring.
    """
    before = dataset_of(conn, project_id)
    frames = []
    for ranking in rankings_of(conn, project_id):
        items = items_of(conn, project_id, area_id=ranking.area_id)
        scores = _scores(conn, project_id, ranking, without)
        frame = items[["area", "token_a", "token_b"]].assign(score=items["item"].map(scores)).dropna(subset="score")
        frame["rank"] = average_ranks(frame["score"].to_numpy()) if len(frame) else np.array([], dtype=float)
        frames.append(frame.sort_values("rank", kind="stable"))
    found = pd.concat(frames, ignore_index=True)
    found.attrs = before.attrs
    return found


def _scores(conn: sa.Connection, project_id: str, ranking: Ranking, without: frozenset[int]) -> dict[int, float]:
    """The score of each item, by position; NaN or absent where it has none."""
    ballots = ballots_of(conn, project_id, ranking.area_id)
    closed = [ballot for ballot in ballots if not ballot.is_open]
    if not ballots:
        return {}
    votes = [ballot_votes(conn, ballot.id, without=without) for ballot in closed or ballots[:1]]
    if not closed:  # as `build_dataset` has it: x of ballot 1 by the votes received so far
        of_first = votes[0]
        n_items = int(of_first.items.max()) + 1
        return dict(enumerate(borda(of_first.first, of_first.second, of_first.outcome, n_items=n_items).tolist()))
    scored = protocol_of(closed[-1].protocol).field([Held(ballot) for ballot in votes])
    return dict(zip(scored.items.tolist(), scored.score.tolist(), strict=True))


def chosen_otherwise(
    conn: sa.Connection, project_id: str, without: frozenset[int], area_id: int | None = None
) -> list[tuple[int, int]]:
    """For each drawn ballot from 2 on: its number, and how many items would be others if these voters had been left
    out when it was drawn. Takes a fit a ballot by a protocol that chooses by one."""
    ballots = ballots_of(conn, project_id, area_id)
    votes = [ballot_votes(conn, ballot.id, without=without) for ballot in ballots[:-1]]
    found = []
    for place, ballot in enumerate(ballots[1:]):
        held = [Held(before) for before in votes[: place + 1]]
        now = protocol_of(ballot.protocol).select(held, ballot.n_items, np.random.default_rng([ballot.seed, 1]))
        there = set(_items_of(conn, ballot.id))
        found.append((ballot.number, len(there - set(now.items.tolist()))))
    return found


def _items_of(conn: sa.Connection, ballot_id: int) -> list[int]:
    query = sa.select(t.item.c.position).join(t.ballot_item, t.ballot_item.c.item_id == t.item.c.id)
    return list(conn.execute(query.where(t.ballot_item.c.ballot_id == ballot_id)).scalars())
