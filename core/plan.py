"""The plan of a campaign: how many ballots, which fraction goes on, how often an item appears.

Reference: Lombardo et al. (2020), EMNLP, Eqs. 2–4, 10 and section 2.7.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from .errors import PlanError
from .heuristics import PlanProblem, problems_of
from .plan_values import amount, cents, fraction, whole
from .plan_values import appearances as checked_appearances

__all__ = [
    "Cost",
    "Plan",
    "PlanProblem",
    "Quota",
    "affordable_comparisons",
    "appearances_for_budget",
    "appearances_for_cost",
    "cost",
    "largest_within",
    "quota",
]

MOST_BALLOTS = 1000  # a bound against slips of the pen; the paper's own advice is 10
MOST_APPEARANCES = 10**9


@dataclass(frozen=True)
class Plan:
    """How a campaign spends its votes.

    Parameters
    ----------
    n_items : number N of items, at least 2.
    n_ballots : number n_b of ballots, at least 1 (1 = every item is treated alike).
    keep : fraction α of the items that goes on to the next ballot, between 0 and 1, both excluded.
    appearances : how often an item appears in a ballot, M: one number, or one for each ballot.

    Raises `PlanError` for a plan that no campaign could follow. What is only unwise is in `problems`.

    >>> plan = Plan(990, 7, 0.5, 20)
    >>> plan.sizes
    (990, 495, 248, 124, 62, 31, 16)
    >>> plan.n_comparisons, plan.top_appearances, round(plan.uniform_appearances, 2)
    (19660, 140, 39.72)
    """

    n_items: int
    n_ballots: int
    keep: float
    appearances: int | tuple[int, ...]

    def __post_init__(self) -> None:
        # Whole numbers of other kinds (NumPy's, a list of them) are taken, and kept as plain ints.
        object.__setattr__(self, "n_items", whole(self.n_items, "The number of items", 2))
        object.__setattr__(self, "n_ballots", whole(self.n_ballots, "The number of ballots", 1))
        if self.n_ballots > MOST_BALLOTS:
            raise PlanError(f"At most {MOST_BALLOTS:,} ballots, found {self.n_ballots:,}; the paper advises up to 10.")
        object.__setattr__(self, "keep", fraction(self.keep))
        object.__setattr__(self, "appearances", checked_appearances(self.appearances, self.n_ballots))
        for number, size in enumerate(self.sizes, start=1):
            if size < 2:
                left = "1 item" if size == 1 else "no item"
                raise PlanError(
                    f"Ballot {number} would have {left}, and a comparison needs two; "
                    "keep a larger fraction or plan fewer ballots."
                )

    @property
    def sizes(self) -> tuple[int, ...]:
        """Items of each ballot: N(1) = N, N(k) = round(α·N(k−1)), halves up (Eq. 2)."""
        sizes = [self.n_items]
        while len(sizes) < self.n_ballots:
            sizes.append(_kept(sizes[-1], self.keep))
        return tuple(sizes)

    @property
    def appearances_by_ballot(self) -> tuple[int, ...]:
        """M of each ballot."""
        if isinstance(self.appearances, tuple):
            return self.appearances
        return (self.appearances,) * self.n_ballots

    @property
    def comparisons(self) -> tuple[int, ...]:
        """Comparisons of each ballot: ⌈M·N(k)/2⌉."""
        return tuple(-(-m * n // 2) for m, n in zip(self.appearances_by_ballot, self.sizes, strict=True))

    @property
    def n_comparisons(self) -> int:
        """N_comp, the comparisons of all ballots (Eq. 3)."""
        return sum(self.comparisons)

    @property
    def top_appearances(self) -> int:
        """M_top, how often an item appears that stays to the last ballot (Eq. 4)."""
        return sum(self.appearances_by_ballot)

    @property
    def uniform_appearances(self) -> float:
        """M_unif = 2·N_comp/N, how often each item would appear if all were treated alike (Eq. 4)."""
        return 2 * self.n_comparisons / self.n_items

    def problems(self) -> tuple[PlanProblem, ...]:
        """The heuristics of section 2.7 that the plan does not meet, and ballots that can't be drawn evenly.

        >>> [problem.name for problem in Plan(990, 6, 0.5, 20).problems()]
        []
        >>> [problem.name for problem in Plan(990, 2, 0.5, 20).problems()]
        ['keep_high', 'top_appearances_low', 'n_comparisons_low']
        """
        return problems_of(self)


def _kept(n: int, keep: float) -> int:
    # 0.7 · 45 is 31.499999999999996 in floats; six decimals are enough to see that a half was meant.
    return math.floor(round(keep * n, 6) + 0.5)


@dataclass(frozen=True)
class Cost:
    """What a plan costs; money in the currency of the reward, rounded to hundredths, halves up.

    `hours` is the voters' time, `n_tasks` the tasks published over all ballots, `rewards` goes to the
    voters, `fees` to the platform, `hourly_wage` is what a voter earns an hour.
    """

    hours: float
    n_tasks: int
    rewards: float
    fees: float
    total: float
    hourly_wage: float


def cost(
    plan: Plan,
    *,
    seconds_per_comparison: float,
    comparisons_per_task: int,
    reward: float,
    fee: float = 0.2,
    check_comparisons: int = 0,
    check_votes: int = 0,
    votes_per_comparison: int = 1,
) -> Cost:
    """Time and money of a plan: C = t̄ · (N_comp + check votes) (Eq. 10), and a reward and fee an assignment.

    Parameters
    ----------
    seconds_per_comparison : mean time t̄ of one vote, above 0.
    comparisons_per_task : comparisons of the plan in one task; the last task of a ballot may have fewer.
    reward : paid for one assignment, that is to each voter who finishes a task; at least 0.
    fee : the platform's share on top of the reward, 0.2 = 20 %. Any fee is at least 0.01 an assignment.
    check_comparisons : check comparisons added to every task, on top of the plan's.
    check_votes : check votes besides, in all ballots together, in tasks that there are anyway.
    votes_per_comparison : voters who get the same task, so assignments a task.

    Raises `PlanError` for values out of range.

    >>> cost(Plan(990, 7, 0.5, 20), seconds_per_comparison=9, comparisons_per_task=20, reward=0.45)
    Cost(hours=49.15, n_tasks=984, rewards=442.8, fees=88.56, total=531.36, hourly_wage=9.01)
    """
    size = whole(comparisons_per_task, "The number of comparisons in a task", 1)
    checks = whole(check_comparisons, "The number of check comparisons in a task", 0)
    more = whole(check_votes, "The number of check votes", 0)
    voters = whole(votes_per_comparison, "The number of votes a comparison", 1)
    seconds = amount(seconds_per_comparison, "The seconds a comparison takes")
    if seconds == 0:
        raise PlanError("The seconds a comparison takes must be above 0, found 0.")
    price, share = amount(reward, "The reward of a task"), amount(fee, "The fee")
    n_tasks = sum(-(-comparisons // size) for comparisons in plan.comparisons)
    hours = seconds * (voters * plan.n_comparisons + voters * checks * n_tasks + more) / 3600
    rewards = price * voters * n_tasks
    fees = max(price * share, Decimal("0.01")) * voters * n_tasks if share else Decimal(0)
    paid, charged = cents(rewards), cents(fees)
    wage = cents(rewards / hours)
    return Cost(float(hours), n_tasks, float(paid), float(charged), float(paid + charged), float(wage))


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
    last task of a ballot may hold fewer comparisons, so that a plan can cost up to one task a ballot more. Raises
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


@dataclass(frozen=True)
class Quota:
    """The most that one voter may answer of a ballot, so that the fastest don't decide it (§2.5 of the paper).

    `n_assignments` tasks are to be answered in all (each by as many voters as a comparison has votes);
    `tasks_per_voter` and `comparisons_per_voter` are a voter's quota, `share` is its part of the ballot's votes and
    `equal_share` = 1/n_voters what it would be if all answered equally much. `n_needed` voters can answer it all.
    """

    ballot: int
    n_assignments: int
    tasks_per_voter: int
    comparisons_per_voter: int
    share: float
    equal_share: float
    n_needed: int


def quota(plan: Plan, n_voters: int, task_size: int, *, votes_per_comparison: int = 1) -> tuple[Quota, ...]:
    """A voter's quota in each ballot: the fewest tasks ⌈assignments / n_voters⌉ at which all voters can answer it.

    Parameters: `n_voters` expected in every ballot, `task_size` comparisons a task (the last task of a ballot may
    have fewer), `votes_per_comparison` voters who get the same task. Check comparisons are not counted.
    Raises `PlanError` for values out of range, or fewer voters than a comparison has votes.

    >>> first = quota(Plan(990, 7, 0.5, 20), 100, 20)[0]
    >>> first.n_assignments, first.tasks_per_voter, first.comparisons_per_voter, round(first.share, 4), first.n_needed
    (495, 5, 100, 0.0101, 99)
    """
    voters = whole(n_voters, "The number of voters", 1)
    size = whole(task_size, "The number of comparisons in a task", 1)
    votes = whole(votes_per_comparison, "The number of votes a comparison", 1)
    if voters < votes:
        raise PlanError(f"A comparison wants {votes} different voters, and there are {voters}; expect more voters.")
    quotas = []
    for ballot, comparisons in enumerate(plan.comparisons, start=1):
        n_tasks = -(-comparisons // size)
        tasks = -(-n_tasks * votes // voters)
        most = min(tasks * size, comparisons)
        needed = max(votes, -(-n_tasks * votes // tasks))
        quotas.append(Quota(ballot, n_tasks * votes, tasks, most, most / (comparisons * votes), 1 / voters, needed))
    return tuple(quotas)
