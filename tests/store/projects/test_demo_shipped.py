"""The demo as it is shipped: what a first start brings, what stays, and when a migration makes it stale."""

from __future__ import annotations

import json
import zipfile

import sqlalchemy as sa

from core.commands.integrity import check_store
from core.store import schema as t
from core.store.engine import HEAD
from core.store.projects import demo
from core.store.projects.archive import delete_project
from core.store.projects.demo import (
    DATA,
    DEMO_ID,
    GLOVE,
    GLOVE_ELSEWHERE,
    MODELS,
    OPEN_ID,
    PROJECTS,
    READY,
    ensure_demo,
)
from core.store.projects.embedding_library import other_embeddings, read_embeddings
from core.store.projects.project_commands import create_project, list_projects, read_log
from core.views import overview


def test_the_shipped_projects_are_of_todays_schema():
    for _, file in PROJECTS:
        with zipfile.ZipFile(DATA / file) as archive:
            made = json.loads(archive.read("manifest.json"))["schema"]
        told = "Make it anew with `python data/build_demo.py --projects`."
        assert made == HEAD, f"data/{file} was made with schema {made}; the newest migration is {HEAD}. {told}"


def test_a_first_start_brings_both_projects_as_they_were_made(store):
    assert ensure_demo(store) == DEMO_ID
    assert list_projects(store)[0].id == DEMO_ID  # which a first visit opens
    assert {project.id for project in list_projects(store)} == {DEMO_ID, OPEN_ID}
    finished, unfinished = (overview.load(store, id_) for id_ in (DEMO_ID, OPEN_ID))
    assert (finished.standings[0].n_planned, finished.standings[0].is_final) == (5, True)
    assert finished.simulated
    assert [one.name for one in read_embeddings(store, DEMO_ID)] == [name for name, _ in MODELS]
    # In other projects GloVe isn't partly circular: their voters don't believe it.
    assert sorted(one.name for one in other_embeddings(store, "none")) == sorted(
        GLOVE_ELSEWHERE if name == GLOVE else name for name, _ in MODELS
    )
    assert unfinished.standings[0].is_open
    assert 0 < unfinished.standings[0].progress.share < 1
    newest = read_log(store, DEMO_ID, 1)[0]
    assert (newest["who"], newest["action"]) == ("runoff", READY)
    assert newest["detail"]["embeddings missing"] == {}
    assert check_store(store).faults == ()

    before = [(project.id, project.revision) for project in list_projects(store)]
    assert ensure_demo(store) is None  # the next start
    assert [(project.id, project.revision) for project in list_projects(store)] == before
    delete_project(store, DEMO_ID, finished_name(store))
    assert ensure_demo(store) is None  # it isn't brought back beside what is there
    assert [project.id for project in list_projects(store)] == [OPEN_ID]


def finished_name(store) -> str:
    return next(project.name for project in list_projects(store) if project.id == DEMO_ID)


def test_a_workspace_with_projects_gets_none(store):
    mine = create_project(store, "My own")
    assert ensure_demo(store) is None
    assert [project.id for project in list_projects(store)] == [mine]


def test_a_demo_of_an_earlier_version_stays_and_half_of_one_is_made_anew(store, monkeypatch):
    put = []
    monkeypatch.setattr(demo, "_put", put.append)
    create_project(store, "Demo: jobs and skills", kind="demo", project_id=DEMO_ID)
    ensure_demo(store)
    assert put == [store]  # a start that was cut short: it was never said to be ready
    with store.write() as conn:
        row = {"project_id": DEMO_ID, "revision": 1, "at": "", "who": "runoff", "action": READY, "detail": {}}
        conn.execute(sa.insert(t.log).values(row))
    assert ensure_demo(store) is None
    assert put == [store]


def test_a_first_start_without_the_files_makes_nothing(store, monkeypatch, tmp_path):
    monkeypatch.setattr(demo, "DATA", tmp_path)
    assert ensure_demo(store) is None
    assert list_projects(store) == []
