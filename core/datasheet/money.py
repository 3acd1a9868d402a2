"""What voters were to be paid, and what that is an hour, by the plan and by the clock."""

from __future__ import annotations

from ..percent import percent
from .facts import Facts


def pay_rows(facts: Facts) -> list[tuple[str, str]]:
    """Lines of label and value: reward a task, the platform's fee, the wage an hour as planned and as measured."""
    rows = []
    for ranking in facts.rankings:
        of, plan = f" ({ranking.area})" if ranking.area else "", ranking.plan
        if not plan:
            rows.append((f"Reward a task{of}", "not recorded"))
            continue
        size, reward = plan["task_size"], plan["reward"]
        rows.append(
            (f"Reward a task{of}", f"{reward:g} for {size} comparisons; fee of the platform {percent(plan['fee'])}")
        )
        planned = hourly(reward, size, plan["seconds_per_comparison"])
        rows.append(
            (f"Hourly wage as planned{of}", f"{planned:.2f}, at {plan['seconds_per_comparison']:g} s a comparison")
        )
    seconds, sizes = facts.votes.seconds, {r.plan["task_size"]: r.plan["reward"] for r in facts.rankings if r.plan}
    if seconds is None:
        rows.append(("Hourly wage as measured", "not recorded: no answers of people were timed"))
    elif len(sizes) == 1:
        ((size, reward),) = sizes.items()
        wage = hourly(reward, size, seconds)
        rows.append(
            (
                "Hourly wage as measured",
                f"{wage:.2f}, at a median of {seconds:.1f} s over {facts.votes.n_timed:,} answers",
            )
        )
    return rows


def hourly(reward: float, comparisons: int, seconds: float) -> float:
    """What a task's reward is an hour.

    >>> hourly(0.25, 10, 6.0)
    15.0
    """
    return reward * 3600 / (comparisons * seconds)
