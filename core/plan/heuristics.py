"""What is advised for a plan, as warnings with reasons; never limits.

Reference: Lombardo et al. (2020), EMNLP, section 2.7 and footnote 6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .plan import Plan


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
                f"The share that stays, α, is {keep:.3g}, over {highest:.3g}; more than 10 % of the items "
                f"({plan.sizes[-1]} of {n}) reach the last ballot, so the votes are hardly focused on the top."
            ),
        )
    for number, (before, size) in enumerate(zip(plan.sizes, plan.sizes[1:], strict=False), start=2):
        if size == before:
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
