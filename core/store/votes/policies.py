"""What counts of rejected answers and of repeats: a project's choice, and the count made anew when it changes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...votes.counting import elected
from ...votes.policy import Policy
from .. import schema as t
from ..ballots.ballots import every_ballot_of
from ..command import command, fetch_rows, update_rows
from ..engine import Store
from .tallies import write_tallies


def policy_of(conn: sa.Connection, project_id: str) -> Policy:
    """The policy of a project; the default where none was chosen."""
    query = sa.select(t.project.c.policy).where(t.project.c.id == project_id)
    return Policy.of(conn.execute(query).scalar_one_or_none())


def read_policy(store: Store, project_id: str) -> Policy:
    """The policy of a project; the default where none was chosen."""
    with store.read() as conn:
        return policy_of(conn, project_id)


def set_policy(store: Store, project_id: str, policy: Policy, *, expected_revision: int | None = None) -> int:
    """Choose what counts, and count the answers of all open ballots anew; how many of them changed.

    The answers themselves stay as they are, so that the former policy gives the former count again. Ballots that are
    closed keep what they were closed with, and follow the policy once they are reopened.
    """
    with command(store, project_id, "set policy", expected_revision=expected_revision) as change:
        before = policy_of(change.conn, project_id)
        stored = {**(change.project.policy or {}), **policy.stored()}
        row = sa.update(t.project).where(t.project.c.id == project_id)
        change.conn.execute(row.values(policy=stored))
        n = 0
        for ballot in every_ballot_of(change.conn, project_id):
            if ballot.is_open:
                n += recount(change.conn, project_id, ballot.id)
        change.detail = {**policy.stored(), "before": before.stored(), "answers that changed": n}
    return n


def recount(conn: sa.Connection, project_id: str, ballot_id: int) -> int:
    """Decide anew by the policy which answers of a ballot's files count, and bring its tallies in line.

    It follows from the answers alone, in whatever order they came: made twice, it changes nothing the second time.
    Withdrawn answers and those of the voting page stay as they are. Returns how many changed.
    """
    policy = policy_of(conn, project_id)
    found = _answers_of(conn, ballot_id)
    if found.empty:
        return 0
    is_rejected = (found["decision"] == "rejected") & (not policy.counts_rejected)
    becomes = pd.Series(np.where(is_rejected, "rejected", "unknown"), found.index, dtype="str")
    voting = found[~is_rejected & (found["answer"] != "unknown")]
    first = elected(voting, policy).set_axis(voting.index)
    becomes.loc[voting.index] = np.where(first == voting["assignment_id"], "counted", "repeat")
    becomes = becomes.mask(found["is_left_out"].astype(bool) & becomes.isin(["counted", "unknown"]), "excluded")
    changed = becomes != found["status"]
    rows = list(zip(becomes[changed].tolist(), found.loc[changed, "id"].tolist(), strict=True))
    update_rows(conn, t.judgement, ["status"], ["id"], rows)
    if rows:
        write_tallies(conn, ballot_id)
    return len(rows)


def _answers_of(conn: sa.Connection, ballot_id: int) -> pd.DataFrame:
    """The answers that came in files: id, assignment, voter (by number, as platforms share names), question, …"""
    j, a = t.judgement.c, t.assignment.c
    left_out = sa.exists().where(t.exclusion.c.voter_id == a.voter_id, t.exclusion.c.undone_at.is_(None))
    columns = {
        "id": j.id,
        "assignment_id": a.external_id,
        "voter": a.voter_id,
        "question_id": j.question_id,
        "answer": j.answer,
        "status": j.status,
        "submitted_at": sa.func.coalesce(a.submitted_at, ""),
        # The owner's own decision goes before what files say.
        "decision": sa.case((a.review == "reject", "rejected"), (a.review == "approve", "approved"), else_=a.status),
        "is_left_out": left_out,
    }
    query = (
        sa.select(*columns.values())
        .select_from(t.judgement)
        .join(t.assignment, a.id == j.assignment_id)
        .where(a.ballot_id == ballot_id, a.upload_id.is_not(None), j.status != "withdrawn")
    )
    frame = pd.DataFrame(fetch_rows(conn, query), columns=list(columns))
    texts = ("assignment_id", "answer", "status", "submitted_at", "decision")
    return frame.astype(dict.fromkeys(texts, "str"))
