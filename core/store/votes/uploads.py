"""The accepted uploads: their list, how one is withdrawn again, and what a withdrawal or deletion takes away.

What goes is said before it happens: when a project is deleted, an upload is withdrawn, or a voter takes consent back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from ...errors import StoreError
from ...votes.reasons import UploadEffect
from .. import schema as t
from ..ballots.ballot_rows import Ballot, every_ballot_of, sentence_start
from ..command import Change, command
from ..engine import Store, now
from ..projects.plans import ballot_named, belongs, is_comparison
from ..scores.provisional import between, new_and_known, provisional_ranking_of, voters_heard
from ..stored_files import read_blob
from .intake import preview_of, read_again
from .judgements import write_judgements
from .tallies import progress_of, write_tallies


@dataclass(frozen=True)
class Upload:
    """An accepted upload as pages see it."""

    id: int
    ballot: int
    platform: str
    filename: str
    n_rows: int
    counts: dict[str, int]
    accepted_at: str
    withdrawn_at: str | None
    effect: UploadEffect | None = None  # what accepting it changed; None for uploads of an earlier version
    withdrawal: UploadEffect | None = None  # what its withdrawal changed


@dataclass(frozen=True)
class Withdrawn:
    """What a withdrawal did: how many judgements it marked, and what that changed."""

    judgements: int
    effect: UploadEffect


def read_uploads(store: Store, project_id: str, area_id: int | None = None) -> list[Upload]:
    """Every accepted upload of a ranking, the newest first, withdrawn ones too."""
    with store.read() as conn:
        return uploads_of(conn, project_id, area_id)


def uploads_of(
    conn: sa.Connection, project_id: str, area_id: int | None = None, *, ballot_id: int | None = None
) -> list[Upload]:
    """Every accepted upload of a ranking's ballots (or of the one ballot or round), the newest first, withdrawn too."""
    query = (
        sa.select(
            t.upload.c.id,
            t.ballot.c.ordinal,
            t.upload.c.platform,
            t.upload.c.filename,
            t.upload.c.n_rows,
            t.upload.c.counts,
            t.upload.c.accepted_at,
            t.upload.c.withdrawn_at,
            t.upload.c.effect,
        )
        .join(t.ballot, t.ballot.c.id == t.upload.c.ballot_id)
        .where(t.ballot.c.project_id == project_id)
        .order_by(t.upload.c.id.desc())
    )
    mine = (
        (belongs(t.ballot.c.area_id, area_id), is_comparison()) if ballot_id is None else (t.ballot.c.id == ballot_id,)
    )
    query = query.where(*mine)
    return [Upload(*row[:-1], *_effects(row.effect)) for row in conn.execute(query)]


def kept_uploads(store: Store, ballot_id: int) -> list[tuple[str, bytes]]:
    """Name and bytes of the files whose answers count in a ballot or round, the oldest first.

    Raises `StoreError` where a kept copy can't be read.
    """
    u = t.upload.c
    with store.read() as conn:
        query = sa.select(u.filename, u.sha256).where(u.ballot_id == ballot_id, u.withdrawn_at.is_(None))
        rows = conn.execute(query.order_by(u.id)).all()
    return [(row.filename, read_blob(store, row.sha256, f"The kept copy of {row.filename}")) for row in rows]


def _effects(stored: dict | None) -> tuple[UploadEffect | None, UploadEffect | None]:
    """What accepting an upload changed, and what withdrawing it did."""
    kept = dict(stored or {})
    withdrawal = kept.pop("withdrawal", None)
    return UploadEffect.from_stored(kept), UploadEffect.from_stored(withdrawal)


def withdraw_upload(store: Store, project_id: str, upload_id: int) -> Withdrawn:
    """Take the votes of an upload out of the count; they stay in the store, marked.

    Raises `StoreError` once the upload's ballot is closed (reopen it first) or a later one is drawn.
    """
    with command(store, project_id, "withdraw upload") as change:
        conn = change.conn
        query = (
            sa.select(
                t.upload.c.ballot_id,
                t.upload.c.filename,
                t.upload.c.withdrawn_at,
                t.upload.c.effect,
                t.ballot.c.project_id,
            )
            .join(t.ballot, t.ballot.c.id == t.upload.c.ballot_id)
            .where(t.upload.c.id == upload_id)
        )
        row = conn.execute(query).one_or_none()
        if row is None or row.project_id != project_id:
            raise StoreError("There is no such upload in this project.")
        ballot = next(b for b in every_ballot_of(conn, project_id) if b.id == row.ballot_id)
        if row.withdrawn_at is not None:
            raise StoreError(f"{row.filename} is withdrawn already.")
        if not ballot.is_open:
            raise StoreError(
                f"{sentence_start(ballot.called)} is closed, so {row.filename} can't be withdrawn. Reopen it first."
            )
        before, standing = _n_withdrawn(conn, ballot.id), provisional_ranking_of(conn, ballot.id)
        conn.execute(sa.update(t.upload).where(t.upload.c.id == upload_id).values(withdrawn_at=now()))
        _replay(store, change, ballot)
        effect = between(standing, provisional_ranking_of(conn, ballot.id))
        kept = {**(row.effect or {}), "withdrawal": effect.stored()}
        conn.execute(sa.update(t.upload).where(t.upload.c.id == upload_id).values(effect=kept))
        withdrawn = _n_withdrawn(conn, ballot.id) - before
        change.detail = ballot_named(conn, project_id, ballot.area_id, ballot.number, ballot.purpose)
        change.detail |= {"file": row.filename, "judgements": withdrawn}
        return Withdrawn(withdrawn, effect)


def _n_withdrawn(conn: sa.Connection, ballot_id: int) -> int:
    query = (
        sa.select(sa.func.count())
        .select_from(t.judgement)
        .join(t.assignment, t.assignment.c.id == t.judgement.c.assignment_id)
        .where(t.assignment.c.ballot_id == ballot_id, t.judgement.c.status == "withdrawn")
    )
    return int(conn.execute(query).scalar_one())


def _replay(store: Store, change: Change, ballot: Ballot) -> None:
    """Read the uploads that still count once more, in their order, as if the withdrawn ones had never come.

    So a repeat whose first vote is gone counts, and what a withdrawn file had changed is as it was. The tallies
    follow, and each upload says anew what it changes.
    """
    conn = change.conn
    people = (
        sa.select(t.assignment.c.id)
        .join(t.voter, t.voter.c.id == t.assignment.c.voter_id)
        .where(t.assignment.c.ballot_id == ballot.id, t.voter.c.kind == "person")
        .where(t.assignment.c.upload_id.is_not(None))  # votes of the voting page came with no file
    )
    conn.execute(sa.update(t.judgement).where(t.judgement.c.assignment_id.in_(people)).values(status="withdrawn"))
    write_tallies(conn, ballot.id)
    left = sa.select(t.upload).where(t.upload.c.ballot_id == ballot.id, t.upload.c.withdrawn_at.is_(None))
    for upload in conn.execute(left.order_by(t.upload.c.id)).all():
        copy = f"The kept copy of {upload.filename}"
        data = read_blob(store, upload.sha256, copy, ", so nothing was withdrawn.")
        found = preview_of(conn, change.project_id, ballot, data, upload.filename, read_again(upload.mapping))
        before, heard = provisional_ranking_of(conn, ballot.id), voters_heard(conn, change.project_id, found.platform)
        write_judgements(change, ballot.id, upload.id, found.platform, found.preview)
        write_tallies(conn, ballot.id)
        effect = between(before, provisional_ranking_of(conn, ballot.id), new_and_known(found.preview.rows, heard))
        told = {"counts": found.counts, "effect": effect.stored()}
        conn.execute(sa.update(t.upload).where(t.upload.c.id == upload.id).values(told))


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
