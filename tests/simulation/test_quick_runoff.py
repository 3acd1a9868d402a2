"""The quick way of the protocol runoff, by which plans are simulated: the same rules, the same accuracies."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ballots import quick_draw
from core.ballots.pairing import assign_to_voters, count_seen, draw_near_comparisons
from core.ballots.quick_draw import quick_deal, quick_near
from core.errors import DisconnectedError
from core.metrics import weighted_spearman
from core.plan import Plan
from core.protocols.runoff import Runoff
from core.scores.bradley_terry import fit_with_voters
from core.scores.pair_graph import parts
from core.scores.posterior import item_posteriors
from core.scores.quick_fit import Rows, quick_fit
from core.simulation import simulate_campaign, simulate_campaigns
from core.voters.model import Panel, exponential


def rng(seed=0):
    return np.random.default_rng(seed)


def campaign(seed, plan=None, **how):
    plan = plan or Plan(120, 4, 0.5, (14, 9, 9, 14))
    return simulate_campaign(exponential(plan.n_items), plan, protocol="runoff", rng=rng(seed), **how)


# Who meets whom


@given(st.integers(2, 40), st.integers(1, 60), st.integers(0, 99))
def test_near_neighbours_meet_by_the_rules_of_real_ballots(n, m, seed):
    items = np.arange(n) * 3 + 1
    score = rng(seed).normal(size=n)
    pairs = quick_near(items, m, score, np.full(n, 0.3), rng(seed))
    assert pairs.shape == (-(-n * m // 2), 2)
    shown = Counter(pairs.ravel().tolist())
    assert sorted(shown) == items.tolist()
    assert sorted(shown.values()) == [m] * n if n * m % 2 == 0 else sorted([m] * (n - 1) + [m + 1])
    assert (pairs[:, 0] != pairs[:, 1]).all()
    met = Counter(map(frozenset, pairs.tolist()))
    if n * m % 2 == 0:
        assert max(met.values()) <= -(-m // (n - 1))
    if m >= 2:
        assert parts(pairs[:, 0] // 3, pairs[:, 1] // 3, n).max() == 0


@pytest.mark.parametrize(("n", "m"), [(200, 7), (124, 18), (62, 27), (31, 44)])
def test_near_neighbours_are_as_near_as_in_real_ballots(n, m):
    score, items = np.sort(rng(1).normal(size=n)), np.arange(n)
    gaps = []
    for draw in (quick_near, _near_of_people):
        pairs = np.concatenate([draw(items, m, score, np.full(n, 0.2), rng(seed)) for seed in range(6)])
        gaps.append(np.abs(pairs[:, 0] - pairs[:, 1]))
    assert gaps[0].mean() == pytest.approx(gaps[1].mean(), rel=0.09)
    assert np.percentile(gaps[0], 90) == pytest.approx(np.percentile(gaps[1], 90), rel=0.2)


def _near_of_people(items, m, score, spread, rng):
    return draw_near_comparisons(items, m, score=score, spread=spread, rng=rng)


def test_where_no_exchange_is_left_the_drawing_of_real_ballots_takes_over(monkeypatch):
    monkeypatch.setattr(quick_draw, "NEAR_ROUNDS", 0)
    items, score, spread = np.arange(30), rng(1).normal(size=30), np.full(30, 0.1)
    pairs = quick_near(items, 8, score, spread, rng(2))
    assert len(Counter(map(frozenset, pairs.tolist()))) == len(pairs) == 120


# Who is asked


def test_the_deal_is_even_and_repeats_as_few_items_as_the_real_one():
    n_items, n_voters, seen, cells = 90, 12, None, None
    for seed in range(3):
        pairs = quick_draw.quick_comparisons(np.arange(n_items), 400, rng(seed))
        quick = quick_deal(pairs, n_voters, n_items, cells, rng(seed))
        real = assign_to_voters(pairs, n_voters, seen=seen, n_items=n_items, rng=rng(seed))
        assert np.ptp(np.bincount(quick, minlength=n_voters)) <= 1
        before = 0 if seen is None else seen
        known = [
            (before + count_seen(pairs, voter, n_voters=n_voters, n_items=n_items) - 1).clip(0).sum()
            for voter in (quick, real, rng(seed).permutation(quick))
        ]
        assert known[0] <= 1.1 * known[1] + 3
        assert known[0] < known[2]
        seen = before + count_seen(pairs, quick, n_voters=n_voters, n_items=n_items)
        now = np.concatenate((quick * n_items + pairs[:, 0], quick * n_items + pairs[:, 1]))
        cells = now if cells is None else np.concatenate((cells, now))


def test_one_voter_and_one_comparison_are_dealt():
    assert quick_deal(np.array([[0, 1], [1, 2]]), 1, 3, None, rng()).tolist() == [0, 0]
    assert quick_deal(np.array([[0, 1]]), 4, 2, None, rng()).shape == (1,)


# The fit


@pytest.fixture(scope="module")
def held():
    return campaign(1).held


def votes_of(held):
    return [np.concatenate([getattr(b.votes, name) for b in held]) for name in ("first", "second", "outcome", "voter")]


def test_the_fit_ranks_as_the_exact_one(held):
    fit = None
    for number, ballot in enumerate(held, start=1):
        fit = quick_fit(Rows.of(*(getattr(ballot.votes, name) for name in _NAMES)), fit, 120)
        first, second, outcome, voter = votes_of(held[:number])
        exact = fit_with_voters(first, second, outcome, n_items=120, voter=voter)
        assert weighted_spearman(exact.theta, fit.theta) > 0.99
        assert weighted_spearman(exact.theta, fit.settled) > 0.9993
    off = np.log(fit.spread * np.sqrt(exact.graph.diagonal))  # of the curvature, not of the information it is about
    assert abs(np.median(off)) < 0.1
    assert np.abs(off).max() < 1.0


_NAMES = ("first", "second", "outcome", "voter")


def test_many_steps_end_at_the_exact_fit(held, monkeypatch):
    monkeypatch.setattr("core.scores.quick_fit.COLD_STEPS", "sss" + "es" * 150)
    monkeypatch.setattr("core.scores.quick_fit.SOLVED", 1e-6)
    first, second, outcome, voter = votes_of(held)
    outcome = outcome.copy()
    outcome[::17] = 0.5  # ties are two halves
    fit = quick_fit(Rows.of(first, second, outcome, voter), None, 120)
    exact = fit_with_voters(first, second, outcome, n_items=120, voter=voter)
    np.testing.assert_allclose(fit.theta, exact.theta, atol=2e-3)
    np.testing.assert_allclose(np.exp(fit.sharpness), exact.voter_sharpness, atol=2e-3)


def test_weights_for_the_next_ballot_are_those_of_the_posteriors(held):
    first, second, outcome, voter = votes_of(held[:2])
    outcome = outcome.copy()
    outcome[::17] = 0.5
    exact = fit_with_voters(first, second, outcome, n_items=120, voter=voter)
    fit = quick_fit(Rows.of(first, second, outcome, voter), None, 120)
    same = type(fit)(
        fit.rows, exact.theta, np.log(exact.voter_sharpness), _log_odds(exact.voter_lapse), fit.diagonal, 1
    )
    items = np.array([3, 0, 50, 119, 7])
    expected = item_posteriors(exact).expected_weight(2.0)
    np.testing.assert_allclose(same.expected_weights(items), expected[items], rtol=1e-4)


def _log_odds(lapse):
    return np.log(2 * lapse / (1 - 2 * lapse))


# Campaigns


def test_the_same_seed_gives_the_same_campaign_and_another_than_the_real_protocol():
    one, again, real = campaign(3, convention="planning"), campaign(3, convention="planning"), campaign(3)
    assert one.scores.tobytes() == again.scores.tobytes()
    assert [len(b.votes.items) for b in one.held] == [len(b.votes.items) for b in real.held]
    assert one.n_comparisons == real.n_comparisons
    assert one.scores.tobytes() != real.scores.tobytes()
    other = campaign(3, protocol_plan(), convention="planning")
    assert other.n_comparisons == protocol_plan().n_comparisons


def protocol_plan():
    return Plan(41, 3, 0.5, (5, 40, 7))


def test_votes_that_leave_items_apart_are_refused_as_by_the_real_protocol():
    for convention in ("paper", "planning"):
        with pytest.raises(DisconnectedError, match="No chain of votes"):
            campaign(1, Plan(40, 2, 0.5, (1, 4)), convention=convention)


def test_the_other_protocols_are_the_same_when_planning():
    for protocol in ("paper", "uniform"):
        plan = Plan(40, 2, 0.5, 8)
        found = [
            simulate_campaigns(exponential(40), plan, protocol=protocol, n=2, seed=1, convention=convention).results
            for convention in ("paper", "planning")
        ]
        assert found[0] == found[1]
    assert Runoff().quick().name == Runoff.name


@pytest.mark.parametrize("panel", [Panel(30), Panel(6, (0.1, 0.4), (0.05, 0.2)), Panel(20, random_clickers=0.3)])
def test_accuracies_are_those_of_the_real_protocol(panel):
    """Twelve campaigns of each on the same voters: the mean difference within three standard errors."""
    plan = Plan(60, 3, 0.5, (12, 9, 14))
    found = [
        np.array(
            simulate_campaigns(
                exponential(60), plan, protocol="runoff", n=12, seed=5, panel=panel, convention=convention
            ).results
        )[:, :2]
        for convention in ("paper", "planning")
    ]
    off = found[1] - found[0]
    assert (np.abs(off.mean(axis=0)) < 3 * off.std(axis=0, ddof=1) / np.sqrt(12) + 1e-3).all()
