"""Text overlap by brute force; models ranked over levels and genres."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_runs import examples
from scipy import stats

from core.errors import InputError
from core.evaluation.baselines import BASELINES, baseline, greedy_string_tiling, longest_common_substring
from core.questions.rating.statistics import fit_of, rank_models

WORDS = st.text("ab ", max_size=12)
NAN = np.nan


def spaced(text):
    return " ".join(text.casefold().split())


@settings(deadline=None, max_examples=examples(150))
@given(WORDS, WORDS)
def test_the_longest_run_by_brute_force(one, other):
    a, b = spaced(one), spaced(other)
    runs = [len(a[i:j]) for i in range(len(a)) for j in range(i + 1, len(a) + 1) if a[i:j] in b]
    expected = max(runs, default=0) / min(len(a), len(b)) if a and b else 0
    assert longest_common_substring(one, other) == pytest.approx(expected)


@settings(deadline=None, max_examples=examples(150))
@given(WORDS, WORDS, st.integers(1, 4))
def test_tiles_cover_what_both_have(one, other, minimum):
    found = greedy_string_tiling(one, other, minimum=minimum)
    a, b = spaced(one), spaced(other)
    longest = round(longest_common_substring(one, other) * min(len(a), len(b)))
    if longest < minimum:
        assert found == 0
        return
    # At least the longest run, at most what both have of each letter. Of equally long runs it takes the first, so that
    # the other way round others may be covered.
    in_both = sum((Counter(a) & Counter(b)).values())
    assert 2 * longest <= round(found * (len(a) + len(b))) <= 2 * in_both
    if a == b:
        assert found == 1


def test_by_hand():
    assert longest_common_substring("", "a") == greedy_string_tiling("", "a") == 0
    assert greedy_string_tiling("abcdefXghijkl", "ghijklYabcdef") == pytest.approx(24 / 26)
    assert greedy_string_tiling("abcdeXghijk", "ghijkYabcde") == 0  # five letters are too few
    assert greedy_string_tiling("aaaaaaaaaaaa", "aaaaaa") == pytest.approx(12 / 18)  # a run is covered once
    assert baseline("longest common substring", ["a b", "x"], ["A  B", "y"]).tolist() == [1, 0]
    assert len(BASELINES) == 2


class TestModels:
    GOLD = (0, 1, 2, 3, 4, 0, 2, 4, 1, 3)
    LEVELS = ("p2s",) * 5 + ("s2p",) * 5
    GENRES = ("news", "news", "fable", "news", "fable") * 2

    def test_they_stand_by_the_sum_over_levels(self):
        rng = np.random.default_rng(1)
        models = {name: np.array(self.GOLD) + rng.normal(0, sd, 10) for name, sd in (("poor", 2.0), ("good", 0.2))}
        models["half"] = np.where(np.array(self.LEVELS) == "p2s", np.array(self.GOLD, dtype=float), NAN)
        found = rank_models(models, self.GOLD, self.LEVELS, self.GENRES, held_out=["fable"])
        assert found[0].model == "good"
        for standing in found:
            r = [
                stats.pearsonr(models[standing.model][part], self.GOLD[part]).statistic
                for part in (slice(5), slice(5, 10))
                if not np.isnan(models[standing.model][part]).any()
            ]
            assert standing.sum_pearson == pytest.approx(sum(r))
        half = next(standing for standing in found if standing.model == "half")
        assert half.by_level["s2p"].pearson is None
        assert (half.by_level["s2p"].n, half.by_level["s2p"].n_items) == (0, 5)
        good = found[0]
        fable = [2, 4, 7, 9]
        assert good.unseen.pearson == pytest.approx(
            stats.pearsonr(models["good"][fable], np.array(self.GOLD)[fable]).statistic
        )
        assert good.by_genre["p2s", "news"].n == 3
        assert good.by_genre["p2s", "fable"].pearson is None
        assert "3 are needed" in good.by_genre["p2s", "fable"].reason

    def test_equal_models_share_a_place(self):
        found = rank_models({"a": self.GOLD, "b": self.GOLD, "c": np.ones(10)}, self.GOLD, self.LEVELS, self.GENRES)
        assert [(standing.model, standing.place) for standing in found] == [("a", 1), ("b", 1), ("c", 3)]
        assert found[0].unseen is None
        assert "same for all" in found[2].by_level["p2s"].reason

    def test_spearman_and_faults(self):
        x, y = [1, 2, 2, 5, NAN], [3, 1, 4, 9, 2]
        assert fit_of(x, y).spearman == pytest.approx(stats.spearmanr(x[:4], y[:4]).statistic)
        third = (0.1 + 0.2 + 0.3) / 3  # means of the same ratings in another order
        assert third != (0.3 + 0.2 + 0.1) / 3
        gold = [third, (0.3 + 0.2 + 0.1) / 3, 1, 2]
        assert fit_of([1, 2, 3, 4], gold).spearman == pytest.approx(
            stats.spearmanr([1, 2, 3, 4], [1, 1, 2, 3]).statistic
        )
        with pytest.raises(InputError, match="entry for each of 10"):
            rank_models({"a": [1, 2]}, self.GOLD, self.LEVELS, self.GENRES)
        with pytest.raises(InputError, match="no genre slang"):
            rank_models({"a": self.GOLD}, self.GOLD, self.LEVELS, self.GENRES, held_out=["slang"])
