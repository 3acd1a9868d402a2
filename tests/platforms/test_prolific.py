"""Prolific: its list of submissions held against our voting page, case by case."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from campaigns import make_project

from core.errors import InputError, StoreError
from core.platforms import read_results
from core.platforms.prolific import CASES, case_of, read_submissions
from core.questions.voting_settings import VotingSettings
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots
from core.store.ballots.drawing import draw_next_ballot
from core.store.votes.payment import assignments_from_page, check_submissions, read_assignments, review_assignments
from core.store.votes.tallies import progress_of
from core.store.voting.owner_commands import open_voting, read_link
from core.votes.payment import Review
from core.voting import api

HEADER = (
    "Submission id,Participant id,Status,Custom study tncs accepted at,Started at,Completed at,Reviewed at,"
    "Archived at,Time taken,Completion code,Total approvals,Age,Sex\n"
)
SETTINGS = VotingSettings(task_size=3, tasks_per_voter=1, examples=False, completion="shared", code="C0RIGHT")


def listed(*people: tuple[str, ...]) -> bytes:
    """An export with a row for each (participant, status, code[, age])."""
    rows = [
        f"s{n},{who},{status},Not Applicable,2026-11-02T12:20:09.179000Z,,,,600,{code},10,{(*more, '25')[0]},Female\n"
        for n, (who, status, code, *more) in enumerate(people)
    ]
    return (HEADER + "".join(rows)).encode()


def opened(store, settings=SETTINGS):
    project_id = make_project(store)
    draw_next_ballot(store, project_id)
    open_voting(store, project_id, settings)
    return project_id, read_ballots(store, project_id)[0], read_link(store, project_id)


def vote(store, code, participant, n_votes=3):
    """Somebody from Prolific who gives so many votes of a task of three, and ends it if it is done."""
    who = api.Visitor("prolific", participant)
    view = api.look(store, code, "", "visit", who)
    view = api.begin(store, code, "visit", view.form, who)
    cookie = view.cookie
    for n in range(1, n_votes + 1):
        view = api.vote(store, code, cookie, view.form, task=1, n=n, choice="left")
    return api.finish(store, code, cookie, view.form) if n_votes == 3 else view


def test_every_case(store):
    project_id, ballot, code = opened(store)
    for participant, n_votes in (
        ("p-done", 3),
        ("p-other", 3),
        ("p-part", 1),
        ("p-gone", 2),
        ("p-back", 3),
        ("p-new", 3),
    ):
        vote(store, code, participant, n_votes)
    found = check_submissions(
        store,
        project_id,
        ballot,
        listed(
            ("p-done", "AWAITING REVIEW", "c0right"),
            ("p-other", "AWAITING REVIEW", "NOCODE"),
            ("p-part", "AWAITING REVIEW", "C0RIGHT"),
            ("p-nobody", "AWAITING REVIEW", "C0RIGHT"),
            ("p-gone", "TIMED-OUT", ""),
            ("p-left", "RETURNED", ""),
            ("p-back", "APPROVED", "C0RIGHT", "CONSENT_REVOKED"),
            ("p-paid", "APPROVED", "C0RIGHT", "DATA_EXPIRED"),
            ("p-now", "ACTIVE", ""),
        ),
        "prolific_export_1.csv",
    )
    assert dict(zip(found.rows["participant"], found.rows["case"], strict=True)) == {
        "p-done": "finished", "p-other": "other code", "p-part": "unfinished", "p-nobody": "no votes",
        "p-gone": "left with votes", "p-left": "left", "p-back": "consent revoked", "p-paid": "decided",
        "p-now": "under way",
    }  # fmt: skip
    assert found.ids("approve") == ["p-done", "p-other"]
    assert found.ids("reject") == ["p-part", "p-nobody"]
    assert found.ids("withdraw") == ["p-gone", "p-back"]
    assert found.not_listed == ("p-new",)
    assert found.counts["finished"] == 1
    assert set(found.counts) <= set(CASES)
    row = found.rows.set_index("participant").loc["p-part"]
    assert (row["votes"], row["tasks done"], row["code here"], row["minutes"]) == (1, 0, "C0RIGHT", 10.0)


def test_hashed_ids_are_found_again(store):
    settings = VotingSettings(task_size=3, tasks_per_voter=1, examples=False, completion="own", hash_ids=True)
    project_id, ballot, code = opened(store, settings)
    vote(store, code, "65f0b0000000000000000001")
    with store.read() as conn:
        own = conn.execute(sa.select(t.sitting.c.code)).scalar_one()
    rows = listed(("65f0b0000000000000000001", "AWAITING REVIEW", own), ("65f0b0", "AWAITING REVIEW", own))
    found = check_submissions(store, project_id, ballot, rows, "x.csv")
    assert found.rows["case"].tolist() == ["finished", "no votes"]
    assert found.not_listed == ()


def test_votes_of_a_rejected_submission_are_dealt_again(store):
    project_id, ballot, code = opened(store)
    vote(store, code, "p-part", 2)
    found = check_submissions(store, project_id, ballot, listed(("p-part", "AWAITING REVIEW", "")), "x.csv")
    assert found.ids("reject") == ["p-part"]
    ids = assignments_from_page(store, found.rows["sitting"].dropna().astype(int).tolist())
    frame = read_assignments(store, ballot.id)
    assert frame["assignment"].tolist() == ids
    assert frame[["n_asked", "n_answered", "n_votes"]].to_numpy().tolist() == [[3, 2, 2]]
    assert review_assignments(store, project_id, dict.fromkeys(ids, Review("reject", "not finished"))).out == 2
    with store.read() as conn:
        assert progress_of(conn, ballot.id).votes == 0
    vote(store, code, "p-next", 3)
    with store.read() as conn:
        assert progress_of(conn, ballot.id).votes == 3


def test_files_that_are_no_list_of_submissions():
    with pytest.raises(InputError, match="lacks the columns participant id"):
        read_submissions(b"a,b\n1,2\n", "x.csv")
    with pytest.raises(InputError, match="no votes in it"):
        read_results(listed(("p", "APPROVED", "")), "prolific_export_1.csv")


def test_without_a_voting_page_nobody_can_have_voted(store):
    project_id = make_project(store)
    draw_next_ballot(store, project_id)
    with pytest.raises(StoreError, match="no voting page"):
        check_submissions(store, project_id, read_ballots(store, project_id)[0], listed(("p", "APPROVED", "")), "x.csv")


def test_the_real_export(shared):
    path = next((shared / "platforms/samples").glob("prolific_export_*.csv"))
    found = read_submissions(path.read_bytes(), path.name)
    assert found.rows["status"].tolist() == ["APPROVED", "AWAITING REVIEW", "RETURNED"]
    assert found.rows["seconds"].tolist()[:2] == [1149, 1149]
    assert (found.n_rows, found.issues) == (3, ())


def test_set_aside_is_a_reason_to_reject():
    stands = {"known": True, "finished": True, "set_aside": True, "n_votes": 9, "code_right": True}
    assert CASES[case_of("AWAITING REVIEW", revoked=False, **stands)] == ("reject", "too many checks wrong")
