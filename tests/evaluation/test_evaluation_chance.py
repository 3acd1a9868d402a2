"""The share from chance to the best that votes allow: by all permutations, by simulation, and where it is undefined."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest
from test_evaluation_headline import TOKENS, dataset, model

from core.errors import InputError, UndefinedMetricError
from core.evaluation import compare, given
from core.evaluation.chance import EXACT, NO_CEILING, ShareOfCeiling, _chance, chance, share_of, shares
from core.metrics import weighted_kendall, weighted_spearman

METRICS = {"rho_w": weighted_spearman, "tau_w": weighted_kendall}


@pytest.mark.parametrize("n0", [-0.9, 0.0, 2.0])
@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([3, 2], [1, 2]),
        ([5, 4, 3, 2, 1], [5, 4, 3, 2, 1]),
        ([3, 3, 2, 1, 1, 1], [6, 5, 4, 3, 2, 1]),
        ([6, 5, 4, 3, 2, 1], [2, 2, 2, 1, 1, 1]),
        ([3, 3, 2, 2, 1], [4, 1, 1, 1, 2]),
    ],
)
def test_chance_is_the_mean_over_all_permutations(x: Sequence[float], y: Sequence[float], n0: float) -> None:
    found = chance(x, y, n0=n0)
    for name, metric in METRICS.items():
        every = [metric(x, order, n0=n0) for order in permutations(y)]
        assert found[name].mean == pytest.approx(np.mean(every), abs=1e-12)
        assert found[name].error == 0


@pytest.mark.parametrize(("ties_x", "ties_y"), [(0, 0), (3, 0), (0, 4), (3, 4)])
def test_drawn_permutations_are_taken_with_their_ties(ties_x: int, ties_y: int) -> None:
    rng = np.random.default_rng(5)
    x, y = (np.floor(rng.permutation(33) / each) if each else rng.permutation(33) for each in (ties_x, ties_y))
    found = chance(x, y, permutations=400, seed=3)
    other = {name: [metric(x, rng.permutation(y)) for _ in range(1500)] for name, metric in METRICS.items()}
    for name, values in other.items():
        error = np.hypot(found[name].error, np.std(values) / np.sqrt(1500))
        assert abs(found[name].mean - np.mean(values)) < 4 * error
        assert found[name].error == pytest.approx(np.std(values) / 20, rel=0.2)
    # Many at once are each by itself: with one permutation the mean is the figure of that order.
    orders = [chance(x, y, permutations=1, seed=seed)["tau_w"].mean for seed in range(5)]
    assert len(set(orders)) == 5


def test_all_orders_are_taken_up_to_seven_items_and_drawn_ones_agree() -> None:
    scores = np.arange(EXACT)
    exact, drawn = chance(scores, scores), chance(scores, scores, permutations=20_000)
    assert exact["rho_w"].n == 5040
    for name in METRICS:
        assert abs(exact[name].mean - drawn[name].mean) < 4 * drawn[name].error


def test_a_random_ranking_lies_below_0_as_the_sizes_say() -> None:
    """Against `weighted_spearman` of thousands of random rankings, one by one: standard errors up to .004."""
    means = {n: chance(np.arange(n), np.arange(n))["rho_w"] for n in (20, 60, 722)}
    for (n, found), expected in zip(means.items(), (-0.271, -0.431, -0.589), strict=True):
        assert found.mean == pytest.approx(expected, abs=4 * found.error + 0.01), n


def test_the_same_seed_gives_the_same_bytes_whatever_the_order_of_the_items() -> None:
    rng = np.random.default_rng(1)
    x, y = np.round(rng.random(50), 1), rng.random(50)
    one = chance(x, y, seed=4)
    _chance.cache_clear()
    moved = rng.permutation(50)
    assert chance(x[moved], y[moved], seed=4) == one
    assert chance(x, rng.random(50), seed=4) == one  # another model without ties
    assert chance(x, y, seed=5) != one


def test_a_random_rankings_mean_share_is_0_and_a_perfect_ones_1() -> None:
    rng, scores = np.random.default_rng(8), np.arange(40.0)
    by_chance = chance(scores, scores)
    for name, metric in METRICS.items():
        expected = by_chance[name]
        found = [share_of(metric(scores, rng.permutation(40)), expected.mean, 1.0) for _ in range(600)]
        error = np.hypot(np.std(found) / np.sqrt(600), expected.error / (1 - expected.mean))
        assert abs(np.mean(found)) < 4 * error
        assert share_of(metric(scores, scores), expected.mean, 1.0) == 1.0
        assert share_of(metric(scores, -scores), expected.mean, 1.0) < 0  # not cut


def test_undefined_says_why() -> None:
    for ceiling in (-0.5, -0.6, float("nan")):
        with pytest.raises(UndefinedMetricError, match=r"isn't above what a random ranking gets, -0\.500"):
            share_of(0.1, -0.5, ceiling)
    with pytest.raises(UndefinedMetricError, match="All 3 scores of y are equal"):
        chance([1, 2, 3], [1, 1, 1])
    with pytest.raises(UndefinedMetricError, match="up to 100,000 items"):
        chance(np.arange(100_001), np.arange(100_001))
    with pytest.raises(InputError, match="n0"):
        chance([1, 2, 3], [1, 2, 3], n0=-1)
    with pytest.raises(InputError, match="Permutations"):
        chance([1, 2, 3], [1, 2, 3], permutations=-1)


def test_shares_of_a_models_figures_over_what_it_covers() -> None:
    compared = compare(dataset(), [model("Good", TOKENS[:6], 1), model("Poor", TOKENS, -1)])
    good, poor = compared.evaluations
    every, both = np.ones(10, dtype=bool), np.arange(10) < 6
    by_six = chance(range(6), range(6))["rho_w"].mean
    found = shares(good, good.overall, every, {"rho_w": 0.9})
    assert found["rho_w"] == ShareOfCeiling((1 - by_six) / (0.9 - by_six), by_six, 0.9)  # above 1, as it isn't cut
    assert (found["tau_w"].value, found["tau_w"].reason) == (None, NO_CEILING)
    assert found["tau_w"].chance is not None
    assert shares(poor, compared.common[1], both, {"rho_w": 0.9})["rho_w"].chance == by_six
    low = shares(good, good.overall, every, {"rho_w": -0.9})["rho_w"]
    assert low.value is None
    assert "isn't above" in low.reason
    nothing = compare(dataset(), [given(["other"], np.ones((1, 2)), name="None")]).evaluations[0]
    undefined = shares(nothing, nothing.overall, every, {"rho_w": 0.9})["rho_w"]
    assert undefined.value is None
    assert undefined.reason
