"""Settling up: what is proposed, what a decision does to votes, the platform's review file, payments, the top-up."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa
from campaigns import answer_batch, draw_batch, make_project
from hypothesis import given, settings
from hypothesis import strategies as st

from core.commands.integrity import check_store
from core.errors import InputError, StoreError
from core.questions.comparison_page import write_batch
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots, read_comparisons, unanswered
from core.store.ballots.closing import close_ballot, reopen_ballot
from core.store.projects.archive import duplicate_project
from core.store.scores.project_dataset import read_ballot_scores
from core.store.votes.intake import accept_upload
from core.store.votes.payment import read_assignments, review_assignments
from core.store.votes.publications import read_publications
from core.store.votes.tallies import progress_of
from core.store.votes.uploads import read_uploads, withdraw_upload
from core.tables import ASSIGNMENTS
from core.views.log import details, what
from core.votes.payment import PAYMENTS, Review, check_review, payments, propose, write_payments, write_review

BAD = Review("reject", "only half of it was answered")


def assignments(**columns):
    """A table of assignments: columns as lists, the others ordinary."""
    n = len(next(iter(columns.values())))
    plain = {
        "assignment": range(1, n + 1), "voter": ["W"] * n, "platform": ["mturk"] * n, "n_asked": [10] * n,
        "n_answered": [10] * n, "n_votes": [10] * n, "checks_right": [0] * n, "checks_wrong": [0] * n,
        "seconds": [60.0] * n,
    }  # fmt: skip
    told = plain | columns
    texts = {name: [""] * n for name in ("assignment_id", "task_id", "status", "review", "reason")}
    return ASSIGNMENTS.check(pd.DataFrame({name: (texts | told)[name] for name in ASSIGNMENTS.columns}))


class TestProposals:
    def test_by_what_was_answered_by_checks_and_by_speed(self):
        frame = assignments(
            n_answered=[10, 7, 10, 10, 10, 10, 10],
            checks_right=[0, 3, 1, 2, 0, 0, 0],
            checks_wrong=[0, 0, 2, 2, 0, 0, 0],
            seconds=[60.0, 60.0, 60.0, 60.0, 15.0, 21.0, np.nan],
        )
        assert propose(frame).tolist() == [
            "",
            "only 7 of 10 comparisons were answered",
            "2 of 3 check comparisons were answered wrong",
            "",
            "answered in 1.5 s per comparison, where 6.0 s are usual",
            "",
            "",
        ]

    def test_four_assignments_have_no_usual_speed(self):
        assert propose(assignments(seconds=[60.0, 60.0, 60.0, 1.0])).tolist() == [""] * 4

    def test_reasons_can_be_told(self):
        for reason in propose(assignments(n_answered=[1, 10], checks_wrong=[0, 3], seconds=[1.0, 1.0])):
            assert check_review(Review("reject", reason)).reason == reason

    @pytest.mark.parametrize(
        ("review", "said"),
        [
            (Review("reject", "  "), "Give a reason"),
            (Review("reject", "=1+1"), "formula"),
            (Review("reject", "x" * 501), "501 letters"),
            (Review("maybe", "x"), "approved or rejected"),
        ],
    )
    def test_decisions_that_can_not_be(self, review, said):
        with pytest.raises(InputError, match=said):
            check_review(review)


def test_payments_by_hand():
    frame = assignments(
        voter=["ann", "ann", "=bob", "ann"],
        review=["approve", "reject", "", ""],
        n_answered=[10, 5, 10, 10],
        n_votes=[9, 0, 10, 10],
        seconds=[60.0, 30.0, np.nan, 90.0],
    )
    table = payments(frame, reward=0.25, task_size=10)
    assert list(table.columns) == list(PAYMENTS)
    bob, ann = (dict(row) for _, row in table.iterrows())
    assert (ann["assignments"], ann["approved"], ann["rejected"], ann["undecided"]) == (3, 1, 1, 1)
    assert (ann["comparisons"], ann["votes counted"], ann["minutes"], ann["reward due"]) == (25, 19, 3.0, 0.5)
    assert ann["per hour"] == 10.0  # 0.50 in 3 minutes
    assert (bob["voter"], bob["reward due"]) == ("=bob", 0.25)
    assert np.isnan(bob["minutes"])
    assert np.isnan(bob["per hour"])
    rows = list(csv.DictReader(io.StringIO(write_payments(table).decode("utf-8-sig"))))
    assert (rows[0]["voter"], rows[0]["per hour"], rows[1]["reward due"]) == ("'=bob", "", "0.5")
    assert write_payments(table, excel=True) == write_payments(table, excel=True)


def test_a_comparison_on_label_studio_pays_its_share_of_a_task():
    frame = assignments(platform=["labelstudio"] * 3, n_answered=[1, 1, 1], review=["", "", "reject"])
    assert payments(frame, reward=0.25, task_size=10)["reward due"].tolist() == [0.05]


class TestReviewFile:
    def test_the_platforms_own_example_row_by_row(self):
        head = "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.left_a,Answer.choice,Approve,Reject\n"
        rows = (
            'H1,A1,W1,Submitted,"=cow, café",left\n'
            'H2,A2,W2,Rejected,b,right,,"too fast"\nH3,A3,W3,Submitted,c,left\nH4,A4,W4,Submitted,d,tie,x,\n'
        )
        reviews = {"A1": Review("reject", "half, “empty”"), "A2": Review("approve")}
        written = list(csv.reader(io.StringIO(write_review((head + rows).encode(), "r.csv", reviews).decode())))
        assert written[1:] == [
            ["H1", "A1", "W1", "Submitted", "=cow, café", "left", "", "half, “empty”"],
            ["H2", "A2", "W2", "Rejected", "b", "right", "X", ""],
            ["H3", "A3", "W3", "Submitted", "c", "left", "", ""],
            ["H4", "A4", "W4", "Submitted", "d", "tie", "x", ""],
        ]

    def test_columns_are_added_where_the_file_lacks_them(self):
        written = write_review(b"AssignmentId;Answer.choice\r\nA1;left\r\n", "r.csv", {"A1": Review("approve")})
        assert written.decode() == '"AssignmentId","Answer.choice","Approve","Reject"\n"A1","left","X",""\n'

    def test_another_file_is_refused(self):
        with pytest.raises(InputError, match="AssignmentId"):
            write_review(b"a,b\n1,2\n", "r.csv", {})

    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\r")), min_size=1))
    def test_cells_stay_as_they_were(self, cells):
        out = io.StringIO(newline="")
        csv.writer(out).writerows([["AssignmentId", "x", "Answer.choice"], *(["A", cell, "left"] for cell in cells)])
        again = write_review(out.getvalue().encode(), "r.csv", {"A": Review("approve")}).decode()
        rows = list(csv.reader(io.StringIO(again, newline="")))[1:]
        assert [row[1] for row in rows] == cells
        assert {row[3] for row in rows} == {"X"}

    def test_it_comes_back_as_decided(self, store):
        project_id = make_project(store)
        file = answer_batch(draw_batch(store, project_id), status="Submitted")
        accept_upload(store, project_id, file, "r.csv")
        review = write_review(file, "r.csv", {"A3": Review("reject", "too fast")})
        counts = accept_upload(store, project_id, review, "review.csv").counts
        assert counts["changed"] == 3


@pytest.fixture
def answered(store):
    """A project with an open ballot of 42 comparisons in 14 tasks, all answered."""
    project_id = make_project(store)
    file = answer_batch(draw_batch(store, project_id), status="Submitted")
    accept_upload(store, project_id, file, "r.csv")
    return store, project_id, file


def standing(store, project_id):
    ballot = read_ballots(store, project_id)[-1]
    with store.read() as conn:
        statuses = dict(
            conn.execute(sa.select(t.judgement.c.status, sa.func.count()).group_by(t.judgement.c.status)).fetchall()
        )
        return statuses, progress_of(conn, ballot.id)


def test_the_facts_of_each_assignment(answered):
    store, project_id, _ = answered
    frame = read_assignments(store, read_ballots(store, project_id)[-1].id)
    assert len(frame) == 14
    assert frame["n_asked"].tolist() == frame["n_answered"].tolist() == frame["n_votes"].tolist() == [3] * 14
    assert frame["seconds"].tolist() == pytest.approx([30.0] * 14)
    assert frame["assignment_id"].tolist() == [f"A{n}" for n in range(14)]
    assert set(frame["review"]) == {""}
    assert propose(frame).tolist() == [""] * 14


def test_a_rejection_takes_votes_out_and_its_comparisons_are_asked_again(answered):
    store, project_id, _ = answered
    ballot = read_ballots(store, project_id)[-1]
    assert unanswered(store, project_id, ballot.number) == []
    before = read_ballot_scores(store, project_id)
    ids = read_assignments(store, ballot.id)["assignment"].tolist()
    done = review_assignments(store, project_id, {ids[0]: BAD, ids[5]: BAD, ids[7]: Review("approve")})
    assert (done.decided, done.out, done.back) == (3, 6, 0)
    statuses, progress = standing(store, project_id)
    assert statuses == {"counted": 36, "rejected": 6}
    assert (progress.answered, progress.wanted) == (36, 42)
    frame = read_comparisons(store, project_id, ballot.number)
    missing = unanswered(store, project_id, ballot.number)
    assert set(frame.loc[frame["question_id"].isin(missing), "task_id"]) == {
        f"{ballot.code}-00001",
        f"{ballot.code}-00006",
    }
    top_up = write_batch(frame, only=missing)
    assert [row["task_id"] for row in csv.DictReader(io.StringIO(top_up.decode()))] == [
        f"{ballot.code}-00001",
        f"{ballot.code}-00006",
    ]
    # Others answer the top-up: the ballot is whole again, and a rejection taken back adds its votes.
    accept_upload(store, project_id, answer_batch(top_up, voters=("N1", "N2"), tag="T"), "t.csv")
    assert standing(store, project_id)[1].is_complete
    back = review_assignments(store, project_id, {ids[0]: None, ids[5]: None})
    assert (back.out, back.back) == (0, 6)
    assert standing(store, project_id)[0] == {"counted": 48}
    withdraw_upload(store, project_id, read_uploads(store, project_id)[0].id)
    after = read_ballot_scores(store, project_id)
    assert after[["item", "wins", "ties", "losses"]].equals(before[["item", "wins", "ties", "losses"]])


def test_it_is_in_the_log_in_words(answered):
    store, project_id, _ = answered
    ids = read_assignments(store, read_ballots(store, project_id)[-1].id)["assignment"].tolist()
    review_assignments(store, project_id, {ids[0]: BAD})
    with store.read() as conn:
        row = conn.execute(sa.select(t.log).order_by(t.log.c.id.desc()).limit(1)).one()
    assert what(row.action, row.detail) == "Approved or rejected assignments of ballot 1"
    assert "rejected 1" in details(row.action, row.detail)
    assert BAD.reason in details(row.action, row.detail)


def test_of_two_votes_of_a_voter_the_other_counts_once_the_first_is_rejected(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    accept_upload(store, project_id, answer_batch(batch, voters=("W1",), status="Submitted"), "one.csv")
    later = answer_batch(batch, voters=("W1",), status="Submitted", tag="B").replace(b"Jan 05", b"Jan 06")
    accept_upload(store, project_id, later, "two.csv")
    assert standing(store, project_id)[0] == {"counted": 42, "repeat": 42}
    frame = read_assignments(store, read_ballots(store, project_id)[-1].id).set_index("assignment_id")
    first, second = int(frame.loc["A0", "assignment"]), int(frame.loc["B0", "assignment"])
    assert frame.loc["B0", "n_asked"] == 0  # a second time the same task: it may have been a top-up
    assert review_assignments(store, project_id, {first: BAD}).back == 3
    assert standing(store, project_id)[0] == {"counted": 42, "repeat": 39, "rejected": 3}
    review_assignments(store, project_id, {second: BAD})
    assert standing(store, project_id)[0] == {"counted": 39, "repeat": 39, "rejected": 6}
    review_assignments(store, project_id, {first: Review("approve"), second: None})
    assert standing(store, project_id)[0] == {"counted": 42, "repeat": 42}


def test_the_owners_decision_outlives_files_and_withdrawals(answered):
    store, project_id, file = answered
    ids = read_assignments(store, read_ballots(store, project_id)[-1].id)["assignment"].tolist()
    review_assignments(store, project_id, {ids[0]: BAD})
    accept_upload(store, project_id, file.replace(b'"Submitted"', b'"Approved"'), "approved.csv")
    assert standing(store, project_id)[0] == {"counted": 39, "rejected": 3}
    withdraw_upload(store, project_id, read_uploads(store, project_id)[0].id)
    assert standing(store, project_id)[0] == {"counted": 39, "rejected": 3}
    review_assignments(store, project_id, {ids[0]: None})
    assert standing(store, project_id)[0] == {"counted": 42}


def test_an_approval_brings_back_what_the_platform_rejected(store):
    project_id = make_project(store)
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id), status="Rejected"), "r.csv")
    ids = read_assignments(store, read_ballots(store, project_id)[-1].id)["assignment"].tolist()
    assert review_assignments(store, project_id, {ids[0]: Review("approve")}).back == 3
    assert standing(store, project_id)[0] == {"counted": 3, "rejected": 39}
    review_assignments(store, project_id, {ids[0]: None})
    assert standing(store, project_id)[0] == {"rejected": 42}


@pytest.mark.parametrize(("decision", "told", "counts"), [("approve", "Rejected", False), ("reject", "Approved", True)])
def test_what_files_say_meanwhile_holds_once_the_decision_is_taken_back(store, decision, told, counts):
    """And in whatever order: what a file says while the owner's word goes before it isn't lost, nor is that word taken
    for the files'."""
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    submitted = answer_batch(batch, status="Submitted")
    later = answer_batch(batch, status=told)
    accept_upload(store, project_id, submitted, "one.csv")
    ballot = read_ballots(store, project_id)[0]
    n = progress_of_ballot(store, ballot.id)
    ids = read_assignments(store, ballot.id)["assignment"].tolist()
    review_assignments(store, project_id, dict.fromkeys(ids, Review(decision, "too fast" * (decision == "reject"))))
    decided = progress_of_ballot(store, ballot.id)
    assert decided == (n if decision == "approve" else 0)
    accept_upload(store, project_id, later, "two.csv")
    assert progress_of_ballot(store, ballot.id) == decided  # the owner's word goes before
    with pytest.raises(StoreError):
        accept_upload(store, project_id, later, "again.csv")
    review_assignments(store, project_id, dict.fromkeys(ids))
    assert progress_of_ballot(store, ballot.id) == (n if counts else 0)
    assert check_store(store).is_fine


def progress_of_ballot(store, ballot_id):
    with store.read() as conn:
        return progress_of(conn, ballot_id).votes


def test_a_closed_ballot_keeps_its_votes_until_it_is_reopened(answered):
    store, project_id, _ = answered
    ids = read_assignments(store, read_ballots(store, project_id)[-1].id)["assignment"].tolist()
    close_ballot(store, project_id)
    done = review_assignments(store, project_id, {ids[0]: BAD})
    assert (done.out, done.back) == (0, 0)
    assert standing(store, project_id)[0] == {"counted": 42}
    reopen_ballot(store, project_id)
    assert standing(store, project_id)[0] == {"counted": 39, "rejected": 3}


@pytest.mark.parametrize(
    ("policy", "first_rejected", "nothing_rejected"),
    [
        ({}, {"counted": 42, "repeat": 39, "rejected": 3}, {"counted": 42, "repeat": 42}),
        ({"repeats": "latest"}, {"counted": 42, "repeat": 39, "rejected": 3}, {"counted": 42, "repeat": 42}),
        ({"repeats": "none"}, {"counted": 42, "repeat": 39, "rejected": 3}, {"counted": 39, "repeat": 45}),
        ({"rejected": "count"}, {"counted": 42, "repeat": 42}, {"counted": 42, "repeat": 42}),
    ],
)
def test_the_projects_policy_holds_for_decisions_too(store, policy, first_rejected, nothing_rejected):
    """Only answers that a decision touches are counted again: three comparisons here, the rest stays as it was."""
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    accept_upload(store, project_id, answer_batch(batch, voters=("W1",), status="Submitted"), "one.csv")
    later = answer_batch(batch, voters=("W1",), status="Submitted", tag="B").replace(b"Jan 05", b"Jan 06")
    accept_upload(store, project_id, later, "two.csv")
    with store.write() as conn:
        conn.execute(sa.update(t.project).values(policy=policy))
    frame = read_assignments(store, read_ballots(store, project_id)[-1].id).set_index("assignment_id")
    first = int(frame.loc["A0", "assignment"])
    review_assignments(store, project_id, {first: BAD})
    assert standing(store, project_id)[0] == first_rejected
    review_assignments(store, project_id, {first: None})
    assert standing(store, project_id)[0] == nothing_rejected


def test_a_decision_on_answers_without_votes_is_in_the_tallies(store):
    project_id = make_project(store)
    data = answer_batch(draw_batch(store, project_id), choose=lambda shown: "unknown")
    accept_upload(store, project_id, data, "results.csv")
    (ballot,) = read_ballots(store, project_id)
    ids = read_assignments(store, ballot.id)["assignment"].tolist()
    review_assignments(store, project_id, dict.fromkeys(ids[:3], Review("reject", "said of everything: unknown")))
    with store.read() as conn:
        progress = progress_of(conn, ballot.id)
    assert (progress.unknown, progress.rejected) == (ballot.n_comparisons - 9, 9)
    assert check_store(store).is_fine


def test_decisions_and_publications_go_with_an_exported_project(answered):
    store, project_id, _ = answered
    ballot = read_ballots(store, project_id)[-1]
    ids = read_assignments(store, ballot.id)["assignment"].tolist()
    review_assignments(store, project_id, {ids[0]: BAD, ids[1]: Review("approve")})
    detail = {"project": 1, "batch": 2, "n_tasks": 14, "assignments": 1, "is_top_up": False}
    values = {"platform": "turkle", "address": "http://localhost", "detail": detail, "at": "2026-11-28T00:00:00+00:00"}
    with store.write() as conn:
        conn.execute(sa.insert(t.publication).values(ballot_id=ballot.id, **values))
    copy = duplicate_project(store, project_id, "Copy")
    there = read_ballots(store, copy)[-1]
    columns = ["assignment_id", "review", "reason", "n_votes"]
    assert read_assignments(store, there.id)[columns].equals(read_assignments(store, ballot.id)[columns])
    assert [(p.batch, p.address) for p in read_publications(store, there.id)] == [(2, "http://localhost")]


def test_assignments_of_others_are_refused(answered):
    store, project_id, _ = answered
    other = make_project(store)
    with pytest.raises(StoreError, match="one ballot"):
        review_assignments(store, other, {1: BAD})
    with pytest.raises(StoreError, match="one ballot"):
        review_assignments(store, project_id, {999: BAD})
    with pytest.raises(StoreError, match="one ballot"):
        review_assignments(store, project_id, {})
