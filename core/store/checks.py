"""Votes read for checks of their quality: sides as shown, and answers to the same comparisons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import sqlalchemy as sa

from . import schema as t
from .command import fetch_rows


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
