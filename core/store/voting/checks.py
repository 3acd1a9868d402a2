"""The checks that a voter of the voting page is given among the comparisons: overlaps, audits, gold, repeats."""

from __future__ import annotations

from typing import Any

import numpy as np
import sqlalchemy as sa

from ...ballots.checks import MOST_OVERLAP_VOTERS
from .. import schema as t
from .table import SIDES, Table, add_dealt, was_given

SPARE = 1.1  # checks are dealt a little more densely than they are wanted, so that they are there before the last vote


def _kinds(table: Table) -> list[str]:
    """The kinds of checks that want one answer each; no overlap where comparisons have several votes anyhow."""
    return ["audit"] if table.settings.votes_per_comparison > 1 else ["audit", "overlap"]


def n_checks_for(conn: sa.Connection, table: Table, n_fresh: int, rng: np.random.Generator) -> int:
    """How many overlaps and audits go with so many comparisons: in proportion, as the ballot has of them."""
    q, c = t.question.c, t.check_question.c
    query = sa.select(sa.func.count()).select_from(t.question).join(t.check_question, c.question_id == q.id)
    n_all = conn.execute(query.where(q.ballot_id == table.ballot_id, q.role == "check", c.kind.in_(_kinds(table))))
    if not (n_checks := n_all.scalar_one()):
        return 0
    comparisons = sa.select(t.ballot.c.n_comparisons).where(t.ballot.c.id == table.ballot_id)
    votes = conn.execute(comparisons).scalar_one() * table.settings.votes_per_comparison
    wanted = SPARE * n_checks * n_fresh / votes
    return int(wanted) + int(rng.random() < wanted % 1)


def open_checks(table: Table, sitting_id: int) -> sa.Select:
    """Overlaps and audits that lack their answer and are new to a voter: id, kind, and the comparison that counts.

    An overlap waits for the vote that counts: else its voters might be the only ones left who could have given that.
    """
    q, c = t.question.c, t.check_question.c
    original = t.question.alias("original")
    answered = sa.and_(original.c.n_votes > 0, ~was_given(sitting_id, c.of_id))
    return (
        sa.select(q.id, c.kind, c.of_id)
        .join(t.check_question, c.question_id == q.id)
        .outerjoin(original, original.c.id == c.of_id)
        .where(q.ballot_id == table.ballot_id, q.role == "check", c.kind.in_(_kinds(table)))
        .where(q.n_dealt < q.n_wanted, ~was_given(sitting_id, q.id), sa.or_(c.of_id.is_(None), answered))
        .order_by(q.n_dealt, q.id)
    )


def draw_checks(
    conn: sa.Connection, table: Table, sitting_id: int, n: int, shown: set[int], rng: np.random.Generator
) -> list[tuple[dict[str, Any], str]]:
    """Lease up to `n` overlaps and audits, none of the same comparison as another or as those `shown` in the task."""
    if not n:
        return []
    drawn: list[tuple[dict[str, Any], str]] = []
    originals: set[int | None] = set(shown)
    for id_, kind, of in conn.execute(open_checks(table, sitting_id).limit(n * MOST_OVERLAP_VOTERS + len(shown))):
        if len(drawn) < n and (of is None or of not in originals):
            originals.add(of)
            sides = dict(zip(SIDES, map(bool, rng.integers(0, 2, 3)), strict=True))
            drawn.append(({"question_id": id_, **sides}, kind))
    add_dealt(conn, [row["question_id"] for row, _ in drawn], 1)
    return drawn


def draw_gold(conn: sa.Connection, table: Table, sitting_id: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Checks that the voter hasn't met, with sides at random."""
    if not table.settings.n_gold:
        return []
    q = t.question.c
    given = sa.exists().where(t.deal.c.sitting_id == sitting_id, t.deal.c.question_id == q.id)
    query = sa.select(q.id).where(q.ballot_id == table.ballot_id, q.role == "check", ~given).order_by(q.id)
    ids = conn.execute(query.join(t.gold, t.gold.c.question_id == q.id)).scalars().all()
    chosen = rng.permutation(np.array(ids, dtype=int))[: table.settings.n_gold]
    return [
        {"question_id": int(id_), **dict(zip(SIDES, map(bool, rng.integers(0, 2, 3)), strict=True))} for id_ in chosen
    ]


def draw_repeats(conn: sa.Connection, sitting_id: int, n: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Comparisons that the voter answered in earlier tasks and that weren't repeated yet, with sides exchanged."""
    if not n:
        return []
    again = t.deal.alias("again")
    d = t.deal.c
    repeated = sa.exists().where(
        again.c.sitting_id == sitting_id, again.c.question_id == d.question_id, again.c.kind == "repeat"
    )
    query = sa.select(t.deal).where(d.sitting_id == sitting_id, d.kind == "main", d.state == "answered", ~repeated)
    rows = conn.execute(query.order_by(d.id)).all()
    chosen = [rows[at] for at in rng.permutation(len(rows))[:n]]
    return [
        {
            "question_id": row.question_id,
            "flipped": not row.flipped,
            "left_swapped": row.right_swapped,
            "right_swapped": row.left_swapped,
        }
        for row in chosen
    ]
