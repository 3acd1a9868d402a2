"""Where a project gets another name than somebody typed, as there is one of that name already, the page says so."""

from __future__ import annotations

import pytest
from campaigns import answer_batch, draw_batch, make_project
from page_words import labelled, press, words

from core.commands.projects import CopyProject, ImportProject
from core.store.projects.archive import archive_project, export_project
from core.store.projects.project_commands import create_project, get_project
from core.store.stored_files import put_upload

TOLD = "It is called “Words (2)”, as there is a project “Words” already."


@pytest.fixture
def page(empty, visit):
    """The Project page of a project "Other", beside one that is called "Words"."""
    create_project(empty, "Words")
    project_id = make_project(empty, name="Other")
    return empty, project_id, visit("project", project_id)


def at_name(app, at, name, button):
    [box for box in app.main.text_input if box.label == "Name"][at].set_value(name)
    return press(app, button)


def opened(store, app):
    return get_project(store, app.query_params["project"]).name


def test_a_new_project(page):
    store, _, app = page
    app = at_name(app, 1, " Words ", "Create project")
    assert "The project Words (2) is made." in words(app)
    assert TOLD in words(app)
    assert opened(store, app) == "Words (2)"


def test_a_name_as_it_was_typed_is_not_spoken_of(page):
    _, _, app = page
    app = at_name(app, 1, " Others ", "Create project")
    assert "The project Others is made." in words(app)
    assert "It is called" not in words(app)


def test_a_project_that_is_renamed(page):
    store, project_id, app = page
    app = at_name(app, 0, "Words", "Save")
    assert f"The settings are saved. {TOLD}" in words(app)
    assert get_project(store, project_id).name == "Words (2)"
    app = at_name(app, 0, "Others", "Save")
    assert "The settings are saved." in words(app)
    assert "It is called" not in words(app)


def test_a_copy(page):
    store, _, app = page
    labelled(app.text_input, "Name of a copy").set_value("Words")
    app = press(app, "Make a copy")
    assert f"Words (2) is a copy of Other. {TOLD}" in words(app)
    assert opened(store, app) == "Words (2)"


def test_a_copy_without_ballots(page, visit):
    store, project_id, _ = page
    draw_batch(store, project_id)
    app = visit("tokens", project_id)
    labelled(app.text_input, "Name of the copy").set_value("Words")
    app = press(app, "Make a copy without ballots")
    assert f"Words (2) has the areas and the plan of Other, and no ballots. {TOLD}" in words(app)


def test_a_copy_by_a_job(page):
    store, project_id, _ = page
    command = CopyProject(project_id, "Other", "Words")
    result = command.run(store)
    assert command.summary(result) == f"Words (2) is a copy of Other. {TOLD}"
    assert get_project(store, command.opens(result)).name == "Words (2)"


def test_a_project_that_is_taken_out_again(page, visit):
    store, project_id, _ = page
    away = create_project(store, "Words")
    assert get_project(store, away).name == "Words (2)"
    archive_project(store, away)
    other = create_project(store, "Words (2)")
    app = press(visit("project", project_id), "Restore")
    told = "It is called “Words (2) (2)”, as there is a project “Words (2)” already."
    assert f"Words (2) (2) is back. {told}" in words(app)
    assert get_project(store, other).name == "Words (2)"


def test_a_project_from_a_file(page):
    store, _, app = page
    data = export_project(store, create_project(store, "Thing"))
    command = ImportProject(put_upload(store, data), "a.zip", len(data))
    told = "It is called “Thing (2)”, as there is a project “Thing” already."
    assert command.summary(command.run(store)) == f"The project is imported. {told}"
    box = labelled(app.file_uploader, "Project file (zip)")
    box.set_value([("a.zip", data, "application/zip")]).run()
    app = press(app, "Import this project")
    assert "It is called “Thing (3)”, as there is a project “Thing” already." in words(app)
    assert opened(store, app) == "Thing (3)"


@pytest.mark.release
def test_archived_results(page):
    store, project_id, app = page
    data = answer_batch(draw_batch(store, project_id))
    labelled(app.toggle, "From archived results").set_value(True).run()
    labelled(app.file_uploader, "Result files of the campaign").set_value([("Words.csv", data, "text/csv")]).run()
    app = press(app, "Make the project")
    assert "Words (2) is made:" in words(app)
    assert TOLD in words(app)
    assert opened(store, app) == "Words (2)"
