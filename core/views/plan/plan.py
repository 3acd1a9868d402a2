"""What a plan's wording would do to the votes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import sqlalchemy as sa

from ...base.plurals import many
from ...plan import Plan
from ...plan.plan import Cost
from ...questions.examples import Example
from ...simulation.ceiling import RELIABLE
from ...simulation.forecast import Forecast
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


def plan_said(plan: Plan, cost: Cost, found: Forecast | None) -> str:
    """What a plan costs and what it gives, in one sentence (Markdown); `found` is its forecast, where it is known."""
    said = f"{plan.n_comparisons:,} votes in {many(plan.n_ballots, 'ballot')}, {cost.hours:,.1f} h"
    if cost.total:
        said += f", {cost.total:,.2f}"
    if found is None or math.isnan(found.rho_w.mean):
        return f"**{said}: {plan.n_items:,} items down to the top {plan.sizes[-1]:,}.**"
    told = "" if math.isnan(found.separable) else f"tells models {found.separable:.2f} apart and "
    return f"**{said}: {told}comes to ρ_w = {found.rho_w.mean:.2f} by simulation.**"


def is_reliable(found: Forecast | None) -> bool:
    """Whether a plan's own forecast calls its top reliable; rules of thumb then warn of nothing."""
    return found is not None and found.rho_w.mean >= RELIABLE
