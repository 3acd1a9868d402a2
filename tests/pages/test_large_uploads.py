"""Large result files are read and taken by jobs: as at once, found by other tabs, with every fault in words."""

from __future__ import annotations

import os
import time

import pytest
from campaigns import answer_batch, draw_batch, make_project
from page_words import labelled, press, words
from test_evaluate_jobs import finish

from core.commands import executor
from core.commands.figures import base
from core.commands.figures.files import ReadFile, answers_of
from core.jobs import lifecycle
from core.store.ballots.ballot_rows import read_ballots, read_comparisons
from core.store.stored_files import output_path, put_upload
from core.store.votes.intake import accept_upload, preview_upload
from core.store.votes.tallies import progress_of
from core.store.votes.uploads import read_uploads, withdraw_upload
from core.votes.reasons import report_file
from ui.collect import uploads

READING = "Reading the file in the background"


@pytest.fixture
def large(empty, figures_are_long, all_commands_are_long):
    """A project whose files all count as large, and answers to its open ballot, one of them rejected."""
    figures_are_long(ReadFile)
    project_id = make_project(empty)
    data = answer_batch(draw_batch(empty, project_id), status="Submitted")
    return empty, project_id, data.replace(b'"Submitted"', b'"Rejected"', 1)


def give(visit, project_id: str, *files: tuple[str, bytes]):
    app = visit("collect", project_id)
    app.file_uploader[0].set_value([(name, data, "text/csv") for name, data in files]).run()
    assert not app.exception
    return app


def job_of(store, project_id: str, kind: str) -> lifecycle.Job:
    return lifecycle.project_jobs(store, project_id, kind)[0]


def read(store, project_id: str):
    job = job_of(store, project_id, ReadFile.kind)
    return base.read(store, base.figure_of(job, ReadFile), job)


def test_a_file_read_and_taken_by_jobs_is_as_at_once(large, visit, started, monkeypatch):
    store, project_id, data = large
    monkeypatch.setattr(uploads, "MOST_SHOWN", 3)
    app = give(visit, project_id, ("results.csv", data))
    assert READING in words(app)
    other = give(visit, project_id, ("results.csv", data))
    assert READING in words(other)
    assert len(started) == 1
    assert not read_uploads(store, project_id)
    finish(started[0])
    app.run()
    at_once, found = preview_upload(store, project_id, data, "results.csv"), read(store, project_id)
    told = found.result
    assert (told.counts, told.row_counts, told.n_rows) == (at_once.counts, at_once.row_counts, at_once.n_rows)
    for name in at_once.counts:
        assert report_file(answers_of(found, name)) == report_file(at_once.table(name))
        assert report_file(answers_of(found, name, 3)) == report_file(at_once.table(name).head(3))
    table = next(frame.value for frame in app.dataframe if "class" in frame.value)
    assert table["answers"].sum() == sum(at_once.counts.values())
    press(app, "Accept these votes")
    assert "Taking the votes in the background" in words(app)
    assert not [button for button in app.button if button.label == "Accept these votes"]
    finish(started[1])
    assert executor.done_text(job_of(store, project_id, executor.KIND)).startswith("results.csv is accepted: ")
    app.run()
    assert "results.csv is accepted" in words(app)
    (upload,), ballot_id = read_uploads(store, project_id), read_ballots(store, project_id)[0].id
    assert upload.counts == at_once.counts
    by_job = progress(store, ballot_id)
    withdraw_upload(store, project_id, upload.id)
    accept_upload(store, project_id, data, "results.csv")
    assert progress(store, ballot_id) == by_job
    assert by_job.votes == at_once.counts["new"]


def progress(store, ballot_id: int):
    with store.read() as conn:
        return progress_of(conn, ballot_id)


def test_several_files_and_the_way_back(large, visit, started):
    store, project_id, data = large
    lines = data.splitlines(keepends=True)
    one, two = b"".join(lines[:6]), b"".join([lines[0], *lines[6:]])
    app = give(visit, project_id, ("one.csv", one), ("two.csv", two))
    for job in list(started):
        finish(job)
    app.run()
    press(app, "Accept the votes of 2 files")
    finish(started[2])
    app.run()
    assert "one.csv is accepted" in words(app)
    assert "two.csv is accepted" in words(app)
    assert len(read_uploads(store, project_id)) == 2
    press(app, "Withdraw it")
    assert "Withdrawing the upload in the background" in words(app)
    finish(started[3])
    app.run()
    assert "count no more" in words(app)
    assert [upload.withdrawn_at is None for upload in read_uploads(store, project_id)].count(False) == 1


def test_a_file_of_which_another_tab_took_the_votes(large, visit, started):
    """Nothing is doubled, and what wasn't taken is told with the reason."""
    store, project_id, data = large
    app = give(visit, project_id, ("results.csv", data))
    finish(started[0])
    app.run()
    press(app, "Accept these votes")
    accept_upload(store, project_id, data, "results.csv")
    finish(started[1])
    app.run()
    assert "Taking the votes ended early. results.csv holds no vote that isn't in the store already." in words(app)
    assert len(read_uploads(store, project_id)) == 1


@pytest.mark.release
def test_columns_are_named_for_a_large_file_too(large, visit, started):
    store, project_id, _ = large
    rows = [f"anna,1,{row.left_a},{row.left_b},{row.right_a},{row.right_b}"
            for row in read_comparisons(store, project_id, 1).itertuples()]  # fmt: skip
    data = ("who,what,a,b,c,d\n" + "\n".join(rows) + "\n").encode()
    app = give(visit, project_id, ("own.csv", data))
    finish(started[0])
    app.run()
    assert not app.exception
    assert "say which column is which" in words(app)
    for label, column in (
        ("Voter", "who"), ("Choice", "what"), ("Left pair, first token", "a"), ("Left pair, second token", "b"),
        ("Right pair, first token", "c"), ("Right pair, second token", "d"),
    ):  # fmt: skip
        labelled(app.selectbox, label).set_value(column).run()
    press(app, "Read it this way")
    assert READING in words(app)  # it is read anew, by itself
    finish(started[1])
    app.run()
    assert "the first in row 2" in words(app)  # a file of ones only: left, or right?
    labelled(app.selectbox, "What does the choice “1” mean?").set_value("left")
    press(app, "Read it with these meanings")
    assert READING in words(app)
    finish(started[2])
    app.run()
    table = next(frame.value for frame in app.dataframe if "class" in frame.value)
    assert table["answers"].tolist() == [42]
    press(app, "Accept these votes")
    finish(started[3])
    assert read_uploads(store, project_id)[0].counts == {"new": 42}


@pytest.mark.parametrize(
    "data",
    [b"comparison_id,voter,choice\n1\n"],
)
def test_a_file_that_cannot_be_read_says_what_it_says_at_once(large, visit, started, data, monkeypatch):
    _, project_id, _ = large
    app = give(visit, project_id, ("odd.csv", data))
    finish(started[0])
    app.run()
    monkeypatch.setattr(ReadFile, "seconds", lambda *_: 0.0)
    at_once = give(visit, project_id, ("odd.csv", data))
    assert len(started) == 1
    assert [error.value for error in app.error] == [error.value for error in at_once.error]
    assert [info.value for info in app.info] == [info.value for info in at_once.info]
    assert app.error or app.info


def test_stopped_failed_and_gone_it_can_be_read_again(large, visit, started):
    store, project_id, data = large
    app = give(visit, project_id, ("results.csv", data))
    lifecycle._children.clear()
    press(app, "Cancel")
    press(app, "Read it again")
    assert READING in words(app)
    lifecycle._children.clear()
    lifecycle.finish(store, started[1], state="failed", error="No memory, *at all*.")
    app.run()
    assert "Reading the file ended early. No memory, *at all*." in words(app)
    (store.incoming / f"upload-{put_upload(store, data)}").unlink()
    press(app, "Read it again")
    finish(started[2])
    app.run()
    assert labelled(app.button, "Accept these votes")
    output_path(store, started[2]).unlink()  # a day later
    app = give(visit, project_id, ("results.csv", data))
    assert READING in words(app)
    assert len(started) == 4


def test_what_lies_there_for_jobs_goes_after_a_day(large, visit, started):
    store, project_id, data = large
    give(visit, project_id, ("results.csv", data))
    finish(started[0])
    made, brought = output_path(store, started[0]), store.incoming / f"upload-{put_upload(store, data)}"
    stray = output_path(store, "0123456789abcdef")
    stray.write_bytes(b"of no job")
    lifecycle.sweep(store)
    assert made.is_file()
    assert brought.is_file()
    assert not stray.exists()
    two_days = time.time() - 2 * 24 * 3600
    for path in (made, brought):
        os.utime(path, (two_days, two_days))
    lifecycle.sweep(store)
    assert not made.exists()
    assert not brought.exists()
