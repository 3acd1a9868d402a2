"""Near spellings: against a plain search with the textbook's distance, their order, and how long they take."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.tokens.spellings import furthest, near_spellings


def words_of(token: str, vocabulary, n: int = 5) -> list[tuple[str, str, int]]:
    table = near_spellings([token], vocabulary, n)
    return list(zip(table["word"], table["kind"], table["distance"], strict=True))


def edits(a: str, b: str) -> int:
    """Optimal string alignment by its recurrence."""
    table = np.add.outer(np.arange(len(a) + 1), np.arange(len(b) + 1))
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return int(table[-1, -1])


def test_case_first_then_separators_then_letters():
    vocabulary = ["machinelearnings", "machine-learning", "Machine_Learning", "MACHINE LEARNING", "machine learnin"]
    assert words_of("machine learning", vocabulary) == [
        ("MACHINE LEARNING", "case", 0),
        ("machine-learning", "separators", 1),
        ("Machine_Learning", "separators", 1),
        ("machine learnin", "letters", 1),
        ("machinelearnings", "letters", 2),
    ]


def test_words_without_the_separators_of_a_token_and_the_other_way_round():
    assert words_of("a b c d e f", ["abcdef"]) == [("abcdef", "separators", 5)]
    assert words_of("abcdef", ["a-b_c‑d e f"]) == [("a-b_c‑d e f", "separators", 5)]


def test_swapped_letters_are_one_edit_and_ties_stand_in_the_vocabulary_s_order():
    assert words_of("sihp", ["shop", "ship", "sip"]) == [("ship", "letters", 1), ("sip", "letters", 1)]
    assert words_of("shp", ["shop", "ship"])[0][0] == "shop"


def test_the_token_itself_and_markers_are_no_suggestions():
    assert words_of("ship", ["ship", "Ship"]) == [("Ship", "case", 0)]
    assert words_of("/s", ["</s>", "s", "is"], 9) == [("s", "letters", 1), ("is", "letters", 1)]


def test_other_normal_forms_and_letters_of_one_case():
    assert words_of("café", ["cafe\u0301"]) == [("cafe\u0301", "case", 0)]
    assert words_of("STRASSE", ["straße"])[0][:2] == ("straße", "case")


def test_tokens_are_answered_in_their_order_and_once():
    table = near_spellings(["keal", "none-such", "sihp", "keal"], ["ship", "keel"])
    assert table[["token", "word"]].to_numpy().tolist() == [["keal", "keel"], ["sihp", "ship"]]


def test_nothing_to_search():
    assert near_spellings([], ["ship"]).empty
    assert near_spellings(["ship"], []).empty
    with pytest.raises(InputError, match="At least 1 spelling"):
        near_spellings(["ship"], ["shop"], 0)


@given(
    st.lists(st.text("aAb_", min_size=1, max_size=7), unique=True, max_size=25),
    st.text("aAb_", min_size=1, max_size=7),
    st.integers(1, 6),
)
def test_against_a_plain_search(vocabulary, token, n):
    def bare(text: str) -> str:
        return text.lower().replace("_", "")

    options = []
    for place, word in enumerate(vocabulary):
        distance = edits(token.lower(), word.lower())
        kind = 0 if token.lower() == word.lower() else 1 if bare(token) and bare(token) == bare(word) else 2
        if word != token and (kind < 2 or distance <= furthest(token)):
            options.append((kind, distance, place, word))
    expected = [(word, ("case", "separators", "letters")[kind], d) for kind, d, _, word in sorted(options)[:n]]
    found = words_of(token, vocabulary, n)
    assert found == expected  # a token of separators only has no words that differ in those


def test_blocks_of_a_vocabulary_change_nothing():
    words = [f"word{place}" for place in range(3000)]
    whole = near_spellings(["word17", "wrod2999"], words)
    parts = near_spellings(
        ["word17", "wrod2999"], pa.chunked_array([pa.array(words[i : i + 700]) for i in range(0, 3000, 700)])
    )
    assert whole.equals(parts)
    assert whole[whole["token"] == "wrod2999"]["word"].iloc[0] == "word2999"
