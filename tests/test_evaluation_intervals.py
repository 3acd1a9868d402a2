"""Intervals of correlations over resampled voters: by hand, by brute force, and how often they hold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.errors import InputError, UndefinedMetricError
from core.evaluation import Comparison, Evaluation, correlations
from core.evaluation_intervals import SHARE_OF_BIAS, Resampled, interval, with_intervals
from core.metrics import weighted_kendall, weighted_spearman
from core.plan import Plan
from core.resampled import draw_scores, number_of_resamples
from core.scores import BallotVotes, bootstrap_intervals
from core.simulation import simulate_campaign
from core.voters import exponential


def evaluation(name: str, scores: np.ndarray, values: np.ndarray) -> Evaluation:
    pairs = pd.DataFrame({"area": "A", "score": scores, "cosine": values})
    found = correlations(scores, values)
    return Evaluation(name, "similarity", 2.0, found, {}, found, pairs)


def compared(scores: np.ndarray, *models: np.ndarray) -> Comparison:
    every = np.logical_and.reduce([~np.isnan(model) for model in models])
    evaluations = tuple(evaluation(f"m{n}", scores, model) for n, model in enumerate(models))
    return Comparison(
        evaluations, tuple(correlations(scores[every], model[every]) for model in models), int(every.sum())
    )


def campaign(protocol: str, seed: int = 1, n: int = 60, appearances: int = 16):
    plan = Plan(n, 3, 0.5, appearances)
    held = simulate_campaign(exponential(n), plan, protocol=protocol, rng=np.random.default_rng(seed))
    return [BallotVotes(*ballot.votes) for ballot in held.held], held


def test_bounds_by_hand():
    drawn = np.array([0.5, 0.6, 0.7, 0.8])
    found = interval(0.7, drawn, spread=0.5, level=0.9)
    assert found is not None
    assert found.corrected == pytest.approx(0.7 + SHARE_OF_BIAS * 0.05)
    assert found.error == pytest.approx(0.5 * drawn.std(ddof=1))
    assert found.upper - found.corrected == pytest.approx(1.6448536 * found.error)
    cut = interval(0.99, np.array([0.8, 0.9]), spread=1.0)
    assert cut is not None
    assert cut.upper == 1.0
    nans = np.array([np.nan] * 3 + [0.5] * 7)
    assert interval(0.5, nans, spread=1.0) is None
    assert interval(0.5, np.array([0.5]), spread=1.0) is None
    with pytest.raises(InputError, match="level"):
        interval(0.5, drawn, spread=1.0, level=1.0)


def test_figures_are_those_of_each_resample():
    rng = np.random.default_rng(1)
    drawn, model = rng.normal(size=(5, 9)), rng.normal(size=9)
    model[3], drawn[2, 5] = np.nan, np.nan
    found = Resampled(drawn).figures("tau_w", model, np.ones(9, dtype=bool), 2.0)
    for value, row in zip(found, drawn, strict=True):
        known = ~np.isnan(row) & ~np.isnan(model)
        assert value == weighted_kendall(row[known], model[known])
    apart = np.array(["A"] * 5 + ["B"] * 4, dtype=object)
    means = Resampled(drawn, apart).figures("rho_w", model, np.ones(9, dtype=bool), 2.0)
    known = ~np.isnan(model)
    by_area = [weighted_spearman(drawn[0][known & (apart == area)], model[known & (apart == area)]) for area in "AB"]
    assert means[0] == pytest.approx(np.mean(by_area))


def test_equal_models_are_not_told_apart_and_far_ones_are():
    rng = np.random.default_rng(1)
    truth = np.linspace(1, 0, 50)
    drawn = truth + rng.normal(0, 0.05, (80, 50))
    good, bad = truth + rng.normal(0, 0.05, 50), -truth
    found, differences = with_intervals(compared(truth, good, good.copy(), bad), Resampled(drawn))
    same, clear, also = differences
    assert (same.rho_w, same.is_clear, same.first_better) == (0.0, False, 0.5)
    assert clear.is_clear
    assert clear.first_better > 0.999
    assert (also.first, also.second) == ("m1", "m2")
    figure = found.evaluations[0].overall.rho_w
    assert figure.lower is not None
    assert figure.upper is not None
    assert figure.lower < figure.upper <= 1.0
    assert found.evaluations[0].overall.rho.lower is None  # not looked at in simulations


def test_models_of_different_coverage_are_compared_over_what_both_cover():
    rng = np.random.default_rng(2)
    truth = np.linspace(1, 0, 40)
    drawn = truth + rng.normal(0, 0.05, (30, 40))
    one, other = truth + rng.normal(0, 0.2, 40), truth + rng.normal(0, 0.2, 40)
    other[:7] = np.nan
    found, (difference,) = with_intervals(compared(truth, one, other), Resampled(drawn))
    expected = weighted_spearman(truth[7:], one[7:]) - weighted_spearman(truth[7:], other[7:])
    assert difference.rho_w == pytest.approx(expected)
    assert found.common[0].rho_w.lower != found.evaluations[0].overall.rho_w.lower
    assert found.common[1].rho_w == found.evaluations[1].overall.rho_w
    with pytest.raises(InputError, match="each of 40 items"):
        with_intervals(compared(truth, one, other), Resampled(drawn[:, 1:]))


def test_an_undefined_figure_has_no_bounds():
    truth = np.linspace(1, 0, 20)
    drawn = truth + np.random.default_rng(1).normal(0, 0.05, (10, 20))
    found, differences = with_intervals(compared(truth, truth, np.ones(20)), Resampled(drawn))
    assert found.evaluations[1].overall.rho_w.lower is None
    assert differences == ()


def test_paper_draws_have_the_quantiles_of_the_intervals_at_closing():
    votes, _ = campaign("paper")
    draws = draw_scores(votes, "paper", resamples=300, rng=np.random.default_rng(4))
    known = bootstrap_intervals(votes, 60, resamples=300, rng=np.random.default_rng(4))
    assert np.nanquantile(draws.drawn, 0.05, axis=0) == pytest.approx(known.lower)
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


def test_intervals_of_runoff_hold_the_true_figures_mostly():
    """Six small campaigns, four models: of 24 intervals of ρ_w and of 36 differences most hold the truth."""
    held = total = 0
    rng = np.random.default_rng(7)
    for seed in range(6):
        votes, simulated = campaign("runoff", seed)
        draws = draw_scores(votes, "runoff", resamples=60, rng=np.random.default_rng(seed))
        truth = simulated.truth
        models = [truth + rng.normal(0, noise, 60) for noise in (0.05, 0.1, 0.2, 0.4)]
        found, differences = with_intervals(compared(draws.estimate, *models), Resampled(draws.drawn))
        true = [weighted_spearman(truth, model) for model in models]
        for evaluation_, value in zip(found.evaluations, true, strict=True):
            figure = evaluation_.overall.rho_w
            assert figure.lower is not None
            assert figure.upper is not None
            held += figure.lower <= value <= figure.upper
            total += 1
        for difference in differences:
            one, other = int(difference.first[1]), int(difference.second[1])
            held += difference.lower <= true[one] - true[other] <= difference.upper
            total += 1
    assert total == 6 * 10
    assert held >= 0.84 * total
