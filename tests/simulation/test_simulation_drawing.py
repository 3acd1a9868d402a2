"""The quick drawing of simulations keeps the rules of real ballots; the released code's drawing keeps its own."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ballots import quick_draw
from core.ballots.draw import regular_pairs
from core.ballots.quick_draw import quick_comparisons, quick_graph
from core.simulation.conventions import greedy_comparisons, released_assign


def rng(seed=0):
    return np.random.default_rng(seed)


def check(pairs, items, n_comparisons):
    """Shown equally often within one, nobody against itself, meetings of any two pairs equal within one."""
    assert pairs.shape == (n_comparisons, 2)
    shown = Counter(pairs.ravel().tolist())
    assert set(shown) <= set(items)
    times = [shown[item] for item in items]
    assert (min(times), max(times)) == (2 * n_comparisons // len(items), -(-2 * n_comparisons // len(items)))
    assert (pairs[:, 0] != pairs[:, 1]).all()
    met = Counter(frozenset(pair) for pair in pairs.tolist())
    counts = [met[frozenset(pair)] for pair in combinations(items, 2)]
    assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize("n", range(2, 12))
def test_every_small_ballot(n):
    items = np.arange(n) * 7 + 3
    for n_comparisons in range(1, n * (n + 1)):
        for seed in range(2):
            check(quick_comparisons(items, n_comparisons, rng(seed)), items.tolist(), n_comparisons)


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=40, unique=True), st.integers(1, 1500), st.integers(0, 99))
def test_any_ballot(items, n_comparisons, seed):
    check(quick_comparisons(np.array(items), n_comparisons, rng(seed)), items, n_comparisons)


@pytest.mark.parametrize(("n", "n_comparisons"), [(990, 9900), (62, 620), (101, 2525), (101, 2600), (300, 22_000)])
def test_larger_and_dense_ballots(n, n_comparisons):
    check(quick_comparisons(np.arange(n), n_comparisons, rng(1)), range(n), n_comparisons)


def test_a_graph_too_large_for_the_table_is_drawn_all_the_same(monkeypatch):
    monkeypatch.setattr(quick_draw, "TABLE", 100)
    check(quick_comparisons(np.arange(62), 620, rng(1)), range(62), 620)


def test_a_draw_that_gets_stuck_starts_anew(monkeypatch):
    monkeypatch.setattr(quick_draw, "MAX_IDLE_ROUNDS", 2)
    for seed in range(5):
        check(quick_comparisons(np.arange(12), 30, rng(seed)), range(12), 30)


def test_same_seed_same_draw():
    one, other = (quick_comparisons(np.arange(60), 600, rng(5)) for _ in range(2))
    assert one.tobytes() == other.tobytes()
    assert (quick_comparisons(np.arange(60), 600, rng(6)) != one).any()


@pytest.mark.parametrize(
    ("n", "n_edges", "graphs"),
    [(6, 6, 70), (5, 4, 70), (6, 9, 70)],  # as for real ballots, see test_ballots
)
def test_whole_graphs_are_equally_likely(n, n_edges, graphs):
    draws, found = 8000, Counter()
    for seed in range(draws):
        edges = regular_pairs(n, n_edges, rng(seed), graph=quick_graph)
        found[tuple(sorted((edges.min(axis=1) * n + edges.max(axis=1)).tolist()))] += 1
    assert len(found) == graphs
    expected = draws / graphs
    assert sum((count - expected) ** 2 / expected for count in found.values()) < 118  # 0.9998 quantile, 69 degrees


def test_dense_graphs_have_as_many_triangles_as_long_mixing_gives():
    # 13.376 ± .018, from 14,000 graphs after 40 rounds of switches each; see test_ballots.
    found = []
    for seed in range(3000):
        edges = quick_graph(np.full(12, 5), rng(seed))
        near = np.zeros((12, 12))
        near[edges[:, 0], edges[:, 1]] = near[edges[:, 1], edges[:, 0]] = 1
        found.append(np.trace(near @ near @ near) / 6)
    error = (np.var(found) / 3000 + 0.018**2) ** 0.5
    assert abs(np.mean(found) - 13.376) < 3.5 * error


@pytest.mark.parametrize(("n", "n_comparisons"), [(16, 160), (31, 310), (60, 600)])
def test_rows_are_in_random_order(n, n_comparisons):
    """Votes are dealt by row, so an item must not gather in some rows."""
    mean_rows = []
    for seed in range(40):
        pairs = quick_comparisons(np.arange(n), n_comparisons, rng(seed))
        mean_rows.append(np.flatnonzero((pairs == 0).any(axis=1)).mean())
    shown = 2 * n_comparisons / n
    error = n_comparisons / np.sqrt(12 * shown * 40)
    assert np.mean(mean_rows) == pytest.approx((n_comparisons - 1) / 2, abs=4 * error)


@given(st.integers(2, 30), st.integers(1, 120), st.integers(0, 99))
def test_greedy_pairs_are_always_the_two_with_most_appearances_left(n, n_comparisons, seed):
    items = np.arange(n) * 3 + 1
    pairs = greedy_comparisons(items, n_comparisons, rng(seed))
    assert pairs.shape == (n_comparisons, 2)
    left = dict.fromkeys(items.tolist(), 0)
    for a, b in pairs.tolist():
        assert a != b
        assert sorted((left[a], left[b])) == sorted(left.values())[-2:]
        left[a] -= 1
        left[b] -= 1


def test_greedy_ties_are_broken_at_random():
    """Three items twice each: whoever is left over in the first round opens the second with either of the others."""
    found = Counter(tuple(map(tuple, greedy_comparisons(np.arange(3), 3, rng(seed)).tolist())) for seed in range(4800))
    # The first pair 6 ways, the partner of the third 2 ways, the order of the last pair 2 ways.
    assert len(found) == 24
    assert sum((count - 200) ** 2 / 200 for count in found.values()) < 56  # 0.9999 quantile for 23 degrees of freedom


@pytest.mark.parametrize(("n_comparisons", "n_voters"), [(9900, 100), (160, 100), (7, 10)])
def test_votes_are_dealt_evenly_and_the_rest_with_replacement(n_comparisons, n_voters):
    voter = released_assign(n_comparisons, n_voters, rng(1))
    counts = np.bincount(voter, minlength=n_voters)
    assert len(voter) == n_comparisons
    assert counts.min() >= n_comparisons // n_voters
    rest = [np.bincount(released_assign(15, 10, rng(seed)), minlength=10) - 1 for seed in range(200)]
    assert max(map(max, rest)) > 1  # with replacement, one voter may get two of the rest
    assert np.sum(rest, axis=0).min() > 60  # 100 expected for each voter
