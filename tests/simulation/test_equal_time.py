"""Kinds of question at equal time: costs and break-evens by hand, what voters answer, and what is said of it all."""

from __future__ import annotations

import json
import math
from dataclasses import replace

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
    GROUPS,
    OTHERS,
    RATINGS,
    ROUNDS,
    SHARES,
    TUPLES,
    EqualTime,
    EqualTimeSettings,
    KindAtShares,
    KindSetting,
    Times,
    _sizes,
    at_times,
    groups_of_all_pairs,
    simulate_equal_time,
    simulate_kind,
    unasked,
)
from core.simulation.forecast import ForecastAssumptions
from core.views.equal_time import usual_times, view_of
from core.voters.model import Panel, exponential

NAN = math.nan
N = 45
Z = np.random.default_rng(4).permutation(exponential(N))
ASKED = KindSetting(Z, groups_of_all_pairs(N, np.random.default_rng(1)), 1600, n_ballots=3)


def made(**values: list[float]) -> EqualTime:
    """Two panels, .01 apart, in which all figures are equal: of comparisons, .9, and of other kinds at each share."""

    def kind(name: str, values: list[float]) -> KindAtShares:
        runs = tuple(((value - 0.005,) * 4, (value + 0.005,) * 4) for value in values)
        return replace(unasked(name), runs=runs)

    names = {"ratings": RATINGS, "rounds": ROUNDS}
    return EqualTime(100, 1000, 2, (kind(COMPARISONS, [0.9] * 6), *(kind(names[k], v) for k, v in values.items())))


def test_what_judgements_cost_by_hand():
    """A decision holds one thing against another: picking one of k takes k − 1."""
    kinds = [unasked(kind, 4) for kind in (COMPARISONS, RATINGS, TUPLES, ROUNDS, GROUPS)]
    assert [(kind.items, kind.decisions) for kind in kinds] == [(2, 1), (1, 1), (4, 5), (4, 5), (4, 6)]
    times = Times(read=2, decide=5)  # a comparison takes 9 s, 5 of which are deciding
    seconds = [9 * kind.cost(times.share) for kind in kinds]
    assert seconds == pytest.approx([9, 7, 33, 33, 38])
    assert 2 * usual_times(7.2).read + usual_times(7.2).decide == pytest.approx(7.2)
    with pytest.raises(InputError, match="above 0"):
        Times(read=0)
    with pytest.raises(InputError, match="The kind must be one of comparisons, ratings"):
        unasked("guess")


def test_what_is_level_and_what_is_recommended_by_hand():
    found = made(rounds=[0.96, 0.94, 0.92, 0.88, 0.86, 0.84], ratings=[0.8] * 6)
    even = {each.kind: each for each in at_times(found, Times(3, 3)).break_even}
    # level at u = .5, where a tuple costs 2 + 3·.5 comparisons; d = .5·(2r + d), so d = 2r
    assert (even[ROUNDS].cost, even[ROUNDS].ratio) == (pytest.approx(3.5), pytest.approx(0.5))
    assert even[ROUNDS].lower == even[ROUNDS].upper == even[ROUNDS].cost  # panels differ in nothing else
    assert not even[RATINGS].always
    assert math.isnan(even[RATINGS].cost)
    for times, kind in ((Times(3, 3), ROUNDS), (Times(1, 1.9), ROUNDS), (Times(1, 2.1), COMPARISONS)):
        answer = at_times(found, times)
        assert answer.kind == kind
        rows = {row.kind: row for row in answer.rows}
        cost = rows[ROUNDS].seconds / rows[COMPARISONS].seconds
        assert cost == pytest.approx(2 + 3 * times.share)
        assert rows[ROUNDS].n_judgements == pytest.approx(1000 / cost)
        assert answer.at_a_glance.rho_w.mean == pytest.approx(0.96)  # two comparisons, whatever the times are
        assert answer.at_a_glance.seconds == pytest.approx(4 * times.read + 2 * times.decide)
    assert rows[ROUNDS].ahead == pytest.approx(
        np.interp(Times(1, 2.1).share, SHARES, [0.06, 0.04, 0.02, -0.02, -0.04, -0.06])
    )
    # ratings: r + d = .75·(2r + d), so .25·d = .5·r
    even = {each.kind: each for each in at_times(made(ratings=[1, 1, 1, 0.8, 0.8, 0.8]), Times()).break_even}
    assert (even[RATINGS].cost, even[RATINGS].ratio) == (pytest.approx(0.75), pytest.approx(0.5))
    always = at_times(made(ratings=[1.0] * 6, rounds=[1.0] * 6), Times()).break_even
    assert {each.kind: each.always for each in always} == {RATINGS: True, ROUNDS: True}
    with pytest.raises(InputError, match="goal"):
        at_times(found, Times(), "rho")


def test_another_kind_is_recommended_only_where_it_is_ahead_for_sure():
    own = replace(unasked(COMPARISONS), runs=((((0.9,) * 4), ((0.9,) * 4)),) * 6)
    unsure = EqualTime(100, 1000, 2, (
        own,
        replace(unasked(ROUNDS), runs=((((0.89,) * 4), ((0.93,) * 4)),) * 6),
        replace(unasked(RATINGS), reason="The time pays for 3 ratings."),
        replace(unasked(GROUPS), runs=((((NAN,) * 3 + (0.97,)), ((NAN,) * 3 + (0.99,))),) * 6),
    ))  # fmt: skip
    assert at_times(unsure, Times()).kind == COMPARISONS
    assert [each.kind for each in at_times(unsure, Times()).break_even] == [ROUNDS]
    view = view_of(unsure, Times(), "both")
    assert view.headline.startswith("Stay with comparisons: ρ_w = 0.900")
    assert "Ratings: The time pays for 3 ratings." in view.lines
    assert view.table["ρ_w"].tolist()[2:] == ["–", "–"]
    assert view.table["ρ within targets"].tolist() == ["0.900", "0.910", "–", "0.980"]
    assert any(line.startswith("Target groups: Orders compare no items of different targets") for line in view.lines)
    nothing = EqualTime(100, 1000, 2, (replace(own, runs=((((NAN,) * 4), ((0.9,) * 4)),) * 6),))
    assert view_of(nothing, Times(), "both").headline.startswith("No kind can be recommended. ρ_w or τ_w isn't")
    sure = view_of(made(rounds=[0.96] * 6, ratings=[0.8] * 6), Times(3, 3), "rho_w")
    assert sure.headline.startswith("Best–worst in rounds would give more: ρ_w = 0.960 (0.955 to 0.964)")
    assert any("would be ahead of comparisons, however long" in line for line in sure.lines)


def test_kinds_are_simulated_on_the_plans_panels_for_its_time():
    plan, panel = Plan(24, 2, 0.5, 8), Panel(9)
    guess, told, kinds = ForecastAssumptions(exponential(24), panel), [], (RATINGS, ROUNDS)
    settings = EqualTimeSettings(panels=2, kinds=kinds)
    how = {"seed": 3, "settings": settings}
    found = simulate_equal_time(guess, plan, "runoff", **how, progress=lambda *far: told.append(far))
    assert told[-1] == (2 * 13, 2 * 13)
    own, rated, _ = found.kinds
    groups = groups_of_all_pairs(24, np.random.default_rng(3))
    setting = KindSetting(exponential(24), groups, plan.n_comparisons, 2, 0.5)
    for s in range(2):
        rng, again = (np.random.default_rng(np.random.SeedSequence(3, spawn_key=(s,))) for _ in range(2))
        campaign = simulate_campaign(exponential(24), plan, protocol="runoff", rng=rng, panel=panel)
        assert own.runs[0][s][:3] == own.runs[5][s][:3] == campaign.accuracy()[:3]
        assert rated.runs[5][s] == simulate_kind(setting, RATINGS, 1.0, rng=again, panel=panel)
    assert from_json(json.loads(json.dumps(to_json(found, EqualTime))), EqualTime) == found
    assert KindsAtEqualTime.result() is EqualTime
    poor = simulate_equal_time(guess, Plan(24, 2, 0.5, 2), "paper", **how)
    assert {kind.kind: bool(kind.reason) for kind in poor.kinds} == {COMPARISONS: False, RATINGS: False, ROUNDS: True}
    for wrong in ({"settings": replace(settings, panels=1)}, {"seed": -1}):
        with pytest.raises(InputError, match="at least two panels"):
            simulate_equal_time(guess, plan, "runoff", **how | wrong)
    with pytest.raises(InputError, match="The plan is for 10 items"):
        simulate_equal_time(guess, Plan(10, 2, 0.5, 8), "runoff", seed=1)
    with pytest.raises(InputError, match="found 'guess'"):
        simulate_equal_time(guess, plan, "runoff", **how | {"settings": replace(settings, kinds=("guess",))})


def test_groups_are_of_distinct_items_one_for_each_token():
    groups = groups_of_all_pairs(45, np.random.default_rng(1))
    assert groups.shape == (10, 6)  # 45 items are all pairs of ten tokens
    assert all(len(set(group)) == 6 for group in groups.tolist())
    assert groups_of_all_pairs(7, np.random.default_rng(1)).shape == (4, 3)
    with pytest.raises(InputError, match="at least 4 items"):
        KindSetting(Z[:3], groups, 100)
    with pytest.raises(InputError, match="0 or more"):
        replace(ASKED, shift=-1.0)


def test_rounds_of_tuples_keep_halves_rounded_up():
    assert _sizes(45, 3, 0.5) == list(Plan(45, 3, 0.5, 2).sizes) == [45, 23, 12]


@pytest.mark.parametrize("kind", OTHERS)
def test_voters_of_one_mind_who_never_slip_are_ranked_right(kind):
    """With σ* = 0 and ε = 0 every kind's ranking is the true one, but for ties of the rating scale."""
    panel, asked = Panel(40, (0.0, 0.0), (0.0, 0.0)), replace(ASKED, n_comparisons=6400)
    runs = [simulate_kind(asked, kind, 2.0, rng=np.random.default_rng(3), panel=panel) for _ in range(2)]
    assert str(runs[0]) == str(runs[1])
    _, _, rho, within = runs[0]
    assert within > 0.985
    assert math.isnan(rho) if kind == GROUPS else rho > 0.97
    with pytest.raises(InputError, match="pays for"):
        simulate_kind(replace(ASKED, n_comparisons=3), kind, 1.0, rng=np.random.default_rng(1))


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("careless", ["random_clickers", "always_left"])
def test_voters_who_never_look_tell_nothing_in_any_kind(kind, careless):
    def within(seed: int, panel: Panel) -> float:
        asked = replace(ASKED, n_comparisons=1000)
        return simulate_kind(asked, kind, 2.0, rng=np.random.default_rng(seed), panel=panel)[3]

    found = [within(seed, Panel(40, **{careless: 1.0})) for seed in range(12)]
    assert abs(np.mean(found)) < 4 * np.std(found, ddof=1) / np.sqrt(len(found))
    half, whole = (
        np.mean([within(seed, panel) for seed in range(4)]) for panel in (Panel(40, inattentive=1.0), Panel(40))
    )
    assert half < whole


def test_scales_that_differ_more_cost_ratings_accuracy():
    same, wide = (
        np.mean(
            [
                simulate_kind(replace(ASKED, stretch=stretch), RATINGS, 0.6, rng=np.random.default_rng(seed))[2]
                for seed in range(8)
            ]
        )
        for stretch in (0.0, 2.0)
    )
    assert same > wide + 0.02


def test_the_command_says_what_the_page_says():
    small = ["--items", "24", "--ballots", "2", "--votes", "150", "--voters", "9", "--panels", "2", "--kind", RATINGS]
    told = CliRunner().invoke(equal_time_command, small).output
    found = json.loads(CliRunner().invoke(equal_time_command, [*small, "--json"]).output)
    assert [row["kind"] for row in found["rows"]] == [COMPARISONS, RATINGS]
    assert f"{found['rows'][0]['rho_w'][0]:.3f}" in told
    assert "By 2 simulated panels" in told
    wide = json.loads(
        CliRunner().invoke(equal_time_command, [*small, "--stretch", "2", "--shift", "1", "--json"]).output
    )
    assert wide["rows"][0] == found["rows"][0]
    assert wide["rows"][1]["rho"] != found["rows"][1]["rho"]
