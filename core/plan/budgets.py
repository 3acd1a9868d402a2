"""Plans within a budget: how many votes some hours or money pay for, and how often an item can appear then.

Also what a task must pay for the hourly wage that its voters should reach.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from decimal import ROUND_CEILING, Decimal
from typing import Any

from ..errors import PlanError
from .campaign_plan import Plan, amount, cost, whole


def reward_for_wage(
    wage: float, *, seconds_per_comparison: float, comparisons_per_task: int, check_comparisons: int = 0
) -> float:
    """The lowest reward of a task, in hundredths, at which a voter earns at least `wage` an hour.

        reward = wage · t̄ · comparisons per task / 3600

    The terms are those of `campaign_plan.cost`. A last task with fewer comparisons pays better.
    Raises `PlanError` for values out of range.

    >>> reward_for_wage(12, seconds_per_comparison=6, comparisons_per_task=10)
    0.2
    """
    size = whole(comparisons_per_task, "The number of comparisons in a task", 1)
    checks = whole(check_comparisons, "The number of check comparisons in a task", 0)
    seconds = amount(seconds_per_comparison, "The seconds a comparison takes")
    if seconds == 0:
        raise PlanError("The seconds a comparison takes must be above 0, found 0.")
    exact = amount(wage, "The wage") * seconds * (size + checks) / 3600
    return float(exact.quantize(Decimal("0.01"), rounding=ROUND_CEILING))


MOST_APPEARANCES = 10**9


def largest_within(plan_of: Callable[[float], Plan], n_comparisons: int) -> Plan:
    """The plan of the largest scale that a budget of comparisons pays for, found by halving.

    `plan_of` makes a plan of a scale from 0 on, with more comparisons for a larger one; that of 0 must be within the
    budget, and twice the budget as a scale must not be.
    """
    low, high = 0.0, 2.0 * n_comparisons
    for _ in range(64):
        middle = (low + high) / 2
        low, high = (middle, high) if plan_of(middle).n_comparisons <= n_comparisons else (low, middle)
    return plan_of(low)


def affordable_comparisons(
    *,
    hours: float | None = None,
    total: float | None = None,
    seconds_per_comparison: float,
    comparisons_per_task: int,
    reward: float,
    fee: float = 0.2,
) -> int:
    """How many comparisons voters' hours or money pay for, as if every task were full.

    Exactly one of `hours` and `total` (rewards and fees) must be given; the other parameters are those of `cost`. The
    last task of a ballot may hold fewer comparisons, so that a plan can cost up to one task per ballot more. Raises
    `PlanError` for values out of range, and for money where tasks cost nothing.

    >>> affordable_comparisons(hours=1, seconds_per_comparison=9, comparisons_per_task=20, reward=0.45)
    400
    >>> affordable_comparisons(total=5.4, seconds_per_comparison=9, comparisons_per_task=20, reward=0.45)
    200
    """
    size = whole(comparisons_per_task, "The number of comparisons in a task", 1)
    seconds = amount(seconds_per_comparison, "The seconds a comparison takes")
    if (hours is None) == (total is None) or seconds == 0:
        raise PlanError("Give hours or money, one of the two, and the seconds a comparison takes.")
    if hours is not None or total is None:
        return int(amount(hours or 0, "The number of hours") * 3600 / seconds)
    price, share = amount(reward, "The reward of a task"), amount(fee, "The fee")
    each = price + (max(price * share, Decimal("0.01")) if share else Decimal(0))
    if each == 0:
        raise PlanError("Tasks cost nothing, so money doesn't bound the votes: give a reward, or a number of hours.")
    return int(amount(total, "The budget") / each) * size


def appearances_for_budget(n_items: int, n_ballots: int, keep: float, n_comparisons: int) -> int:
    """The largest even M, the same in every ballot, whose plan has at most `n_comparisons` comparisons.

        M = 2·⌊budget / Σ N(k)⌋, since an even M takes exactly M/2·Σ N(k) comparisons (Eq. 3, footnote 6)

    Raises `PlanError` if even M = 2 takes more, or no campaign could follow such a plan.

    >>> appearances_for_budget(990, 7, 0.5, 20_000), appearances_for_budget(990, 7, 0.5, 19_659)
    (20, 18)
    """
    budget = whole(n_comparisons, "The number of comparisons", 1)
    least = Plan(n_items, n_ballots, keep, 2).n_comparisons
    if budget < least:
        raise PlanError(
            f"Two appearances of each item take {least:,} comparisons, and the budget is {budget:,}; "
            "raise it, or plan fewer items or ballots."
        )
    return 2 * (budget // least)


def appearances_for_cost(
    n_items: int,
    n_ballots: int,
    keep: float,
    *,
    total: float | None = None,
    hours: float | None = None,
    **terms: Any,
) -> int:
    """The largest even M, the same in every ballot, whose `cost` is within `total` (money) and `hours` (voters' time).

    `terms` are those of `cost`; at least one of the two bounds must be given, both at least 0.
    Raises `PlanError` if even M = 2 costs more, or if the bounds don't bound it (the vote costs nothing).

    >>> appearances_for_cost(990, 7, 0.5, hours=50, seconds_per_comparison=9, comparisons_per_task=20, reward=0.45)
    20
    """
    most_money = None if total is None else amount(total, "The budget")
    most_hours = None if hours is None else amount(hours, "The number of hours")
    if most_money is None and most_hours is None:
        raise PlanError("Give a budget, a number of hours, or both.")

    def fits(halves: int) -> bool:
        price = cost(Plan(n_items, n_ballots, keep, 2 * halves), **terms)
        within = most_money is None or Decimal(str(price.total)) <= most_money
        return within and (most_hours is None or Decimal(str(price.hours)) <= most_hours)

    if not fits(1):
        price = cost(Plan(n_items, n_ballots, keep, 2), **terms)
        raise PlanError(
            f"Two appearances of each item cost {price.total:,.2f} and take {price.hours:,.2f} hours, over what is "
            "given; raise it, or plan fewer items or ballots."
        )
    above = 2
    while fits(above):
        above *= 2
        if above > MOST_APPEARANCES:
            raise PlanError("There is no end to the votes within this budget: give a reward, or a number of hours.")
    # The cost never falls as M grows.
    return 2 * (bisect_left(range(above), True, lo=above // 2, key=lambda halves: not fits(halves)) - 1)
