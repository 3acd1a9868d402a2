"""A ballot of many votes is closed by a job: the same scores as at once, one job for all tabs, stopped by a change."""

from __future__ import annotations

import signal

import pytest
from test_evaluate_jobs import finish
from test_pages import press, words

from core import jobs, work
from core.store.ballots import read_ballots
from core.store.closing import close_ballot, reopen_ballot
from core.store.command import command
from core.store.scores import read_dataset
from core.store.simulated import simulate_votes
from core.views import closing, collect


@pytest.fixture
def many(demo, monkeypatch):
    """The demo's open ballot with all its votes, which count as too many to be closed at once."""
    simulate_votes(demo, "demo")
    monkeypatch.setattr(closing, "AT_ONCE", dict.fromkeys(closing.AT_ONCE, 10))
    return demo


def newest(store):
    return jobs.project_jobs(store, "demo", closing.KIND)


def test_it_closes_in_the_background_with_the_scores_it_would_have_at_once(many, visit, started):
    number = read_ballots(many, "demo")[-1].number
    app = visit("collect", "demo")
    press(app, f"Close ballot {number}")
    assert read_ballots(many, "demo")[-1].is_open
    assert f"Ballot {number} is being closed in the background" in words(app)
    other = visit("collect", "demo")  # another tab finds the same job, and no second button
    assert not [button for button in other.button if button.label.startswith("Close ballot")]
    finish(*started)
    assert not read_ballots(many, "demo")[-1].is_open
    by_job = read_dataset(many, "demo")
    reopen_ballot(many, "demo")
    close_ballot(many, "demo")
    assert by_job.equals(read_dataset(many, "demo"))
    assert not visit("collect", "demo").exception


def test_a_change_in_the_meantime_stops_it_and_the_page_lets_it_be_tried_again(many, visit, started):
    number = read_ballots(many, "demo")[-1].number
    app = visit("collect", "demo")
    press(app, f"Close ballot {number}")
    with command(many, "demo", "something else"):
        pass
    finish(*started)
    (job,) = newest(many)
    assert job.state == "failed"
    assert "changed in the meantime" in str(job.error)
    assert read_ballots(many, "demo")[-1].is_open
    assert [b for b in visit("collect", "demo").button if b.label == f"Close ballot {number}"]


def test_why_it_failed_stands_beside_the_button(many, visit, started):
    number = read_ballots(many, "demo")[-1].number
    press(visit("collect", "demo"), f"Close ballot {number}")
    jobs.finish(many, *started, state="failed", error="No memory, *at all*.")
    app = visit("collect", "demo")
    assert f"Closing ballot {number} ended early. No memory," in words(app)
    assert [b for b in app.button if b.label == f"Close ballot {number}"]


def test_the_job_stops_at_a_signal_as_an_error_would(many, monkeypatch):
    def close(*_args, **_kwargs):
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(work, "close_ballot", close)
    before = signal.getsignal(signal.SIGTERM)
    params = {"area_id": None, "ballot": 1, "revision": 1}
    job = jobs.Job("a", "demo", closing.KIND, params, "running", None, 0, 0, "", None, None, "", None, None, None)
    with pytest.raises(SystemExit):
        work.WORK[closing.KIND](many, job, lambda *_: None)
    assert signal.getsignal(signal.SIGTERM) is before


def test_few_votes_and_pilots_are_closed_at_once(many, monkeypatch):
    view = collect.load(many, "demo")
    stage = view.open_stage
    of_all = sum(each.progress.votes for each in view.stages if each.progress)
    limit = of_all if stage.ballot.protocol == "runoff" else stage.progress.votes
    monkeypatch.setattr(closing, "AT_ONCE", dict.fromkeys(closing.AT_ONCE, limit))
    assert not closing.takes_long(view, stage)
    monkeypatch.setattr(closing, "AT_ONCE", dict.fromkeys(closing.AT_ONCE, limit - 1))
    assert closing.takes_long(view, stage)
