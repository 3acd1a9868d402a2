"""What is simulated of a plan before there are votes: other budgets, the best plan, the schemes side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import sqlalchemy as sa

from ...base.parallel import Progress
from ...plan import Plan
from ...simulation.schemes import SchemeRow
from ...simulation.similarities import at_other_budgets
from ...store import Store
from ...store.scores.forecasts import GuessSource, SchemeQuestion, make_forecast, make_search, read_guess, run_schemes
from .base import Figure, R


@dataclass(frozen=True)
class Simulation(Figure[R]):
    """Campaigns simulated for a project: half a minute and more."""

    kind: ClassVar[str] = "simulation"
    lasts: ClassVar[bool] = True

    def seconds(self, conn: sa.Connection) -> float:
        return 30.0


@dataclass(frozen=True)
class OtherBudgets(Simulation[int]):
    """Forecasts of a plan's ballots at other budgets, by each protocol; those known already are passed over. They are
    kept for themselves (`store.forecasts`); how many there are. `plan` is `Plan` as JSON."""

    name = "plan_curve"
    version = 2
    doing = "Simulating other budgets"
    area_id: int | None
    guess: GuessSource
    plan: dict[str, Any]
    protocols: tuple[str, ...]

    def measure(self, store: Store, progress: Progress | None) -> tuple[int, None]:
        guess = read_guess(store, self.project_id, self.area_id, self.guess)
        wanted = [(other, of) for other in at_other_budgets(Plan(**self.plan)) for of in self.protocols]
        for done, (other, protocol) in enumerate(wanted):
            if progress is not None:
                progress(done, len(wanted))
            make_forecast(store, guess, other, protocol, workers=None)
        return len(wanted), None


@dataclass(frozen=True)
class BestPlan(Simulation[int]):
    """The search for the plan that makes most of a budget. It is kept for itself; how many plans were tried."""

    name = "plan_search"
    version = 2
    doing = "Searching the best plan"
    area_id: int | None
    guess: GuessSource
    n_comparisons: int
    protocol: str
    goal: str

    def measure(self, store: Store, progress: Progress | None) -> tuple[int, None]:
        guess = read_guess(store, self.project_id, self.area_id, self.guess)
        of = (self.n_comparisons, self.protocol, self.goal)
        made = make_search(store, guess, *of, workers=None, progress=progress)
        return made.n_tried if made else 0, None


@dataclass(frozen=True)
class SchemesAtEqualCost(Simulation[tuple[SchemeRow, ...]]):
    """The schemes side by side; `items` is a digest of the items."""

    name = "scheme_table"
    version = 3
    doing = "Simulating the schemes"
    asked: SchemeQuestion
    items: str

    @classmethod
    def of(cls, store: Store, project_id: str, asked: SchemeQuestion) -> SchemesAtEqualCost:
        """What is asked of a project's items as they are; errors as of `SchemeQuestion.digest`."""
        return cls(project_id, 0, asked, asked.digest(store, project_id))

    def measure(self, store: Store, progress: Progress | None) -> tuple[tuple[SchemeRow, ...], None]:
        return tuple(run_schemes(store, self.project_id, self.asked, progress=progress)), None
