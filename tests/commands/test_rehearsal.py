"""The rehearsal of the voting page: a good page passes, a store that loses or doubles is found with its row."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
import sqlalchemy as sa
from campaigns import make_project
from click.testing import CliRunner
from rounds_of_people import SMALL
from test_voting import BASIC, start

from core.__main__ import cli
from core.commands.figures import rehearsal
from core.errors import InputError
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots, rounds_of
from core.store.ballots.drawing import draw_round
from core.store.projects.demo import OPEN_ID, ensure_demo
from core.store.projects.project_commands import get_project
from core.views.collect.voting import rehearsal_of
from core.voting.form_browser import FormBrowser
from tests.bad_network import Fault, bad_network
from tests.rounds_of_people import RATING
from tests.voting_server import VotingServer

# What a broken store could do, as a trigger in the copy's database.
LOSES = """CREATE TRIGGER fault AFTER INSERT ON judgement WHEN NEW.id % 7 = 0 BEGIN
    DELETE FROM judgement WHERE id = NEW.id; END"""
DOUBLES = """CREATE TRIGGER fault AFTER INSERT ON judgement WHEN NEW.id % 7 = 0 BEGIN
    INSERT OR IGNORE INTO judgement (assignment_id, question_id, answer, value, status, source)
    SELECT min(id), NEW.question_id, NEW.answer, NEW.value, NEW.status, NEW.source FROM assignment; END"""
TURNS = """CREATE TRIGGER fault AFTER INSERT ON judgement WHEN NEW.answer = 'first' BEGIN
    UPDATE judgement SET answer = 'second', value = 0 WHERE id = NEW.id; END"""


def rehearsed(store, project_id, n_voters=4, **settings):
    wanted = rehearsal_of(store, project_id, None, n_voters=n_voters)
    return replace(wanted, settings={**wanted.settings, **settings}).measure(store, None)[0]


@pytest.fixture
def plant(monkeypatch):
    """Lets the copy's database do something."""

    def planted(trigger):
        def taken_in(copy, data):
            project_id = real(copy, data)
            with copy.write() as conn:
                conn.execute(sa.text(trigger))
            return project_id

        real = rehearsal.import_project
        monkeypatch.setattr(rehearsal, "import_project", taken_in)

    return planted


def test_a_lost_vote_is_found_with_its_row(store, plant):
    """The quick one: a server is started, four voters go the whole way."""
    project_id, _ = start(store)
    plant(LOSES)
    before = get_project(store, project_id)
    found = rehearsed(store, project_id)
    assert not found.is_fine
    lost = [fault for fault in found.faults if fault.startswith("Not stored: ")]
    assert found.n_sent - found.n_compared == len(lost) >= 1
    assert all("rehearsal-00" in fault and "answered" in fault for fault in lost)
    assert (found.before, found.after) == ((before.revision, before.pulse),) * 2
    with store.read() as conn:
        assert conn.execute(sa.select(t.voter.c.external_id)).all() == []


@pytest.mark.release
@pytest.mark.parametrize(
    ("trigger", "said"),
    [(DOUBLES, "stored, and nobody sent it|stored once too often"), (TURNS, "stored, and nobody sent it")],
)
def test_so_is_one_that_is_doubled_or_turned(store, plant, trigger, said):
    project_id, _ = start(store)
    plant(trigger)
    found = rehearsed(store, project_id)
    assert any(fault.startswith("Row ") for fault in found.faults)
    assert all(re.search(f"^Not stored|{said}", fault) for fault in found.faults)


@pytest.mark.release
def test_the_demos_open_ballot_passes(store):
    ensure_demo(store)
    found = rehearsed(store, OPEN_ID, n_voters=9)
    assert found.problems == []
    assert found.n_sent == found.n_compared == found.n_rows >= 90
    assert all(post.is_fine for post in found.bad_posts)
    assert len(found.bad_posts) == 10
    assert found.screens[0].buttons == ("I agree, begin",)
    assert found.screens[-1].heading == "Thank you"
    assert found.wage == pytest.approx(found.reward * 3600 / found.seconds_per_task)
    assert list(found.votes.columns) == [name for name, _ in found.columns]
    assert set(found.votes["source"]) == {"person"}


@pytest.mark.release
@pytest.mark.parametrize(
    "settings",
    [
        {"identify": "none"},
        {"identify": "invited"},
        {"identify": "id", "hash_ids": True},
        {"code_word": "Blue Whale", "ask": ["age", "native"]},
        {"n_repeats": 1, "tasks_per_voter": 4, "ties_allowed": False, "completion": "own"},
    ],
)
def test_whoever_may_come_and_whatever_is_asked(store, settings):
    project_id, _ = start(store)
    found = rehearsed(store, project_id, n_voters=8, **settings)
    assert found.problems == []
    assert found.n_sent == found.n_compared > 0


@pytest.mark.release
@pytest.mark.browser
def test_one_more_comes_on_a_phone(store):
    project_id, _ = start(store)
    wanted = replace(rehearsal_of(store, project_id, None, n_voters=1), browser=True)
    found, _ = wanted.measure(store, None)
    assert found.problems == []
    assert found.browser == f"A voter on a phone in Chromium gave {BASIC.task_size} answers by touch and finished."


def test_what_can_not_be_rehearsed(store):
    project_id, _ = start(store)
    with pytest.raises(InputError, match="1 to 200 voters"):
        rehearsed(store, project_id, n_voters=0)
    other = make_project(store, plan=None)
    draw_round(store, other, SMALL[RATING])
    with store.read() as conn:
        code = rounds_of(conn, other)[0].code
    wanted = rehearsal_of(store, other, None, code, n_voters=2)
    with pytest.raises(InputError, match="ballots of comparisons"):
        wanted.measure(store, None)


@pytest.mark.release
def test_the_command(store, monkeypatch):
    project_id, _ = start(store)
    monkeypatch.setenv("RUNOFF_WORKSPACE", str(store.folder))
    told = CliRunner().invoke(cli, ["rehearse", project_id, "--voters", "3", "--json"])
    assert told.exit_code == 0, told.output
    assert json.loads(told.output)["fine"]
    told = CliRunner().invoke(cli, ["rehearse", project_id, "--voters", "3"])
    assert "Nothing is lost, doubled or changed." in told.output
    assert "What a voter sees, in order:" in told.output
    assert "The project itself is untouched" in told.output


# The browser without a screen, on a bad network


@pytest.mark.release
@pytest.mark.parametrize("fault", list(Fault), ids=lambda kind: kind.name)
def test_a_voter_without_scripts_gets_through_a_bad_network(store, fault):
    project_id, code = start(store)
    server = VotingServer(store.folder)
    server.start()
    try:
        with bad_network(server.port) as network:
            network.each(2, fault)
            network.seconds = 0.05
            browser = FormBrowser(network.port, pause=0.01)
            page = browser.open(f"/v/{code}")
            page = browser.send(page.forms["begin"], name="Anna")
            n = 0
            while "vote" in page.forms:
                page = browser.send(page.forms["vote"], choice="left", seconds="1")
                assert "saved" not in page.text.replace("Saved.", "").lower()
                n += 1
            assert network.met[fault] >= 3
    finally:
        server.kill()
    with store.read() as conn:
        rows = conn.execute(sa.select(t.judgement.c.status)).all()
    assert rows == [("counted",)] * BASIC.task_size
    assert n == BASIC.task_size
    assert read_ballots(store, project_id)[-1].is_open
