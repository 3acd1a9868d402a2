"""Tokens of several words in an embedding, in each of the three ways."""

from __future__ import annotations

import numpy as np
import pytest
from embedding_files import text, write

from core.embeddings import load
from core.errors import InputError
from core.multiword import MODES, resolve

WORDS = {
    "machine_learning": [9, 9],
    "machine": [1, 0],
    "learning": [3, 4],
    "de_facto": [5, 5],
    "left": [1, -1],
    "right": [-1, 1],
    "void": [0, 0],
    "café": [2, 0],
}


@pytest.fixture
def embedding(tmp_path):
    return load(write(tmp_path, text(list(WORDS), np.array(list(WORDS.values()), float)), "m.vec"))


def found(embedding, token: str, mode: str):
    resolved = resolve([token], embedding, mode)
    vector = resolved.vector(token)
    row = resolved.table.iloc[0]
    return row["found_as"], row["reason"], None if vector is None else vector.tolist()


@pytest.mark.parametrize(
    ("token", "mode", "expected"),
    [
        ("machine learning", "as they are", ("", "in the vocabulary only as machine_learning", None)),
        ("machine learning", "underscore", ("machine_learning", "", [9, 9])),
        ("machine learning", "mean of parts", ("machine + learning", "", [2, 2])),
        ("machine_learning", "as they are", ("machine_learning", "", [9, 9])),
        ("machine_learning", "mean of parts", ("machine + learning", "", [2, 2])),
        ("machine learning machine", "mean of parts", ("machine + learning + machine", "", [5 / 3, 4 / 3])),
        (
            "de facto",
            "mean of parts",
            ("", "its part de: not in the vocabulary; its part facto: not in the vocabulary", None),
        ),
        ("machine void", "mean of parts", ("", "its part void: its vector is all zeros", None)),
        ("left right", "mean of parts", ("", "the vectors of its parts cancel out", None)),
        ("left right", "underscore", ("", "not in the vocabulary", None)),
        ("void", "mean of parts", ("", "its vector is all zeros", None)),
        ("cafe\u0301", "as they are", ("café", "", [2, 0])),
    ],
)
def test_by_hand(embedding, token, mode, expected):
    as_found, reason, vector = found(embedding, token, mode)
    assert (as_found, reason) == expected[:2]
    assert vector == (None if expected[2] is None else pytest.approx(expected[2]))


@pytest.mark.parametrize("mode", MODES)
def test_single_words_are_the_same_in_every_mode(embedding, mode):
    resolved = resolve(["machine", "boat", "machine"], embedding, mode)
    assert resolved.table["found_as"].tolist() == ["machine", "", "machine"]
    assert resolved.vectors[0].tolist() == resolved.vectors[2].tolist() == [1, 0]
    assert np.isnan(resolved.vectors[1]).all()
    assert resolved.n_found == 2
    assert resolved.vectors.dtype == np.float32


@pytest.mark.parametrize("mode", MODES)
def test_no_tokens(embedding, mode):
    resolved = resolve([], embedding, mode)
    assert resolved.vectors.shape == (0, 2)
    assert resolved.table.empty


def test_other_modes_and_tokens_are_told_in_words(embedding):
    with pytest.raises(InputError, match="mean of parts; not 'sum'"):
        resolve(["machine"], embedding, "sum")
    with pytest.raises(InputError, match="'boat' is not among"):
        resolve(["machine"], embedding, "underscore").vector("boat")


def test_a_file_of_similarities_has_no_vectors(tmp_path):
    pairs = load(write(tmp_path, b"token_a,token_b,similarity\nsea,ship,0.5\n", "s.csv"))
    with pytest.raises(InputError, match="no vectors"):
        resolve(["sea ship"], pairs, "mean of parts")


def test_words_made_of_n_grams_count_as_found(shared):
    model = load(shared / "cases" / "14-fasttext.bin").with_subwords()
    resolved = resolve(["zzyzxian", "zzyzxian anvilish"], model, "mean of parts")
    assert resolved.table["found_as"].tolist() == [
        "zzyzxian (n-grams)",
        "zzyzxian (n-grams) + anvilish (n-grams)",
    ]
    parts = model.vectors(["zzyzxian", "anvilish"]).astype(float)
    assert resolved.vectors[1] == pytest.approx(parts.mean(axis=0), rel=1e-6)
