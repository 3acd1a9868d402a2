"""Side bias: exact, symmetric, and rarely wrong."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.platforms import read_results
from core.trust.voter_quality import side_bias


def two_sided(n_left: int, n: int) -> float:
    """The chance of a split at least as uneven, by counting."""
    more = max(n_left, n - n_left)
    return sum(comb(n, k) for k in range(n + 1) if max(k, n - k) >= more) / 2**n


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=40))
def test_p_is_the_share_of_splits_as_uneven(votes):
    found = side_bias([voter for voter, _ in votes], [left for _, left in votes]).voters.set_index("voter")
    assert set(found.index) == {voter for voter, _ in votes}
    for voter, row in found.iterrows():
        sides = [left for name, left in votes if name == voter]
        assert (row["answers"], row["left"]) == (len(sides), sum(sides))
        assert row["p"] == pytest.approx(two_sided(sum(sides), len(sides)), rel=1e-12)


def test_left_and_right_are_treated_alike():
    voters, left = ["a"] * 10 + ["b"] * 10, [True] * 10 + [False] * 10
    p = side_bias(voters, left).voters["p"]
    assert p[0] == p[1] == pytest.approx(2 / 2**10)


def test_case_41_a_voter_who_always_chooses_left_is_flagged(cases):
    name = "41-results-always-left.csv"
    answers = read_results((cases / name).read_bytes(), name).answers
    found = side_bias(answers["voter"], answers["choice"] == "left")
    (row,) = found.flagged.to_dict("records")
    assert row == {"voter": "W1", "answers": 8, "left": 8, "share": 1.0, "p": pytest.approx(2 / 2**8)}


def test_the_more_voters_the_more_it_takes():
    """6 of 6 is flagged among one voter (p = 0.031 < 0.05) and not among two (0.031 > 0.025)."""
    one = ["a"] * 6
    assert len(side_bias(one, [True] * 6).flagged) == 1
    assert side_bias([*one, "b", "b"], [True] * 6 + [True, False]).flagged.empty


def test_voters_without_a_preference_are_rarely_flagged():
    """400 campaigns of 30 voters: false flags in at most 5% of them, and the exact test is careful."""
    rng = np.random.default_rng(3)
    voters = np.repeat(np.arange(30), 40)
    wrong = sum(len(side_bias(voters, rng.random(1200) < 0.5).flagged) > 0 for _ in range(400))
    assert wrong <= 28  # 5% of 400 and twice the binomial's spread


@pytest.mark.parametrize(("voter", "left", "level"), [(["a"], [True, False], 0.05), (["a"], [True], 0.0)])
def test_impossible_input(voter, left, level):
    with pytest.raises(InputError):
        side_bias(voter, left, level=level)


def test_no_votes():
    found = side_bias([], [])
    assert found.voters.empty
    assert found.flagged.empty
