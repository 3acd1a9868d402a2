"""Commands over many votes are jobs: as at once, one for all tabs, told at their end, stopped without a trace."""

from __future__ import annotations

import shutil

import pytest
import sqlalchemy as sa
from page_words import labelled, press, words
from pages.conftest import _use
from test_evaluate_jobs import finish

from core.commands import ballots, executor, judging, projects, votes
from core.commands import votes as of_voters
from core.errors import InputError, StaleError
from core.jobs import lifecycle
from core.questions import default_settings
from core.questions.voting_settings import VotingSettings
from core.store import open_store
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots, read_comparisons
from core.store.ballots.closing import close_ballot
from core.store.ballots.drawing import discard_ballot, draw_next_ballot
from core.store.ballots.simulated import simulate_votes
from core.store.command import command
from core.store.engine import _open
from core.store.projects.archive import export_project
from core.store.projects.project_commands import get_project, list_projects, read_log
from core.store.scores.project_dataset import read_project_dataset
from core.store.votes.exclusions import exclude_voters, readmit_voters
from core.store.votes.judgements import read_policy
from core.store.voting.owner_commands import read_voting
from core.views import voters
from core.votes.payment import Review


@pytest.fixture
def many(demo, all_commands_are_long):
    """The demo, everything of which counts as many."""
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
def between(closed, tmp_path, monkeypatch, all_commands_are_long):
    """The demo with its open ballot closed, so that the next can be drawn; everything counts as many."""
    yield from _use(shutil.copytree(closed, tmp_path / "workspace"), monkeypatch)


def buttons(app) -> list[str]:
    return [button.label for button in app.button]


@pytest.mark.release
def test_a_ballot_drawn_by_a_job_is_the_one_drawn_at_once(between, visit, started):
    number = last(between).number + 1
    app = press(visit("collect", "demo"), f"Draw ballot {number}")
    assert "Drawing the ballot in the background" in words(app)
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
    assert lifecycle.read_job(between, *started).state == "failed"
    assert last(between).number == n
    app.run()
    assert "Drawing the ballot ended early. The project was changed in the meantime" in words(app)
    assert f"Draw ballot {n + 1}" in buttons(app)


def test_stopped_it_changed_nothing(between, visit, started):
    before = get_project(between, "demo")
    app = press(visit("collect", "demo"), f"Draw ballot {last(between).number + 1}")
    lifecycle._children.clear()
    press(app, "Cancel")
    assert lifecycle.read_job(between, *started).state == "cancelled"
    assert "Drawing the ballot was cancelled; nothing was changed." in words(app)
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
    before = read_project_dataset(many, "demo")
    app = visit("voters", "demo")
    labelled(app.multiselect, "Voters to leave out").set_value(chosen).run()
    labelled(app.text_input, "Reason").set_value("They clicked.").run()
    press(app, "Leave 2 voters out")
    assert "Leaving voters out in the background" in words(app)
    finish(started[0])
    app.run()
    assert "2 voters are left out:" in words(app)
    assert "scored again." in words(app)
    without = read_project_dataset(many, "demo")
    assert not without.equals(before)
    assert read_log(many, "demo", 1)[0]["detail"]["reason"] == "They clicked."
    labelled(app.multiselect, "Voters to readmit").set_value(chosen).run()
    press(app, "Let them count again")
    finish(started[1])
    app.run()
    assert "2 voters are readmitted:" in words(app)
    assert read_project_dataset(many, "demo").equals(before)
    exclude_voters(many, "demo", chosen, "They clicked.")
    assert read_project_dataset(many, "demo").equals(without)
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


def through_json(store, command):
    """What a command tells by way of the table of jobs."""
    told = {"id": executor.start(store, command)}
    finish(told["id"])
    job = lifecycle.read_job(store, told["id"])
    assert job.state == "done", job.error
    return executor.done_text(job)


def test_every_command_is_checked_against_what_its_visitor_saw(between):
    """But those on uploads, which are read against the store as it is, and those of the workspace."""
    revision = get_project(between, "demo").revision
    with command(between, "demo", "something else"):
        pass
    here, ballot = ("demo", revision), (None, "b1-0", 1, "campaign")
    every = [
        ballots.DrawBallot(*here, None),
        ballots.DrawWaiting(*here),
        ballots.DrawRound(*here, None, default_settings("rating").stored()),
        ballots.CloseBallot(*here, *ballot),
        ballots.DiscardBallot(*here, *ballot),
        ballots.ReopenBallot(*here, *ballot),
        ballots.SimulateVotes(*here, *ballot),
        ballots.OpenVoting(*here, *ballot, VotingSettings().stored()),
        judging.AskModel(*here, *ballot),
        of_voters.ExcludeVoters(*here, (1,), "x", {}),
        of_voters.ReadmitVoters(*here, (1,)),
        of_voters.WithdrawVoters(*here, (1,)),
        of_voters.ReviewAssignments(*here, 1, {1: Review("approve")}),
        votes.SetPolicy(*here, "leave out", "latest"),
        projects.ReleaseVersion(*here, "1.0", ""),
    ]
    uploads = {"accept upload", "withdraw upload"}
    of_workspace = {"duplicate project", "delete project", "import project"}
    assert {one.name for one in every} | uploads | of_workspace == set(executor.COMMANDS)
    for one in every:
        with pytest.raises(StaleError):
            one.run(between)


def test_commands_through_the_table_of_jobs_say_what_they_did(between, started):
    def now():
        return "demo", get_project(between, "demo").revision

    ballot = last(between)
    reopen = ballots.ReopenBallot.of(*now(), ballot)
    assert through_json(between, reopen) == f"Ballot {ballot.number} is open again."
    assert through_json(between, votes.SetPolicy(*now(), "leave out", "latest")).startswith("Saved: ")
    assert read_policy(between, "demo").repeats == "latest"
    close_ballot(between, "demo")
    assert through_json(between, ballots.DrawWaiting(*now())).startswith("1 ballot")
    assert through_json(between, ballots.SimulateVotes.of(*now(), last(between))).startswith("Simulated voters gave")
    assert last(between).number == ballot.number + 1


def test_a_draw_is_discarded_through_the_table_of_jobs(between, started):
    number = draw_next_ballot(between, "demo")
    discard = ballots.DiscardBallot.of("demo", get_project(between, "demo").revision, last(between))
    assert through_json(between, discard) == f"Ballot {number} is discarded."
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
    assert read_project_dataset(many, copy).equals(read_project_dataset(many, "demo"))
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


def test_a_large_project_file_is_imported_by_a_job(many, visit, started):
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
    assert read_project_dataset(many, copy).equals(read_project_dataset(many, "demo"))
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
    revision = get_project(between, "demo").revision
    with pytest.raises(InputError):
        ballots.OpenVoting.of("demo", revision, last(between), settings=settings).run(between)
    assert read_voting(between, last(between).id) is None


def test_a_job_ends_in_the_transaction_of_its_command(between, started, monkeypatch):
    """A process that ends right after it leaves a job that is done, and a log that says so once."""
    number = last(between).number
    reopen = ballots.ReopenBallot.of("demo", get_project(between, "demo").revision, last(between))
    job_id = executor.start(between, reopen)

    def killed(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr(executor, "to_json", killed)
    with pytest.raises(KeyboardInterrupt):
        finish(job_id)
    job = lifecycle.read_job(between, job_id)
    assert (job.state, job.result) == ("done", None)
    assert last(between).is_open
    assert executor.done_text(job) == "Reopening the ballot has ended; the log says what was done."
    assert [entry["action"] for entry in read_log(between, "demo", 2)].count("reopen ballot") == 1
    assert last(between).number == number


def test_jobs_of_another_version_are_told_and_end_with_a_sentence(between, visit, started):
    params = {"command": "draw_ballot", "arguments": {"area_id": None}, "revision": 1}
    ids = [
        lifecycle.start(between, executor.KIND, params, project_id="demo"),
        lifecycle.start(between, executor.KIND, {**params, "command": "close ballot"}, project_id="demo"),
    ]
    with between.write(lifecycle.JOBS) as conn:
        row = {"id": "old", "project_id": "demo", "kind": "close_ballot", "params": {"ballot": 1}, "state": "queued"}
        conn.execute(sa.insert(t.job).values(**row, created_at=lifecycle.now()))
    app = visit("collect", "demo")
    assert "Work of another version of Runoff in the background, starting." in words(app)
    for id_ in (*ids, "old"):
        finish(id_)
    assert [lifecycle.read_job(between, id_).error for id_ in (*ids, "old")] == [executor.OTHER_VERSION] * 3
    app.run()
    assert not app.exception
    assert f"Work of another version of Runoff ended early. {executor.OTHER_VERSION}" in words(app)
