"""A ballot of many votes is closed by a job: the same scores as at once, one job for all tabs, stopped by a change."""

from __future__ import annotations

import signal
import socket

import pytest
import sqlalchemy as sa
from page_words import labelled, press, words
from test_evaluate_jobs import finish

from core.commands import ballots, executor
from core.commands.ballots import CloseBallot
from core.jobs import lifecycle
from core.protocols import protocol_of
from core.protocols.paper import Paper
from core.questions.voting_settings import VotingSettings
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots
from core.store.ballots.closing import close_ballot, reopen_ballot
from core.store.ballots.simulated import simulate_votes
from core.store.command import command
from core.store.engine import now
from core.store.scores.project_dataset import read_project_dataset
from core.store.voting.closing_pause import CLOSING
from core.store.voting.owner_commands import open_voting, read_voting
from core.views.collect import collect_page

NOBODY = 2**22 + 1  # no process of Linux has so high an id


@pytest.fixture
def many(demo, monkeypatch):
    """The demo's open ballot with all its votes, which count as too many to be closed at once."""
    simulate_votes(demo, "demo")
    monkeypatch.setattr(executor, "AT_ONCE", Paper().seconds(10))
    return demo


def newest(store):
    return lifecycle.project_jobs(store, "demo", executor.KIND)


def test_it_closes_in_the_background_with_the_scores_it_would_have_at_once(many, visit, started):
    number = read_ballots(many, "demo")[-1].number
    app = visit("collect", "demo")
    press(app, f"Close ballot {number}")
    assert read_ballots(many, "demo")[-1].is_open
    assert "Closing the ballot in the background" in words(app)
    assert "Any change to the project stops it. You may leave this page." in words(app)
    other = visit("collect", "demo")  # another tab finds the same job, and its button waits
    assert labelled(other.button, f"Close ballot {number}").disabled
    finish(*started)
    assert not read_ballots(many, "demo")[-1].is_open
    by_job = read_project_dataset(many, "demo")
    reopen_ballot(many, "demo")
    close_ballot(many, "demo")
    assert by_job.equals(read_project_dataset(many, "demo"))
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
    lifecycle.finish(many, *started, state="failed", error="No memory, *at all*.")
    app = visit("collect", "demo")
    assert "Closing the ballot ended early. No memory," in words(app)
    assert [b for b in app.button if b.label == f"Close ballot {number}"]


def test_the_job_stops_at_a_signal_as_an_error_would(many, monkeypatch):
    def close(*_args, **_kwargs):
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(ballots, "close_ballot", close)
    before = signal.getsignal(signal.SIGTERM)
    params = executor.params_of(CloseBallot("demo", 1, None, "b1-0", 1, "campaign"))
    job = lifecycle.Job("a", "demo", executor.KIND, params, "running", None, 0, 0, "", None, None, "", None, None, None)
    with pytest.raises(SystemExit):
        executor.carry_out(many, job)
    assert signal.getsignal(signal.SIGTERM) is before


def test_few_votes_and_pilots_are_closed_at_once(many, monkeypatch):
    view = collect_page.load(many, "demo")
    stage = view.open_stage
    of_all = sum(each.progress.votes for each in view.drawn)
    limit = of_all if stage.ballot.protocol == "runoff" else stage.progress.votes
    close = CloseBallot.of("demo", 1, stage.ballot)
    monkeypatch.setattr(executor, "AT_ONCE", protocol_of(stage.ballot.protocol).seconds(limit))
    assert not executor.takes_long(many, close)
    monkeypatch.setattr(executor, "AT_ONCE", protocol_of(stage.ballot.protocol).seconds(limit - 1))
    assert executor.takes_long(many, close)


@pytest.fixture
def voting_page(many):
    """The demo's open ballot with a voting page that is open."""
    open_voting(many, "demo", VotingSettings())
    return many


def test_voting_rests_meanwhile_and_goes_on_after_stop(voting_page, visit, started):
    store = voting_page
    ballot = read_ballots(store, "demo")[-1]
    app = visit("collect", "demo")
    press(app, f"Close ballot {ballot.number}")
    _rest_for(store, ballot, pid=1)
    assert "Voting rests meanwhile." in words(visit("collect", "demo"))
    lifecycle._children.clear()
    press(app, "Cancel")
    assert read_voting(store, ballot.id).state == "open"
    told = "Closing the ballot was cancelled; nothing was changed. Voting goes on."
    assert told in words(app)
    app.run()
    assert told in words(app)  # beside the button, for whoever comes later
    assert [b for b in app.button if b.label == f"Close ballot {ballot.number}"]


def test_voting_goes_on_after_a_crash_of_the_job(voting_page, visit, started):
    store = voting_page
    ballot = read_ballots(store, "demo")[-1]
    press(visit("collect", "demo"), f"Close ballot {ballot.number}")
    _rest_for(store, ballot, pid=NOBODY)
    lifecycle._children.clear()
    with store.write(lifecycle.JOBS) as conn:
        conn.execute(sa.update(t.job).where(t.job.c.id == started[0]).values(state="running", pid=NOBODY))
    app = visit("collect", "demo")  # whoever looks finds it out
    told = words(app.run())
    assert "Closing the ballot ended early." in told
    assert "Voting goes on." in told
    assert read_voting(store, ballot.id).state == "open"


def _rest_for(store, ballot, pid):
    """As the job's process leaves it that was killed."""
    settings = read_voting(store, ballot.id).settings.stored()
    note = {"who": "w", "process": "p", "pid": pid, "machine": socket.gethostname(), "seen_at": now()}
    with store.write("demo") as conn:
        row = sa.update(t.voting).where(t.voting.c.ballot_id == ballot.id)
        conn.execute(row.values(state="paused", settings=settings | {CLOSING: note}))
