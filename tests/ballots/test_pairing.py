"""Near-neighbour comparisons: what must hold of every draw, and that near pairs come first."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_runs import examples
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from core.ballots.pairing import _far_pairs, connected_or_redrawn, draw_near_comparisons
from core.errors import InputError


def draw(n, m, seed, *, gap=1.0, spread=1.0):
    return draw_near_comparisons(
        np.arange(n) * 7 + 3,
        m,
        score=np.arange(n) * gap,
        spread=np.full(n, spread),
        rng=np.random.default_rng(seed),
    )


@given(
    st.integers(2, 40),
    st.integers(1, 60),
    st.integers(0, 10_000),
    st.sampled_from([0.0, 0.3, 5.0]),
    st.sampled_from([0.0, 1.0, 100.0]),
)
@settings(max_examples=examples(200), deadline=None)
def test_every_ballot_keeps_the_rules(n, m, seed, gap, spread):
    pairs = draw(n, m, seed, gap=gap, spread=spread)
    items = np.arange(n) * 7 + 3
    assert pairs.shape == ((m * n + 1) // 2, 2)
    times = Counter(pairs.ravel().tolist())
    assert sorted(times) == items.tolist()
    assert sorted(times.values()) == [m] * (n - m * n % 2) + [m + 1] * (m * n % 2)
    met = Counter(map(tuple, np.sort(pairs, axis=1).tolist()))
    counts = [met[pair] for pair in combinations(items.tolist(), 2)]
    assert max(counts) - min(counts) <= 1
    assert sum(counts) == len(pairs)
    for item in items.tolist():
        assert abs((pairs[:, 0] == item).sum() - (pairs[:, 1] == item).sum()) <= 1
    if m >= 2:
        places = (pairs - 3) // 7
        graph = coo_array((np.ones(len(pairs)), (places[:, 0], places[:, 1])), shape=(n, n))
        assert connected_components(graph, directed=False)[0] == 1


def test_the_same_seed_gives_the_same_ballot():
    assert draw(50, 7, 1).tobytes() == draw(50, 7, 1).tobytes()
    assert draw(50, 7, 1).tobytes() != draw(50, 7, 2).tobytes()


def test_sure_scores_meet_their_next_neighbours_and_nothing_far():
    distance = np.abs(np.diff((draw(200, 6, 4, gap=10.0, spread=0.1) - 3) // 7, axis=1)).ravel()
    assert (distance == 1).sum() >= 195
    assert np.quantile(distance, 0.95) <= 12


def test_unsure_scores_meet_farther_off():
    near, far = (
        np.median(np.abs(np.diff((draw(200, 6, 4, spread=spread) - 3) // 7, axis=1))) for spread in (0.1, 60.0)
    )
    assert far > 5 * near


def test_pairs_that_stay_away_are_far_ones():
    pairs = (draw(16, 12, 3, gap=10.0, spread=0.1) - 3) // 7
    away = set(combinations(range(16), 2)) - set(map(tuple, np.sort(pairs, axis=1).tolist()))
    assert len(away) == 24
    assert min(b - a for a, b in away) >= 4


@pytest.mark.parametrize(("n", "degree"), [(n, d) for n in (4, 5, 6, 7, 15, 16) for d in range(n // 2)])
def test_far_pairs_are_regular_and_far(n, degree):
    pairs = _far_pairs(n, degree)
    assert len(set(map(tuple, np.sort(pairs, axis=1).tolist()))) == len(pairs) == n * degree // 2
    times = np.bincount(pairs.ravel(), minlength=n)
    assert sorted(times.tolist()) == [degree - 1] * (n * degree % 2) + [degree] * (n - n * degree % 2)
    assert np.abs(np.diff(pairs, axis=1)).min(initial=n) >= n // 2 - degree // 2 - 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"items": [1]}, "at least 2"),
        ({"items": [1, 1, 2]}, "twice"),
        ({"appearances": 0}, "appearances"),
        ({"score": [1.0, 2.0]}, "score"),
        ({"score": [1.0, np.nan, 2.0]}, "score"),
        ({"spread": [1.0, -1.0, 1.0]}, "spread"),
    ],
)
def test_what_can_not_be_drawn_is_an_error(change, message):
    given = {"items": [1, 2, 3], "appearances": 2, "score": [1.0, 2.0, 3.0], "spread": [1.0, 1.0, 1.0]} | change
    with pytest.raises(InputError, match=message):
        draw_near_comparisons(given.pop("items"), given.pop("appearances"), **given, rng=np.random.default_rng(1))


def test_a_draw_that_leaves_items_apart_is_made_anew_and_no_other():
    apart = np.array([[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]])
    drawn = connected_or_redrawn(apart, np.arange(6), 2, rng=np.random.default_rng(1))
    assert np.unique(drawn, return_counts=True)[1].tolist() == [2] * 6
    links = coo_array((np.ones(len(drawn)), drawn.T), shape=(6, 6))
    assert connected_components(links, directed=False, return_labels=False) == 1
    ring = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0]])
    assert connected_or_redrawn(ring, np.arange(6), 2, rng=np.random.default_rng(1)) is ring
    pairs = np.array([[0, 1], [2, 3]])
    assert connected_or_redrawn(pairs, np.arange(4), 1, rng=np.random.default_rng(1)) is pairs
    of_others = connected_or_redrawn(apart * 10 + 7, np.arange(6) * 10 + 7, 2, rng=np.random.default_rng(1))
    assert of_others.tolist() == (drawn * 10 + 7).tolist()
