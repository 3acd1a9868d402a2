"""Missing tokens: what would find them is counted before it is applied, holds in all embeddings, and is taken back."""

from __future__ import annotations

import numpy as np
import pytest
from embedding_files import text, write

from core.errors import InputError, StaleError
from core.store import Store
from core.store.projects.embedding_library import import_into, open_library, read_embeddings, set_lookup, set_remedy
from core.store.projects.project_commands import create_project, get_project, read_log
from core.store.tokens.areas import add_areas
from core.tokens.files import AreaTokens
from core.views import tokens as view
from core.views.log import log_table

FIRST = {"sea": [1, 2], "ferry": [3, 1], "turkey": [1, 4], "sea_salt": [2, 2]}
SECOND = {"sea": [4, 2], "ferry": [1, 1], "Turkey": [0, 3], "salt": [1, 5]}
TOKENS = ("sea ferry", "Turkey", "sea salt", "sea", "kraken")


@pytest.fixture
def project(store: Store, tmp_path) -> str:
    made = create_project(store, "Two models")
    add_areas(store, made, [AreaTokens("Sea", TOKENS), AreaTokens("Food", ("Turkey", "sea salt"))])
    for name, words in (("first", FIRST), ("second", SECOND)):
        import_into(
            store, made, write(tmp_path, text(list(words), np.array(list(words.values()), float)), f"{name}.vec")
        )
    return made


def counts(found) -> dict[str, int]:
    return {one.name: one.n_tokens for one in found}


def cosines(store: Store, project: str) -> dict[str, np.ndarray]:
    pairs = view.load_items(store, project)
    opened = {of.name: open_library(store, of) for of in read_embeddings(store, project)}
    return {name: of.cosines(list(pairs["token_a"]), list(pairs["token_b"])) for name, of in opened.items()}


def test_what_each_would_find_is_what_it_finds(store: Store, project: str) -> None:
    missing = {of.name: len(of.missing) for of in view.load(store, project).coverage}
    assert missing == {"first": 4, "second": 4}  # sea ferry, Turkey twice, kraken; sea ferry, sea salt twice, kraken
    lower, mean = view.load(store, project).remedies
    assert counts(lower.offered) == {"first": 2}
    assert lower.offered[0].examples == (("Turkey", "turkey"),)
    assert counts(mean.offered) == {"first": 1, "second": 3}
    assert mean.offered[1].examples == (("sea ferry", "sea + ferry"), ("sea salt", "sea + salt"))
    assert not lower.in_use
    assert not mean.in_use
    before = cosines(store, project)
    assert set_remedy(store, project, "mean", True) == ("first", "second")
    assert {of.name: len(of.missing) for of in view.load(store, project).coverage} == {"first": 3, "second": 1}
    lower, mean = view.load(store, project).remedies
    assert counts(mean.in_use) == {"first": 1, "second": 3}
    assert not mean.offered
    assert counts(lower.offered) == {"first": 2}  # as before
    after = cosines(store, project)
    for name in before:
        known = np.isfinite(before[name])
        np.testing.assert_array_equal(after[name][known], before[name][known])
        assert np.isfinite(after[name]).sum() > known.sum()


def test_it_is_logged_and_taken_back(store: Store, project: str) -> None:
    before = cosines(store, project)
    set_remedy(store, project, "lower", True)
    assert read_log(store, project, 1)[0]["detail"] == {
        "remedy": "in lower case too", "embeddings": ["first", "second"]
    }  # fmt: skip
    assert log_table(read_log(store, project, 1))["what"].tolist() == ["Had missing tokens looked up in lower case too"]
    set_remedy(store, project, "mean", True)
    assert {(e.lower, e.multiword) for e in read_embeddings(store, project)} == {(True, "mean if missing")}
    set_remedy(store, project, "lower", False)
    set_remedy(store, project, "mean", False)
    assert {(e.lower, e.multiword) for e in read_embeddings(store, project)} == {(False, "as they are")}
    for name, values in cosines(store, project).items():
        np.testing.assert_array_equal(values, before[name])


def test_what_was_chosen_for_an_embedding_stays(store: Store, project: str) -> None:
    first = read_embeddings(store, project)[0]
    set_lookup(store, project, first.id, first.look_up.with_remedy("lower"))
    chosen = type(first.look_up)(multiword="underscore")
    set_lookup(store, project, first.id, chosen)
    assert set_remedy(store, project, "mean", True) == ("second",)
    assert read_embeddings(store, project)[0].look_up == chosen


def test_similarities_have_no_means(store: Store, project: str, tmp_path) -> None:
    pairs = write(tmp_path, b"token_a,token_b,similarity\nsea,turkey,0.5\n", "pairs.csv")
    import_into(store, project, pairs)
    lower, mean = view.load(store, project).remedies
    assert "pairs" in counts(lower.offered)
    assert "pairs" not in counts(mean.offered)
    assert "pairs" not in set_remedy(store, project, "mean", True)


def test_one_that_changes_nothing_is_refused(store: Store, project: str) -> None:
    with pytest.raises(InputError, match="looks tokens up in another way"):
        set_remedy(store, project, "mean", False)
    with pytest.raises(StaleError):
        set_remedy(store, project, "mean", True, expected_revision=get_project(store, project).revision - 1)
