"""Commands that take votes in: preview a result file, accept it, withdraw it again."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ..effects import Effect
from ..errors import Issue, StoreError
from ..former_spellings import as_spelled_now
from ..platforms import read_results
from ..tables import KNOWN
from ..votes import Preview, classify
from . import schema as t
from .ballots import Ballot, every_ballot_of, open_ballot_of
from .command import Change, command, fetch_rows, insert_one, insert_rows, next_id, update_rows
from .comparisons import comparisons_of
from .corrections import former_spellings_of
from .effects import between, new_and_known, standing_of, voters_heard
from .engine import Store, now
from .laid_aside import OWN_STATUS
from .plans import settings_for
from .rankings import ballot_named, rankings_of
from .tallies import write_tallies

VALUES = {"first": 1.0, "second": 0.0, "tie": 0.5}


@dataclass(frozen=True)
class UploadPreview:
    """What accepting a file would do; nothing is taken yet."""

    filename: str
    platform: str
    ballot: int
    n_rows: int
    preview: Preview
    issues: tuple[Issue, ...]
    accepted_before: str | None
    n_unreadable: int = 0  # rows without any answer that could be read; `issues` say why

    @property
    def counts(self) -> dict[str, int]:
        """Answers of each kind that occurs; changed ones that the store won't follow are `contradicts`."""
        rows = self.preview.rows
        kinds = rows["kind"].mask((rows["kind"] == "changed") & (rows["becomes"] == ""), "contradicts")
        counts = {str(kind): int(n) for kind, n in kinds.value_counts(sort=False).items()}
        if self.n_unreadable:
            counts["unreadable"] = counts.get("unreadable", 0) + self.n_unreadable
        return counts

    @property
    def takes_something(self) -> bool:
        return bool((self.preview.rows["becomes"] != "").any())


@dataclass(frozen=True)
class Accepted:
    """What an accepted upload changed."""

    upload_id: int
    counts: dict[str, int]
    effect: Effect

    @property
    def n_voters(self) -> int:
        """Voters whose votes it counts."""
        return self.effect.new_voters + self.effect.known_voters


def known_of(conn: sa.Connection, ballot_id: int, platform: str) -> pd.DataFrame:
    """The ballot's judgements from a platform (schema KNOWN): ids of another one may mean somebody else.

    Withdrawn judgements are left out, so that they may come again. Those of voters who are left out have the status
    that they would have without that.
    """
    query = (
        sa.select(
            t.assignment.c.external_id.label("assignment_id"),
            t.voter.c.external_id.label("voter"),
            t.judgement.c.question_id,
            t.judgement.c.answer,
            OWN_STATUS,
            sa.func.coalesce(t.assignment.c.submitted_at, "").label("submitted_at"),
        )
        .join(t.assignment, t.assignment.c.id == t.judgement.c.assignment_id)
        .join(t.voter, t.voter.c.id == t.assignment.c.voter_id)
        .where(t.assignment.c.ballot_id == ballot_id, t.judgement.c.status != "withdrawn")
        .where(t.judgement.c.source == "person", t.voter.c.platform == platform)
    )
    frame = pd.DataFrame(fetch_rows(conn, query), columns=list(KNOWN.columns))
    return KNOWN.check(frame.astype({c: "str" for c in KNOWN.columns if c != "question_id"} | {"question_id": "int64"}))


def preview_upload(
    store: Store, project_id: str, data: bytes, filename: str, area_id: int | None = None
) -> UploadPreview:
    """Read a result file and say row by row what accepting it for the ranking's open ballot would do.

    Raises `InputError` for a file that is no result file, `StoreError` if no ballot is open.
    """
    with store.read() as conn:
        ballot = open_ballot_of(conn, project_id, area_id)
        return preview_of(conn, project_id, ballot, data, filename)


def preview_of(conn: sa.Connection, project_id: str, ballot: Ballot, data: bytes, filename: str) -> UploadPreview:
    """What a file holds, against the store as `conn` sees it."""
    results = read_results(data, filename)
    comparisons = comparisons_of(conn, ballot.id, project_id)
    preview = classify(
        as_spelled_now(results.answers, comparisons, former_spellings_of(conn, project_id)),
        comparisons,
        known_of(conn, ballot.id, results.platform),
        ties_allowed=settings_for(conn, ballot.id).ties_allowed,
        shows_texts=results.shows_texts,
    )
    _name_other_ballots(conn, project_id, preview.rows)
    digest = hashlib.sha256(data).hexdigest()
    query = sa.select(t.upload.c.accepted_at).where(
        t.upload.c.ballot_id == ballot.id, t.upload.c.sha256 == digest, t.upload.c.withdrawn_at.is_(None)
    )
    before = conn.execute(query.limit(1)).scalar_one_or_none()
    return UploadPreview(
        safe_name(filename),
        results.platform,
        ballot.number,
        results.n_rows,
        preview,
        results.issues,
        before,
        results.n_unreadable,
    )


def _name_other_ballots(conn: sa.Connection, project_id: str, rows: pd.DataFrame) -> None:
    """Say of answers that belong to another ballot of the project which one it is."""
    other = rows["kind"] == "other_ballot"
    if not other.any():
        return
    ballots = {b.code: b for b in every_ballot_of(conn, project_id)}
    areas = {ranking.area_id: f" of the area {ranking.area}" for ranking in rankings_of(conn, project_id)}
    areas[None] = ""
    codes = rows.loc[other, "task_id"].str.rsplit("-", n=1).str[0]
    named = codes[codes.isin(list(ballots))]
    rows.loc[named.index, "reason"] = [
        f"of {ballots[code].called}{areas.get(ballots[code].area_id, '')}, which is {ballots[code].state}"
        for code in named
    ]


def safe_name(filename: str) -> str:
    """A file's own name without folders and control characters, at most 120 characters."""
    name = re.split(r"[/\\]", filename)[-1]
    return "".join(c for c in name if c.isprintable())[:120] or "results.csv"


def accept_upload(store: Store, project_id: str, data: bytes, filename: str, area_id: int | None = None) -> Accepted:
    """Take the votes of a result file for the ranking's open ballot, all of them or none; it is kept byte for byte.

    The file is read against the store as it is now, so that a second tab or a second press doubles nothing.
    Raises `StoreError` if there is nothing in it to take.
    """
    with command(store, project_id, "accept upload") as change:
        conn = change.conn
        ballot = open_ballot_of(conn, project_id, area_id)
        found = preview_of(conn, project_id, ballot, data, filename)
        if not found.takes_something:
            raise StoreError(f"{found.filename} holds no vote that isn't in the store already. Nothing was changed.")
        digest = keep_bytes(store, data)
        before, heard = standing_of(conn, ballot.id), voters_heard(conn, project_id, found.platform)
        upload_id = insert_one(
            conn,
            t.upload,
            ballot_id=ballot.id,
            platform=found.platform,
            filename=found.filename,
            sha256=digest,
            n_bytes=len(data),
            n_rows=found.n_rows,
            counts=found.counts,
            accepted_at=now(),
        )
        write_judgements(change, ballot.id, upload_id, found)
        write_tallies(conn, ballot.id)
        effect = between(before, standing_of(conn, ballot.id), new_and_known(found.preview.rows, heard))
        conn.execute(sa.update(t.upload).where(t.upload.c.id == upload_id).values(effect=effect.stored()))
        change.detail = ballot_named(conn, project_id, area_id, ballot.number)
        change.detail |= {"file": found.filename, "sha256": digest, "counts": found.counts}
    return Accepted(upload_id, found.counts, effect)


def keep_bytes(store: Store, data: bytes) -> str:
    """Write the file under its hash before its votes are in the store, so that a vote is never without its source."""
    digest = hashlib.sha256(data).hexdigest()
    target = store.uploads / digest
    part = store.incoming / f"{digest}.{os.getpid()}.part"
    try:
        if not target.exists():
            with open(part, "wb") as handle:
                handle.write(data)
                handle.flush()
                os.fsync(handle.fileno())
            part.replace(target)
    except OSError as error:
        raise StoreError(
            f"The file can't be kept in {store.uploads} ({error.strerror}). Nothing was changed."
        ) from error
    return digest


def write_judgements(change: Change, ballot_id: int, upload_id: int, found: UploadPreview) -> None:
    """Write the assignments and judgements of a preview.

    A judgement that is there already (withdrawn, or changed by this file) is brought up to date, never doubled.
    """
    conn, rows = change.conn, found.preview.rows
    taken = rows[rows["becomes"] != ""]
    others = found.preview.others
    named = pd.concat([taken["voter"], others["voter"]]).unique().tolist()
    voters = voter_ids(change, named, found.platform, "person")
    assignments, first_new = _write_assignments(conn, ballot_id, upload_id, taken, voters)
    questions = taken["question_id"].to_numpy(dtype=np.int64).tolist()
    answers, statuses = _texts(taken["answer"]), _texts(taken["becomes"])
    seconds = [None if time != time else time for time in taken["seconds"].tolist()]  # NaN differs from itself
    values = [VALUES.get(answer) for answer in answers]
    there = _judged(conn, ballot_id) if min(assignments, default=first_new) < first_new else frozenset()
    new: list[tuple] = []
    again: list[tuple] = []
    for assignment, question, *told in zip(assignments, questions, answers, values, seconds, statuses, strict=True):
        if (assignment, question) in there:
            again.append((*told, "person", assignment, question))
        else:
            new.append((assignment, question, *told, "person"))
    fields = ["answer", "value", "seconds", "status", "source"]
    insert_rows(conn, t.judgement, ["assignment_id", "question_id", *fields], new)
    update_rows(conn, t.judgement, fields, ["assignment_id", "question_id"], again)
    if len(others):
        _write_others(conn, ballot_id, others, voters)


def _texts(column: pd.Series) -> list[str]:
    """A column of texts as a list; pandas hands its own strings out one by one, which takes ten times as long."""
    return column.to_numpy(dtype=object).tolist()


def _judged(conn: sa.Connection, ballot_id: int) -> frozenset[tuple[int, int]]:
    """Assignment and question of each judgement of a ballot."""
    query = (
        sa.select(t.judgement.c.assignment_id, t.judgement.c.question_id)
        .join(t.assignment, t.assignment.c.id == t.judgement.c.assignment_id)
        .where(t.assignment.c.ballot_id == ballot_id)
    )
    return frozenset(fetch_rows(conn, query))


def _write_assignments(
    conn: sa.Connection, ballot_id: int, upload_id: int, taken: pd.DataFrame, voters: dict[str, int]
) -> tuple[list[int], int]:
    """The id of each row's assignment, and from which id on they are new.

    New assignments are inserted, known ones (by voter and external id) brought up to date.
    """
    tasks = dict(fetch_rows(conn, sa.select(t.task.c.code, t.task.c.id).where(t.task.c.ballot_id == ballot_id)))
    columns = (t.assignment.c.voter_id, t.assignment.c.external_id, t.assignment.c.id)
    query = sa.select(*columns).where(t.assignment.c.ballot_id == ballot_id)
    known = {(voter, external): id_ for voter, external, id_ in fetch_rows(conn, query)}
    free = first_new = next_id(conn, t.assignment)
    of_row = taken.groupby(["voter", "assignment_id"], sort=False).ngroup().to_numpy()
    told = taken.iloc[np.unique(of_row, return_index=True)[1]]
    ids: list[int] = []
    new: list[tuple] = []
    again: list[tuple] = []
    columns_told = (_texts(told[name]) for name in ("voter", "assignment_id", "task_id", "status", "submitted_at"))
    for voter, external, code, status, submitted in zip(*columns_told, strict=True):
        id_ = known.get((voters[voter], external))
        if id_ is None:
            id_, free = free, free + 1
            new.append((id_, ballot_id, voters[voter], upload_id, tasks.get(code), external, status, submitted or None))
        else:
            again.append((status, submitted or None, upload_id, id_))
        ids.append(id_)
    names = ["id", "ballot_id", "voter_id", "upload_id", "task_id", "external_id", "status", "submitted_at"]
    insert_rows(conn, t.assignment, names, new)
    update_rows(conn, t.assignment, ["status", "submitted_at", "upload_id"], ["id"], again)
    return np.array(ids, dtype=np.int64)[of_row].tolist(), first_new


def _write_others(conn: sa.Connection, ballot_id: int, others: pd.DataFrame, voters: dict[str, int]) -> None:
    """Bring judgements up to date that change with a file without being in it: first votes and repeats."""
    columns = (t.assignment.c.voter_id, t.assignment.c.external_id, t.assignment.c.id)
    query = sa.select(*columns).where(t.assignment.c.ballot_id == ballot_id)
    ids = {(voter, external): id_ for voter, external, id_ in fetch_rows(conn, query)}
    told = zip(*(others[name].tolist() for name in ("voter", "assignment_id", "question_id", "becomes")), strict=True)
    rows = [(becomes, ids[voters[voter], external], question) for voter, external, question, becomes in told]
    update_rows(conn, t.judgement, ["status"], ["assignment_id", "question_id"], rows)


def voter_ids(change: Change, names: list[str], platform: str, kind: str) -> dict[str, int]:
    """The ids of the project's voters of these names, new ones made."""
    query = sa.select(t.voter.c.external_id, t.voter.c.id).where(
        t.voter.c.project_id == change.project_id, t.voter.c.platform == platform
    )
    ids = dict(change.conn.execute(query).fetchall())
    new = [name for name in names if name not in ids]
    start = next_id(change.conn, t.voter)
    rows = [(start + i, change.project_id, platform, name, kind) for i, name in enumerate(new)]
    insert_rows(change.conn, t.voter, ["id", "project_id", "platform", "external_id", "kind"], rows)
    ids |= {row[3]: row[0] for row in rows}
    return {name: ids[name] for name in names}
