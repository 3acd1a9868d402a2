"""All answers of a ranking's voters, read for figures of each voter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...questions import COMPARISON
from ...tables import VOTER_ANSWERS
from .. import schema as t
from ..command import fetch_rows

_ANSWERS = {"first": 1.0, "second": 0.0, "tie": 0.5, "unknown": -1.0}
_STATUSES = ("counted", "unknown", "excluded", "repeat", "rejected")
_GOLD = {"first": 1.0, "second": 0.0, "tie": 0.5}


def voter_answers(conn: sa.Connection, ballot_ids: Sequence[int]) -> pd.DataFrame:
    """Every answer to the comparisons of some ballots that wasn't withdrawn (schema VOTER_ANSWERS), in a fixed order.

    Half a million take some seconds.
    """
    rows = np.array(fetch_rows(conn, _query(ballot_ids)), dtype=float).reshape(-1, 9)
    first, second = (_items(conn, ballot_ids, side) for side in (0, 1))
    question = rows[:, 0].astype(np.int64)
    at = np.searchsorted(first[:, 0], question)
    answer, flipped = rows[:, 2], rows[:, 4]
    left = np.where(flipped == 1, 1 - answer, answer)
    left[~np.isin(answer, (0.0, 1.0)) | np.isnan(flipped)] = np.nan
    frame = pd.DataFrame(
        {
            "voter_id": rows[:, 1].astype(np.int64),
            "comparison": rows[:, 8].astype(np.int64),
            "first": first[at, 1],
            "second": second[at, 1],
            "answer": np.where(answer < 0, np.nan, answer),
            "left": left,
            "seconds": rows[:, 5],
            "status": pd.Series(np.array(_STATUSES, dtype=object)[rows[:, 3].astype(int)], dtype="str"),
            "main": rows[:, 6] == 1,
            "gold": rows[:, 7],
        }
    )
    return VOTER_ANSWERS.check(frame)


def _query(ballot_ids: Sequence[int]) -> sa.Select:
    j, q = t.judgement.c, t.question.c
    showing = (t.task_question.c.task_id == t.assignment.c.task_id) & (t.task_question.c.question_id == j.question_id)
    dealt = (t.deal.c.assignment_id == t.assignment.c.id) & (t.deal.c.question_id == j.question_id)
    status = sa.case(*((j.status == name, place) for place, name in enumerate(_STATUSES)))
    return (
        sa.select(
            j.question_id,
            t.assignment.c.voter_id,
            sa.case(*((j.answer == name, value) for name, value in _ANSWERS.items())),
            status,
            sa.func.coalesce(t.deal.c.flipped, t.task_question.c.flipped),
            j.seconds,
            sa.case((q.role == "main", 1), else_=0),
            sa.case(*((t.gold.c.answer == name, value) for name, value in _GOLD.items())),
            sa.func.coalesce(t.check_question.c.of_id, j.question_id),  # a check may repeat a comparison
        )
        .select_from(t.judgement)
        .join(t.assignment, t.assignment.c.id == j.assignment_id)
        .join(t.question, q.id == j.question_id)
        .outerjoin(t.gold, t.gold.c.question_id == q.id)
        .outerjoin(t.check_question, t.check_question.c.question_id == q.id)
        .outerjoin(t.task_question, showing)
        .outerjoin(t.deal, dealt)
        .where(t.assignment.c.ballot_id.in_(list(ballot_ids)), j.status.in_(_STATUSES), q.kind == COMPARISON.name)
        # A voter's first answer to a comparison comes before repeats of it.
        .order_by(t.assignment.c.ballot_id, sa.case((j.status == "repeat", 1), else_=0), j.question_id, j.id)
    )


def _items(conn: sa.Connection, ballot_ids: Sequence[int], side: int) -> np.ndarray:
    """Question and item position on one side (0 first, 1 second) of every comparison, by question."""
    option = t.question_option.c
    query = (
        sa.select(option.question_id, t.item.c.position)
        .join(t.question, t.question.c.id == option.question_id)
        .join(t.item, t.item.c.id == option.item_id)
        .where(t.question.c.ballot_id.in_(list(ballot_ids)), option.position == side)
        .order_by(option.question_id)
    )
    return np.array(fetch_rows(conn, query), dtype=np.int64).reshape(-1, 2)


def voter_names(conn: sa.Connection, project_id: str) -> pd.DataFrame:
    """The voters of a project: voter_id, platform, name (the platform's own id, as stored), kind; by voter_id."""
    v = t.voter.c
    query = sa.select(v.id, v.platform, v.external_id, v.kind).where(v.project_id == project_id).order_by(v.id)
    frame = pd.DataFrame(fetch_rows(conn, query), columns=["voter_id", "platform", "name", "kind"])
    return frame.astype({"voter_id": "int64", "platform": "str", "name": "str", "kind": "str"})
