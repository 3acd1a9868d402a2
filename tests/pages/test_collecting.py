"""The Collect page: the ways to collect votes, Turkle over its interface, Prolific's list, settling up."""

from __future__ import annotations

import pytest
from campaigns import answer_batch, draw_batch, make_project

from core.platforms.turkle import TurkleBatch, TurkleSite
from core.questions.voting_settings import VotingSettings
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots
from core.store.command import insert_one
from core.store.engine import now
from core.store.votes.intake import accept_upload
from core.store.votes.payment import read_assignments
from core.store.votes.publications import read_publications
from core.store.votes.uploads import read_uploads
from core.store.voting.owner_commands import open_voting
from core.views.collect.collect_page import WAYS
from ui.shared.frame import plain

TOKEN = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def collect(empty, visit):
    """The store, a project with an open ballot whose batch is half answered, and a visitor on its Collect page."""
    project_id = make_project(empty)
    batch = draw_batch(empty, project_id)
    half = b"".join(answer_batch(batch, status="Submitted").splitlines(keepends=True)[:8])
    accept_upload(empty, project_id, half, "half.csv")
    return empty, project_id, batch, lambda: visit("collect", project_id)


def press(app, label):
    button = next(button for button in app.button if button.label.startswith(label))
    button.click()
    app.run()
    assert not app.exception
    return app


def texts(app):
    kinds = (app.markdown, app.caption, app.success, app.warning, app.error, app.code, app.info)
    return "\n".join(element.value for kind in kinds for element in kind)


def chooser(app):
    return next(radio for radio in app.radio if radio.label == "How do you collect votes?")


def labels(app):
    return {element.proto.label for element in app.get("download_button")}


FILES = {
    "turkle": {"Batch (CSV)", "Task page for Turkle (HTML)", "Top-up batch (CSV)"},
    "mturk": {"Batch (CSV)", "Task page, plain (HTML)", "Task page, crowd-form (HTML)", "Top-up batch (CSV)"},
    "labelstudio": {"Labelling interface (XML)", "Tasks (JSON)", "Tasks of the comparisons without a vote (JSON)"},
    "colleagues": {"Comparisons as a table (CSV)", "Comparisons without a vote (XLSX)", "Web page (HTML)"},
    "page": set(),
    "prolific": set(),
}


def test_each_way_shows_what_it_needs_and_nothing_else(collect):
    app = collect[3]()
    assert chooser(app).value == "mturk"  # votes came in that format
    for way in WAYS:
        chooser(app).set_value(way)
        app.run()
        assert not app.exception
        found = labels(app)
        assert found >= FILES[way]
        others = set().union(*(names for other, names in FILES.items() if other != way)) - FILES[way]
        assert not found & others
    chooser(app).set_value("page")
    app.run()
    press(app, "Save and open voting")
    assert chooser(app).value == "page"
    fresh = collect[3]()
    assert chooser(fresh).value == "page"


def test_published_fetched_and_taken(collect, monkeypatch):
    store, project_id, batch, visit = collect
    asked = []
    whole = answer_batch(batch, tag="T", voters=("U1", "U2"))

    def publish(site, name, page, csv_text, **options):
        asked.append((site.address, name, csv_text, options))
        return TurkleBatch(4, 9)

    monkeypatch.setattr(TurkleSite, "publish", publish)
    monkeypatch.setattr(TurkleSite, "results", lambda site, batch: whole)
    monkeypatch.setattr(TurkleSite, "finished", lambda site, batch: 5)
    app = visit()
    chooser(app).set_value("turkle")
    app.run()
    fields = {field.label: field for field in app.text_input}
    fields["API token of an administrator"].set_value(TOKEN)
    fields["Address of your Turkle"].set_value("ftp://x")
    press(app, "Publish on Turkle")
    assert "begins with http" in texts(app)
    next(f for f in app.text_input if f.label == "Address of your Turkle").set_value("http://turkle.example.org/")
    press(app, "Publish on Turkle")
    assert "Published: batch 9 with 7 tasks." in texts(app).replace("\\", "")
    assert "could be read on the way" in texts(app)
    (address, name, csv_text, options) = asked[0]
    assert (address, name, options) == (
        "http://turkle.example.org",
        "Test, ballot 1",
        {"assignments": 1, "project": None},
    )
    assert csv_text.count("\n") == 8  # what wants votes: seven of the fourteen tasks
    assert len(read_publications(store, read_ballots(store, project_id)[0].id)) == 1
    press(app, "Check progress")
    assert "5 of 7 assignments are finished there." in texts(app)
    press(app, "Fetch the votes")
    assert "42 new votes" in texts(app)
    press(app, "Accept these votes")
    assert [upload.filename for upload in read_uploads(store, project_id)] == ["turkle-batch-9-results.csv", "half.csv"]
    assert not any(button.label.startswith("Take") for button in app.button)
    press(app, "Fetch the votes")
    assert "There is nothing new in these files." in texts(app)
    assert TOKEN not in texts(app)


def test_an_address_from_a_file_is_shown_and_confirmed_first(collect, monkeypatch):
    store, project_id, _, visit = collect
    monkeypatch.setattr(TurkleSite, "finished", lambda site, batch: 5)
    ballot_id = read_ballots(store, project_id)[0].id
    detail = {"project": 4, "batch": 9, "n_tasks": 14, "assignments": 1, "is_top_up": False}
    values = {"platform": "turkle", "address": "http://*theirs*.example.org", "detail": detail, "at": now()}
    with store.write(project_id) as conn:
        insert_one(conn, t.publication, ballot_id=ballot_id, confirmed=False, **values)
    app = visit()
    chooser(app).set_value("turkle")
    app.run()
    fields = {field.label: field for field in app.text_input}
    fields["API token of an administrator"].set_value(TOKEN)
    app.run()
    assert fields["Address of your Turkle"].value == ""
    assert plain("http://*theirs*.example.org") in app.warning[0].value
    assert not {"Fetch the votes", "Check progress"} & {button.label for button in app.button}
    press(app, "Yes, this is my Turkle")
    press(app, "Check progress")
    assert "5 of 14 assignments are finished there." in texts(app)


def test_prolifics_list_is_checked(collect):
    store, project_id, _, visit = collect
    open_voting(store, project_id, VotingSettings(examples=False))
    app = visit()
    chooser(app).set_value("prolific")
    app.run()
    uploader = next(box for box in app.file_uploader if box.label.startswith("Prolific"))
    data = b"Participant id,Status\np1,AWAITING REVIEW\np2,APPROVED\n"
    uploader.set_value(("prolific_export_1.csv", data, "text/csv"))
    app.run()
    assert not app.exception
    assert "1 no votes, 1 decided." in texts(app)
    assert "p1" in [code.value for code in app.code]
    assert "Ids to reject (1)" in labels(app)


def test_settling_up(collect):
    store, project_id, _, visit = collect
    ballot = read_ballots(store, project_id)[0]
    app = visit()
    app.session_state[f"settle-{project_id}"] = True
    app.run()
    assert "7 assignments of 6 voters: 0 approved, 0 rejected, 7 undecided." in texts(app)
    press(app, "Approve 7 with nothing against them")
    assert set(read_assignments(store, ballot.id)["review"]) == {"approve"}
    first = int(read_assignments(store, ballot.id)["assignment"].iloc[0])

    def decide(decision, reason):
        next(box for box in app.multiselect if box.label == "Assignments").set_value([first])
        next(radio for radio in app.radio if radio.label == "Decision").set_value(decision)
        next(field for field in app.text_input if field.label == "Reason for a rejection").set_value(reason)
        press(app, "Decide")

    decide("reject", "")
    assert "Give a reason" in texts(app)
    decide("reject", "nothing was read")
    assert "3 votes left out" in texts(app)
    row = read_assignments(store, ballot.id).iloc[0]
    assert (row["review"], row["reason"], row["n_votes"]) == ("reject", "nothing was read", 0)
    decide("", "")
    assert "3 votes came in" in texts(app)
    assert {"Review file for half.csv", "Payments (CSV)", "Payments (XLSX)"} <= labels(app)
