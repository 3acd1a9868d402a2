"""What a task must pay for an hourly wage that its voters should reach."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal

from ..errors import PlanError
from .values import amount, whole


def reward_for_wage(
    wage: float, *, seconds_per_comparison: float, comparisons_per_task: int, check_comparisons: int = 0
) -> float:
    """The lowest reward of a task, in hundredths, at which a voter earns at least `wage` an hour.

        reward = wage · t̄ · comparisons per task / 3600

    The terms are those of `plan.cost`. A last task with fewer comparisons pays better.
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
