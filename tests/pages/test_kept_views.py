"""What pages keep between runs: a value is found again by what it was made of alone, and never for anything else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
import streamlit as st

from core.store import Store
from core.store.projects.project_commands import Project
from ui.shared import cache

STORE = Store(Path("here"), sa.create_engine("sqlite://"))
PROJECT = Project("one", "One", "real", "relatedness", 1, revision=4, created_at="2026-12-01")


def view(store: Store, project_id: str, area_id: int | None = None, word: str = "") -> list[object]:
    return [store.folder, project_id, area_id, word]


@pytest.fixture
def load():
    st.cache_resource.clear()
    yield cache.by_revision(view)
    st.cache_resource.clear()


def test_a_second_tab_gets_the_same_value(load):
    first = load(STORE, PROJECT, 2)
    assert load(STORE, replace(PROJECT, name="Another name"), area_id=2, word="") is first


def test_a_command_a_vote_another_project_workspace_or_argument_has_a_value_of_its_own(load):
    asked = [
        (STORE, PROJECT, None, ""),
        (STORE, PROJECT, 2, ""),
        (STORE, PROJECT, None, "2"),
        (STORE, replace(PROJECT, revision=5), None, ""),
        (STORE, replace(PROJECT, pulse=2), None, ""),
        (STORE, replace(PROJECT, id="two"), None, ""),
        (replace(STORE, folder=Path("there")), PROJECT, None, ""),
    ]
    values = [load(*each) for each in asked]
    assert len({id(value) for value in values}) == len(asked)
    for (store, project, *arguments), value in zip(asked, values, strict=True):
        assert value == [store.folder, project.id, *arguments]
        assert load(store, project, *arguments) is value
