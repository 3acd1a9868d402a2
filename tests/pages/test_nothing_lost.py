"""Edits that aren't saved, files that wait, areas that were deleted: nothing is lost without a word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from campaigns import AREAS, PLAN, make_project
from page_words import labelled, press, words
from streamlit.testing.v1 import AppTest

from core import worker
from core.store import Store
from core.store.projects.plans import read_plan
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import change_area, read_areas

BACK = "from before are here again, and not saved yet."
Visit = Callable[..., AppTest]


def elsewhere_and_back(app: AppTest, page: str) -> AppTest:
    """Look at two other pages, and come back."""
    for other in ("project", "help", page):
        app.switch_page(f"../pages/{other}.py").run()
        assert not app.exception
    return app


def test_changes_of_the_plan_are_there_again_until_saved_or_discarded(empty: Store, visit: Visit) -> None:
    project_id = make_project(empty)
    app = visit("plan", project_id)
    assert BACK not in words(app)
    labelled(app.number_input, "Comparisons per task").set_value(5).run()
    labelled(app.text_input, "Appearances, M").set_value("4, 4, 6").run()
    labelled(app.text_input, "Question").set_value("Which pair?").run()
    assert BACK not in words(app)  # they never went
    elsewhere_and_back(app, "plan")
    assert f"Your changes {BACK}" in words(app)
    assert labelled(app.number_input, "Comparisons per task").value == 5
    assert labelled(app.text_input, "Appearances, M").value == "4, 4, 6"
    assert labelled(app.text_input, "Question").value == "Which pair?"
    labelled(app.number_input, "Comparisons per task").set_value(6).run()  # edits go on
    elsewhere_and_back(app, "plan")
    assert labelled(app.number_input, "Comparisons per task").value == 6
    press(app, "Discard")
    assert BACK not in words(app)
    assert labelled(app.number_input, "Comparisons per task").value == PLAN.task_size == 3
    assert labelled(app.text_input, "Appearances, M").value == "4"
    assert labelled(app.text_input, "Question").value == ""
    elsewhere_and_back(app, "plan")
    assert BACK not in words(app)
    saved = read_plan(empty, project_id)
    assert saved is not None
    assert saved.task_size == 3


def test_a_plan_that_is_saved_leaves_no_draft(empty: Store, visit: Visit) -> None:
    project_id = make_project(empty)
    app = visit("plan", project_id)
    labelled(app.number_input, "Comparisons per task").set_value(5).run()
    elsewhere_and_back(app, "plan")
    press(app, "Save this plan")
    assert BACK not in words(app)
    elsewhere_and_back(app, "plan")
    assert BACK not in words(app)
    assert labelled(app.number_input, "Comparisons per task").value == 5
    saved = read_plan(empty, project_id)
    assert saved is not None
    assert saved.task_size == 5


def test_a_first_plan_has_a_draft_too(empty: Store, visit: Visit) -> None:
    project_id = make_project(empty, plan=None)
    app = visit("plan", project_id)
    before = labelled(app.number_input, "Voters").value
    labelled(app.number_input, "Voters").set_value(before + 7).run()
    elsewhere_and_back(app, "plan")
    assert BACK in words(app)
    assert labelled(app.number_input, "Voters").value == before + 7
    press(app, "Save this plan")
    assert BACK not in words(app)


def tokens_of(app: AppTest) -> Any:
    return next(box for box in app.text_area if box.label.startswith("Tokens, one per line ("))


def test_changes_of_an_area_are_there_again_until_saved_or_discarded(empty: Store, visit: Visit) -> None:
    project_id = make_project(empty)
    app = visit("tokens", project_id)
    tokens_of(app).set_value("cat\ndog\nowl").run()
    elsewhere_and_back(app, "tokens")
    assert f"Your changes to this area {BACK}" in words(app)
    assert tokens_of(app).value == "cat\ndog\nowl"
    # Another area has its own text, and the first its draft when it is looked at again.
    labelled(app.selectbox, "Area").select("Tools").run()
    assert BACK not in words(app)
    assert tokens_of(app).value == "\n".join(AREAS[1].tokens)
    labelled(app.selectbox, "Area").select("Animals").run()
    assert tokens_of(app).value == "cat\ndog\nowl"
    press(app, "Discard")
    assert tokens_of(app).value == "\n".join(AREAS[0].tokens)
    tokens_of(app).set_value("cat\ndog\nelk").run()
    elsewhere_and_back(app, "tokens")
    press(app, "Save changes")
    assert BACK not in words(app)
    assert read_areas(empty, project_id)[0].tokens == ("cat", "dog", "elk")


def test_a_draft_of_what_was_changed_elsewhere_is_not_put_over_it(empty: Store, visit: Visit) -> None:
    project_id = make_project(empty)
    app = visit("tokens", project_id)
    tokens_of(app).set_value("cat\ndog\nowl").run()
    app.switch_page("../pages/project.py").run()
    change_area(empty, project_id, AREAS[0], ("cat", "bee"))
    app.switch_page("../pages/tokens.py").run()
    assert tokens_of(app).value == "cat\nbee"
    assert "were of an earlier state, and were not put over what others saved since:" in words(app)
    assert app.code[0].value == "cat\ndog\nowl"
    press(app, "Discard them")
    assert not app.code
    elsewhere_and_back(app, "tokens")
    assert not app.code
    assert tokens_of(app).value == "cat\nbee"


def test_what_is_saved_in_another_form_than_it_was_typed_leaves_no_draft(empty: Store, visit: Visit) -> None:
    project_id = make_project(empty)
    app = visit("tokens", project_id)
    tokens_of(app).set_value(" cat \ndog\ndog\n\nowl").run()
    press(app, "Save changes")
    assert read_areas(empty, project_id)[0].tokens == ("cat", "dog", "owl")
    elsewhere_and_back(app, "tokens")
    assert "from before" not in words(app)


def test_a_new_area_that_is_pasted_and_not_added_is_there_again(empty: Store, visit: Visit) -> None:
    project_id = make_project(empty)
    app = visit("tokens", project_id)
    labelled(app.text_input, "Area").set_value("Sea").run()
    labelled(app.text_area, "Tokens, one per line").set_value("ship\nboat").run()
    elsewhere_and_back(app, "tokens")
    assert "A new area from before is here again, and not saved yet." in words(app)
    assert labelled(app.text_input, "Area").value == "Sea"
    assert labelled(app.text_area, "Tokens, one per line").value == "ship\nboat"
    press(app, "Discard")
    assert labelled(app.text_input, "Area").value == ""
    labelled(app.text_input, "Area").set_value("Sea").run()
    labelled(app.text_area, "Tokens, one per line").set_value("ship\nboat").run()
    press(app, "Add area")
    assert read_areas(empty, project_id)[-1].tokens == ("ship", "boat")
    assert labelled(app.text_input, "Area").value == ""
    elsewhere_and_back(app, "tokens")
    assert "here again" not in words(app)


def test_an_area_is_deleted_when_it_was_asked_and_comes_back(empty: Store, visit: Visit) -> None:
    project_id = make_project(empty)
    app = visit("tokens", project_id)
    assert "Delete Animals with its 6 tokens and 15 pairs?" in words(app).replace("**", "")
    assert "Delete area" not in [button.label for button in app.button]  # it opens the question
    press(app, "Yes, delete it")
    assert [area.name for area in read_areas(empty, project_id)] == ["Tools"]
    elsewhere_and_back(app, "tokens")
    assert "The area Animals was deleted." in words(app)
    press(app, "Bring it back")
    assert read_areas(empty, project_id) == list(AREAS)
    assert "was deleted." not in words(app)


LINES = "anvil 1 0 0\nbarge 0 1 0\ncandle 0.5 0.5 0\ndune 0 0 1\n"


def embeddings_page(store: Store, visit: Visit, path: Path) -> AppTest:
    """The page of a new project, where an import of `path` has begun and waits."""
    path.write_text(LINES)
    app = visit("embeddings", create_project(store, "Words"))
    labelled(app.text_input, "Path of the file").set_value(str(path)).run()
    press(app, "Import")
    return app


def end_import(app: AppTest, started: list[str]) -> AppTest:
    worker.run(started[0])
    app.run()
    assert not app.exception
    assert "one is imported: 4 words." in words(app)
    return app


def test_files_chosen_while_an_import_runs_are_still_there_when_it_ends(
    empty: Store, visit: Visit, tmp_path: Path, started: list[str]
) -> None:
    app = embeddings_page(empty, visit, tmp_path / "one.txt")
    assert labelled(app.text_input, "Path of the file").value == ""  # that one is on its way
    second = tmp_path / "second.txt"
    second.write_text(LINES)
    labelled(app.text_input, "Path of the file").set_value(str(second)).run()
    labelled(app.file_uploader, "Embedding file").set_value([("third.txt", LINES.encode(), "text/plain")]).run()
    end_import(app, started)
    assert labelled(app.text_input, "Path of the file").value == str(second)
    names = [box.value for box in app.text_input if box.label == "Name in this project"]
    assert names == ["second", "third"]
    # One of them is imported, and the other stays.
    next(button for button in app.button if button.label == "Import").click().run()
    assert len(started) == 2
    assert [box.value for box in app.text_input if box.label == "Name in this project"] == ["third"]


def test_an_upload_that_is_not_imported_outlives_a_visit_of_other_pages(
    empty: Store, visit: Visit, tmp_path: Path, started: list[str]
) -> None:
    app = embeddings_page(empty, visit, tmp_path / "one.txt")
    labelled(app.file_uploader, "Embedding file").set_value([("third.txt", LINES.encode(), "text/plain")]).run()
    elsewhere_and_back(app, "embeddings")
    assert "third.txt was chosen before, and isn't imported yet." in words(app)
    end_import(app, started)
    assert "third.txt was chosen before" in words(app)
    press(app, "Discard")
    assert "was chosen before" not in words(app)
    assert not [box for box in app.text_input if box.label == "Name in this project"]
    labelled(app.file_uploader, "Embedding file").set_value([("third.txt", LINES.encode(), "text/plain")]).run()
    elsewhere_and_back(app, "embeddings")
    press(app, "Import")
    assert len(started) == 2
    assert "was chosen before" not in words(app)
