"""The plan of a campaign: how many ballots, which fraction goes on, how often an item appears.

Reference: Lombardo et al. (2020), EMNLP, Eqs. 2–4, 10 and section 2.7.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from .errors import PlanError
from .heuristics import PlanProblem, problems_of

__all__ = ["Cost", "Plan", "PlanProblem", "cost"]

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
        object.__setattr__(self, "n_items", _whole(self.n_items, "The number of items", 2))
        object.__setattr__(self, "n_ballots", _whole(self.n_ballots, "The number of ballots", 1))
        if self.n_ballots > MOST_BALLOTS:
            raise PlanError(f"At most {MOST_BALLOTS:,} ballots, found {self.n_ballots:,}; the paper advises up to 10.")
        object.__setattr__(self, "keep", _fraction(self.keep))
        object.__setattr__(self, "appearances", _appearances(self.appearances, self.n_ballots))
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


def _whole(value: object, name: str, least: int) -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise PlanError(f"{name} must be a whole number, found {value!r}.") from None
    if number < least:
        raise PlanError(f"{name} must be at least {least}, found {number}.")
    return number


def _fraction(value: object) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not 0 < number < 1:
        raise PlanError(f"The fraction kept must lie between 0 and 1 (both excluded), found {value!r}; try 0.5.")
    return number


def _appearances(value: object, n_ballots: int) -> int | tuple[int, ...]:
    name = "The number of appearances of an item in a ballot"
    if hasattr(value, "__index__"):
        return _whole(value, name, 1)
    try:
        numbers = tuple(_whole(entry, name, 1) for entry in value)  # type: ignore[attr-defined]
    except TypeError:
        raise PlanError(f"{name} must be a whole number, or one for each ballot; found {value!r}.") from None
    if len(numbers) != n_ballots:
        raise PlanError(f"Give one number of appearances for each of {n_ballots} ballots; found {len(numbers)}.")
    return numbers


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
    votes_per_comparison : voters who get the same task, so assignments a task.

    Raises `PlanError` for values out of range.

    >>> cost(Plan(990, 7, 0.5, 20), seconds_per_comparison=9, comparisons_per_task=20, reward=0.45)
    Cost(hours=49.15, n_tasks=984, rewards=442.8, fees=88.56, total=531.36, hourly_wage=9.01)
    """
    size = _whole(comparisons_per_task, "The number of comparisons in a task", 1)
    checks = _whole(check_comparisons, "The number of check comparisons in a task", 0)
    voters = _whole(votes_per_comparison, "The number of votes a comparison", 1)
    seconds = _amount(seconds_per_comparison, "The seconds a comparison takes")
    if seconds == 0:
        raise PlanError("The seconds a comparison takes must be above 0, found 0.")
    price, share = _amount(reward, "The reward of a task"), _amount(fee, "The fee")
    n_tasks = sum(-(-comparisons // size) for comparisons in plan.comparisons)
    hours = seconds * (voters * plan.n_comparisons + voters * checks * n_tasks) / 3600
    rewards = price * voters * n_tasks
    fees = max(price * share, Decimal("0.01")) * voters * n_tasks if share else Decimal(0)
    paid, charged = _cents(rewards), _cents(fees)
    wage = _cents(rewards / hours)
    return Cost(float(hours), n_tasks, float(paid), float(charged), float(paid + charged), float(wage))


def _amount(value: float, name: str) -> Decimal:
    number = Decimal(str(value)) if isinstance(value, int | float | Decimal) else Decimal("NaN")
    if not (number.is_finite() and number >= 0):
        raise PlanError(f"{name} must be a number from 0 on, found {value!r}.")
    return number


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
