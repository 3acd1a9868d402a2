"""What a page shows of a round: its people, its figures, its cost, models ranked."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from campaigns import make_project
from rounds_of_people import SMALL, answer_round, batch_of, collected, round_id

from core.errors import PlanError
from core.evaluation.models import given
from core.platforms.round_files import round_files
from core.questions import RoundSettings, check_round
from core.questions.rating.scales import GoldRating, read_rated_pairs
from core.store.ballots.comparisons import read_shown
from core.store.ballots.drawing import draw_round
from core.views.kinds import rounds as view
from tests.rounds_of_people import BEST_WORST, ORDER, RATING, accept_answers, close_round, read_rounds


def with_a_contrarian(store, scheme: str) -> str:
    """Five people answer everything; W5 says the opposite of the others."""
    project_id = make_project(store, plan=None)
    draw_round(store, project_id, replace(SMALL[scheme], raters=5))
    voters = ("W1", "W2", "W3", "W4", "W5")

    def answer(voter, n, shown):
        from rounds_of_people import by_letters

        told = by_letters("W1", n, shown)
        if voter != "W5":
            return told
        return {
            "rating": f"{4 - float(told['rating']):g}",
            "best": told["worst"],
            "worst": told["best"],
            "order": " ".join(reversed(told["order"].split())),
        }

    data = answer_round(batch_of(store, project_id), scheme, voters=voters, per_task=5, answer=answer)
    accept_answers(store, project_id, data, "all.csv", ballot_id=round_id(store, project_id))
    return project_id


@pytest.mark.parametrize("scheme", [RATING, BEST_WORST, ORDER])
def test_who_says_the_opposite_stands_apart(store, scheme):
    project_id = with_a_contrarian(store, scheme)
    people = view.people_of(store, project_id, read_rounds(store, project_id)[0])
    assert people.table["voter"].tolist() == ["W1", "W2", "W3", "W4", "W5"]
    assert [people.names[id_] for id_ in people.apart] == ["W5"]
    figures = dict(zip(people.table["voter"], people.table[people.figure], strict=True))
    if scheme == RATING:
        assert figures["W5"] == pytest.approx(-1)
        assert figures["W1"] == pytest.approx(1)
    if scheme == ORDER:
        assert figures["W5"] == pytest.approx(-1)
        assert figures["W1"] == pytest.approx((3 - 1) / 4)
    if scheme == BEST_WORST:
        assert figures["W5"] < 0.1 < 0.9 < figures["W1"]


def test_what_a_round_says_of_its_state(store):
    project_id = collected(store, RATING)
    (found,) = view.load(store, project_id)
    assert found.said == "Open: 63 of 63 answers to 21 items, by 3 voters."
    assert found.listed == f"{found.round.title} (open, 100%)"
    close_round(store, project_id, 1)
    (found,) = view.load(store, project_id)
    assert found.said.startswith("Closed: 63 of 63")
    assert [label for label, *_ in found.figures] == [
        "Noise",
        "Leave-one-out r",
        "Krippendorff's α",
        "To adjudicate",
        "Voters",
    ]
    assert view.rating_report(store, project_id, found.round).noise.estimate == pytest.approx(found.fit["noise"])


def test_costs_are_those_of_questions_tasks_and_people():
    assert view.cost_text(RoundSettings(BEST_WORST, raters=2, task_size=5, seconds=18, reward=0.5, fee=0.2), 21) == (
        "84 answers, 0.4 h, 10.80: 42 questions in 9 tasks, each with 2 assignments."
    )


def model(tokens: list[str], name: str, seed: int):
    return given(tokens, np.random.default_rng(seed).standard_normal((len(tokens), 8)), name=name)


@pytest.mark.parametrize("scheme", [RATING, BEST_WORST, ORDER])
def test_models_are_ranked_by_what_people_said(store, scheme):
    project_id = collected(store, scheme)
    close_round(store, project_id, 1)
    found = read_rounds(store, project_id)[0]
    tokens = ["cat", "dog", "horse", "mouse", "café", "=cow", "hammer", "saw", "007", "NA"]
    models = [(name, model(tokens, name, seed)) for name, seed in (("one", 1), ("two", 2), ("three", 3))]
    table = view.models(store, project_id, found, models)
    figure = "overall" if scheme == ORDER else "ρ_w"
    assert sorted(table["model"]) == ["one", "three", "two"]
    assert table[figure].is_monotonic_decreasing
    if scheme != ORDER:
        people = view.dataset(store, project_id, found)
        from scipy.stats import spearmanr

        best = dict(models)[table["model"].iloc[0]]
        cosines = np.abs(best.cosines(people["token_a"].tolist(), people["token_b"].tolist()))
        assert table["ρ"].iloc[0] == pytest.approx(spearmanr(people["score"], cosines).statistic)


def test_who_qualifies_by_the_gold_pairs_of_the_task_page(store):
    project_id = make_project(store, plan=None)
    gold = (GoldRating("car", "auto", 4.0), GoldRating("car", "pear", 0.0))
    draw_round(store, project_id, replace(SMALL[RATING], raters=2, gold=gold))
    found = read_rounds(store, project_id)[0]
    assert found.settings.gold == gold
    files = round_files(
        "r1", found.asks, {**found.settings.stored(), "notion": "relatedness"},
        shown=lambda: read_shown(store, project_id, found.id), widest=3,
    )  # fmt: skip
    assert 'name="gold_2"' in files[1].make().decode()
    data = answer_round(batch_of(store, project_id), RATING, voters=("W1", "W2"), per_task=2).decode()
    lines = list(csv.reader(io.StringIO(data)))
    at = lines[0].index("WorkerId")
    told = {"W1": ["3.25", "0.5"], "W2": ["2.75", ""]}
    out = io.StringIO()
    csv.writer(out).writerows(
        [[*line, *(["Answer.gold_1", "Answer.gold_2"] if n == 0 else told[line[at]])] for n, line in enumerate(lines)]
    )
    accept_answers(store, project_id, out.getvalue().encode(), "crowd.csv", ballot_id=found.id)
    table, silent = view.qualification(store, project_id, read_rounds(store, project_id)[0])
    assert silent == []
    assert table.to_dict("records") == [
        {"person": "W2", "near enough": 0, "gold pairs": 2, "not rated": 1, "passed": False},
        {"person": "W1", "near enough": 2, "gold pairs": 2, "not rated": 0, "passed": True},
    ]


def test_files_without_gold_columns_are_named(store):
    project_id = make_project(store, plan=None)
    draw_round(store, project_id, replace(SMALL[RATING], gold=(GoldRating("car", "auto", 4.0),)))
    data = answer_round(batch_of(store, project_id), RATING)
    accept_answers(store, project_id, data, "plain.csv", ballot_id=round_id(store, project_id))
    table, silent = view.qualification(store, project_id, read_rounds(store, project_id)[0])
    assert table.empty
    assert len(silent) == 1
    assert "plain.csv lacks the column Answer.gold_1. Its columns are" in silent[0]


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ("car, auto, van: 4", "Line 1"),
        ("\ncar: 4", "Line 2"),
        ("car, auto: much", "Line 1"),
        ("car, auto: 4.1", "no value of the scale"),
        (", auto: 4", "lacks a text"),
        ("\n".join(["car, auto: 4"] * 11), "more than 10"),
    ],
)
def test_gold_pairs_that_make_no_sense(lines, what):
    with pytest.raises(PlanError, match=what):
        check_round(replace(SMALL[RATING], gold=read_rated_pairs(lines)))
