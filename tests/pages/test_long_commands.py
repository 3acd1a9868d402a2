"""Commands over many votes are jobs: as at once, one for all tabs, told at their end, stopped without a trace."""

from __future__ import annotations

import json
import shutil

import pytest
from page_words import labelled, press, words
from pages.conftest import _use
from test_evaluate_jobs import finish

from core import jobs
from core.errors import InputError, StaleError
from core.store import open_store
from core.store.archive import export_project
from core.store.ballots import read_ballots, read_comparisons
from core.store.closing import close_ballot
from core.store.command import command
from core.store.drawing import discard_ballot, draw_next_ballot
from core.store.engine import _open
from core.store.exclusions import exclude_voters, readmit_voters
from core.store.policies import read_policy
from core.store.projects import get_project, list_projects, read_log
from core.store.scores import read_dataset
from core.store.simulated import simulate_votes
from core.store.voting import read_voting
from core.views import long_commands, voters
from core.views.command_list import COMMANDS
from core.voting_settings import VotingSettings
from ui import project_files


@pytest.fixture
def many(demo, monkeypatch):
    """The demo, everything of which counts as many."""
    monkeypatch.setattr(long_commands, "MANY", 1)
    return demo


def last(store):
    return read_ballots(store, "demo")[-1]


@pytest.fixture(scope="module")
def closed(demo_folder, tmp_path_factory):
    """A workspace of the demo with its open ballot closed, made once; tests work on copies."""
    folder = shutil.copytree(demo_folder, tmp_path_factory.mktemp("closed") / "workspace")
    store = open_store(folder)
    simulate_votes(store, "demo")
    close_ballot(store, "demo")
    store.engine.dispose()
    _open.cache_clear()
    return folder


@pytest.fixture
def between(closed, tmp_path, monkeypatch):
    """The demo with its open ballot closed, so that the next can be drawn; everything counts as many."""
    monkeypatch.setattr(long_commands, "MANY", 1)
    yield from _use(shutil.copytree(closed, tmp_path / "workspace"), monkeypatch)


def buttons(app) -> list[str]:
    return [button.label for button in app.button]


@pytest.mark.release
def test_a_ballot_drawn_by_a_job_is_the_one_drawn_at_once(between, visit, started):
    number = last(between).number + 1
    app = press(visit("collect", "demo"), f"Draw ballot {number}")
    assert "Drawing the ballot in the background" in words(app)
    assert "Drawing the ballot began in the background" in "".join(toast.value for toast in app.toast)
    assert last(between).number == number - 1
    assert "Drawing the ballot in the background" in words(visit("scores", "demo"))  # on every page, in every tab
    finish(*started)
    app.run()
    assert not app.exception
    assert f"Ballot {number} is drawn. Next: give it to voters." in words(app)
    assert "in the background" not in words(app)
    app.run()
    assert "is drawn. Next" not in words(app)  # told once
    drawn = read_comparisons(between, "demo", number)
    discard_ballot(between, "demo")
    assert draw_next_ballot(between, "demo") == number
    again = read_comparisons(between, "demo", number)
    assert again.drop(columns="question_id").equals(drawn.drop(columns="question_id"))


@pytest.mark.release
def test_another_tab_is_told_the_end_too(between, visit, started):
    press(visit("collect", "demo"), f"Draw ballot {last(between).number + 1}")
    app = visit("scores", "demo")
    finish(*started)
    app.run()
    assert f"Ballot {last(between).number} is drawn. Next: give it to voters." in words(app)


def test_a_second_press_is_the_same_job(between, visit, started):
    number = last(between).number + 1
    one, two = visit("collect", "demo"), visit("collect", "demo")
    press(one, f"Draw ballot {number}")
    press(two, f"Draw ballot {number}")  # its page is older
    assert len(started) == 1
    assert labelled(visit("collect", "demo").button, f"Draw ballot {number}").disabled


def test_what_changed_in_the_meantime_is_told(between, visit, started):
    app = press(visit("collect", "demo"), f"Draw ballot {last(between).number + 1}")
    with command(between, "demo", "something else"):
        pass
    n = last(between).number
    finish(*started)
    assert jobs.read_job(between, *started).state == "failed"
    assert last(between).number == n
    app.run()
    assert "Drawing the ballot ended early. The project was changed in the meantime" in words(app)
    assert f"Draw ballot {n + 1}" in buttons(app)


def test_stopped_it_changed_nothing(between, visit, started):
    before = get_project(between, "demo")
    app = press(visit("collect", "demo"), f"Draw ballot {last(between).number + 1}")
    jobs._children.clear()
    press(app, "Stop")
    assert jobs.read_job(between, *started).state == "cancelled"
    assert "Drawing the ballot was stopped; nothing was changed." in words(app)
    assert get_project(between, "demo") == before


@pytest.mark.release
def test_simulated_voters_and_the_draw_taken_back(between, visit, started):
    number = draw_next_ballot(between, "demo")
    app = press(visit("collect", "demo"), "Discard this draw")
    assert "Discarding the draw in the background" in words(app)
    finish(started[0])
    app.run()
    assert f"Ballot {number} is discarded." in words(app)
    draw_next_ballot(between, "demo")
    app = press(visit("collect", "demo"), "Let simulated voters answer this ballot")
    finish(started[1])
    app.run()
    assert "Simulated voters gave" in words(app)


@pytest.mark.release
def test_a_ballot_is_opened_again(between, visit, started):
    number = last(between).number
    app = press(visit("collect", "demo"), f"Reopen ballot {number}")
    assert not last(between).is_open
    finish(*started)
    assert last(between).is_open
    app.run()
    assert f"Ballot {number} is open again." in words(app)


@pytest.mark.release
def test_voters_are_left_out_and_come_back_by_jobs(many, visit, started):
    view = voters.load(many, "demo")
    chosen = sorted(view.quality.table["voter_id"].tolist())[:2]
    before = read_dataset(many, "demo")
    app = visit("voters", "demo")
    labelled(app.multiselect, "Voters to leave out").set_value(chosen).run()
    labelled(app.text_input, "Reason").set_value("They clicked.").run()
    press(app, "Leave 2 voters out")
    assert "Leaving voters out in the background" in words(app)
    finish(started[0])
    app.run()
    assert "2 voters are left out:" in words(app)
    assert "scored anew." in words(app)
    without = read_dataset(many, "demo")
    assert not without.equals(before)
    assert read_log(many, "demo", 1)[0]["detail"]["reason"] == "They clicked."
    labelled(app.multiselect, "Voters to readmit").set_value(chosen).run()
    press(app, "Let them count again")
    finish(started[1])
    app.run()
    assert "2 voters are readmitted:" in words(app)
    assert read_dataset(many, "demo").equals(before)
    exclude_voters(many, "demo", chosen, "They clicked.")
    assert read_dataset(many, "demo").equals(without)
    readmit_voters(many, "demo", chosen)


@pytest.mark.release
def test_what_counts_is_changed_by_a_job(many, visit, started):
    app = visit("collect", "demo")
    labelled(app.radio, "Of a voter's several votes on one comparison").set_value("latest")
    press(app, "Save")
    assert "Counting answers anew in the background" in words(app)
    finish(*started)
    app.run()
    assert "Saved: " in words(app)
    assert read_policy(many, "demo").repeats == "latest"


def through_json(store, name: str, arguments: dict):
    """What a command tells by way of the table of jobs."""
    asked = json.loads(json.dumps(long_commands.params_of(name, arguments, get_project(store, "demo").revision)))
    found = long_commands.carry_out(store, "demo", asked["command"], asked["arguments"], asked["revision"])
    return COMMANDS[name].said(json.loads(json.dumps(found)), asked["arguments"])


def test_every_command_is_checked_against_what_its_visitor_saw(between):
    """But those on uploads, which are read against the store as it is, and those of the workspace."""
    revision = get_project(between, "demo").revision
    with command(between, "demo", "something else"):
        pass
    arguments = {
        "draw_ballot": {"area_id": None},
        "draw_waiting": {},
        "discard_ballot": {"area_id": None, "code": "b1-0", "number": 1},
        "reopen_ballot": {"area_id": None, "code": "b1-0", "number": 1},
        "simulate_votes": {"area_id": None, "code": "b1-0"},
        "exclude_voters": {"voter_ids": [1], "reason": "x", "detail": {}},
        "readmit_voters": {"voter_ids": [1]},
        "withdraw_voters": {"sitting_ids": [1]},
        "set_policy": {"rejected": "leave out", "repeats": "latest"},
        "review": {"decisions": [[1, "approve", ""]]},
        "release_version": {"version": "1.0", "note": ""},
        "open_voting": {"area_id": None, "code": "b1-0", "settings": VotingSettings().stored()},
    }
    uploads, of_workspace = {"take_uploads", "withdraw_upload"}, {"copy_project", "delete_project", "import_project"}
    assert set(arguments) | uploads | of_workspace == set(COMMANDS)
    for name, of in arguments.items():
        with pytest.raises(StaleError):
            long_commands.carry_out(between, "demo", name, of, revision)


def test_commands_through_the_table_of_jobs_say_what_they_did(between):
    of = {"area_id": None, "code": last(between).code, "number": last(between).number}
    assert through_json(between, "reopen_ballot", of) == f"Ballot {of['number']} is open again."
    assert through_json(between, "set_policy", {"rejected": "leave out", "repeats": "latest"}).startswith("Saved: ")
    assert read_policy(between, "demo").repeats == "latest"
    close_ballot(between, "demo")
    assert through_json(between, "draw_waiting", {}).startswith("1 ballot")
    drawn = {"area_id": None, "code": last(between).code, "number": last(between).number}
    assert through_json(between, "simulate_votes", drawn).startswith("Simulated voters gave")
    assert last(between).number == of["number"] + 1


def test_a_draw_is_discarded_through_the_table_of_jobs(between):
    number = draw_next_ballot(between, "demo")
    of = {"area_id": None, "code": last(between).code, "number": number}
    assert through_json(between, "discard_ballot", of) == f"Ballot {number} is discarded."
    assert last(between).number == number - 1


def form(app, label: str, value: str, button: str):
    labelled(app.text_input, label).set_value(value)
    return press(app, button)


@pytest.mark.release
def test_a_project_is_copied_opened_and_deleted_by_jobs(many, visit, started):
    app = form(visit("project", "demo"), "Name of a copy", "Another", "Make a copy")
    assert "Copying the project in the background" in words(app)
    other = visit("scores", "demo")
    finish(started[0])
    app.run()
    assert not app.exception
    copy = app.session_state["project_id"]
    assert copy != "demo"
    assert app.query_params["project"] in (copy, [copy])
    assert "Another is a copy of" in words(app)
    other.run()
    assert other.session_state["project_id"] == "demo"  # whoever looks on stays where they are
    assert "Another is a copy of" in words(other)
    assert read_dataset(many, copy).equals(read_dataset(many, "demo"))
    app = form(visit("project", copy), "To delete the project, type its name", "another", "Delete this project")
    assert "so nothing was deleted. Type it again." in words(app)
    assert len(started) == 1
    app = form(app, "To delete the project, type its name", "Another", "Delete this project")
    assert "Deleting the project in the background" in words(app)
    finish(started[1])
    app.run()
    assert not app.exception
    assert "Another is deleted." in words(app)
    assert [one.id for one in list_projects(many)] == ["demo"]
    assert "in the background" not in words(visit("project", "demo"))


def test_a_large_project_file_is_imported_by_a_job(many, visit, started, monkeypatch):
    monkeypatch.setattr(project_files, "LARGE", 1)
    data = export_project(many, "demo")
    app = visit("project", "demo")
    press(app, "New project")
    labelled(app.file_uploader, "Project file (zip)").set_value([("demo.zip", data, "application/zip")]).run()
    app = press(app, "Import this project")
    assert "Importing the project in the background" in words(app)
    finish(started[0])
    app.run()
    assert not app.exception
    assert "The project is imported." in words(app)
    copy = app.session_state["project_id"]
    assert copy != "demo"
    assert read_dataset(many, copy).equals(read_dataset(many, "demo"))
    app = visit("project", "demo")
    press(app, "New project")
    labelled(app.file_uploader, "Project file (zip)").set_value([("odd.zip", b"no zip", "application/zip")]).run()
    app = press(app, "Import this project")
    finish(started[1])
    app.run()
    assert "Importing the project ended early." in words(app)
    assert len(list_projects(many)) == 2


def test_the_voting_page_is_opened_by_a_job(between, visit, started):
    number = draw_next_ballot(between, "demo")
    ballot = last(between)
    app = visit("collect", "demo")
    app.session_state[f"way-{ballot.id}"] = "page"
    app.run()
    press(app, "Save and open voting")
    assert "Opening the voting page in the background" in words(app)
    finish(*started)
    app.run()
    assert "Voting is open." in words(app)
    found = read_voting(between, ballot.id)
    assert found.state == "open"
    assert number == ballot.number


def test_settings_that_make_no_sense_are_refused_not_changed(between):
    draw_next_ballot(between, "demo")
    settings = VotingSettings().stored() | {"return_url": "javascript:alert(1)"}
    arguments = {"area_id": None, "code": last(between).code, "settings": settings}
    revision = get_project(between, "demo").revision
    with pytest.raises(InputError):
        long_commands.carry_out(between, "demo", "open_voting", arguments, revision)
    assert read_voting(between, last(between).id) is None
