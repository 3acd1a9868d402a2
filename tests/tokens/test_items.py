"""Which items: exclusions, samples that reach every token, and proposals of near-duplicate tokens."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.tokens.files import AreaTokens
from core.tokens.items import all_pairs, exclude, near_duplicates, sample_items

SEA = AreaTokens("Sea", ("ship", "boat", "keel", "sail"))
LAND = AreaTokens("Land", ("car", "boat", "ship"))


def pairs(*rows: tuple[str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["area", "token_a", "token_b"]).astype("str")


def listed(items: pd.DataFrame) -> list[list[str]]:
    return items[["area", "token_a", "token_b"]].to_numpy().tolist()


def test_pairs_are_left_out_in_either_order_and_items_numbered_anew():
    left = exclude(all_pairs([SEA, LAND]), pairs(("Sea", "boat", "ship"), ("Land", " car ", "ship")))
    assert len(left.items) == 6 + 3 - 2
    assert left.items["item"].tolist() == list(range(7))
    assert listed(left.excluded) == [["Sea", "ship", "boat"], ["Land", "car", "ship"]]
    assert left.excluded["item"].tolist() == [0, 7]
    assert left.unknown == ()
    assert ["Land", "boat", "ship"] in listed(left.items)


def test_without_an_area_a_pair_is_left_out_everywhere():
    left = exclude(all_pairs([SEA, LAND]), pairs(("", "ship", "boat")))
    assert listed(left.excluded) == [["Sea", "ship", "boat"], ["Land", "boat", "ship"]]


def test_pairs_that_are_no_items_are_reported_with_their_rows():
    items = all_pairs([SEA, LAND])
    left = exclude(items, pairs(("Sea", "ship", "keel"), ("Land", "ship", "keel"), ("", "ship", "ship")))
    assert len(left.excluded) == 1
    assert [issue.row for issue in left.unknown] == [2, 3]
    assert str(left.unknown[0]) == "row 2: no item has this pair of tokens in Land (found 'keel – ship')"
    assert exclude(items, pairs()).items.equals(items)


def test_sampling_everything_is_everything():
    items = all_pairs([SEA, LAND])
    for whole in (
        sample_items(items, size=99, rng=np.random.default_rng(0)),
        sample_items(items, share=1, rng=np.random.default_rng(0)),
    ):
        assert whole.items.equals(items)
        assert whole.areas.to_numpy().tolist() == [["Sea", 6, 6, 4, 0], ["Land", 3, 3, 3, 0]]


def test_shares_round_halves_up_and_give_at_least_one():
    items = all_pairs([SEA, LAND])
    assert sample_items(items, share=0.25, rng=np.random.default_rng(0)).areas["n_items"].tolist() == [2, 1]
    assert sample_items(items, share=0.01, rng=np.random.default_rng(0)).areas["n_items"].tolist() == [1, 1]


def test_the_same_seed_is_the_same_sample():
    items = all_pairs([AreaTokens("x", tuple(f"t{n}" for n in range(30)))])
    first, again, other = (sample_items(items, size=40, rng=np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first.items.equals(again.items)
    assert not first.items.equals(other.items)


@given(st.integers(2, 14), st.integers(1, 60), st.integers(0, 2**32))
def test_as_many_tokens_as_possible_have_an_item(n_tokens, size, seed):
    items = all_pairs([AreaTokens("x", tuple(f"t{n}" for n in range(n_tokens)))])
    sample = sample_items(items, size=size, rng=np.random.default_rng(seed))
    n_items = min(size, len(items))
    tokens = set(sample.items["token_a"]) | set(sample.items["token_b"])
    assert len(sample.items) == n_items == sample.areas["n_items"][0]
    assert not sample.items.duplicated(["token_a", "token_b"]).any()
    assert len(tokens) == min(n_tokens, 2 * n_items)
    assert len(sample.without) == n_tokens - len(tokens) == sample.areas["n_without"][0]
    assert set(map(tuple, listed(sample.items))) <= set(map(tuple, listed(items)))


@given(st.sets(st.sampled_from(list(combinations("abcdefg", 2))), min_size=1), st.integers(1, 21), st.integers(0, 99))
def test_with_exclusions_nothing_is_lost_that_was_there(kept, size, seed):
    items = all_pairs([AreaTokens("x", tuple("abcdefg"))])
    gone = pairs(*(("x", a, b) for a, b in combinations("abcdefg", 2) if (a, b) not in kept))
    left = exclude(items, gone).items
    sample = sample_items(left, size=size, rng=np.random.default_rng(seed))
    assert len(sample.items) == min(size, len(kept))
    having = {token for pair in kept for token in pair}
    reached = set(sample.items["token_a"]) | set(sample.items["token_b"])
    assert {token for _, token in sample.without} == having - reached
    if size >= len(kept):
        assert not sample.without


@pytest.mark.release
def test_a_large_sample_is_drawn_evenly():
    items = all_pairs([AreaTokens("x", tuple("abcdef"))])  # 15 pairs
    rng = np.random.default_rng(7)
    counts = np.zeros(15)
    for _ in range(600):
        taken = sample_items(items, size=10, rng=rng).items
        names = taken["token_a"] + taken["token_b"]
        counts[(items["token_a"] + items["token_b"]).isin(names).to_numpy()] += 1
    # Each pair in 400 of 600 samples; the standard deviation is 11.5.
    assert np.abs(counts - 400).max() < 50


@pytest.mark.parametrize("arguments", [{}, {"size": 2, "share": 0.5}, {"size": 0}, {"share": 0}, {"share": 1.1}])
def test_samples_that_are_none(arguments):
    with pytest.raises(InputError):
        sample_items(all_pairs([SEA]), **arguments, rng=np.random.default_rng(0))


def test_no_items_no_sample():
    empty = all_pairs([])
    sample = sample_items(empty, size=3, rng=np.random.default_rng(0))
    assert sample.items.empty
    assert sample.areas.empty
    assert exclude(empty, pairs(("", "a", "b"))).unknown


def near(*tokens: str, threshold: float = 90) -> dict[frozenset[str], str]:
    table = near_duplicates([AreaTokens("x", tokens)], threshold)
    return {
        frozenset((a, b)): why for a, b, why in zip(table["token_a"], table["token_b"], table["reason"], strict=True)
    }


@pytest.mark.parametrize(
    "pair",
    [("e-mail", "email"), ("Sea", "sea"), ("co_worker", "co worker"), ("résumé", "resume"), ("a‑b", "ab")],
)
def test_the_same_but_for_how_it_is_written(pair):
    assert near(*pair) == {frozenset(pair): "the same but for case, accents, spaces and hyphens"}


@pytest.mark.parametrize("pair", [("car", "cars"), ("boxes", "box"), ("company", "companies"), ("Skill", "skills")])
def test_plural_endings(pair):
    assert near(*pair) == {frozenset(pair): "the same but for a plural ending"}


@pytest.mark.parametrize(
    "pair", [("bus", "bu"), ("boss", "bos"), ("sea", "tea"), ("male", "female"), ("import", "export"), ("-", "_")]
)
def test_different_words_are_not_proposed(pair):
    assert near(*pair) == {}


def test_vowel_signs_are_no_accents():
    assert near("कि", "की") == {}
    assert near("は", "ば") == {}


def test_the_ratio_by_hand():
    # micro|economics and macro|economics share 13 of 14 letters each in order: m, c, r, o and nine more.
    table = near_duplicates([AreaTokens("x", ("microeconomics", "macroeconomics"))])
    assert table["ratio"].tolist() == [pytest.approx(200 * 13 / 28)]
    assert near("microeconomics", "macroeconomics", threshold=93) == {}


def test_proposals_stay_inside_an_area_and_can_be_excluded_as_they_are():
    areas = [AreaTokens("x", ("car", "cars", "road")), AreaTokens("y", ("car", "ship"))]
    proposed = near_duplicates(areas)
    assert listed(proposed) == [["x", "car", "cars"]]
    left = exclude(all_pairs(areas), proposed)
    assert len(left.excluded) == 1
    assert left.unknown == ()
    assert near_duplicates([]).empty


@given(st.lists(st.text("abS-é", min_size=1, max_size=6), unique=True, max_size=12), st.randoms())
def test_the_order_of_tokens_decides_no_pair(tokens, random):
    shuffled = list(tokens)
    random.shuffle(shuffled)
    assert near(*tokens, threshold=75) == near(*shuffled, threshold=75)


def test_a_threshold_that_is_none():
    with pytest.raises(InputError, match="from 0 to 100"):
        near_duplicates([SEA], 101)
