"""One way for every size: what is short is done at once, what is long by a job, by `seconds()` alone."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest
from campaigns import answer_batch, draw_batch, make_project

from core import worker
from core.commands import ballots, executor
from core.commands.ballots import CloseBallot
from core.commands.figures.base import is_there, job_of, params_of, read
from core.commands.figures.files import ProjectFile
from core.commands.figures.votes import ChecksOfVotes
from core.jobs import lifecycle
from core.store.ballots.ballot_rows import read_ballots
from core.store.projects.archive import export_project
from core.store.projects.project_commands import get_project, read_log
from core.store.votes.intake import accept_upload
from core.store.votes.tallies import progress_of


@pytest.fixture
def voted(store):
    """A project whose open ballot has its votes."""
    project_id = make_project(store)
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id)), "results.csv")
    return project_id


@pytest.fixture
def waiting(monkeypatch, store):
    """Jobs wait until the test runs them in this process."""

    class Process:
        pid = 1

        def __init__(self, *_args, **_options):
            pass

        def poll(self):
            return None

    monkeypatch.setenv("RUNOFF_WORKSPACE", str(store.folder))
    monkeypatch.setattr(subprocess, "Popen", Process)
    yield
    lifecycle._children.clear()


def run(store, started: executor.Started) -> lifecycle.Job:
    lifecycle._children.clear()
    worker.run(started.job_id)
    return lifecycle.read_job(store, started.job_id)


@pytest.mark.parametrize("n_votes", [100, 2_000_000])
def test_closing_is_one_command_at_any_size(store, voted, waiting, monkeypatch, n_votes):
    monkeypatch.setattr(ballots, "progress_of", lambda conn, id_: replace(progress_of(conn, id_), votes=n_votes))
    (ballot,) = read_ballots(store, voted)
    close = CloseBallot.of(voted, get_project(store, voted).revision, ballot)
    outcome = executor.submit(store, close)
    assert isinstance(outcome, executor.Done if n_votes == 100 else executor.Started)
    if isinstance(outcome, executor.Started):
        assert read_ballots(store, voted)[0].is_open
        job = run(store, outcome)
        assert (job.state, job.error) == ("done", None)
        assert executor.done_text(job) == close.summary(None)
    assert not read_ballots(store, voted)[0].is_open
    assert [entry["action"] for entry in read_log(store, voted, 50)].count("close ballot") == 1


def test_a_figure_is_measured_at_once_or_kept_by_a_job(store, voted, waiting, monkeypatch):
    figure = ChecksOfVotes(voted, get_project(store, voted).revision, None)
    at_once = executor.submit(store, figure)
    assert isinstance(at_once, executor.Done)
    assert at_once.result.result.n_votes == 42
    assert job_of(store, figure) is None  # nothing is kept of what is short
    monkeypatch.setattr(executor, "AT_ONCE", 0.0)
    started = executor.submit(store, figure)
    assert executor.submit(store, figure) == started  # one job, whoever asks
    job = run(store, started)
    assert job.params == params_of(figure)
    assert read(store, figure, job).result.n_votes == 42


def test_a_file_lies_beside_the_figure_that_a_job_keeps(store, voted, waiting, monkeypatch):
    monkeypatch.setattr(executor, "AT_ONCE", 0.0)
    figure = ProjectFile(voted, get_project(store, voted).revision)
    job = run(store, executor.submit(store, figure))
    found = read(store, figure, job)
    assert is_there(store, figure, job)
    assert found.read_file() == export_project(store, voted)
    assert found.result.size == len(found.read_file())
