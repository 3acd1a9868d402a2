"""The answers of a round that count, as the arrays and tables that the schemes' formulas take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa
from numpy.typing import NDArray

from ..schemes.best_worst import BestWorst
from ..schemes.collected import UNKNOWN, extremes, ordered
from ..schemes.rating_sets import RatingSet
from ..schemes.target_groups import GroupComparison, from_orders
from . import schema as t
from .areas import items_of
from .command import fetch_rows
from .rounds import Round, shown_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RatedItems:
    """Ratings of a round: a table of voters × items, NaN where somebody didn't rate.

    voters : ids, ascending; items : positions, ascending.
    """

    voters: Ints
    items: Ints
    table: Floats


def counted_answers(
    conn: sa.Connection, ballot_ids: Sequence[int], without: frozenset[int] | None = None
) -> pd.DataFrame:
    """The answers that count, in a fixed order: question_id, voter_id, answer, value (NaN where it has none).

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
        .where(a.ballot_id.in_(list(ballot_ids)), t.question.c.role == "main", counts)
        .order_by(j.question_id, a.voter_id, j.id)
    )
    frame = pd.DataFrame(fetch_rows(conn, query), columns=["question_id", "voter_id", "answer", "value"])
    frame = frame[~frame["voter_id"].isin(without or ())].reset_index(drop=True)
    return frame.astype({"question_id": "int64", "voter_id": "int64", "answer": "str", "value": "float64"})


def item_options(conn: sa.Connection, ballot_ids: Sequence[int]) -> pd.DataFrame:
    """The items of each question by place: question_id, place (from 0), item (position in the project)."""
    option = t.question_option.c
    query = (
        sa.select(option.question_id, option.position, t.item.c.position)
        .join(t.question, t.question.c.id == option.question_id)
        .join(t.item, t.item.c.id == option.item_id)
        .where(t.question.c.ballot_id.in_(list(ballot_ids)), t.question.c.role == "main")
        .order_by(option.question_id, option.position)
    )
    return pd.DataFrame(fetch_rows(conn, query), columns=["question_id", "place", "item"]).astype("int64")


def rated_items(conn: sa.Connection, ballot_id: int, without: frozenset[int] | None = None) -> RatedItems:
    """The ratings of a round that count; `without` as for `counted_answers`."""
    answers, options = counted_answers(conn, [ballot_id], without), item_options(conn, [ballot_id])
    items = np.unique(options["item"].to_numpy())
    voters = np.unique(answers["voter_id"].to_numpy())
    item_of = options.set_index("question_id")["item"]
    table = np.full((len(voters), len(items)), np.nan)
    rows = np.searchsorted(voters, answers["voter_id"].to_numpy())
    columns = np.searchsorted(items, answers["question_id"].map(item_of).to_numpy(dtype=np.int64))
    table[rows, columns] = answers["value"].to_numpy()
    return RatedItems(voters, items, table)


def best_worst_answers(
    conn: sa.Connection, ballot_ids: Sequence[int], without: frozenset[int] | None = None
) -> tuple[BestWorst, Ints]:
    """The answers of rounds of best–worst of one size that count, by item position, and the voter of each; `without` as
    for `counted_answers`."""
    answers, options = counted_answers(conn, ballot_ids, without), item_options(conn, ballot_ids)
    shown = options.groupby("question_id", sort=False)["item"].agg(list)
    rows = [shown[question] for question in answers["question_id"]]
    size = len(shown.iloc[0]) if len(shown) else 2
    places = np.array([extremes(answer) for answer in answers["answer"]], dtype=np.int64).reshape(-1, 2)
    tuples = np.array(rows, dtype=np.int64).reshape(-1, size)
    return BestWorst(tuples, places[:, 0], places[:, 1]), answers["voter_id"].to_numpy()


Orders = dict[int, dict[str, dict[str, float]]]  # of a voter: target → word → place, 1 = most related


def given_orders(conn: sa.Connection, project_id: str, found: Round, without: frozenset[int] | None = None) -> Orders:
    """The orders that count, by voter: the place of each positive of each target; `without` as for
    `counted_answers`."""
    shown = shown_of(conn, project_id, found)
    words = shown.sort_values(["question_id", "place"]).groupby("question_id", sort=False)["token_b"].agg(list)
    target = shown.drop_duplicates("question_id").set_index("question_id")["token_a"]
    orders: Orders = {}
    for question, voter, answer, _ in counted_answers(conn, [found.id], without).itertuples(index=False, name=None):
        places = {words[question][place]: float(rank) for rank, place in enumerate(ordered(answer), 1)}
        orders.setdefault(voter, {})[target[question]] = places
    return orders


def group_comparisons(conn: sa.Connection, project_id: str, found: Round) -> list[GroupComparison]:
    """R of every two positives by the orders that count, with what holds by definition, group by group."""
    orders = given_orders(conn, project_id, found)
    comparisons: list[GroupComparison] = []
    for group in found.settings.groups:
        mine = [of_voter[group.target] for of_voter in orders.values() if group.target in of_voter]
        comparisons += from_orders(group, mine)
    return comparisons


def rating_set(conn: sa.Connection, project_id: str, found: Round) -> RatingSet:
    """The ratings of a round that count, as a set that was read from a file: items in the order of their positions.

    The genre of an item is its area; the order of a rating is A where the item was shown as it is stored, else B.
    """
    items = items_of(conn, project_id).set_index("item")
    rated = rated_items(conn, found.id)
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


def _turned(conn: sa.Connection, found: Round) -> set[int]:
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
