"""Nearest words, lengths of vectors, words with the same vector."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from embedding_files import binary, numbers, text, write

from core.embeddings import Embedding, import_embedding, load, neighbours, open_embedding
from core.errors import InputError


def imported(tmp_path: Path, words: list[str], matrix: np.ndarray) -> Embedding:
    import_embedding(write(tmp_path, binary(words, matrix)), tmp_path / "imported")
    return open_embedding(tmp_path / "imported")


@pytest.mark.parametrize("rows", [7, 16_384])
def test_neighbours_are_those_of_all_cosines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(neighbours, "_ROWS", rows)
    words = [f"word{i}" for i in range(500)]
    matrix = np.vstack([numbers(480, 4), numbers(20, 4)])  # the last twenty are the first twenty again
    embedding = imported(tmp_path, words, matrix)
    for token in ("word0", "word17", "word300", "word481"):
        cosines = embedding.cosines([token] * 500, words)
        order = sorted((-cosine, row) for row, cosine in enumerate(cosines) if words[row] != token)
        for n in (1, 10, 499, 1000):
            expected = [(words[row], -cosine) for cosine, row in order[:n]]
            assert embedding.neighbours(token, n) == expected


def test_neighbours_of_several_tokens_are_those_of_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "_ROWS", 7)
    vectors = np.random.default_rng(4).standard_normal((60, 5)).astype("<f4")
    vectors[11], vectors[12], vectors[40] = 0.0, np.nan, vectors[3] * 1e-35
    words = [f"w{row}" for row in range(60)]
    embedding = load(write(tmp_path, binary(words, vectors)))
    tokens = [word for word in words if word not in ("w11", "w12")]
    together = embedding.neighbours_of(tokens, 4)
    assert together == [embedding.neighbours(token, 4) for token in tokens]
    for token, found in zip(tokens, together, strict=True):
        others = [word for word in tokens if word != token]
        cosines = embedding.cosines([token] * len(others), others)
        order = np.argsort(-cosines, kind="stable")[:4]
        assert found == [(others[at], cosines[at]) for at in order]
    assert embedding.neighbours_of([], 4) == []
    with pytest.raises(InputError, match="'w11' has no neighbours"):
        embedding.neighbours_of(["w1", "w11"])


def test_ties_stand_in_the_vocabularys_order(tmp_path: Path) -> None:
    words = ["zebra", "anvil", "mole", "barge", "dune"]
    embedding = imported(tmp_path, words, np.array([[1, 2], [2, 4], [3, 0], [0.5, 1], [10, 20]], np.float32))
    assert embedding.neighbours("barge", 3) == [("zebra", 1.0), ("anvil", 1.0), ("dune", 1.0)]


def test_markers_and_unusable_vectors_are_left_out(tmp_path: Path) -> None:
    words = ["</s>", "anvil", "zero", "nan", "<unk>", "barge"]
    matrix = np.array([[1, 1], [1, 1], [0, 0], [np.nan, 1], [1, 1], [-1, 0]], np.float32)
    embedding = imported(tmp_path, words, matrix)
    assert embedding.neighbours("anvil") == [("barge", round(-(0.5**0.5), 12))]
    assert [word for word, _ in embedding.neighbours("</s>")] == ["anvil", "barge"]
    for token, reason in (("zero", "all zeros"), ("nan", "NaN"), ("dune", "not in the vocabulary")):
        with pytest.raises(InputError, match=reason):
            embedding.neighbours(token)
    with pytest.raises(InputError, match="At least 1"):
        embedding.neighbours("anvil", 0)


def test_huge_and_tiny_vectors(tmp_path: Path) -> None:
    matrix = np.array([[3e30, 4e30], [3e-38, 4e-38], [3e-44, 4e-44], [4e37, -3e37], [1, 1]], np.float32)
    embedding = imported(tmp_path, ["huge", "tiny", "denormal", "across", "one"], matrix)
    names = [word for word, _ in embedding.neighbours("one")]
    expected = sorted(["huge", "tiny", "denormal", "across"], key=lambda word: -embedding.cosines(["one"], [word])[0])
    assert set(names) == set(expected)
    assert embedding.neighbours("across")[-1][1] < 0.2


def test_another_spelling_of_the_token(tmp_path: Path) -> None:
    embedding = imported(tmp_path, ["new_york", "boston"], numbers(2, 3))
    assert [word for word, _ in embedding.neighbours("new york")] == ["boston"]


def test_chosen_tokens_have_no_neighbours(tmp_path: Path) -> None:
    embedding = load(write(tmp_path, text(["anvil", "barge"], numbers(2, 3))), tokens=["anvil"])
    for ask in (lambda: embedding.neighbours("anvil"), embedding.norms_summary, embedding.duplicate_vectors):
        with pytest.raises(InputError, match="loaded for chosen tokens only"):
            ask()


def test_norms_summary(tmp_path: Path) -> None:
    matrix = np.array([[3, 4], [0, 0], [5, 12], [np.inf, 0], [0, 1]], np.float32)
    summary = imported(tmp_path, list("abcde"), matrix).norms_summary()
    assert (summary.n_words, summary.n_usable, summary.n_zero, summary.n_not_finite) == (5, 3, 1, 1)
    assert dict(summary.quantiles) == pytest.approx({0: 1, 0.05: 1.4, 0.25: 3, 0.5: 5, 0.75: 9, 0.95: 12.2, 1: 13})
    none = load(write(tmp_path, binary(["a"], np.zeros((1, 2))), "zeros.bin")).norms_summary()
    assert (none.n_usable, none.n_zero, none.quantiles) == (0, 1, ())


def test_case_56_parallel_vectors(shared: Path) -> None:
    embedding = load(shared / "cases" / "56-identical-vectors.vec")
    words = embedding._vocabulary.to_pylist()
    # One direction and different lengths: all tie, none is a duplicate.
    assert embedding.neighbours(words[1]) == [(word, 1.0) for word in words if word != words[1]]
    assert embedding.duplicate_vectors().n_groups == 0


def test_duplicate_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.vstack([numbers(50, 3), numbers(50, 3)[[7, 3, 7]], np.zeros((3, 3))]).astype(np.float32)
    matrix[20, 0], matrix[21] = 0.0, matrix[20]
    matrix[21, 0] = -0.0
    words = [f"word{i}" for i in range(56)]
    embedding = imported(tmp_path, words, matrix)
    expected = (("word3", "word51"), ("word7", "word50", "word52"), ("word20", "word21"))
    found = embedding.duplicate_vectors()
    assert (found.n_groups, found.n_words, found.groups) == (3, 7, expected)
    assert embedding.duplicate_vectors(1).groups == expected[:1]
    assert embedding.duplicate_vectors(1).n_groups == 3
    # Rows of one hash that aren't the same are told apart.
    monkeypatch.setattr(neighbours, "_hashes", lambda matrix: np.zeros(len(matrix), np.uint64))
    assert embedding.duplicate_vectors() == found
