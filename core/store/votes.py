"""Commands that take votes in: preview a result file, accept it, withdraw it again."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ..errors import Issue, StoreError
from ..platforms import read_results
from ..tables import KNOWN
from ..votes import Preview, classify
from . import schema as t
from .ballots import Ballot, comparisons_of, open_ballot_of
from .command import Change, command, fetch_rows, insert_one, insert_rows, next_id
from .engine import Store, now
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

    @property
    def counts(self) -> dict[str, int]:
        """Answers of each kind that occurs."""
        return {kind: n for kind, n in self.preview.counts().items() if n}

    @property
    def takes_something(self) -> bool:
        return bool((self.preview.rows["becomes"] != "").any())


@dataclass(frozen=True)
class Accepted:
    """What an accepted upload changed."""

    upload_id: int
    counts: dict[str, int]
    n_voters: int


def known_of(conn: sa.Connection, ballot_id: int, platform: str) -> pd.DataFrame:
    """The ballot's judgements from a platform (schema KNOWN): ids of another one may mean somebody else.

    Withdrawn judgements are left out, so that they may come again.
    """
    query = (
        sa.select(
            t.assignment.c.external_id.label("assignment_id"),
            t.voter.c.external_id.label("voter"),
            t.judgement.c.question_id,
            t.judgement.c.answer,
            t.judgement.c.status,
        )
        .join(t.assignment, t.assignment.c.id == t.judgement.c.assignment_id)
        .join(t.voter, t.voter.c.id == t.assignment.c.voter_id)
        .where(t.assignment.c.ballot_id == ballot_id, t.judgement.c.status != "withdrawn")
        .where(t.judgement.c.source == "person", t.voter.c.platform == platform)
    )
    frame = pd.DataFrame(fetch_rows(conn, query), columns=list(KNOWN.columns))
    return KNOWN.check(frame.astype({c: "str" for c in KNOWN.columns if c != "question_id"} | {"question_id": "int64"}))


def preview_upload(store: Store, project_id: str, data: bytes, filename: str) -> UploadPreview:
    """Read a result file and say row by row what accepting it would do.

    Raises `InputError` for a file that is no result file, `StoreError` if no ballot is open.
    """
    with store.read() as conn:
        ballot = open_ballot_of(conn, project_id)
        return preview_of(conn, project_id, ballot, data, filename)


def preview_of(conn: sa.Connection, project_id: str, ballot: Ballot, data: bytes, filename: str) -> UploadPreview:
    """What a file holds, against the store as `conn` sees it."""
    results = read_results(data, filename)
    preview = classify(
        results.answers, comparisons_of(conn, ballot.id, project_id), known_of(conn, ballot.id, results.platform)
    )
    digest = hashlib.sha256(data).hexdigest()
    query = sa.select(t.upload.c.accepted_at).where(
        t.upload.c.ballot_id == ballot.id, t.upload.c.sha256 == digest, t.upload.c.withdrawn_at.is_(None)
    )
    before = conn.execute(query.limit(1)).scalar_one_or_none()
    return UploadPreview(
        safe_name(filename), results.platform, ballot.number, results.n_rows, preview, results.issues, before
    )


def safe_name(filename: str) -> str:
    """A file's own name without folders and control characters, at most 120 characters."""
    name = re.split(r"[/\\]", filename)[-1]
    return "".join(c for c in name if c.isprintable())[:120] or "results.csv"


def accept_upload(store: Store, project_id: str, data: bytes, filename: str) -> Accepted:
    """Take the votes of a result file, all of them or none; the file is kept byte for byte.

    The file is read against the store as it is now, so that a second tab or a second press doubles nothing.
    Raises `StoreError` if there is nothing in it to take.
    """
    digest = _keep_bytes(store, data)
    with command(store, project_id, "accept upload") as change:
        conn = change.conn
        ballot = open_ballot_of(conn, project_id)
        found = preview_of(conn, project_id, ballot, data, filename)
        if not found.takes_something:
            raise StoreError(f"{found.filename} holds no vote that isn't in the store already. Nothing was changed.")
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
        n_voters = write_judgements(change, ballot.id, upload_id, found)
        write_tallies(conn, ballot.id)
        change.detail = {"ballot": ballot.number, "file": found.filename, "sha256": digest, "counts": found.counts}
    return Accepted(upload_id, found.counts, n_voters)


def _keep_bytes(store: Store, data: bytes) -> str:
    """Write the file under its hash before the votes are taken, so that a vote is never without its source."""
    digest = hashlib.sha256(data).hexdigest()
    target = store.uploads / digest
    if not target.exists():
        part = store.incoming / f"{digest}.{os.getpid()}.part"
        with open(part, "wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        part.replace(target)
    return digest


def write_judgements(change: Change, ballot_id: int, upload_id: int, found: UploadPreview) -> int:
    """Insert the assignments and judgements of a preview; returns the number of its voters."""
    conn, rows = change.conn, found.preview.rows
    taken = rows[rows["becomes"] != ""]
    voters = voter_ids(change, taken["voter"].unique().tolist(), found.platform, "person")
    tasks = dict(conn.execute(sa.select(t.task.c.code, t.task.c.id).where(t.task.c.ballot_id == ballot_id)).fetchall())
    there = {
        (voter, external): id_
        for id_, voter, external in conn.execute(
            sa.select(t.assignment.c.id, t.assignment.c.voter_id, t.assignment.c.external_id).where(
                t.assignment.c.ballot_id == ballot_id
            )
        )
    }
    assignments: dict[tuple[int, str], int] = {}
    new_rows, judgements = [], []
    free = next_id(conn, t.assignment)
    columns = [
        "voter",
        "assignment_id",
        "task_id",
        "status",
        "submitted_at",
        "question_id",
        "answer",
        "seconds",
        "becomes",
    ]
    for voter, external, code, status, submitted, question, answer, seconds, becomes in taken[columns].itertuples(
        index=False
    ):
        key = (voters[voter], external)
        if key not in assignments:
            assignments[key] = there.get(key, free)
            if assignments[key] == free:
                new_rows.append(
                    (free, ballot_id, key[0], upload_id, tasks.get(code), external, status, submitted or None)
                )
                free += 1
        seconds = None if np.isnan(seconds) else float(seconds)
        judgements.append((assignments[key], int(question), answer, VALUES.get(answer), seconds, becomes, "person"))
    fields = ["id", "ballot_id", "voter_id", "upload_id", "task_id", "external_id", "status", "submitted_at"]
    insert_rows(conn, t.assignment, fields, new_rows)
    revived = [assignment for key, assignment in assignments.items() if key in there]
    if revived:
        update = sa.update(t.assignment).where(t.assignment.c.id == sa.bindparam("of")).values(upload_id=upload_id)
        conn.execute(update, [{"of": assignment} for assignment in revived])
        remove = sa.delete(t.judgement).where(
            t.judgement.c.assignment_id == sa.bindparam("of"), t.judgement.c.question_id == sa.bindparam("about")
        )
        again = set(revived)
        conn.execute(remove, [{"of": row[0], "about": row[1]} for row in judgements if row[0] in again])
    fields = ["assignment_id", "question_id", "answer", "value", "seconds", "status", "source"]
    insert_rows(conn, t.judgement, fields, judgements)
    return len(voters)


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
