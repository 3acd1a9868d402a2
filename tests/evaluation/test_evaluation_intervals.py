"""Intervals of correlations over resampled voters: by hand, by brute force, and how often they hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.base.estimates import widened_tails
from core.errors import InputError, UndefinedMetricError
from core.evaluation import Evaluation, FigureEstimate, ModelComparison, correlations, vote_intervals
from core.evaluation.vote_intervals import Resampled, draw_scores, interval, number_of_resamples, with_intervals
from core.metrics import kendall, spearman, weighted_kendall, weighted_spearman
from core.plan import Plan
from core.scores import BallotVotes, bootstrap_intervals
from core.simulation import simulate_campaign
from core.voters.model import exponential

METRICS = {"rho_w": weighted_spearman, "tau_w": weighted_kendall, "rho": spearman, "tau": kendall}


def evaluation(name: str, scores: np.ndarray, values: np.ndarray) -> Evaluation:
    pairs = pd.DataFrame({"area": "A", "score": scores, "cosine": values})
    found = correlations(scores, values)
    return Evaluation(name, "similarity", 2.0, found, {}, found, pairs)


def compared(scores: np.ndarray, *models: np.ndarray) -> ModelComparison:
    every = np.logical_and.reduce([~np.isnan(model) for model in models])
    evaluations = tuple(evaluation(f"m{n}", scores, model) for n, model in enumerate(models))
    return ModelComparison(
        evaluations, tuple(correlations(scores[every], model[every]) for model in models), int(every.sum())
    )


def campaign(protocol: str, seed: int = 1, n: int = 60, appearances: int = 16):
    plan = Plan(n, 3, 0.5, appearances)
    held = simulate_campaign(exponential(n), plan, protocol=protocol, rng=np.random.default_rng(seed))
    return [BallotVotes(*ballot.votes) for ballot in held.held], held


def test_bounds_of_rho_w_by_brute_force():
    rng = np.random.default_rng(3)
    own = rng.uniform(0.8, 0.95, 30)
    drawn = 0.4 + 0.3 * own + rng.normal(0, 0.02, 30)
    found = interval(0.7, drawn, own)
    assert found is not None
    rest = drawn - np.polyval(np.polyfit(own, drawn, 1), own)
    assert found.corrected == pytest.approx(0.7 + 2 / 3 * (0.7 - drawn.mean()))
    assert found.error == pytest.approx((0.72 + 2.5 * (1 - own.mean())) * np.sqrt(np.sum(rest**2) / 28))
    assert found.upper - found.corrected == pytest.approx(1.6448536 * found.error)
    assert found.corrected - found.lower == pytest.approx(1.6448536 * found.error)
    pair = interval(0.7, drawn, own, of_difference=True)
    assert pair is not None
    assert pair.corrected == 0.7
    assert pair.error == pytest.approx((0.72 + 1 - own.mean()) * np.sqrt(np.sum(rest**2) / 28))
    small = interval(0.7, drawn, own, n_items=60)
    assert small.corrected == found.corrected
    assert small.error == pytest.approx((1 + 2.5 * (1 - own.mean())) * np.sqrt(np.sum(rest**2) / 28))
    apart = interval(0.7, drawn, own, of_difference=True, n_items=60)
    assert apart.error == pytest.approx((0.8 + 4 * (1 - own.mean())) * np.sqrt(np.sum(rest**2) / 28))


@pytest.mark.parametrize(("n_voters", "wider"), [(5, 1.1180340), (30, 1.0170953), (100, 1.0050378)])
def test_few_voters_widen_the_bounds_of_figures(n_voters, wider):
    rng = np.random.default_rng(3)
    own = rng.uniform(0.8, 0.95, 30)
    drawn = 0.4 + 0.3 * own + rng.normal(0, 0.02, 30)
    for how in ({}, {"name": "tau_w"}, {"of_difference": True, "n_items": 60}):
        many, few = interval(0.6, drawn, own, **how), interval(0.6, drawn, own, n_voters=n_voters, **how)
        assert few.corrected == many.corrected
        reach = 1.6448536 * wider * many.error
        assert (few.lower, few.upper) == pytest.approx((many.corrected - reach, many.corrected + reach))
        assert few.upper - few.corrected == pytest.approx(1.6448536 * few.error)


@pytest.mark.parametrize(("loss", "share"), [(0.0, 0.0), (0.05, 0.25), (0.2, 1.0), (0.3, 1.0)])
def test_bounds_of_tau_w_by_hand(loss, share):
    drawn, own = np.array([0.5, 0.6, 0.7, 0.8]), np.full(4, 1 - loss) + np.array([-0.01, 0.01, 0.0, 0.0])
    found = interval(0.7, drawn, own, name="tau_w")
    assert found is not None
    assert found.corrected == pytest.approx(0.7 + 0.6 * share * 0.05)
    assert found.error == pytest.approx(1.3 * np.sqrt(share) * drawn.std(ddof=1))
    pair = interval(0.7, drawn, own, name="tau_w", of_difference=True)
    assert pair is not None
    assert (pair.corrected, pair.error) == (0.7, found.error)
    small = interval(0.7, drawn, own, name="tau_w", n_items=60)
    rarer = min(loss / 0.3, 1.0)
    assert small.corrected == pytest.approx(0.7 + 0.8 * rarer * 0.05)
    assert small.error == pytest.approx(1.9 * np.sqrt(rarer) * drawn.std(ddof=1))


@pytest.mark.parametrize(
    ("name", "n", "pair", "c", "k", "rise", "h"),
    [
        ("rho", 60, False, 1.4, 1.4, 0.0, 0.2),
        ("rho", 990, False, 1.1, 1.3, 0.0, 0.15),
        ("rho", 60, True, 1.5, 1.5, 0.0, 0.0),
        ("tau", 60, False, 1.9, 1.8, 0.0, 0.35),
        ("tau", 990, False, 1.5, 1.8, 0.0, 0.2),
        ("tau", 990, True, 2.5, 2.2, 0.0, 0.4),
        ("precision", 60, False, 0.7, 1.5, 2.0, 0.0),
        ("precision", 990, True, 0.3, 1.3, 2.0, 0.0),
    ],
)
def test_doubt_about_the_share_widens_the_bounds(name, n, pair, c, k, rise, h):
    rng = np.random.default_rng(4)
    own = rng.uniform(0.8, 0.95, 30)
    drawn = 0.3 + 0.3 * own + rng.normal(0, 0.02, 30)
    found = interval(0.7, drawn, own, name=name, n_items=n, of_difference=pair)
    loss = 0.7 - drawn.mean()
    s = np.sqrt(np.sum((drawn - np.polyval(np.polyfit(own, drawn, 1), own)) ** 2) / 28)
    assert found.corrected == pytest.approx(0.7 + c * loss)
    assert found.error == pytest.approx(np.sqrt(((k + rise * (1 - own.mean())) * s) ** 2 + (h * loss) ** 2))


def test_precision_lies_between_0_and_1():
    own, drawn = np.array([0.9, 0.8, 0.7, 0.8]), np.array([0.2, 0.0, 0.4, 0.1])
    assert interval(0.05, drawn, own, name="precision").lower == 0.0
    assert interval(0.05, drawn, own, name="precision", of_difference=True).lower < 0.0
    assert interval(0.95, drawn + 0.55, own, name="precision").upper == 1.0


def test_precision_has_bounds_among_the_top_twenty_only():
    rng = np.random.default_rng(6)
    truth = np.linspace(1, 0, 40)
    drawn = truth + rng.normal(0, 0.1, (30, 40))
    held = compared(truth, *(truth + noise * rng.normal(size=40) for noise in (0.2, 0.4)))
    found, differences = with_intervals(held, Resampled(drawn))
    precision = found.evaluations[0].overall.precision
    assert precision.lower < precision.upper
    assert {gap.figure for gap in differences} == {"rho_w", "tau_w", "rho", "tau", "precision"}
    assert found.evaluations[0].overall.pearson.lower is None
    others = tuple(replace(e, overall=correlations(truth, e.values, top=10)) for e in held.evaluations)
    found, differences = with_intervals(replace(held, evaluations=others), Resampled(drawn))
    assert found.evaluations[0].overall.precision.lower is None
    assert "precision" not in {gap.figure for gap in differences}


def test_rules_change_between_small_and_large_rankings_by_the_logarithm():
    own = np.array([0.7, 0.8, 0.9, 0.8])
    drawn = np.array([0.5, 0.6, 0.6, 0.55])
    errors = [interval(0.7, drawn, own, of_difference=True, n_items=n).error for n in (20, 150, 385, 990, 5000)]
    assert errors[0] == errors[1]
    assert errors[3] == errors[4]
    assert errors[2] == pytest.approx((errors[1] + errors[3]) / 2, rel=2e-3)  # 385 is near √(150 · 990)


def test_areas_have_bounds_by_the_rule_of_the_whole_ranking(monkeypatch):
    rng = np.random.default_rng(5)
    truth = np.linspace(1, 0, 40)
    drawn = truth + rng.normal(0, 0.05, (30, 40))
    one = compared(truth, truth + rng.normal(0, 0.2, 40))
    areas = np.array(["A", "B"] * 20)
    (only,) = one.evaluations
    parts = {area: correlations(truth[areas == area], only.values[areas == area]) for area in "AB"}
    held = replace(one, evaluations=(replace(only, pairs=only.pairs.assign(area=areas), areas=parts),))
    found, _ = with_intervals(held, Resampled(drawn))
    rows = areas == "A"
    moved = Resampled(drawn).figures(only.values, rows, 2.0)["rho"]
    own = Resampled(drawn).figures(truth, rows, 2.0)["rho"]
    expected = interval(parts["A"].rho.estimate, moved, own, name="rho", n_items=40)
    bounds = found.evaluations[0].areas["A"].rho
    assert (bounds.lower, bounds.upper) == (expected.lower, expected.upper)
    assert found.evaluations[0].areas["A"].tau_w.lower is not None
    monkeypatch.setattr(vote_intervals, "MOST_FOR_TAU_OF_AREAS", 39)
    large = with_intervals(held, Resampled(drawn))[0].evaluations[0].areas["A"]
    assert large.tau_w.lower is None
    assert large.rho == bounds


def test_bounds_are_cut_and_missing_resamples_left_out():
    own = np.array([0.9, 0.8, 0.7, 0.8])
    cut = interval(0.99, np.array([0.8, 0.9, 0.9, 0.8]), own)
    assert cut is not None
    assert cut.upper == 1.0
    assert cut.corrected > 1.0
    gap = interval(1.99, np.array([1.8, 1.9, 1.0, 0.1]), own, of_difference=True)
    assert gap is not None
    assert gap.upper == 2.0
    nans, whole = np.array([np.nan] + [0.5, 0.6, 0.8, 0.4] * 2), np.linspace(0.5, 0.9, 9)
    assert interval(0.5, nans, whole) == interval(0.5, nans[1:], whole[1:])
    assert interval(0.5, np.where(whole > 0.7, nans, np.nan), whole) is None
    assert interval(0.5, np.array([0.5, 0.4]), np.array([0.5, 0.6])) is None


def test_noise_that_all_models_lose_alike_is_no_error_of_theirs():
    """R_b and O_b on one line: how much noise a resample holds is known, and the corrected figure with it."""
    own = np.array([0.7, 0.8, 0.9])
    found = interval(0.6, 0.1 + 0.5 * own, own)
    assert found is not None
    assert found.error == pytest.approx(0.0, abs=1e-12)
    steady = interval(0.6, np.array([0.5, 0.6, 0.4]), np.ones(3))
    assert steady is not None
    assert steady.error == pytest.approx(0.72 * np.std([0.5, 0.6, 0.4]) * np.sqrt(3 / 1))


def test_figures_are_those_of_each_resample():
    rng = np.random.default_rng(1)
    drawn, model = rng.normal(size=(5, 9)), rng.normal(size=9)
    model[3], drawn[2, 5] = np.nan, np.nan
    found = Resampled(drawn).figures(model, np.ones(9, dtype=bool), 2.0)
    for number, row in enumerate(drawn):
        known = ~np.isnan(row) & ~np.isnan(model)
        for name, metric in METRICS.items():
            assert found[name][number] == pytest.approx(metric(row[known], model[known]), abs=1e-14)
    apart = np.array(["A"] * 5 + ["B"] * 4, dtype=object)
    means = Resampled(drawn, apart).figures(model, np.ones(9, dtype=bool), 2.0)["rho_w"]
    known = ~np.isnan(model)
    by_area = [weighted_spearman(drawn[0][known & (apart == area)], model[known & (apart == area)]) for area in "AB"]
    assert means[0] == pytest.approx(np.mean(by_area))


def test_equal_models_are_not_told_apart_and_far_ones_are():
    rng = np.random.default_rng(1)
    truth = np.linspace(1, 0, 50)
    drawn = truth + rng.normal(0, 0.05, (80, 50))
    good, bad = truth + rng.normal(0, 0.05, 50), -truth
    found, differences = with_intervals(compared(truth, good, good.copy(), bad), Resampled(drawn))
    assert [each.figure for each in differences] == [name for name in (*METRICS, "precision") for _ in range(3)]
    same, clear, also = differences[:3]
    assert (same.difference, same.lower <= 0 <= same.upper, same.first_better) == (0.0, True, 0.5)
    assert clear.lower > 0
    assert clear.first_better > 0.999
    assert (also.first, also.second) == ("m1", "m2")
    figure = found.evaluations[0].overall.rho_w
    assert figure.lower is not None
    assert figure.upper is not None
    assert figure.lower < figure.upper <= 1.0
    for name in METRICS:
        each = getattr(found.evaluations[0].overall, name)
        assert each.lower < each.upper <= 1.0


def test_models_of_different_coverage_are_compared_over_what_both_cover():
    rng = np.random.default_rng(2)
    truth = np.linspace(1, 0, 40)
    drawn = truth + rng.normal(0, 0.05, (30, 40))
    one, other = truth + rng.normal(0, 0.2, 40), truth + rng.normal(0, 0.2, 40)
    other[:7] = np.nan
    found, (difference, *others) = with_intervals(compared(truth, one, other), Resampled(drawn))
    assert [each.figure for each in others] == ["tau_w", "rho", "tau", "precision"]
    expected = weighted_spearman(truth[7:], one[7:]) - weighted_spearman(truth[7:], other[7:])
    assert difference.difference == pytest.approx(expected)
    assert found.common[0].rho_w.lower != found.evaluations[0].overall.rho_w.lower
    assert found.common[1].rho_w == found.evaluations[1].overall.rho_w
    with pytest.raises(InputError, match="each of 40 items"):
        with_intervals(compared(truth, one, other), Resampled(drawn[:, 1:]))


def test_an_undefined_figure_has_no_bounds():
    truth = np.linspace(1, 0, 20)
    drawn = truth + np.random.default_rng(1).normal(0, 0.05, (10, 20))
    found, differences = with_intervals(compared(truth, truth, np.ones(20)), Resampled(drawn))
    assert found.evaluations[1].overall.rho_w.lower is None
    assert [each.figure for each in differences] == ["precision"]  # 1 for any model: all of the 20 items are its top


def test_paper_draws_have_the_quantiles_of_the_intervals_at_closing():
    votes, _ = campaign("paper")
    draws = draw_scores(votes, "paper", resamples=300, rng=np.random.default_rng(4))
    known = bootstrap_intervals(votes, 60, resamples=300, rng=np.random.default_rng(4))
    assert np.nanquantile(draws.drawn, widened_tails(draws.n_voters)[0], axis=0) == pytest.approx(known.lower)
    assert draws.resamples == 300


def test_the_top_of_the_draws_sums_to_its_size_and_ties_count_in_part():
    votes, _ = campaign("paper")
    draws = draw_scores(votes, "paper", resamples=50, rng=np.random.default_rng(4))
    assert draws.top_probability(10).sum() == pytest.approx(10.0)
    assert draws.top_probability(60) == pytest.approx(np.ones(60))
    assert draws.tied_for_first()[0] == draws.items[np.nanargmax(draws.estimate)]
    with pytest.raises(InputError, match="61 items"):
        draws.top_probability(61)


def test_few_voters_and_odd_protocols_are_refused():
    votes, _ = campaign("paper")
    few = [BallotVotes(b.items, b.first, b.second, b.outcome, b.voter % 4) for b in votes]
    with pytest.raises(UndefinedMetricError, match="5 voters"):
        draw_scores(few, "paper", resamples=5, rng=np.random.default_rng(1))
    with pytest.raises(InputError, match="protocol"):
        draw_scores(votes, "uniform", resamples=5, rng=np.random.default_rng(1))
    assert [number_of_resamples(n) for n in (0, 10_000, 20_000, 10**6)] == [400, 200, 100, 100]


@pytest.mark.release
def test_intervals_of_runoff_hold_the_true_figures_mostly():
    """Six small campaigns, four models: of 24 intervals of ρ_w, 24 of τ_w and 36 of differences most hold the truth.

    Percentiles of the same resamples hold few ρ_w, as they would were the loss not made up for.
    """
    held, total, by_percentiles = dict.fromkeys(("rho_w", "tau_w", "pair"), 0), 6 * 4, 0
    rng = np.random.default_rng(7)
    for seed in range(6):
        votes, simulated = campaign("runoff", seed)
        draws = draw_scores(votes, "runoff", resamples=60, rng=np.random.default_rng(seed))
        truth = simulated.truth
        models = [truth + rng.normal(0, noise, 60) for noise in (0.05, 0.1, 0.2, 0.4)]
        found, differences = with_intervals(compared(draws.estimate, *models), Resampled(draws.drawn, n_voters=100))
        for evaluation_, model in zip(found.evaluations, models, strict=True):
            for name, metric in (("rho_w", weighted_spearman), ("tau_w", weighted_kendall)):
                figure = getattr(evaluation_.overall, name)
                held[name] += figure.lower <= metric(truth, model) <= figure.upper
            tails = np.quantile([weighted_spearman(drawn, model) for drawn in draws.drawn], (0.05, 0.95))
            by_percentiles += tails[0] <= weighted_spearman(truth, model) <= tails[1]
        true = [weighted_spearman(truth, model) for model in models]
        for difference in differences:
            one, other = int(difference.first[1]), int(difference.second[1])
            held["pair"] += difference.lower <= true[one] - true[other] <= difference.upper
    assert held["rho_w"] >= 0.8 * total
    assert held["tau_w"] >= 0.8 * total
    assert held["pair"] >= 0.8 * 1.5 * total
    assert by_percentiles <= 0.6 * total


def test_no_interval_excludes_the_estimate_it_is_about():
    with pytest.raises(InputError, match=r"excludes its own estimate, 0\.811"):
        FigureEstimate(0.811, 0.82, 0.856, corrected=0.811)
    with pytest.raises(InputError, match="excludes its own estimate"):
        FigureEstimate(0.811, corrected=0.8)
    with pytest.raises(InputError, match="excludes its own estimate"):
        FigureEstimate(0.5, token_lower=0.6, token_upper=0.7, token_corrected=0.5)
    above = FigureEstimate(0.99).with_votes(1.04, 0.97, 1.0)  # the interval is cut at 1, and so is what it is about
    assert above.by_votes == (1.0, 0.97, 1.0)
    assert FigureEstimate(0.99).with_tokens(0.99, 0.96, 0.97).by_tokens == (0.97, 0.96, 0.97)


def test_noisy_votes_leave_the_measured_figure_outside_and_the_corrected_inside():
    rng = np.random.default_rng(11)
    truth = np.linspace(1, 0, 60)
    scores = truth + 0.2 * rng.normal(size=60)
    drawn = scores + 0.2 * rng.normal(size=(80, 60))
    found, _ = with_intervals(compared(scores, truth + 0.02 * rng.normal(size=60)), Resampled(drawn))
    figures = [getattr(found.evaluations[0].overall, name) for name in METRICS]
    assert all(figure.lower <= figure.corrected <= figure.upper for figure in figures)
    outside = [figure for figure in figures if not figure.lower <= figure.estimate <= figure.upper]
    assert outside  # or this test couldn't tell one kind from the other
