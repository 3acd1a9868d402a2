"""Frequencies: the paper's rule of rare tokens by hand, sources and what they can't say, lists in every dress."""

from __future__ import annotations

import math
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.tokens.files import AreaTokens
from core.tokens.frequencies import (
    from_counts,
    from_ranks,
    from_wordfreq,
    rare,
    rare_by_area,
    read_frequencies,
    wordfreq_languages,
)


def judged(table: pd.DataFrame) -> dict[str, bool | None]:
    return {
        token: None if pd.isna(value) else bool(value)
        for token, value in zip(table["token"], table["rare"], strict=True)
    }


# 4 words, 1,000 tokens of text: the mean is 250, so that a word is rare under 25.
CORPUS = from_counts(["sea", "ship", "keel", "machine_learning"], [900, 75, 24, 1], "my corpus")


def test_the_paper_s_rule_by_hand():
    assert CORPUS.mean == 250
    assert judged(rare(["sea", "ship", "keel"], CORPUS)) == {"sea": False, "ship": False, "keel": True}
    assert rare(["keel"], CORPUS)["frequency"].tolist() == [24]
    # 0.096 · 250 is 24, and 24 is not under it.
    assert judged(rare(["keel"], CORPUS, 0.096)) == {"keel": False}
    assert judged(rare(["ship"], CORPUS, 0.31)) == {"ship": True}


def test_a_token_of_several_words_is_found_with_an_underscore():
    table = rare(["machine learning"], CORPUS)
    assert judged(table) == {"machine learning": True}
    assert table["frequency"].tolist() == [1]
    assert table["reason"].tolist() == ["listed as machine_learning"]


def test_a_token_of_several_words_is_as_rare_as_its_rarest_part_or_unknown():
    table = rare(["sea keel", "sea ship", "sea zyx"], CORPUS)
    assert judged(table) == {"sea keel": True, "sea ship": None, "sea zyx": True}
    assert table["frequency"].isna().all()
    assert "its part keel is rare" in table["reason"][0]
    assert "says nothing about the whole" in table["reason"][1]


def test_what_is_not_in_a_complete_list_does_not_occur():
    table = rare(["boat"], CORPUS)
    assert judged(table) == {"boat": True}
    assert math.isnan(table["frequency"][0])
    assert "doesn't occur" in table["reason"][0]


def test_what_is_not_in_a_cut_list_is_rare_only_if_the_least_listed_word_is():
    cut = from_counts(["sea", "ship"], [100, 60], "cut")  # mean 80, bound 8
    assert judged(rare(["boat"], cut)) == {"boat": None}
    deep = from_counts(["sea", "ship"], [100, 5], "deep")  # mean 52.5, bound 5.25
    assert judged(rare(["boat", "sea boat"], deep)) == {"boat": True, "sea boat": True}
    assert "raises the mean" in str(cut.notes[-1])
    assert not CORPUS.notes


def test_lower_case_only_if_a_person_says_so():
    table = rare(["Sea", "Keel Ship"], CORPUS)
    assert judged(table) == {"Sea": None, "Keel Ship": None}
    assert table["reason"][0] == "listed only in other letters, as sea"
    assert judged(rare(["Sea", "Keel Ship"], CORPUS, lower=True)) == {"Sea": False, "Keel Ship": True}


def test_a_word_as_it_is_comes_before_its_lower_case():
    counted = from_counts(["Turkey", "turkey"], [1, 999], "c")
    assert rare(["Turkey"], counted, lower=True)["frequency"].tolist() == [1]


def test_the_normal_form_of_a_token_is_found():
    counted = from_counts(["café", "sea"], [4, 6], "c")
    assert rare(["cafe\u0301"], counted)["frequency"].tolist() == [4]


def test_counts_of_one_word_add_up_and_zeros_are_not_of_the_corpus():
    counted = from_counts(["run", "sea", "run", "boat"], [3, 4, 2, 0], "c")
    assert counted.of(["run", "sea", "boat"]) == {"run": 5, "sea": 4}
    assert counted.mean == 4.5
    assert [str(note)[-1] for note in counted.notes[:2]] == ["1", "1"]


@pytest.mark.parametrize("counts", [[1, -1], [1, math.nan], [1, math.inf], [1]])
def test_counts_that_are_none(counts):
    with pytest.raises(InputError):
        from_counts(["a", "b"], counts, "c")


def test_nothing_counted():
    with pytest.raises(InputError, match="c counts no word"):
        from_counts(["a"], [0], "c")


@pytest.mark.parametrize("share", [0, -0.1, 1.01, math.nan])
def test_shares_that_are_none(share):
    with pytest.raises(InputError, match="share of the mean"):
        rare(["sea"], CORPUS, share)


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=40), st.floats(0.01, 1), st.randoms())
def test_the_rule_against_a_plain_loop_in_any_order(counts, share, random):
    words = [f"w{place}" for place in range(len(counts))]
    expected = {word: count < share * (sum(counts) / len(counts)) for word, count in zip(words, counts, strict=True)}
    order = list(range(len(counts)))
    random.shuffle(order)
    source = from_counts([words[place] for place in order], [counts[place] for place in order], "c")
    near = [abs(count - share * source.mean) < 1e-6 * count for count in counts]
    found = judged(rare(words, source, share))
    assert all(found[word] == expected[word] for word, close in zip(words, near, strict=True) if not close)


def test_ranks_are_a_labelled_proxy_by_hand():
    proxy = from_ranks(["the", "of", "sea", "ship"], "model.bin")
    assert proxy.is_proxy
    assert proxy.kind == "rank"
    assert proxy.mean == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)
    assert proxy.of(["ship"]) == {"ship": 0.25}


def test_the_rank_from_which_on_words_are_rare():
    # 100,000 words: H = 12.0901 (= ln n + γ + 1/2n); 1/r < 0.1·H/n from rank 82,713 on.
    words = [f"w{(7919 * place) % 100_003}" for place in range(100_000)]
    table = rare(words, from_ranks(words, "model"))
    assert int(table["rare"].to_numpy(dtype=bool).argmax()) + 1 == math.floor(1e6 / 12.090146) + 1


def test_an_alphabetical_vocabulary_has_no_ranks():
    with pytest.raises(InputError, match="alphabetical"):
        from_ranks([f"w{place:04d}" for place in range(100)], "model")


def test_wordfreq_is_a_labelled_proxy_with_the_mean_of_its_whole_list():
    wordfreq = pytest.importorskip("wordfreq")
    source = from_wordfreq("en")
    listed = wordfreq.get_frequency_dict("en", "best")
    assert source.kind == "wordfreq"
    assert source.is_proxy
    assert f"{len(listed):,}" in source.label
    assert source.mean == pytest.approx(sum(listed.values()) / len(listed))
    # word_frequency rounds to three digits.
    assert source.of(["sea"])["sea"] == pytest.approx(wordfreq.word_frequency("sea", "en"), rel=5e-3)
    assert judged(rare(["sea", "machine learning"], source)) == {"sea": False, "machine learning": None}
    with pytest.raises(InputError, match="no language 'tlh'"):
        from_wordfreq("tlh")


def test_without_wordfreq_it_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "wordfreq", None)
    assert wordfreq_languages() == {}
    with pytest.raises(InputError, match="pip install wordfreq"):
        from_wordfreq()


def test_rare_tokens_by_area_with_advice_that_names_no_bound():
    areas = [AreaTokens("Sea", ("sea", "ship", "keel", "sea ship")), AreaTokens("None", ("sea ship",))]
    areas.append(AreaTokens("Plain", ("sea", "ship")))
    table = rare_by_area(areas, rare(["sea", "ship", "keel", "sea ship"], CORPUS), CORPUS)
    assert table[["n_tokens", "n_rare", "n_unknown"]].to_numpy().tolist() == [[4, 1, 1], [1, 0, 1], [2, 0, 0]]
    assert table["share"][0] == pytest.approx(1 / 3)
    assert math.isnan(table["share"][1])
    assert table["advice"][0].startswith("1 of 3 tokens (33%) is rare.")
    assert "names no number" in table["advice"][0]
    assert "Choose another source" in table["advice"][1]
    assert table["advice"][2].startswith("None of 2 tokens is rare.")
    assert table["advice"][2].endswith("Add some.")


def test_advice_on_a_proxy_says_that_it_is_one():
    proxy = from_ranks(["sea", "ship"], "model")
    table = rare_by_area([AreaTokens("x", ("sea",))], rare(["sea"], proxy), proxy)
    assert "proxy" in table["advice"][0]


LISTS = {
    "commas": (b"word,count\nsea,30\nship,10\n", "utf-8"),
    "tabs, no header": (b"sea\t30\nship\t10\n", "utf-8"),
    "semicolons, other order": (b"Freq;Type\n30;sea\n10;ship\n", "utf-8"),
    "ranks before": (b"1\tsea\t30\n2\tship\t10\n", "utf-8"),
    "ranks named": (b"rank,frequency,word\n1,30,sea\n2,10,ship\n", "utf-8"),
    "word2vec's vocabulary": (b"sea 30\nship 10\n", "utf-8"),
    "uniq -c": (b"     30 sea\n     10 ship\n", "utf-8"),
    "carriage returns": (b"word,count\rsea,30\rship,10\r", "utf-8"),
    "UTF-16": ("word\tcount\nsea\t30\nship\t10\n".encode("utf-16"), "utf-16"),
    "thousands": (b'word,count\nsea,"30"\nship,10\n', "utf-8"),
    "blank rows": (b"word,count\n\nsea,30\n\nship,10\n\n", "utf-8"),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_in_every_dress(name):
    source = read_frequencies(LISTS[name][0], "list.txt")
    assert source.of(["sea", "ship"]) == {"sea": 30, "ship": 10}
    assert source.n_words == 2
    assert source.mean == 20
    assert source.kind == "corpus"


@pytest.mark.parametrize(
    ("text", "value"),
    [("1,234", 1234), ("1.234.567", 1234567), ("12 345", 12345), ("0,5", 0.5), ("2.5e3", 2500), ("7", 7)],
)
def test_numbers_as_people_write_them(text, value):
    assert read_frequencies(f"word\tcount\nsea\t{text}\n".encode(), "x.tsv").of(["sea"]) == {"sea": value}


@pytest.mark.parametrize(
    ("counts", "values"),
    [
        (("1,234", "985"), (1234, 985)),
        (("1,234", "0,5"), (1.234, 0.5)),
        (("0,512", "12"), (0.512, 12)),
        (("12,5", "1,234,567"), (12.5, None)),
    ],
)
def test_commas_of_counts_are_read_by_all_of_them(counts, values):
    rows = [f"w{place}\t{count}" for place, count in enumerate(counts)]
    source = read_frequencies("\n".join(["word\tcount", *rows, "sea\t7"]).encode(), "x.tsv")
    known = {f"w{place}": value for place, value in enumerate(values) if value is not None}
    assert source.of(["w0", "w1", "sea"]) == known | {"sea": 7}
    assert [note.row for note in source.notes if note.row] == [3] * values.count(None)


def test_quotation_marks_are_words_of_a_list_with_tabs():
    source = read_frequencies(b'word\tcount\n"\t90\n"sea, deep"\t5\n""""\t1\n', "x.tsv")
    assert source.of(['"', "sea, deep"]) == {'"': 91, "sea, deep": 5}


def test_a_quotation_mark_that_is_never_closed_is_a_word():
    source = read_frequencies(b'word,count\nsea,30\n",20\nship,10\nboat,5\n', "x.csv")
    assert source.of(["sea", '"', "ship", "boat"]) == {"sea": 30, '"': 20, "ship": 10, "boat": 5}
    assert "quotation marks were read as letters: in row 3" in str(source.notes[0])


def test_a_word_over_several_rows_is_not_passed_over():
    with pytest.raises(InputError, match=r"row 3 .* never closed"):
        read_frequencies(b'word,count\nsea,30\n"ship\nboat",5\n"keel",7\n', "x.csv")


def test_rows_that_cannot_be_read_are_reported():
    source = read_frequencies(b"word,count\nsea,30\nship\nboat,many\nkeel,-4\n,7\nsail,10\n", "x.csv")
    assert source.of(["sea", "ship", "boat", "keel", "sail"]) == {"sea": 30, "sail": 10}
    assert [note.row for note in source.notes if note.row] == [3, 4, 5, 6]


def test_columns_may_be_named():
    data = b"lemma,pos,2019,2020\nsea,n,5,30\nship,n,2,10\n"
    with pytest.raises(InputError, match="not clear which column"):
        read_frequencies(data.replace(b"lemma", b"what"), "x.csv")
    assert read_frequencies(data, "x.csv", columns=("lemma", "2020")).of(["sea"]) == {"sea": 30}
    assert read_frequencies(data, "x.csv", columns=("lemma", "2020")).n_words == 2
    assert read_frequencies(b"sea,n,5,30\nship,n,2,10\n", "x.csv", columns=(0, 2)).of(["ship", "sea"]) == {
        "ship": 2,
        "sea": 5,
    }
    with pytest.raises(InputError, match="lacks the column count"):
        read_frequencies(data, "x.csv", columns=("lemma", "count"))
    with pytest.raises(InputError, match="no column 9"):
        read_frequencies(data, "x.csv", columns=(0, 9))


def test_words_that_look_like_missing_values_stay_words():
    source = read_frequencies("word,count\nNA,3\nnull,2\nnan,1\ncafe\u0301,4\n".encode(), "x.csv")
    assert source.of(["NA", "null", "nan", "café"]) == {"NA": 3, "null": 2, "nan": 1, "café": 4}


def test_windows_text_is_read_with_a_note():
    source = read_frequencies("word;count\ncafé;4\nsea;1\n".encode("cp1252"), "x.csv")
    assert source.of(["café"]) == {"café": 4}
    assert "Windows-1252" in str(source.notes[0])


def test_long_lists_go_block_by_block():
    n = 250_000
    data = "\n".join(f"w{place}\t{place % 7 + 1}" for place in range(n)).encode()
    source = read_frequencies(data, "x.tsv")
    assert source.n_words == n
    assert source.mean == pytest.approx(np.mean(np.arange(n) % 7 + 1))
    assert source.of([f"w{n - 1}"]) == {f"w{n - 1}": (n - 1) % 7 + 1}
