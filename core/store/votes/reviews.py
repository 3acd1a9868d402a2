"""The owner's decisions on assignments, which go before what files and voters say: which answers count by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import sqlalchemy as sa

from .. import schema as t
from ..command import fetch_rows, update_rows

_LATE = "\uffff"
# The statuses that a decision may change. Of voters who are left out it is kept what their answers would be.
_MOVABLE = ("counted", "unknown", "rejected", "repeat", "excluded")


def apply_reviews(conn: sa.Connection, ballot_id: int, changed: Sequence[int] = ()) -> tuple[int, int]:
    """Bring the judgements of an open ballot in line with the decisions: how many count no more, how many count again.

    Of a voter's votes on a comparison, in assignments that aren't rejected, one counts: the earliest submitted, or as
    the project's policy has it. Withdrawn judgements stay so, and so do planned repeats and the votes of voters set
    aside by the voting page. `changed` are assignments whose decision was just changed, perhaps taken back.
    `write_tallies` calls this, so that decisions outlive whatever writes judgements.
    """
    a, b = t.assignment.c, t.ballot.c
    is_open = conn.execute(sa.select(b.state == "open").where(b.id == ballot_id)).scalar_one_or_none()
    is_decided = fetch_rows(conn, sa.select(a.id).where(a.ballot_id == ballot_id, a.review.is_not(None)))
    decided = {row[0] for row in is_decided} | set(changed)
    if not decided or not is_open:
        return 0, 0
    rows = _judgements(conn, ballot_id)
    keys = pd.MultiIndex.from_frame(rows[["voter", "question"]])
    rows = rows[keys.isin(keys[rows["assignment"].isin(decided)])]
    query = sa.select(t.project.c.policy).join(t.ballot, b.project_id == t.project.c.id).where(b.id == ballot_id)
    policy = conn.execute(query).scalar_one_or_none() or {}
    after = _standing(rows, policy, *_kept_aside(conn, ballot_id))
    is_left_out = (rows["status"] == "excluded") & after.isin(["counted", "unknown"])
    after = after.mask(is_left_out, "excluded")
    moved = rows.assign(after=after)[after != rows["status"]]
    values = list(zip(moved["after"].tolist(), moved["id"].tolist(), strict=True))
    update_rows(conn, t.judgement, ["status"], ["id"], values)
    return int((moved["status"] == "counted").sum()), int((moved["after"] == "counted").sum())


def _judgements(conn: sa.Connection, ballot_id: int) -> pd.DataFrame:
    """The answers of people in a ballot, with what decides on them."""
    a, j, v = t.assignment.c, t.judgement.c, t.voter.c
    columns = {
        "id": j.id,
        "question": j.question_id,
        "answer": j.answer,
        "status": j.status,
        "assignment": a.id,
        "voter": a.voter_id,
        "external": a.external_id,
        "told": a.status,
        "review": a.review,
        "time": sa.func.coalesce(a.submitted_at, _LATE),
    }
    query = (
        sa.select(*columns.values())
        .select_from(t.judgement)
        .join(t.assignment, a.id == j.assignment_id)
        .join(t.voter, v.id == a.voter_id)
        .where(a.ballot_id == ballot_id, v.kind == "person", j.status.in_(_MOVABLE))
    )
    return pd.DataFrame(fetch_rows(conn, query), columns=list(columns))


def _standing(rows: pd.DataFrame, policy: Mapping[str, Any], aside: set[int], repeats: set[int]) -> pd.Series:
    """The status of each judgement by the decisions and the policy for rejected answers and repeats."""
    by_platform = (rows["told"] == "rejected") & (rows["review"] != "approve")
    is_rejected = (rows["review"] == "reject") | by_platform
    is_rejected = (is_rejected & (policy.get("rejected") != "count")) | rows["voter"].isin(aside)
    voting = rows[~is_rejected & (rows["answer"] != "unknown") & ~rows["assignment"].isin(repeats)]
    keys = ["voter", "question"]
    if policy.get("repeats") == "none":
        first = voting.drop_duplicates(keys, keep=False).index
    elif policy.get("repeats") == "latest":
        known = voting.assign(time=voting["time"].replace(_LATE, ""))
        first = known.sort_values(["time", "external"]).drop_duplicates(keys, keep="last").index
    else:
        first = voting.sort_values(["time", "external"]).drop_duplicates(keys).index
    after = pd.Series("repeat", index=rows.index, dtype="str")
    after[first] = "counted"
    after[(rows["answer"] == "unknown") & ~rows["assignment"].isin(repeats)] = "unknown"
    after[is_rejected] = "rejected"
    return after


def _kept_aside(conn: sa.Connection, ballot_id: int) -> tuple[set[int], set[int]]:
    """Voters whose votes the voting page keeps and doesn't count, and the assignments of its planned repeats."""
    s, d = t.sitting.c, t.deal.c
    here = t.voting.c.ballot_id == ballot_id
    query = sa.select(s.voter_id).join(t.voting, t.voting.c.id == s.voting_id).where(here, s.counts.is_(False))
    repeats = (
        sa.select(d.assignment_id)
        .join(t.sitting, s.id == d.sitting_id)
        .join(t.voting, t.voting.c.id == s.voting_id)
        .where(here, d.kind == "repeat", d.assignment_id.is_not(None))
    )
    return {row[0] for row in fetch_rows(conn, query)}, {row[0] for row in fetch_rows(conn, repeats)}
