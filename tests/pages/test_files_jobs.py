"""Many votes: the dataset's zip, versions, the project file and the table to settle are made by jobs, and are the same
as at once; another visit finds them, a file that is gone is made again."""

from __future__ import annotations

import os
import time

import pandas as pd
import pytest
import sqlalchemy as sa
from campaigns import PLAN, answer_batch, draw_batch, make_project
from page_words import press, words
from test_evaluate_jobs import finish

from core.commands import executor
from core.commands.figures import base
from core.commands.figures.files import Assignments, DatasetFile, ProjectFile
from core.commands.publishing import publish
from core.dataset.formats import table_of
from core.dataset.published import read_published
from core.errors import StoreError
from core.jobs import lifecycle
from core.jobs.lifecycle import LEFT_SECONDS, sweep
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots
from core.store.command import command
from core.store.projects.archive import export_project
from core.store.projects.project_commands import get_project
from core.store.projects.releases import read_releases, release_bytes
from core.store.stored_files import output_path
from core.store.votes.intake import accept_upload
from core.store.votes.payment import read_assignments
from core.tables import ASSIGNMENTS
from core.views.collect import collect_page
from core.votes.payment import Rules

ZIP, FILE = "Make the dataset to publish (zip)", "Prepare the project file"
# The page, its button, the sign, and what can be downloaded then.
MADE = {
    "export": (ZIP, "Making the dataset's files", "Download the dataset (zip, "),
    "project": (FILE, "Writing the project file", "Download the project file (zip)"),
}


@pytest.fixture
def many(demo, figures_are_long, all_commands_are_long):
    """The demo, whose votes count as too many for its files to be made at once."""
    figures_are_long(DatasetFile, ProjectFile)
    return demo


@pytest.fixture
def settled(empty, figures_are_long, all_commands_are_long):
    """A ballot of people that counts as too large for its assignments to be read at once."""
    project_id = make_project(empty, plan=PLAN)
    accept_upload(empty, project_id, answer_batch(draw_batch(empty, project_id)), "results.csv")
    figures_are_long(Assignments)
    return empty, project_id


def downloads(app) -> list[str]:
    return [found.label for found in app.get("download_button")]


EITHER_PAGE = (
    "project",
    pytest.param("export", marks=pytest.mark.release),
)  # its files take seconds


def offered(app, label: str) -> bool:
    return any(found.startswith(label) for found in downloads(app))


def buttons(app) -> list[str]:
    return [button.label for button in app.button]


def vote(store, n: int, project_id: str = "demo") -> None:
    """What so many votes on the voting page do to the project."""
    with store.write(project_id) as conn:
        pulse = sa.update(t.project).where(t.project.c.id == project_id)
        conn.execute(pulse.values(pulse=t.project.c.pulse + n))


@pytest.mark.parametrize("page", EITHER_PAGE)
def test_a_file_is_made_in_the_background_and_found_again(page, many, visit, started):
    button, label, download = MADE[page]
    app = press(visit(page, "demo"), button)
    assert f"{label} in the background" in words(app)
    assert not offered(app, download)
    other = visit(page, "demo")  # another tab, or a reload
    assert f"{label} in the background" in words(other)
    assert button not in buttons(other)
    finish(*started)
    expected = publish(many, "demo").data if page == "export" else export_project(many, "demo")
    assert output_path(many, *started).read_bytes() == expected
    app = visit(page, "demo")
    assert not app.exception
    assert offered(app, download)
    assert button not in buttons(app)
    vote(many, 2)
    app = visit(page, "demo")
    assert "2 votes were given or taken back since." in words(app)
    assert offered(app, download)
    press(app, "Compute it again")
    finish(started[1])
    assert "taken back since" not in words(visit(page, "demo"))


@pytest.mark.parametrize("page", EITHER_PAGE)
def test_a_file_that_is_gone_can_be_made_again(page, many, visit, started):
    button, _, download = MADE[page]
    press(visit(page, "demo"), button)
    finish(*started)
    path = output_path(many, *started)
    sweep(many)
    assert path.is_file()
    yesterday = time.time() - LEFT_SECONDS - 60
    os.utime(path, (yesterday, yesterday))
    sweep(many)
    assert not path.exists()
    app = visit(page, "demo")
    assert not app.exception
    assert not offered(app, download)
    press(app, button)
    finish(started[1])
    assert offered(visit(page, "demo"), download)


@pytest.mark.release
def test_a_page_that_stays_open_says_so_of_a_file_that_is_gone(many, visit, started):
    press(visit("export", "demo"), ZIP)
    finish(*started)
    figure = DatasetFile("demo", get_project(many, "demo").revision)
    made = base.read(many, figure, lifecycle.read_job(many, *started))
    assert read_published(made.read_file()).files["datasheet.html"]
    found = made.result
    assert (found.size, found.filename) == (len(made.read_file()), publish(many, "demo").filename)
    output_path(many, *started).unlink()
    with pytest.raises(StoreError, match="Make it again"):
        made.read_file()


@pytest.mark.parametrize("kind", [ProjectFile, pytest.param(DatasetFile, marks=pytest.mark.release)])
def test_a_command_in_the_meantime_ends_it_and_leaves_no_file(kind, many, started):
    figure = kind("demo", get_project(many, "demo").revision)
    job_id = executor.start(many, figure)
    with command(many, "demo", "something else"):
        pass
    with pytest.raises(StoreError, match="changed while"):
        base.carry_out(many, figure, job_id, None)
    assert not output_path(many, job_id).exists()


def release(app, version: str):
    """Fill in the form of a version and send it."""
    next(field for field in app.text_input if field.label == "Version").set_value(version)
    return press(app, "Release")


@pytest.mark.release
def test_a_version_is_released_by_a_job(many, visit, started):
    app = release(visit("export", "demo"), " 1.0 ")
    assert "Releasing the version in the background" in words(app)
    assert read_releases(many, "demo") == []
    assert "Releasing the version in the background" in words(visit("scores", "demo"))
    finish(*started)
    (kept,) = read_releases(many, "demo")
    assert release_bytes(many, kept) == publish(many, "demo", "1.0").data
    app.run()
    assert not app.exception
    assert "Version 1.0 is released and kept." in words(app)
    app = release(visit("export", "demo"), "1.0")
    assert "stays as it is" in words(app)
    assert len(started) == 1


def test_a_version_is_not_released_of_another_state_than_was_seen(many, visit, started):
    app = release(visit("export", "demo"), "1.0")
    with command(many, "demo", "something else"):
        pass
    finish(*started)
    assert read_releases(many, "demo") == []
    assert "was changed in the meantime" in words(app.run())


@pytest.mark.release
def test_votes_hinder_no_version(many, visit, started):
    release(visit("export", "demo"), "1.0")
    vote(many, 3)
    finish(*started)
    assert [found.version for found in read_releases(many, "demo")] == ["1.0"]


def settle(visit, project_id: str):
    app = visit("collect", project_id)
    app.session_state[f"settle-{project_id}"] = True
    return app.run()


def test_assignments_are_read_in_the_background(settled, visit, started):
    store, project_id = settled
    ballot = read_ballots(store, project_id)[0]
    headline = collect_page.load_payment(store, project_id, ballot.id, Rules()).headline
    app = press(settle(visit, project_id), "Read the assignments")
    assert "Reading the assignments in the background" in words(app)
    assert headline not in words(app)
    finish(*started)
    app = settle(visit, project_id)
    assert not app.exception
    assert headline in words(app)
    at_once = collect_page.load_payment(store, project_id, ballot.id, Rules())
    figure = Assignments(project_id, get_project(store, project_id).revision, ballot.id)
    kept = base.read(store, figure, lifecycle.read_job(store, *started))
    read = table_of(kept.read_file(), ASSIGNMENTS)
    assert kept.result == len(read)
    found = collect_page.load_payment(store, project_id, ballot.id, Rules(), assignments=read)
    for name in ("assignments", "payments", "table"):
        pd.testing.assert_frame_equal(getattr(found, name), getattr(at_once, name))
    assert found.headline == at_once.headline
    assert (found.fine, found.doubtful, found.uploads) == (at_once.fine, at_once.doubtful, at_once.uploads)
    vote(store, 1, project_id)
    app = settle(visit, project_id)
    assert "1 vote was given or taken back since." in words(app)
    assert headline in words(app)


def test_after_a_decision_by_a_job_they_are_read_again(settled, visit, started):
    store, project_id = settled
    press(settle(visit, project_id), "Read the assignments")
    finish(*started)
    app = settle(visit, project_id)
    press(app, next(label for label in buttons(app) if label.startswith("Approve")))
    finish(started[1])
    assert set(read_assignments(store, read_ballots(store, project_id)[0].id)["review"]) == {"approve"}
    assert "Read the assignments" in buttons(settle(visit, project_id))
