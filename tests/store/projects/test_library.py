"""An embedding imported into a project without a job: what is used, what is named, what a fault leaves behind."""

from __future__ import annotations

import os

import pytest

from core.errors import RunoffError
from core.store.projects.embedding_library import import_into, open_library, read_embeddings
from core.store.projects.project_commands import create_project, read_log

TEXT = "cup 1 0\ntea 0 1\npot 1 1\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.vec"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_it_is_used_under_its_name_and_logged(store, file):
    project = create_project(store, "Tea")
    assert import_into(store, project, file) == "small"
    (found,) = read_embeddings(store, project)
    assert (found.name, found.n_words, found.dimensions) == ("small", 3, 2)
    assert open_library(store, found).cosines(["cup"], ["pot"]).tolist() == pytest.approx([0.5**0.5])
    entry = read_log(store, project)[0]
    assert entry["action"] == "import embedding"
    assert not list(store.incoming.iterdir())


def test_the_same_content_is_stored_once_and_another_gets_a_number(store, file, tmp_path):
    project, other = create_project(store, "Tea"), create_project(store, "Coffee")
    import_into(store, project, file, name="model")
    import_into(store, other, file, name="model")
    assert len(list(store.embeddings.iterdir())) == 1
    further = tmp_path / "further.vec"
    further.write_text(TEXT.replace("tea 0", "tea 1"), encoding="utf-8")
    assert import_into(store, project, further, name="model") == "model (2)"


def test_a_name_that_is_not_utf8_is_kept_as_it_can_be_shown(store, file, tmp_path):
    project = create_project(store, "Tea")
    odd = file.rename(tmp_path / os.fsdecode(b"mod\xe8le.vec"))
    assert import_into(store, project, odd) == "mod\ufffdle"
    (found,) = read_embeddings(store, project)
    assert found.source == str(tmp_path / "mod\ufffdle.vec")
    assert open_library(store, found).name == "mod\ufffdle.vec"


@pytest.mark.parametrize("fault", ["file", "project"])
def test_a_fault_leaves_the_workspace_as_it_was(store, file, tmp_path, fault):
    project = create_project(store, "Tea")
    path = tmp_path / "none.vec" if fault == "file" else file
    with pytest.raises(RunoffError):
        import_into(store, "unknown" if fault == "project" else project, path)
    assert read_embeddings(store, project) == []
    assert not list(store.embeddings.iterdir())
    assert not list(store.incoming.iterdir())
