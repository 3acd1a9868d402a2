"""Figures beside SciPy's, figures of items that stand there several times, policies for missing words, bands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from embedding_files import binary, write
from hypothesis import given as given_by
from hypothesis import settings
from hypothesis import strategies as st
from scipy import stats

from core import metrics
from core.embeddings import Embedding, load
from core.errors import InputError, UndefinedMetricError
from core.evaluation import compare, correlations, evaluate, given, pearson, precision_at, words_of
from core.evaluation.causes import RARE, UNKNOWN, by_frequency, by_rarity, by_relatedness, over_bands
from core.evaluation.figures import NAMES, SIGNS_UP_TO, WeightedResamples

scores = st.lists(st.integers(-4, 4).map(float), min_size=2, max_size=14)


def of(pairs: list[tuple[str, str, float]], **attrs: str) -> pd.DataFrame:
    table = pd.DataFrame(pairs, columns=["token_a", "token_b", "score"])
    table.attrs = dict(attrs)
    return table


@given_by(scores, st.randoms(use_true_random=False))
def test_flat_figures_are_scipys(x: list[float], rng) -> None:
    y = [value + rng.choice([0, 1, -2, 3]) for value in x]
    if len(set(x)) < 2 or len(set(y)) < 2:
        return
    found = correlations(np.array(x), np.array(y), top=1)
    assert found.rho.estimate == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert found.tau.estimate == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    assert found.pearson.estimate == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)


def test_tau_w_is_scipys_with_our_weights_and_many_ties() -> None:
    rng = np.random.default_rng(1)
    for digits in (0, 1, 6):
        x = rng.normal(size=300).round(digits)
        y = (x + rng.normal(size=300)).round(digits)
        w = metrics.weights(metrics.average_ranks(x), metrics.average_ranks(y))
        scipys = stats.weightedtau(x, y, rank=np.arange(300), weigher=lambda i, w=w: w[i], additive=False).statistic
        assert correlations(x, y).tau_w.estimate == pytest.approx(scipys, abs=1e-12)


def test_several_taus_at_once_are_those_one_by_one() -> None:
    rng = np.random.default_rng(2)
    a, b = (metrics.average_ranks(rng.integers(0, 40, 100)) for _ in range(2))
    weights = [rng.random(100), np.ones(100), rng.random(100) ** 9]
    assert metrics.tau_of_ranks(a, b, *weights) == [metrics.tau_of_ranks(a, b, w)[0] for w in weights]


def test_precision_among_the_top_by_hand_and_by_breaking_ties_at_random() -> None:
    assert precision_at([5, 4, 3, 2, 1], [5, 1, 4, 3, 2], 3) == pytest.approx(2 / 3)
    x, y = np.array([3.0, 2, 2, 2, 1]), np.array([1.0, 1, 0, 2, 2])
    rng = np.random.default_rng(3)
    drawn = []
    for _ in range(4000):
        tops = [set(np.lexsort((rng.random(5), -values))[:2]) for values in (x, y)]
        drawn.append(len(tops[0] & tops[1]) / 2)
    assert precision_at(x, y, 2) == pytest.approx(np.mean(drawn), abs=0.02)
    with pytest.raises(UndefinedMetricError, match="no 6 highest"):
        precision_at(x, y, 6)
    with pytest.raises(InputError, match="at least 1"):
        precision_at(x, y, 0)
    with pytest.raises(UndefinedMetricError, match="missing"):
        precision_at([1, np.nan], [1, 2], 1)
    for other in ([1, 2], [[1, 2, 3]]):
        with pytest.raises(InputError, match="same items"):
            precision_at([1, 2, 3], other, 1)


def test_pearson_says_why_it_is_undefined() -> None:
    with pytest.raises(UndefinedMetricError, match="equal"):
        pearson([1, 1, 1], [1, 2, 3])
    with pytest.raises(UndefinedMetricError, match="two items"):
        pearson([1], [2])
    assert pearson([1e-3, 2e-3, 4e-3], [1e200, 2e200, 4e200]) == pytest.approx(1)


@settings(max_examples=40, deadline=None)
@given_by(st.integers(1, 12), st.integers(0, 10_000), st.sampled_from([-0.99999999, -0.9, -0.5, 0.0, 2.0, 1e6]))
def test_multiplicities_are_copies(n: int, seed: int, n0: float) -> None:
    """At every offset: an item that stands there no time has no weight, and a heavy first rank hides no other."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 6, n).astype(float), rng.normal(size=n).round(1)
    times = rng.integers(0, 4, (3, n))
    found = WeightedResamples(x, y, n0=n0, top=3).figures(times)
    for row, drawn in enumerate(times):
        copied = correlations(np.repeat(x, drawn), np.repeat(y, drawn), n0=n0, top=3)
        for name in NAMES:
            expected = getattr(copied, name).estimate
            assert found[name][row] == pytest.approx(np.nan if expected is None else expected, abs=1e-9, nan_ok=True)


def test_many_items_take_another_way_to_the_same_tau() -> None:
    rng = np.random.default_rng(4)
    n = SIGNS_UP_TO + 1
    x = rng.normal(size=n).round(2)
    y = x + rng.normal(size=n)
    times = rng.integers(0, 3, (2, n))
    found = WeightedResamples(x, y).figures(times, ["tau", "tau_w"])
    for row, drawn in enumerate(times):
        copied = np.repeat(x, drawn), np.repeat(y, drawn)
        assert found["tau_w"][row] == pytest.approx(metrics.weighted_kendall(*copied), abs=1e-12)
        assert found["tau"][row] == pytest.approx(metrics.kendall(*copied), abs=1e-12)


@pytest.fixture
def models(tmp_path: Path) -> tuple[Embedding, Embedding]:
    """One that knows all tokens, and one that lacks "d" and knows only the parts of "x y"."""
    rng = np.random.default_rng(5)
    words = ["a", "b", "c", "d", "x y"]
    full = load(write(tmp_path, binary([w.replace(" ", "_") for w in words], rng.normal(size=(5, 4))), "full.bin"))
    part = load(write(tmp_path, binary(["a", "b", "c", "x", "y"], rng.normal(size=(5, 4))), "part.bin"))
    return full, part


def items() -> pd.DataFrame:
    names = ["a", "b", "c", "d", "x y"]
    rng = np.random.default_rng(6)
    return of([(s, t, rng.random()) for n, s in enumerate(names) for t in names[n + 1 :]], notion="similarity")


def test_policies_by_hand(models: tuple[Embedding, Embedding]) -> None:
    table, (full, part) = items(), models
    pairs = table[["token_a", "token_b"]]
    has = ~pairs.isin(["d", "x y"]).any(axis=1).to_numpy()
    score = table["score"].to_numpy()
    cosines = [model.cosines(pairs["token_a"].tolist(), pairs["token_b"].tolist()) for model in models]

    common = compare(table, [full, part], policy="common")
    assert [f.n_items for f in common.figures] == [3, 3]
    assert common.figures[0].rho.estimate == pytest.approx(stats.spearmanr(score[has], cosines[0][has]).statistic)

    own = compare(table, [full, part], policy="own")
    assert [(f.n_items, f.n_covered) for f in own.figures] == [(10, 10), (10, 3)]
    assert own.fewer(1) == ("full.bin",)
    assert own.fewer(0) == common.fewer(1) == ()

    lowest = compare(table, [full, part], policy="lowest")
    filled = np.where(has, cosines[1], -1.0)
    assert lowest.figures[1].rho.estimate == pytest.approx(stats.spearmanr(score, filled).statistic)
    assert (lowest.figures[1].n_covered, lowest.figures[1].n_lowest, lowest.figures[1].coverage) == (3, 7, 0.3)
    assert lowest.figures[1].pearson.estimate is None
    assert lowest.figures[0] == own.figures[0]

    parts = compare(table, [full, part], policy="parts")
    vectors = part.vectors(["a", "b", "c", "x", "y"])
    mean = vectors[3:].astype(np.float64).mean(axis=0)
    expected = mean @ vectors[0] / np.linalg.norm(mean) / np.linalg.norm(vectors[0])
    row = parts.evaluations[1].pairs.query("token_a == 'a' and token_b == 'x y'").iloc[0]
    assert row["cosine"] == pytest.approx(expected, abs=1e-6)
    assert [f.n_items for f in parts.figures] == [6, 6]
    assert parts.evaluations[1].found_as["x y"] == "x + y"
    assert list(parts.evaluations[1].missing) == ["d"]


def test_a_relatedness_dataset_ranks_missing_items_below_all_cosines(models: tuple[Embedding, Embedding]) -> None:
    found = compare(items(), [models[1]], policy="lowest", notion="relatedness").evaluations[0]
    lacking = found.pairs["token_b"].isin(["d", "x y"]) | found.pairs["token_a"].isin(["d"])
    assert (found.pairs.loc[lacking, "model_rank"] == 7).all()
    assert found.pairs.loc[~lacking, "model_rank"].max() == 3


def test_odd_policies_and_vectors_are_refused(models: tuple[Embedding, Embedding]) -> None:
    with pytest.raises(InputError, match="policy"):
        compare(items(), models, policy="all")
    with pytest.raises(InputError, match="one vector per token"):
        given(["a", "a"], np.ones((2, 2)), name="m")
    assert words_of(["a", "x y"]) == ["a", "x y", "x", "y"]


def test_bands_of_frequency_rarity_and_relatedness() -> None:
    pairs = of([("a", "b", 3.0), ("a", "c", 2.0), ("b", "c", 1.0), ("a", "d", 0.5)])
    assert by_rarity(pairs, {"a": False, "b": False, "c": True, "d": None}).tolist() == [
        "without a rare token", RARE, RARE, UNKNOWN,
    ]  # fmt: skip
    bands = by_frequency(pairs, {"a": 9.0, "b": 5.0, "c": 1.0})
    assert bands.tolist() == ["most frequent third", "least frequent third", "least frequent third", UNKNOWN]
    values = np.arange(20, 0, -1.0)
    names = by_relatedness(values)
    assert [(names == name).sum() for name in dict.fromkeys(names)] == [2, 8, 10]
    assert set(by_relatedness(np.ones(5))) == {"first tenth by people"}


def test_figures_over_a_band_are_those_of_its_items(models: tuple[Embedding, Embedding]) -> None:
    table = items()
    evaluation = evaluate(table, models[0])
    bands = by_relatedness(table["score"].to_numpy())
    found = over_bands(evaluation, bands)
    assert list(found) == ["first tenth by people", "next tenth to half", "second half"]
    inside = bands == "second half"
    expected = evaluate(table[inside].reset_index(drop=True), models[0]).overall
    assert found["second half"].rho_w == expected.rho_w
    assert (found["second half"].n_items, found["second half"].n_covered) == (5, 5)
