"""Sentences about scores, embeddings and what was collected: whole ones, for one and for several."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from core.charts import campaign_charts, evaluation
from core.commands.votes import ExcludeVoters, ReadmitVoters
from core.evaluation.sample_size import Needed, PowerEstimate
from core.evaluation.token_intervals import PairwiseDifference
from core.store.votes.exclusions import ExclusionChange
from core.trust import report
from core.trust.agreement import KrippendorffAlpha
from core.views.evaluate import leaderboard as evaluate_needed
from core.views.evaluate import token_intervals
from core.views.scores.trust import headline
from ui.shared.tables import figures

LINE = {level: report.TrustCheck("x", level, "") for level in (report.GREEN, report.AMBER, report.RED)}


def told(first: str, second: str, lower: float, upper: float) -> PairwiseDifference:
    p = 0.03 if lower > 0 else 0.5
    return PairwiseDifference(first, second, (lower + upper) / 2, 0.02, 0.02, lower, upper, 0.9, p)


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ("gg", "All 2 points are good."),
        ("g", "The only point is good."),
        ("rag", "Of 3 points 1 is bad and 1 is weak; the other is good."),
        ("ra", "Of 2 points 1 is bad and 1 is weak."),
        ("rr", "Of 2 points 2 are bad."),
        ("rg", "Of 2 points 1 is bad; the other is good."),
        ("a", "The only point is weak."),
        ("agg", "Of 3 points 1 is weak; the others are good."),
    ],
)
def test_how_many_points_are_bad(levels: str, said: str) -> None:
    lines = [LINE[{"g": report.GREEN, "a": report.AMBER, "r": report.RED}[level]] for level in levels]
    assert headline(lines) == said


@pytest.mark.parametrize(
    ("lost", "won", "reason"),
    [
        (1, 1, "1 item never lost and 1 item never won: each lies at an end of the scale, how far out isn't known."),
        (1, 0, "1 item never lost: it lies at an end of the scale, how far out isn't known."),
        (0, 2, "2 items never won: each lies at an end of the scale, how far out isn't known."),
    ],
)
def test_items_at_an_end(lost: int, won: int, reason: str) -> None:
    points = np.array([10.0] * lost + [0.0] * won + [5.0, 4.0])
    line = report.won_and_lost(points, np.full(len(points), 10), np.array([], dtype=int))
    assert (line.name, line.reason) == ("Won and lost", reason)


def test_agreement_is_said_with_its_interval_or_why_there_is_none() -> None:
    alpha = KrippendorffAlpha(0.5, -0.25, 0.75, 0.9, 10, 12, 30, 5)
    assert report.agreement(alpha, "").reason == f"Krippendorff's α = 0.50, {alpha.interval()}; 0 is chance."
    none = KrippendorffAlpha(0.5, math.nan, math.nan, 0.9, 1, 1, 2, 2)
    assert report.agreement(none, "").reason == f"Krippendorff's α = 0.50, {none.interval()}; 0 is chance."


@pytest.mark.parametrize("unit", ["votes", "tokens"])
def test_what_is_needed_is_said_as_its_own_words_have_it(unit: str) -> None:
    tried = (PowerEstimate(100, 3, 5),)
    known = Needed(unit, "rho_w", 0.1, 1200, 900, 1600, 50, 9000, False, tried)
    more = Needed(unit, "rho_w", 0.1, None, None, None, 50, 9000, True, tried)
    fewer = Needed(unit, "rho_w", 0.1, None, None, None, 50, 9000, False, tried)
    for needed in (known, more, fewer):
        said = evaluate_needed.sentence(needed, "a", "b", 1000)
        assert said == f"To tell a and b apart with 80% takes {needed}; there are 1,000 now."
    assert evaluate_needed.simulated(known) == f"5 simulations of 50 to 9,000 {unit}."


def test_who_is_told_apart() -> None:
    near, far = told("a", "b", -0.1, 0.2), told("a", "c", 0.1, 0.3)
    by = {"votes": (near, far), "tokens": (far,)}
    assert token_intervals.not_told_apart_text(["a", "b", "c"], by) == (
        "not told apart from b with other voters; told apart from the other with other tokens"
    )
    assert token_intervals.unclear((near, far), "votes") == (
        "These votes can't tell apart a and b: the difference may be none."
    )


def test_figures_of_a_table_have_as_many_digits_as_they_bear() -> None:
    table = pd.DataFrame({"item": ["a"], "rank": [1.5], "gap": [-2.0], "score": [0.25], "n": [3]})
    config = figures(table, {"item": "The item.", "score": "Higher is more related."})
    assert {name: one["type_config"]["format"] for name, one in config.items() if one.get("type_config")} == {
        "rank": "%.1f", "gap": "%.1f", "score": "%.3f",
    }  # fmt: skip
    assert {name: one["help"] for name, one in config.items() if one["help"]} == {
        "item": "The item.",
        "score": "Higher is more related.",
    }
    assert "n" not in config


def test_an_area_may_be_called_as_a_curve_is_explained() -> None:
    curves = pd.DataFrame({"pairs": ["Plan", "random pairs", "embedding, Plan"], "share": 0.5, "value": 0.1})
    spec = campaign_charts.similarity_curves(curves, "|cos|").to_dict()
    assert spec["encoding"]["color"]["scale"]["domain"] == ["Plan", "random pairs", "embedding, Plan"]


def test_both_intervals_are_drawn() -> None:
    ends = {"corrected": 0.25, "lower": 0.22, "upper": 0.3}
    ends |= {"token corrected": 0.19, "token lower": 0.0, "token upper": 0.4}
    table = pd.DataFrame([{"embedding": "a", "estimate": 0.2, **ends}])
    spec = evaluation.figures_by_model(table, "ρ_w", None, pd.DataFrame()).to_dict()
    domains = [layer["encoding"]["color"]["scale"]["domain"] for layer in spec["layer"] if "color" in layer["encoding"]]
    assert domains == [["other voters", "other tokens"]] * 4


def test_the_band_and_the_dashed_lines_are_labelled() -> None:
    table = pd.DataFrame([{"embedding": "a", "estimate": 0.2}]).reindex(
        columns=[
            "embedding",
            "estimate",
            "corrected",
            "lower",
            "upper",
            "token corrected",
            "token lower",
            "token upper",
        ]
    )
    top = pd.DataFrame({"model": ["half", "a perfect model"], "ρ_w": [0.7, 0.9]})
    spec = evaluation.figures_by_model(table, "ρ_w", (-0.6, -0.2), top).to_dict()
    texts = [layer for layer in spec["layer"] if layer["mark"]["type"] == "text"]
    rows = [spec["datasets"][layer["data"]["name"]][0] for layer in texts]
    assert [(row["label"], row["at"]) for row in rows] == [
        ("random rankings", -0.4), ("half", 0.7), ("a perfect model", 0.9),
    ]  # fmt: skip
    heights = [layer["encoding"]["y"]["value"] for layer in texts[1:]]
    assert len(set(heights)) == len(heights)  # lines may stand near each other; the band lies far to the left of them


def test_each_interval_has_its_own_estimate_on_it() -> None:
    ends = {"corrected": 0.25, "lower": 0.22, "upper": 0.3}
    ends |= {"token corrected": 0.19, "token lower": 0.0, "token upper": 0.4}
    table = pd.DataFrame([{"embedding": "a", "estimate": 0.2, **ends}])
    spec = evaluation.figures_by_model(table, "ρ_w", None, pd.DataFrame()).to_dict()
    on: dict[str, set[int]] = {}
    for layer in spec["layer"]:
        (row,) = spec["datasets"][layer["data"]["name"]]
        if "interval" in row:
            assert row["from"] <= row["at"] <= row["to"]
            on.setdefault(row["interval"], set()).add(layer["mark"]["yOffset"])
    assert [len(places) for places in on.values()] == [1, 1]  # an interval's dot stands at its own height
    assert set.union(*on.values()).isdisjoint({0})  # where the dot of the figure as measured is


@pytest.mark.parametrize(("n", "voters"), [(1, "1 voter is"), (2, "2 voters are")])
def test_a_decision_is_one_sentence_for_one_and_for_several(n: int, voters: str) -> None:
    moved = ExclusionChange(voters=n, answers=10, rescored=2)
    after = "10 answers. 2 closed ballots scored again."
    assert ExcludeVoters("p", 1, (1,), "", {}).summary(moved) == f"{voters} left out: {after}"
    assert ReadmitVoters("p", 1, (1,)).summary(moved) == f"{voters} readmitted: {after}"
