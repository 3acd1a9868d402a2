"""How a budget of votes is spread over ballots: the same number of appearances in each, or more in some."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import PlanError
from ..plan import Plan
from ..plan.budgets import largest_within

# The ratio of M in one ballot to M in the ballot before.
SHAPES: Mapping[str, float] = {"even": 1.0, "late": 1.5, "early": 1 / 1.5}


def plan_within(n_items: int, n_ballots: int, keep: float, n_comparisons: int, *, shape: str = "even") -> Plan:
    """The plan that spends a budget of comparisons in full, as nearly as even appearances allow, and never more.

    M of ballot k is the even number nearest to c·r^(k−1), 2 at least, with r of `SHAPES` and the largest c that the
    budget pays for; what is left goes, two appearances at a time, to the last ballots, as far as it reaches.
    Raises `PlanError` if 2 appearances per item cost more, or no campaign could have such ballots.

    >>> plan_within(990, 7, 0.5, 19_660).appearances
    (20, 20, 20, 20, 20, 20, 20)
    >>> plan_within(990, 7, 0.5, 19_660, shape="late").appearances
    (12, 16, 26, 38, 58, 86, 130)
    """
    if shape not in SHAPES:
        raise PlanError(f"The shape of a plan is one of {', '.join(SHAPES)}, found {shape!r}.")
    ratio = SHAPES[shape]

    def scaled(c: float) -> Plan:
        appearances = tuple(max(2, 2 * round(c * ratio**k / 2)) for k in range(n_ballots))
        return Plan(n_items, n_ballots, keep, appearances)

    least = scaled(0.0)
    if least.n_comparisons > n_comparisons:
        raise PlanError(
            f"Two appearances of each item take {least.n_comparisons:,} comparisons, and the budget is "
            f"{n_comparisons:,}; raise it, or plan fewer items or ballots."
        )
    return _topped_up(largest_within(scaled, n_comparisons), n_comparisons)


BUDGETS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)  # of a plan's own


def at_other_budgets(plan: Plan) -> list[Plan]:
    """Plans with the same ballots at a quarter to three times the comparisons, the plan itself among them.

    Budgets that don't pay for two appearances of each item are left out.
    """
    found = []
    for share in BUDGETS:
        try:
            budget = round(share * plan.n_comparisons)
            found.append(plan if share == 1.0 else plan_within(plan.n_items, plan.n_ballots, plan.keep, budget))
        except PlanError:
            continue
    return found


def _topped_up(plan: Plan, n_comparisons: int) -> Plan:
    """The plan with two appearances more in the last ballots, from the last on, while the budget pays for them."""
    appearances = list(plan.appearances_by_ballot)
    left = n_comparisons - plan.n_comparisons
    for k in reversed(range(plan.n_ballots)):
        if plan.sizes[k] <= left and appearances[k] + 2 < plan.sizes[k]:
            appearances[k] += 2
            left -= plan.sizes[k]
    return Plan(plan.n_items, plan.n_ballots, plan.keep, tuple(appearances))
