"""The plan of a campaign and its costs: how many ballots, which fraction goes on, how often an item appears.

Values are checked as they are given: any kind of number that means the right thing is taken. Advice comes as warnings
with reasons, never as limits.

Reference: Lombardo et al. (2020), EMNLP, Eqs. 2–4, 10, section 2.7 and footnote 6.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from ..errors import PlanError

__all__ = ["Cost", "Plan", "PlanProblem", "Quota", "cost", "quota"]


def whole(value: Any, name: str, least: int) -> int:
    """A whole number of at least `least`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise PlanError(f"{name} must be a whole number, found {value!r}.") from None
    if number < least:
        raise PlanError(f"{name} must be at least {least}, found {number}.")
    return number


def check_limits(settings: object, limits: Mapping[str, tuple[float, float, str]]) -> None:
    """Raise `PlanError` for the first number out of its limits: lowest, highest, and what people call it."""
    for name, (lowest, highest, label) in limits.items():
        value = getattr(settings, name)
        if not (math.isfinite(value) and lowest <= value <= highest):
            raise PlanError(f"{label} is {value:g}; it must lie between {lowest:g} and {highest:,}.")


def fraction(value: Any) -> float:
    """A fraction between 0 and 1, both excluded."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 < number < 1:
        raise PlanError(f"The fraction kept must lie between 0 and 1 (both excluded), found {value!r}; try 0.5.")
    return number


def appearances(value: Any, n_ballots: int) -> int | tuple[int, ...]:
    """One number of appearances, or one for each ballot."""
    name = "The number of appearances of an item per ballot"
    if hasattr(value, "__index__"):
        return whole(value, name, 1)
    try:
        numbers = tuple(whole(entry, name, 1) for entry in value)
    except TypeError:
        raise PlanError(f"{name} must be a whole number, or one for each ballot; found {value!r}.") from None
    if len(numbers) != n_ballots:
        raise PlanError(f"Give one number of appearances for each of {n_ballots} ballots; found {len(numbers)}.")
    return numbers


def n_kept(n: int, keep: float) -> int:
    """How many of n items a share of them is: round(keep · n), halves up (Eq. 2).

    >>> n_kept(45, 0.7), n_kept(45, 0.5)
    (32, 23)
    """
    # 0.7 · 45 is 31.499999999999996 in floats; six decimals are enough to see that a half was meant.
    return math.floor(round(keep * n, 6) + 0.5)


def amount(value: float, name: str) -> Decimal:
    """A number from 0 on, exactly as it is written."""
    number = Decimal(str(value)) if isinstance(value, int | float | Decimal) else Decimal("NaN")
    if not (number.is_finite() and number >= 0):
        raise PlanError(f"{name} must be a number, 0 or more, found {value!r}.")
    return number


def cents(value: Decimal) -> Decimal:
    """Rounded to hundredths, halves up."""
    return value.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


@dataclass(frozen=True)
class PlanProblem:
    """Something about a plan that deserves a second thought; never a reason to refuse it.

    `name` identifies the rule, `bound` is the advised limit, `value` what the plan has there, and
    `message` says in plain words what that means. What is slight costs the scores nothing, and is no advice of
    section 2.7: plans that spread votes by rank, as Runoff proposes them, have it often.
    """

    name: str
    bound: float
    value: float
    message: str
    is_slight: bool = False


def problems_of(plan: Plan) -> tuple[PlanProblem, ...]:
    """The advice of section 2.7 that a plan does not follow, and ballots that can't be drawn evenly.

    2 ≤ n_b ≲ 10; (2/N)^(1/(n_b−1)) ≲ α ≲ 0.1^(1/(n_b−1)); M_top ≳ 100; N_comp ≳ 50·N/((1−α)·n_b); M even;
    M below the number of items; every ballot smaller than the one before.
    """
    return (*_ballot_problems(plan), *_precision_problems(plan), *_drawing_problems(plan))


def _ballot_problems(plan: Plan) -> Iterator[PlanProblem]:
    n, ballots, keep = plan.n_items, plan.n_ballots, plan.keep
    if ballots < 2:
        yield PlanProblem(
            "n_ballots_low",
            2,
            ballots,
            "With a single ballot every item gets the same votes; only from 2 ballots on do the top items get more.",
        )
        return
    if ballots > 10:
        yield PlanProblem(
            "n_ballots_high",
            10,
            ballots,
            (
                f"The plan has {ballots} ballots; more than 10 interrupt the collection too often, since all votes "
                "of a ballot must be in before the next is drawn."
            ),
        )
    lowest, highest = (2 / n) ** (1 / (ballots - 1)), 0.1 ** (1 / (ballots - 1))
    if _below(keep, lowest):
        yield PlanProblem(
            "keep_low",
            lowest,
            keep,
            (
                f"The share that stays, α, is {keep:.3g}, under {lowest:.3g}; the last ballot then has hardly two "
                "items, and a true top item is easily lost on the way."
            ),
        )
    if _below(highest, keep):
        yield PlanProblem(
            "keep_high",
            highest,
            keep,
            (
                f"The share that stays, α, is {keep:.3g}, over {highest:.3g}; more than 10% of the items "
                f"({plan.sizes[-1]} of {n}) reach the last ballot, so the votes are hardly focused on the top."
            ),
        )
    for number, (before, size) in enumerate(zip(plan.sizes, plan.sizes[1:], strict=False), start=2):
        if size == before and number > plan.uncut:
            yield PlanProblem(
                "no_item_left_out",
                before - 1,
                size,
                (
                    f"Ballot {number} has all {size} items of the ballot before, because {keep:.3g} of them rounds "
                    "to all of them; it adds votes but no focus."
                ),
            )
            return


def _precision_problems(plan: Plan) -> Iterator[PlanProblem]:
    if plan.top_appearances < 100:
        yield PlanProblem(
            "top_appearances_low",
            100,
            plan.top_appearances,
            (
                f"A top item appears {plan.top_appearances} times over all ballots, under 100; its score will not be "
                "precise."
            ),
        )
    needed = 50 * plan.n_items / ((1 - plan.keep) * plan.n_ballots)
    if plan.n_ballots > 1 and _below(plan.n_comparisons, needed):
        yield PlanProblem(
            "n_comparisons_low",
            needed,
            plan.n_comparisons,
            (
                f"The plan has {plan.n_comparisons:,} comparisons, under the {math.ceil(needed):,} that precise "
                "scores at the top are expected to take."
            ),
        )


def _drawing_problems(plan: Plan) -> Iterator[PlanProblem]:
    by_ballot = tuple(zip(plan.appearances_by_ballot, plan.sizes, strict=True))
    odd = [number for number, (m, n) in enumerate(by_ballot, start=1) if m * n % 2]
    if odd:
        m, n = by_ballot[odd[0] - 1]
        yield PlanProblem(
            "odd_appearances",
            m + 1,
            m,
            (
                f"In {_ballots(odd)} appearances and items are both odd (first {m} and {n}), so one item must appear "
                "once more than the others; an even number avoids it."
            ),
            is_slight=True,
        )
    crowded = [number for number, (m, n) in enumerate(by_ballot, start=1) if m > n - 1]
    if crowded:
        m, n = by_ballot[crowded[0] - 1]
        yield PlanProblem(
            "repeated_pairs",
            n - 1,
            m,
            _crowded(crowded, m, n),
            is_slight=True,
        )


def _crowded(ballots: list[int], m: int, n: int) -> str:
    """What to say where items appear m times among n in the first of these ballots."""
    if len(ballots) == 1:
        return (
            f"In {_ballots(ballots)} an item appears more often ({m} times) than it has opponents ({n - 1}), so "
            "the same two items meet more than once."
        )
    return (
        f"In {_ballots(ballots)} an item appears more often ({m} times) than it has opponents ({n - 1} in ballot "
        f"{ballots[0]}), so the same two items meet more than once."
    )


def _ballots(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"ballot {numbers[0]}"
    return f"ballots {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def _below(value: float, bound: float) -> bool:
    """value < bound, a difference in the last digits aside."""
    return value < bound and not math.isclose(value, bound, rel_tol=1e-9)


MOST_BALLOTS = 1000  # a bound against slips of the pen; the paper's own advice is 10


@dataclass(frozen=True)
class Plan:
    """How a campaign spends its votes.

    Parameters
    ----------
    n_items : number N of items, at least 2.
    n_ballots : number n_b of ballots, at least 1 (1 = every item is treated alike).
    keep : fraction α of the items that goes on to the next ballot, between 0 and 1, both excluded.
    appearances : how often an item appears in a ballot, M: one number, or one for each ballot.
    uncut : how many ballots have all items before the first cut, from 1 on; 1 in the paper.

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
    uncut: int = 1

    def __post_init__(self) -> None:
        # Whole numbers of other kinds (NumPy's, a list of them) are taken, and kept as plain ints.
        object.__setattr__(self, "n_items", whole(self.n_items, "The number of items", 2))
        object.__setattr__(self, "n_ballots", whole(self.n_ballots, "The number of ballots", 1))
        if self.n_ballots > MOST_BALLOTS:
            raise PlanError(f"At most {MOST_BALLOTS:,} ballots, found {self.n_ballots:,}; the paper advises up to 10.")
        object.__setattr__(self, "keep", fraction(self.keep))
        object.__setattr__(self, "appearances", appearances(self.appearances, self.n_ballots))
        object.__setattr__(self, "uncut", whole(self.uncut, "The number of ballots of all items", 1))
        for number, size in enumerate(self.sizes, start=1):
            if size < 2:
                left = "1 item" if size == 1 else "no item"
                raise PlanError(
                    f"Ballot {number} would have {left}, and a comparison needs two; "
                    "keep a larger fraction or plan fewer ballots."
                )

    @property
    def sizes(self) -> tuple[int, ...]:
        """Items of each ballot: N(1) = N, N(k) = round(α·N(k−1)), halves up (Eq. 2); N(k) = N for k ≤ `uncut`."""
        sizes = [self.n_items] * min(self.uncut, self.n_ballots)
        while len(sizes) < self.n_ballots:
            sizes.append(n_kept(sizes[-1], self.keep))
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
    check_votes: int = 0,
) -> Cost:
    """Time and money of a plan: C = t̄ · (N_comp + check votes) (Eq. 10), and a reward and fee an assignment.

    Parameters
    ----------
    seconds_per_comparison : mean time t̄ of one vote, above 0.
    comparisons_per_task : comparisons of the plan in one task; the last task of a ballot may have fewer.
    reward : paid for one assignment, that is to each voter who finishes a task; at least 0.
    fee : the platform's share on top of the reward, 0.2 = 20%. Any fee is at least 0.01 per assignment.
    check_votes : check votes on top of the plan's, in all ballots together, in tasks that there are anyway.

    Raises `PlanError` for values out of range.

    >>> cost(Plan(990, 7, 0.5, 20), seconds_per_comparison=9, comparisons_per_task=20, reward=0.45)
    Cost(hours=49.15, n_tasks=984, rewards=442.8, fees=88.56, total=531.36, hourly_wage=9.01)
    """
    size = whole(comparisons_per_task, "The number of comparisons in a task", 1)
    checks = whole(check_votes, "The number of check votes", 0)
    seconds = amount(seconds_per_comparison, "The seconds a comparison takes")
    if seconds == 0:
        raise PlanError("The seconds a comparison takes must be above 0, found 0.")
    price, share = amount(reward, "The reward of a task"), amount(fee, "The fee")
    n_tasks = sum(-(-comparisons // size) for comparisons in plan.comparisons)
    hours = seconds * (plan.n_comparisons + checks) / 3600
    rewards = price * n_tasks
    fees = max(price * share, Decimal("0.01")) * n_tasks if share else Decimal(0)
    paid, charged = cents(rewards), cents(fees)
    wage = cents(rewards / hours)
    return Cost(float(hours), n_tasks, float(paid), float(charged), float(paid + charged), float(wage))


@dataclass(frozen=True)
class Quota:
    """The most that one voter may answer of a ballot, so that the fastest don't decide it (§2.5 of the paper).

    `n_assignments` tasks are to be answered in all (each by as many voters as a comparison has votes);
    `tasks_per_voter` and `comparisons_per_voter` are a voter's quota, `share` is its part of the ballot's votes.
    `n_needed` voters can answer it all.
    """

    ballot: int
    n_assignments: int
    tasks_per_voter: int
    comparisons_per_voter: int
    share: float
    n_needed: int


def quota(plan: Plan, n_voters: int, task_size: int, *, votes_per_comparison: int = 1) -> tuple[Quota, ...]:
    """A voter's quota in each ballot: the fewest tasks ⌈assignments / n_voters⌉ at which all voters can answer it.

    Parameters: `n_voters` expected in every ballot, `task_size` comparisons per task (the last task of a ballot may
    have fewer), `votes_per_comparison` voters who get the same task. Check comparisons are not counted.
    Raises `PlanError` for values out of range, or fewer voters than a comparison has votes.

    >>> first = quota(Plan(990, 7, 0.5, 20), 100, 20)[0]
    >>> first.n_assignments, first.tasks_per_voter, first.comparisons_per_voter, round(first.share, 4), first.n_needed
    (495, 5, 100, 0.0101, 99)
    """
    of = {"n_voters": n_voters, "task_size": task_size, "votes_per_comparison": votes_per_comparison}
    return tuple(ballot_quota(k, comparisons, **of) for k, comparisons in enumerate(plan.comparisons, start=1))


def ballot_quota(
    ballot: int, comparisons: int, n_voters: int, task_size: int, *, votes_per_comparison: int = 1, tasks: int = 0
) -> Quota:
    """A voter's quota in one ballot of so many comparisons; `tasks` per voter in place of the fewest, where given.

    Otherwise as `quota`.

    >>> ballot_quota(1, 396, n_voters=12, task_size=10).tasks_per_voter
    4
    """
    voters = whole(n_voters, "The number of voters", 1)
    size = whole(task_size, "The number of comparisons in a task", 1)
    votes = whole(votes_per_comparison, "The number of votes per comparison", 1)
    if voters < votes:
        raise PlanError(f"A comparison wants {votes} different voters, and there are {voters}; expect more voters.")
    n_tasks = -(-comparisons // size)
    tasks = tasks or -(-n_tasks * votes // voters)
    most = min(tasks * size, comparisons)
    needed = max(votes, -(-n_tasks * votes // tasks))
    return Quota(ballot, n_tasks * votes, tasks, most, most / (comparisons * votes), needed)
