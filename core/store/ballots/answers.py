"""The answers of rounds that count, as the kinds of question take them (`questions.Answers`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...questions import Answers
from ...questions.base import UNKNOWN
from ...questions.order.groups import GroupComparison
from ...questions.rating.kind import rated_items
from ...questions.rating.scales import RatingSet
from ...tables import SHOWN
from .. import schema as t
from ..command import fetch_rows
from ..tokens.areas import items_of
from .ballot_rows import Ballot, rounds_of
from .comparisons import shown_of


def answers_of(conn: sa.Connection, project_id: str, found: Ballot, without: frozenset[int] | None = None) -> Answers:
    """The answers of a round that count.

    `without` names the voters to leave out in place of those who are: what would count then.
    """
    j, a = t.judgement.c, t.assignment.c
    counts = j.status == "counted"
    if without is not None:
        counts = sa.and_(j.status.in_(["counted", "excluded"]), j.answer != UNKNOWN)
    query: sa.Select[Any] = (
        sa.select(j.question_id, a.voter_id, j.answer, j.value)
        .join(t.assignment, a.id == j.assignment_id)
        .join(t.question, t.question.c.id == j.question_id)
        .where(a.ballot_id == found.id, t.question.c.role == "main", counts)
        .order_by(j.question_id, a.voter_id, j.id)
    )
    frame = pd.DataFrame(fetch_rows(conn, query), columns=["question_id", "voter_id", "answer", "value"])
    frame = frame[~frame["voter_id"].isin(without or ())]
    ids, _, items = options_of(conn, found.id).T
    questions, starts = np.unique(ids, return_index=True)
    return Answers(
        number=found.number,
        items=np.unique(items),
        questions=questions,
        starts=np.append(starts, len(ids)),
        options=items,
        question=np.searchsorted(questions, frame["question_id"].to_numpy(dtype=np.int64)),
        voter=frame["voter_id"].to_numpy(dtype=np.int64),
        text=frame["answer"].tolist(),
        value=frame["value"].to_numpy(dtype=np.float64),
        words=shown_of(conn, project_id, found.id) if found.kind.about.by_words else SHOWN.empty(),
    )


def options_of(conn: sa.Connection, ballot_id: int) -> np.ndarray:
    """The items that questions show: columns question, place (from 0), item (position in the project); in order."""
    option = t.question_option.c
    query = (
        sa.select(option.question_id, option.position, t.item.c.position)
        .join(t.question, t.question.c.id == option.question_id)
        .join(t.item, t.item.c.id == option.item_id)
        .where(t.question.c.ballot_id == ballot_id, t.question.c.role == "main")
        .order_by(option.question_id, option.position)
    )
    return np.array(fetch_rows(conn, query), dtype=np.int64).reshape(-1, 3)


def rests_on(conn: sa.Connection, project_id: str, found: Ballot) -> list[Ballot]:
    """The closed rounds of its kind that were drawn before a round, where its scores rest on them too."""
    if not found.asks.about.pools:
        return []
    rounds = rounds_of(conn, project_id, found.area_id)
    return [r for r in rounds if r.scheme == found.scheme and r.number < found.number and not r.is_open]


def preferences(conn: sa.Connection, project_id: str, found: Ballot) -> list[GroupComparison]:
    """What the answers of a round say of words of one target; see `Kind.preferences`."""
    return found.asks.preferences(answers_of(conn, project_id, found), found.settings)


def rating_set(conn: sa.Connection, project_id: str, found: Ballot) -> RatingSet:
    """The ratings of a round that count, as a set that was read from a file: items in the order of their positions.

    The genre of an item is its area; the order of a rating is A where the item was shown as it is stored, else B.
    """
    items = items_of(conn, project_id).set_index("item")
    rated = rated_items(answers_of(conn, project_id, found))
    swapped = _turned(conn, found)
    v = t.voter.c
    names = dict(fetch_rows(conn, sa.select(v.id, v.external_id).where(v.project_id == project_id)))
    person, item = np.nonzero(~np.isnan(rated.table))
    mine = items.loc[rated.items]
    nothing = np.full(len(rated.items), np.nan)
    return RatingSet(
        found.title,
        tuple(mine["token_a"]),
        tuple(mine["token_b"]),
        ("",) * len(mine),
        tuple(mine["area"]) if mine["area"].nunique() > 1 else ("",) * len(mine),
        tuple(names[voter] for voter in rated.voters.tolist()),
        person,
        item,
        rated.table[person, item],
        ("",) * len(person),
        tuple("B" if position in swapped else "A" for position in rated.items[item].tolist()),
        nothing,
        nothing,
    )


def _turned(conn: sa.Connection, found: Ballot) -> set[int]:
    """The positions of the items that a round of ratings shows with their tokens exchanged."""
    put = t.task_question.c
    query = (
        sa.select(t.item.c.position)
        .join(t.question_option, t.question_option.c.item_id == t.item.c.id)
        .join(t.task_question, put.question_id == t.question_option.c.question_id)
        .join(t.task, t.task.c.id == put.task_id)
        .where(t.task.c.ballot_id == found.id, put.left_swapped.is_(True))
    )
    return {position for (position,) in fetch_rows(conn, query)}
