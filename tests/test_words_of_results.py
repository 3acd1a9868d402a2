"""Sentences about scores and embeddings in another language: whole ones, with its numbers; keys and files stay."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from core import charts, evaluation_charts, trust
from core.agreement import Agreement
from core.evaluation.differences import Told
from core.evaluation_needed import Needed, Tried
from core.spoken import say, speaking
from core.views import evaluate_needed, evaluate_scale, evaluate_tokens
from core.views.trust import headline
from ui.tables import NAMES, columns

LINE = {level: trust.Line("x", level, "") for level in (trust.GREEN, trust.AMBER, trust.RED)}


def told(first: str, second: str, lower: float, upper: float) -> Told:
    p = 0.03 if lower > 0 else 0.5
    return Told(first, second, (lower + upper) / 2, 0.02, 0.02, lower, upper, 0.9, p)


@pytest.mark.parametrize(
    ("levels", "english", "italian"),
    [
        ("gg", "All 2 points are good.", "Tutti i 2 punti sono buoni."),
        ("g", "The only point is good.", "L’unico punto è buono."),
        ("rag", "1 bad and 1 weak of 3 points; the rest is good.",
         "Su 3 punti: insufficienti 1, deboli 1; gli altri sono buoni."),
        ("ra", "1 bad and 1 weak of 2 points.", "Su 2 punti: insufficienti 1, deboli 1."),
        ("rr", "2 bad of 2 points.", "Su 2 punti: insufficienti 2."),
        ("rg", "1 bad of 2 points; the rest is good.", "Su 2 punti: insufficienti 1; gli altri sono buoni."),
        ("a", "1 weak of 1 points.", "Su 1 punti: deboli 1."),
        ("agg", "1 weak of 3 points; the rest is good.", "Su 3 punti: deboli 1; gli altri sono buoni."),
    ],
)  # fmt: skip
def test_how_many_points_are_bad(levels: str, english: str, italian: str) -> None:
    lines = [LINE[{"g": trust.GREEN, "a": trust.AMBER, "r": trust.RED}[level]] for level in levels]
    assert headline(lines) == english
    with speaking("it"):
        assert headline(lines) == italian


@pytest.mark.parametrize(
    ("lost", "won", "english"),
    [
        (1, 1, "1 item never lost and 1 item never won: each stands at an end, how far out isn't known."),
        (1, 0, "1 item never lost: it stands at an end, how far out isn't known."),
        (0, 2, "2 items never won: each stands at an end, how far out isn't known."),
    ],
)
def test_items_at_an_end(lost: int, won: int, english: str) -> None:
    points = np.array([10.0] * lost + [0.0] * won + [5.0, 4.0])
    line = trust.won_and_lost(points, np.full(len(points), 10), np.array([], dtype=int))
    assert line.reason == english
    with speaking("it"):
        there = trust.won_and_lost(points, np.full(len(points), 10), np.array([], dtype=int))
        name, reason = say(there.name), say(there.reason)
    assert there == line  # told in no language, and said where it is shown
    assert name == "Vinte e perse"
    assert "never" not in reason
    assert str(max(lost, won)) in reason


def test_agreement_has_the_numbers_of_the_language() -> None:
    alpha = Agreement(0.5, -0.25, 0.75, 0.9, 10, 12, 30, 5)
    assert trust.agreement(alpha, "").reason == f"Krippendorff's α = 0.50, {alpha.interval()}; 0 is chance."
    none = Agreement(0.5, math.nan, math.nan, 0.9, 1, 1, 2, 2)
    assert trust.agreement(none, "").reason == f"Krippendorff's α = 0.50, {none.interval()}; 0 is chance."
    with speaking("it"):
        reason = say(trust.agreement(alpha, "").reason)
    assert reason == "α di Krippendorff = 0,50, intervallo al 90 % da -0,25 a 0,75; 0 è il caso."


@pytest.mark.parametrize("unit", ["votes", "tokens"])
def test_what_is_needed_is_said_as_its_own_words_have_it(unit: str) -> None:
    tried = (Tried(100, 3, 5),)
    known = Needed(unit, "rho_w", 0.1, 1200, 900, 1600, 50, 9000, False, tried)
    more = Needed(unit, "rho_w", 0.1, None, None, None, 50, 9000, True, tried)
    fewer = Needed(unit, "rho_w", 0.1, None, None, None, 50, 9000, False, tried)
    for needed in (known, more, fewer):
        said = evaluate_needed.sentence(needed, "a", "b", 1000)
        assert said == f"To tell a and b apart with 80 % takes {needed}; there are 1,000 now."
    assert evaluate_needed.simulated(known) == f"5 simulations of 50 to 9,000 {unit}."
    with speaking("it"):
        assert "1.200" in evaluate_needed.sentence(known, "a", "b", 1000)
        assert "9.000" in evaluate_needed.sentence(more, "a", "b", 1000)


def test_answers_of_jobs_are_kept_in_english_and_said_in_any_language() -> None:
    words = "voters fitted to these votes (σ* {sigma_from:.3f} to {sigma_to:.3f}, ε {epsilon_from:.3f} to "
    words += "{epsilon_to:.3f})"
    values = {"sigma_from": 0.01, "sigma_to": 0.2, "epsilon_from": 0.005, "epsilon_to": 0.05}
    kept = {"found": [], "problems": [], "voters": words, "of_voters": values}
    assert (
        evaluate_needed.answer_of(kept).voters == "voters fitted to these votes (σ* 0.010 to 0.200, ε 0.005 to 0.050)"
    )
    with speaking("it"):
        assert evaluate_needed.answer_of(kept).voters == (
            "votanti adattati a questi voti (σ* da 0,010 a 0,200, ε da 0,005 a 0,050)"
        )
    older = {"found": [], "problems": [], "voters": "voters fitted to these votes (σ* 0.010 to 0.200)"}
    assert evaluate_needed.answer_of(older).voters == older["voters"]


def test_who_is_told_apart() -> None:
    near, far = told("a", "b", -0.1, 0.2), told("a", "c", 0.1, 0.3)
    by = {"votes": (near, far), "tokens": (far,)}
    assert evaluate_tokens.said(["a", "b", "c"], by) == (
        "not told apart from b by these votes; told apart from the other by these tokens"
    )
    assert evaluate_tokens.unclear((near, far), "votes") == (
        "These votes can't tell apart a and b: the difference may be none."
    )
    with speaking("it"):
        assert evaluate_tokens.said(["a", "b"], {"votes": (near,), "tokens": (near,)}) == (
            "non distinguibile da b in base a questi voti e a questi token"
        )
        assert evaluate_tokens.table_of((near,), "votes", 10_000)["votes needed"].iloc[0].count(",") == 0


def test_yardsticks_are_called_when_they_are_shown() -> None:
    table = pd.DataFrame({"model": [evaluate_scale.RANDOM, "spelling: character n-grams"], "ρ_w": [0.0, 0.1]})
    assert evaluate_scale.said(table).equals(table)
    with speaking("it"):
        assert list(evaluate_scale.said(table)["model"]) == ["una classifica a caso", "grafia: n-grammi di caratteri"]


def test_columns_have_names_of_the_language_and_keys_of_the_file() -> None:
    names = ["rank", "ρ_w", "ρ_w lower", "ρ_w by votes", "upper"]
    assert {key: one["label"] for key, one in columns(names).items()} == {name: name for name in names}
    assert [columns([name])[name]["label"] for name in NAMES] == list(NAMES)
    with speaking("it"):
        found = columns(names, {"rank": {"label": "posto"}})
    assert [found[name]["label"] for name in names] == ["posto", "ρ_w", "ρ_w inferiore", "ρ_w per voti", "superiore"]


def test_an_areas_own_name_is_no_text() -> None:
    curves = pd.DataFrame({"pairs": ["Plan", "random pairs", "embedding, Plan"], "share": 0.5, "value": 0.1})
    with speaking("it"):
        spec = charts.similarity_curves(curves, "|cos|").to_dict()
    domain = spec["encoding"]["color"]["scale"]["domain"]
    assert domain == ["Plan", "coppie a caso", "embedding, Plan"]


def test_both_intervals_are_drawn_in_any_language() -> None:
    ends = {"lower": 0.1, "upper": 0.3, "token lower": 0.0, "token upper": 0.4}
    table = pd.DataFrame([{"embedding": "a", "estimate": 0.2, **ends}])
    none = pd.DataFrame()
    with speaking("it"):
        spec = evaluation_charts.figures_by_model(table, "ρ_w", None, none).to_dict()
    domains = [layer["encoding"]["color"]["scale"]["domain"] for layer in spec["layer"] if "color" in layer["encoding"]]
    assert domains == [["altri voti", "altri token"]] * 2
