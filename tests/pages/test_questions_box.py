"""What the values of an uploaded file mean is asked on the Collect page and of archived results, and stays said."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from case_ballot import CaseBallot, open_case_ballot
from collect_page import MAIN, collect, named, texts
from streamlit.testing.v1 import AppTest

from core.store import Store
from core.store import schema as t
from core.store.projects.project_commands import list_projects


@pytest.fixture
def ballot(store: Store, monkeypatch: pytest.MonkeyPatch) -> CaseBallot:
    monkeypatch.setenv("RUNOFF_WORKSPACE", str(store.folder))
    return open_case_ballot(store)


def classes(app: AppTest) -> dict[str, int]:
    table = next(frame.value for frame in app.dataframe if "class" in frame.value)
    return dict(zip(table["class"], table["answers"], strict=True))


def test_choices_are_asked_with_an_example_and_then_taken(ballot: CaseBallot) -> None:
    app = collect(ballot.project_id)
    app.file_uploader[0].set_value([("votes.tsv", ballot.file("83b-zero-one.tsv"), "text/plain")]).run()
    assert not app.exception
    assert classes(app) == {"wait for what you say of their values": 12}
    assert "Some answers wait: say what these values mean" in texts(app)
    words = "left: {left_a} – {left_b}; right: {right_a} – {right_b}".format(**ballot.comparisons[0])
    assert f"6 answers wait for it, the first in row 2 ({words})." in texts(app)
    assert not [button for button in app.button if button.label == "Accept these votes"]
    assert "There is nothing new" not in texts(app)
    named(app.selectbox, "What does the choice “0” mean?").set_value("left")
    named(app.button, "Read it with these meanings").click().run()
    assert not app.exception
    assert classes(app) == {"new votes": 6, "wait for what you say of their values": 6}
    assert named(app.selectbox, "What does the choice “0” mean?").value == "left"
    named(app.selectbox, "What does the choice “1” mean?").set_value("right")
    named(app.button, "Read it with these meanings").click().run()
    assert classes(app) == {"new votes": 12}
    named(app.button, "Accept these votes").click().run()
    assert not app.exception
    assert "votes.tsv is accepted: 12 new votes" in texts(app)
    with ballot.store.read() as conn:
        (mapping,) = conn.execute(sa.select(t.upload.c.mapping)).scalars()
    assert dict(mapping["choices"])["0"] == "left"


def test_statuses_are_asked_each(ballot: CaseBallot) -> None:
    app = collect(ballot.project_id)
    app.file_uploader[0].set_value([("votes.tsv", ballot.file("94-statuses.tsv"), "text/plain")]).run()
    asked = [box.label for box in app.selectbox if box.label.startswith("What does")]
    assert asked == [
        f"What does the status “{status}” mean?" for status in ("EXPIRED", "SKIPPED", "RETURNED", "Abgelehnt", "spam")
    ]
    for label in asked[1:]:
        named(app.selectbox, label).set_value("rejected")
    named(app.button, "Read it with these meanings").click().run()
    assert not app.exception
    assert classes(app) == {"rejected by the owner": 10, "wait for what you say of their values": 2}


@pytest.mark.release
def test_archived_results_ask_before_anything_is_made(ballot: CaseBallot, cases: Path) -> None:
    app = AppTest.from_file(MAIN, default_timeout=120)
    app.query_params["project"] = ballot.project_id
    app.run()
    named(app.toggle, "From archived results").set_value(True).run()
    data = (cases / "second/80-approve-na.csv").read_bytes().replace(b",Rejected,", b",spam,")
    named(app.file_uploader, "Result files of the campaign").set_value([("old.csv", data, "text/csv")]).run()
    assert not app.exception
    assert "Make the project" not in [button.label for button in app.button]
    named(app.selectbox, "What does the status “spam” mean?").set_value("rejected")
    named(app.button, "Read it with these meanings").click().run()
    assert not app.exception
    named(app.button, "Make the project").click().run()
    assert not app.exception
    assert {found.name for found in list_projects(ballot.store)} == {"trial", "old"}
