"""Who stays, and how likely a true top item was cut."""

from __future__ import annotations

import numpy as np
import pytest

from core.ballots.pairing import select_leading
from core.errors import InputError
from core.scores import fit_bradley_terry
from core.scores.posterior import item_posteriors


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
    drawn = np.random.default_rng(1).normal(fit.theta, fit.standard_error, (1000, 40))
    normal = np.mean(np.argsort(np.argsort(-drawn, axis=1), axis=1) < 12, axis=0)
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
