"""The voting page on the Collect page: opened by its form, its links, its states, checks and voters."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from datetime import datetime
from types import SimpleNamespace

import pytest
import sqlalchemy as sa
from campaigns import PLAN, answer_batch, make_project
from rounds_of_people import SMALL

from core.commands.base import to_json
from core.commands.figures import base as figures
from core.commands.figures.rehearsal import Rehearsed
from core.commands.figures.rehearsal_voters import BadPost, Screen
from core.dataset.published import VOTES
from core.questions.comparison_page import Wording, write_batch
from core.questions.voting_settings import ADDRESS_KEPT
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots, read_comparisons
from core.store.ballots.drawing import draw_next_ballot, draw_round
from core.store.votes.checks import gold_of
from core.store.votes.intake import accept_upload
from core.store.voting.owner_commands import read_link, read_voting
from core.views.collect import collect_page
from core.views.collect.voting import rehearsal_of
from core.voting import api, process
from tests.rounds_of_people import RATING
from ui.collect import voting_box


@pytest.fixture
def page(empty, visit):
    """A visitor on the Collect page of a project with an open ballot."""
    project_id = make_project(empty)
    draw_next_ballot(empty, project_id)
    app = visit("collect", project_id)
    ballot = read_ballots(empty, project_id)[0]
    app.session_state[f"way-{ballot.id}"] = "page"
    app.session_state[f"checks-box-{ballot.id}"] = True
    return empty, project_id, app.run()


def press(app, label):
    next(button for button in app.button if button.label == label).click()
    app.run()
    assert not app.exception
    return app


def texts(app):
    kinds = (app.markdown, app.caption, app.success, app.error, app.code, app.info)
    return "\n".join(element.value for kind in kinds for element in kind)


def test_opened_paused_resumed_and_closed(page):
    store, project_id, app = page
    assert not app.exception
    ballot = read_ballots(store, project_id)[0]
    assert read_voting(store, ballot.id) is None
    next(box for box in app.number_input if box.label == "Votes per comparison").set_value(2)
    press(app, "Save and open voting")
    assert read_voting(store, ballot.id).settings.votes_per_comparison == 2
    code = read_link(store, project_id)
    assert f"http://localhost:8600/v/{code}" in texts(app)
    assert f"/v/{code}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&STUDY_ID" in texts(app)
    press(app, "Pause voting")
    assert api.look(store, code).kind == "paused"
    press(app, "Resume voting")
    view = api.look(store, code, "", "visit")
    view = api.begin(store, code, "visit", view.form, api.Visitor(), name="*Anna*")
    api.vote(store, code, view.cookie, view.form, task=1, n=1, choice="left")
    press(app, "Close voting")  # a vote in the meantime makes no command stale
    assert "changed in the meantime" not in texts(app)
    assert api.look(store, code).kind == "next"  # the plan has further ballots
    assert any("*Anna*" in frame.value.to_string() for frame in app.dataframe)


@pytest.fixture
def served(monkeypatch):
    """Starting a server only writes down where it would listen; the hosts and ports that were asked for."""
    asked = []

    def start(store, *, host="127.0.0.1", port=None):
        for file in store.folder.glob("voting.json*"):
            file.unlink()
        running = process.Running(os.getpid(), host, port or 8600, "x")
        (store.folder / "voting.json.x").write_text(json.dumps(asdict(running)))
        monkeypatch.setitem(process._children, os.getpid(), SimpleNamespace(poll=lambda: None))
        asked.append((host, port))
        return running

    def stop(store, only=None):
        (store.folder / "voting.json.x").unlink()

    monkeypatch.setattr(process, "start_server", start)
    monkeypatch.setattr(process, "stop_servers", stop)
    monkeypatch.setattr(voting_box, "network_address", lambda: "192.0.2.7")
    monkeypatch.setattr(process, "refused", lambda host, port: None)
    return asked


def test_one_button_opens_and_serves_it_and_the_page_keeps_the_plans_quota(page, served):
    store, project_id, app = page
    assert "A voter gets 3 tasks of 3 comparisons at most; each comparison gets 1 vote." in texts(app)
    press(app, "Open the voting page")
    settings = read_voting(store, read_ballots(store, project_id)[0].id).settings
    assert (settings.tasks_per_voter, settings.task_size) == (3, 3)  # 14 tasks of 6 voters
    assert served == [("127.0.0.1", None)]
    link = f"http://localhost:8600/v/{read_link(store, project_id)}"
    assert app.code[0].value == link
    assert [found.proto.url for found in app.get("link_button")] == [link]
    assert not app.get("image")  # this machine alone reaches it: a phone would find nothing
    assert "It stops when Runoff stops." in texts(app)
    view = collect_page.load(store, project_id)
    assert (view.workload.quota.tasks_per_voter, view.workload.by_page) == (3, True)


def test_a_network_is_let_in_by_a_switch_that_warns_and_the_link_has_a_picture(page, served):
    store, project_id, app = page
    (switch,) = [toggle for toggle in app.toggle if toggle.label == "People on this network may vote"]
    switch.set_value(True).run()
    (told,) = [warning.value for warning in app.main.warning]
    assert "There is no TLS" in told
    assert "Your own pages stay on this machine." in told
    press(app, "Open the voting page")
    link = f"http://192.0.2.7:8600/v/{read_link(store, project_id)}"
    assert app.code[0].value == link
    (picture,) = app.get("image")
    assert picture.proto.imgs[0].alt == f"QR code of the link {link}"
    (switch,) = [toggle for toggle in app.toggle if toggle.label == "People on this network may vote"]
    switch.set_value(False).run()
    assert not app.exception
    assert served == [("192.0.2.7", None), ("127.0.0.1", 8600)]
    assert app.code[0].value.startswith("http://localhost:8600/v/")


def test_a_machine_in_no_network_offers_none(page, served, monkeypatch):
    monkeypatch.setattr(voting_box, "network_address", lambda: None)
    app = page[2].run()
    (switch,) = [toggle for toggle in app.toggle if toggle.label == "People on this network may vote"]
    assert switch.disabled


def test_one_menu_pauses_and_stops_and_closing_comes_to_the_page_when_most_have_voted(page, served):
    store, project_id, app = page
    (menu,) = app.get("popover")
    assert labels(menu) == ["Close ballot 1", "Discard this draw"]
    press(app, "Open the voting page")
    (menu,) = app.get("popover")
    assert labels(menu) == [
        "Pause voting", "Stop serving the voting page", "Close voting", "Close ballot 1", "Discard this draw",
    ]  # fmt: skip
    press(app, "Stop serving the voting page")
    assert "Nobody can reach the page until it is served." in texts(app)
    header, *tasks = write_batch(read_comparisons(store, project_id, 1)).splitlines(keepends=True)
    accept_upload(store, project_id, answer_batch(b"".join([header, *tasks[:12]])), "most.csv")  # 36 of 42
    app.run()
    (menu,) = app.get("popover")
    assert labels(menu) == ["Pause voting", "Close voting"]
    assert any("have no vote" in warning.value for warning in app.warning)
    assert any(button.label == "Close ballot 1" for button in app.main.button)
    assert "Close ballot 1" not in texts(app)  # the button says it, and no heading above it says it once more


def test_a_page_that_is_still_served_between_ballots_is_told_of_and_can_be_stopped(page, served):
    store, project_id, app = page
    press(app, "Open the voting page")
    accept_upload(store, project_id, answer_batch(write_batch(read_comparisons(store, project_id, 1))), "all.csv")
    app.run()
    press(app, "Close ballot 1")
    assert read_ballots(store, project_id)[0].state == "closed"
    assert "The voting page is still served" in texts(app)
    assert "Served at `http://localhost:8600`" in texts(app)
    press(app, "Stop serving the voting page")
    assert "still served" not in texts(app)
    assert not any("Stop serving" in label for label in labels(app))


def labels(menu):
    return [button.label for button in menu.button]


def test_all_servers_of_the_workspace_are_shown_and_stopped(page, monkeypatch):
    store, _, app = page
    for port, pid in ((8601, os.getpid()), (8602, os.getppid())):
        running = {"pid": pid, "host": "127.0.0.1", "port": port, "key": "x"}
        (store.folder / f"voting.json.{port}").write_text(json.dumps(running))
    app.run()
    assert [port for port in (8601, 8602) if f"Served at `http://localhost:{port}`" in texts(app)] == [
        8601,
        8602,
    ]
    stopped = []
    monkeypatch.setattr(process, "stop_servers", stopped.append)
    press(app, "Stop all servers of the voting page")
    assert stopped == [store]


def test_standard_texts_are_shown_in_the_language_of_voters(empty, visit):
    project_id = make_project(empty, plan=replace(PLAN, wording=Wording(language="it")))
    draw_next_ballot(empty, project_id)
    app = visit("collect", project_id)
    ballot = read_ballots(empty, project_id)[0]
    app.session_state[f"way-{ballot.id}"] = "page"
    app.run()
    consent = next(box for box in app.text_area if box.label.startswith("Consent"))
    assert consent.value.startswith("Vedrai coppie di parole")
    press(app, "Save and open voting")
    assert read_voting(empty, ballot.id).settings.closing == "Grazie, i tuoi voti sono salvati."


def test_settings_that_make_no_sense_are_told(page):
    store, project_id, app = page
    next(box for box in app.text_input if box.label.startswith("Address to go back to")).set_value("http://x")
    press(app, "Save and open voting")
    assert any("return address" in error.value for error in app.error)
    assert read_voting(store, read_ballots(store, project_id)[0].id) is None


def test_how_ids_are_stored_stays_once_somebody_has_begun(page):
    store, project_id, app = page
    hashes = lambda: next(box for box in app.checkbox if box.label.startswith("Store a hash"))  # noqa: E731
    hashes().set_value(True)
    press(app, "Save and open voting")
    assert not hashes().disabled
    code = read_link(store, project_id)
    view = api.look(store, code, "", "visit")
    api.begin(store, code, "visit", view.form, api.Visitor(), name="Anna")
    app.run()
    assert (hashes().disabled, hashes().value) == (True, True)
    assert "all of them could vote again" in hashes().help
    press(app, "Save (and open)")
    assert read_voting(store, read_ballots(store, project_id)[0].id).settings.hash_ids


def test_personal_links_and_a_voter_taken_out(page):
    store, project_id, app = page
    press(app, "Save and open voting")
    next(area for area in app.text_area if area.label.startswith("Names")).set_value("Ben\nCora\n")
    app.run()
    press(app, "Make links")
    code = read_link(store, project_id)
    view = api.look(store, code, "", "visit")
    view = api.begin(store, code, "visit", view.form, api.Visitor(), name="Anna")
    api.vote(store, code, view.cookie, view.form, task=1, n=1, choice="left")
    app.run()
    box = next(box for box in app.selectbox if box.label == "A voter withdraws consent")
    box.set_value(box.proto.options.index("Anna") + 1 if "Anna" not in box.options else box.options[0])
    app.run()
    press(app, "Withdraw this voter's votes")
    assert "1 answer marked as withdrawn" in texts(app).replace("\\", "")
    with store.read() as conn:
        assert gold_of(conn, read_ballots(store, project_id)[0].id) == []


def test_a_known_answer_is_typed_and_a_strange_one_refused(page):
    store, project_id, app = page
    press(app, "Save and open voting")
    assert "No ballot is closed yet, so none can be proposed: type your own." in texts(app)
    for typed, known in (("cat, dog > cat, saw", []), ("cat, dog > saw, 007", [(0, 0)])):
        next(area for area in app.text_area if area.label.startswith("Known answers")).set_value(typed)
        app.run()
        press(app, "Add these")
        with store.read() as conn:
            found = gold_of(conn, read_ballots(store, project_id)[0].id)
        assert [(gold.n_right, gold.n_wrong) for gold in found] == known
    assert any("cat – dog" in frame.value.to_string() for frame in app.dataframe)


def test_a_round_is_put_on_the_voting_page(empty, visit):
    store, project_id = empty, make_project(empty, plan=None)
    draw_round(store, project_id, SMALL[RATING])
    app = visit("collect", project_id)
    assert any(button.label == "Open the voting page" for button in app.button)
    press(app, "Save and open voting")
    assert "Voting is **open**." in texts(app)
    code = read_link(store, project_id)
    assert any(code in block.value for block in app.code)
    assert api.look(store, code, "", "v").round.scheme == RATING
    assert any(box.label == "When voters began" for box in app.expander)
    press(app, "Pause voting")
    assert api.look(store, code, "", "v").kind == "paused"
    press(app, "Resume voting")
    press(app, "Close voting")
    assert api.look(store, code, "", "v").kind == "closed"


def arrivals_of(app, store, project_id):
    """The page with the arrivals opened."""
    app.session_state[f"arrivals-{read_voting(store, read_ballots(store, project_id)[0].id).id}"] = True
    return app.run()


def come_and_vote(store, project_id, name, sender):
    """Somebody begins and votes once, at a minute of the past."""
    code = read_link(store, project_id)
    view = api.look(store, code, "", "visit")
    view = api.begin(store, code, "visit", view.form, api.Visitor(), name=name, sender=sender)
    api.vote(store, code, view.cookie, view.form, task=1, n=1, choice="left")
    with store.write() as conn:
        conn.execute(sa.update(t.sitting).values(began_at="2026-03-01T10:05:30.000000+00:00"))


def states(store):
    with store.read() as conn:
        return conn.execute(sa.select(t.sitting.c.state).order_by(t.sitting.c.id)).scalars().all()


def test_a_span_of_voters_is_seen_and_taken_out(page):
    store, project_id, app = page
    press(app, "Save and open voting")
    come_and_vote(store, project_id, "Anna", "")
    come_and_vote(store, project_id, "Ben", "192.0.2.7")
    arrivals_of(app, store, project_id)
    assert not app.exception
    assert "Take 2 voters" not in str([button.label for button in app.button])
    for box in app.datetime_input:
        box.set_value(datetime(2026, 3, 1, 10, 5))
    app.run()
    assert "2 voters with 2 answers" in texts(app)
    come_and_vote(store, project_id, "Cora", "192.0.2.7")
    press(app, "Take 2 voters and 2 answers out")  # Cora came since: she isn't taken out unseen, nor are the others
    assert states(store) == ["voting"] * 3
    assert "3 voters with 3 answers" in texts(app)
    next(box for box in app.number_input if box.label.startswith("Only of address")).set_value(1).run()
    shown = next(frame.value for frame in app.dataframe if {"voter", "minute"} <= set(frame.value.columns))
    assert shown["voter"].tolist() == ["Ben", "Cora"]
    press(app, "Take 2 voters and 2 answers out")
    assert "2 answers marked as withdrawn" in texts(app)
    assert states(store) == ["voting", "stopped", "stopped"]


def test_a_code_word_is_set_and_the_owner_reads_what_voters_read_of_addresses(page):
    store, project_id, app = page
    next(box for box in app.text_input if box.label.startswith("Code word")).set_value(" Blue Whale ")
    assert ADDRESS_KEPT in next(box for box in app.text_area if box.label.startswith("Consent")).help
    press(app, "Save and open voting")
    assert read_voting(store, read_ballots(store, project_id)[0].id).settings.code_word == "Blue Whale"
    assert api.look(store, read_link(store, project_id), "", "visit").asks_word


def test_a_rehearsal_is_offered_and_what_it_found_is_told(page):
    store, project_id, app = page
    ballot = read_ballots(store, project_id)[0]
    app.session_state[f"rehearsal-{ballot.id}"] = True
    app.run()
    assert any(button.label == "Rehearse now" for button in app.button)
    wanted = rehearsal_of(store, project_id, None, ballot.code, n_voters=20)
    post = BadPost("a forged token", 403, 403, 0)
    screen = Screen("Which two words are more related?", True, 140, ("Send",))
    votes = VOTES.empty()
    found = Rehearsed(
        20, 200, 199, ("Not stored: Anna’s.",), (post,), (screen,), 10, 60.0, 30.0, 0.25, 15.0,
        "campaign/votes.csv", tuple(VOTES.columns.items()), 199, votes, 0, (3, 0), (3, 2),
    )  # fmt: skip
    figures.keep(store, wanted, {"pulse": 0, "found": json.loads(json.dumps(to_json(found, Rehearsed)))})
    app.run()
    assert not app.exception
    shown = texts(app).replace("\\", "")  # Markdown's signs are escaped
    assert "1 thing isn't as it must be." in shown
    assert "Not stored: Anna’s." in shown
    assert "makes 15.00 per hour" in shown
    assert "2 answers came from people meanwhile: its revision is 3, its count of answers 2." in shown
    assert any(list(table.value.columns) == ["screen", "words", "buttons"] for table in app.table)
