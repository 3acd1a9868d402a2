"""What the planner's results do to the form of the plan."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from core.protocols.runoff import spread_appearances
from core.store.projects.plans import PlanSettings
from ui.plan import planner_jobs


@pytest.mark.parametrize(
    ("goal", "shape", "aim"),
    [
        ("both", "both_many", "both_many"),
        ("both", "both", None),  # as it stands
        ("rho_w", "rho_w", "rho_w"),
        ("tau_w", "tau_w", None),
    ],
)
def test_a_plan_that_is_used_has_the_aim_with_as_many_ballots_of_all_items(monkeypatch, goal, shape, aim):
    state: dict[str, object] = {}
    monkeypatch.setattr(planner_jobs, "st", SimpleNamespace(session_state=state))
    plan = spread_appearances(60, 4, 0.5, 900, shape)
    request = SimpleNamespace(key="x", settings=PlanSettings(protocol="runoff"))
    planner_jobs._use(plan, request, goal)
    assert state.get("aim-x") == aim
    settings = PlanSettings(
        protocol="runoff", n_ballots=state["n_ballots-x"], keep=state["keep-x"], aim=aim or "both",
        appearances=plan.appearances,
    )  # fmt: skip
    assert settings.plan(60) == plan
