"""Votes read for checks of their quality: sides as shown, answers to the same comparisons, answers to checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...ballots.checks import KINDS
from .. import schema as t
from ..command import fetch_rows


def counted_votes(conn: sa.Connection, ballot_ids: Sequence[int]) -> pd.DataFrame:
    """The counted votes of some ballots' comparisons, in a fixed order.

    Columns: question_id; voter, the platform's own id (with the platform where two voters share one); value, 1 where
    the first item won, 0 the second, .5 a tie; left, 1 where the left side was chosen, 0 the right, NaN for a tie or
    where the task that was shown isn't known.
    """
    showing = (t.task_question.c.task_id == t.assignment.c.task_id) & (
        t.task_question.c.question_id == t.judgement.c.question_id
    )
    # The voting page gives voters comparisons, not tasks, and shows them either way round.
    dealt = sa.and_(t.deal.c.assignment_id == t.assignment.c.id, t.deal.c.question_id == t.judgement.c.question_id)
    flipped_here = sa.func.coalesce(t.deal.c.flipped, t.task_question.c.flipped)
    query = (
        sa.select(t.judgement.c.question_id, t.assignment.c.voter_id, t.judgement.c.value, flipped_here)
        .join(t.assignment, t.assignment.c.id == t.judgement.c.assignment_id)
        .join(t.question, t.question.c.id == t.judgement.c.question_id)
        .outerjoin(t.task_question, showing)
        .outerjoin(t.deal, dealt)
        .where(t.assignment.c.ballot_id.in_(list(ballot_ids)))
        .where(t.judgement.c.status == "counted", t.question.c.role == "main")
        .order_by(t.judgement.c.question_id, t.judgement.c.id)
    )
    rows = np.array(fetch_rows(conn, query), dtype=float).reshape(-1, 4)
    value, flipped = rows[:, 2], rows[:, 3]
    left = np.where(flipped == 1, 1 - value, value)
    left[(value == 0.5) | np.isnan(flipped)] = np.nan
    names = _voter_names(conn, np.unique(rows[:, 1]).astype(int).tolist())
    codes, places = np.unique(rows[:, 1].astype(int), return_inverse=True)
    voter = np.array([names[code] for code in codes.tolist()], dtype=object)[places]
    return pd.DataFrame(
        {
            "question_id": rows[:, 0].astype("int64"),
            "voter": pd.Series(voter, dtype="str"),
            "value": value,
            "left": left,
        }
    )


def voted_pairs(conn: sa.Connection, ballot_ids: Sequence[int]) -> np.ndarray:
    """The positions of the first and the second item of every comparison of some ballots that has a vote, (n, 2).

    By the tallies, in the order of the questions.
    """
    option, q = t.question_option.c, t.question.c
    query = (
        sa.select(t.item.c.position)
        .select_from(t.question)
        .join(t.question_option, option.question_id == q.id)
        .join(t.item, t.item.c.id == option.item_id)
        .where(q.ballot_id.in_(list(ballot_ids)), q.role == "main", q.n_votes > 0)
        .order_by(q.id, option.position)
    )
    return np.array(fetch_rows(conn, query), dtype=np.int64).reshape(-1, 2)


def _voter_names(conn: sa.Connection, ids: list[int]) -> dict[int, str]:
    """Voters by their ids on the platform; those that two platforms share get the platform's name too."""
    wanted = set(ids)
    query = sa.select(t.voter.c.id, t.voter.c.platform, t.voter.c.external_id)
    rows = [row for row in fetch_rows(conn, query) if row[0] in wanted]
    doubled = pd.Series([row[2] for row in rows], dtype="str").duplicated(keep=False)
    return {
        id_: f"{name} ({platform})" if twice else name
        for (id_, platform, name), twice in zip(rows, doubled, strict=True)
    }


@dataclass(frozen=True)
class CheckAnswers:
    """How checks were answered in some ballots; a row each, withdrawn answers and “I don't know” left out.

    gold : voter_id, question_id, right. repeats : voter_id, question_id (of the comparison that counts), same: whether
    a further answer of the voter to the same comparison was the first one's. overlap : question_id (as there),
    voter_id, value (1, 0, .5), counted: the answers to comparisons that at least two voters answered, one per voter.
    """

    gold: pd.DataFrame
    repeats: pd.DataFrame
    overlap: pd.DataFrame


def check_answers(conn: sa.Connection, ballot_ids: Sequence[int]) -> CheckAnswers:
    """The answers to checks of some ballots, of voters whose votes don't count too; reads all their votes.

    Repeats are those that were planned, in a task or on the voting page, and answers to a comparison that came to
    the voter a second time by chance.
    """
    j, q, c = t.judgement.c, t.question.c, t.check_question.c
    query = (
        sa.select(
            sa.func.coalesce(c.of_id, q.id),
            t.assignment.c.voter_id,
            j.value,
            sa.case((j.status == "counted", 1), else_=0),
        )
        .select_from(t.judgement)
        .join(t.assignment, t.assignment.c.id == j.assignment_id)
        .join(t.question, q.id == j.question_id)
        .outerjoin(t.check_question, c.question_id == q.id)
        .where(t.assignment.c.ballot_id.in_(list(ballot_ids)), j.status != "withdrawn", j.value.is_not(None))
        .where(sa.or_(q.role == "main", c.of_id.is_not(None)))
        .order_by(sa.case((q.role == "main", 0), else_=1), sa.case((j.status == "repeat", 1), else_=0), j.id)
    )
    rows = np.array(fetch_rows(conn, query), dtype=float).reshape(-1, 4)
    kinds = {"question_id": "int64", "voter_id": "int64", "value": "float64", "counted": "bool"}
    frame = pd.DataFrame(rows, columns=list(kinds)).astype(kinds)
    keys = ["question_id", "voter_id"]
    again = frame.duplicated(keys)
    first = frame[~again]
    repeats = frame[again].merge(first[[*keys, "value"]], on=keys, suffixes=("", "_first"))
    repeats = repeats.assign(same=repeats["value"] == repeats["value_first"])[["voter_id", "question_id", "same"]]
    shared = first[first.duplicated("question_id", keep=False)].sort_values(keys, ignore_index=True)
    return CheckAnswers(_gold_answers(conn, ballot_ids), repeats, shared)


def _gold_answers(conn: sa.Connection, ballot_ids: Sequence[int]) -> pd.DataFrame:
    j = t.judgement.c
    query = (
        sa.select(t.assignment.c.voter_id, j.question_id, sa.case((j.answer == t.gold.c.answer, 1), else_=0))
        .join(t.assignment, t.assignment.c.id == j.assignment_id)
        .join(t.gold, t.gold.c.question_id == j.question_id)
        .where(t.assignment.c.ballot_id.in_(list(ballot_ids)), j.status != "withdrawn", j.answer != "unknown")
        .order_by(j.id)
    )
    rows = np.array(fetch_rows(conn, query), dtype="int64").reshape(-1, 3)
    return pd.DataFrame(rows, columns=["voter_id", "question_id", "right"]).astype({"right": "bool"})


def check_progress(conn: sa.Connection, ballot_id: int) -> pd.DataFrame:
    """The checks of a ballot by kind: columns kind, checks (answers asked for in its tasks), answers (that came).

    Gold chosen for the voting page alone is asked for as often as voters come, so only its answers are counted.
    """
    q, c = t.question.c, t.check_question.c
    kind = sa.func.coalesce(c.kind, sa.literal_column("'gold'"))
    of = sa.and_(q.ballot_id == ballot_id, q.role == "check")
    asked: sa.Select = (
        sa.select(kind, sa.func.count(t.task_question.c.task_id))
        .select_from(t.question)
        .outerjoin(t.check_question, c.question_id == q.id)
        .outerjoin(t.task_question, t.task_question.c.question_id == q.id)
        .where(of)
        .group_by(kind)
    )
    came: sa.Select = (
        sa.select(kind, sa.func.count())
        .select_from(t.judgement)
        .join(t.question, q.id == t.judgement.c.question_id)
        .outerjoin(t.check_question, c.question_id == q.id)
        .where(of, t.judgement.c.status != "withdrawn")
        .group_by(kind)
    )
    answers: dict[str, int] = dict(fetch_rows(conn, came))
    repeated = _page_repeats(conn, ballot_id)
    rows = [(kind, n, answers.get(kind, 0)) for kind, n in fetch_rows(conn, asked)]
    if repeated and not any(kind == "repeat" for kind, *_ in rows):
        rows.append(("repeat", 0, 0))
    rows = [(kind, n, came + repeated * (kind == "repeat")) for kind, n, came in rows]
    order = {kind: place for place, kind in enumerate(KINDS)}
    rows.sort(key=lambda row: order[row[0]])
    return pd.DataFrame(rows, columns=["kind", "checks", "answers"])


def _page_repeats(conn: sa.Connection, ballot_id: int) -> int:
    d, q = t.deal.c, t.question.c
    query = sa.select(sa.func.count()).select_from(t.deal).join(t.question, q.id == d.question_id)
    query = query.where(q.ballot_id == ballot_id, d.kind == "repeat", d.state == "answered")
    return int(conn.execute(query).scalar_one())
