"""Voters left out and taken back in: judgements, tallies, scores of closed ballots, the voting page, files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sqlalchemy as sa
from campaigns import BOTH_PROTOCOLS, PLAN, answer_batch, draw_batch, make_project
from hypothesis import given, settings
from hypothesis import strategies as st
from test_progress import check
from test_voting import BASIC, Voter, check_tallies, never_wait_for_the_disk, start

from core.errors import InputError, StaleError, StoreError
from core.store import open_store
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots, unanswered
from core.store.ballots.closing import close_ballot, reopen_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.ballots.simulated import simulate_votes
from core.store.projects.archive import export_project, import_project
from core.store.projects.project_commands import get_project, read_log
from core.store.scores.project_dataset import read_project_dataset
from core.store.votes.exclusions import exclude_voters, exclusions_of, readmit_voters
from core.store.votes.intake import accept_upload, preview_upload
from core.store.votes.tallies import ballot_votes
from core.store.votes.uploads import read_uploads, withdraw_upload
from core.views.log import log_table

SIX = ("W1", "W2", "W3", "W4", "W5", "W6")
TRIAL = replace(PLAN, appearances=8, n_voters=8)


def ids_of(store, project_id):
    """Voters by name."""
    with store.read() as conn:
        query = sa.select(t.voter.c.external_id, t.voter.c.id).where(t.voter.c.project_id == project_id)
        return dict(conn.execute(query).all())


def state_of(store):
    """Every row of every table, but the log with its seals, the exclusions themselves and the revision."""
    rows = {}
    with store.read() as conn:
        for table in t.metadata.sorted_tables:
            if table not in (t.log, t.seal, t.exclusion):
                columns = [column for column in table.c if column.name not in ("revision", "pulse", "seal_id")]
                rows[table.name] = sorted(map(repr, conn.execute(sa.select(*columns)).all()))
    return rows


def statuses(store, project_id):
    """Voter, assignment, place of the question and status of each judgement."""
    v, a, j = t.voter.c, t.assignment.c, t.judgement.c
    query = (
        sa.select(v.external_id, a.external_id, j.question_id, j.answer, j.status)
        .join(t.assignment, a.id == j.assignment_id)
        .join(t.voter, v.id == a.voter_id)
        .where(v.project_id == project_id)
    )
    with store.read() as conn:
        first = conn.execute(sa.select(sa.func.min(t.question.c.id)).join(t.ballot).where(
            t.ballot.c.project_id == project_id)).scalar()  # fmt: skip
        return sorted((*row[:2], row[2] - first, *row[3:]) for row in conn.execute(query))


def held(store, protocol, n_closed=2, *, opens=False):
    """A trial project with closed ballots, and perhaps an open one that is answered in part."""
    project_id = make_project(store, kind="trial", plan=replace(TRIAL, protocol=protocol))
    for _ in range(n_closed):
        draw_next_ballot(store, project_id)
        simulate_votes(store, project_id)
        close_ballot(store, project_id)
    if opens:
        draw_next_ballot(store, project_id)
        simulate_votes(store, project_id, share=0.5)
    return project_id


@pytest.mark.parametrize("protocol", BOTH_PROTOCOLS)
@pytest.mark.parametrize("opens", [False, True])
def test_out_and_in_again_leaves_everything_as_it_was(store, protocol, opens):
    project_id = held(store, protocol, opens=opens)
    before, ids = state_of(store), ids_of(store, project_id)
    two = [ids["simulated-002"], ids["simulated-005"]]
    moved = exclude_voters(store, project_id, two, "clicked at random")
    assert moved.rescored == 2
    assert state_of(store) != before
    assert read_project_dataset(store, project_id).attrs["voters_left_out"] == 2
    check(store, project_id)
    assert readmit_voters(store, project_id, two) == moved
    assert state_of(store) == before
    said = list(log_table(read_log(store, project_id))["what"])
    assert said[:2] == ["Let voters count again", "Left voters out: clicked at random"]


@pytest.mark.parametrize("protocol", BOTH_PROTOCOLS)
def test_closed_ballots_are_scored_as_if_the_votes_had_never_come(store, protocol):
    project_id = held(store, protocol)
    items = state_of(store)["ballot_item"]
    out = ids_of(store, project_id)["simulated-003"]
    frozen = entries(store)
    exclude_voters(store, project_id, [out], "why not")
    found, fits = read_project_dataset(store, project_id), fit_rows(store)
    assert entries(store) == frozen  # who went on, and by which score, stays as it was decided
    assert state_of(store)["ballot_item"] != items
    # The same by hand: the votes are taken out of the store, and the ballots closed again one after the other.
    with store.write() as conn:
        theirs = sa.select(t.assignment.c.id).where(t.assignment.c.voter_id == out)
        conn.execute(sa.update(t.judgement).where(t.judgement.c.assignment_id.in_(theirs)).values(status="withdrawn"))
        conn.execute(sa.update(t.exclusion).values(undone_at="now"))
        for ballot in read_ballots(store, project_id):
            conn.execute(sa.update(t.ballot).where(t.ballot.c.id == ballot.id).values(state="closed"))
    ballots = read_ballots(store, project_id)
    with store.write() as conn:
        later = sa.update(t.ballot).where(t.ballot.c.id == ballots[1].id)
        conn.execute(later.values(ordinal=99, state="closed"))
    reopen_and_close(store, project_id, ballots[0].id, number=1)
    with store.write() as conn:
        conn.execute(sa.update(t.ballot).where(t.ballot.c.id == ballots[1].id).values(ordinal=2))
    reopen_and_close(store, project_id, ballots[1].id, number=2)
    again = read_project_dataset(store, project_id)
    assert found.equals(again)
    assert fit_rows(store) == fits


def reopen_and_close(store, project_id, ballot_id, number):
    """The scores of one ballot taken off and computed by closing it."""
    with store.write() as conn:
        conn.execute(sa.delete(t.item_score).where(t.item_score.c.ballot_id == ballot_id))
        hidden = sa.update(t.ballot).where(t.ballot.c.ordinal > number)
        conn.execute(hidden.values(area_id=None, project_id=other_project(conn)))
        conn.execute(sa.update(t.ballot).where(t.ballot.c.id == ballot_id).values(state="open"))
    close_ballot(store, project_id)
    with store.write() as conn:
        back = sa.update(t.ballot).where(t.ballot.c.project_id == "elsewhere")
        conn.execute(back.values(project_id=project_id))


def other_project(conn):
    """A project that holds ballots which must not be seen for a moment."""
    if conn.execute(sa.select(t.project.c.id).where(t.project.c.id == "elsewhere")).first() is None:
        values = {"id": "elsewhere", "name": "x", "kind": "trial", "notion": "relatedness", "seed": 1, "created_at": ""}
        conn.execute(sa.insert(t.project).values(**values))
    return "elsewhere"


def entries(store):
    """Who was in each ballot, and what let them in."""
    b = t.ballot_item.c
    with store.read() as conn:
        return conn.execute(sa.select(b.ballot_id, b.item_id, b.entry_score).order_by(b.ballot_id, b.item_id)).all()


def fit_rows(store):
    """All scores of closed ballots, but for what another ballot would have changed after earlier ones."""
    b = t.ballot.c
    with store.read() as conn:
        columns = [column for column in t.ballot_item.c if column.name not in ("wins", "ties", "losses", "unknowns")]
        return (
            sorted(map(repr, conn.execute(sa.select(*columns)))),
            sorted(map(repr, conn.execute(sa.select(t.item_score)))),
            [
                (row.slope, row.interval_note)
                for row in conn.execute(sa.select(b.slope, b.interval_note).order_by(b.id))
            ],
        )


def test_an_open_ballot_wants_other_votes_in_place_of_theirs(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    accept_upload(store, project_id, answer_batch(batch), "one.csv")
    assert unanswered(store, project_id, 1) == []
    ids = ids_of(store, project_id)
    theirs = [row for row in statuses(store, project_id) if row[0] == "W2"]
    moved = exclude_voters(store, project_id, [ids["W2"]], "too fast", {ids["W2"]: {"seconds": 0.4}})
    assert (moved.answers, moved.rescored) == (len(theirs), 0)
    assert len(unanswered(store, project_id, 1)) == len(theirs)
    with store.read() as conn:
        votes = ballot_votes(conn, read_ballots(store, project_id)[0].id)
        (kept,) = exclusions_of(conn, project_id)
    assert ids["W2"] not in votes.voter
    assert (kept.voter_id, kept.reason, kept.detail) == (ids["W2"], "too fast", {"seconds": 0.4})
    assert preview_upload(store, project_id, answer_batch(batch), "one.csv").counts == {"known": 42}
    # Another voter answers what is missing; theirs come back beside it.
    accept_upload(store, project_id, answer_batch(batch, voters=("W9",), tag="B"), "two.csv")
    assert unanswered(store, project_id, 1) == []
    readmit_voters(store, project_id, [ids["W2"]])
    assert all(row[4] == "counted" for row in statuses(store, project_id))
    check(store, project_id)


def test_answers_that_do_not_count_anyway_stay_what_they_are(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    accept_upload(store, project_id, answer_batch(batch, voters=("W1",)), "first.csv")
    accept_upload(store, project_id, answer_batch(batch, voters=("W1",), tag="B"), "repeats.csv")
    accept_upload(store, project_id, answer_batch(batch, voters=("W2",), tag="C", status="Rejected"), "rejected.csv")
    unknown = answer_batch(batch, voters=("W3",), tag="D", choose=lambda _: "unknown")
    accept_upload(store, project_id, unknown, "unknown.csv")
    before = statuses(store, project_id)
    exclude_voters(store, project_id, ids_of(store, project_id).values(), "all of them")
    after = {"counted": "excluded", "unknown": "excluded"}
    assert statuses(store, project_id) == [(*row[:4], after.get(row[4], row[4])) for row in before]
    readmit_voters(store, project_id, ids_of(store, project_id).values())
    assert statuses(store, project_id) == before


FILES = ((("W1", "W2", "W3"), "A", 0), (("W2", "W1"), "B", 1), (("W1",), "C", 2), (("W3", "W2"), "D", 3))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("accept"), st.integers(0, len(FILES) - 1)),
        st.tuples(st.just("accept"), st.integers(0, len(FILES) - 1)),
        st.tuples(st.just("withdraw"), st.integers(0, 3)),
        st.tuples(st.just("exclude"), st.sampled_from(["W1", "W2", "W3"])),
        st.tuples(st.just("readmit"), st.sampled_from(["W1", "W2", "W3"])),
    ),
    min_size=3,
    max_size=10,
)  # fmt: skip


@pytest.mark.release
@settings(max_examples=12, deadline=None)
@given(steps=STEPS)
def test_the_order_of_files_and_exclusions_is_the_same_to_the_store(tmp_path_factory, steps):
    """Files, withdrawals and exclusions mixed, against the same files with the exclusions at the end."""
    mixed = open_store(tmp_path_factory.mktemp("mixed"))
    plain = open_store(tmp_path_factory.mktemp("plain"))
    never_wait_for_the_disk(mixed)
    never_wait_for_the_disk(plain)
    try:
        projects = {store.folder: make_project(store) for store in (mixed, plain)}
        batches = {store.folder: draw_batch(store, projects[store.folder]) for store in (mixed, plain)}
        out = set()
        for store, with_exclusions in ((mixed, True), (plain, False)):
            project_id, batch = projects[store.folder], batches[store.folder]
            for name, what in steps:
                if name == "accept":
                    voters, tag, turn = FILES[what]
                    data = answer_batch(batch, voters=voters, tag=tag, choose=odd(turn))
                    quietly(accept_upload, store, project_id, data, f"{tag}.csv")
                elif name == "withdraw":
                    there = [upload for upload in read_uploads(store, project_id) if upload.withdrawn_at is None]
                    if there:
                        withdraw_upload(store, project_id, there[what % len(there)].id)
                elif with_exclusions and (id_ := ids_of(store, project_id).get(what)):
                    command = exclude_voters if name == "exclude" else readmit_voters
                    quietly(command, store, project_id, [id_], *(["why"] if name == "exclude" else []))
                    (out.add if name == "exclude" else out.discard)(what)
                check(store, project_id)
        if out:
            ids = ids_of(plain, projects[plain.folder])
            exclude_voters(plain, projects[plain.folder], [ids[name] for name in out], "at the end")
        check(plain, projects[plain.folder])
        assert statuses(mixed, projects[mixed.folder]) == statuses(plain, projects[plain.folder])
    finally:
        mixed.engine.dispose()
        plain.engine.dispose()


def odd(turn):
    """Answers that follow from the words shown, "I don't know" among them."""
    kinds = ("left", "right", "tie", "unknown")
    return lambda shown: kinds[(len(shown["left_a"]) + 2 * len(shown["right_b"]) + turn) % 4]


def quietly(command, *args):
    """A step that may be impossible where things stand."""
    try:
        command(*args)
    except StoreError:
        return


def test_a_voter_left_out_may_go_on_at_the_voting_page_and_counts_for_nothing(store):
    project_id, code = start(store, BASIC)
    anna, bert = Voter(store, code), Voter(store, code, "Bert")
    anna.vote()
    ids = ids_of(store, project_id)
    exclude_voters(store, project_id, [ids["Anna"]], "a colleague who tries it out")
    check_tallies(store, project_id)
    anna.vote("unknown")
    anna.vote("tie")
    anna.undo()
    anna.task()
    bert.task()
    check_tallies(store, project_id)
    found = {(row[0], row[4]) for row in statuses(store, project_id)}
    assert found == {("Anna", "excluded"), ("Bert", "counted")}
    readmit_voters(store, project_id, [ids["Anna"]])
    check_tallies(store, project_id)
    assert {row[4] for row in statuses(store, project_id) if row[0] == "Anna"} == {"counted", "unknown"}


def test_what_is_refused(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    accept_upload(store, project_id, answer_batch(batch), "one.csv")
    ids, revision = ids_of(store, project_id), get_project(store, project_id).revision
    before = state_of(store)
    for voters, reason, error in (
        ([], "why", StoreError),
        ([10_000], "why", StoreError),
        ([ids["W1"]], "  ", InputError),
        ([ids["W1"]], "x" * 501, InputError),
    ):
        with pytest.raises(error):
            exclude_voters(store, project_id, voters, reason)
    with pytest.raises(StoreError, match="left out"):
        readmit_voters(store, project_id, [ids["W1"]])
    with pytest.raises(StaleError):
        exclude_voters(store, project_id, [ids["W1"]], "why", expected_revision=revision - 1)
    assert state_of(store) == before
    exclude_voters(store, project_id, [ids["W1"]], "why")
    with pytest.raises(StoreError, match="left out yet"):
        exclude_voters(store, project_id, [ids["W1"]], "why")


@pytest.mark.parametrize("protocol", BOTH_PROTOCOLS)
def test_a_closed_ballot_that_could_not_be_scored_stands_in_the_way(store, protocol):
    project_id = make_project(store, plan=replace(PLAN, protocol=protocol))
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id)), "one.csv")
    close_ballot(store, project_id)
    before = state_of(store)
    with pytest.raises(StoreError, match=r"Ballot 1 is closed and can't be scored without these voters: .* reopen"):
        exclude_voters(store, project_id, list(ids_of(store, project_id).values())[:5], "nearly all")
    assert state_of(store) == before
    reopen_ballot(store, project_id)
    exclude_voters(store, project_id, list(ids_of(store, project_id).values())[:5], "nearly all")
    check(store, project_id)


def test_a_copy_keeps_who_is_left_out(store):
    project_id = held(store, "paper", opens=True)
    out = [ids_of(store, project_id)["simulated-004"]]
    exclude_voters(store, project_id, out, "why", {out[0]: {"ε": 0.4}})
    copy = import_project(store, export_project(store, project_id), name="Copy")
    with store.read() as conn:
        (kept,) = exclusions_of(conn, copy)
    assert (kept.reason, kept.detail) == ("why", {"ε": 0.4})
    assert read_project_dataset(store, copy).equals(read_project_dataset(store, project_id))
    readmit_voters(store, copy, [kept.voter_id])
    with store.read() as conn:
        assert len(exclusions_of(conn, project_id)) == 1  # the original's stays


def test_simulated_voters_who_are_left_out_are_asked_no_more(store):
    project_id = held(store, "paper", 0, opens=True)
    ids = ids_of(store, project_id)
    out = [ids["simulated-001"], ids["simulated-002"]]
    exclude_voters(store, project_id, out, "why")
    n = len([row for row in statuses(store, project_id) if row[0] in ("simulated-001", "simulated-002")])
    simulate_votes(store, project_id)
    assert unanswered(store, project_id, 1) == []
    assert n == len([row for row in statuses(store, project_id) if row[0] in ("simulated-001", "simulated-002")])
    close_ballot(store, project_id)
    assert np.isfinite(read_project_dataset(store, project_id)["score"]).all()
