"""Voting rests while a ballot is closed, and goes on as before where that is stopped or its process dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from test_voting import BASIC, Voter, ballot_id, longer_pair, start

from core.commands.integrity import check_store
from core.errors import StoreError
from core.jobs import lifecycle
from core.store import schema as t
from core.store.ballots import closing
from core.store.ballots.closing import close_ballot
from core.store.engine import now
from core.store.voting import closing_pause
from core.store.voting.closing_pause import CLOSING, resume_voting
from core.store.voting.housekeeping import do_housekeeping
from core.store.voting.owner_commands import open_voting, read_voting, set_voting_state

ROOT = Path(__file__).resolve().parents[2]
HERE = closing_pause.socket.gethostname()
NOBODY = 2**22 + 1  # no process of Linux has so high an id

# Closes the ballot, and stops to be killed where the scores would be computed.
_CLOSE = """
import sys, time
from pathlib import Path
from core.store.ballots import closing; from core.store import open_store
def never(*_, **__):
    print("closing", flush=True)
    time.sleep(600)
closing.score_ballot = never
closing.close_ballot(open_store(Path(sys.argv[1])), sys.argv[2])
"""


@pytest.fixture
def voted(store):
    """A workspace whose ballot has all its votes, from its voting page; project and link."""
    project_id, code = start(store, replace(BASIC, task_size=50))
    Voter(store, code).task(longer_pair)
    return store, project_id, code


@pytest.fixture
def closing_elsewhere(voted):
    """A process that is just closing the ballot."""
    store, project_id, _ = voted
    process = subprocess.Popen(
        [sys.executable, "-c", _CLOSE, str(store.folder), project_id],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **store.environment, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout.readline() == "closing\n"
    yield process
    process.kill()
    process.communicate()


def page(store, project_id):
    return read_voting(store, ballot_id(store, project_id))


def rest_for(store, project_id, **note):
    """Let the page rest for a process of which a note tells."""
    before = page(store, project_id)
    note = {"who": "w", "process": "p", "pid": os.getpid(), "machine": HERE, "seen_at": now()} | note
    with store.write(project_id) as conn:
        settings = before.settings.stored() | {CLOSING: note}
        conn.execute(sa.update(t.voting).where(t.voting.c.id == before.id).values(state="paused", settings=settings))


def stored_settings(store):
    with store.read() as conn:
        return conn.execute(sa.select(t.voting.c.settings)).scalar_one()


def test_it_rests_while_the_ballot_is_closed_and_is_closed_with_it(voted, monkeypatch):
    store, project_id, code = voted
    seen = []
    score = closing.score_ballot

    def scores(*args, **kwargs):
        seen.append(
            (page(store, project_id).state, page(store, project_id).in_closing_pause, Voter(store, code).view.kind)
        )
        assert resume_voting(store) == 0
        return score(*args, **kwargs)

    monkeypatch.setattr(closing, "score_ballot", scores)
    close_ballot(store, project_id)
    assert seen == [("paused", True, "paused")]
    assert page(store, project_id).state == "closed"
    assert CLOSING not in stored_settings(store)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_process_that_was_killed_leaves_it_as_it_was_at_the_next_start(voted, closing_elsewhere):
    store, project_id, code = voted
    settings = page(store, project_id).settings
    assert page(store, project_id).in_closing_pause
    lifecycle.sweep(store)
    assert page(store, project_id).in_closing_pause  # the process lives
    closing_elsewhere.send_signal(signal.SIGKILL)
    closing_elsewhere.wait()
    lifecycle.sweep(store)
    found = page(store, project_id)
    assert (found.state, found.in_closing_pause, found.settings) == ("open", False, settings)
    assert CLOSING not in stored_settings(store)
    assert Voter(store, code, "Bert").view.kind != "paused"
    assert not check_store(store).faults
    close_ballot(store, project_id)
    assert page(store, project_id).state == "closed"


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_the_server_of_the_voting_page_lets_it_go_on_too(voted, closing_elsewhere):
    store, project_id, _ = voted
    closing_elsewhere.send_signal(signal.SIGKILL)
    closing_elsewhere.wait()
    do_housekeeping(store, set())
    assert page(store, project_id).state == "open"


@pytest.mark.release
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_stopping_the_job_lets_it_go_on(voted, closing_elsewhere):
    """A job whose process ends at the signal without a word, or is killed as it doesn't heed it in time."""
    store, project_id, _ = voted
    row = {"id": "j", "project_id": project_id, "kind": "close_ballot", "params": {}, "state": "running"}
    with store.write(lifecycle.JOBS) as conn:
        conn.execute(sa.insert(t.job).values(**row, created_at=now(), started_at=now(), pid=closing_elsewhere.pid))
    lifecycle._children["j"] = closing_elsewhere
    lifecycle.cancel(store, "j")
    assert closing_elsewhere.poll() is not None
    assert lifecycle.read_job(store, "j").state == "cancelled"
    assert page(store, project_id).state == "open"


def test_a_pause_of_the_owner_stays(store):
    project_id, _ = start(store)
    set_voting_state(store, project_id, "paused")
    with pytest.raises(StoreError, match="no votes yet"):
        close_ballot(store, project_id)
    assert resume_voting(store, {os.getpid()}) == 0
    assert page(store, project_id).state == "paused"


@pytest.mark.parametrize("state", ["open", "paused", "closed"])
def test_what_the_owner_decides_meanwhile_stands(store, state):
    project_id, _ = start(store)
    rest_for(store, project_id, pid=NOBODY)
    set_voting_state(store, project_id, state)
    assert resume_voting(store) == 0
    assert page(store, project_id).state == state
    open_voting(store, project_id, BASIC)
    assert CLOSING not in stored_settings(store)


def test_where_the_ballot_was_closed_before_the_process_died_its_page_is_closed(voted):
    store, project_id, _ = voted
    close_ballot(store, project_id)
    rest_for(store, project_id, pid=NOBODY)
    assert resume_voting(store) == 1
    found = page(store, project_id)
    assert (found.state, found.in_closing_pause) == ("closed", False)
    assert found.closed_at is not None


LONG_AGO = (datetime.now(UTC) - timedelta(hours=1)).isoformat()


@pytest.mark.parametrize(
    ("note", "wakes"),
    [
        ({"machine": HERE, "process": closing_pause._THIS_PROCESS}, False),
        ({"machine": HERE, "process": "an earlier one of this id"}, True),
        ({"machine": HERE, "pid": NOBODY}, True),
        ({"machine": HERE, "pid": os.getppid(), "seen_at": LONG_AGO}, False),  # it may have slept with its machine
        ({"machine": HERE, "pid": "x"}, True),
        ({"machine": "elsewhere", "pid": NOBODY}, False),
        ({"machine": "elsewhere", "seen_at": LONG_AGO}, True),
        ({"machine": "elsewhere", "seen_at": "yesterday"}, True),
        ({"machine": "elsewhere", "seen_at": None}, True),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="processes are taken to live there")
def test_whether_a_process_is_gone(store, note, wakes):
    project_id, _ = start(store)
    rest_for(store, project_id, **note)
    assert resume_voting(store) == int(wakes)
    assert page(store, project_id).state == ("open" if wakes else "paused")


def test_a_closing_that_takes_long_gives_signs_of_life(voted, monkeypatch):
    store, project_id, _ = voted
    monkeypatch.setattr(closing_pause, "BEAT_SECONDS", 0.01)
    seen = set()

    def scores(*_args, **_kwargs):
        while len(seen) < 3:
            seen.add(stored_settings(store)[CLOSING]["seen_at"])
        raise StoreError("enough")

    monkeypatch.setattr(closing, "score_ballot", scores)
    with pytest.raises(StoreError, match="enough"):
        close_ballot(store, project_id)
    assert page(store, project_id).state == "open"
