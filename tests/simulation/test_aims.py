"""A plan may aim at ρ_w or τ_w alone: more ballots of all items, or more votes on the very top; stored only then."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from campaigns import make_project, run_people

from core.errors import PlanError
from core.plan import Plan
from core.protocols import PROTOCOLS
from core.protocols.base import AIMS, BOTH
from core.protocols.runoff import STEEP, spread_appearances
from core.simulation import simulate_campaign
from core.simulation.search import plans_within
from core.simulation.similarities import at_other_budgets
from core.store import open_store
from core.store.ballots.ballot_rows import read_ballots
from core.store.ballots.drawing import draw_next_ballot
from core.store.projects.archive import export_project, import_project
from core.store.projects.plans import PlanSettings, check_settings, read_plan, with_budget, within_cost
from core.store.scores.project_dataset import read_project_dataset
from core.voters.model import Panel, exponential


def test_ballots_of_all_items_come_before_the_first_cut():
    assert Plan(990, 7, 0.5, 2, 2).sizes == (990, 990, 495, 248, 124, 62, 31)
    assert Plan(990, 2, 0.5, 2, 5).sizes == (990, 990)
    assert Plan(990, 7, 0.5, 2).sizes == Plan(990, 7, 0.5, 2, 1).sizes == (990, 495, 248, 124, 62, 31, 16)
    assert [p.name for p in Plan(990, 6, 0.5, 30, 2).problems()] == []
    with pytest.raises(PlanError, match="ballots of all items must be at least 1"):
        Plan(990, 7, 0.5, 2, 0)
    assert [other.uncut for other in at_other_budgets(Plan(60, 3, 0.5, 20, 2))] == [2] * 7


@pytest.mark.parametrize("aim", ["both_many", "rho_w", "tau_w"])
def test_appearances_follow_the_rank(aim):
    """Of an item that goes no further than ballot k: Σ M of ballots 1…k, in proportion to the mean of (rank + 2)^−γ."""
    plan, steep = spread_appearances(990, 7, 0.5, 400_000, aim), STEEP[aim]
    assert plan.uncut == PROTOCOLS["runoff"].uncut(aim) == steep.uncut
    assert 400_000 - 990 < plan.n_comparisons <= 400_000
    total = np.cumsum(plan.appearances_by_ballot)[steep.uncut - 1 :]
    edges = [*plan.sizes[steep.uncut - 1 :], 0]
    wanted = [np.mean([(rank + 2) ** -steep.gamma for rank in range(low + 1, high + 1)])
              for high, low in itertools.pairwise(edges)]  # fmt: skip
    assert total / total[0] == pytest.approx(np.array(wanted) / wanted[0], rel=0.02)
    if steep.uncut > 1:
        assert plan.appearances_by_ballot[0] / total[0] == pytest.approx(steep.first, abs=0.02)


def test_the_default_is_as_it_was_and_others_are_refused():
    assert spread_appearances(990, 7, 0.5, 19_660, BOTH).appearances == (23, 15, 12, 18, 27, 44, 53)
    for aim in AIMS:
        assert spread_appearances(21, 1, 0.5, 200, aim).appearances == (19,)
        assert PROTOCOLS["paper"].plan_within(60, 3, 0.5, 900, aim) == PROTOCOLS["paper"].plan_within(60, 3, 0.5, 900)
    with pytest.raises(PlanError, match="The aim is one of both, both_many, rho_w, tau_w, found 'rho'"):
        spread_appearances(990, 7, 0.5, 19_660, "rho")
    with pytest.raises(PlanError, match="990 comparisons are too few"):
        spread_appearances(990, 7, 0.5, 990, "rho_w")


def test_a_plan_stores_its_aim_only_where_it_has_one(tmp_path):
    plain = PlanSettings(protocol="runoff")
    assert "aim" not in plain.stored()
    aimed = with_budget(replace(plain, n_ballots=4, aim="rho_w", n_voters=6), 21, 200)
    assert aimed.stored()["aim"] == "rho_w"
    assert aimed.plan(21).sizes == (21, 21, 11, 6)
    cheaper = within_cost(aimed, 21, total=5.0)
    assert cheaper.cost(cheaper.plan(21)).total <= 5.0
    for wrong in ({"aim": "rho"}, {"aim": "tau_w", "protocol": "paper"}):
        with pytest.raises(PlanError, match="aim"):
            check_settings(replace(plain, **wrong))
    store = open_store(tmp_path / "one")
    project_id = make_project(store, plan=aimed)
    assert read_plan(store, project_id) == aimed
    run_people(store, project_id, 1)
    draw_next_ballot(store, project_id)
    assert [ballot.n_items for ballot in read_ballots(store, project_id)] == [21, 21]
    assert read_project_dataset(store, project_id).attrs["plan"]["aim"] == "rho_w"
    copy = import_project(store, export_project(store, project_id))
    assert read_plan(store, copy) == aimed


def test_with_many_votes_a_search_for_both_figures_looks_at_two_ballots_of_all_items_too():
    few, many = plans_within(60, 740, "runoff"), plans_within(60, 760, "runoff")
    assert ({plan.uncut for plan in few}, {plan.uncut for plan in many}) == ({1}, {1, 2})
    assert spread_appearances(60, 4, 0.5, 760, "both_many") in many
    assert {plan.uncut for plan in plans_within(60, 760, "runoff", "tau_w")} == {1}
    assert PlanSettings(protocol="runoff", aim="both_many").goal == "both"
    assert PlanSettings(protocol="runoff", aim="tau_w").goal == "tau_w"


def test_a_search_for_one_figure_looks_at_plans_for_it():
    both, of_rho = plans_within(60, 700, "runoff"), plans_within(60, 700, "runoff", "rho_w")
    assert {plan.uncut for plan in both} == {1}
    assert set(both) < set(of_rho)
    assert {plan.uncut for plan in set(of_rho) - set(both)} == {2}
    assert plans_within(60, 900, "paper", "rho_w") == plans_within(60, 900, "paper")


def test_a_campaign_is_held_by_its_aim():
    plan = spread_appearances(60, 4, 0.5, 900, "rho_w")
    found = simulate_campaign(exponential(60), plan, protocol="runoff", rng=np.random.default_rng(1), panel=Panel(20))
    assert [len(ballot.votes.items) for ballot in found.held] == [60, 60, 30, 15]
    assert found.n_comparisons == plan.n_comparisons
