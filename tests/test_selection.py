"""Who stays, and how likely a true top item was cut."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from core.errors import InputError
from core.scores import fit_bradley_terry
from core.scores.posterior import item_posteriors
from core.selection import select_leading, top_probability


def test_two_items_are_in_order_with_the_probability_of_a_normal_difference():
    found = top_probability([0.5, 0.0], [0.3, 0.4], 1, rng=np.random.default_rng(1), draws=20_000)
    assert found[0] == pytest.approx(norm.cdf(0.5 / 0.5), abs=0.01)
    assert found.sum() == pytest.approx(1.0)


def test_a_covariance_counts():
    covariance = np.array([[1.0, 0.9], [0.9, 1.0]])
    found = top_probability(
        [0.2, 0.0], [1.0, 1.0], 1, rng=np.random.default_rng(1), covariance=covariance, draws=20_000
    )
    assert found[0] == pytest.approx(norm.cdf(0.2 / np.sqrt(0.2)), abs=0.01)


def test_the_probability_is_the_share_of_truths_in_which_an_item_is_on_top():
    """Brute force: truths drawn from the same normal distributions, item by item."""
    rng = np.random.default_rng(7)
    score, error = np.linspace(2, 0, 12), np.linspace(0.1, 1.5, 12)
    truths = np.array([[rng.normal(score[i], error[i]) for i in range(12)] for _ in range(4000)])
    expected = np.mean(np.argsort(np.argsort(-truths, axis=1), axis=1) < 4, axis=0)
    found = top_probability(score, error, 4, rng=np.random.default_rng(1), draws=20_000)
    assert found == pytest.approx(expected, abs=0.03)
    assert found.sum() == pytest.approx(4.0)


def ladder(n=30, rounds=6, seed=1, slips=()):
    """Votes of random items on a ladder, item 0 the top; in `slips` the first item lost to the second besides."""
    rng = np.random.default_rng(seed)
    first = np.tile(np.arange(n), rounds)
    second = (first + rng.integers(1, n, len(first))) % n
    outcome = (rng.random(len(first)) < 1 / (1 + np.exp(-(second - first) * 0.7))).astype(float)
    for item, other in slips:
        first, second = np.append(first, item), np.append(second, other)
        outcome = np.append(outcome, 0.0)
    return first, second, outcome


def posterior_by_loops(fit, votes, item, knots):
    """The likelihood of an item's score at each knot, vote by vote, the others as fitted."""
    logs = []
    for knot in knots:
        total = -fit.ridge / 2 * knot**2
        for a, b, y in zip(*votes, strict=True):
            if item in (a, b):
                own, other = (knot, fit.theta[b]) if a == item else (fit.theta[a], knot)
                p = 0.03 + 0.94 / (1 + np.exp(other - own))
                total += y * np.log(p) + (1 - y) * np.log(1 - p)
        logs.append(total)
    weight = np.exp(np.array(logs) - max(logs))
    return weight / weight.sum()


@pytest.mark.parametrize("with_voters", [False, True])
def test_posteriors_are_the_likelihoods_at_the_knots(with_voters):
    votes = ladder()
    extra = {"voter": np.zeros(len(votes[0]), dtype=int)} if with_voters else {}
    fit = fit_bradley_terry(*votes, n_items=31, **extra)
    found = item_posteriors(fit)
    assert np.isnan(found.probability[30]).all()
    if not with_voters:
        for item in (0, 7, 29):
            expected = posterior_by_loops(fit, votes, item, found.knots)
            assert found.probability[item] == pytest.approx(expected, abs=1e-9)
    for item in range(30):
        assert abs(found.knots[found.probability[item].argmax()] - fit.theta[item]) <= np.diff(found.knots)[0]


def test_probabilities_of_the_top_add_up_and_agree_with_draws():
    votes = ladder(n=40, rounds=8)
    fit = fit_bradley_terry(*votes, n_items=40)
    found = item_posteriors(fit).top_probability(12)
    assert found.sum() == pytest.approx(12.0)
    normal = top_probability(fit.theta, fit.standard_error, 12, rng=np.random.default_rng(1))
    assert found == pytest.approx(normal, abs=0.15)


def test_the_leading_stay_and_the_expected_loss_is_that_of_the_others():
    fit = fit_bradley_terry(*ladder(), n_items=30)
    found = select_leading(fit, 10, rng=np.random.default_rng(1))
    cut = np.setdiff1d(np.arange(30), found.selection.items)
    assert len(found.selection.items) == 10
    assert found.lost == pytest.approx(found.probability[cut].sum())
    assert found.n_top == 10
    assert 0 < found.certain <= 10
    assert select_leading(fit, 10, rng=np.random.default_rng(1), n_top=3).lost < found.lost


def test_an_item_that_may_be_the_top_is_not_cut_for_slips():
    votes = ladder(rounds=3, slips=[(0, 29), (0, 28), (0, 27), (0, 26), (0, 25)])
    fit = fit_bradley_terry(*votes, n_items=30)
    rank = int((fit.theta > fit.theta[0]).sum()) + 1
    weight = item_posteriors(fit).expected_weight()
    assert (weight > weight[0]).sum() + 1 < rank


def test_ties_at_the_cut_are_drawn_with_the_seed():
    cycle = fit_bradley_terry([0, 1, 2], [1, 2, 0], [1, 1, 1], n_items=3)
    one, other = (select_leading(cycle, 2, rng=np.random.default_rng(4)) for _ in range(2))
    assert one.selection.items.tolist() == other.selection.items.tolist()
    assert one.selection.n_tied == 3
    with pytest.raises(InputError):
        select_leading(cycle, 4, rng=np.random.default_rng(4))


@pytest.mark.parametrize(
    ("score", "error", "n_top"),
    [([1.0, np.nan], [1.0, 1.0], 1), ([1.0, 2.0], [1.0, -1.0], 1), ([1.0, 2.0], [1.0], 1), ([1.0, 2.0], [1.0, 1.0], 3)],
)
def test_values_that_do_not_fit_are_errors(score, error, n_top):
    with pytest.raises(InputError):
        top_probability(score, error, n_top, rng=np.random.default_rng(1))
