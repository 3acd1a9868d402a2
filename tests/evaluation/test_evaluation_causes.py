"""Baselines, hubs, layouts and variants: by hand, by brute force, and on models made to have the fault."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.errors import InputError
from core.evaluation import causes, compare, encoded, evaluate, given
from core.evaluation.baselines import SPELLINGS, Spelling, common_substring, random_ranking
from core.evaluation.causes import (
    ALL_BUT_TOP,
    CENTRED,
    CSLS,
    PLAIN,
    all_but_the_top,
    crowding,
    csls,
    hub_skewness,
    layout,
    variants,
    with_hubs,
)


def all_pairs(names: list[str], scores: np.ndarray) -> pd.DataFrame:
    a, b = np.triu_indices(len(names), 1)
    table = pd.DataFrame({"token_a": np.array(names)[a], "token_b": np.array(names)[b], "score": scores[a, b]})
    table.attrs["notion"] = "similarity"
    return table


def cosine_matrix(vectors: np.ndarray) -> np.ndarray:
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return units @ units.T


def test_spellings_by_brute_force() -> None:
    def longest(a: str, b: str) -> int:
        parts = {a[i:j] for i in range(len(a)) for j in range(i + 1, len(a) + 1)}
        return max((len(part) for part in parts if part in b), default=0)

    for a, b in (("parental leave", "parenthood"), ("sea", "ship"), ("x", "y"), ("abab", "baba")):
        assert common_substring(a, b) == pytest.approx(2 * longest(a, b) / (len(a) + len(b)))
    for name in SPELLINGS:
        model = Spelling(name)
        same, swapped, other, far = model.cosines(["Sea", "boat", "coat", "sea"], ["sea", "coat", "boat", "xyz"])
        assert same == 1
        assert swapped == other
        assert far == 0
        assert model.reasons(["sea"]) == {}
    with pytest.raises(InputError, match="Jaro"):
        Spelling("soundex")


def test_random_rankings_have_their_expected_figures() -> None:
    rng = np.random.default_rng(1)
    names = [f"t{n:02}" for n in range(20)]
    pairs = all_pairs(names, rng.normal(size=(20, 20))).assign(area="A")
    found = random_ranking(pairs, draws=150, rng=np.random.default_rng(2))
    assert found.draws == 150
    assert found.expected.rho.estimate == pytest.approx(0, abs=0.02)
    # Spearman's ρ of chance has variance 1/(n − 1), so 90% of it lie within 1.645 of its roots.
    assert found.expected.rho.upper == pytest.approx(1.645 / np.sqrt(189), abs=0.03)
    assert found.expected.rho_w.estimate < 0
    assert found.expected.precision.estimate == pytest.approx(20 / 190, abs=0.02)
    again = random_ranking(pairs, draws=150, rng=np.random.default_rng(2))
    assert again == found


def test_a_token_that_a_model_puts_everywhere_is_named_beside_what_it_costs() -> None:
    rng = np.random.default_rng(3)
    truth = rng.normal(size=(16, 10))
    names = [f"t{n:02}" for n in range(16)]
    crowded = truth.copy()
    crowded[4] = truth.mean(axis=0) * 6  # near to all others
    table = all_pairs(names, cosine_matrix(truth))
    evaluation = evaluate(table, given(names, crowded, name="m"))
    found = crowding(evaluation, 12)
    assert found.loc[0, "token"] == "t04"
    assert bool(found.loc[0, "is_hub"])
    assert found["by_model"].sum() == pytest.approx(24)
    assert found["by_people"].sum() == pytest.approx(24)
    assert hub_skewness(found) > 0.5
    worst = with_hubs(evaluation.worst(10), found)
    named = worst[worst["hubs"] == "t04"]
    assert len(named) >= 3
    assert (named["gap"] < 0).all()
    with pytest.raises(InputError, match="at least 1"):
        crowding(evaluation, 0)


def test_a_layout_keeps_distances_that_fit_into_a_plane() -> None:
    angles = np.radians([0, 25, 70, 100, 160])
    names = list("abcde")
    vectors = np.column_stack([np.cos(angles), np.sin(angles)])
    table, kept = layout(given(names, vectors, name="m"), [*names, "absent"])
    assert kept == pytest.approx(1)
    assert table["token"].tolist() == names
    points = table[["x", "y"]].to_numpy()
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert apart == pytest.approx(np.linalg.norm(vectors[:, None] - vectors[None], axis=2), abs=1e-6)
    assert (points[np.abs(points).argmax(axis=0), [0, 1]] > 0).all()
    with pytest.raises(InputError, match="at least three"):
        layout(given(names, vectors, name="m"), ["a", "b", "absent"])


def test_variants_undo_what_was_done_to_the_vectors() -> None:
    rng = np.random.default_rng(4)
    truth = rng.normal(size=(40, 30))
    names = [f"t{n:02}" for n in range(40)]
    table = all_pairs(names, cosine_matrix(truth))
    shifted = truth + 4.0 * rng.normal(size=30)  # all vectors share a direction
    model = given(names, shifted, name="m")
    found = {v.name: v for v in variants(evaluate(table, model), model, rng=np.random.default_rng(5))}
    assert found[PLAIN].figures.rho == evaluate(table, model).overall.rho
    assert found[CENTRED].figures.rho.estimate > found[PLAIN].figures.rho.estimate + 0.1
    assert found[CSLS].figures.rho.estimate > found[PLAIN].figures.rho.estimate
    centred = shifted.astype(np.float32).astype(float) - shifted.astype(np.float32).astype(float).mean(axis=0)
    assert found[CENTRED].values == pytest.approx(cosine_matrix(centred)[np.triu_indices(40, 1)], abs=1e-6)
    assert set(found) >= {ALL_BUT_TOP}


def test_all_but_the_top_takes_away_the_strongest_direction() -> None:
    rng = np.random.default_rng(6)
    sample = rng.normal(size=(500, 5)) * [9, 1, 1, 1, 1] + 3
    moved = all_but_the_top(sample, sample)
    assert np.abs(moved.mean(axis=0)).max() < 1e-9
    assert moved[:, 0].std() < 0.2  # the strong direction is gone
    assert moved[:, 1].std() == pytest.approx(1, abs=0.1)
    assert np.linalg.matrix_rank(all_but_the_top(sample, sample, 2)) == 3


def test_csls_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causes, "NEIGHBOURS", 1)
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    values = np.array([0.0, np.sqrt(0.5)])
    found = csls(values, ["a", "a"], ["b", "c"], list("abc"), vectors, np.empty((0, 2)), "similarity")
    # The nearest to each, and to c, is √½ away.
    assert found == pytest.approx([-2 * np.sqrt(0.5), 0.0], abs=1e-12)


def test_encoders_need_one_method() -> None:
    class Lengths:
        def encode(self, tokens: list[str]) -> list[list[float]]:
            return [[len(token), 1.0] for token in tokens]

    model = encoded(Lengths(), ["a", "bb", "a", "parental leave"], name="lengths")
    assert model.cosines(["a"], ["bb"])[0] == pytest.approx(3 / np.sqrt(2 * 5), abs=1e-6)
    table = pd.DataFrame({"token_a": ["a", "a"], "token_b": ["bb", "parental leave"], "score": [2.0, 1.0]})
    assert compare(table, [model]).figures[0].rho.estimate == 1

    class Short:
        def encode(self, tokens: list[str]) -> np.ndarray:
            return np.ones((1, 3))

    with pytest.raises(InputError, match="one vector per token"):
        encoded(Short(), ["a", "b"], name="short")
