"""The search for the plan that makes most of a budget: a race, in which plans that are close run longest.

Every plan meets the same voters with the same opinions in campaign 1, 2, … of a round, so that two plans are told
apart by their differences, campaign by campaign. After each round plans leave that are behind by more than chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..base.parallel import Switch, check_workers, spread, workers_for
from ..errors import InputError, PlanError
from ..plan import Plan
from ..protocols import protocol_of
from ..protocols.base import BOTH, GOALS
from ..tables import Floats
from .campaign import WORTH_VOTES, CampaignSeries, accuracy_of
from .conventions import PLANNING
from .forecast import ForecastAssumptions
from .similarities import SHAPES, plan_within

MOST_BALLOTS = 10  # each more is another round of waiting for votes (section 2.7)
KEEPS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
# Campaigns of each plan in each round, and the largest share of the plans that goes on. In the last round batches of as
# many follow each other, `LAST_BATCHES` at most, while plans are close.
ROUNDS = ((4, 0.25), (8, 0.3), (20, 0.4), (20, 1.0))
LAST_BATCHES = 9
BEHIND = 2.5  # standard errors by which a plan is behind the leader when it leaves
ALIKE = 0.0005  # a difference that nobody needs to know
USUAL_TIMES = 4  # campaigns that the spread of differences over all plans counts for in that of one plan
PIECE = 10  # campaigns between two looks at whether to stop
HELD_OUT = 200  # campaigns on fresh seeds that the winner is judged by
PAPER_BALLOTS, PAPER_KEEP = 7, 0.5  # section 4.2 of the paper


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


def plans_within(n_items: int, n_comparisons: int, protocol: str = "paper", goal: str = BOTH) -> list[Plan]:
    """The plans that a search looks at: up to 10 ballots, six values of α, M even, rising or falling over the ballots.

    For a protocol with M of its own (`Protocol.plan_within`) also those of the shapes that it has for the `goal`.

    Raises `PlanError` where the budget pays for none.
    """
    plans: dict[tuple, Plan] = {}
    asked = protocol_of(protocol)
    shapes, refused = asked.shapes(goal, 2 * n_comparisons / n_items), ""
    for n_ballots in range(1, MOST_BALLOTS + 1):
        for keep in KEEPS[: 1 if n_ballots == 1 else None]:
            for shape in SHAPES if n_ballots > 1 else ("even",):
                try:
                    plan = plan_within(n_items, n_ballots, keep, n_comparisons, shape=shape)
                except PlanError as error:
                    refused = refused or str(error)
                    continue
                plans.setdefault(_shape(plan), plan)
            for own in shapes if n_ballots > 1 else ():
                with suppress(PlanError):
                    plan = asked.plan_within(n_items, n_ballots, keep, n_comparisons, own)
                    plans.setdefault(_shape(plan), plan)
    if not plans:
        raise PlanError(refused)
    return list(plans.values())


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

    Every plan gets a few campaigns on the same seeds, and more in each round. After each the plans leave that are
    behind the best by more than 2.5 standard errors of the difference, and of the others all but the best share
    (successive halving). The paper's plan stays to the end, so that no plan is recommended for chance that does worse
    in the longest round. The heuristics of section 2.7 don't limit the search. The winner is judged anew on fresh
    seeds. With `goal` "both" a campaign counts (ρ_w + τ_w)/2; an undefined figure counts as −1.

    The same seed gives the same answer, whatever the number of workers. Raises `PlanError` where the budget pays for
    no plan, `InputError` for another goal.

    References: Karnin, Koren & Somekh (2013), "Almost optimal exploration in multi-armed bandits", ICML (halving);
    Maron & Moore (1997), "The racing algorithm: model selection for lazy learners", Artificial Intelligence Review 11.
    """
    check_goal(goal)
    check_workers(workers, backend="loky")
    plans = plans_within(guess.n_items, n_comparisons, protocol, goal)
    paper = _paper_plan(guess.n_items, n_comparisons)
    if paper is not None:
        plans = [paper, *(plan for plan in plans if _shape(plan) != _shape(paper))]
    slow = protocol_of(protocol).about.effort  # fewer campaigns where each takes many times as long
    rounds, held_out = [(-(-n // slow), share) for n, share in ROUNDS], -(-HELD_OUT // slow)
    at_the_end = held_out * (1 + (paper is not None))
    # Decided once: later rounds are short each, and the processes are there already.
    certain = (rounds[0][0] * len(plans) + at_the_end) * n_comparisons * slow
    workers = workers_for(certain, WORTH_VOTES, workers)
    work = _Work(_series(guess, plans[0], protocol, seed), goal, workers, Switch(stop), progress)
    running = [_Judged(plan, ()) for plan in plans]
    for number, (n, share) in enumerate(rounds):
        is_last = number == len(rounds) - 1
        for batch in range(LAST_BATCHES if is_last else 1):
            ahead = n * (LAST_BATCHES - batch) * len(running) if is_last else _ahead(len(running), rounds[number:])
            results = work.values([each.plan for each in running], n, number + batch, ahead + at_the_end)
            if results is None:
                return None
            running = [_Judged(plan, values + more) for (plan, values), more in zip(running, results, strict=True)]
            running, undecided = _raced(running, paper)
            if is_last and not undecided:
                break
        running = _best_share(running, share, paper)
    last = [running[0].plan] + ([] if paper is None else [paper])
    judged = work.values(last, held_out, len(rounds) + LAST_BATCHES, at_the_end)
    if judged is None:
        return None
    best = _Judged(running[0].plan, judged[0])
    other = None if paper is None else _Judged(paper, judged[1])
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
        tuple(each.candidate() for each in running),
    )


def _raced(running: list[_Judged], paper: Plan | None) -> tuple[list[_Judged], bool]:
    """The plans that aren't behind by more than chance, best first, and whether another may yet turn out better.

    The variance of a plan's differences from the leader is estimated with the mean of all plans' variances, which
    counts as `USUAL_TIMES` more campaigns: few campaigns tell little of it. The paper's plan never leaves.
    """
    running = sorted(running, key=lambda each: -float(np.mean(each.values)))
    values = np.array([each.values for each in running])
    n = values.shape[1]
    behind = values[0] - values[1:]
    if n < 2 or len(running) < 2:
        return running, len(running) > 1
    own = behind.var(axis=1, ddof=1)
    variance = (USUAL_TIMES * own.mean() + (n - 1) * own) / (USUAL_TIMES + n - 1)
    error = np.sqrt(variance / n)
    mean = behind.mean(axis=1)
    stays = mean <= BEHIND * error
    still_running = [each for each, stay in zip(running[1:], stays, strict=True) if stay or each.plan is paper]
    return [running[0], *still_running], bool((BEHIND * error - mean > ALIKE).any())


def _best_share(running: list[_Judged], share: float, paper: Plan | None) -> list[_Judged]:
    """The best of the plans, best first, and the paper's."""
    ahead = running[: max(1, round(share * len(running)))]
    return ahead + [each for each in running[len(ahead) :] if each.plan is paper]


def _paper_plan(n_items: int, n_comparisons: int) -> Plan | None:
    """The paper's plan with the largest even M that the budget pays for."""
    try:
        least = Plan(n_items, PAPER_BALLOTS, PAPER_KEEP, 2)
        return Plan(n_items, PAPER_BALLOTS, PAPER_KEEP, 2 * (n_comparisons // least.n_comparisons))
    except PlanError:
        return None


def _ahead(n_plans: int, rounds: Sequence[tuple[int, float]]) -> int:
    """The campaigns of these rounds at most, the paper's plan left aside where it goes on without being ahead."""
    total = 0
    for place, (n, share) in enumerate(rounds):
        total += n * n_plans * (LAST_BATCHES if place == len(rounds) - 1 else 1)
        n_plans = max(1, round(share * n_plans))
    return total


def _series(guess: ForecastAssumptions, plan: Plan, protocol: str, seed: int) -> CampaignSeries:
    """Campaigns of the guess, thinned, by the quick way of the protocol."""
    thin = guess.thinned()
    asked = replace(plan, n_items=thin.n_items)
    return CampaignSeries(
        thin.similarity, asked, protocol, seed, thin.panel, PLANNING.name, thin.notion, measure=accuracy_of
    )


@dataclass(frozen=True, eq=False)
class _Trial:
    """What a plan is judged by in campaigns of a range; called where a core is free."""

    series: CampaignSeries
    goal: str

    def __call__(self, piece: tuple[Plan, range]) -> tuple[float, ...]:
        plan, numbers = piece
        asked = replace(self.series, plan=replace(plan, n_items=self.series.plan.n_items))
        return tuple(_judge(np.array(asked(numbers)), self.goal))


class _Work:
    """Simulates campaigns of plan after plan, on all cores where that pays, and says how far it is."""

    def __init__(
        self,
        series: CampaignSeries,
        goal: str,
        workers: int,
        switch: Switch,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self.series, self.goal, self.workers = series, goal, workers
        self.switch, self.progress, self.done = switch, progress, 0

    def values(self, plans: Sequence[Plan], n: int, number: int, ahead: int) -> list[tuple[float, ...]] | None:
        """What each plan is judged by in each of `n` campaigns of round `number`; None once it is stopped.

        ahead : the campaigns still to come at most, these among them.
        """
        seed = int(np.random.SeedSequence([self.series.seed, number]).generate_state(1)[0])
        trial = _Trial(replace(self.series, seed=seed), self.goal)
        total = self.done + ahead
        pieces = [(plan, range(at, min(at + PIECE, n))) for plan in plans for at in range(0, n, PIECE)]
        found: list[float] = []
        for values in spread(trial, self.switch.until(pieces), workers=self.workers):
            found.extend(values)
            self.done += len(values)
            if self.progress is not None:
                self.progress(self.done, total)
            self.switch.look()
        if self.switch.is_off:
            return None
        return [tuple(found[at : at + n]) for at in range(0, len(found), n)]


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
