"""Kinds of question at equal time: costs by hand, break-evens by hand, the same voters, and what is said of them."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

from core.cli.simulate import equal_time_command
from core.commands.base import from_json, to_json
from core.commands.figures.simulations import KindsAtEqualTime
from core.errors import InputError
from core.plan import Plan
from core.simulation import simulate_campaign
from core.simulation.equal_time import (
    COMPARISONS,
    COSTS,
    RATINGS,
    TUPLES,
    EqualTime,
    KindAtCosts,
    at_times,
    seconds_of,
    simulate_equal_time,
)
from core.simulation.forecast import ForecastAssumptions
from core.simulation.schemes import Times
from core.views.equal_time import usual_times, view_of
from core.voters.model import Panel, exponential

NAN = math.nan


def made(tuples: list[float], ratings: list[float], own: float = 0.9) -> EqualTime:
    """Two panels, .01 apart, in which ρ_w and τ_w are equal."""

    def kind(name: str, costs: tuple[float, ...], values: list[float]) -> KindAtCosts:
        rows = tuple((value - 0.005, value + 0.005) for value in values)
        return KindAtCosts(name, costs, tuple(int(1000 / cost) for cost in costs), rows, rows)

    kinds = (kind(COMPARISONS, (1.0,), [own]), kind(RATINGS, COSTS[RATINGS], ratings))
    return EqualTime(100, 1000, 2, (*kinds, kind(TUPLES, COSTS[TUPLES], tuples)))


def test_what_is_level_and_what_is_recommended_by_hand():
    found = made([0.96, 0.94, 0.92, 0.90, 0.88, 0.84], [0.8] * 6)
    even = {each.kind: each for each in at_times(found, Times(3, 3)).break_even}
    # level at 3.5 comparisons: 4r + 5d = 3.5·(2r + d), so 1.5·d = 3·r, r/d = .5
    assert (even[TUPLES].cost, even[TUPLES].ratio) == (3.5, 0.5)
    assert even[TUPLES].lower == even[TUPLES].upper == 3.5  # panels differ in nothing else
    assert not even[RATINGS].always
    assert math.isnan(even[RATINGS].cost)
    for times, kind in ((Times(3, 3), TUPLES), (Times(1, 1.9), TUPLES), (Times(1, 2.1), COMPARISONS)):
        answer = at_times(found, times)
        assert answer.kind == kind
        rows = {row.kind: row for row in answer.rows}
        cost = rows[TUPLES].seconds / rows[COMPARISONS].seconds
        assert rows[TUPLES].ahead == pytest.approx(0.04 * (3.5 - cost))
        assert rows[TUPLES].n_judgements == pytest.approx(1000 / cost)
        assert answer.at_a_glance.rho_w.mean == pytest.approx(0.96)  # two comparisons, whatever the times are
    # ratings: r + d = .75·(2r + d), so .25·d = .5·r
    even = {each.kind: each for each in at_times(made([0.8] * 6, [1, 1, 1, 0.8, 0.8, 0.8], 0.9), Times()).break_even}
    assert (even[RATINGS].cost, even[RATINGS].ratio) == (pytest.approx(0.75), pytest.approx(0.5))
    assert {each.kind: each.always for each in at_times(made([1.0] * 6, [1.0] * 6), Times()).break_even} == {
        RATINGS: True, TUPLES: True}  # fmt: skip
    with pytest.raises(InputError, match="goal"):
        at_times(found, Times(), "rho")


def test_another_kind_is_recommended_only_where_it_is_ahead_for_sure():
    rows = ((0.89, 0.93),) * 6
    unsure = EqualTime(100, 1000, 2, (
        KindAtCosts(COMPARISONS, (1.0,), (1000,), ((0.9, 0.9),), ((0.9, 0.9),)),
        KindAtCosts(TUPLES, COSTS[TUPLES], (1,) * 6, rows, rows),
        KindAtCosts(RATINGS, reason="The time pays for 3 ratings."),
    ))  # fmt: skip
    assert at_times(unsure, Times()).kind == COMPARISONS
    view = view_of(unsure, Times(), "both")
    assert view.headline.startswith("Stay with comparisons: ρ_w = 0.900")
    assert "Ratings: The time pays for 3 ratings." in view.lines
    assert view.table["ρ_w"].tolist()[2] == "–"
    nothing = EqualTime(100, 1000, 2, (KindAtCosts(COMPARISONS, (1.0,), (1000,), ((NAN, 0.9),), ((0.9, 0.9),)),))
    assert view_of(nothing, Times(), "both").headline.startswith("No kind can be recommended. ρ_w or τ_w isn't")
    sure = view_of(made([0.96] * 6, [0.8] * 6), Times(3, 3), "rho_w")
    assert sure.headline.startswith("Best–worst of four, in rounds give more: ρ_w = 0.960 (0.955 to 0.964)")
    assert any("are ahead of comparisons whatever" in line for line in sure.lines)


def test_kinds_are_simulated_on_the_plans_panels_for_its_time():
    plan, panel = Plan(24, 2, 0.5, 8), Panel(9)
    guess, told = ForecastAssumptions(exponential(24), panel), []
    found = simulate_equal_time(guess, plan, "runoff", seed=3, panels=2, progress=lambda *far: told.append(far))
    assert told[-1] == (2 * 13, 2 * 13)
    own = found.kinds[0]
    for s in range(2):
        rng = np.random.default_rng(np.random.SeedSequence(3, spawn_key=(s,)))
        campaign = simulate_campaign(exponential(24), plan, protocol="runoff", rng=rng, panel=panel)
        assert (own.rho_w[0][s], own.tau_w[0][s]) == campaign.accuracy()[:2]
    assert [kind.n_judgements[0] for kind in found.kinds] == [plan.n_comparisons, 2 * plan.n_comparisons, 72]
    assert from_json(json.loads(json.dumps(to_json(found, EqualTime))), EqualTime) == found
    assert KindsAtEqualTime.result() is EqualTime
    poor = simulate_equal_time(guess, Plan(24, 2, 0.5, 2), "paper", seed=3, panels=2)
    assert {kind.kind: bool(kind.reason) for kind in poor.kinds} == {COMPARISONS: False, RATINGS: False, TUPLES: True}
    for wrong in ({"panels": 1}, {"seed": -1}):
        with pytest.raises(InputError, match="at least two panels"):
            simulate_equal_time(guess, plan, "runoff", **{"seed": 1, **wrong})
    with pytest.raises(InputError, match="The plan is for 10 items"):
        simulate_equal_time(guess, Plan(10, 2, 0.5, 8), "runoff", seed=1)


def test_seconds():
    assert [seconds_of(kind, Times(2, 5)) for kind in (COMPARISONS, RATINGS, TUPLES)] == [9, 7, 33]
    assert seconds_of(COMPARISONS, usual_times(7.2)) == pytest.approx(7.2)


def test_the_command_says_what_the_page_says():
    small = ["--items", "24", "--ballots", "2", "--votes", "150", "--voters", "9", "--panels", "2"]
    told = CliRunner().invoke(equal_time_command, small).output
    found = json.loads(CliRunner().invoke(equal_time_command, [*small, "--json"]).output)
    assert found["kind"] in (COMPARISONS, RATINGS, TUPLES)
    assert [row["kind"] for row in found["rows"]] == [COMPARISONS, RATINGS, TUPLES]
    assert f"{found['rows'][0]['rho_w'][0]:.3f}" in told
    assert "By 2 simulated panels" in told
