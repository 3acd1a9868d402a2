"""Dealing comparisons to voters: even shares, and few voters who are asked about an item again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.ballots import draw_comparisons
from core.ballots.pairing import assign_to_voters, count_seen
from core.errors import InputError


def again(pairs, voter, seen):
    """Presentations of an item to a voter who has had it before."""
    times = seen.copy()
    for (a, b), v in zip(pairs, voter, strict=True):
        times[v, a] += 1
        times[v, b] += 1
    return int(np.maximum(times - 1, 0).sum())


@given(st.integers(2, 30), st.integers(1, 8), st.integers(1, 20), st.integers(0, 1000))
@settings(max_examples=50, deadline=None)
def test_shares_are_even_and_counts_are_right(n, m, n_voters, seed):
    rng = np.random.default_rng(seed)
    pairs = draw_comparisons(np.arange(n), m, rng=rng)
    voter = assign_to_voters(pairs, n_voters, n_items=n, rng=rng)
    shares = np.bincount(voter, minlength=n_voters)
    assert shares.max() - shares.min() <= 1
    assert len(shares) == n_voters
    counted = count_seen(pairs, voter, n_voters=n_voters, n_items=n)
    assert counted.sum() == 2 * len(pairs)
    assert counted[voter[0], pairs[0, 0]] >= 1


def test_far_fewer_are_asked_again_than_by_chance():
    rng = np.random.default_rng(3)
    pairs = draw_comparisons(np.arange(200), 20, rng=rng)
    nobody = np.zeros((60, 200), dtype=np.int64)
    by_chance = again(pairs, rng.permutation(np.arange(len(pairs)) % 60), nobody)
    dealt = assign_to_voters(pairs, 60, n_items=200, rng=rng)
    assert by_chance > 400
    assert again(pairs, dealt, nobody) < by_chance / 10


def test_earlier_ballots_count():
    rng = np.random.default_rng(5)
    pairs = draw_comparisons(np.arange(40), 4, rng=rng)
    seen = np.zeros((20, 40), dtype=np.int64)
    seen[:10, :20] = seen[10:, 20:] = 1
    blind = assign_to_voters(pairs, 20, n_items=40, rng=rng)
    assert again(pairs, assign_to_voters(pairs, 20, seen=seen, n_items=40, rng=rng), seen) < again(pairs, blind, seen)


def test_the_same_seed_gives_the_same_deal():
    pairs = draw_comparisons(np.arange(30), 6, rng=np.random.default_rng(1))
    one, other = (assign_to_voters(pairs, 7, n_items=30, rng=np.random.default_rng(2)) for _ in range(2))
    assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_voters": 0}, "n_voters"),
        ({"n_items": 2}, "positions from 0 to 1"),
        ({"seen": np.zeros((2, 2), dtype=int)}, "seen"),
        ({"seen": np.zeros((3, 3))}, "seen"),
    ],
)
def test_values_that_do_not_fit_are_errors(change, message):
    given = {"n_voters": 3, "n_items": 3} | change
    with pytest.raises(InputError, match=message):
        assign_to_voters([[0, 1], [1, 2]], given.pop("n_voters"), **given, rng=np.random.default_rng(1))
