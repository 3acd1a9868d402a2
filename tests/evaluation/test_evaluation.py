"""Embeddings ranked by a dataset: figures by brute force and by hand, coverage, notions, what is undefined."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from embedding_files import binary, text, write

from core.embeddings import Embedding, load
from core.errors import InputError
from core.evaluation import Correlations, compare, correlations, evaluate, tokens_of

# On a circle, so that any cosine can be had: cos(hub, angle) is the cosine of the angle.
ANGLES = {"hub": 0, "a": 10, "b": 40, "c": 70, "d": 100, "e": 160, "f": 175}


@pytest.fixture
def embedding(tmp_path: Path) -> Embedding:
    radians = np.radians(list(ANGLES.values()))
    matrix = np.column_stack([np.cos(radians), np.sin(radians)])
    return load(write(tmp_path, binary(list(ANGLES), matrix)))


def dataset(scores: dict[str, float], areas: dict[str, str] | None = None, **attrs: str) -> pd.DataFrame:
    """Items of "hub" and another token, with their scores."""
    table = pd.DataFrame(
        {
            "area": [(areas or {}).get(token, "Hubs") for token in scores],
            "token_a": "hub",
            "token_b": list(scores),
            "score": list(scores.values()),
        }
    )
    table.attrs = dict(attrs)
    return table


def brute_ranks(values: list[float]) -> list[float]:
    return [1 + sum(w > v for w in values) + (sum(w == v for w in values) - 1) / 2 for v in values]


def brute_rho_w(x: list[float], y: list[float], n0: float) -> float:
    """ρ_w straight from its equation."""
    a, b = brute_ranks(x), brute_ranks(y)
    raw = [1 / (i + n0) ** 2 + 1 / (j + n0) ** 2 for i, j in zip(a, b, strict=True)]
    w = [part / sum(raw) for part in raw]
    mean_a = sum(p * i for p, i in zip(w, a, strict=True))
    mean_b = sum(p * j for p, j in zip(w, b, strict=True))
    covariance = sum(p * (i - mean_a) * (j - mean_b) for p, i, j in zip(w, a, b, strict=True))
    variance_a = sum(p * (i - mean_a) ** 2 for p, i in zip(w, a, strict=True))
    variance_b = sum(p * (j - mean_b) ** 2 for p, j in zip(w, b, strict=True))
    return covariance / (variance_a * variance_b) ** 0.5


SCORES = {"a": 0.9, "b": 0.5, "c": 0.5, "d": 0.1, "e": 0.8, "f": 0.3}


@pytest.mark.parametrize("n0", [0.0, 2.0, 10.0])
@pytest.mark.parametrize("notion", ["relatedness", "similarity"])
def test_figures_by_brute_force(embedding: Embedding, n0: float, notion: str) -> None:
    result = evaluate(dataset(SCORES), embedding, n0=n0, notion=notion)
    values = [float(np.cos(np.radians(ANGLES[token]))) for token in SCORES]
    values = [abs(v) for v in values] if notion == "relatedness" else values
    assert result.overall.rho_w.estimate == pytest.approx(brute_rho_w(list(SCORES.values()), values, n0), abs=1e-12)
    assert result.notes == ()
    assert (result.model, result.notion, result.n0) == ("model.bin", notion, n0)
    assert (result.overall.n_items, result.overall.n_covered, result.overall.coverage) == (6, 6, 1.0)


def test_the_other_notion(embedding: Embedding) -> None:
    related, similar = (evaluate(dataset(SCORES), embedding, notion=n) for n in ("relatedness", "similarity"))
    assert related.other_notion == similar.overall
    assert similar.other_notion == related.overall
    assert related.overall != similar.overall


def test_the_notion_is_the_argument_then_the_datasets_then_relatedness(embedding: Embedding) -> None:
    assert evaluate(dataset(SCORES), embedding).notion == "relatedness"
    assert evaluate(dataset(SCORES, notion="similarity"), embedding).notion == "similarity"
    assert evaluate(dataset(SCORES, notion="similarity"), embedding, notion="relatedness").notion == "relatedness"
    with pytest.raises(InputError, match="relatedness or similarity, found 'likeness'"):
        evaluate(dataset(SCORES), embedding, notion="likeness")


def test_pairs_ranks_and_gaps_by_hand(embedding: Embedding) -> None:
    result = evaluate(dataset({"absent": 0.7, **SCORES}), embedding, notion="similarity")
    pairs = result.pairs.set_index("token_b")
    assert list(result.pairs.columns) == ["area", "token_a", "token_b", "score", "rank", "cosine", "model_rank", "gap"]
    # Over the six covered items; b and c share the ranks 3 and 4.
    assert pairs["rank"].drop("absent").to_dict() == {"a": 1, "e": 2, "b": 3.5, "c": 3.5, "f": 5, "d": 6}
    assert pairs["model_rank"].drop("absent").to_dict() == {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6}
    assert pairs["gap"].drop("absent").to_dict() == {"a": 0, "b": -1.5, "c": -0.5, "d": -2, "e": 3, "f": 1}
    assert pairs.loc["absent", ["rank", "cosine", "model_rank", "gap"]].isna().all()
    assert pairs.loc["c", "cosine"] == pytest.approx(np.cos(np.radians(70)), abs=1e-6)


def test_worst_pairs_by_hand(embedding: Embedding) -> None:
    result = evaluate(dataset({"absent": 0.7, **SCORES}), embedding, notion="similarity", n0=0.0)
    worst = result.worst(3)
    parts = {
        "e": (1 / 4 + 1 / 25) * 9,
        "d": (1 / 36 + 1 / 16) * 4,
        "b": (1 / 3.5**2 + 1 / 4) * 2.25,
        "c": (1 / 3.5**2 + 1 / 9) * 0.25,
        "f": (1 / 25 + 1 / 36) * 1,
    }
    assert worst["token_b"].tolist() == ["e", "b", "d"]
    assert worst["disagreement"].tolist() == pytest.approx([parts[t] / sum(parts.values()) for t in ("e", "b", "d")])
    assert len(result.worst(100)) == 6


def test_worst_without_any_disagreement(embedding: Embedding) -> None:
    result = evaluate(dataset({"a": 3, "b": 2, "c": 1}), embedding)
    assert result.worst()["disagreement"].tolist() == [0, 0, 0]
    assert evaluate(dataset({"x": 1, "y": 2}), embedding).worst().empty


def test_areas_in_the_datasets_order(embedding: Embedding) -> None:
    areas = {"a": "Z", "b": "Z", "c": "Z", "absent": "Z", "d": "A", "e": "A", "f": "A"}
    result = evaluate(dataset({"absent": 0.0, **SCORES}, areas), embedding, notion="similarity")
    assert list(result.areas) == ["Z", "A"]
    assert (result.areas["Z"].n_items, result.areas["Z"].n_covered, result.areas["Z"].coverage) == (4, 3, 0.75)
    # d, e, f: scores .1 .8 .3, model d > e > f, so one pair of three is in the same order.
    assert result.areas["A"].tau.estimate == pytest.approx(-1 / 3)
    assert result.overall.n_covered == 6


def test_missing_tokens_have_their_reasons(tmp_path: Path) -> None:
    matrix = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
    embedding = load(write(tmp_path, binary(["hub", "a", "b", "zero"], matrix)))
    result = evaluate(dataset({"a": 2, "b": 1, "absent": 3, "zero": 4}), embedding)
    assert result.missing == {"absent": "not in the vocabulary", "zero": "its vector is all zeros"}
    assert (result.overall.n_covered, result.overall.coverage, result.overall.rho.estimate) == (2, 0.5, 1.0)


def test_case_29_partial_coverage_is_never_ranked_beside_full(shared: Path) -> None:
    gold = pd.read_csv(shared / "cases" / "29-gold.csv")
    models = [load(shared / "cases" / f"29-model-{name}.vec", tokens=tokens_of(gold)) for name in ("full", "missing")]
    result = compare(gold, iter(models), notion="similarity")
    full, missing = result.evaluations
    assert (full.overall.n_covered, missing.overall.n_covered, result.n_common) == (10, 3, 3)
    assert full.overall.rho.estimate == pytest.approx(0.455, abs=5e-4)
    assert missing.overall.rho.estimate == pytest.approx(1.0)
    assert [c.rho.estimate for c in result.common] == pytest.approx([1.0, 1.0])
    assert not result.is_even
    assert list(missing.missing) == ["dune", "ember"]


def test_models_over_the_same_items_are_even(embedding: Embedding) -> None:
    result = compare(dataset({"absent": 1.0, **SCORES}), [embedding, embedding])
    assert result.is_even
    assert result.n_common == 6
    assert result.common[0].rho_w == result.evaluations[0].overall.rho_w
    with pytest.raises(InputError, match="at least one"):
        compare(dataset(SCORES), [])


def test_models_that_cover_the_same_number_of_other_items_are_not_even(tmp_path: Path) -> None:
    matrix = np.array([[1, 0], [1, 1], [2, 1], [3, 1]])
    first = load(write(tmp_path, binary(["hub", "a", "b", "c"], matrix)))
    second = load(write(tmp_path, binary(["hub", "b", "c", "d"], matrix)))
    result = compare(dataset(SCORES), [first, second])
    assert (result.n_common, result.is_even) == (2, False)


def test_case_50_a_missing_value_is_dropped_and_counted(cases: Path) -> None:
    table = pd.read_csv(cases / "50-corr-nan-oov.csv")
    result = correlations(table["gold"].to_numpy(), table["model"].to_numpy())
    assert (result.n_items, result.n_covered) == (5, 4)
    assert result.rho.estimate == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("case", "reason", "remark"),
    [
        ("53-corr-constant.csv", "equal", "over 3 items only"),
        ("54-corr-n1.csv", "at least two items", "over 1 item only"),
    ],
)
def test_cases_53_and_54_are_undefined_with_a_reason(cases: Path, case: str, reason: str, remark: str) -> None:
    table = pd.read_csv(cases / case)
    result = correlations(table["gold"].to_numpy(float), table["model"].to_numpy(float))
    for figure in (result.rho_w, result.tau_w, result.rho, result.tau):
        assert figure.estimate is None
        assert reason in figure.reason
    assert result.remark == remark


def test_case_57_two_items_are_marked(cases: Path) -> None:
    table = pd.read_csv(cases / "57-corr-n2.csv")
    result = correlations(table["gold"].to_numpy(float), table["model"].to_numpy(float))
    assert (result.rho.estimate, result.remark) == (-1.0, "over 2 items only")


def test_nothing_covered(embedding: Embedding) -> None:
    result = evaluate(dataset({"x": 1, "y": 2}), embedding)
    assert (result.overall.coverage, result.overall.n_covered) == (0.0, 0)
    assert result.overall.rho_w.estimate is None
    assert "at least two items" in result.overall.rho_w.reason


def test_an_empty_dataset(embedding: Embedding) -> None:
    result = evaluate(dataset(SCORES).head(0), embedding)
    assert (result.overall.n_items, result.overall.coverage, result.areas) == (0, 0.0, {})


def test_items_without_a_score_are_left_out_and_counted(embedding: Embedding) -> None:
    with_gap = evaluate(dataset({**SCORES, "e": np.nan}), embedding)
    without = evaluate(dataset({t: s for t, s in SCORES.items() if t != "e"}), embedding)
    assert with_gap.n_unscored == 1
    assert with_gap.overall == without.overall
    assert len(with_gap.pairs) == 5


def test_infinite_scores_and_missing_columns_are_refused(embedding: Embedding) -> None:
    with pytest.raises(InputError, match="row 3, column score"):
        evaluate(dataset({"a": 1.0, "b": np.inf}), embedding)
    with pytest.raises(InputError, match="token_b"):
        evaluate(dataset(SCORES).drop(columns="token_b"), embedding)
    for n0 in (-1.0, float("nan")):
        with pytest.raises(InputError, match="n0"):
            evaluate(dataset(SCORES), embedding, n0=n0)


def test_a_dataset_without_areas(embedding: Embedding) -> None:
    table = dataset(SCORES, notion="similarity").drop(columns="area")
    result = evaluate(table, embedding)
    assert result.notion == "similarity"
    assert result.areas == {}
    assert "area" not in table.columns


def test_order_of_rows_and_of_tokens_changes_nothing(embedding: Embedding) -> None:
    table = dataset(SCORES)
    shuffled = table.sample(frac=1, random_state=1).rename(columns={"token_a": "token_b", "token_b": "token_a"})
    first, second = (evaluate(t, embedding).overall for t in (table, shuffled))
    for metric in ("rho_w", "tau_w", "rho", "tau"):
        assert getattr(first, metric).estimate == pytest.approx(getattr(second, metric).estimate, abs=1e-12)


def test_reversed_scores_reverse_the_unweighted_figures(embedding: Embedding) -> None:
    first = evaluate(dataset(SCORES), embedding).overall
    second = evaluate(dataset({token: -score for token, score in SCORES.items()}), embedding).overall
    assert second.rho.estimate == pytest.approx(-first.rho.estimate)
    assert second.tau.estimate == pytest.approx(-first.tau.estimate)


def test_tokens_of(embedding: Embedding) -> None:
    assert tokens_of(dataset(SCORES)) == ["hub", *SCORES]


def test_results_cannot_be_changed(embedding: Embedding) -> None:
    result = evaluate(dataset(SCORES), embedding)
    with pytest.raises(FrozenInstanceError):
        result.overall.n_items = 3  # type: ignore[misc]
    assert isinstance(result.overall, Correlations)


def test_equal_directions_tie_in_the_ranking(tmp_path: Path) -> None:
    # Multiples of one vector: float noise must not make ranks.
    words = ["hub", "a", "b", "c"]
    matrix = np.outer([1, 3, 7, 0.1], [0.1, 0.2, 0.3, 0.7, 0.11])
    matrix[3, 0] += 5
    embedding = load(write(tmp_path, text(words, matrix)))
    pairs = evaluate(dataset({"a": 1, "b": 2, "c": 3}), embedding).pairs
    assert pairs["model_rank"].tolist() == [1.5, 1.5, 3]


def test_the_common_figures_are_those_over_the_common_items_whichever_way_they_are_found(embedding: Embedding) -> None:
    table = dataset({"absent": 1.0, **SCORES})
    result = compare(table, [embedding, embedding])
    values = np.abs(np.cos(np.radians([ANGLES[token] for token in SCORES])))
    expected = correlations(np.array(list(SCORES.values())), values)
    assert (result.n_common, result.is_even) == (len(SCORES), True)
    for found in result.common:
        assert (found.n_items, found.n_covered, found.coverage) == (6, 6, 1.0)
        for name in ("rho_w", "tau_w", "rho", "tau"):
            assert getattr(found, name).estimate == pytest.approx(getattr(expected, name).estimate, abs=1e-12)
