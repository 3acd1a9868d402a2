"""Forecasts and searches are kept by what they depend on, and read back as they were made."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from campaigns import make_project

from core.commands import executor
from core.commands.figures import base as figures
from core.commands.figures.base import Figure
from core.commands.figures.simulations import BestPlan, KindsAtEqualTime, OtherBudgets
from core.errors import StoreError
from core.jobs import lifecycle
from core.plan import Plan
from core.simulation import search
from core.simulation.forecast import ForecastAssumptions
from core.simulation.similarities import at_other_budgets
from core.store.projects.archive import export_project
from core.store.projects.plans import read_rankings, set_ranking
from core.store.scores import forecasts
from core.store.scores.forecasts import (
    GuessSource,
    known_forecast,
    known_search,
    make_forecast,
    make_search,
    read_guess,
)
from core.views import plan as planner
from core.voters.model import PAPER_PANEL, exponential, power_law

PLAN = Plan(21, 2, 0.5, 4)
PANEL = replace(PAPER_PANEL, n_voters=10)


@pytest.fixture
def guess():
    return ForecastAssumptions(exponential(21), PANEL)


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(search, "ROUNDS", ((2, 0.1), (4, 0.0)))
    monkeypatch.setattr(search, "HELD_OUT", 5)


def test_a_forecast_is_made_once_and_read_back_as_it_was(store, guess, monkeypatch):
    assert known_forecast(store, guess, PLAN, "paper") is None
    made = make_forecast(store, guess, PLAN, "paper")
    monkeypatch.setattr(forecasts, "forecast", None)  # nobody asks for it again
    assert known_forecast(store, guess, PLAN, "paper") == made
    assert make_forecast(store, guess, PLAN, "paper") == made


@pytest.mark.parametrize("name", ["similarity", "panel", "notion", "protocol", "keep", "appearances"])
def test_whatever_it_depends_on_makes_another_forecast(store, guess, name):
    make_forecast(store, guess, PLAN, "paper")
    other, plan, protocol = guess, PLAN, "paper"
    if name == "similarity":
        other = ForecastAssumptions(power_law(21), PANEL)
    elif name == "panel":
        other = ForecastAssumptions(guess.similarity, replace(PANEL, n_voters=11))
    elif name == "notion":
        other = ForecastAssumptions(guess.similarity, PANEL, "similarity")
    elif name == "protocol":
        protocol = "uniform"
    else:
        plan = Plan(21, 2, 0.4, 4) if name == "keep" else Plan(21, 2, 0.5, (4, 6))
    assert known_forecast(store, other, plan, protocol) is None


def test_a_stopped_forecast_is_not_kept(store, guess):
    assert make_forecast(store, guess, PLAN, "paper", stop=lambda: True) is None
    assert known_forecast(store, guess, PLAN, "paper") is None


def test_an_undefined_figure_comes_back_undefined(store):
    flat = ForecastAssumptions(np.full(21, 0.5), PANEL)  # no true ranking, so nothing to agree with
    made = make_forecast(store, flat, PLAN, "uniform")
    known = known_forecast(store, flat, PLAN, "uniform")
    assert np.isnan(made.rho_w.mean)
    assert np.isnan(known.rho_w.mean)
    assert np.isnan(known.separable)


@pytest.mark.release
def test_a_search_is_read_back_as_it_was(store, quick):
    guess = ForecastAssumptions(exponential(130), PANEL)
    made = make_search(store, guess, 600, "paper", "tau_w")
    assert made.paper is not None
    assert known_search(store, guess, 600, "paper", "tau_w") == made
    assert known_search(store, guess, 600, "paper", "rho_w") is None
    small = ForecastAssumptions(exponential(21), PANEL)
    assert make_search(store, small, 200, "paper", "both").paper is None
    assert np.isnan(known_search(store, small, 200, "paper", "both").gain)


def test_a_guess_is_of_the_rankings_items(store):
    project_id = make_project(store, plan=None)
    assert read_guess(store, project_id, None, GuessSource()).n_items == 21
    set_ranking(store, project_id, "area")
    sizes = [
        read_guess(store, project_id, ranking.area_id, GuessSource("power_law")).n_items
        for ranking in read_rankings(store, project_id)
    ]
    assert sizes == [15, 6]
    with pytest.raises(StoreError, match="hasn't that embedding"):
        read_guess(store, project_id, None, GuessSource("gone"))


def test_a_project_file_holds_no_simulations(store, guess):
    project_id = make_project(store)
    before = export_project(store, project_id)
    make_forecast(store, guess, PLAN, "paper")
    assert export_project(store, project_id) == before


@pytest.mark.release
def test_jobs_fill_the_curve_and_the_search(store):
    project_id = make_project(store)
    guess = read_guess(store, project_id, None, GuessSource(panel=PANEL))
    source = GuessSource(panel=PANEL)
    plan = {"n_items": 21, "n_ballots": 2, "keep": 0.5, "appearances": 4}
    curve = OtherBudgets(project_id, 0, None, source, plan, tuple(planner.compared()))
    finish(store, executor.start(store, curve))
    curve = planner.load_curve(store, guess, PLAN)
    assert len(curve) == planner.n_wanted(PLAN) * 2
    assert sorted(set(curve["votes"])) == sorted({other.n_comparisons for other in at_other_budgets(PLAN)})
    assert planner.load_outlook(store, guess, PLAN).is_complete
    assert planner.load_outlook(store, guess, PLAN).table()["votes"].tolist() == [64, 64, 64]
    finish(store, executor.start(store, BestPlan(project_id, 0, None, source, 30, "paper", "rho_w")))
    assert known_search(store, guess, 30, "paper", "rho_w").best.plan.n_comparisons <= 30
    kinds = KindsAtEqualTime(project_id, 0, None, source, plan, "paper", guess.digest())
    finish(store, job_id := executor.start(store, kinds))
    found = figures.read(store, kinds, lifecycle.read_job(store, job_id)).result
    assert (found.n_comparisons, len(found.kinds)) == (PLAN.n_comparisons, 5)


def test_a_job_knows_every_figure():
    """One that it doesn't know ends as the work of another version."""

    def below(kind):
        return [kind, *(each for of in kind.__subclasses__() for each in below(of))]

    here = [kind for kind in below(Figure) if "name" in vars(kind) and kind.__module__.startswith("core.")]
    assert {kind.__name__ for kind in here} == {kind.__name__ for kind in executor.FIGURES.values()}


def ended(store, job_id):
    """The job as it ended; as it is after some minutes, where it doesn't end."""
    for _ in range(3000):
        job = lifecycle.read_job(store, job_id)
        if job.ended:
            break
        time.sleep(0.1)
    return job


def finish(store, job_id):
    job = ended(store, job_id)
    assert (job.state, job.error) == ("done", None)


def test_a_budget_that_pays_for_nothing_is_told_by_the_job(store):
    project_id = make_project(store)
    wanted = BestPlan(project_id, 0, None, GuessSource(), 10, "paper", "both")
    job = ended(store, executor.start(store, wanted))
    assert job.state == "failed"
    assert "the budget is 10" in job.error
