"""The tallies and the progress that commands keep are never stale: after each one they are what a count says."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import StoreError
from core.questions.comparison_page import write_batch
from core.store import open_store
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots, read_comparisons
from core.store.ballots.closing import close_ballot, reopen_ballot
from core.store.ballots.drawing import discard_ballot, draw_next_ballot
from core.store.ballots.simulated import simulate_votes
from core.store.projects.archive import duplicate_project, export_project, import_project
from core.store.votes.intake import accept_upload
from core.store.votes.tallies import Progress, count_progress, progress_of
from core.store.votes.uploads import read_uploads, withdraw_upload
from tests.campaigns import PLAN, answer_batch, make_project

CHOICES = ("left", "right", "tie", "unknown")


def check(store, project_id):
    """Everything kept for the ballots of a project against a count of its judgements."""
    with store.read() as conn:
        for ballot in read_ballots(store, project_id):
            stored = conn.execute(sa.select(t.ballot.c.progress).where(t.ballot.c.id == ballot.id)).scalar_one()
            assert progress_of(conn, ballot.id) == Progress(**stored) == count_progress(conn, ballot.id)
            check_tallies(conn, ballot.id)


def check_tallies(conn, ballot_id):
    options = conn.execute(
        sa.select(t.question_option)
        .join(t.question, t.question.c.id == t.question_option.c.question_id)
        .where(t.question.c.ballot_id == ballot_id)
    )
    item_on = {(row.question_id, row.position): row.item_id for row in options}
    judgements = conn.execute(
        sa.select(t.judgement)
        .join(t.question, t.question.c.id == t.judgement.c.question_id)
        .where(t.question.c.ballot_id == ballot_id)
    ).all()
    votes: Counter = Counter(row.question_id for row in judgements if row.status == "counted")
    questions = conn.execute(sa.select(t.question).where(t.question.c.ballot_id == ballot_id)).all()
    assert {row.id: row.n_votes for row in questions} == {row.id: votes[row.id] for row in questions}
    tallies: Counter = Counter()
    for row in judgements:
        for side in (0, 1):
            item = item_on[row.question_id, side]
            if row.status == "unknown":
                tallies[item, "unknowns"] += 1
            elif row.status == "counted":
                value = row.value if side == 0 else 1 - row.value
                tallies[item, {1.0: "wins", 0.5: "ties", 0.0: "losses"}[value]] += 1
    for row in conn.execute(sa.select(t.ballot_item).where(t.ballot_item.c.ballot_id == ballot_id)):
        for name in ("wins", "ties", "losses", "unknowns"):
            assert getattr(row, name) == tallies[row.item_id, name]


def part_of(batch, share, offset):
    """Some of the tasks of a batch."""
    header, *tasks = batch.splitlines()
    some = [task for place, task in enumerate(tasks) if (place + offset) % 4 < share]
    return b"\n".join([header, *some]) + b"\n"


class Campaign:
    """A project, and steps that may or may not be possible where it stands."""

    def __init__(self, store):
        self.store, self.id = store, make_project(store, kind="trial")

    def upload(self, share, offset, voter, status):
        ballots = read_ballots(self.store, self.id)
        if not ballots:
            return
        comparisons = read_comparisons(self.store, self.id, ballots[-1].number)
        batch = part_of(write_batch(comparisons), share, offset)
        choice = (CHOICES[(offset + place) % 4] for place in range(10_000))
        data = answer_batch(batch, voters=(voter,), status=status, choose=lambda _: next(choice), tag=f"{voter}{share}")
        accept_upload(self.store, self.id, data, "results.csv")

    def withdraw(self, place):
        there = [upload for upload in read_uploads(self.store, self.id) if upload.withdrawn_at is None]
        if there:
            withdraw_upload(self.store, self.id, there[place % len(there)].id)

    def command(self, action):
        action(self.store, self.id)

    def simulate(self, share):
        simulate_votes(self.store, self.id, share=share)

    def move(self):
        """The project is exported and imported, and goes on as the import."""
        self.id = import_project(self.store, export_project(self.store, self.id), name=f"Copy of {self.id}")

    def copy(self):
        self.id = duplicate_project(self.store, self.id, f"Duplicate of {self.id}")


UPLOADS = st.tuples(
    st.just("upload"),
    st.integers(1, 4),
    st.integers(0, 3),
    st.sampled_from(["W1", "W2"]),
    st.sampled_from(["Approved", "Submitted", "Rejected"]),
)
COMMANDS = st.sampled_from([draw_next_ballot, draw_next_ballot, close_ballot, reopen_ballot, discard_ballot])
STEPS = st.one_of(
    UPLOADS,
    UPLOADS,
    st.tuples(st.just("command"), COMMANDS),
    st.tuples(st.just("withdraw"), st.integers(0, 3)),
    st.tuples(st.just("simulate"), st.sampled_from([0.3, 1.0])),
    st.sampled_from([("move",), ("copy",)]),
)


@pytest.mark.release
@settings(max_examples=15, deadline=None)
@given(steps=st.lists(STEPS, min_size=4, max_size=14))
def test_after_each_command_what_is_kept_is_what_is_counted(tmp_path_factory, steps):
    store = open_store(tmp_path_factory.mktemp("workspace"))
    try:
        campaign = Campaign(store)
        draw_next_ballot(store, campaign.id)
        check(store, campaign.id)
        for name, *args in steps:
            with suppress(StoreError):
                getattr(campaign, name)(*args)
            check(store, campaign.id)
    finally:
        store.engine.dispose()


@pytest.mark.release
def test_a_whole_campaign_keeps_its_progress(tmp_path):
    store = open_store(tmp_path / "workspace")
    campaign = Campaign(store)
    for number in range(1, PLAN.n_ballots + 1):
        draw_next_ballot(store, campaign.id)
        check(store, campaign.id)
        campaign.upload(2, 0, "W1", "Submitted")
        campaign.upload(2, 0, "W1", "Rejected")
        campaign.upload(4, 1, "W1", "Approved")
        check(store, campaign.id)
        campaign.withdraw(1)
        check(store, campaign.id)
        campaign.simulate(1.0)
        for action in (close_ballot, reopen_ballot, close_ballot):
            action(store, campaign.id)
            check(store, campaign.id)
        if number == 2:
            campaign.move()
            check(store, campaign.id)
    store.engine.dispose()


@pytest.mark.parametrize("stored", [None, {"votes": 3}])
def test_progress_that_was_never_written_is_counted(tmp_path, stored):
    store = open_store(tmp_path / "workspace")
    campaign = Campaign(store)
    draw_next_ballot(store, campaign.id)
    campaign.upload(3, 0, "W1", "Approved")
    ballot_id = read_ballots(store, campaign.id)[0].id
    with store.read() as conn:
        counted = progress_of(conn, ballot_id)
    with store.write() as conn:
        value = sa.null() if stored is None else stored
        conn.execute(sa.update(t.ballot).where(t.ballot.c.id == ballot_id).values(progress=value))
    with store.read() as conn:
        assert progress_of(conn, ballot_id) == counted
    assert counted.votes > 0
    store.engine.dispose()


def test_an_imported_file_has_no_say_in_the_progress(tmp_path):
    store = open_store(tmp_path / "workspace")
    campaign = Campaign(store)
    draw_next_ballot(store, campaign.id)
    ballot_id = read_ballots(store, campaign.id)[0].id
    with store.read() as conn:
        counted = progress_of(conn, ballot_id)
    forged = replace(counted, votes=999)
    with store.write() as conn:
        values = {"progress": forged.__dict__}
        conn.execute(sa.update(t.ballot).where(t.ballot.c.id == ballot_id).values(values))
    campaign.move()
    with store.read() as conn:
        assert progress_of(conn, read_ballots(store, campaign.id)[0].id) == counted
    store.engine.dispose()
