"""How tokens are looked up: case, and tokens of several words in each of the three ways."""

from __future__ import annotations

import unicodedata
from itertools import product

import numpy as np
import pytest
from embedding_files import text, write
from hypothesis import given
from hypothesis import strategies as st

from core.embeddings import MODES, REMEDIES, LookUp, import_embedding, load, open_embedding
from core.errors import InputError

WORDS = {
    "machine_learning": [9, 9],
    "machine": [1, 0],
    "learning": [3, 4],
    "de_facto": [5, 5],
    "left": [1, -1],
    "right": [-1, 1],
    "void": [0, 0],
    "café": [2, 0],
    "nai\u0308ve": [0, 2],  # decomposed
    "NASA": [4, 1],
    "turkey": [1, 4],
}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("look-up")
    return write(folder, text(list(WORDS), np.array(list(WORDS.values()), float)), "m.vec")


def found(embedding, token: str):
    vector = embedding.vectors([token])[0]
    reasons = embedding.reasons([token])
    assert bool(reasons) == bool(np.isnan(vector).all())
    return embedding.found_as([token])[0], reasons.get(token, ""), None if reasons else vector.tolist()


BY_HAND = [
    ("machine learning", "as they are", ("machine_learning", "", [9, 9])),
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
    ("machine learning", "mean if missing", ("machine_learning", "", [9, 9])),
    ("learning machine", "mean if missing", ("learning + machine", "", [2, 2])),
    ("left right", "mean if missing", ("", "the vectors of its parts cancel out", None)),
    ("boat", "mean if missing", ("", "not in the vocabulary", None)),
    ("cafe\u0301", "as they are", ("café", "", [2, 0])),
    ("naïve", "as they are", ("nai\u0308ve", "", [0, 2])),
    ("Turkey", "as they are", ("", "not in the vocabulary", None)),
]


@pytest.mark.parametrize(("token", "mode", "expected"), BY_HAND)
def test_by_hand(path, token, mode, expected):
    # Loaded whole or for the token alone, which needs other words of the file.
    for tokens in (None, [token]):
        embedding = load(path, tokens=tokens, look_up=LookUp(multiword=mode))
        as_found, reason, vector = found(embedding, token)
        assert (as_found, reason) == expected[:2]
        assert vector == (None if expected[2] is None else pytest.approx(expected[2]))


@pytest.mark.parametrize(
    ("token", "mode", "expected"),
    [
        ("Turkey", "as they are", "turkey"),
        ("NASA", "as they are", "NASA"),  # its own case first
        ("Nasa", "as they are", ""),  # never to upper case
        ("Machine Learning", "underscore", "machine_learning"),
        ("Machine Learning", "mean of parts", "machine + learning"),
        ("Machine NASA", "mean of parts", "machine + NASA"),
        ("CAFÉ", "as they are", "café"),
    ],
)
def test_lower_case_is_a_last_resort_and_only_where_asked_for(path, token, mode, expected):
    for tokens in (None, [token]):
        assert load(path, tokens=tokens, look_up=LookUp(True, mode)).found_as([token]) == [expected]
    if expected not in ("", token):
        assert load(path, look_up=LookUp(False, mode)).reasons([token])


def test_a_capital_that_lower_case_takes_apart_stays_a_word_of_its_own(path):
    spellings = LookUp(lower=True).spellings("İzmir")
    assert spellings[0] == "İzmir"
    assert "izmir" not in spellings
    assert unicodedata.normalize("NFC", "İzmir".lower()) in spellings


@given(st.text(), st.booleans(), st.sampled_from(list(MODES)))
def test_a_token_is_looked_for_in_its_own_case_first(token, lower, mode):
    options = LookUp(lower, mode).spellings(token)
    kept = LookUp(False, mode).spellings(token)
    assert options[: len(kept)] == kept
    assert (options == kept) or lower


@given(st.lists(st.sampled_from([*WORDS, "Turkey", "learning machine", "Machine Learning", "boat"]), max_size=6))
def test_a_remedy_finds_more_and_changes_nothing_that_is_found(path, tokens):
    """Not the vector, not what it is found as, not a cosine, to the last bit; and it can be taken back."""
    embedding, pairs = load(path), list(product(tokens, tokens))
    before = embedding.vectors(tokens)
    cosines = embedding.cosines(*zip(*pairs, strict=True)) if pairs else np.empty(0)
    for remedy in REMEDIES:
        way = LookUp().with_remedy(remedy)
        assert way.has_remedy(remedy)
        assert way.without_remedy(remedy) == LookUp()
        mended = embedding.with_look_up(way)
        assert set(mended.missing(tokens)) <= set(embedding.missing(tokens))
        found = np.isfinite(before).all(axis=1)
        np.testing.assert_array_equal(mended.vectors(tokens)[found], before[found])
        if pairs:
            after = mended.cosines(*zip(*pairs, strict=True))
            np.testing.assert_array_equal(after[np.isfinite(cosines)], cosines[np.isfinite(cosines)])


def test_spellings_that_were_chosen_keep_from_a_remedy(path):
    for mode in ("underscore", "mean of parts"):
        assert LookUp(multiword=mode).with_remedy("mean") == LookUp(multiword=mode)
    assert LookUp(multiword="mean of parts").without_remedy("mean") == LookUp(multiword="mean of parts")


@pytest.mark.parametrize("mode", MODES)
def test_single_words_are_the_same_in_every_mode(path, mode):
    embedding = load(path, look_up=LookUp(multiword=mode))
    tokens = ["machine", "boat", "machine"]
    assert embedding.found_as(tokens) == ["machine", "", "machine"]
    vectors = embedding.vectors(tokens)
    assert vectors[0].tolist() == vectors[2].tolist() == [1, 0]
    assert np.isnan(vectors[1]).all()
    assert vectors.dtype == np.float32
    assert embedding.vectors([]).shape == (0, 2)
    assert embedding.found_as([]) == []


@pytest.mark.parametrize("mode", MODES)
def test_cosines_are_those_of_the_vectors(path, mode):
    embedding = load(path, look_up=LookUp(multiword=mode))
    a, b = ["machine learning", "left right", "machine learning"], ["NASA", "NASA", "turkey"]
    x, y = embedding.vectors(a).astype(float), embedding.vectors(b).astype(float)
    expected = (x * y).sum(axis=1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
    assert embedding.cosines(a, b) == pytest.approx(expected, nan_ok=True)


def test_neighbours_of_a_mean_leave_no_part_out(path):
    near = load(path, look_up=LookUp(multiword="mean of parts")).neighbours("machine learning", 2)
    assert near[0] == ("machine_learning", 1.0)


def test_an_import_opens_in_any_way_and_shares_its_vectors(path, tmp_path):
    import_embedding(path, tmp_path / "imported")
    plain = open_embedding(tmp_path / "imported")
    mean = plain.with_look_up(LookUp(multiword="mean of parts"))
    assert mean._matrix is plain._matrix
    assert mean.found_as(["machine learning"]) == ["machine + learning"]
    assert plain.found_as(["machine learning"]) == ["machine_learning"]
    assert open_embedding(tmp_path / "imported", look_up=LookUp(True)).found_as(["LEFT"]) == ["left"]


def test_other_modes_are_told_in_words():
    with pytest.raises(InputError, match="mean if missing; not 'sum'"):
        LookUp(multiword="sum")


def test_a_file_of_similarities_has_no_vectors_but_spellings(tmp_path):
    file = write(tmp_path, b"token_a,token_b,similarity\nsea,deep_sea,0.5\n", "s.csv")
    assert load(file, look_up=LookUp(True, "underscore")).cosines(["Sea"], ["deep sea"]).tolist() == [0.5]
    with pytest.raises(InputError, match="no vectors"):
        load(file, look_up=LookUp(multiword="mean of parts"))


def test_words_made_of_n_grams_count_as_found(shared):
    model = load(shared / "cases" / "14-fasttext.bin", look_up=LookUp(multiword="mean of parts")).with_subwords()
    tokens = ["zzyzxian", "zzyzxian anvilish"]
    assert model.found_as(tokens) == ["zzyzxian (n-grams)", "zzyzxian (n-grams) + anvilish (n-grams)"]
    parts = model.vectors(["zzyzxian", "anvilish"]).astype(float)
    assert model.vectors(tokens)[1] == pytest.approx(parts.mean(axis=0), rel=1e-6)
