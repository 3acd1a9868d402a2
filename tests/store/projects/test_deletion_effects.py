"""What is said to go with a project, an upload or a voter's votes is what goes."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from campaigns import answer_batch, draw_batch, make_project
from rounds_of_people import collected as round_collected
from test_voting import BASIC, Voter, start

from core.store import schema as t
from core.store.ballots.closing import close_ballot
from core.store.projects.archive import export_project, import_project
from core.store.votes.exclusions import exclude_voters
from core.store.votes.intake import accept_upload
from core.store.votes.uploads import AtStake, of_project, of_sessions, of_upload, read_uploads, withdraw_upload
from core.store.voting.owner_commands import withdraw_voter
from core.views.wording import DELETES, TAKES_OUT, deletion_text
from tests.rounds_of_people import RATING


def counted(store, project_id):
    """Votes that count, their voters, and the times of what they were given in, read from the votes themselves."""
    query = (
        sa.select(t.assignment.c.voter_id, t.assignment.c.submitted_at)
        .join(t.judgement, t.judgement.c.assignment_id == t.assignment.c.id)
        .join(t.ballot, t.ballot.c.id == t.assignment.c.ballot_id)
        .where(t.ballot.c.project_id == project_id, t.judgement.c.status == "counted")
    )
    with store.read() as conn:
        rows = conn.execute(query).all()
    return len(rows), len({row.voter_id for row in rows}), max(row.submitted_at for row in rows)


def test_a_project_without_votes(store):
    project_id = make_project(store)
    assert of_project(store, project_id) == AtStake(0, 0, None)


def test_a_project_of_two_ballots_from_files(store):
    project_id = make_project(store)
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id)), "one.csv")
    close_ballot(store, project_id)
    data = answer_batch(draw_batch(store, project_id), voters=("W1", "Z"), tag="B")
    accept_upload(store, project_id, data, "two.csv")
    stake = of_project(store, project_id)
    assert stake == AtStake(*counted(store, project_id))
    assert stake.voters == 7
    make_project(store)  # others have nothing to do with it
    assert of_project(store, project_id) == stake
    copy = import_project(store, export_project(store, project_id))
    assert of_project(store, copy) == stake


def test_an_upload_and_what_goes_with_it(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    lines = batch.splitlines(keepends=True)
    accept_upload(store, project_id, answer_batch(b"".join(lines[:6])), "one.csv")
    rest = answer_batch(b"".join([lines[0], *lines[6:]]), voters=("Y", "Z"), tag="B")
    upload = accept_upload(store, project_id, rest, "two.csv")
    before = of_project(store, project_id)
    stake = of_upload(store, project_id, upload.upload_id)
    assert (stake.votes, stake.voters) == (42 - 15, 2)
    assert stake.last == before.last
    assert withdraw_upload(store, project_id, upload.upload_id).judgements == stake.votes
    assert of_project(store, project_id).votes == before.votes - stake.votes
    other = make_project(store)
    assert of_upload(store, other, upload.upload_id) == AtStake(0, 0, None)
    assert len(read_uploads(store, project_id)) == 2


def test_a_round_of_ratings(store):
    project_id = round_collected(store, RATING)
    assert of_project(store, project_id) == AtStake(*counted(store, project_id))


def test_a_voter_of_the_page_and_the_time_of_the_last_vote(store):
    project_id, code = start(store, BASIC)
    anna, ben = Voter(store, code, "Anna"), Voter(store, code, "Ben")
    anna.task()
    ben.vote()
    ben.vote("unknown")
    with store.write() as conn:  # a task's assignment keeps the time of its first vote
        for n, deal_id in enumerate(conn.execute(sa.select(t.deal.c.id).order_by(t.deal.c.answered_at)).scalars()):
            row = sa.update(t.deal).where(t.deal.c.id == deal_id, t.deal.c.answered_at.is_not(None))
            conn.execute(row.values(answered_at=f"2099-01-01T00:{n:02d}:00.000000+00:00"))
        answered = conn.execute(sa.select(t.deal.c.sitting_id, t.deal.c.answered_at)).all()
        first, second = conn.execute(sa.select(t.sitting.c.id).order_by(t.sitting.c.id)).scalars()
    last = {id_: max(at for session, at in answered if session == id_ and at) for id_ in (first, second)}
    size = BASIC.task_size
    assert of_sessions(store, project_id, [first]) == AtStake(size, 1, last[first])
    assert of_sessions(store, project_id, [second]) == AtStake(1, 1, last[second])
    both = AtStake(size + 1, 2, max(last.values()))
    assert of_project(store, project_id) == of_sessions(store, project_id, [first, second]) == both
    anna.do("more")  # given a task, and nothing of it answered
    assert of_sessions(store, project_id, [first]) == AtStake(size, 1, last[first])
    assert of_sessions(store, make_project(store), [first]) == AtStake(0, 0, None)
    assert withdraw_voter(store, project_id, first) == size
    assert of_sessions(store, project_id, [first]).votes == 0


def test_who_is_left_out_is_counted_among_voters_but_not_votes(store):
    project_id = make_project(store)
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id)), "one.csv")
    before = of_project(store, project_id)
    with store.read() as conn:
        voter = conn.execute(sa.select(t.voter.c.id).limit(1)).scalar_one()
    exclude_voters(store, project_id, [voter], "fast")
    after = of_project(store, project_id)
    assert after.votes < before.votes
    assert after.voters == before.voters


@pytest.mark.parametrize(
    ("stake", "more", "sentence"),
    [
        (AtStake(1, 1, "2026-11-28T14:03:59Z"), {}, "1 vote of 1 voter, the last from 2026-11-28 14:03 UTC"),
        (AtStake(2, 3, None), {"noun": "answer"}, "2 answers of 3 voters"),
        (AtStake(2, 1, None), {"whom": "*Anna*"}, "2 votes of *Anna*"),
    ],
)
def test_it_is_said_in_a_sentence(stake, more, sentence):
    assert deletion_text(DELETES, stake, **more) == f"This deletes {sentence}."
    assert deletion_text(TAKES_OUT, stake, **more) == f"This takes {sentence} out of the count."
