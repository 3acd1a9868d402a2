"""The probability of a vote under the voter model, against draws, quadrature and limits."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm

from core.errors import InputError
from core.voters.likelihood import ComparisonTerms, log_likelihoods
from core.voters.model import Voters, decide, opinions

NOTIONS = ("relatedness", "similarity")
SIMILARITIES = st.floats(-1, 1)
SIGMAS = st.floats(0.01, 0.8)


def win_probability(one: float, other: float, sigma: float, slip: float = 0.0, *, notion: str = "relatedness") -> float:
    """P(first wins | no tie) of a comparison, as the likelihood has it."""
    terms = ComparisonTerms.of(np.array([one]), np.array([other]), notion)
    return slip + (1 - 2 * slip) * float(terms.first_is_higher(np.array([1 / sigma]))[0])


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("sigma", [0.05, pytest.param(0.2, marks=pytest.mark.release), 0.4])
@pytest.mark.parametrize(
    ("one", "other"),
    [(0.9, 0.5), (0.9, 0.85), (0.99, 0.97), (0.0, 0.1), (-0.3, 0.2), (0.5, -0.52), (1.0, 0.9), (-0.95, -0.9)],
)
def test_against_opinions_that_are_drawn(one, other, sigma, notion):
    n, slip = 200_000, 0.05
    rng = np.random.default_rng(1)
    held = opinions([one, other] * n, Voters(np.array([sigma]), np.array([slip])), seed=3, notion=notion)[0]
    votes = decide(held[0::2], held[1::2], slip, rng)
    wins, losses = int((votes == 1).sum()), int((votes == 0).sum())
    share = wins / (wins + losses)
    expected = win_probability(one, other, sigma, slip, notion=notion)
    assert share == pytest.approx(expected, abs=4.5 * math.sqrt(expected * (1 - expected) / (wins + losses)) + 2e-4)


def test_ties_of_opinions_beyond_the_scale_are_taken_out():
    # σ* = 1.2: nearly half the opinions are cut to 1. Without the correction the figure would be .59.
    n = 400_000
    held = opinions([0.8, 0.3] * n, Voters(np.array([1.2]), np.array([0.0])), seed=5)[0]
    first, second = held[0::2], held[1::2]
    untied = first != second
    assert 1 - untied.mean() > 0.1
    share = (first > second)[untied].mean()
    assert win_probability(0.8, 0.3, 1.2) == pytest.approx(share, abs=0.006)


@pytest.mark.parametrize(("one", "other", "sigma"), [(0.4, 0.1, 0.15), (0.05, -0.02, 0.2), (0.7, -0.6, 0.1)])
def test_relatedness_against_two_quadrants_of_a_bivariate_normal(one, other, sigma):
    s_one, s_other = sigma * (1 - one**2), sigma * (1 - other**2)
    variance, cross = s_one**2 + s_other**2, s_one**2 - s_other**2
    mean, covariance = [one - other, one + other], [[variance, cross], [cross, variance]]
    quadrants = multivariate_normal(mean, covariance).cdf([0, 0]) + multivariate_normal(
        [-m for m in mean], covariance
    ).cdf([0, 0])
    assert win_probability(one, other, sigma) == pytest.approx(quadrants, abs=1e-6)


def test_similarity_is_a_normal_probability():
    expected = norm.cdf((0.5 - 0.4) / (0.1 * math.hypot(1 - 0.25, 1 - 0.16)))
    assert win_probability(0.5, 0.4, 0.1, notion="similarity") == pytest.approx(expected, abs=1e-12)


@given(SIMILARITIES, SIMILARITIES, SIGMAS, st.floats(0, 1), st.sampled_from(NOTIONS))
def test_the_two_sides_make_one(one, other, sigma, slip, notion):
    there = win_probability(one, other, sigma, slip, notion=notion)
    back = win_probability(other, one, sigma, slip, notion=notion)
    assert 0 <= there <= 1
    assert there + back == pytest.approx(1, abs=1e-9)


@given(SIMILARITIES, SIMILARITIES, st.floats(0.01, 0.5))
def test_relatedness_doesn_t_see_signs(one, other, sigma):
    values = [win_probability(a, b, sigma) for a, b in itertools.product((one, -one), (other, -other))]
    assert max(values) - min(values) < 1e-12
    # The stronger item wins more often. (From σ* = 1/√2 on it doesn't near 0, where its opinions spread less.)
    assert (values[0] - 0.5) * (abs(one) - abs(other)) >= -1e-9


@pytest.mark.parametrize("z", [-1.0, -0.4, 0.0, 0.3, 1.0])
@pytest.mark.parametrize("notion", NOTIONS)
def test_equal_items_have_even_chances(z, notion):
    assert win_probability(z, z, 0.2, 0.1, notion=notion) == pytest.approx(0.5, abs=1e-12)


def test_oversight_turns_votes():
    sure = win_probability(0.9, 0.0, 0.02)
    assert sure == pytest.approx(1, abs=1e-9)
    assert win_probability(0.9, 0.0, 0.02, 0.1) == pytest.approx(0.9, abs=1e-9)
    assert win_probability(0.9, 0.0, 0.02, 1.0) == pytest.approx(0, abs=1e-9)


def test_log_likelihoods_are_sums_over_a_voter_s_votes():
    rng = np.random.default_rng(2)
    one, other = rng.uniform(-1, 1, (2, 60))
    outcome, voter = rng.integers(2, size=60).astype(float), np.sort(rng.integers(4, size=60))
    sigma, epsilon = np.array([0.05, 0.3]), np.array([0.0, 0.02, 0.3])
    found = log_likelihoods(ComparisonTerms.of(one, other, "relatedness"), outcome, voter, 5, sigma, epsilon)
    assert found.shape == (5, 2, 3)
    for v, (i, s), (j, e) in itertools.product(range(5), enumerate(sigma), enumerate(epsilon)):
        p = [win_probability(a, b, s, e) for a, b in zip(one[voter == v], other[voter == v], strict=True)]
        logs = [math.log(max(x if y else 1 - x, 1e-12)) for x, y in zip(p, outcome[voter == v], strict=True)]
        assert found[v, i, j] == pytest.approx(sum(logs), rel=1e-9, abs=1e-9)


def test_blocks_make_no_difference(monkeypatch):
    rng = np.random.default_rng(3)
    one, other = rng.uniform(-1, 1, (2, 50))
    votes = rng.integers(2, size=50).astype(float), np.sort(rng.integers(3, size=50)), 3
    nodes = np.array([0.05, 0.3]), np.array([0.0, 0.3])
    whole = log_likelihoods(ComparisonTerms.of(one, other, "similarity"), *votes, *nodes)
    monkeypatch.setattr("core.voters.likelihood.BLOCK", 14)
    np.testing.assert_allclose(
        log_likelihoods(ComparisonTerms.of(one, other, "similarity"), *votes, *nodes), whole, rtol=1e-12
    )


def test_an_unknown_notion_is_refused():
    with pytest.raises(InputError, match="notion"):
        win_probability(0.2, 0, 0.1, notion="love")
