"""The process is killed at random moments of uploading, closing and drawing; the workspace is whole each time."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
import time

import pytest
import sqlalchemy as sa
from campaigns import PLAN, answer_batch, make_project

from core.commands.integrity import check_store
from core.errors import StoreError
from core.questions.comparison_page import write_batch
from core.store import open_store
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots, read_comparisons
from core.store.ballots.closing import close_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.engine import _open
from core.store.projects.project_commands import get_project
from core.store.votes.intake import accept_upload
from core.store.votes.tallies import ballot_votes, progress_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
KILLS = 30


def work(where: dict[str, str], project_id: str, started: multiprocessing.synchronize.Event) -> None:
    """Take the project one step on, over and over: draw, upload, close."""
    os.environ.update(where)
    store = open_store()
    started.set()
    while step(store, project_id):
        pass
    time.sleep(60)  # until it is killed


def step(store, project_id: str) -> bool:
    """One command of the campaign; False once it is over."""
    ballots = read_ballots(store, project_id)
    if not ballots or not ballots[-1].is_open:
        if len(ballots) == PLAN.n_ballots:
            return False
        draw_next_ballot(store, project_id)
        return True
    with store.read() as conn:
        voted = progress_of(conn, ballots[-1].id).votes
    if voted < ballots[-1].n_comparisons:
        batch = write_batch(read_comparisons(store, project_id, ballots[-1].number))
        accept_upload(store, project_id, answer_batch(batch), "results.csv")
    else:
        close_ballot(store, project_id)
    return True


@pytest.mark.release
def test_killed_at_thirty_random_moments_the_workspace_stays_whole(tmp_path):
    folder = tmp_path / "workspace"
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["core.store.votes.intake", "core.store.ballots.ballot_rows", "scipy.sparse.csgraph"]
    )
    rng = random.Random(20)
    store = open_store(folder)
    ballot_seconds = seconds_of_a_ballot(store)
    project_id = make_project(store)
    busy, seen = 0, set()
    for _ in range(KILLS):
        started = context.Event()
        child = context.Process(target=work, args=(store.environment, project_id, started))
        child.start()
        assert started.wait(30)
        time.sleep(ballot_seconds * 10 ** rng.uniform(-1.5, 0.7))  # from the first command on to several later ones
        os.kill(child.pid, signal.SIGKILL)
        child.join(10)
        busy += not over(store, project_id)
        seen.add(state_of(store, project_id))
        check_whole(store, project_id)
        if over(store, project_id):
            project_id = make_project(store)
    _open.cache_clear()
    assert busy >= KILLS // 3  # so many kills came before the campaign was through
    assert len(seen) >= 4  # the kills fell into different states of the campaign
    finish(store, project_id)


def seconds_of_a_ballot(store) -> float:
    """How long draw, upload and close take on this machine now: the moments of the kills are measured by it."""
    other = make_project(store)
    start = time.monotonic()
    for _ in range(3):
        step(store, other)
    return time.monotonic() - start


def state_of(store, project_id: str) -> tuple:
    ballots = read_ballots(store, project_id)
    if not ballots:
        return (0, "none", 0)
    with store.read() as conn:
        return (ballots[-1].number, ballots[-1].state, progress_of(conn, ballots[-1].id).votes > 0)


def over(store, project_id: str) -> bool:
    ballots = read_ballots(store, project_id)
    return len(ballots) == PLAN.n_ballots and not ballots[-1].is_open


def finish(store, project_id: str) -> None:
    """What was cut short can be taken up again and brought to its end."""
    while step(store, project_id):
        pass
    assert over(store, project_id)
    with pytest.raises(StoreError, match="All 3 ballots"):
        draw_next_ballot(store, project_id)


def check_whole(store, project_id: str) -> None:
    """Every command happened wholly or not at all."""
    assert check_store(store).faults == ()
    with store.read() as conn:
        last = conn.execute(sa.select(sa.func.max(t.log.c.revision)).where(t.log.c.project_id == project_id)).scalar()
        n_entries = conn.execute(sa.select(sa.func.count()).where(t.log.c.project_id == project_id)).scalar()
        assert last == n_entries == get_project(store, project_id).revision
        for ballot in read_ballots(store, project_id):
            count = sa.select(sa.func.count()).select_from(t.question).where(t.question.c.ballot_id == ballot.id)
            assert conn.execute(count).scalar() == ballot.n_comparisons
            progress = progress_of(conn, ballot.id)
            assert progress.votes == len(ballot_votes(conn, ballot.id).first)
            assert progress.votes in (0, ballot.n_comparisons)
            uploads = (
                conn.execute(sa.select(t.upload.c.sha256).where(t.upload.c.ballot_id == ballot.id)).scalars().all()
            )
            assert len(uploads) == (1 if progress.votes else 0)
            assert all((store.uploads / sha256).is_file() for sha256 in uploads)
            scored = sa.select(sa.func.count(t.ballot_item.c.mean)).where(t.ballot_item.c.ballot_id == ballot.id)
            assert conn.execute(scored).scalar() == (0 if ballot.is_open else ballot.n_items)
            tallied = sa.select(sa.func.sum(t.ballot_item.c.wins + t.ballot_item.c.ties + t.ballot_item.c.losses))
            assert conn.execute(tallied.where(t.ballot_item.c.ballot_id == ballot.id)).scalar() == 2 * progress.votes
