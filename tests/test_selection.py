"""Who stays, and how likely a true top item was cut."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from core.errors import InputError
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


def test_the_leading_stay_and_the_expected_loss_is_that_of_the_others():
    found = select_leading([5, 6, 7, 8], [3.0, 0.2, 0.1, -3.0], [0.5] * 4, 2, rng=np.random.default_rng(1))
    assert found.selection.items.tolist() == [5, 6]
    assert found.lost == pytest.approx(found.probability[2:].sum())
    assert 0.3 < found.lost < 0.6
    assert found.certain == 1
    assert found.n_top == 2


def test_caution_keeps_what_is_less_known():
    given = ([5, 6, 7], [3.0, 0.2, 0.1], [0.1, 0.1, 2.0], 2)
    assert select_leading(*given, rng=np.random.default_rng(1)).selection.items.tolist() == [5, 6]
    assert select_leading(*given, rng=np.random.default_rng(1), caution=1.0).selection.items.tolist() == [5, 7]


def test_the_same_seed_gives_the_same_answer():
    one, other = (
        select_leading([1, 2, 3], [0.0, 0.0, 0.0], [1.0] * 3, 2, rng=np.random.default_rng(4)) for _ in range(2)
    )
    assert one.selection.items.tolist() == other.selection.items.tolist()
    assert one.probability.tobytes() == other.probability.tobytes()
    assert one.selection.n_tied == 3


@pytest.mark.parametrize(
    ("score", "error", "n_top"),
    [([1.0, np.nan], [1.0, 1.0], 1), ([1.0, 2.0], [1.0, -1.0], 1), ([1.0, 2.0], [1.0], 1), ([1.0, 2.0], [1.0, 1.0], 3)],
)
def test_values_that_do_not_fit_are_errors(score, error, n_top):
    with pytest.raises(InputError):
        top_probability(score, error, n_top, rng=np.random.default_rng(1))
