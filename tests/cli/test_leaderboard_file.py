"""The leaderboard as files: ranges of ranks, groups, intervals, ceilings; and mteb's files read into it."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from campaigns import run_simulated
from click.testing import CliRunner
from scipy.stats import spearmanr

from core.__main__ import cli
from core.commands.publishing import publish
from core.dataset.files import read_dataset
from core.evaluation.mteb_files import interval_from_n, read_mteb
from core.store import open_store
from core.store.projects.plans import PlanSettings, save_plan
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import add_areas
from core.tokens.files import AreaTokens

WORDS = [
    *("sea", "tide", "wave", "surf", "beach", "sand", "reef", "shore"),
    *("gull", "salt", "fish", "boat", "sail", "mast", "deck", "port"),
]
ODD = "<b>'m\"&"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of 120 items of 16 tokens, whose scores come from random vectors."""
    vectors = np.random.default_rng(1).normal(size=(len(WORDS), 6))
    rows = [(a, b, float(vectors[WORDS.index(a)] @ vectors[WORDS.index(b)])) for a, b in combinations(WORDS, 2)]
    path = tmp_path_factory.mktemp("board") / "shore.csv"
    pd.DataFrame(rows, columns=["token_a", "token_b", "score"]).to_csv(path, index=False)
    return path


def made_of(dataset: Path, folder: Path) -> list[Path]:
    """Similarities that are a dataset's scores with more and more noise; the last lacks a token."""
    table, rng = read_dataset(dataset), np.random.default_rng(2)
    scores = table["score"] / table["score"].std()
    paths = []
    for name, noise in (("near", 0.1), ("near too", 0.11), ("far", 1.5), (ODD, 20.0)):
        similarities = scores + noise * rng.normal(size=len(table))
        rows = table[["token_a", "token_b"]].assign(similarity=similarities - similarities.min() + 0.01)
        rows = rows[(rows["token_a"] != "port") & (rows["token_b"] != "port")] if name == ODD else rows
        paths.append(folder / f"{name}.csv")
        rows.to_csv(paths[-1], index=False)
    return paths


@pytest.fixture(scope="module")
def models(dataset: Path) -> list[Path]:
    return made_of(dataset, dataset.parent)


class Page(HTMLParser):
    """The tags, and the text between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.said = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.said += data


def run(*arguments: object) -> str:
    found = CliRunner().invoke(cli, ["evaluate", *map(str, arguments)], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.output


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))


def check_ranks(rows: list[dict[str, str]], unit: str) -> None:
    """Two that differ by a hair share ranks 1 and 2, and a group; one that is noise is apart from both."""
    by_name = {row["model"]: row for row in rows}
    near, odd = by_name["near.csv"], by_name[f"{ODD}.csv"]
    assert (near[f"rank_{unit}_from"], near[f"rank_{unit}_to"]) == ("1", "2")
    assert int(odd[f"rank_{unit}_from"]) >= 3
    assert "1" in near[f"group_{unit}"].split()
    assert "1" not in odd[f"group_{unit}"].split()
    lower, value, upper = (float(near[f"rho_w_{unit}{end}"]) for end in ("_lower", "", "_upper"))
    assert lower <= value <= upper


def test_many_models_in_one_page_and_one_table(dataset: Path, models: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "board.html"
    said = run(dataset, *models, "--leaderboard", out, "--spelling", "substring")
    assert f"Written: {out} and {tmp_path / 'board.csv'}" in said
    rows = rows_of(tmp_path / "board.csv")
    assert {row["model"] for row in rows[:2]} == {"near.csv", "near too.csv"}
    check_ranks(rows, "tokens")
    by_name = {row["model"]: row for row in rows}
    near, odd = by_name["near.csv"], by_name[f"{ODD}.csv"]
    assert (near["n_items"], near["n_covered"], near["coverage"]) == ("120", "120", "1.0")
    assert (odd["n_items"], odd["n_covered"], odd["coverage"]) == ("120", "105", "0.875")
    assert near["n_compared"] == odd["n_compared"] == "105"  # over what all cover

    text = out.read_text(encoding="utf-8")
    page = Page(text)
    assert f"{ODD}.csv" in page.said  # escaped, and so shown as it is
    assert "<b>'m" not in text
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert "http" not in text
    assert "prefers-color-scheme: dark" in text
    for part in ("Rank, other tokens", "Not told apart, by other tokens", "only a published zip holds", "chance"):
        assert part in page.said
    assert "a random ranking" in page.said.lower()


@pytest.mark.release
def test_of_a_published_dataset_voters_and_ceilings_are_known(tmp_path: Path) -> None:
    store = open_store(tmp_path / "workspace")
    project_id = create_project(store, "Shore", kind="trial", seed=3)
    add_areas(store, project_id, [AreaTokens("Shore", tuple(WORDS))])
    plan = PlanSettings(n_ballots=2, keep=0.5, appearances=12, task_size=10, n_voters=12, seed=5, protocol="runoff")
    save_plan(store, project_id, plan)
    run_simulated(store, project_id, 1)
    (tmp_path / "shore.zip").write_bytes(publish(store, project_id).data)
    run(tmp_path / "shore.zip", *made_of(tmp_path / "shore.zip", tmp_path), "--leaderboard", tmp_path / "board")
    rows = rows_of(tmp_path / "board.csv")
    for unit in ("votes", "tokens"):
        check_ranks(rows, unit)
    near = {row["model"]: row for row in rows}["near.csv"]
    assert float(near["rho_w_chance"]) < float(near["rho_w_ceiling"])
    assert float(near["rho_w_share"]) > 0.8
    page = Page((tmp_path / "board.html").read_text(encoding="utf-8"))
    for part in ("simulated voters", "Rank, other voters", "Not told apart, by other voters", "A perfect model"):
        assert part in page.said


def test_without_votes_or_enough_tokens_it_says_what_isnt_known(models: list[Path], tmp_path: Path) -> None:
    table = pd.read_csv(models[0]).rename(columns={"similarity": "score"}).head(6)
    table.to_csv(tmp_path / "few.csv", index=False)
    run(tmp_path / "few.csv", models[0], models[2], "--leaderboard", tmp_path / "board")
    page = Page((tmp_path / "board.html").read_text(encoding="utf-8"))
    assert "how sure they are isn't known" in page.said
    assert "at least 15" in page.said
    assert "only a published zip holds" in page.said
    assert "Rank, as measured" in page.said
    assert "rank_votes_from" not in rows_of(tmp_path / "board.csv")[0]
    run(tmp_path / "few.csv", models[0], models[2], "--leaderboard", tmp_path / "again.csv")
    for ending in ("html", "csv"):  # same inputs and seed, same bytes
        assert (tmp_path / f"again.{ending}").read_bytes() == (tmp_path / f"board.{ending}").read_bytes()


def mteb_files(folder: Path, scores: np.ndarray, similarities: np.ndarray, **changes: object) -> Path:
    """What mteb writes of one task, as version 2.26 does."""
    home = folder / "results" / "org__model" / "abc123"
    home.mkdir(parents=True, exist_ok=True)
    rho = float(spearmanr(scores, similarities).statistic)
    figures = {"cosine_spearman": rho, "cosine_pearson": 0.5, "spearman": rho, "main_score": rho}
    told = {"hf_subset": "default", "languages": ["eng-Latn"], **figures, **changes}
    result = {"task_name": "Shore", "mteb_version": "2.26.24", "dataset_revision": "1", "scores": {"test": [told]}}
    (home / "Shore.json").write_text(json.dumps(result))
    (home / "model_meta.json").write_text(json.dumps({"name": "org/model", "revision": "abc123"}))
    held = {"cosine_scores": similarities.tolist(), "manhattan_distances": [], "similarity_scores": None}
    predictions = {"mteb_model_meta": {"model_name": "org/model", "revision": "abc123"}, "default": {"test": held}}
    (folder / "predictions").mkdir(exist_ok=True)
    (folder / "predictions" / "Shore_predictions.json").write_text(json.dumps(predictions))
    return folder


def test_files_of_mteb_get_intervals(dataset: Path, models: list[Path], tmp_path: Path) -> None:
    scores = read_dataset(dataset)["score"].to_numpy(dtype=float)
    similarities = np.abs(scores + np.random.default_rng(4).normal(size=len(scores)))
    mteb_files(tmp_path, scores, similarities)
    arguments = (dataset, models[0], "--mteb", tmp_path / "results", "--mteb", tmp_path / "predictions")
    told = json.loads(run(*arguments, "--leaderboard", tmp_path / "board", "--json"))
    expected = float(spearmanr(scores, similarities).statistic)
    by_name = {row["model"]: row for row in told["models"]}
    assert by_name["org/model"]["rho"]["estimate"] == pytest.approx(expected, abs=1e-9)
    assert by_name["org/model"]["rho_w"]["tokens"]["lower"] < by_name["org/model"]["rho_w"]["tokens"]["upper"]
    assert any("that of its result file" in note for note in told["notes"])
    run(dataset, "--mteb", tmp_path / "predictions", "--leaderboard", tmp_path / "alone")  # one model has intervals too
    (alone,) = rows_of(tmp_path / "alone.csv")
    assert (alone["rank_tokens_from"], alone["rank_tokens_to"]) == ("1", "1")
    assert float(alone["rho_tokens_lower"]) <= float(alone["rho_tokens"]) <= float(alone["rho_tokens_upper"])
    (reported,) = told["result_files"]
    assert (reported["model"], reported["revision"], reported["split"]) == ("org/model", "abc123", "test")
    last = rows_of(tmp_path / "board.csv")[-1]
    assert last["source"] == "result file of mteb 2.26.24: Shore, test, default"
    lower, upper = interval_from_n(expected, len(scores), spearman=True)
    assert (float(last["rho_n_lower"]), float(last["rho_n_upper"])) == pytest.approx((lower, upper))
    assert "From result files of mteb" in (tmp_path / "board.html").read_text(encoding="utf-8")

    mteb_files(tmp_path, scores, similarities[::-1])  # the order of another task, and a result file of this one
    (tmp_path / "predictions" / "Shore_predictions.json").write_text(
        (tmp_path / "predictions" / "Shore_predictions.json").read_text().replace("[]", "[0.0]")
    )
    mteb_files(tmp_path / "other", scores, similarities)
    paths = ("--mteb", tmp_path / "other" / "results", "--mteb", tmp_path / "predictions")
    failed = CliRunner().invoke(cli, ["evaluate", *map(str, (dataset, *paths))])
    assert "aren't those of the task, in its order" in str(failed.exception)


def test_what_is_no_file_of_mteb_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x_predictions.json"
    for content, said in (
        ("{", "can't be read as JSON"),
        ("[]", "holds no object"),
        ('{"a": 1}', "holds no predictions"),
        ('{"default": {"test": {"cosine_scores": [1, NaN]}}}', "one finite number a pair"),
        ('{"default": {"test": {"cosine_scores": ["1"]}}}', "one finite number a pair"),
        ('{"default": {"test": [[1, 2]]}}', "Only predictions of tasks of semantic similarity"),
    ):
        path.write_text(content)
        with pytest.raises(ValueError, match=said):
            read_mteb([path])
    result = tmp_path / "Task.json"
    for content, said in (
        ('{"a": 1}', "neither a result file"),
        ('{"task_name": "T", "scores": {"test": [{"accuracy": 0.5}]}}', "no task of semantic similarity"),
        ('{"task_name": "T", "scores": {"test": [3]}}', "can't be read"),
    ):
        result.write_text(content)
        with pytest.raises(ValueError, match=said):
            read_mteb([result])
    (tmp_path / "nowhere").mkdir()
    with pytest.raises(ValueError, match="holds no file of mteb"):
        read_mteb([tmp_path / "nowhere"])
