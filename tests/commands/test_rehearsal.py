"""The rehearsal of the voting page: a good page passes, a store that loses or doubles is found with its row."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import sqlalchemy as sa
from campaigns import make_project
from click.testing import CliRunner
from rounds_of_people import GROUPS, SMALL
from test_voting import BASIC, start

from core.__main__ import cli
from core.cli.workspace import _rehearsed_text
from core.commands.figures import rehearsal
from core.dataset.published import VOTES
from core.errors import InputError, StoreError
from core.questions import round_kind
from core.questions.base import Answering
from core.questions.order.groups import preference_table
from core.questions.voting_settings import VotingSettings
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots
from core.store.ballots.drawing import draw_round
from core.store.projects.demo import OPEN_ID, ensure_demo
from core.store.projects.project_commands import get_project
from core.store.voting.owner_commands import round_voting_settings
from core.views.collect.voting import rehearsal_of
from core.views.kinds import rounds as round_views
from core.voting import api, process
from core.voting.form_browser import FormBrowser
from tests.bad_network import Fault, bad_network
from tests.rounds_of_people import BEST_WORST, ORDER, RATING, SCHEMES, close_round, read_rounds, simulate_round
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
    assert found.columns == tuple(VOTES.columns.items())
    assert set(found.exported["source"]) == {"person"}
    headings = [screen.heading for screen in found.screens]
    assert len(set(headings)) == len(headings)  # the first page asks in the words of the first question


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
    with pytest.raises(StoreError, match="No ballot is open"):
        rehearsal_of(store, make_project(store), None, n_voters=2)


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


# Rounds of other kinds


# As above, and a value that isn't its answer's, for answers of any kind.
TURNS_PLACES = """CREATE TRIGGER fault AFTER INSERT ON judgement WHEN NEW.id % 7 = 0 BEGIN
    UPDATE judgement SET answer = 'best=2;worst=1' WHERE id = NEW.id AND answer <> 'best=2;worst=1'; END"""
TURNS_VALUES = """CREATE TRIGGER fault AFTER INSERT ON judgement WHEN NEW.id % 7 = 0 BEGIN
    UPDATE judgement SET value = coalesce(NEW.value, 0) + 1 WHERE id = NEW.id; END"""


def drawn(store, scheme, settings=None, **about):
    project_id = make_project(store, plan=None, **about)
    draw_round(store, project_id, settings or SMALL[scheme])
    return project_id


def test_a_lost_answer_of_a_round_is_found_with_its_row(store, plant):
    """The quick one of rounds: a server is started, four voters go the whole way."""
    project_id = drawn(store, BEST_WORST)
    plant(LOSES)
    found = rehearsed(store, project_id)
    *lost, closing = found.faults
    assert closing.startswith("The round could not be closed on the copy: ")  # items lack the answers that they had
    assert found.n_sent - found.n_compared == len(lost) >= 1
    assert "What is exported" not in _rehearsed_text(found)
    assert all(re.search(r"^Not stored: .* answered “best=\d;worst=\d” to .* – .* \(.*\); ", fault) for fault in lost)
    assert found.before == found.after
    with store.read() as conn:
        assert conn.execute(sa.select(t.voter.c.external_id)).all() == []


@pytest.mark.release
@pytest.mark.parametrize(
    ("scheme", "trigger", "said"),
    [
        (RATING, DOUBLES, "stored, and nobody sent it|stored once too often"),
        (RATING, TURNS_VALUES, r"has the number .* beside the answer"),
        (ORDER, LOSES, "^Not stored"),
        (BEST_WORST, TURNS_PLACES, "stored, and nobody sent it|stored once too often"),
    ],
)
def test_so_is_one_that_is_doubled_or_turned_in_a_round(store, plant, scheme, trigger, said):
    project_id = drawn(store, scheme)
    plant(trigger)
    found = rehearsed(store, project_id)
    assert any(re.search(said, fault) for fault in found.faults)
    assert all(re.search(f"^Not stored|{said}", fault) for fault in found.faults)


@pytest.mark.release
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_round_of_each_kind_passes(store, scheme):
    project_id = drawn(store, scheme)
    found = rehearsed(store, project_id, n_voters=9, ask=["age"])
    assert found.problems == []
    assert found.n_sent == found.n_compared > 9
    assert [(post.status, post.n_stored) for post in found.bad_posts] == [(p.expected, 0) for p in found.bad_posts]
    assert len(found.bad_posts) == 10
    settings = SMALL[scheme]
    assert found.seconds_per_task == found.n_asked * settings.seconds > 0
    assert found.wage == pytest.approx(settings.reward * 3600 / found.seconds_per_task)
    headings = [screen.heading for screen in found.screens]
    assert len(set(headings)) == len(headings)
    # What goes out of a closed round, as the Export page makes it of one that people answered.
    answered = drawn(store, scheme, kind="trial")
    (mine,) = read_rounds(store, answered)
    simulate_round(store, answered, 1)
    close_round(store, answered, 1)
    if mine.kind.about.scores_items:
        expected = round_views.dataset(store, answered, mine)
    else:
        expected = preference_table(round_views.compared_words(store, answered, mine))
    assert list(found.exported.columns) == [name for name, _ in found.columns] == list(expected.columns)
    assert found.n_rows == len(expected)
    assert read_rounds(store, project_id)[0].is_open


@pytest.mark.release
def test_a_fifth_kind_is_rehearsed(store, odd, monkeypatch):
    monkeypatch.setattr(process, "VOTING", "tests.odd_ones")  # the server is another process
    project_id = drawn(store, odd.scheme, odd)
    found = rehearsed(store, project_id, n_voters=9)
    assert found.problems == []
    assert found.n_sent == found.n_compared > 9
    assert found.exported_as == rehearsal.ROUND_FILE


@pytest.mark.release
def test_a_round_of_one_question(store):
    """While a ballot is open, and has the page at the ranking's link."""
    project_id, _ = start(store)
    draw_round(store, project_id, replace(SMALL[ORDER], groups=GROUPS[:1]))
    (found,) = read_rounds(store, project_id)
    found = rehearsal_of(store, project_id, None, found.code, n_voters=4).measure(store, None)[0]
    assert found.problems == []
    assert len(found.bad_posts) == 9  # none is answered while another is open


@pytest.mark.release
@pytest.mark.browser
@pytest.mark.parametrize("scheme", SCHEMES)
def test_one_more_comes_to_a_round_on_a_phone(store, scheme):
    project_id = drawn(store, scheme)
    wanted = replace(rehearsal_of(store, project_id, None, n_voters=1), browser=True)
    found, _ = wanted.measure(store, None)
    assert found.problems == []
    assert re.fullmatch(r"A voter on a phone in Chromium gave \d answers by touch and finished\.", found.browser)


def test_which_round_is_meant(store, monkeypatch):
    """Where no ballot is open, the open round; else the one that is named."""
    project_id = drawn(store, RATING)
    (found,) = read_rounds(store, project_id)
    wanted = rehearsal_of(store, project_id, None, n_voters=2)
    assert wanted.code == found.code
    assert VotingSettings.of(wanted.settings) == round_voting_settings(found)
    asked = []
    monkeypatch.setenv("RUNOFF_WORKSPACE", str(store.folder))
    monkeypatch.setattr("core.commands.figures.base.measure_now", lambda _, figure: asked.append(figure.code))
    CliRunner().invoke(cli, ["rehearse", project_id, "--round", "1"])
    assert asked == [found.code]
    told = CliRunner().invoke(cli, ["rehearse", project_id, "--round", "2"])
    assert isinstance(told.exception, StoreError)
    assert "There is no round 2" in str(told.exception)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_form_fields_and_answers_are_two_ways_of_one_thing(scheme):
    kind = round_kind(scheme)
    who = Answering(np.zeros(20, dtype=int), np.full(20, 0.1), 1)
    size = kind.n_shown()[1] or 4
    opinion = np.random.default_rng(1).random((20, size))
    for answer in kind.simulate(opinion, who, SMALL[scheme], np.random.default_rng(2)):
        assert api.answer_of({f"{name}_1": value for name, value in kind.filled(answer).items()}) == answer


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
