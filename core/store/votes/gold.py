"""Checks: comparisons with a known answer, which show whether a voter reads. They never enter scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa

from ...errors import InputError, Issue, StoreError
from ...questions import COMPARISON
from .. import schema as t
from ..ballots.ballots import open_ballot_of
from ..command import Change, command, fetch_rows, insert_one, insert_rows
from ..engine import Store
from ..projects.rankings import ballot_named, belongs, is_comparison
from ..tokens.areas import items_of

MAX_GOLD = 100


@dataclass(frozen=True)
class Gold:
    """A check: two items by position, of which `more` is the right answer; how voters answered it so far."""

    question_id: int
    more: int
    less: int
    n_right: int = 0
    n_wrong: int = 0


def add_gold(
    store: Store,
    project_id: str,
    pairs: Sequence[tuple[int, int]],
    *,
    area_id: int | None = None,
    code: str | None = None,
    expected_revision: int | None = None,
) -> int:
    """Add checks to the open ballot; each pair has the positions of the item to choose and of the other one.

    `code` is that of the ballot which is meant (`ballots.check_meant`).

    Returns how many are new. Raises `InputError` for items that don't exist or stand against themselves, or too many.
    """
    with command(store, project_id, "add checks", expected_revision=expected_revision) as change:
        ballot = open_ballot_of(change.conn, project_id, area_id, code)
        known = {frozenset((gold.more, gold.less)) for gold in gold_of(change.conn, ballot.id)}
        new = [pair for pair in dict.fromkeys(pairs) if frozenset(pair) not in known]
        ids = _item_ids(change, new)
        if len(known) + len(new) > MAX_GOLD:
            raise InputError(f"A ballot can have {MAX_GOLD} checks at most; there would be {len(known) + len(new)}.")
        for more, less in new:
            values = {"kind": COMPARISON.name, "role": "check", "n_wanted": 0}
            question_id = insert_one(change.conn, t.question, ballot_id=ballot.id, **values)
            options = [(question_id, 0, ids[more]), (question_id, 1, ids[less])]
            insert_rows(change.conn, t.question_option, ["question_id", "position", "item_id"], options)
            change.conn.execute(sa.insert(t.gold).values(question_id=question_id, answer="first"))
        change.detail = ballot_named(change.conn, project_id, area_id, ballot.number, ballot.purpose) | {
            "checks": len(new)
        }
        return len(new)


def _item_ids(change: Change, pairs: Sequence[tuple[int, int]]) -> dict[int, int]:
    positions = sorted({position for pair in pairs for position in pair})
    i = t.item.c
    query = sa.select(i.position, i.id).where(i.project_id == change.project_id, i.position.in_(positions))
    ids = dict(fetch_rows(change.conn, query))
    issues = [Issue("there is no such item", found=str(position)) for position in positions if position not in ids]
    issues += [Issue("stands against itself", found=str(more)) for more, less in pairs if more == less]
    if issues:
        raise InputError("These checks can't be made.", issues)
    return ids


def remove_gold(
    store: Store,
    project_id: str,
    question_id: int,
    *,
    area_id: int | None = None,
    code: str | None = None,
    expected_revision: int | None = None,
) -> None:
    """Take a check away that nobody was given yet; `StoreError` once somebody was, or where it stands in tasks.

    `code` is that of the ballot which is meant (`ballots.check_meant`).
    """
    with command(store, project_id, "remove check", expected_revision=expected_revision) as change:
        ballot = open_ballot_of(change.conn, project_id, area_id, code)
        if question_id not in {gold.question_id for gold in gold_of(change.conn, ballot.id)}:
            raise StoreError("This ballot has no such check.")
        given = sa.select(t.deal.c.id).where(t.deal.c.question_id == question_id).limit(1)
        if change.conn.execute(given).first() is not None:
            raise StoreError("Voters were given this check, so it stays.")
        placed = sa.select(t.task_question.c.n).where(t.task_question.c.question_id == question_id).limit(1)
        if change.conn.execute(placed).first() is not None:
            raise StoreError("This check stands in the ballot's tasks, so it stays.")
        change.conn.execute(sa.delete(t.question).where(t.question.c.id == question_id))
        change.detail = ballot_named(change.conn, project_id, area_id, ballot.number, ballot.purpose)


def gold_of(conn: sa.Connection, ballot_id: int) -> list[Gold]:
    """The checks of a ballot, in the order they were added."""
    one, two = t.question_option.alias("one"), t.question_option.alias("two")
    more, less = t.item.alias("more"), t.item.alias("less")
    j = t.judgement.c
    n = sa.select(sa.func.count()).where(j.question_id == t.question.c.id, j.status != "withdrawn")
    query = (
        sa.select(
            t.question.c.id,
            more.c.position,
            less.c.position,
            n.where(j.answer == t.gold.c.answer).scalar_subquery(),
            n.where(j.answer != t.gold.c.answer).scalar_subquery(),
        )
        .join(t.gold, t.gold.c.question_id == t.question.c.id)
        .join(one, sa.and_(one.c.question_id == t.question.c.id, one.c.position == 0))
        .join(two, sa.and_(two.c.question_id == t.question.c.id, two.c.position == 1))
        .join(more, more.c.id == one.c.item_id)
        .join(less, less.c.id == two.c.item_id)
        .where(t.question.c.ballot_id == ballot_id)
        .order_by(t.question.c.id)
    )
    return [Gold(*row) for row in fetch_rows(conn, query)]


def propose_gold(
    store: Store, project_id: str, *, area_id: int | None = None, n: int = 12, seed: int = 0
) -> list[tuple[int, int]]:
    """Pairs of items whose order looks obvious so far: one of the top of the ranking against one of the bottom.

    From ballot 2 on by the last scores of all items, in ballot 1 by nothing: then the pairs are drawn at random, and
    whether they are obvious is for the owner to say. Both items are of one area where the ballot ranks an area.
    """
    with store.read() as conn:
        i, b = t.item.c, t.ballot_item.c
        items = items_of(conn, project_id, area_id=area_id)["item"].to_numpy()
        query = (
            sa.select(i.position, b.mean)
            .join(t.ballot_item, b.item_id == i.id)
            .join(t.ballot, t.ballot.c.id == b.ballot_id)
            .where(t.ballot.c.project_id == project_id, belongs(t.ballot.c.area_id, area_id), b.mean.is_not(None))
            .where(is_comparison())
            .order_by(t.ballot.c.ordinal)
        )
        scores = dict(fetch_rows(conn, query))  # of an item's several, the last one
    rng = np.random.default_rng([seed, len(scores)])
    if len(items) < 2:
        return []
    drawn = rng.permutation(items)
    ranked = sorted(drawn.tolist(), key=lambda item: -scores.get(item, 0.5)) if scores else drawn.tolist()
    half = min(n, len(ranked) // 2)
    return list(zip(ranked[:half], rng.permutation(ranked[-half:]).tolist(), strict=True))
