"""What goes when a project is deleted, an upload is withdrawn, or a voter takes consent back: to be said before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from .. import schema as t
from ..ballots.ballot_rows import every_ballot_of
from ..engine import Store
from .tallies import progress_of


@dataclass(frozen=True)
class AtStake:
    """Votes that count, or answers in rounds of other kinds, of how many voters; `last` is when the last came."""

    votes: int
    voters: int
    last: str | None


def of_project(store: Store, project_id: str) -> AtStake:
    """What goes with a project. Votes are added up from the ballots' tallies; only assignments are read."""
    a, b = t.assignment.c, t.ballot.c
    told = sa.func.coalesce(a.submitted_at, t.upload.c.accepted_at)
    query = (
        sa.select(sa.func.count(a.voter_id.distinct()), sa.func.max(told))
        .join(t.ballot, b.id == a.ballot_id)
        .outerjoin(t.upload, t.upload.c.id == a.upload_id)
        .where(b.project_id == project_id)
    )
    with store.read() as conn:
        votes = sum(progress_of(conn, ballot.id).votes for ballot in every_ballot_of(conn, project_id))
        voters, last = conn.execute(query).one()
        return AtStake(votes, voters, _later(last, _on_pages(conn, b.project_id == project_id)))


def of_upload(store: Store, project_id: str, upload_id: int) -> AtStake:
    """What goes with an upload: its new votes as they were counted when it was taken."""
    a, u = t.assignment.c, t.upload.c
    query = sa.select(sa.func.count(a.voter_id.distinct()), sa.func.max(a.submitted_at)).where(a.upload_id == upload_id)
    of_it = sa.select(u.counts, u.accepted_at).join(t.ballot, t.ballot.c.id == u.ballot_id)
    with store.read() as conn:
        row = conn.execute(of_it.where(u.id == upload_id, t.ballot.c.project_id == project_id)).one_or_none()
        if row is None:
            return AtStake(0, 0, None)
        voters, last = conn.execute(query).one()
        return AtStake(int(row.counts.get("new", 0)), voters, last or row.accepted_at)


def of_sessions(store: Store, project_id: str, session_ids: Sequence[int]) -> AtStake:
    """What goes with voters of a voting page, in the ballot or round that the page is of."""
    d, j = t.deal.c, t.judgement.c
    here = (t.sitting.c.id.in_(session_ids), t.ballot.c.project_id == project_id)
    query = (
        sa.select(sa.func.count(), sa.func.count(t.sitting.c.id.distinct()))
        .select_from(t.deal)
        .join(t.judgement, sa.and_(j.assignment_id == d.assignment_id, j.question_id == d.question_id))
        .join(t.question, t.question.c.id == j.question_id)
        .join(t.sitting, t.sitting.c.id == d.sitting_id)
        .join(t.voting, t.voting.c.id == t.sitting.c.voting_id)
        .join(t.ballot, t.ballot.c.id == t.voting.c.ballot_id)
        .where(*here, j.status == "counted", t.question.c.role == "main")
    )
    with store.read() as conn:
        votes, voters = conn.execute(query).one()
        return AtStake(votes, voters, _on_pages(conn, *here))


def _on_pages(conn: sa.Connection, *where: sa.ColumnElement[bool]) -> str | None:
    """When the last answer was given on voting pages: an assignment there keeps the time of its first one."""
    d, s = t.deal.c, t.sitting.c
    query: sa.Select[Any] = (
        sa.select(sa.func.max(d.answered_at))
        .join(t.sitting, s.id == d.sitting_id)
        .join(t.voting, t.voting.c.id == s.voting_id)
        .join(t.ballot, t.ballot.c.id == t.voting.c.ballot_id)
        .where(
            d.task >= s.n_tasks - 1, *where
        )  # whoever was given a task and hasn't begun it answered in the one before
    )
    return conn.execute(query).scalar_one()


def _later(one: str | None, other: str | None) -> str | None:
    return max(filter(None, (one, other)), default=None)
