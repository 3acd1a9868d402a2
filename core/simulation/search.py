"""The search for the plan that makes most of a budget: many plans simulated briefly, the better ones longer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..errors import InputError, PlanError
from ..plan import Plan
from ..protocols import protocol_of
from ..protocols.base import AIMS, BOTH
from ..tables import Floats
from . import simulate_campaigns
from .forecast import ForecastAssumptions
from .similarities import SHAPES, plan_within

MOST_BALLOTS = 10  # each more is another round of waiting for votes (section 2.7)
KEEPS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
# Campaigns of each plan in each round, and the share of the plans that goes on.
ROUNDS = ((6, 0.25), (16, 0.3), (48, 0.4), (200, 0.0))
HELD_OUT = 200  # campaigns on fresh seeds that the winner is judged by
PAPER_BALLOTS, PAPER_KEEP = 7, 0.5  # section 4.2 of the paper
GOALS = AIMS


@dataclass(frozen=True)
class Candidate:
    """A plan with the mean of what it was judged by, the standard error of that, and the campaigns behind it."""

    plan: Plan
    value: float
    error: float
    n_campaigns: int


@dataclass(frozen=True)
class Search:
    """What a search found.

    best : the plan found, judged by campaigns on fresh seeds, which the search hasn't seen.
    paper : the paper's plan (7 ballots, α = .5, the same M in each) at the same budget, by the same protocol and
        campaigns; None where it doesn't fit the items or the budget. `gain` is best minus paper, `gain_error` its
        standard error, from the differences campaign by campaign; NaN without the paper's plan.
    leaders : the plans of the last round, best first, judged by the search's own campaigns.
    """

    protocol: str
    goal: str
    n_comparisons: int
    n_tried: int
    best: Candidate
    paper: Candidate | None
    gain: float
    gain_error: float
    leaders: tuple[Candidate, ...]


class _Judged(NamedTuple):
    plan: Plan
    values: tuple[float, ...]

    def candidate(self) -> Candidate:
        values = np.array(self.values)
        error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan
        return Candidate(self.plan, float(values.mean()), error, len(values))


def plans_within(n_items: int, n_comparisons: int, protocol: str = "paper", aim: str = BOTH) -> list[Plan]:
    """The plans that a search looks at: up to 10 ballots, six values of α, M even, rising or falling over the ballots.

    For a protocol with M of its own (`Protocol.plan_within`) also that, and that for the `aim`.

    Raises `PlanError` where the budget pays for none.
    """
    found: dict[tuple, Plan] = {}
    asked = protocol_of(protocol)
    refused = ""
    for n_ballots in range(1, MOST_BALLOTS + 1):
        for keep in KEEPS[: 1 if n_ballots == 1 else None]:
            for shape in SHAPES if n_ballots > 1 else ("even",):
                try:
                    plan = plan_within(n_items, n_ballots, keep, n_comparisons, shape=shape)
                except PlanError as error:
                    refused = refused or str(error)
                    continue
                found.setdefault(_shape(plan), plan)
            for own in dict.fromkeys((BOTH, aim)) if asked.about.own_appearances and n_ballots > 1 else ():
                with suppress(PlanError):
                    plan = asked.plan_within(n_items, n_ballots, keep, n_comparisons, own)
                    found.setdefault(_shape(plan), plan)
    if not found:
        raise PlanError(refused)
    return list(found.values())


def _shape(plan: Plan) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What tells plans apart: the items and appearances of each ballot."""
    return plan.sizes, plan.appearances_by_ballot


def recommend(
    guess: ForecastAssumptions,
    n_comparisons: int,
    protocol: str,
    *,
    seed: int,
    goal: str = "both",
    workers: int | None = 1,
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Search | None:
    """Search the plan that gives most for a budget of comparisons; None if it was stopped.

    Every plan gets a few campaigns on the same seeds; the better quarter goes on, and so on (successive halving), with
    more campaigns in each round. The paper's plan stays to the end, so that no plan is recommended for chance that does
    worse in the longest round. The heuristics of section 2.7 don't limit the search. The winner is judged anew on
    fresh seeds. With `goal` "both" a campaign counts (ρ_w + τ_w)/2; an undefined figure counts as −1.

    The same seed gives the same answer, whatever the number of workers. Raises `PlanError` where the budget pays for
    no plan, `InputError` for another goal.

    Reference for the rounds: Karnin, Koren & Somekh (2013), "Almost optimal exploration in multi-armed bandits", ICML.
    """
    check_goal(goal)
    plans = plans_within(guess.n_items, n_comparisons, protocol, goal)
    paper = _paper_plan(guess.n_items, n_comparisons)
    if paper is not None:
        plans = [paper, *(plan for plan in plans if _shape(plan) != _shape(paper))]
    slow = protocol_of(protocol).about.effort  # fewer campaigns where each takes many times as long
    rounds, held_out = [(-(-n // slow), share) for n, share in ROUNDS], -(-HELD_OUT // slow)
    total = _planned_work(len(plans), rounds) + held_out * (1 + (paper is not None))
    work = _Work(guess.thinned(), protocol, goal, seed, workers, progress, stop, total)
    judged = [_Judged(plan, ()) for plan in plans]
    for number, (n, share) in enumerate(rounds):
        judged = [_Judged(plan, values + work.values(plan, n, number)) for plan, values in judged]
        if work.is_stopped:
            return None
        judged.sort(key=lambda each: -float(np.mean(each.values)))
        if share:
            ahead = judged[: max(1, round(share * len(judged)))]
            judged = ahead + [each for each in judged[len(ahead) :] if each.plan is paper]
    best = _Judged(judged[0].plan, work.values(judged[0].plan, held_out, len(rounds)))
    other = None if paper is None else _Judged(paper, work.values(paper, held_out, len(rounds)))
    if work.is_stopped:
        return None
    gains = np.array(best.values) - np.array(other.values if other else [np.nan] * held_out)
    return Search(
        protocol,
        goal,
        n_comparisons,
        len(plans),
        best.candidate(),
        other.candidate() if other else None,
        float(gains.mean()),
        float(gains.std(ddof=1) / np.sqrt(held_out)),
        tuple(each.candidate() for each in judged),
    )


def _paper_plan(n_items: int, n_comparisons: int) -> Plan | None:
    """The paper's plan with the largest even M that the budget pays for."""
    try:
        least = Plan(n_items, PAPER_BALLOTS, PAPER_KEEP, 2)
        return Plan(n_items, PAPER_BALLOTS, PAPER_KEEP, 2 * (n_comparisons // least.n_comparisons))
    except PlanError:
        return None


def _planned_work(n_plans: int, rounds: list[tuple[int, float]]) -> int:
    """The campaigns of a search's rounds, the paper's plan left aside where it goes on without being ahead."""
    left, total = n_plans, 0
    for n, share in rounds:
        total += n * left
        left = max(1, round(share * left)) if share else left
    return total


@dataclass
class _Work:
    """Simulates campaigns of one plan after the other, says how far it is, and knows when to stop; `total` is how many
    campaigns there will be."""

    guess: ForecastAssumptions
    protocol: str
    goal: str
    seed: int
    workers: int | None
    progress: Callable[[int, int], None] | None
    stop: Callable[[], bool] | None
    total: int
    done: int = 0
    is_stopped: bool = False

    def values(self, plan: Plan, n: int, number: int) -> tuple[float, ...]:
        """What the plan is judged by in each of `n` campaigns of round `number`; nothing once it is stopped."""
        self.is_stopped = self.is_stopped or (self.stop is not None and self.stop())
        if self.is_stopped:
            return (-1.0,) * n
        thin = self.guess
        run = simulate_campaigns(
            thin.similarity,
            replace(plan, n_items=thin.n_items),
            protocol=self.protocol,
            n=n,
            seed=int(np.random.SeedSequence([self.seed, number]).generate_state(1)[0]),
            workers=self.workers,
            panel=thin.panel,
            notion=thin.notion,
        )
        self.done += n
        if self.progress is not None:
            self.progress(self.done, self.total)
        return tuple(_judge(np.array(run.results), self.goal))


def _judge(accuracies: Floats, goal: str) -> Iterator[float]:
    rho_w, tau_w = (np.nan_to_num(accuracies[:, k], nan=-1.0) for k in (0, 1))
    yield from judged(rho_w, tau_w, goal).tolist()


def check_goal(goal: str) -> None:
    """Raises `InputError` for none of `GOALS`."""
    if goal not in GOALS:
        raise InputError(f"The goal is one of {', '.join(GOALS)}, found {goal!r}.")


def judged(rho_w: Floats, tau_w: Floats, goal: str) -> Floats:
    """What campaigns are judged by, of the same shape: ρ_w, τ_w, or for "both" their mean."""
    return {"both": (rho_w + tau_w) / 2, "rho_w": rho_w, "tau_w": tau_w}[goal]
