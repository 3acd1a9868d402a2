"""The comparison of real models: its Spearman is gensim's, and it says so where it isn't; no model is fetched here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from bench import model_sources, models
from core.embeddings import Embedding
from core.evaluation import given, tokens_of


def random_model(name: str, _cache: Path, tokens: list[str], *, every: int = 1) -> Embedding:
    some = list(tokens)[::every]
    return given(some, np.random.default_rng(len(name)).normal(size=(len(some), 8)), name=name)


def absent(name: str, _cache: Path, _tokens: list[str]) -> Embedding:
    raise model_sources.AbsentError("npm isn't installed.")


@pytest.mark.parametrize("name", ["WordSim-353", "SimLex-999"])
def test_spearman_is_gensims(name: str) -> None:
    table = models.DATASETS[name]()
    model = random_model("some", Path(), tokens_of(table))
    ours = models.check_against_gensim(table, model)
    assert ours == pytest.approx(models.gensims_spearman(table, model), abs=1e-6)


def test_another_spearman_ends_the_bench(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "gensims_spearman", lambda table, model: 0.5)
    table = pd.DataFrame({"token_a": list("abc"), "token_b": list("bca"), "score": [1.0, 2.0, 3.0]})
    with pytest.raises(SystemExit, match=r"0\.5 by gensim"):
        models.check_against_gensim(table, random_model("some", Path(), list("abc")))


def test_the_table_says_what_was_compared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sources = {
        "first": random_model,
        "second": random_model,
        "a few": lambda name, cache, tokens: random_model(name, cache, tokens, every=3),
        "not there": absent,
    }
    monkeypatch.setattr(models, "SOURCES", sources)
    arguments = ["--cache", str(tmp_path / "cache"), "--dataset", "WordSim-353"]
    result = CliRunner().invoke(models.main, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert "Left out: not there. npm isn't installed." in result.output
    assert "**WordSim-353**, 353 items, by cos; figures over the 353 that all cover" in result.stdout
    rows = [line.split("|")[1].strip() for line in result.stdout.splitlines() if line.startswith("| ")]
    assert rows[0] == "model"
    assert set(rows[1:-1]) == {"first", "second", "longest common substring", "Jaro–Winkler", "character n-grams"}
    assert rows[-1] == "a random ranking"
    assert "a few covers" in result.stdout
    assert "Not told apart in ρ by 437 tokens: {" in result.stdout


def test_nothing_to_compare_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(models, "SOURCES", {"not there": absent})
    result = CliRunner().invoke(models.main, ["--cache", str(tmp_path), "--dataset", "SimLex-999"])
    assert result.exit_code == 1
    assert "No model can be had" in str(result.exception) + result.output
