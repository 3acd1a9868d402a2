"""What a plan's wording would do to the votes."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from ...questions.examples import Example
from ...store import Store
from ...store import schema as t


def given_away(store: Store, project_id: str, examples: Sequence[Example]) -> list[tuple[str, str]]:
    """The pairs of these examples that are items of the project, so that voters would be told what to answer."""
    pairs = list(dict.fromkeys(pair for example in examples for pair in (example.left, example.right)))
    a, b = t.token.alias("a"), t.token.alias("b")
    query = (
        sa.select(t.item.c.id)
        .join(a, a.c.id == t.item.c.token_a_id)
        .join(b, b.c.id == t.item.c.token_b_id)
        .where(t.item.c.project_id == project_id)
        .limit(1)
    )
    with store.read() as conn:
        return [
            (one, two)
            for one, two in pairs
            if conn.execute(
                query.where(
                    sa.or_(
                        sa.and_(a.c.text == one, b.c.text == two),
                        sa.and_(a.c.text == two, b.c.text == one),
                    )
                )
            ).first()
        ]
