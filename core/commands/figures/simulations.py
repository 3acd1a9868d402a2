"""Figures that are simulated for a project: a plan before there are votes, and what it takes to tell models apart.

Of a plan they are other budgets, the best plan, and other kinds of question; of two of the project's embeddings, how
many votes and tokens would tell them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import sqlalchemy as sa

from ...base.parallel import Progress
from ...errors import InputError, RunoffError
from ...evaluation.figures import FigureSettings
from ...evaluation.sample_size import Needed, VotingScenario, tokens_needed, votes_needed
from ...evaluation.vote_intervals import FIGURES as OF_VOTES
from ...plan import Plan
from ...simulation.equal_time import EqualTime, simulate_equal_time
from ...simulation.similarities import at_other_budgets
from ...store import Store
from ...store.projects.plans import read_plan
from ...store.scores.forecasts import (
    BALLOT_VOTES,
    GuessSource,
    fit_stored,
    make_forecast,
    make_search,
    read_guess,
)
from ...voters.model import PAPER_PANEL, Panel
from .base import Figure, R
from .evaluation import OfEvaluation
from .evaluation_inputs import Evaluated

MOST_TIMES, MOST_VOTES = 16, 200_000  # how far the simulation goes
SEED = 2020


@dataclass(frozen=True)
class SampleSizes:
    """What was found: by votes and by tokens, each left out with the reason in `problems`; `voters` says who voted."""

    found: tuple[Needed, ...]
    problems: tuple[str, ...]
    voters: str


@dataclass(frozen=True)
class RequiredSample(OfEvaluation[SampleSizes]):
    """What tells two embeddings apart; `extra` is the first, the second, the figure, and who votes: "fitted" or
    "paper". What can't be told is a problem. Raises `InputError` where an embedding is gone."""

    kind: ClassVar[str] = "figure"
    name = "needed"
    version: ClassVar[int] = 4
    doing = "Simulating what it takes"

    def takes(self, view: Evaluated) -> float:
        return 60.0 + 0.3 * len(view.dataset)

    def made(self, store: Store, view: Evaluated, progress: Progress | None) -> SampleSizes:
        first, second, figure, voters = self.extra
        if view.compared is None or not {first, second} <= set(view.compared.names):
            raise InputError("The project hasn't these embeddings any more. Choose others.")
        every = np.logical_and.reduce([~np.isnan(e.values) for e in view.compared.evaluations])
        pairs = view.compared.evaluations[0].pairs[every]
        of = dict(zip(view.compared.names, (e.values[every] for e in view.compared.evaluations), strict=True))
        models = of[first], of[second]
        n_votes = max(int(view.dataset.attrs["votes"]), 1)
        voting, note = _voting(store, self.project_id, view.notion, voters, n_votes)
        settings, rng = FigureSettings((figure,), view.n0, view.top, view.ranked_apart), np.random.default_rng(SEED)

        def votes() -> Needed:
            if view.ranked_apart:
                raise InputError("Votes needed are simulated for one ranking; here each area has its own.")
            most = min(max(MOST_TIMES * n_votes, 20 * len(pairs)), MOST_VOTES)
            scores = pairs["score"].to_numpy(dtype=np.float64)
            return votes_needed(
                scores, models, settings, votes=(n_votes, most), voting=voting, rng=rng, progress=_half(progress, 0)
            )

        def tokens() -> Needed:
            return tokens_needed(pairs, models, settings, rng=rng, progress=_half(progress, 1))

        estimates, problems = [], []
        for search in (votes, tokens) if figure in OF_VOTES else (tokens,):
            try:
                estimates.append(search())
            except RunoffError as error:
                problems.append(str(error))
        return SampleSizes(tuple(estimates), tuple(problems), note)


def _half(progress: Progress | None, which: int) -> Progress | None:
    """Progress of the first or the second of two searches, as one."""
    if progress is None:
        return None
    return lambda done, total: progress(round(500 * (which + min(done / total, 1))), 1000)


def _voting(store: Store, project_id: str, notion: str, voters: str, n_votes: int) -> tuple[VotingScenario, str]:
    """Who votes in the simulation and in what ballots; the same in words."""
    panel, words = PAPER_PANEL, "voters like the paper's (σ* .02 to .2, ε .005 to .05)"
    if voters == "fitted":
        fitted = fit_stored(store, project_id, None, "exponential", BALLOT_VOTES)
        found = fitted.fit.panel() if fitted.fit is not None else None
        if found is None:
            words = f"{words}, as none could be fitted: {fitted.reason}"
        else:
            panel = Panel(found.n_voters, found.nonconformity, found.oversight)
            sigma, epsilon = found.nonconformity, found.oversight
            words = (
                f"voters fitted to these votes (σ* {sigma[0]:.3f} to {sigma[1]:.3f}, "
                f"ε {epsilon[0]:.3f} to {epsilon[1]:.3f})"
            )
    plan = read_plan(store, project_id)
    if plan is None:
        return VotingScenario(panel, notion=notion), words
    each = max(5, round(n_votes / max(plan.n_voters, 1)))
    return VotingScenario(panel, each, plan.n_ballots, plan.keep, notion=notion), words


@dataclass(frozen=True)
class Simulation(Figure[R]):
    """Campaigns simulated for a project: half a minute and more."""

    kind: ClassVar[str] = "simulation"
    lasts: ClassVar[bool] = True

    def seconds(self, conn: sa.Connection) -> float:
        return 30.0


@dataclass(frozen=True)
class Forecasts(Simulation[int]):
    """Forecasts of a plan's ballots by each protocol; those known already are passed over. They are kept for themselves
    (`store.scores.forecasts`); how many there are. `plan` is `Plan` as JSON."""

    area_id: int | None
    guess: GuessSource
    plan: dict[str, Any]
    protocols: tuple[str, ...]

    def plans(self) -> Sequence[Plan]:
        """The plans that are simulated."""
        raise NotImplementedError

    def measure(self, store: Store, progress: Progress | None) -> tuple[int, None]:
        guess = read_guess(store, self.project_id, self.area_id, self.guess)
        wanted = [(plan, of) for plan in self.plans() for of in self.protocols]
        for done, (plan, protocol) in enumerate(wanted):
            if progress is not None:
                progress(done, len(wanted))
            make_forecast(store, guess, plan, protocol, workers=None)
        return len(wanted), None


@dataclass(frozen=True)
class PlanOutlook(Forecasts):
    """Forecasts of a plan as it stands."""

    name = "plan_outlook"
    version = 2
    doing = "Simulating the plan"

    def plans(self) -> Sequence[Plan]:
        return [Plan(**self.plan)]


@dataclass(frozen=True)
class OtherBudgets(Forecasts):
    """Forecasts of a plan's ballots at other budgets."""

    name = "plan_curve"
    version = 3
    doing = "Simulating other budgets"

    def plans(self) -> Sequence[Plan]:
        return at_other_budgets(Plan(**self.plan))


@dataclass(frozen=True)
class BestPlan(Simulation[int]):
    """The search for the plan that makes most of a budget. It is kept for itself; how many plans were tried."""

    name = "plan_search"
    version = 3
    doing = "Searching for the best plan"
    area_id: int | None
    guess: GuessSource
    n_comparisons: int
    protocol: str
    goal: str

    def measure(self, store: Store, progress: Progress | None) -> tuple[int, None]:
        guess = read_guess(store, self.project_id, self.area_id, self.guess)
        of = (self.n_comparisons, self.protocol, self.goal)
        search = make_search(store, guess, *of, workers=None, progress=progress)
        return search.n_tried if search else 0, None


@dataclass(frozen=True)
class KindsAtEqualTime(Simulation[EqualTime]):
    """Other kinds of question for the time of a plan's comparisons; `plan` is `Plan` as JSON, `items` tells the guess
    of the items from others (`ForecastAssumptions.digest`)."""

    name = "equal_time"
    version = 2
    doing = "Simulating the kinds of question"
    area_id: int | None
    guess: GuessSource
    plan: dict[str, Any]
    protocol: str
    items: str

    def measure(self, store: Store, progress: Progress | None) -> tuple[EqualTime, None]:
        guess = read_guess(store, self.project_id, self.area_id, self.guess)
        return simulate_equal_time(guess, Plan(**self.plan), self.protocol, seed=SEED, progress=progress), None
