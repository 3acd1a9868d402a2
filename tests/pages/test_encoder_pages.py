"""A sentence encoder on the Evaluate page: looked at, its tokens encoded by a job, compared like any other model."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from core import worker
from core.jobs import lifecycle
from core.store.projects.embedding_library import open_library, read_embeddings
from core.store.tokens.areas import areas_of
from core.views.evaluate import evaluate_page

TINY = Path(__file__).resolve().parents[1] / "reference" / "tiny_encoder"


class Letters:
    """A tiny encoder: counts of six letters."""

    def encode(self, tokens: list[str]) -> np.ndarray:
        return np.array([[token.count(letter) for letter in "aeiost"] for token in tokens], dtype=float)


def words(app) -> str:
    kinds = (app.markdown, app.caption, app.info, app.warning, app.error, app.success)
    return " ".join(element.value for kind in kinds for element in kind)


def box(app):
    return next(field for field in app.text_input if field.label == "Folder of the model")


@pytest.mark.release
def test_an_encoder_is_added_on_the_evaluate_page(demo, visit, started) -> None:
    app = visit("evaluate", "demo")
    assert "Nothing is fetched from the internet" in words(app)
    box(app).set_value("/no/such/folder").run()
    assert "is not there" in words(app)
    box(app).set_value(str(TINY)).run()
    assert "computed here" in words(app)
    next(button for button in app.button if button.label == "Encode 80 tokens").click().run()
    assert not app.exception
    (job_id,) = started
    assert "Encoding the tokens with" in words(app)
    lifecycle._children.clear()
    worker.run(job_id)
    app.run()
    assert "tiny_encoder is added: 80 encoded tokens" in words(app).replace("\\", "")
    _, encoder = read_embeddings(demo, "demo")
    assert (encoder.name, encoder.format, encoder.n_words) == ("tiny_encoder", "sentence encoder", 80)
    view = evaluate_page.load(demo, "demo", 2.0, "relatedness")
    assert view.overall["coverage"].tolist()[1] == 1
    assert view.overall["covered"].tolist() == [722, 760]
    assert set(evaluate_page.contrast(view, 1)["pairs"]) == {
        "Sales & marketing",
        "Workforce",
        "Work & welfare",
        "Computing",
    }
    for page in ("embeddings", "evaluate"):
        app = visit(page, "demo")
        assert not app.exception
        shown = [table.value.to_string() for table in (*app.dataframe, *app.table)]
        assert any("tiny_encoder" in text.replace("\\", "") for text in shown), page


def run(demo, path: Path, name: str) -> lifecycle.Job:
    """An encoding job from its start to its end, in this process."""
    job_id = lifecycle.start(demo, "encode_tokens", {"path": str(path), "name": name}, project_id="demo", once=True)
    lifecycle._children.clear()
    worker.run(job_id)
    return lifecycle.read_job(demo, job_id)


@pytest.mark.release
def test_encoding_again_takes_the_place_of_the_old_vectors(demo, started, monkeypatch) -> None:
    first = run(demo, TINY, "Tiny")
    assert (first.state, first.error) == ("done", None)
    with demo.read() as conn:
        areas = areas_of(conn, "demo")
    shorter = [type(area)(area.name, area.tokens[1:]) for area in areas]
    monkeypatch.setattr("core.worker.areas_of", lambda conn, project_id: shorter)
    again = run(demo, TINY, "Tiny")
    assert again.result["n_words"] == 76
    assert [(e.name, e.n_words) for e in read_embeddings(demo, "demo")][1:] == [("Tiny", 76)]


def test_any_encoder_of_the_protocol_will_do(demo, started, monkeypatch) -> None:
    monkeypatch.setattr("core.worker.open_encoder", lambda found, trusted: Letters())
    job = run(demo, TINY, "Letters")
    assert job.state == "done"
    *_, imported = read_embeddings(demo, "demo")
    opened = open_library(demo, imported)
    np.testing.assert_array_equal(opened.vectors(["sales"])[0], [1, 1, 0, 0, 2, 0])


def test_a_folder_that_went_away_fails_in_words(demo, started, tmp_path) -> None:
    gone = shutil.copytree(TINY, tmp_path / "gone")
    job_id = lifecycle.start(demo, "encode_tokens", {"path": str(gone), "name": "Gone"}, project_id="demo")
    shutil.rmtree(gone)
    lifecycle._children.clear()
    worker.run(job_id)
    job = lifecycle.read_job(demo, job_id)
    assert job.state == "failed"
    assert "is not there" in job.error
    assert len(read_embeddings(demo, "demo")) == 1
    assert not list(demo.incoming.iterdir())


def test_the_same_work_is_started_once(demo, started) -> None:
    params = {"path": str(TINY), "name": "Tiny"}
    ids = {lifecycle.start(demo, "encode_tokens", params, project_id="demo", once=True) for _ in range(3)}
    assert len(ids) == len(started) == 1
    other = lifecycle.start(demo, "encode_tokens", {**params, "name": "Other"}, project_id="demo", once=True)
    assert other not in ids
    assert lifecycle.same_job(demo, "demo", "encode_tokens", params).id in ids
    assert lifecycle.same_job(demo, "other", "encode_tokens", params) is None
