"""Rounds of other schemes through the store: drawn, answered from files, withdrawn, scored, archived.

Expected scores are computed here from what each person of `rounds_of_people` answers, or by the scheme's own formula
written out.
"""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from campaigns import BOTH_PROTOCOLS, PLAN, answer_batch, make_project
from rounds_of_people import (
    GROUPS,
    SMALL,
    add_round,
    answer_round,
    batch_of,
    by_letters,
    collected,
    letters,
    round_id,
)

from core.commands import datasheet_facts as datasheet
from core.commands.integrity import check_store
from core.dataset.files import to_csv
from core.errors import InputError, PlanError, StoreError
from core.platforms.round_files import write_round
from core.questions import default_settings, round_kind
from core.questions.comparison_page import write_batch
from core.questions.order.groups import TargetGroup
from core.questions.order.kind import given_orders
from core.store.ballots.ballot_rows import answers_of, preferences, read_ballots, read_comparisons
from core.store.ballots.closing import close_ballot
from core.store.ballots.comparisons import read_shown
from core.store.ballots.drawing import draw_next_ballot, draw_round
from core.store.projects.archive import export_project, import_project
from core.store.projects.plans import read_plan, read_rankings, save_plan, set_ranking
from core.store.projects.records import record_of
from core.store.scores.project_dataset import read_project_dataset, round_dataset
from core.store.tokens.areas import add_areas
from core.store.votes.exclusions import exclude_voters, readmit_voters
from core.store.votes.intake import accept_upload
from core.store.votes.payment import read_assignments, review_assignments
from core.store.votes.uploads import uploads_of, withdraw_upload
from core.tokens.files import AreaTokens
from core.views.scores import trust
from core.votes.payment import Review
from tests.rounds_of_people import (
    BEST_WORST,
    ORDER,
    RATING,
    SCHEMES,
    accept_answers,
    close_round,
    discard_round,
    preview_answers,
    rated_items,
    read_rounds,
    reopen_round,
    round_progress,
)


def fine(store) -> None:
    assert [(fault.rule.name, fault.found) for fault in check_store(store).faults] == []


def state(store, project_id: str, number: int = 1) -> list[tuple]:
    """Every judgement of a round that counts or might: voter, question, answer, value, status; in a fixed order."""
    import sqlalchemy as sa

    from core.store import schema as t
    from core.store.command import fetch_rows

    j = t.judgement.c
    query = (
        sa.select(t.voter.c.external_id, j.question_id, t.assignment.c.external_id, j.answer, j.value, j.status)
        .join(t.assignment, t.assignment.c.id == j.assignment_id)
        .join(t.voter, t.voter.c.id == t.assignment.c.voter_id)
        .where(t.assignment.c.ballot_id == round_id(store, project_id, number))
    )
    with store.read() as conn:
        return sorted(fetch_rows(conn, query), key=repr)


def table_of(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8"))))


def file_of(rows: list[list[str]]) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode("utf-8")


# Drawing


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_same_inputs_draw_the_same_bytes_and_another_seed_others(store, scheme):
    projects = [make_project(store, plan=None) for _ in range(2)]
    for project_id in projects:
        draw_round(store, project_id, SMALL[scheme])
    one, other = ([row[1:] for row in table_of(batch_of(store, project_id))] for project_id in projects)
    assert one == other
    discard_round(store, projects[0], 1)
    draw_round(store, projects[0], replace(SMALL[scheme], seed=4))
    assert [row[1:] for row in table_of(batch_of(store, projects[0]))] != one


def test_every_item_is_rated_once_a_task_holds_what_was_asked_and_half_are_turned(store):
    project_id = make_project(store, plan=None)
    draw_round(store, project_id, SMALL[RATING])
    shown = read_shown(store, project_id, round_id(store, project_id))
    assert sorted(shown["item"]) == list(range(21))
    assert sorted(shown.groupby("task_id").size()) == [3, 3, 3, 4, 4, 4]
    draw_round(store, other := make_project(store, plan=None), replace(SMALL[RATING], swaps=False))
    straight = read_shown(store, other, round_id(store, other)).set_index("item")["token_a"]
    assert (shown.set_index("item")["token_a"].sort_index() != straight.sort_index()).sum() == 10


def test_every_item_stands_equally_often_in_tuples(store):
    project_id = make_project(store, plan=None)
    draw_round(store, project_id, SMALL[BEST_WORST])
    shown = read_shown(store, project_id, round_id(store, project_id))
    assert shown.groupby("item").size().tolist() == [4] * 21
    assert shown.groupby("question_id")["item"].nunique().tolist() == [4] * 21


def test_an_order_shows_the_targets_positives_and_nothing_that_holds_by_definition(store):
    project_id = make_project(store, plan=None)
    draw_round(store, project_id, SMALL[ORDER])
    shown = read_shown(store, project_id, round_id(store, project_id))
    words = {target: set(part["token_b"]) for target, part in shown.groupby("token_a")}
    assert words == {group.target: set(group.positives) for group in GROUPS}
    batch = batch_of(store, project_id).decode()
    assert not any(word in batch for word in ("lion", "kennel", "nail"))


def test_groups_whose_positives_are_no_items_are_refused_and_named(store):
    project_id = make_project(store, plan=None)
    groups = (TargetGroup("cat", ("dog", "hammer")), TargetGroup("cow", ("dog", "cat")))
    with pytest.raises(InputError) as caught:
        draw_round(store, project_id, replace(SMALL[ORDER], groups=groups))
    assert [(issue.row, issue.found, issue.message) for issue in caught.value.issues] == [
        (1, "cat", "no item with the target: hammer"),
        (2, "cow", "no item with the target: dog, cat"),
    ]
    with pytest.raises(PlanError, match="no target group"):
        draw_round(store, project_id, default_settings(ORDER))
    assert read_rounds(store, project_id) == []


def test_a_round_waits_for_the_one_of_its_scheme_and_fixes_the_tokens(store):
    project_id = make_project(store, plan=None)
    draw_round(store, project_id, SMALL[RATING])
    with pytest.raises(StoreError, match="still open"):
        draw_round(store, project_id, SMALL[RATING])
    assert draw_round(store, project_id, SMALL[BEST_WORST]) == 2
    with pytest.raises(StoreError, match="a round is drawn"):
        add_areas(store, project_id, [AreaTokens("Birds", ("duck", "goose"))])
    save_plan(store, project_id, PLAN)  # a round has settings of its own, so a plan can still be made
    discard_round(store, project_id, 1)
    assert [found.number for found in read_rounds(store, project_id)] == [2]
    fine(store)


# Taking answers in


@pytest.mark.release
@pytest.mark.parametrize("scheme", SCHEMES)
def test_files_in_any_split_order_and_repetition_leave_the_same(store, scheme):
    whole = collected(store, scheme)
    data = answer_round(batch_of(store, whole), scheme, per_task=SMALL[scheme].raters, tag="R1-")
    rows = table_of(data)
    parts = [file_of([rows[0], *rows[1::2]]), file_of([rows[0], *rows[2::2][::-1]]), data]
    codes = {}
    for order in ((0, 1, 2), (2, 1, 0, 2), (1, 0)):
        project_id = make_project(store, plan=None)
        draw_round(store, project_id, SMALL[scheme])
        mine = round_id(store, project_id)
        code = batch_of(store, project_id).decode().splitlines()[1].split("-0000")[0]
        for at in order:
            told = parts[at].replace(batch_of(store, whole).splitlines()[1].split(b"-0000")[0], code.encode())
            if preview_answers(store, project_id, told, "part.csv", ballot_id=mine).takes_something:
                accept_answers(store, project_id, told, "part.csv", ballot_id=mine)
        codes[order] = [(*row[:1], *row[2:]) for row in state(store, project_id)]
        assert round_progress(store, mine).is_complete
    expected = [(*row[:1], *row[2:]) for row in state(store, whole)]
    assert all(sorted(found, key=repr) == sorted(expected, key=repr) for found in codes.values())
    fine(store)


def test_each_row_has_its_class(store):
    project_id = make_project(store, plan=None)
    draw_round(store, project_id, SMALL[RATING])
    mine = round_id(store, project_id)
    rows = table_of(answer_round(batch_of(store, project_id), RATING))
    at = {name: place for place, name in enumerate(rows[0])}
    rows[1][at["Answer.rating_1"]] = "5"  # off the scale
    rows[1][at["Answer.unknown_2"]] = "1"
    rows[1][at["Answer.rating_3"]] = ""
    rows[2][at["Input.task_id"]] = "r9-00000000-00001"
    rows[3][at["Input.item_id_1"]] = "20" if rows[3][at["Input.item_id_1"]] != "20" else "19"
    rows[4][at["AssignmentStatus"]] = "Rejected"
    preview = preview_answers(store, project_id, file_of(rows), "r.csv", ballot_id=mine)
    widths = [sum(1 for n in range(1, 5) if row[at[f"Input.item_id_{n}"]]) for row in rows[1:]]
    assert preview.counts == {
        "new": widths[0] - 3 + widths[2] - 1 + widths[4] + widths[5],
        "unknown": 1,
        "rejected": widths[3],
        "no_answer": 1,
        "other_ballot": widths[1] + 1,
        "unreadable": 1,
    }
    reasons = preview.table("unreadable")["reason"].tolist()
    assert reasons == ["'5': a rating is 0 to 4 in steps of 0.25"]
    accept_answers(store, project_id, file_of(rows), "r.csv", ballot_id=mine)
    fine(store)
    assert round_progress(store, mine).unknown == 1


def test_a_voters_second_rating_of_an_item_is_a_repeat_and_comes_up_when_the_first_is_withdrawn(store):
    project_id = make_project(store, plan=None)
    draw_round(store, project_id, SMALL[RATING])
    mine, batch = round_id(store, project_id), batch_of(store, project_id)
    first = answer_round(batch, RATING, voters=("W1",), tag="A")
    second = answer_round(batch, RATING, voters=("W1",), tag="B", answer=lambda *_: {"rating": "0"}).replace(
        b"2026-10-01", b"2026-10-09"
    )
    uploaded = accept_answers(store, project_id, first, "first.csv", ballot_id=mine)
    accept_answers(store, project_id, second, "second.csv", ballot_id=mine)
    progress = round_progress(store, mine)
    assert (progress.votes, progress.repeats) == (21, 21)
    with store.read() as conn:
        assert rated_items(conn, project_id, mine).table.max() > 0
        assert [upload.filename for upload in uploads_of(conn, project_id, ballot_id=mine)] == [
            "second.csv",
            "first.csv",
        ]
        assert uploads_of(conn, project_id) == []  # those of ballots
    withdrawn = withdraw_upload(store, project_id, uploaded.upload_id)
    assert withdrawn.judgements == 21
    with store.read() as conn:
        assert rated_items(conn, project_id, mine).table.max() == 0
    fine(store)


def test_a_rejected_assignment_counts_no_more_and_is_settled_as_those_of_ballots(store):
    project_id = collected(store, BEST_WORST)
    mine = round_id(store, project_id)
    before = state(store, project_id)
    frame = read_assignments(store, mine)
    assert frame["n_asked"].sum() == 21
    assert frame["n_votes"].sum() == 21
    first = int(frame["assignment"].iloc[0])
    done = review_assignments(store, project_id, {first: Review("reject", "clicked through")})
    assert done.out == int(frame["n_votes"].iloc[0])
    assert round_progress(store, mine).votes == 21 - done.out
    fine(store)
    review_assignments(store, project_id, {first: None})
    assert state(store, project_id) == before


def test_a_plain_table_is_read_too(store):
    project_id = make_project(store, plan=None)
    draw_round(store, project_id, SMALL[BEST_WORST])
    mine = round_id(store, project_id)
    shown = read_shown(store, project_id, mine).drop_duplicates("question_id")
    ids = (shown["task_id"] + "-" + shown["n"].astype(str)).tolist()
    rows = [["question_id", "voter", "answer"], [ids[0], "anna", "best=2; worst=4"], [ids[1], "anna", "unknown"]]
    rows += [[ids[2], "anna", "best=1;worst=1"], [ids[3], "anna", ""], ["nonsense", "anna", "best=1;worst=2"]]
    found = preview_answers(store, project_id, file_of(rows), "plain.csv", ballot_id=mine)
    assert found.counts == {"new": 1, "unknown": 1, "unreadable": 2, "no_answer": 1}
    accept_answers(store, project_id, file_of(rows), "plain.csv", ballot_id=mine)
    assert [row[3] for row in state(store, project_id)] == ["best=2;worst=4", "unknown"]
    fine(store)


@pytest.mark.parametrize(("scheme", "other"), [(RATING, BEST_WORST), (ORDER, RATING)])
def test_a_file_of_another_scheme_is_told(store, scheme, other):
    one, wrong = collected(store, scheme), collected(store, other)
    data = answer_round(batch_of(store, wrong), other)
    found = preview_answers(store, one, data, "wrong.csv", ballot_id=round_id(store, one))
    assert not found.takes_something
    assert set(found.counts) <= {"other_ballot", "no_answer"}
    with pytest.raises(InputError, match="isn't a result file of"):
        preview_answers(store, one, b"x,y\n1,2\n", "x.csv", ballot_id=round_id(store, one))


def test_a_rating_set_that_exists_already_is_taken_by_its_texts(store):
    project_id = make_project(store, plan=None)
    draw_round(store, project_id, SMALL[RATING])
    mine = round_id(store, project_id)
    wide = b"word1,word2,anna,ben\ndog,cat,3.5,4\nhorse,cat,1,1.1\ndog,ship,2,2\n"
    found = preview_answers(store, project_id, wide, "wide.csv", ballot_id=mine)
    assert found.counts == {"new": 3, "other_ballot": 2, "unreadable": 1}
    assert set(found.table("other_ballot")["reason"]) == {"no item of this round has these texts"}
    accept_answers(store, project_id, wide, "wide.csv", ballot_id=mine)
    long = b"token_a,token_b,voter,rating\ncat,dog,anna,3.5\nsaw,hammer,cleo,2\n"
    again = preview_answers(store, project_id, long, "long.csv", ballot_id=mine)
    assert again.counts == {"new": 1, "known": 1}
    accept_answers(store, project_id, long, "long.csv", ballot_id=mine)
    with store.read() as conn:
        rated = rated_items(conn, project_id, mine)
    assert np.nansum(rated.table) == 3.5 + 4 + 1 + 2
    with pytest.raises(InputError, match="has means only"):
        preview_answers(store, project_id, b"word1,word2,score\ndog,cat,3\nhorse,cat,1\n", "m.csv", ballot_id=mine)
    fine(store)


# Scores


def test_ratings_are_scored_by_their_means(store):
    project_id = collected(store, RATING)
    close_round(store, project_id, 1)
    found = round_dataset(store, project_id, round_id(store, project_id))
    rows = table_of(answer_round(batch_of(store, project_id), RATING, per_task=3))
    at = {name: place for place, name in enumerate(rows[0])}
    given: dict[frozenset[str], list[float]] = {}
    for row in rows[1:]:
        for n in range(1, 5):
            if row[at[f"Input.item_id_{n}"]]:
                pair = frozenset((row[at[f"Input.token_a_{n}"]], row[at[f"Input.token_b_{n}"]]))
                given.setdefault(pair, []).append(float(row[at[f"Answer.rating_{n}"]]))
    expected = {pair: sum(values) / 3 for pair, values in given.items()}
    scores = {frozenset((a, b)): s for a, b, s in found[["token_a", "token_b", "score"]].itertuples(index=False)}
    assert scores == pytest.approx(expected)
    sds = [float(np.std(values, ddof=1)) for values in given.values()]
    assert found.attrs["figures"]["noise"] == pytest.approx(np.mean(sds))
    assert found.attrs["figures"]["ratings"] == 63
    assert found["votes"].tolist() == [3] * 21
    fine(store)


def test_best_worst_is_scored_by_counts_and_a_fit_and_goes_on_with_the_leading_items(store):
    project_id = collected(store, BEST_WORST)
    shown = read_shown(store, project_id, round_id(store, project_id))
    named = dict.fromkeys(range(21), 0)
    for _, part in shown.groupby("question_id"):
        pairs = list(zip(part["token_a"], part["token_b"], strict=True))
        told = by_letters("W1", 1, pairs)
        named[part["item"].iloc[int(told["best"]) - 1]] += 1
        named[part["item"].iloc[int(told["worst"]) - 1]] -= 1
    close_round(store, project_id, 1)
    import sqlalchemy as sa

    from core.store import schema as t

    query = sa.select(t.item.c.position, t.ballot_item.c.x).join(t.item, t.item.c.id == t.ballot_item.c.item_id)
    with store.read() as conn:
        counts = dict(conn.execute(query).all())
    assert counts == pytest.approx({item: n / 4 for item, n in named.items()})
    first = round_dataset(store, project_id, round_id(store, project_id))
    sizes = [letters(pair) for pair in first[["token_a", "token_b"]].itertuples(index=False, name=None)]
    assert np.corrcoef(first["score"], sizes)[0, 1] > 0.95
    number = add_round(store, project_id, another_seed(read_rounds(store, project_id)[0]), after=1)
    going_on = set(read_shown(store, project_id, round_id(store, project_id, number))["item"])
    leading = first.head(11)[["token_a", "token_b"]].itertuples(index=False, name=None)
    by_pair = {frozenset(p): p for p in leading}
    again = read_shown(store, project_id, round_id(store, project_id, number))
    assert {frozenset(p) for p in zip(again["token_a"], again["token_b"], strict=True)} == set(by_pair)
    assert len(going_on) == 11
    close_round(store, project_id, number)
    second = round_dataset(store, project_id, round_id(store, project_id, number))
    assert len(second) == 21
    assert second["ballots"].sum() == 32
    with pytest.raises(StoreError, match="Only the newest"):
        reopen_round(store, project_id, 1)
    fine(store)


def test_orders_give_the_share_that_puts_one_word_above_another(store):
    project_id = make_project(store, plan=None)
    draw_round(store, project_id, SMALL[ORDER])
    mine = round_id(store, project_id)

    def answer(voter, n, shown):
        words = [pair[1] for pair in shown]
        wanted = {"cat": {"W1": "dog horse mouse", "W2": "dog mouse horse", "W3": "mouse dog horse"},
                  "hammer": dict.fromkeys(("W1", "W2", "W3"), "saw 007")}[shown[0][0]]  # fmt: skip
        return {"order": " ".join(str(words.index(word) + 1) for word in wanted[voter].split())}

    data = answer_round(batch_of(store, project_id), ORDER, per_task=3, answer=answer)
    accept_answers(store, project_id, data, "orders.csv", ballot_id=mine)
    found = read_rounds(store, project_id)[0]
    with store.read() as conn:
        compared = preferences(conn, project_id, found)
        orders = given_orders(answers_of(conn, project_id, found))
    assert {(c.target, c.first, c.second): round(c.r, 4) for c in compared if c.kind == "positive"} == {
        ("cat", "dog", "horse"): 1.0,
        ("cat", "dog", "mouse"): 0.6667,
        ("cat", "mouse", "horse"): 0.6667,
        ("hammer", "saw", "007"): 1.0,
    }
    assert sum(c.kind == "distractor" for c in compared) == 3 * 2 + 2 * 1
    assert sorted(orders.values(), key=repr)[0]["hammer"] == {"saw": 1.0, "007": 2.0}
    close_round(store, project_id, 1)
    with pytest.raises(StoreError, match="orders score no item"):
        round_dataset(store, project_id, mine)
    fine(store)


def test_a_round_with_an_unanswered_item_doesnt_close(store):
    project_id = make_project(store, plan=None)
    draw_round(store, project_id, SMALL[RATING])
    with pytest.raises(StoreError, match="no answers yet"):
        close_round(store, project_id, 1)
    rows = table_of(answer_round(batch_of(store, project_id), RATING))
    accept_answers(store, project_id, file_of(rows[:3]), "some.csv", ballot_id=round_id(store, project_id))
    with pytest.raises(StoreError, match="items have no answer yet"):
        close_round(store, project_id, 1)
    with pytest.raises(StoreError, match="has answers"):
        discard_round(store, project_id, 1)


@pytest.mark.parametrize("scheme", [RATING, BEST_WORST])
def test_leaving_a_voter_out_scores_a_closed_round_anew_and_readmitting_restores_it(store, scheme):
    settings = replace(SMALL[scheme], raters=3)
    project_id = collected(store, scheme, settings)
    close_round(store, project_id, 1)
    mine = round_id(store, project_id)
    before, judged = to_csv(round_dataset(store, project_id, mine)), state(store, project_id)
    voters = voter_numbers(store, project_id)
    exclude_voters(store, project_id, [voters["W1"]], "clicks", expected_revision=None)
    fine(store)
    assert round_progress(store, mine).excluded > 0
    without = to_csv(round_dataset(store, project_id, mine))
    assert without != before
    if scheme == RATING:
        with store.read() as conn:
            table = rated_items(conn, project_id, mine).table
        assert len(table) == 2
    readmit_voters(store, project_id, [voters["W1"]])
    assert to_csv(round_dataset(store, project_id, mine)) == before
    assert state(store, project_id) == judged
    fine(store)


def voter_numbers(store, project_id: str) -> dict[str, int]:
    import sqlalchemy as sa

    from core.store import schema as t

    query = sa.select(t.voter.c.external_id, t.voter.c.id).where(t.voter.c.project_id == project_id)
    with store.read() as conn:
        return dict(conn.execute(query).all())


# Beside comparisons


@pytest.mark.release
@pytest.mark.parametrize("protocol", BOTH_PROTOCOLS)
def test_all_that_ballots_give_is_the_same_with_and_without_rounds(store, protocol):
    plan = replace(PLAN, protocol=protocol)
    plain, mixed = make_project(store, plan=plan), make_project(store, plan=plan)
    for scheme in SCHEMES:
        close_round(store, mixed, add_round(store, mixed, SMALL[scheme]))
    for project_id in (plain, mixed):
        assert read_plan(store, project_id) == plan
        for number in (1, 2):
            draw_next_ballot(store, project_id)
            data = answer_batch(write_batch(read_comparisons(store, project_id, number)), tag=f"B{number}-")
            accept_upload(store, project_id, data, f"{number}.csv")
            close_ballot(store, project_id)
        assert [ballot.number for ballot in read_ballots(store, project_id)] == [1, 2]
    one, other = (read_project_dataset(store, project_id) for project_id in (plain, mixed))
    assert to_csv(one) == to_csv(other)
    assert one.attrs | {"project": "Test (2)"} == other.attrs
    with store.read() as conn:
        records = [record_of(conn, project_id, "secret") for project_id in (plain, mixed)]
    for name in ("items", "ballot_items", "fit_scores", "comparisons", "tasks", "votes", "voters"):
        pd.testing.assert_frame_equal(getattr(records[0], name), getattr(records[1], name))
    facts = [datasheet.load(store, project_id) for project_id in (plain, mixed)]
    assert (facts[0].votes, facts[0].voters) == (facts[1].votes, facts[1].voters)
    assert trust.load(store, plain).lines == trust.load(store, mixed).lines
    fine(store)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_project_with_rounds_comes_back_from_its_file_bit_for_bit(store, scheme):
    project_id = collected(store, scheme)
    close_round(store, project_id, 1)
    if scheme == BEST_WORST:
        add_round(store, project_id, another_seed(read_rounds(store, project_id)[0]), after=1)
    again = import_project(store, export_project(store, project_id))
    one, other = (read_rounds(store, of) for of in (project_id, again))
    assert [found.settings for found in one] == [found.settings for found in other]
    assert [replace(a, id=0) for a in one] == [replace(b, id=0) for b in other]
    assert batch_of(store, project_id, len(one)) == batch_of(store, again, len(one))
    if scheme != ORDER:
        assert to_csv(round_dataset(store, project_id, one[0].id)) == to_csv(round_dataset(store, again, other[0].id))
    else:
        with store.read() as conn:
            assert preferences(conn, project_id, one[0]) == preferences(conn, again, other[0])
    fine(store)
    close = next(found for found in other if found.is_open) if scheme == BEST_WORST else None
    if close is not None:
        close_round(store, again, close.number)
    fine(store)


def test_each_area_has_rounds_of_its_own_where_it_has_a_ranking_of_its_own(store):
    project_id = make_project(store, plan=None)
    set_ranking(store, project_id, "area")
    areas = [ranking.area_id for ranking in read_rankings(store, project_id)]
    with pytest.raises(StoreError, match="choose one of its areas"):
        draw_round(store, project_id, SMALL[RATING])
    numbers = [draw_round(store, project_id, SMALL[RATING], area_id=area_id) for area_id in areas]
    assert numbers == [1, 1]
    for area_id, n_items in zip(areas, (15, 6), strict=True):
        (found,) = read_rounds(store, project_id, area_id)
        shown = read_shown(store, project_id, found.id)
        assert shown["area"].nunique() == 1
        batch = write_round(shown, round_kind(RATING), ascii_only=False)
        data = answer_round(batch, RATING, per_task=3)
        accept_answers(store, project_id, data, "r.csv", ballot_id=found.id)
        close_round(store, project_id, 1, area_id=area_id)
        dataset = round_dataset(store, project_id, found.id)
        assert len(dataset) == n_items
        assert dataset.attrs["unscored_items"] == 0
    again = import_project(store, export_project(store, project_id))
    assert [len(read_rounds(store, again, r.area_id)) for r in read_rankings(store, again)] == [1, 1]
    fine(store)


def test_every_two_rounds_of_one_item_list_have_task_ids_of_their_own(store):
    project_id = make_project(store, plan=None)
    for scheme in SCHEMES:
        draw_round(store, project_id, SMALL[scheme])
    codes = [set(read_shown(store, project_id, found.id)["task_id"]) for found in read_rounds(store, project_id)]
    assert all(not one & other for one, other in combinations(codes, 2))


def another_seed(found):
    """Settings for the round that follows one: as it was, with another seed."""
    return replace(found.settings, seed=found.settings.seed + 1)
