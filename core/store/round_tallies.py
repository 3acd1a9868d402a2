"""What the answers of a round come to for each of its items: counts, and a provisional score.

A counted answer counts once for every item that it shows: of best–worst as a win for the best, a loss for the worst and
a tie for the others, of a rating or an order as a tie. So wins, ties and losses add up to an item's answers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from ..schemes.collected import BEST_WORST, RATING, extremes
from . import schema as t
from .command import fetch_rows

_WINS, _TIES, _LOSSES, _UNKNOWNS = range(4)


def scheme_of(conn: sa.Connection, ballot_id: int) -> str:
    """The scheme of a ballot: comparison, or that of a round."""
    return str(conn.execute(sa.select(t.ballot.c.scheme).where(t.ballot.c.id == ballot_id)).scalar_one())


def item_counts(conn: sa.Connection, ballot_id: int, scheme: str, items: NDArray[np.int64]) -> NDArray[np.int64]:
    """Wins, ties, losses and unknowns of the items (ids, ascending) of a round, shape (n_items, 4)."""
    j, option = t.judgement.c, t.question_option.c
    query: sa.Select[Any] = (
        sa.select(option.item_id, option.position, j.status, j.answer, sa.func.count())
        .select_from(t.judgement)
        .join(t.question, t.question.c.id == j.question_id)
        .join(t.question_option, option.question_id == j.question_id)
        .where(t.question.c.ballot_id == ballot_id, t.question.c.role == "main", j.status.in_(["counted", "unknown"]))
        .group_by(option.item_id, option.position, j.status, j.answer)
    )
    counts = np.zeros((len(items), 4), dtype=np.int64)
    for item, place, status, answer, n in fetch_rows(conn, query):
        kind = _UNKNOWNS if status == "unknown" else kind_of(scheme, answer, place)
        counts[np.searchsorted(items, item), kind] += n
    return counts


def kind_of(scheme: str, answer: str, place: int) -> int:
    """As what an answer counts for the item at a place (from 0): 0 a win, 1 a tie, 2 a loss."""
    if scheme != BEST_WORST:
        return _TIES
    best, worst = extremes(answer)
    return _WINS if place == best else _LOSSES if place == worst else _TIES


def provisional_scores(conn: sa.Connection, ballot_id: int, scheme: str) -> dict[int, float]:
    """What an open round says of its items so far, by item id: mean rating, or (wins + ties/2) / appearances; of orders
    nothing."""
    if scheme == RATING:
        j, option = t.judgement.c, t.question_option.c
        query: sa.Select[Any] = (
            sa.select(option.item_id, sa.func.avg(j.value))
            .select_from(t.judgement)
            .join(t.question, t.question.c.id == j.question_id)
            .join(t.question_option, option.question_id == j.question_id)
            .where(t.question.c.ballot_id == ballot_id, j.status == "counted")
            .group_by(option.item_id)
        )
        return {item: round(float(mean), 12) for item, mean in fetch_rows(conn, query)}
    if scheme != BEST_WORST:
        return {}
    b = t.ballot_item.c
    n = b.wins + b.ties + b.losses
    counts = fetch_rows(conn, sa.select(b.item_id, 2 * b.wins + b.ties, n).where(b.ballot_id == ballot_id, n > 0))
    return {item: twice / (2 * of) for item, twice, of in counts}
