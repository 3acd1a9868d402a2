"""The Collect page's upload box and the Project page's archived results, without a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from campaigns import answer_batch, draw_batch, make_project
from collect_page import MAIN, collect, named, texts
from streamlit.testing.v1 import AppTest

from core.store import Store
from core.store.projects.project_commands import list_projects
from core.store.votes.intake import preview_upload
from core.store.votes.judgements import read_policy
from core.votes.reasons import Policy


@pytest.fixture
def project(store: Store, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("RUNOFF_WORKSPACE", str(store.folder))
    return make_project(store)


def test_a_file_by_class_and_then_taken(store: Store, project: str) -> None:
    data = answer_batch(draw_batch(store, project), status="Submitted")
    data = data.replace(b'"Submitted"', b'"Rejected"', 1)
    app = collect(project)
    app.file_uploader[0].set_value([("results.csv", data, "text/csv")]).run()
    assert not app.exception
    table = next(frame.value for frame in app.dataframe if "class" in frame.value)
    counts = preview_upload(store, project, data, "results.csv").counts
    assert dict(zip(table["class"], table["answers"], strict=True)) == {
        "new votes": counts["new"], "rejected by the owner": counts["rejected"]
    }  # fmt: skip
    assert table["rows"].sum() == 14
    named(app.selectbox, "Class").set_value("rejected").run()
    rows = next(frame.value for frame in app.dataframe if "reason" in frame.value)
    assert set(rows["class"]) == {"rejected"}
    named(app.button, "Accept these votes").click().run()
    assert not app.exception
    assert "results.csv is accepted" in texts(app)


def test_columns_are_named_and_remembered(store: Store, project: str) -> None:
    from core.store.ballots.ballot_rows import read_comparisons

    draw_batch(store, project)
    rows = [f"anna,1,{row.left_a},{row.left_b},{row.right_a},{row.right_b}"
            for row in read_comparisons(store, project, 1).itertuples()]  # fmt: skip
    data = ("who,what,a,b,c,d\n" + "\n".join(rows) + "\n").encode()
    app = collect(project)
    app.file_uploader[0].set_value([("own.csv", data, "text/csv")]).run()
    assert not app.exception
    assert "say which column is which" in texts(app)
    for label, column in (
        ("Voter", "who"), ("Choice", "what"), ("Left pair, first token", "a"), ("Left pair, second token", "b"),
        ("Right pair, first token", "c"), ("Right pair, second token", "d"),
    ):  # fmt: skip
        named(app.selectbox, label).set_value(column).run()
        assert not app.exception
    preview = next(frame.value for frame in app.dataframe if "voter" in frame.value)
    assert preview["choice"].tolist() == ["? 1"] * 5  # left, or right? A file of ones only doesn't say
    named(app.selectbox, "“1” means").set_value("left").run()
    preview = next(frame.value for frame in app.dataframe if "voter" in frame.value)
    assert preview["choice"].tolist() == ["the left (first) pair"] * 5
    named(app.button, "Read it this way").click().run()
    assert not app.exception
    assert preview_upload(store, project, data, "own.csv").counts == {"new": 42}


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n\x1a\n\0\0"])
def test_a_file_without_a_table_asks_for_no_columns(store: Store, project: str, data: bytes) -> None:
    draw_batch(store, project)
    app = collect(project)
    app.file_uploader[0].set_value([("own.csv", data, "text/csv")]).run()
    assert not app.exception
    assert len(app.error) == 1
    assert not [toggle.label for toggle in app.toggle if toggle.label.startswith("Name the columns")]


def test_what_counts_is_a_choice(store: Store, project: str) -> None:
    draw_batch(store, project)
    app = collect(project)
    assert "not counted; of a voter's several votes on one comparison the earliest counts" in texts(app)
    named(app.radio, "Of a voter's several votes on one comparison").set_value("latest")
    next(button for button in app.button if button.label == "Save").click().run()
    assert not app.exception
    assert read_policy(store, project) == Policy(repeats="latest")


@pytest.mark.release
def test_archived_results_become_a_project(store: Store, project: str, cases: Path) -> None:
    app = AppTest.from_file(MAIN, default_timeout=120)
    app.query_params["project"] = project
    app.run()
    named(app.toggle, "From archived results").set_value(True).run()
    data = (cases / "31-results-rejected.csv").read_bytes()
    named(app.file_uploader, "Result files of the campaign").set_value([("old.csv", data, "text/csv")]).run()
    assert not app.exception
    assert "1 area, 4 tokens, 2 items, 2 comparisons" in texts(app)
    assert "WorkerId" in named(app.selectbox, "Voter").options
    assert not [name for box in app.selectbox for name in box.options if "\\" in name]  # names as they are
    named(app.button, "Make the project").click().run()
    assert not app.exception
    assert {found.name for found in list_projects(store)} == {"Test", "old"}
    assert named(app.toggle, "From archived results").value is False
    assert "Result files of the campaign" not in [box.label for box in app.file_uploader]


def test_archived_results_whose_words_are_nowhere_named_ask_for_the_columns(project: str) -> None:
    app = AppTest.from_file(MAIN, default_timeout=120)
    app.query_params["project"] = project
    app.run()
    named(app.toggle, "From archived results").set_value(True).run()
    data = (
        b"HITId,AssignmentId,WorkerId,Input.p,Input.q,Input.r,Input.s,Input.t,Answer.which\nh,a,w,cat,dog,car,bus,x,A\n"
    )
    named(app.file_uploader, "Result files of the campaign").set_value([("odd.csv", data, "text/csv")]).run()
    assert not app.exception
    assert not app.error
    assert "Say which columns hold the four tokens" in texts(app)
    columns = (
        "Left pair, first token",
        "Left pair, second token",
        "Right pair, first token",
        "Right pair, second token",
    )
    for label, column in zip(columns, "pqrs", strict=True):
        named(app.selectbox, label).set_value(f"Input.{column}").run()
    assert "1 area, 4 tokens, 2 items, 1 comparison" in texts(app)
