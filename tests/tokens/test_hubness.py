"""Hubness: k-occurrences worked by hand, against sorting, and properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from embedding_files import text, write
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from core.errors import InputError, UndefinedMetricError
from core.tokens.hubness import hubness, k_occurrences, sample_words, skewness


def directions(*degrees: float) -> np.ndarray:
    angles = np.radians(degrees)
    return np.column_stack([np.cos(angles), np.sin(angles)])


def test_by_hand():
    points = directions(0, 10, 25, 90)
    # Nearest: 0 → 10, 10 → 0, 25 → 10, 90 → 25.
    assert k_occurrences(points, 1).tolist() == [1, 2, 1, 0]
    # Two nearest: 0 → 10 25, 10 → 0 25, 25 → 10 0, 90 → 25 10.
    counts = k_occurrences(points, 2)
    assert counts.tolist() == [2, 3, 3, 0]
    # Mean 2, deviations 0 1 1 −2: third moment −6/4, variance 6/4.
    assert skewness(counts) == pytest.approx(-1.5 / 1.5**1.5)


def test_a_hub_in_the_middle():
    # One vector that is the nearest of four others, which are orthogonal to each other.
    points = np.vstack([np.ones(4), np.eye(4)])
    # The hub's own place goes to the four at the same cosine, a quarter each.
    counts = k_occurrences(points, 1)
    assert counts.tolist() == [4, 0.25, 0.25, 0.25, 0.25]
    assert skewness(counts) == pytest.approx(1.5)  # one value off of n: (n−2)/√(n−1) with n = 5


def test_equal_vectors_share_a_place():
    assert k_occurrences([[1, 1], [1, 0], [2, 0]], 1).tolist() == [0, 1.5, 1.5]
    assert k_occurrences(np.ones((5, 3)), 2).tolist() == [2] * 5


def brute(points: np.ndarray, k: int) -> list[int]:
    counts = [0] * len(points)
    for i, a in enumerate(points):
        others = [(-float(a @ b / math.sqrt((a @ a) * (b @ b))), j) for j, b in enumerate(points) if j != i]
        for _, j in sorted(others)[:k]:
            counts[j] += 1
    return counts


@pytest.mark.parametrize("k", [1, 3, 10, 59])
def test_against_sorting(k):
    points = np.random.default_rng(3).normal(size=(60, 8))
    assert k_occurrences(points, k).tolist() == brute(points, k)


@pytest.mark.parametrize("block_bytes", [1, 5_000, 20_000])
def test_blocks_change_nothing(block_bytes):
    points = np.random.default_rng(4).normal(size=(70, 5)).astype(np.float32)
    assert k_occurrences(points, 5, block_bytes=block_bytes).tolist() == k_occurrences(points, 5).tolist()


@given(arrays(np.int8, st.tuples(st.integers(3, 9), st.just(3)), elements=st.integers(-2, 2)), st.randoms())
def test_the_order_of_points_and_their_lengths_change_nothing(points, random):
    points = points[(points != 0).any(axis=1)].astype(float)
    if len(points) < 3:
        return
    order = list(range(len(points)))
    random.shuffle(order)
    counts = k_occurrences(points, 2)
    assert counts.sum() == pytest.approx(2 * len(points))
    scaled = points[order] * np.array([random.choice([0.5, 1e-200, 1e200, 3]) for _ in order])[:, None]
    assert k_occurrences(scaled, 2) == pytest.approx(counts[order])


@pytest.mark.parametrize(
    ("points", "k"), [([[1, 0], [0, 0], [1, 1]], 1), ([[1, 0], [np.nan, 1]], 1), ([[1, 0], [0, 1]], 2), ([[1, 0]], 0)]
)
def test_what_has_no_neighbours(points, k):
    with pytest.raises(InputError):
        k_occurrences(points, k)


@given(st.lists(st.integers(0, 50), min_size=2, max_size=30).filter(lambda values: len(set(values)) > 1))
def test_skewness_is_scipy_s(values):
    assert skewness(values) == pytest.approx(stats.skew(values), abs=1e-9)
    assert skewness([-value for value in values]) == pytest.approx(-skewness(values), abs=1e-9)


@pytest.mark.parametrize("values", [[], [3], [2, 2, 2]])
def test_undefined_skewness_stays_undefined(values):
    with pytest.raises(UndefinedMetricError):
        skewness(values)


@pytest.fixture
def embedding(tmp_path):
    from core.embeddings import load

    words = ["sea", "ship", "keel", "car", "void"]
    return load(write(tmp_path, text(words, np.vstack([directions(0, 10, 25, 90), [[0, 0]]])), "m.vec"))


def test_tokens_of_an_embedding(embedding):
    found = hubness(embedding, ["sea", "boat", "ship", "void"], ["keel", "car", "ship"], k=1)
    assert found.n_queries == 4
    assert found.k == 1
    assert found.n_never == 1
    assert found.skewness == pytest.approx(0)
    assert found.tokens["token"].tolist() == ["sea", "boat", "ship", "void"]
    assert found.tokens["n_k"].fillna(-1).tolist() == [1, -1, 2, -1]
    assert found.tokens["reason"].tolist() == ["", "not in the vocabulary", "", "its vector is all zeros"]
    assert found.words[["token", "n_k"]].to_numpy().tolist() == [["keel", 1], ["car", 0]]


def test_too_few_tokens(embedding):
    with pytest.raises(InputError, match=r"at least 11 tokens .* has 2 of them"):
        hubness(embedding, ["sea", "ship", "boat"])


def test_all_alike_has_no_skewness(embedding):
    found = hubness(embedding, ["sea", "ship"], k=1)
    assert found.skewness is None
    assert "undefined" in found.problem


def test_the_sample_is_seeded_distinct_and_without_tokens_and_markers():
    vocabulary = ["</s>", *(f"w{place}" for place in range(50)), "<unk>"]
    drawn = sample_words(vocabulary, 20, ["w3", "w4"], rng=np.random.default_rng(1))
    assert drawn == sample_words(vocabulary, 20, ["w3", "w4"], rng=np.random.default_rng(1))
    assert drawn != sample_words(vocabulary, 20, ["w3", "w4"], rng=np.random.default_rng(2))
    assert len(set(drawn)) == 20
    assert not {"w3", "w4", "</s>", "<unk>"} & set(drawn)
    everything = sample_words(vocabulary, 999, ["w3", "w4"], rng=np.random.default_rng(1))
    assert everything == [word for word in vocabulary[1:-1] if word not in ("w3", "w4")]


def test_words_are_drawn_evenly():
    rng = np.random.default_rng(5)
    counts = np.zeros(10)
    for _ in range(2000):
        for word in sample_words([str(n) for n in range(10)], 3, ["4"], rng=rng):
            counts[int(word)] += 1
    assert counts[4] == 0
    # 6,000 draws over 9 words; three standard deviations of a count are about 63.
    assert np.abs(np.delete(counts, 4) - 6000 / 9).max() < 70
