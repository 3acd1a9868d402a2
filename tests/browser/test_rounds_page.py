"""Ratings, best–worst and orders in a real browser, from a new project to models ranked by what people said."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from playwright.sync_api import expect
from scipy.stats import pearsonr, spearmanr

from tests.browser.results import as_turkle
from tests.browser.server import ROOT, Server
from tests.browser.test_way import N_ITEMS, add_areas, import_by_upload, make_project
from tests.browser.visitor import Visitor
from tests.rounds_of_people import answer_round

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser"), pytest.mark.release]
UPLOAD = "Result files of Turkle or in Mechanical Turk's format, or the table filled in"


def test_each_scheme_from_a_new_project_to_ranked_models(own_server: Server, visit: Callable[..., Visitor]) -> None:
    own_server.start()
    visitor = visit(own_server)
    make_project(visitor)
    import_by_upload(visitor)
    add_areas(visitor)
    ratings(visitor)
    best_worst(visitor)
    orders(visitor)
    assert visitor.faults == []


def planned(visitor: Visitor, kind: str, said: str) -> None:
    """Choose a kind of question on the Plan page, save its plan, and go to Collect."""
    visitor.go("Plan")
    visitor.choose(kind)
    visitor.says(said)
    visitor.press("Save this plan")
    visitor.says("The plan is saved.")
    visitor.go("Collect")


def batch(visitor: Visitor) -> bytes:
    """The batch of the open round, collected by files."""
    visitor.check("Files")
    return visitor.download("Batch (CSV)")


def dataset(visitor: Visitor) -> list[dict[str, str]]:
    """The dataset of the newest closed round."""
    visitor.go("Export")
    return list(csv.DictReader(io.StringIO(visitor.download("Dataset (CSV)").decode())))


def models(visitor: Visitor) -> list[str]:
    """What stands of the only model beside its name."""
    visitor.go("Evaluate")
    ((_, *figures),) = visitor.cells("Models against the round", n_rows=1)
    return figures


def take(visitor: Visitor, name: str, results: bytes, n: int, number: int) -> None:
    """Upload a result file, take its answers, close the round."""
    visitor.upload(UPLOAD, name, results)
    visitor.says(f"{n:,} new answers.")
    visitor.press("Accept these answers")
    visitor.says(f"{name} is accepted: {n:,} new answers.")
    visitor.press(f"Close round {number}")
    visitor.says(f"Round {number} is closed: what it says stands below.")


def ratings(visitor: Visitor) -> None:
    planned(visitor, "Ratings", f"280 answers, 0.5 h, 9.00: {N_ITEMS} questions in 6 tasks, each with 5 assignments")
    visitor.press("Draw round 1")
    visitor.says(f"Open: 0 of 280 answers to {N_ITEMS} items")
    asked = batch(visitor)
    page = visitor.download("Task page for Turkle (HTML)").decode()
    assert "${token_a_10}" in page
    assert 'name="rating_10"' in page
    results = answer_round(asked, "rating", voters=("W1", "W2", "W3", "W4", "W5"), per_task=5)
    take(visitor, "ratings.csv", as_turkle(results), 280, 1)
    rows = dataset(visitor)
    assert {frozenset((row["token_a"], row["token_b"])): float(row["score"]) for row in rows} == pytest.approx(
        means_of(results)
    )
    *figures, covered = models(visitor)
    scores, cosines = covered_by_demo(rows)
    assert covered == f"{len(scores)} of {N_ITEMS}"
    expected = (spearmanr(scores, cosines).statistic, pearsonr(scores, cosines).statistic)
    assert [float(figure) for figure in figures[2:]] == pytest.approx(expected, abs=0.0006)
    visitor.go("Scores")
    visitor.says("Leave-one-out r")
    visitor.go("Voters")
    visitor.says("Round 1, ratings: 5 voters gave 280 answers")


def means_of(results: bytes) -> dict[frozenset[str], float]:
    given: dict[frozenset[str], list[float]] = {}
    for row in csv.DictReader(io.StringIO(results.decode())):
        for n in range(1, 11):
            if row.get(f"Input.item_id_{n}"):
                pair = frozenset(html.unescape(row[f"Input.token_{side}_{n}"]) for side in "ab")
                given.setdefault(pair, []).append(float(row[f"Answer.rating_{n}"]))
    return {pair: sum(values) / len(values) for pair, values in given.items()}


def covered_by_demo(rows: list[dict[str, str]]) -> tuple[list[float], list[float]]:
    """The scores of the items that the demo's embedding has, and their |cosines|."""
    vectors = KeyedVectors.load_word2vec_format(ROOT / "data" / "demo.bin", binary=True)
    pairs = [(row["token_a"], row["token_b"], float(row["score"])) for row in rows]
    known = [(a, b, score) for a, b, score in pairs if a in vectors and b in vectors]
    return [score for *_, score in known], [abs(float(vectors.similarity(a, b))) for a, b, _ in known]


def best_worst(visitor: Visitor) -> None:
    planned(visitor, "Best–worst", "112 answers, 0.6 h, 6.90: 112 questions in 23 tasks, each with 1 assignment")
    visitor.press("Draw round 2")
    visitor.says("Open: 0 of 112 answers to 112 tuples")
    results = answer_round(batch(visitor), "best-worst")
    visitor.upload(UPLOAD, "half.csv", results[: results.rfind(b"\n", 0, len(results) // 2) + 1])
    visitor.press("Accept these answers")
    expect(visitor.main.get_by_role("button", name="Close round 2")).to_be_disabled()
    visitor.says("answers are still missing.")
    visitor.upload(UPLOAD, "all.csv", results)
    visitor.press("Accept these answers")
    visitor.press("Close round 2")
    rows = dataset(visitor)
    sizes = [len(row["token_a"] + row["token_b"]) for row in rows]
    assert spearmanr(sizes, [float(row["score"]) for row in rows]).statistic > 0.95
    visitor.go("Collect")
    visitor.says("56 questions in 12 tasks")  # the leading half
    visitor.press("Draw round 3")
    visitor.says("Open: 0 of 56 answers to 56 tuples")
    take(visitor, "next.csv", answer_round(batch(visitor), "best-worst", tag="N"), 56, 3)
    again = dataset(visitor)
    assert len(again) == N_ITEMS
    assert np.isfinite([float(row["score"]) for row in again]).all()


def orders(visitor: Visitor) -> None:
    visitor.go("Plan")
    visitor.choose("Orders of target groups")
    visitor.says("The plan has no groups yet.")
    visitor.press("Propose")
    visitor.says("100 answers, 1.0 h, 6.00: 10 questions in 2 tasks, each with 10 assignments")
    visitor.press("Save this plan")
    visitor.go("Collect")
    visitor.press("Draw round 4")
    voters = [f"W{number}" for number in range(1, 11)]
    results = answer_round(batch(visitor), "order", voters=voters, per_task=10)
    take(visitor, "orders.csv", results, 100, 4)
    visitor.go("Export")
    groups = visitor.download("Download the groups (text)").decode()
    assert groups.count("distractors") == 10
    visitor.go("Scores")
    visitor.says("Agreement")
    visitor.go("Evaluate")
    expect(visitor.main.get_by_role("region", name="Models against the round")).to_contain_text("positive")
    overall, positive, *_ = models(visitor)
    assert 0 < float(overall) < 1
    assert 0 <= float(positive) <= 1
    visitor.choose("Ratings")  # the page shows what it is asked for, with all that is there
    visitor.says("Round 1, ratings. Closed: 280 of 280 answers")


def test_a_trial_is_gone_through_with_simulated_people(
    own_server: Server, visit: Callable[..., Visitor], tmp_path: Path
) -> None:
    own_server.start()
    visitor = visit(own_server, viewport={"width": 390, "height": 900})
    visitor.open("schemes?project=demo")  # the address of earlier versions
    visitor.choose("Ratings")
    visitor.press("Save this plan")
    visitor.open("collect?project=demo&kind=rating")
    visitor.press("Draw round 1")
    visitor.press("Let simulated people answer")
    visitor.says("3,800 answers of simulated people. They are permanently marked as such.")
    visitor.press("Close round 1")
    visitor.open("scores?project=demo&kind=rating")
    visitor.unfold("Side by side with the votes")
    visitor.says("items")
    visitor.check_no_error()
    assert visitor.faults == []
