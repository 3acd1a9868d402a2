"""The top of an open ballot's ranking, as it would be if the ballot were closed now.

It comes from the tallies of the ballot's items and from what the ballot before left, so it costs the same however
many votes there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...metrics import average_ranks, rounded_scores
from ...protocols import protocol_of
from ...protocols.base import N_TOP
from ...questions import RoundKind
from ...scores import rescale
from ...votes.reasons import Move, Pair, UploadEffect, compare_tops
from .. import schema as t
from ..command import fetch_rows
from ..schema.ballots import CAMPAIGN, TRIAL
from ..votes.tallies import kind_of_ballot, standing_scores


@dataclass(frozen=True)
class ProvisionalRanking:
    """Where a ballot stands: its items' tokens, their provisional scores (NaN where there is none), its votes."""

    pairs: tuple[Pair, ...]
    scores: np.ndarray
    votes: int
    waits: bool = False  # its scores are known once it is closed

    @property
    def is_ranked(self) -> bool:
        """Whether any item has a score."""
        return not bool(np.isnan(self.scores).all())

    @property
    def best(self) -> int:
        """The place of the item with the highest score, the first of several; there must be one."""
        return int(np.nanargmax(rounded_scores(self.scores)))

    @property
    def top(self) -> dict[int, float]:
        """The places of the items whose rank is at most `N_TOP`, with their ranks, the best first.

        Tied items share their average rank: of many that tie across the end of the top, none is in it.
        """
        there = np.flatnonzero(~np.isnan(self.scores))
        if not len(there):
            return {}
        ranks = average_ranks(self.scores[there])
        order = np.argsort(ranks, kind="stable")
        return {int(there[at]): float(ranks[at]) for at in order if ranks[at] <= N_TOP}


def provisional_ranking_of(conn: sa.Connection, ballot_id: int) -> ProvisionalRanking:
    """The provisional ranking of a ballot by its tallies, which `write_tallies` must have brought up to date.

    A score is x in ballot 1, and in later ones the ȳ of Eqs. 5 and 6 with the votes so far: an item without a
    vote in the ballot keeps its ȳ, and has none in ballot 1. Where the whole field is scored a later ballot is known
    only once all votes are fitted, which would take too long here: no item has a score then, as none ever has in a
    pilot.
    """
    one, two = t.token.alias("one"), t.token.alias("two")
    b, before = t.ballot_item, t.ballot_item.alias("before")
    query = (
        sa.select(one.c.text, two.c.text, b.c.wins, b.c.ties, b.c.losses, before.c.mean, before.c["count"])
        .join(t.item, t.item.c.id == b.c.item_id)
        .join(one, one.c.id == t.item.c.token_a_id)
        .join(two, two.c.id == t.item.c.token_b_id)
        .outerjoin(before, (before.c.item_id == b.c.item_id) & (before.c.ballot_id == _previous(conn, ballot_id)))
        .where(b.c.ballot_id == ballot_id)
        .order_by(t.item.c.position)
    )
    rows = fetch_rows(conn, query)
    kind = kind_of_ballot(conn, ballot_id)
    if isinstance(kind, RoundKind):
        return _provisional_ranking_of_round(conn, ballot_id, kind, [(row[0], row[1]) for row in rows])
    table = np.array([row[2:] for row in rows], dtype=float).reshape(len(rows), 5)
    votes = table[:, :3].sum(axis=1)
    x = np.full(len(rows), np.nan)
    np.divide(table[:, 0] + table[:, 1] / 2, votes, out=x, where=votes > 0)
    mean, count = table[:, 3], np.nan_to_num(table[:, 4]).astype(np.int64)
    waits = bool(_previous(conn, ballot_id)) and _scores_whole_field(conn, ballot_id)
    if waits or _is_pilot(conn, ballot_id):
        x = np.full(len(rows), np.nan)
    scores = x if np.isnan(mean).all() else rescale(x, mean, count).mean
    return ProvisionalRanking(tuple((row[0], row[1]) for row in rows), scores, int(votes.sum()) // 2, waits)


def _provisional_ranking_of_round(
    conn: sa.Connection, ballot_id: int, kind: RoundKind, pairs: list[Pair]
) -> ProvisionalRanking:
    """The provisional ranking of a round: its provisional scores, and its answers in place of votes."""
    items = sa.select(t.ballot_item.c.item_id).join(t.item, t.item.c.id == t.ballot_item.c.item_id)
    ids = conn.execute(items.where(t.ballot_item.c.ballot_id == ballot_id).order_by(t.item.c.position)).scalars()
    found = standing_scores(conn, ballot_id, kind)
    scores = np.array([found.get(id_, np.nan) for id_ in ids], dtype=float)
    votes = sa.select(sa.func.coalesce(sa.func.sum(t.question.c.n_votes), 0)).where(t.question.c.ballot_id == ballot_id)
    return ProvisionalRanking(tuple(pairs), scores, int(conn.execute(votes).scalar_one()))


def _scores_whole_field(conn: sa.Connection, ballot_id: int) -> bool:
    query = sa.select(t.ballot.c.protocol).where(t.ballot.c.id == ballot_id)
    return protocol_of(conn.execute(query).scalar_one()).about.whole_field


def _is_pilot(conn: sa.Connection, ballot_id: int) -> bool:
    return conn.execute(sa.select(t.ballot.c.purpose).where(t.ballot.c.id == ballot_id)).scalar_one() == TRIAL


def _previous(conn: sa.Connection, ballot_id: int) -> int:
    """The id of the ballot before, of the same ranking; 0 (no ballot) for ballot 1."""
    this, last = t.ballot, t.ballot.alias("last")
    query = (
        sa.select(last.c.id)
        .join(this, (this.c.project_id == last.c.project_id) & (this.c.ordinal == last.c.ordinal + 1))
        .where(this.c.purpose == CAMPAIGN, last.c.purpose == CAMPAIGN)
        .where(this.c.id == ballot_id, this.c.area_id.is_not_distinct_from(last.c.area_id))
    )
    return conn.execute(query).scalar_one_or_none() or 0


def between(before: ProvisionalRanking, after: ProvisionalRanking, voters: tuple[int, int] = (0, 0)) -> UploadEffect:
    """What changed from one provisional ranking of a ballot to another; `voters` are the new and the known ones.

    Where no item was ranked before, the new best item is told and no moves.
    """
    votes, top = after.votes - before.votes, after.top
    if not after.is_ranked:
        ranking = "later" if after.waits else "none"
        return UploadEffect(votes, *voters, ended=before.is_ranked, ranking=ranking)
    if not before.is_ranked:
        return UploadEffect(votes, *voters, first=after.pairs[after.best])
    moves = tuple(Move(after.pairs[item], *ranks) for item, *ranks in compare_tops(before.top, top))
    return UploadEffect(votes, *voters, moves)


def voters_heard(conn: sa.Connection, project_id: str, platform: str) -> set[str]:
    """The platform's own ids of the project's voters with an answer that isn't withdrawn."""
    answered = sa.exists().where(t.judgement.c.assignment_id == t.assignment.c.id, t.judgement.c.status != "withdrawn")
    query = (
        sa.select(t.voter.c.external_id)
        .join(t.assignment, t.assignment.c.voter_id == t.voter.c.id)
        .join(t.ballot, t.ballot.c.id == t.assignment.c.ballot_id)  # an index leads from ballots, none from voters
        .where(t.ballot.c.project_id == project_id, t.voter.c.platform == platform, answered)
        .distinct()
    )
    return {row[0] for row in fetch_rows(conn, query)}


def new_and_known(rows: pd.DataFrame, heard: set[str]) -> tuple[int, int]:
    """Of the voters whose votes a classified file counts: how many were not heard before, and how many were."""
    voters = set(rows.loc[rows["becomes"] == "counted", "voter"].unique())
    return len(voters - heard), len(voters & heard)
