"""How many voters some ballots have: the one look-up behind every count of voters."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from ...base.voter_count import VoterCount
from .. import schema as t
from ..ballots.ballots import ballots_of, pilot_of
from ..command import fetch_rows
from ..projects.rankings import rankings_of
from .laid_aside import excluded_ids


def count_voters(conn: sa.Connection, project_id: str, ballot_ids: Sequence[int]) -> VoterCount:
    """The voters of a project with a vote that counts in some ballots; the votes themselves aren't read."""
    voted = (
        sa.select(t.judgement.c.id)
        .join(t.assignment, t.assignment.c.id == t.judgement.c.assignment_id)
        .join(t.question, t.question.c.id == t.judgement.c.question_id)
        .where(t.assignment.c.ballot_id.in_(ballot_ids), t.assignment.c.voter_id == t.voter.c.id)
        .where(t.judgement.c.status == "counted", t.question.c.role == "main")
        .exists()
    )
    query = (
        sa.select(t.voter.c.kind, sa.func.count())
        .where(t.voter.c.project_id == project_id, voted)
        .group_by(t.voter.c.kind)
    )
    found = dict(fetch_rows(conn, query))
    out = len(excluded_ids(conn, project_id))
    return VoterCount(found.get("person", 0), found.get("simulated", 0), out)


def scored_ballots(conn: sa.Connection, project_id: str, area_id: int | None = None) -> list[int]:
    """The ballots whose votes are in the scores: of each ranking, or of one, the closed ones, else the open one."""
    found: list[int] = []
    for ranking in rankings_of(conn, project_id):
        if area_id is None or ranking.area_id == area_id:
            ballots = ballots_of(conn, project_id, ranking.area_id)
            found += [ballot.id for ballot in [b for b in ballots if not b.is_open] or ballots]
    return found


def voted_ballots(conn: sa.Connection, project_id: str) -> list[int]:
    """All the ballots of a project's rankings, the open ones too; of a ranking without any, its pilot."""
    found: list[int] = []
    for ranking in rankings_of(conn, project_id):
        pilot = pilot_of(conn, project_id, ranking.area_id)
        found += [b.id for b in ballots_of(conn, project_id, ranking.area_id) or ([pilot] if pilot else [])]
    return found
