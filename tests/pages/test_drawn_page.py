"""What is pressed on the page of one project is never done to another, though that one may be shown by then."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from campaigns import answer_batch, draw_batch, make_project
from old_workspaces import BEFORE_NAMES, make_old_workspace
from page_words import labelled, press, words
from pages.conftest import _use
from test_archive import state
from test_names import add_twins
from test_voting import Voter

from core.errors import StaleError
from core.jobs import lifecycle
from core.questions.voting_settings import VotingSettings
from core.store.ballots.ballot_rows import read_ballots
from core.store.command import command
from core.store.projects.archive import archive_project, delete_project, list_archived
from core.store.projects.project_commands import create_project, get_project, list_projects
from core.store.votes.intake import accept_upload
from core.store.voting.owner_commands import open_voting, read_voting
from core.voting import process

TOLD = "This page was drawn for “One”; “Two” is shown now. Nothing was done."


def with_votes(store, name):
    """A trial project with an open ballot, a file's votes in it, and its voting page with a voter."""
    project_id = make_project(store, name=name, kind="trial")
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id)), "results.csv")
    code = open_voting(store, project_id, VotingSettings(votes_per_comparison=2, task_size=4, examples=False))
    Voter(store, code).vote()
    return project_id


@pytest.fixture
def both(empty):
    return empty, with_votes(empty, "One"), with_votes(empty, "Two")


def on_collect(store, app, *project_ids):
    for project_id in project_ids:
        ballot = read_ballots(store, project_id)[0]
        app.session_state[f"way-{ballot.id}"] = "page"
        app.session_state[f"checks-box-{ballot.id}"] = True
    return app.run()


def at(app, project_id):
    app.query_params["project"] = project_id
    app.run()
    assert not app.exception
    return app


# Pages before and after a ballot is drawn, with the number of buttons at least that Streamlit takes for those of the
# other project and that change something; what has the project's id in its key is another button anyhow.
# The refusal is one for all pages: every change looks at two of them.
PAGES = [
    ("project", False, 5), ("collect", True, 4),
    *(pytest.param(*page, marks=pytest.mark.release) for page in (
        ("tokens", False, 1), ("plan", False, 0), ("collect", False, 2),
        ("project", True, 4), ("export", True, 0),
    )),
]  # fmt: skip


@pytest.mark.parametrize(("key", "is_drawn", "least"), PAGES)
def test_no_button_does_to_the_project_shown_what_was_meant_for_another(
    empty, visit, monkeypatch, key, is_drawn, least
):
    store = empty
    monkeypatch.setattr(process, "start_server", lambda *_, **__: None)
    make = with_votes if is_drawn else partial(make_project, kind="trial")
    one, two = (make(store, name=name) for name in ("One", "Two"))
    app = visit(key, one)
    if is_drawn:
        on_collect(store, app, one, two)
    buttons = [(button.label, button.key) for button in app.main.button if not button.disabled]
    before, refused = state(store)[0], 0
    for label, name in buttons:
        found = [b for b in at(app, one).main.button if (b.label, b.key) == (label, name)]
        assert found, label
        found[0].click()
        at(app, two)
        assert state(store)[0] == before, label
        refused += TOLD in words(app)
        assert app.session_state["project_id"] == two
    assert refused >= least


def test_no_page_ends_without_saying_that_it_is_drawn():
    """`frame.stop` says so; after a bare `st.stop` the next press would be taken for one on the page before."""
    root = Path(__file__).resolve().parents[2]
    files = [*(root / "ui").rglob("*.py"), *(root / "pages").glob("*.py")]
    assert [file.name for file in files if "st.stop()" in file.read_text("utf-8")] == ["frame.py"]
    assert (root / "ui" / "shared" / "frame.py").read_text("utf-8").count("st.stop()") == 1


def test_it_is_said_and_the_next_press_is_for_what_is_shown(both, visit):
    store, one, two = both
    app = visit("project", one)
    labelled(app.button, "Archive this project").click()
    at(app, two)
    assert TOLD in words(app)
    assert app.title[0].value == "Two"
    press(app, "Archive this project")
    assert [archived.project.id for archived in list_archived(store)] == [two]


def test_a_project_chosen_in_the_same_moment(both, visit):
    """Streamlit sends together what is clicked while a run is under way."""
    store, one, two = both
    app = on_collect(store, visit("collect", one), one, two)
    labelled(app.button, "Pause voting").click()
    app.sidebar.selectbox[0].set_value(two).run()
    assert TOLD in words(app)
    states = [read_voting(store, read_ballots(store, id_)[0].id).state for id_ in (one, two)]
    assert states == ["open", "open"]


def test_a_press_is_told_where_the_page_that_is_shown_then_has_no_such_button(empty, visit):
    """A project that is chosen leads to the page where it is gone on with."""
    one, two = make_project(empty, name="One"), create_project(empty, "Two")
    app = visit("project", one)
    labelled(app.button, "Archive this project").click()
    app.sidebar.selectbox[0].set_value(two).run()
    assert app.title[0].value == "Tokens"
    assert TOLD in words(app)
    assert list_archived(empty) == []


def test_a_project_that_is_gone_leaves_none_in_its_place(both, visit):
    store, one, two = both
    app = visit("project", two)
    labelled(app.text_input, "To delete the project, type its name").set_value("One")
    delete_project(store, two, "Two")  # in another tab
    press(app, "Delete this project")
    assert "This page was drawn for “Two”; “One” is shown now. Nothing was done." in words(app)
    assert [project.id for project in list_projects(store)] == [one]


def test_equal_revisions_are_of_different_projects(empty, visit):
    one, two = create_project(empty, "One"), create_project(empty, "Two")
    assert get_project(empty, one).revision == get_project(empty, two).revision
    app = visit("project", one)
    archive_project(empty, one)
    press(app, "Archive this project")
    assert [project.id for project in list_projects(empty)] == [two]


def test_a_run_that_is_broken_off_leaves_the_page_before(empty, visit, monkeypatch):
    """A page is the new project's once it is there as a whole: until then the old buttons are there to be pressed."""
    from core.views import overview
    from ui.shared import cache

    one, two = create_project(empty, "One"), create_project(empty, "Two")
    app = visit("project", one)
    load, broken = overview.load, []

    def breaks_off(store, project_id):
        if project_id == two and not broken:
            broken.append(project_id)
            raise RuntimeError("as where a press comes between")
        return load(store, project_id)

    breaks_off.__module__, breaks_off.__name__ = load.__module__, load.__name__
    monkeypatch.setattr(cache, "load_overview", cache.by_revision(breaks_off))
    button = labelled(app.button, "Archive this project")
    app.query_params["project"] = two
    app.run()
    assert broken
    button.click().run()
    assert TOLD in words(app)
    assert list_archived(empty) == []


@pytest.mark.release
def test_two_tabs_on_two_projects(both, visit):
    store, one, two = both
    first, second = visit("collect", one), visit("collect", two)
    on_collect(store, first, one, two)
    on_collect(store, second, one, two)
    press(first, "Pause voting")
    press(second, "Close voting")
    states = [read_voting(store, read_ballots(store, id_)[0].id).state for id_ in (one, two)]
    assert states == ["paused", "closed"]
    press(first, "Resume voting")
    first.switch_page("../pages/project.py").run()
    second.switch_page("../pages/project.py").run()
    labelled(second.text_input, "To delete the project, type its name").set_value("Two")
    press(second, "Delete this project")
    assert [project.id for project in list_projects(store)] == [one]
    press(first, "Archive this project")
    assert [archived.project.id for archived in list_archived(store)] == [one]


def test_a_workspace_that_is_only_looked_at_takes_nothing(both):
    store, one, _ = both
    looked_at, before = store.looked_at("Not now."), state(store)[0]
    with pytest.raises(StaleError, match=r"Not now\."), command(looked_at, one, "change project"):
        pass
    with pytest.raises(StaleError):
        delete_project(looked_at, one, "One")
    with pytest.raises(StaleError):
        lifecycle.start(looked_at, "command", {}, project_id=one)
    with looked_at.read() as conn:
        assert conn.in_transaction()
    assert state(store)[0] == before
    assert list((store.folder / "backups").iterdir()) == []


# Old workspaces, in which two projects had one name


@pytest.fixture
def twins(tmp_path, monkeypatch):
    folder = tmp_path / "old"
    make_old_workspace(folder, BEFORE_NAMES[-1])
    add_twins(folder)
    yield from _use(folder, monkeypatch)


def test_projects_that_had_one_name_are_told_apart_and_each_is_deleted_on_its_own_page(twins, visit):
    app = visit("project", "twin")
    assert app.title[0].value == "Words (3)".replace("(", "\\(").replace(")", "\\)")
    assert sorted(app.sidebar.selectbox[0].options) == ["Words", "Words (2)", "Words (3)", "Words (4)"]
    labelled(app.text_input, "To delete the project, type its name").set_value("Words")
    press(app, "Delete this project")
    assert "so nothing was deleted. Type it again." in words(app)
    labelled(app.text_input, "To delete the project, type its name").set_value("Words (3)")
    press(app, "Delete this project")
    assert sorted(project.name for project in list_projects(twins)) == ["Words", "Words (2)", "Words (4)"]
    assert "twin" not in {project.id for project in list_projects(twins)}


# What goes is said


def test_what_deleting_and_withdrawing_take_is_said_before(both, visit):
    store, one, two = both
    told = words(visit("project", one))
    assert "This deletes 43 votes of 7 voters, the last from 20" in told
    app = on_collect(store, visit("collect", one), one, two)
    assert "This takes 42 votes of 6 voters, the last from 2026-01-05 18:00 UTC out of the count." in words(app)
    box = labelled(app.selectbox, "A voter withdraws consent")
    box.select_index(next(n for n, option in enumerate(box.options) if "Anna" in option)).run()
    assert "This takes 1 vote of Anna, the last from 20" in words(app)
    press(app, "Withdraw this voter's votes")
    assert "1 answer marked as withdrawn." in words(app)
    press(app, "Withdraw it")
    assert "This deletes" not in words(visit("project", one))
    assert "This deletes 43 votes of 7 voters" in words(visit("project", two))
