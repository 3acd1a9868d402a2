"""The embeddings page: choosing a file, what is said of it, what it needs, and the look at an embedding."""

from __future__ import annotations

import time

import numpy as np
import pytest
from page_words import press, words

from core.jobs import lifecycle
from core.store.projects.embedding_library import read_embeddings
from core.store.projects.project_commands import create_project

LINES = "anvil 1 0 0\nbarge 0 1 0\ncandle 0.5 0.5 0\ndune 0 0 1\n"


@pytest.fixture
def type_path(empty, visit):
    """Open the embeddings page of a new project and type a path into it."""
    project_id = create_project(empty, "Words")

    def act(path):
        app = visit("embeddings", project_id)
        box = next(box for box in app.text_input if box.label == "Path of the file")
        box.set_value(str(path)).run()
        assert not app.exception
        return app

    act.project_id = project_id
    return act


def imported(store, project_id: str, app):
    """Press Import and wait for the job; the project's embeddings."""
    press(app, "Import")
    (job,) = lifecycle.project_jobs(store, project_id)
    end = time.monotonic() + 180
    while not lifecycle.read_job(store, job.id).ended and time.monotonic() < end:
        time.sleep(0.05)
    job = lifecycle.read_job(store, job.id)
    assert (job.state, job.error) == ("done", None)
    return read_embeddings(store, project_id)


def test_what_a_file_is_stands_there_before_the_import(empty, type_path, tmp_path):
    path = tmp_path / "words.bin"  # the name lies
    path.write_text(LINES)
    app = type_path(path)
    assert "Recognised: **word2vec text" in words(app)
    assert "3 dimensions" in words(app)
    (embedding,) = imported(empty, type_path.project_id, app)
    assert (embedding.name, embedding.n_words) == ("words", 4)


def test_a_path_that_is_no_file_is_told_with_what_is_near(type_path, tmp_path):
    (tmp_path / "vectors.txt").write_text(LINES)
    assert "That is a folder" in words(type_path(tmp_path))
    assert "Near it: vectors.txt" in words(type_path(tmp_path / "vect"))
    assert "There is no folder" in words(type_path(tmp_path / "nowhere" / "x.bin"))


def test_a_pickle_is_imported_only_when_it_is_trusted(empty, type_path, tmp_path):
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(3)
    vectors.add_vectors(["anvil", "barge"], np.eye(3, dtype=np.float32)[:2])
    path = tmp_path / "model.kv"
    vectors.save(str(path))
    app = type_path(path)
    (button,) = [button for button in app.button if button.label == "Import"]
    assert button.disabled
    app.checkbox[0].check().run()
    (embedding,) = imported(empty, type_path.project_id, app)
    assert embedding.n_words == 2


def test_an_encoding_is_offered_where_the_file_is_not_in_utf8(empty, type_path, tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes("flûte 1 0\nanvil 0 1\n".encode("latin-1"))
    app = type_path(path)
    box = next(box for box in app.selectbox if box.label == "Encoding of the words")
    assert box.value == "latin-1"
    (embedding,) = imported(empty, type_path.project_id, app)
    from core.store.projects.embedding_library import open_library

    assert open_library(empty, embedding).missing(["flûte", "flute"]) == ["flute"]


@pytest.mark.release
def test_an_array_asks_for_its_words(empty, type_path, tmp_path):
    folder = tmp_path / "array"
    folder.mkdir()
    np.save(folder / "matrix.npy", np.eye(3, dtype=np.float32))
    (tmp_path / "words.txt").write_text("anvil\nbarge\ncandle\n")
    app = type_path(folder / "matrix.npy")
    (button,) = [button for button in app.button if button.label == "Import"]
    assert button.disabled
    box = next(box for box in app.text_input if box.label.startswith("File with the words"))
    box.set_value(str(tmp_path / "words.txt")).run()
    (embedding,) = imported(empty, type_path.project_id, app)
    assert (embedding.n_words, embedding.dimensions) == (3, 3)


@pytest.mark.release
def test_similarities_of_another_model_are_an_embedding_too(empty, type_path, tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("token_a,token_b,similarity\nanvil,barge,0.5\nanvil,candle,0.25\n")
    (embedding,) = imported(empty, type_path.project_id, type_path(path))
    assert embedding.info["kind"] == "similarities"


def test_a_look_at_the_demos_embedding(demo, visit):
    app = visit("embeddings", "demo")
    said = words(app)
    assert "722 items within areas" in said
    assert "20,031 of 20,031 vectors can be compared" in said
    box = next(box for box in app.text_input if box.label == "Word")
    box.set_value("marketing").run()
    table = next(frame.value for frame in app.dataframe if "cos" in frame.value.columns)
    assert len(table) == 10
    assert table["cos"].is_monotonic_decreasing
    box = next(box for box in app.text_input if box.label == "Word")
    box.set_value("no such word").run()
    assert not app.exception
    assert "no such word" in words(app)


def test_paths_that_cannot_be_are_told_in_words(type_path):
    assert "no home folder" in words(type_path("~nobody-here/x.bin"))
    assert "hold that character" in words(type_path("a\0b"))


def test_odd_names_of_files_do_no_harm(type_path, tmp_path, monkeypatch):
    import os
    from pathlib import Path

    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    with open(os.fsencode(tmp_path) + b"/\xff*a*.txt", "w") as file:
        file.write(LINES)
    app = type_path(tmp_path)
    assert "That is a folder" in words(app)
    assert "*a*.txt" in words(app)


@pytest.mark.release
def test_an_encoding_can_be_chosen_where_the_fault_lies_far_down(empty, type_path, tmp_path):
    path = tmp_path / "late.txt"
    lines = [f"word{n} 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0" for n in range(60_000)]
    path.write_bytes("\n".join([*lines, "café" + " 1" * 15, ""]).encode("latin-1"))
    app = type_path(path)
    box = next(box for box in app.selectbox if box.label == "Encoding of the words")
    box.set_value("latin-1").run()
    (embedding,) = imported(empty, type_path.project_id, app)
    assert embedding.n_words == 60_001
