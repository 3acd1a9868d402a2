"""Rank correlations against sums written straight from the equations, SciPy, and values worked by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from core.errors import InputError, UndefinedMetricError
from core.metrics import (
    absolutely_rounded_scores,
    average_ranks,
    first_rank_share,
    kendall,
    rounded_scores,
    spearman,
    weighted_kendall,
    weighted_spearman,
    weights,
)

METRICS = [weighted_spearman, weighted_kendall, spearman, kendall]
OFFSETS = [0.0, 2.0, 10.0]


def ranks_by_counting(values):
    """Rank = 1 + how many are higher + half of how many others are equal."""
    return [
        1 + sum(other > value for other in values) + (sum(other == value for other in values) - 1) / 2
        for value in values
    ]


def weights_by_hand(a, b, n0):
    raw = [1 / (i + n0) ** 2 + 1 / (j + n0) ** 2 for i, j in zip(a, b, strict=True)]
    return [value / sum(raw) for value in raw]


def general_coefficient(x, y, n0, kind):
    """Eq. 7 with the matrices of section 3, item by item."""
    a, b = ranks_by_counting(x), ranks_by_counting(y)
    w = [1 / len(a)] * len(a) if n0 is None else weights_by_hand(a, b, n0)
    shape = (lambda d: d) if kind == "spearman" else (lambda d: int(d > 0) - int(d < 0))
    top, left, right = [], [], []
    for i in range(len(a)):
        for j in range(len(a)):
            p, q = shape(a[j] - a[i]), shape(b[j] - b[i])
            top.append(w[i] * w[j] * p * q)
            left.append(w[i] * w[j] * p * p)
            right.append(w[i] * w[j] * q * q)
    return math.fsum(top) / math.sqrt(math.fsum(left) * math.fsum(right))


def defined(metric, x, y, **options):
    try:
        return metric(x, y, **options)
    except UndefinedMetricError:
        return None


few_levels = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=24)
many_levels = st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=2, max_size=24)


@given(few_levels, st.sampled_from(OFFSETS))
def test_all_four_equal_the_sums_of_the_equations_with_ties(scores, n0):
    x, y = zip(*scores, strict=True)
    assume(len(set(x)) > 1 and len(set(y)) > 1)
    assert weighted_spearman(x, y, n0=n0) == pytest.approx(general_coefficient(x, y, n0, "spearman"), abs=1e-12)
    assert weighted_kendall(x, y, n0=n0) == pytest.approx(general_coefficient(x, y, n0, "kendall"), abs=1e-12)
    assert spearman(x, y) == pytest.approx(general_coefficient(x, y, None, "spearman"), abs=1e-12)
    assert kendall(x, y) == pytest.approx(general_coefficient(x, y, None, "kendall"), abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 100])
@pytest.mark.parametrize("n0", OFFSETS)
def test_sizes_around_powers_of_two(n, n0):
    rng = np.random.default_rng(n)
    x = rng.random(n)
    y = x + rng.random(n)
    assert weighted_kendall(x, y, n0=n0) == pytest.approx(general_coefficient(x, y, n0, "kendall"), abs=1e-13)
    assert weighted_spearman(x, y, n0=n0) == pytest.approx(general_coefficient(x, y, n0, "spearman"), abs=1e-13)


def test_four_items_worked_by_hand():
    # Scores 4 3 2 1 and 3 4 2 1: ranks a = 1 2 3 4, b = 2 1 3 4; f = 1/9 1/16 1/25 1/36.
    f = {n: Fraction(1, (n + 2) ** 2) for n in range(1, 5)}
    raw = [f[1] + f[2], f[2] + f[1], 2 * f[3], 2 * f[4]]
    w = [value / sum(raw) for value in raw]
    pairs = {(i, j): w[i] * w[j] for i in range(4) for j in range(i + 1, 4)}
    tau = (sum(pairs.values()) - 2 * pairs[0, 1]) / sum(pairs.values())
    assert weighted_kendall([4, 3, 2, 1], [3, 4, 2, 1]) == pytest.approx(float(tau), abs=1e-15)
    a, b = [1, 2, 3, 4], [2, 1, 3, 4]
    mean = sum(wi * ai for wi, ai in zip(w, a, strict=True))
    mean_b = sum(wi * bi for wi, bi in zip(w, b, strict=True))
    cov = sum(wi * (ai - mean) * (bi - mean_b) for wi, ai, bi in zip(w, a, b, strict=True))
    var = sum(wi * (ai - mean) ** 2 for wi, ai in zip(w, a, strict=True))
    var_b = sum(wi * (bi - mean_b) ** 2 for wi, bi in zip(w, b, strict=True))
    rho = float(cov) / math.sqrt(var * var_b)
    assert weighted_spearman([4, 3, 2, 1], [3, 4, 2, 1]) == pytest.approx(rho, abs=1e-15)


def test_without_ties_the_normaliser_of_tau_is_one_less_the_squared_weights():
    rng = np.random.default_rng(5)
    a, b = rng.permutation(30) + 1.0, rng.permutation(30) + 1.0
    w = weights(a, b)
    top = (np.outer(w, w) * np.sign(a[None] - a[:, None]) * np.sign(b[None] - b[:, None])).sum()
    assert weighted_kendall(-a, -b) == pytest.approx(top / (1 - (w**2).sum()), abs=1e-14)


@pytest.mark.parametrize("decimals", [None, 2, 1])
@pytest.mark.parametrize("n0", OFFSETS)
def test_tau_equals_scipy_weightedtau(decimals, n0):
    rng = np.random.default_rng(3)
    x = rng.random(3000)
    y = x + rng.random(3000)
    if decimals is not None:
        x, y = x.round(decimals), y.round(decimals)
    w = weights(stats.rankdata(-x), stats.rankdata(-y), n0)
    theirs = stats.weightedtau(x, y, rank=np.arange(3000), weigher=lambda i: w[i], additive=False).statistic
    assert weighted_kendall(x, y, n0=n0) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("decimals", [None, 1])
def test_plain_coefficients_equal_scipy(decimals):
    rng = np.random.default_rng(4)
    x = rng.random(2000) if decimals is None else rng.random(2000).round(decimals)
    y = x + rng.random(2000) if decimals is None else (x + rng.random(2000)).round(decimals)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert kendall(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)


def test_no_digits_are_lost_where_almost_everything_is_tied_at_the_light_end():
    # x tells apart only the last item, whose weight is some 10^-9 of the first one's.
    n = 20_000
    x, y = np.ones(n), np.arange(n, 0, -1.0)
    x[-1] = 0.0
    a, b = average_ranks(x), average_ranks(y)
    w = [Fraction(value) for value in weights(a, b).tolist()]
    last = w[-1] * sum(w[:-1])
    squares = sum(value * value for value in w)
    below = (sum(w) ** 2 - squares) / 2
    exact = float(last) / math.sqrt(float(last)) / math.sqrt(float(below))
    assert weighted_kendall(x, y) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_same_and_reversed_order(metric):
    x = np.random.default_rng(1).random(50)
    assert metric(x, x**3) == pytest.approx(1.0, abs=1e-15)
    assert metric(x, -x) == pytest.approx(-1.0, abs=1e-15)


@pytest.mark.parametrize("metric", METRICS)
@given(scores=few_levels | many_levels, data=st.data())
def test_symmetry_range_and_relabelling(metric, scores, data):
    x, y = (np.array(column, dtype=float) for column in zip(*scores, strict=True))
    value = defined(metric, x, y)
    assert defined(metric, y, x) == (None if value is None else pytest.approx(value, abs=1e-12))
    if value is None:
        return
    assert -1 <= value <= 1
    order = data.draw(st.permutations(range(len(x))))
    assert metric(x[order], y[order]) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("metric", [spearman, kendall])
@given(scores=few_levels)
def test_reversing_one_ranking_changes_the_sign_of_the_plain_ones(metric, scores):
    x, y = (np.array(column, dtype=float) for column in zip(*scores, strict=True))
    value = defined(metric, x, y)
    assume(value is not None)
    assert metric(x, -y) == pytest.approx(-value, abs=1e-12)


def test_a_fault_at_the_top_costs_more_than_the_same_at_the_bottom():
    truth = np.arange(20, 0, -1.0)
    top, bottom = truth.copy(), truth.copy()
    top[[0, 1]] = top[[1, 0]]
    bottom[[-2, -1]] = bottom[[-1, -2]]
    for metric in (weighted_spearman, weighted_kendall):
        assert metric(truth, top) < metric(truth, bottom)
        assert metric(truth, top, n0=0) < metric(truth, top, n0=2) < metric(truth, top, n0=10)


def test_float_noise_makes_no_ranks():
    assert average_ranks([0.1 + 0.2, 0.3, 0.1]).tolist() == [1.5, 1.5, 3.0]
    with pytest.raises(UndefinedMetricError):
        kendall([0.99999999999999, 1.0, 1.0000000000001], [1, 2, 3])


@pytest.mark.parametrize("scale", [1e-300, 1e-18, 2.0**-40, 1.0, 30000.0, 1e5, 1e300])
def test_float_noise_makes_no_ranks_at_any_scale_and_small_values_keep_theirs(scale):
    noisy = [scale * value for value in (0.1 + 0.2, 0.3, 0.1, 1.0, 1.0 + 4e-16)]
    assert average_ranks(noisy).tolist() == [3.5, 3.5, 5.0, 1.5, 1.5]
    # two that differ by more than a millionth of a millionth of the largest aren't tied
    assert average_ranks([scale * value for value in (1.0, 1.0 - 3e-12, 0.5, 0.5 + 3e-12)]).tolist() == [1, 2, 4, 3]
    falling = [scale * 10.0**-power for power in range(11)]
    assert average_ranks(falling).tolist() == list(range(1, 12))


def test_a_scale_that_is_known_beforehand_makes_noise_beside_it_nothing():
    assert rounded_scores([1e-17, -3e-16, 0.5], largest=1).tolist() == [0.0, 0.0, 0.5]
    assert average_ranks([1e-17, -3e-16]).tolist() == [1.0, 2.0]


def test_each_line_along_an_axis_is_a_column_of_its_own():
    table = [[1e-13, 2e-13, math.nan], [1e5, 1e5 + 1e-9, -math.inf], [0.0, 0.0, 0.0]]
    lines = rounded_scores(table, axis=1)
    for line, values in zip(lines, table, strict=True):
        np.testing.assert_array_equal(line, rounded_scores(values))
    assert lines[0, :2].tolist() == [0.5, 1.0]
    assert lines[1, 0] == lines[1, 1]


@given(st.lists(st.integers(-3, 3) | st.floats(-1e6, 1e6), min_size=1, max_size=30))
def test_average_ranks_count_the_higher_ones(values):
    largest = max(abs(value) for value in values) or 1.0
    assert average_ranks(values).tolist() == ranks_by_counting([round(value / largest, 12) for value in values])


@given(st.lists(st.integers(-3, 3) | st.floats(-1e6, 1e6), min_size=1, max_size=30))
def test_the_rule_of_older_versions_is_kept(values):
    old = average_ranks(values, rounding=absolutely_rounded_scores)
    assert old.tolist() == ranks_by_counting([round(value, 12) for value in values])
    assert average_ranks([1e-13, 2e-13], rounding=absolutely_rounded_scores).tolist() == [1.5, 1.5]


def test_large_values_and_infinities_keep_their_order():
    assert average_ranks([1e300, -math.inf, math.inf, 5.0, 9e307, 1e300]).tolist() == [3.5, 6, 1, 5, 2, 3.5]


def test_weights():
    w = weights([1, 2, 3], [2, 1, 3], 0)
    raw = np.array([1 + 1 / 4, 1 / 4 + 1, 2 / 9])
    np.testing.assert_allclose(w, raw / raw.sum(), rtol=1e-15)
    assert weights([1, 2], [2, 1], 1e200).tolist() == [0.5, 0.5]


def test_share_of_the_first_rank():
    # Basel: the sum of 1/n² is π²/6.
    assert first_rank_share(0) == pytest.approx(6 / math.pi**2, abs=1e-15)
    assert first_rank_share(2) == pytest.approx(1 / 9 / (math.pi**2 / 6 - 1 - 1 / 4), abs=1e-14)
    assert round(first_rank_share(0), 2) == 0.61
    assert round(first_rank_share(2), 2) == 0.28
    # R lies between 1/(n₀ + 2) and 1/(n₀ + 1), as the sum does between integrals; at the ends of what floats hold too.
    for n0 in (1e3, 1e160, 1e300):
        assert 1 / (n0 + 2) <= first_rank_share(n0) * (1 + 1e-12)
        assert first_rank_share(n0) <= 1 / (n0 + 1) * (1 + 1e-12)
    assert first_rank_share(math.nextafter(-1, 0)) == 1


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([0.5, 0.5, 0.5], [0.1, 0.9, 0.3], "All 3 scores of x are equal"),
        ([0.1, 0.9, 0.3], [1, 1, 1], "All 3 scores of y are equal"),
        ([0.1], [0.2], "at least two items, found 1"),
        ([], [], "at least two items, found 0"),
        ([1, 2, math.nan], [1, 2, 3], "1 of 3 scores are missing"),
        ([1, 2, 3], [math.nan, 2, math.nan], "2 of 3 scores are missing"),
    ],
)
def test_undefined_says_why(metric, x, y, reason):
    with pytest.raises(UndefinedMetricError, match=reason):
        metric(x, y)


@pytest.mark.parametrize("metric", METRICS)
def test_bad_shapes(metric):
    with pytest.raises(InputError, match="found 2 and 3"):
        metric([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="shape"):
        metric([[1, 2]], [[1, 2]])
    with pytest.raises(InputError, match="numbers"):
        metric(["a", "b"], [1, 2])


@pytest.mark.parametrize("n0", [-1, -3, math.nan, math.inf])
def test_bad_offset(n0):
    for call in (lambda: weighted_kendall([1, 2], [1, 2], n0=n0), lambda: first_rank_share(n0)):
        with pytest.raises(InputError, match="above -1"):
            call()


class TestSharedCases:
    """Files that trip other libraries; the expected values are in cases/expected.csv."""

    def scores(self, cases, name):
        table = pd.read_csv(cases / name)
        return table["gold"].to_numpy(), table["model"].to_numpy()

    def test_missing_model_scores(self, cases):
        gold, model = self.scores(cases, "50-corr-nan-oov.csv")
        with pytest.raises(UndefinedMetricError):
            weighted_kendall(gold, model)
        there = ~np.isnan(model)
        assert spearman(gold[there], model[there]) == pytest.approx(0.8, abs=1e-15)

    def test_ties_in_gold(self, cases):
        gold, model = self.scores(cases, "51-corr-gold-ties.csv")
        assert spearman(gold, model) == pytest.approx(0.216, abs=5e-4)
        assert kendall(gold, model) == pytest.approx(0.2335, abs=5e-5)
        order = np.random.default_rng(1).permutation(len(gold))
        for metric in METRICS:
            assert metric(gold, model) == pytest.approx(metric(model[order], gold[order]), abs=1e-14)

    @pytest.mark.parametrize("name", ["53-corr-constant.csv", "54-corr-n1.csv"])
    def test_undefined(self, cases, name):
        for metric in METRICS:
            with pytest.raises(UndefinedMetricError):
                metric(*self.scores(cases, name))

    def test_two_items(self, cases):
        for metric in METRICS:
            assert metric(*self.scores(cases, "57-corr-n2.csv")) == -1.0
