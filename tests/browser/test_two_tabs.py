"""Two projects that had one name, and two tabs: what is pressed in one is done to the project that it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from old_workspaces import BEFORE_NAMES, make_old_workspace
from playwright.sync_api import expect
from test_names import add_twins

from core.store import Store, open_store
from core.store.engine import _open
from core.store.projects.archive import list_archived
from core.store.projects.project_commands import list_projects
from tests.browser.server import Server
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.sqlite, pytest.mark.release]


@pytest.fixture
def old(tmp_path: Path) -> Iterator[tuple[Server, Store]]:
    """The app on a workspace of an earlier version with three projects of one name, and the workspace."""
    app = Server(tmp_path / "workspace")
    make_old_workspace(app.workspace, BEFORE_NAMES[-1])
    add_twins(app.workspace)
    app.start()
    store = open_store(app.workspace)
    yield app, store
    app.kill()
    store.engine.dispose()
    _open.cache_clear()


def delete(tab: Visitor, name: str) -> None:
    tab.unfold("Files, copies, deleting")
    tab.main.get_by_role("textbox", name="To delete the project, type its name").fill(name)
    tab.press("Delete this project")


def test_projects_that_had_one_name_in_two_tabs(old: tuple[Server, Store], visit: Callable[..., Visitor]) -> None:
    app, store = old
    (original,) = (project.id for project in list_projects(store) if project.name == "Words")
    first, second = visit(app), visit(app)
    first.open(f"project?project={original}")
    second.open("project?project=twin")
    expect(first.main.get_by_role("heading", level=1)).to_have_text("Words")
    expect(second.main.get_by_role("heading", level=1)).to_have_text("Words (3)")
    delete(second, "Words (3)")
    assert original in {project.id for project in list_projects(store)}
    assert "twin" not in {project.id for project in list_projects(store)}
    second.open("project?project=third")
    expect(second.main.get_by_role("heading", level=1)).to_have_text("Words (4)")
    first.unfold("Files, copies, deleting")
    first.press("Archive this project")
    assert {archived.project.id for archived in list_archived(store)} == {original, "away"}
    # The other tab puts away what this one shows: nothing else is put away in its place.
    first.open("project?project=third")
    first.unfold("Files, copies, deleting")
    second.unfold("Files, copies, deleting")
    second.press("Archive this project")
    first.press("Archive this project")
    first.says("This page was drawn for “Words (4)”")
    first.says("is shown now. Nothing was done.")
    assert {archived.project.id for archived in list_archived(store)} == {original, "away", "third"}
    assert "second" in {project.id for project in list_projects(store)}
