"""Two schemes side by side: figures by other means, gaps by hand, undefined with a reason."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.dataset.side_by_side import FIGURES, compare_schemes
from core.errors import InputError
from core.metrics import weighted_spearman


def test_by_hand():
    """Ranks of one: a 1, b 2, c 3.5, d 3.5; of other: a 4, b 3, c 2, d 1. e and f have one score only, g none."""
    nan = np.nan
    found = compare_schemes(
        list("abcdefg"), [9, 5, 1, 1, 7, nan, nan], [0.1, 0.2, 0.3, 0.4, nan, 0.5, nan], resamples=20
    )
    assert found.table["item"].tolist() == ["a", "d", "c", "b"]
    assert found.table["gap"].tolist() == [3.0, -2.5, -1.5, 1.0]
    assert (found.only_one, found.only_other, found.n_neither, found.n) == (("e",), ("f",), 1, 4)
    assert found.figures["rho"].estimate == pytest.approx(stats.spearmanr([9, 5, 1, 1], [1, 2, 3, 4]).statistic)
    assert found.figures["tau"].estimate == pytest.approx(stats.kendalltau([9, 5, 1, 1], [1, 2, 3, 4]).statistic)


def test_each_tops_weights_by_brute_force():
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 6, 30).astype(float), rng.integers(0, 9, 30).astype(float)
    found = compare_schemes([f"i{n}" for n in range(30)], x, y, resamples=20)
    a, b = stats.rankdata(-x), stats.rankdata(-y)
    for name, ranks in (("rho_w_one", [a]), ("rho_w_other", [b]), ("rho_w", [a, b])):
        w = sum(1 / (r + 2) ** 2 for r in ranks)
        covariance = np.cov(a, b, aweights=w)
        expected = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
        assert found.figures[name].estimate == pytest.approx(expected)
    assert found.figures["rho_w"].estimate == pytest.approx(weighted_spearman(x, y))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=12))
def test_exchanged_schemes_exchange_what_is_said(pairs):
    x, y = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    ids = [str(n) for n in range(len(x))]
    one, other = compare_schemes(ids, x, y, resamples=3), compare_schemes(ids, y, x, resamples=3)
    swapped = {"rho_w_one": "rho_w_other", "rho_w_other": "rho_w_one"}
    for name in FIGURES:
        mine, theirs = one.figures[name].estimate, other.figures[swapped.get(name, name)].estimate
        assert (mine is None) == (theirs is None)
        assert mine is None or mine == pytest.approx(theirs)
    gaps = dict(zip(other.table["item"], other.table["gap"], strict=True))
    assert all(gaps[item] == -gap for item, gap in zip(one.table["item"], one.table["gap"], strict=True))


def test_what_is_undefined_says_why():
    few = compare_schemes(["a", "b"], [1, np.nan], [1, 2])
    assert {f.reason for f in few.figures.values()} == {"over 1 items that both scored, and two are needed"}
    flat = compare_schemes(["a", "b", "c"], [1, 2, 3], [5, 5, 5], names=("votes", "ratings"))
    assert flat.figures["rho"].reason == "all 3 scores of ratings are equal"
    assert flat.over == ""
    assert compare_schemes([], [], []).n == 0


def test_what_is_wrong_is_told():
    with pytest.raises(InputError, match="stands more often"):
        compare_schemes(["a", "a"], [1, 2], [1, 2])
    with pytest.raises(InputError, match="need a score"):
        compare_schemes(["a"], [1, 2], [1, 2])
    with pytest.raises(InputError, match="infinite"):
        compare_schemes(["a", "b"], [1, np.inf], [1, 2])


def test_intervals_are_over_tokens_where_there_are_fifteen_of_them():
    rng = np.random.default_rng(4)
    pairs = list(combinations([f"t{n}" for n in range(15)], 2))
    first, second = zip(*pairs, strict=True)
    ids = ["–".join(pair) for pair in pairs]
    x = rng.standard_normal(len(pairs))
    y = x + 0.4 * rng.standard_normal(len(pairs))
    over_tokens = compare_schemes(ids, x, y, tokens=(first, second), resamples=100)
    over_items = compare_schemes(ids, x, y, resamples=100)
    assert (over_tokens.over, over_items.over) == ("tokens", "items")
    for found in (over_tokens, over_items):
        for figure in found.figures.values():
            assert figure.lower <= figure.estimate <= figure.upper
    assert over_items.figures == compare_schemes(ids, x, y, resamples=100).figures
    few = compare_schemes(ids[:5], x[:5], y[:5], tokens=(first[:5], second[:5]), resamples=10)
    assert few.over == "items"


@pytest.mark.release
def test_intervals_over_items_hold_as_often_as_they_say():
    """ρ of 60 items drawn from pairs of normals whose true ρ_S is (6/π)·asin(r/2)."""
    rng = np.random.default_rng(8)
    r, held = 0.6, []
    true = 6 / np.pi * np.arcsin(r / 2)
    for seed in range(200):
        x = rng.standard_normal(60)
        y = r * x + np.sqrt(1 - r * r) * rng.standard_normal(60)
        figure = compare_schemes([str(n) for n in range(60)], x, y, resamples=120, seed=seed).figures["rho"]
        held.append(figure.lower <= true <= figure.upper)
    assert 0.84 <= np.mean(held) <= 0.96
