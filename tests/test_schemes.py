"""Schemes at equal cost: what they may ask, that nobody overspends, and that the figures are what they say."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from click.testing import CliRunner

from core.cli.simulate import schemes_command
from core.errors import InputError
from core.metrics import spearman, weighted_spearman
from core.plan import Plan
from core.protocols import PROTOCOLS
from core.simulation.schemes import (
    GROUPS,
    OTHERS,
    SchemeSetting,
    Times,
    _sizes,
    affordable_plan,
    all_schemes,
    compare_schemes,
    groups_of_tokens,
    simulate_scheme,
)
from core.voters.model import Panel, exponential

PAIRS = list(combinations("abcdefghij", 2))
Z = np.random.default_rng(4).permutation(exponential(len(PAIRS)))
ASKED = SchemeSetting(
    Z, groups_of_tokens([a for a, _ in PAIRS], [b for _, b in PAIRS], rng=np.random.default_rng(1)), 4 * 3600, ballots=3
)


def test_seconds_by_hand():
    times = Times(read=2, decide=5)
    assert [times.of(scheme) for scheme in ("uniform", "ratings", "best-worst", "best-worst rounds")] == [9, 7, 18, 18]
    assert times.of(GROUPS, 4) == 28
    with pytest.raises(InputError, match="above 0"):
        Times(read=0)


def test_groups_are_items_of_one_token():
    assert len(ASKED.groups) == 10
    for token, group in zip(
        "abcdefghij", sorted(ASKED.groups, key=lambda g: "".join(sum(map(PAIRS.__getitem__, g), ()))), strict=False
    ):
        assert len(set(group)) == 6
        assert any(all(shared in PAIRS[at] for at in group) for shared in "abcdefghij"), token
    assert groups_of_tokens(["a"], ["b"], rng=np.random.default_rng(1)) == ()


@pytest.mark.parametrize("scheme", all_schemes())
def test_nobody_overspends_and_all_use_the_time(scheme):
    found = simulate_scheme(ASKED, scheme, rng=np.random.default_rng(2))
    assert 0.85 * ASKED.seconds < found.seconds <= ASKED.seconds
    again = simulate_scheme(ASKED, scheme, rng=np.random.default_rng(2))
    assert str(found) == str(again)
    assert 0.4 < found.within <= 1
    assert np.isnan(found.accuracy.rho_w) == (scheme == GROUPS)


def test_groups_of_all_sizes_keep_to_the_time():
    groups = ((0, 1), (2, 3, 4), (5, 6, 7, 8, 9, 10), (11, 12))
    for seed in range(5):
        asked = replace(ASKED, groups=groups, seconds=1000.0)
        found = simulate_scheme(asked, GROUPS, rng=np.random.default_rng(seed))
        assert 1000 - 36 < found.seconds <= 1000
        assert found.n_judgements >= 4 * (1000 // 78)


def test_rounds_of_tuples_keep_halves_rounded_up():
    assert _sizes(45, 3, 0.5) == list(Plan(45, 3, 0.5, 2).sizes) == [45, 23, 12]


@pytest.mark.parametrize("scheme", all_schemes())
def test_voters_of_one_mind_who_never_slip_are_ranked_right(scheme):
    """With σ* = 0 and ε = 0 every scheme's ranking is the true one, but for ties of the rating scale."""
    panel = Panel(40, (0.0, 0.0), (0.0, 0.0))
    found = simulate_scheme(replace(ASKED, seconds=16 * 3600), scheme, rng=np.random.default_rng(3), panel=panel)
    assert found.within > (0.97 if scheme in ("uniform", "paper") else 0.985)
    if scheme != GROUPS:
        assert found.accuracy.rho > 0.97


def test_plans_take_fewer_ballots_where_the_time_is_short():
    assert affordable_plan(replace(ASKED, ballots=7), "paper").n_ballots <= 7
    short = replace(ASKED, seconds=9 * len(Z) * 1.2, ballots=5)
    assert affordable_plan(short, "paper").n_ballots < 5
    for scheme in all_schemes():
        with pytest.raises(InputError, match="pays for"):
            simulate_scheme(replace(ASKED, seconds=30), scheme, rng=np.random.default_rng(1))


def test_what_is_wrong_is_told():
    with pytest.raises(InputError, match="The scheme must be one of"):
        simulate_scheme(ASKED, "guess", rng=np.random.default_rng(1))
    with pytest.raises(InputError, match="at least 4 items"):
        SchemeSetting(Z[:3], (), 100)
    with pytest.raises(InputError, match="Schemes are"):
        compare_schemes(ASKED, simulations=1, seed=0, schemes=["guess"])


def test_the_table_is_the_mean_of_its_runs():
    rows = compare_schemes(ASKED, simulations=3, seed=5, schemes=["ratings", GROUPS, "paper"])
    runs = [
        simulate_scheme(ASKED, "ratings", rng=np.random.default_rng(np.random.SeedSequence(5, spawn_key=(s,))))
        for s in range(3)
    ]
    assert rows[0].rho_w.mean == pytest.approx(np.mean([run.accuracy.rho_w for run in runs]))
    assert rows[0].within.sd == pytest.approx(np.std([run.within for run in runs], ddof=1))
    assert np.isnan(rows[1].rho_w.mean)
    assert rows[1].within.mean > 0
    poor = compare_schemes(replace(ASKED, seconds=100), simulations=2, seed=5, schemes=["ratings"])
    assert (poor[0].simulations, poor[0].hours) == (0, 0)
    assert "pays for" in poor[0].reason
    stopped = compare_schemes(ASKED, simulations=2, seed=5, stop=lambda: True)
    assert stopped == []


def test_figures_are_against_the_true_ranking():
    """A run's accuracy, taken again from a campaign of the same seed."""
    from core.simulation.campaign import simulate_campaign

    assert set(PROTOCOLS) < set(all_schemes())
    found = simulate_scheme(ASKED, "runoff", rng=np.random.default_rng(9))
    campaign = simulate_campaign(Z, affordable_plan(ASKED, "runoff"), protocol="runoff", rng=np.random.default_rng(9))
    assert found.accuracy.rho_w == pytest.approx(weighted_spearman(campaign.scores, np.abs(Z)))
    within = [spearman(campaign.scores[list(group)], np.abs(Z)[list(group)]) for group in ASKED.groups]
    assert found.within == pytest.approx(np.mean(within))


def test_the_command():
    small = ["--tokens", "8", "--hours", "3", "--simulations", "2", "--scheme", "ratings"]
    shown = CliRunner().invoke(schemes_command, [*small, "--scheme", GROUPS])
    assert shown.exit_code == 0
    assert "28 items; mean ± standard deviation over 2 panels" in shown.output
    (row,) = json.loads(CliRunner().invoke(schemes_command, [*small, "--json"]).output)["rows"]
    assert row["scheme"] == "ratings"
    assert row["hours"] == pytest.approx(3, abs=0.01)


def test_all_schemes_ask_the_same_voters_with_the_same_opinions():
    """Generators of one seed: the opinions that ratings go by are those that comparisons are answered by."""
    from core.simulation.campaign import Crowd
    from core.simulation.conventions import PAPER
    from core.voters.model import draw_panel

    rng = np.random.default_rng(9)
    crowd = Crowd(Z, draw_panel(Panel(), rng), "relatedness", PAPER, rng)
    first, second = np.array([3, 8, 3]), np.array([5, 1, 9])
    held = crowd._asked(first, second, np.array([0, 7, 99]))
    assert held[0].tolist() == crowd.opinions[[0, 7, 99], first].tolist()
    assert held[1].tolist() == crowd.opinions[[0, 7, 99], second].tolist()


@pytest.mark.parametrize("scheme", OTHERS)
@pytest.mark.parametrize("kind", ["random_clickers", "always_left"])
def test_voters_who_never_look_tell_nothing_in_any_scheme(scheme, kind):
    panel = Panel(40, **{kind: 1.0})
    found = [simulate_scheme(ASKED, scheme, rng=np.random.default_rng(seed), panel=panel).within for seed in range(12)]
    assert abs(np.mean(found)) < 4 * np.std(found, ddof=1) / np.sqrt(len(found))
    half, whole = (
        np.mean([simulate_scheme(ASKED, scheme, rng=np.random.default_rng(seed), panel=of).within for seed in range(4)])
        for of in (Panel(40, inattentive=1.0), Panel(40))
    )
    assert half < whole


def test_scales_that_differ_more_cost_ratings_accuracy():
    spread = [
        np.mean(
            [
                simulate_scheme(
                    replace(ASKED, stretch=stretch), "ratings", rng=np.random.default_rng(seed)
                ).accuracy.rho
                for seed in range(8)
            ]
        )
        for stretch in (0.0, 2.0)
    ]
    assert spread[0] > spread[1] + 0.02
    with pytest.raises(InputError, match="0 or more"):
        replace(ASKED, shift=-1.0)


def test_money_is_hours_at_a_wage_with_a_fee():
    small = ["--tokens", "8", "--simulations", "1", "--scheme", "ratings", "--json"]
    paid = CliRunner().invoke(schemes_command, [*small, "--money", "36", "--wage", "10", "--fee", "0.2"])
    timed = CliRunner().invoke(schemes_command, [*small, "--hours", "3"])
    assert json.loads(paid.output) == json.loads(timed.output)
    assert CliRunner().invoke(schemes_command, [*small, "--money", "0"]).exception is not None
