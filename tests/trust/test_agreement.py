"""Krippendorff's alpha: by its definition, and undefined with a reason."""

from __future__ import annotations

from itertools import permutations

import evalica
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.base.estimates import widened_tails
from core.errors import InputError, UndefinedMetricError
from core.trust import agreement as agreement_module
from core.trust.agreement import agreement, raw_agreement


def by_definition(table: np.ndarray, distance) -> float:
    """α from the pairs of answers: within units, each weighing 1/(answers − 1), against pairs of all answers."""
    units = [column[~np.isnan(column)] for column in table.T]
    units = [unit for unit in units if len(unit) > 1]
    everything = np.concatenate(units)
    observed = sum(distance(a, b) / (len(unit) - 1) for unit in units for a, b in permutations(unit, 2))
    expected = sum(distance(a, b) for a, b in permutations(everything, 2)) / (len(everything) - 1)
    return 1 - observed / expected


DISTANCES = {"nominal": lambda a, b: float(a != b), "interval": lambda a, b: (a - b) ** 2}
answer = st.sampled_from([0.0, 0.5, 1.0, np.nan])


@pytest.mark.parametrize("distance", DISTANCES)
@settings(deadline=None)
@given(st.lists(st.lists(answer, min_size=5, max_size=5), min_size=2, max_size=4).map(np.array))
def test_alpha_equals_its_definition(distance, table):
    shared = table[:, (~np.isnan(table)).sum(axis=0) > 1]
    assume(len(np.unique(shared[~np.isnan(shared)])) > 1)
    found = agreement(pd.DataFrame(table), distance=distance, resamples=20)
    assert found.alpha == pytest.approx(by_definition(table, DISTANCES[distance]), abs=1e-12)
    assert (found.n_units, found.n_answers) == (shared.shape[1], int((~np.isnan(shared)).sum()))
    assert found.n_answered == int((~np.isnan(table)).any(axis=0).sum())


def read(cases, name):
    return pd.read_csv(cases / name).set_index("unit").T


def test_case_60_not_enough_overlap(cases):
    with pytest.raises(UndefinedMetricError, match=r"Not enough overlap.* of 3 answered comparisons none"):
        agreement(read(cases, "60-alpha-single-ratings.csv"))


def test_case_62_what_is_missing_is_no_label(cases):
    found = agreement(read(cases, "62-alpha-missing-as-label.csv"))
    assert (found.alpha, found.n_units, found.n_answers, found.n_voters) == (1.0, 3, 7, 3)


def test_equal_answers_tell_nothing():
    with pytest.raises(UndefinedMetricError, match="All 4 answers that could be compared are equal"):
        agreement(pd.DataFrame({1: [1.0, 1.0], 2: [1.0, 1.0], 3: [0.0, np.nan]}))


def test_no_answers_at_all():
    with pytest.raises(UndefinedMetricError, match="Not enough overlap"):
        agreement(pd.DataFrame({1: [np.nan, np.nan]}))


def test_answers_must_be_numbers():
    with pytest.raises(InputError, match="must be numbers"):
        agreement(pd.DataFrame({1: ["left", "right"]}))


def test_the_interval_holds_alpha_and_follows_from_the_seed():
    rng = np.random.default_rng(8)
    truth = rng.random(60) < 0.5
    table = pd.DataFrame(np.where(rng.random((4, 60)) < 0.8, truth, ~truth).astype(float))
    one, again, other = (agreement(table, seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert (one.lower, one.upper) != (other.lower, other.upper)
    assert one.lower < one.alpha < one.upper < 1
    wide = agreement(table, level=0.99, seed=1)
    assert wide.lower < one.lower
    assert wide.upper > one.upper


@pytest.mark.parametrize("distance", DISTANCES)
def test_alpha_is_that_of_evalica(distance):
    rng = np.random.default_rng(3)
    table = pd.DataFrame(np.where(rng.random((9, 40)) < 0.6, np.nan, rng.integers(0, 3, (9, 40)) / 2))
    shared = table.loc[:, table.notna().sum() > 1].dropna(how="all")
    assert agreement(table, distance=distance).alpha == pytest.approx(evalica.alpha(shared, distance).alpha)


@pytest.mark.release
def test_the_interval_is_that_of_resampled_units():
    """Against plain resampling, each time by the definition; tails by the rule for few units."""
    rng = np.random.default_rng(5)
    table = np.where(rng.random((5, 12)) < 0.3, np.nan, rng.integers(0, 2, (5, 12)).astype(float))
    table = table[:, (~np.isnan(table)).sum(axis=0) > 1]
    n = table.shape[1]
    drawn = [by_definition(table[:, rng.integers(0, n, n)], DISTANCES["nominal"]) for _ in range(4000)]
    expected = np.quantile(drawn, widened_tails(n, 0.9))
    found = agreement(pd.DataFrame(table), resamples=4000)
    assert [found.lower, found.upper] == pytest.approx(expected.tolist(), abs=0.03)


def test_the_interval_holds_alpha_where_a_few_units_have_nearly_all_answers():
    """Twenty units with 300 answers that agree well beside 300 with three that don't.

    Krippendorff's bootstrap gave an interval that lay above the estimate.
    """
    rng = np.random.default_rng(6)
    truth = rng.random(320) < 0.5
    right = np.where(np.arange(320) < 20, 0.95, 0.6)
    asked = np.where(np.arange(320)[None, :] < 20, True, np.arange(300)[:, None] < 3)
    answers = np.where(rng.random((300, 320)) < right, truth, ~truth).astype(float)
    table = pd.DataFrame(np.where(asked, answers, np.nan))
    found = agreement(table)
    assert found.lower < found.alpha < found.upper
    assert found.upper - found.lower > 0.02


def test_the_interval_holds_the_truth_as_often_as_it_says():
    """α of a crowd: two voters of three kinds of answer, right with .8; the truth by 200,000 units."""
    rng = np.random.default_rng(7)

    def drawn(n: int) -> np.ndarray:
        truth = rng.integers(0, 2, n)
        n_voters = rng.choice([2, 3, 9], n, p=[0.6, 0.3, 0.1])
        answers = np.where(rng.random((9, n)) < 0.8, truth, 1 - truth).astype(float)
        return np.where(np.arange(9)[:, None] < n_voters, answers, np.nan)

    true = agreement(pd.DataFrame(drawn(200_000)), resamples=2).alpha
    held = [
        found.lower <= true <= found.upper
        for found in (agreement(pd.DataFrame(drawn(60)), resamples=300, seed=seed) for seed in range(200))
    ]
    assert 0.84 <= np.mean(held) <= 0.96  # 90% ∓ 3 standard errors


def test_one_unit_has_no_interval():
    found = agreement(pd.DataFrame({1: [1.0, 0.0, 1.0]}))
    assert np.isnan(found.lower)
    assert "no interval" in found.interval()


def test_resamples_in_parts_are_the_same_numbers(monkeypatch):
    rng = np.random.default_rng(3)
    unit, answer = np.repeat(np.arange(40), 2), rng.integers(0, 2, 80)
    whole = raw_agreement(unit, answer)
    monkeypatch.setattr(agreement_module, "CELLS", 300)  # seven resamples at once
    assert raw_agreement(unit, answer) == whole
