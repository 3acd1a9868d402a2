"""Krippendorff's alpha: by its definition, and undefined with a reason."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.agreement import agreement
from core.errors import InputError, UndefinedMetricError


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
