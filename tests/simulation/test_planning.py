"""Forecasts, plans within a budget, and the search for the best of them."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_runs import examples
from scipy.stats import norm

from core import metrics
from core.base import parallel
from core.errors import InputError, PlanError
from core.plan import Plan
from core.simulation import search, simulate_campaigns
from core.simulation.forecast import (
    MODEL_PAIRS,
    MOST_ITEMS,
    ForecastAssumptions,
    band,
    forecast,
    made_up_models,
    number_of_campaigns,
    panel_ceiling,
)
from core.simulation.forecast import separable_difference as separable
from core.simulation.search import _Judged, _raced, plans_within, recommend
from core.simulation.similarities import SHAPES, plan_within
from core.voters.model import Panel, exponential, power_law

SMALL = ForecastAssumptions(exponential(40), Panel(n_voters=20))


# Plans within a budget


@given(
    n_items=st.integers(8, 2000),
    n_ballots=st.integers(1, 6),
    keep=st.sampled_from([0.3, 0.5, 0.8]),
    shape=st.sampled_from(list(SHAPES)),
    times=st.floats(1.0, 60.0),
)
@settings(max_examples=examples(150), deadline=None)
def test_a_plan_spends_its_budget_and_no_more(n_items, n_ballots, keep, shape, times):
    try:
        least = Plan(n_items, n_ballots, keep, 2).n_comparisons
    except PlanError:
        return
    budget = int(least * times)
    plan = plan_within(n_items, n_ballots, keep, budget, shape=shape)
    assert plan.n_comparisons <= budget
    assert all(m >= 2 and m % 2 == 0 for m in plan.appearances_by_ballot)
    # What is left doesn't pay for two more appearances in every ballot.
    assert plan.n_comparisons + sum(plan.sizes) > budget


@pytest.mark.parametrize(
    ("budget", "appearances"), [(349, (4, 4)), (350, (4, 6)), (360, (4, 6)), (449, (4, 6)), (450, (6, 6))]
)
def test_what_is_left_goes_to_the_last_ballots_as_far_as_it_reaches(budget, appearances):
    """By hand: ballots of 100 and 50 items take 300 comparisons at M = 4, two appearances more 100 and 50."""
    assert plan_within(100, 2, 0.5, budget).appearances_by_ballot == appearances


def test_the_papers_budget_gives_the_papers_plan():
    assert plan_within(990, 7, 0.5, 19_660).appearances_by_ballot == (20,) * 7


@pytest.mark.parametrize(("shape", "ratio"), [("even", 1.0), ("late", 1.5), ("early", 1 / 1.5)])
def test_a_shape_rises_or_falls_over_the_ballots(shape, ratio):
    numbers = plan_within(990, 4, 0.5, 60_000, shape=shape).appearances_by_ballot
    for one, other in itertools.pairwise(numbers):
        assert other == pytest.approx(one * ratio, abs=4)


def test_a_budget_for_less_than_two_appearances_is_refused():
    with pytest.raises(PlanError, match="take 40 comparisons, and the budget is 39"):
        plan_within(40, 1, 0.5, 39)
    with pytest.raises(PlanError, match="is one of even, late, early"):
        plan_within(40, 1, 0.5, 100, shape="round")


def test_a_search_looks_at_every_shape_once_and_within_the_budget():
    plans = plans_within(200, 3_000)
    assert len({(plan.sizes, plan.appearances_by_ballot) for plan in plans}) == len(plans)
    assert all(plan.n_comparisons <= 3_000 for plan in plans)
    assert {plan.n_ballots for plan in plans} >= {1, 2, 3, 4, 5}
    with pytest.raises(PlanError, match="the budget is 100"):
        plans_within(200, 100)


# Forecasts


def test_a_forecast_is_what_the_campaigns_of_its_seed_gave():
    plan = Plan(40, 3, 0.5, 10)
    found = forecast(SMALL, plan, "paper", seed=5, n=12)
    results = simulate_campaigns(
        SMALL.similarity, plan, protocol="paper", n=12, seed=5, panel=SMALL.panel, measure=_kept
    ).results
    figures = np.array([result[0] for result in results])
    for column, name in enumerate(("rho_w", "tau_w", "rho", "tau")):
        got, values = getattr(found, name), figures[:, column]
        assert got.mean == pytest.approx(values.mean())
        assert got.error == pytest.approx(values.std(ddof=1) / np.sqrt(12))
        assert (got.lower, got.upper) == pytest.approx(tuple(np.percentile(values, [5, 95])))
    assert found.n_top == 10
    assert found.cut == pytest.approx(np.mean([result[1] for result in results]))
    assert found.n_comparisons == plan.n_comparisons
    assert found == forecast(SMALL, plan, "paper", seed=5, n=12, workers=2)


def _kept(campaign):
    top = set(np.argsort(-np.abs(exponential(40)), kind="stable")[:10].tolist())
    last = set(campaign.ballots[-1].items.tolist())
    return tuple(campaign.accuracy()), len(top - last) / 10


def test_where_nothing_is_cut_no_top_item_is_lost():
    assert forecast(SMALL, Plan(40, 3, 0.5, 10), "uniform", seed=1, n=3).cut == 0.0


def test_top_items_that_the_last_ballot_has_no_room_for_are_not_called_lost():
    found = forecast(SMALL, Plan(40, 4, 0.4, 30), "paper", seed=1, n=3)
    assert found.n_top == 2  # 40, 16, 6 and 2 items


def test_more_votes_are_forecast_to_give_more():
    few, many = (forecast(SMALL, Plan(40, 3, 0.5, m), "paper", seed=2, n=20) for m in (4, 60))
    assert many.rho_w.mean > few.rho_w.mean + 5 * few.rho_w.error
    assert many.separable < few.separable
    assert many.cut < few.cut


def test_the_difference_told_apart_follows_from_what_votes_add():
    errors = np.array([[0.1, -0.2], [0.05, 0.0]])
    spread = np.sqrt((0.01 + 0.04 + 0.0025) / 4)
    assert separable(errors) == pytest.approx((norm.ppf(0.975) + norm.ppf(0.8)) * spread)


def test_two_models_that_far_apart_are_told_apart_as_often_as_said():
    """The definition, by other campaigns: with the spread of errors s, |d| > 1.96·s in 80% of them at d = δ."""
    plan = Plan(40, 3, 0.5, 20)
    delta = forecast(SMALL, plan, "paper", seed=3, n=60).separable
    one, other = made_up_models(SMALL, 3)[0]
    truth = np.abs(SMALL.similarity)
    true = metrics.weighted_spearman(truth, one) - metrics.weighted_spearman(truth, other)
    results = simulate_campaigns(
        SMALL.similarity, plan, protocol="paper", n=200, seed=99, panel=SMALL.panel, measure=_Difference(one, other)
    ).results
    errors = np.array(results) - true
    threshold = delta / (norm.ppf(0.975) + norm.ppf(0.8)) * norm.ppf(0.975)
    assert 0.6 < np.mean(np.abs(delta + errors) > threshold) < 0.97


class _Difference:
    def __init__(self, one, other):
        self.one, self.other = one, other

    def __call__(self, campaign):
        return metrics.weighted_spearman(campaign.scores, self.one) - metrics.weighted_spearman(
            campaign.scores, self.other
        )


def test_made_up_models_are_seeded_and_as_good_as_said():
    guess = ForecastAssumptions(power_law(2_000))
    models = made_up_models(guess, 4)
    np.testing.assert_array_equal(models, made_up_models(guess, 4))
    assert models.shape == (MODEL_PAIRS, 2, 2_000)
    normal = norm.ppf((2_000 - np.arange(2_000) - 0.5) / 2_000)
    for model in models.reshape(-1, 2_000):
        assert np.corrcoef(model, normal)[0, 1] == pytest.approx(0.7, abs=0.05)


def test_many_items_are_stood_for_by_quantiles():
    z = np.random.default_rng(1).uniform(-1, 1, 50_000)
    guess = ForecastAssumptions(z)
    thin = guess.thinned()
    assert thin.n_items == MOST_ITEMS
    np.testing.assert_allclose(
        np.quantile(thin.similarity, [0.1, 0.5, 0.9]), np.quantile(z, [0.1, 0.5, 0.9]), atol=0.01
    )
    found = forecast(guess, Plan(50_000, 2, 0.1, 2), "paper", seed=1, n=2)
    assert (found.n_items, found.n_comparisons) == (MOST_ITEMS, 55_000)


def test_a_stopped_forecast_says_nothing():
    assert forecast(SMALL, Plan(40, 3, 0.5, 10), "paper", seed=1, stop=lambda: True) is None


def test_undefined_figures_stay_undefined():
    assert np.isnan(band(np.array([0.5, np.nan]))).all()


def test_a_forecast_takes_more_campaigns_of_fewer_votes():
    assert number_of_campaigns(Plan(10, 1, 0.5, 2)) == 60
    assert number_of_campaigns(Plan(990, 7, 0.5, 20)) == 20
    assert number_of_campaigns(Plan(100_000, 1, 0.5, 20)) == 12


def test_equal_guesses_have_equal_digests():
    assert (
        SMALL.digest() == ForecastAssumptions(exponential(40)).digest() != ForecastAssumptions(power_law(40)).digest()
    )


@pytest.mark.parametrize("z", [[0.5], [0.1, 1.5], [0.1, np.nan]])
def test_a_guess_that_cannot_be_is_refused(z):
    with pytest.raises(InputError):
        ForecastAssumptions(np.array(z))


def test_guess_and_plan_must_fit():
    with pytest.raises(InputError, match="41 items"):
        forecast(SMALL, Plan(41, 1, 0.5, 4), "paper", seed=1)
    with pytest.raises(InputError, match="notion"):
        ForecastAssumptions(exponential(4), notion="likeness")


# The search


@pytest.fixture
def quick(monkeypatch):
    """Shorter rounds than those of a real search."""
    monkeypatch.setattr(search, "ROUNDS", ((2, 0.1), (4, 0.3), (8, 0.0)))
    monkeypatch.setattr(search, "LAST_BATCHES", 1)
    monkeypatch.setattr(search, "HELD_OUT", 20)


@pytest.mark.release
def test_the_plan_found_is_within_the_budget_and_judged_on_fresh_seeds(quick):
    told = []
    guess = ForecastAssumptions(exponential(60), Panel(n_voters=20))
    found = recommend(guess, 900, "paper", seed=7, progress=lambda *step: told.append(step))
    assert found.best.plan.n_comparisons <= 900
    assert found.best.n_campaigns == 20
    assert found.leaders[0].plan == found.best.plan
    assert found.leaders[0].n_campaigns == 14
    assert found.leaders[0].value != found.best.value
    done = [step for step, _ in told]
    assert done == sorted(done)
    assert done[-1] == told[-1][1]
    assert found.paper is None  # 60 items can't be halved six times
    assert np.isnan(found.gain)
    one = forecast(guess, plan_within(60, 1, 0.5, 900), "paper", seed=1234, n=60)
    assert found.best.value - 3 * found.best.error > (one.rho_w.mean + one.tau_w.mean) / 2


@pytest.mark.release
def test_the_gain_is_the_mean_difference_to_the_papers_plan(quick):
    guess = ForecastAssumptions(exponential(130), Panel(n_voters=10))
    found = recommend(guess, 600, "paper", seed=2, goal="rho_w")
    assert found.paper.plan == Plan(130, 7, 0.5, 4)
    assert found.gain == pytest.approx(found.best.value - found.paper.value)
    assert found == recommend(guess, 600, "paper", seed=2, goal="rho_w", workers=2)


@pytest.mark.parametrize(("worth", "n_workers"), [(0, {2}), (10**12, {1})])
def test_all_rounds_of_a_search_take_as_many_cores(quick, monkeypatch, worth, n_workers):
    """Also the later ones, which are short each."""
    taken = []
    monkeypatch.setattr(search, "WORTH_VOTES", worth)
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    monkeypatch.setattr(search, "spread", lambda job, pieces, *, workers: taken.append(workers) or map(job, pieces))
    recommend(SMALL, 200, "paper", seed=2, workers=None)
    assert len(taken) > 3
    assert set(taken) == n_workers


def judged(*means, noise=0.0):
    """Plans 0, 1, … with 20 campaigns each, common noise of a campaign and a little of their own."""
    rng = np.random.default_rng(1)
    common = rng.normal(0.0, 0.1, 20)
    plans = [Plan(10, 1, 0.5, m + 2) for m in range(len(means))]
    return [_Judged(p, tuple(m + common + noise * rng.normal(size=20))) for p, m in zip(plans, means, strict=True)]


def test_plans_leave_a_race_that_are_behind_by_more_than_chance():
    running = judged(0.5, 0.9, 0.89, 0.8, noise=0.02)
    paper = running[0].plan
    left, undecided = _raced(running, paper)
    assert [each.plan for each in left] == [running[1].plan, running[2].plan, paper]
    assert undecided  # .01 is two standard errors: the third may yet be the better
    left, undecided = _raced(judged(0.9, 0.5, noise=0.02), None)
    assert (len(left), undecided) == (1, False)
    assert _raced(judged(0.9, 0.9, noise=1e-5), None)[1] is False  # alike, and surely so
    assert _raced([_Judged(paper, (0.5,)), _Judged(paper, (0.1,))], None)[1] is True  # one campaign tells no spread


def test_a_search_spends_its_campaigns_where_plans_are_close(monkeypatch):
    asked = Counter()

    def of_plan(self, piece):
        plan, numbers = piece
        asked[plan] += len(numbers)
        own = np.random.default_rng([self.series.seed, numbers.start, *plan.appearances_by_ballot, *plan.sizes])
        return tuple((0.9 - 0.02 * abs(plan.n_ballots - 3) + 0.004 * own.normal(size=len(numbers))).tolist())

    monkeypatch.setattr(search._Trial, "__call__", of_plan)
    found = recommend(SMALL, 300, "paper", seed=1)
    assert found.best.plan.n_ballots == 3
    near, far = (
        [asked[p] for p in plans_within(40, 300) if (p.n_ballots == 3) == is_near] for is_near in (True, False)
    )
    assert np.mean(near) > 4 * np.mean(far)
    assert found.n_tried == len(near) + len(far)


def test_a_stopped_search_says_nothing_and_goals_are_checked(quick):
    asked = iter([False] * 3 + [True] * 10_000)
    assert recommend(SMALL, 300, "paper", seed=1, stop=lambda: next(asked)) is None
    with pytest.raises(InputError, match="goal"):
        recommend(SMALL, 300, "paper", seed=1, goal="speed")


# The ceiling


def test_the_ceiling_is_the_accuracy_of_median_opinions_and_rises_with_voters():
    noisy = Panel(n_voters=4, nonconformity=(0.5, 1.0))
    few = panel_ceiling(ForecastAssumptions(exponential(100), noisy), seed=3)
    many = panel_ceiling(ForecastAssumptions(exponential(100), Panel(n_voters=64, nonconformity=(0.5, 1.0))), seed=3)
    assert few.rho_w < many.rho_w
    assert few == panel_ceiling(ForecastAssumptions(exponential(100), noisy), seed=3)
    assert (few.is_reliable, few.enough) == (few.rho_w >= 0.8, few.enough)
    if not few.is_reliable and few.enough is not None:
        again = panel_ceiling(ForecastAssumptions(exponential(100), Panel(few.enough, (0.5, 1.0))), seed=3)
        assert again.rho_w >= 0.8


def test_voters_without_noise_reach_all_and_equal_items_have_no_ceiling():
    exact = panel_ceiling(ForecastAssumptions(exponential(50), Panel(3, (0.0, 0.0))), seed=1)
    assert exact.rho_w == pytest.approx(1.0)
    assert (exact.enough, exact.is_reliable) == (3, True)
    flat = panel_ceiling(ForecastAssumptions(np.full(50, 0.3), Panel(3, (0.0, 0.0))), seed=1)
    assert np.isnan(flat.rho_w)
    assert not flat.is_reliable
