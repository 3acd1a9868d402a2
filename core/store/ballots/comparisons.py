"""The questions of a ballot or a round: written when it is drawn, and read as voters see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...ballots.draw import DrawnBallot
from ...questions import COMPARISON, round_kind
from ...tables import COMPARISONS, SHOWN
from .. import schema as t
from ..command import fetch_integers, fetch_rows, insert_arrays, insert_rows, next_id
from ..engine import Store
from ..tokens.areas import items_of


@dataclass(frozen=True)
class NewQuestions:
    """Questions that are to be written, n of one kind.

    n_wanted : answers to each. options : of every item that is shown the question (0…n−1), its place there and its id
    in the store, arrays of one length. task, place : of each question, from 0, (n,); flipped and swapped as voters see
    it, (n,) or one for all.
    """

    kind: str
    n_wanted: int
    options: tuple[np.ndarray, np.ndarray, np.ndarray]
    task: np.ndarray
    place: np.ndarray
    flipped: np.ndarray | bool
    left_swapped: np.ndarray | bool
    right_swapped: np.ndarray | bool


def drawn_comparisons(
    drawn: DrawnBallot, positions: np.ndarray, item_ids: np.ndarray, place: np.ndarray | None = None
) -> NewQuestions:
    """The comparisons of a drawn ballot.

    `positions` are the ballot's items in ascending order, `item_ids` their ids in the store. `place` of each comparison
    in its task, from 0, leaves room for checks.
    """
    n = len(drawn.first)
    ids = item_ids[np.searchsorted(positions, np.stack([drawn.first, drawn.second], axis=1))].ravel()
    options = np.repeat(np.arange(n), 2), np.tile([0, 1], n), ids
    place = drawn.position if place is None else place
    sides = drawn.flipped, drawn.left_swapped, drawn.right_swapped
    return NewQuestions(COMPARISON.name, 1, options, drawn.task, place, *sides)


def insert_questions(conn: sa.Connection, ballot_id: int, code: str, new: NewQuestions) -> tuple[int, int, int]:
    """Write the tasks and questions of a ballot or round; returns how many tasks, and the first ids of both.

    Task ids are the ballot's code and a number.
    """
    n_tasks = int(new.task.max()) + 1
    first_task, first_question = next_id(conn, t.task), next_id(conn, t.question)
    tasks = [(first_task + i, ballot_id, i, f"{code}-{i + 1:05d}") for i in range(n_tasks)]
    insert_rows(conn, t.task, ["id", "ballot_id", "position", "code"], tasks)
    ids = first_question + np.arange(len(new.task))
    insert_arrays(
        conn,
        t.question,
        {"id": ids, "ballot_id": ballot_id, "kind": new.kind, "role": "main", "n_wanted": new.n_wanted},
    )
    question, position, item_id = new.options
    options = {"question_id": first_question + question, "position": position, "item_id": item_id}
    insert_arrays(conn, t.question_option, options)
    showings: dict[str, np.ndarray | str | int] = {
        "task_id": new.task + first_task,
        "n": new.place + 1,
        "question_id": ids,
        "flipped": new.flipped,
        "left_swapped": new.left_swapped,
        "right_swapped": new.right_swapped,
    }
    insert_arrays(conn, t.task_question, showings)
    return n_tasks, first_task, first_question


def comparisons_of(
    conn: sa.Connection, ballot_id: int, project_id: str, *, tasks: Sequence[int] | None = None
) -> pd.DataFrame:
    """The ballot's comparisons as stored and as shown (schema COMPARISONS), by task and place.

    `tasks`, positions from 0, takes those tasks only, without reading what the others hold.
    """
    one, two, place = t.question_option.alias("one"), t.question_option.alias("two"), t.task_question.c
    query = (
        sa.select(
            place.question_id,
            t.task.c.position,
            place.n,
            one.c.item_id,
            two.c.item_id,
            place.flipped,
            place.left_swapped,
            place.right_swapped,
        )
        .join(t.task, t.task.c.id == place.task_id)
        .join(one, sa.and_(one.c.question_id == place.question_id, one.c.position == 0))
        .join(two, sa.and_(two.c.question_id == place.question_id, two.c.position == 1))
        .where(t.task.c.ballot_id == ballot_id)
        .order_by(t.task.c.position, place.n)
    )
    codes = sa.select(t.task.c.position, t.task.c.code).where(t.task.c.ballot_id == ballot_id)
    if tasks is not None:
        those = t.task.c.position.in_([int(position) for position in tasks])
        query, codes = query.where(those), codes.where(those)
    rows = fetch_integers(conn, query)
    wanted = None if tasks is None else np.unique(rows[:, 3:5]).tolist()
    frame = _as_shown(rows, dict(fetch_rows(conn, codes)), items_of(conn, project_id, only=wanted))
    checks = sa.select(t.question.c.id).where(t.question.c.ballot_id == ballot_id, t.question.c.role != "main")
    is_check = frame["question_id"].isin([id_ for (id_,) in fetch_rows(conn, checks)]).to_numpy(dtype=int)
    frame["role"] = pd.Series(["main", "check"], dtype="str").array.take(is_check)
    return COMPARISONS.check(frame)


def _as_shown(rows: np.ndarray, code_of: dict[int, str], items: pd.DataFrame) -> pd.DataFrame:
    """Comparisons with the texts that voters see: `rows` as read above, the code of each task by its position.

    Texts are taken from pandas' own arrays of strings: a million Python strings would take seconds.
    """
    question, task, n, *ids, flipped, left_swapped, right_swapped = rows.T
    first, second = (items.index.get_indexer(pd.Index(id_)) for id_ in ids)
    is_flipped = flipped.astype(bool)
    left, right = np.where(is_flipped, second, first), np.where(is_flipped, first, second)
    tokens = pd.concat([items["token_a"], items["token_b"]]).array  # token_a of item i stands at i, token_b at i + N
    shown = {}
    for side, at, swapped in (("left", left, left_swapped), ("right", right, right_swapped)):
        shown[f"{side}_a"] = tokens.take(at + swapped * len(items))
        shown[f"{side}_b"] = tokens.take(at + (1 - swapped) * len(items))
        shown[f"area_{side}"] = items["area"].array.take(at)
    codes = pd.Series(list(code_of.values()), dtype="str").array
    columns = {
        "question_id": question,
        "task_id": codes.take(pd.Index(list(code_of)).get_indexer(pd.Index(task))),
        "n": n,
        "first": items["item"].to_numpy()[first],
        "second": items["item"].to_numpy()[second],
        "flipped": is_flipped,
        **shown,
    }
    return pd.DataFrame(columns)


def read_tasks(store: Store, project_id: str, ballot_id: int, positions: Sequence[int]) -> pd.DataFrame:
    """The comparisons of a few tasks (schema COMPARISONS), in the order of `positions` (from 0), each by its places.

    Positions that the ballot doesn't have are left out. Quick for a ballot of any size.
    """
    with store.read() as conn:
        frame = comparisons_of(conn, ballot_id, project_id, tasks=positions)
        query = sa.select(t.task.c.code, t.task.c.position).where(
            t.task.c.ballot_id == ballot_id, t.task.c.position.in_([int(position) for position in positions])
        )
        position_of = dict(fetch_rows(conn, query))
    place = {position: place for place, position in enumerate(positions)}
    order = frame["task_id"].map(lambda code: place[position_of[code]]).to_numpy(dtype=int)
    return frame.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)


def count_tasks(store: Store, ballot_id: int) -> int:
    """How many tasks a ballot has."""
    query = sa.select(sa.func.count()).select_from(t.task).where(t.task.c.ballot_id == ballot_id)
    with store.read() as conn:
        return int(conn.execute(query).scalar_one())


def widest_task(store: Store, ballot_id: int, *, without_checks: int) -> int:
    """How many comparisons a ballot's widest task holds; `without_checks` where its tasks hold none."""
    place, q = t.task_question.c, t.question.c
    shown = sa.select(place.task_id).join(t.question, q.id == place.question_id)
    shown = shown.where(q.ballot_id == ballot_id, q.role == "check")
    query = sa.select(sa.func.max(place.n)).where(place.task_id.in_(shown))
    with store.read() as conn:
        return max(without_checks, conn.execute(query).scalar_one() or 0)


def shown_of(conn: sa.Connection, project_id: str, ballot_id: int) -> pd.DataFrame:
    """What a round shows (schema SHOWN), by task, question and place; tokens stand as they are shown."""
    option, put = t.question_option.c, t.task_question.c
    query = (
        sa.select(put.question_id, t.task.c.code, put.n, option.position, option.item_id, put.left_swapped)
        .join(t.task, t.task.c.id == put.task_id)
        .join(t.question_option, option.question_id == put.question_id)
        .where(t.task.c.ballot_id == ballot_id)
        .order_by(t.task.c.position, put.n, option.position)
    )
    names = ["question_id", "task_id", "n", "place", "id", "swapped"]
    frame = pd.DataFrame(fetch_rows(conn, query), columns=names)
    items = items_of(conn, project_id)
    at = items.index.get_indexer(pd.Index(frame["id"]))
    for name in ("item", "token_a", "token_b", "area"):
        frame[name] = items[name].array.take(at)
    kind = round_kind(conn.execute(sa.select(t.ballot.c.kind).where(t.ballot.c.id == ballot_id)).scalar_one())
    starts = np.flatnonzero(frame["place"].to_numpy() == 0)
    pairs = list(zip(frame["token_a"], frame["token_b"], strict=True))
    turned: list[tuple[str, str]] = []
    for start, end, swapped in zip(starts, [*starts[1:], len(frame)], frame["swapped"].iloc[starts], strict=True):
        turned += kind.turned(pairs[start:end], bool(swapped))
    frame["token_a"], frame["token_b"] = [pair[0] for pair in turned], [pair[1] for pair in turned]
    frame["place"] += 1
    kinds = {"text": "str", "int": "int64"}
    return SHOWN.check(frame.astype({name: kinds[of] for name, of in SHOWN.columns.items()})[list(SHOWN.columns)])


def read_shown(store: Store, project_id: str, ballot_id: int) -> pd.DataFrame:
    """What a round shows (schema SHOWN); see `shown_of`."""
    with store.read() as conn:
        return shown_of(conn, project_id, ballot_id)
