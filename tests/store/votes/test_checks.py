"""Checks of a project's votes: what is said of parts, of sides and of agreement."""

from __future__ import annotations

import csv
import io

import pytest
from campaigns import answer_batch, draw_batch, make_project

from core.store.ballots.ballot_rows import read_ballots, read_comparisons
from core.store.votes.checks import counted_votes
from core.store.votes.intake import accept_upload
from core.trust.agreement import agreement
from core.views.scores import trust


def sides_by_hand(results: bytes) -> dict[str, list[int]]:
    """For each voter how often left and how often right was chosen, from the file's text."""
    found: dict[str, list[int]] = {}
    lines = csv.reader(io.StringIO(results.decode("utf-8")))
    header = next(lines)
    for line in lines:
        row = dict(zip(header, line, strict=False))
        for n in (1, 2, 3):
            choice = row.get(f"Answer.choice_{n}", "")
            if choice in ("left", "right"):
                found.setdefault(row["WorkerId"], [0, 0])[choice == "right"] += 1
    return found


def test_sides_are_those_that_voters_saw(store):
    project_id = make_project(store)
    results = answer_batch(draw_batch(store, project_id))
    accept_upload(store, project_id, results, "results.csv")
    voters = trust.load_checks(store, project_id).sides.voters.set_index("voter")
    expected = sides_by_hand(results)
    assert {voter: [row["left"], row["answers"] - row["left"]] for voter, row in voters.iterrows()} == expected


def test_a_voter_who_always_chooses_left_is_named(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    accept_upload(store, project_id, answer_batch(batch, voters=("ever left",), choose=lambda _: "left"), "a.csv")
    found = trust.load_checks(store, project_id)
    assert found.sides_said == (
        "1 of 1 voter prefers a side: ever left chose the left or upper pair in 42 of 42 answers. "
        "Their votes still count."
    )
    assert len(found.part_sizes) == 1
    assert found.parts_said == "Votes join all 21 items that have votes."


def test_parts_that_no_vote_links_are_named(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    whole = answer_batch(batch).splitlines(keepends=True)
    accept_upload(store, project_id, b"".join(whole[:3]), "two tasks.csv")
    found = trust.load_checks(store, project_id)
    shown = read_comparisons(store, project_id, 1).iloc[:6]
    joined = [{a, b} for a, b in zip(shown["first"], shown["second"], strict=True)]
    for _ in joined:  # merge what shares an item, until nothing does
        for part in joined:
            for other in [other for other in joined if other is not part and part & other]:
                part |= other
                joined.remove(other)
    assert list(found.part_sizes) == sorted(map(len, joined), reverse=True)
    assert len(joined) > 1
    assert f"({len(joined)} parts in all)" in found.parts_said
    assert "collect the missing votes" in found.parts_said


def test_agreement_where_voters_overlap(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    accept_upload(store, project_id, answer_batch(batch, voters=("W1",)), "one.csv")
    assert (
        "none of 42 answered comparisons was answered by two voters"
        in trust.load_checks(store, project_id).agreement_said
    )
    other = answer_batch(batch, voters=("W2",), choose=lambda shown: "left", tag="B")
    accept_upload(store, project_id, other, "two.csv")
    found = trust.load_checks(store, project_id)
    with store.read() as conn:
        votes = counted_votes(conn, [read_ballots(store, project_id)[0].id])
    table = votes.pivot(index="voter", columns="question_id", values="value")
    assert found.agreement == agreement(table, distance="nominal")
    assert (found.agreement.n_units, found.agreement.n_voters) == (42, 2)
    assert "over 42 comparisons that several voters answered, 84 answers of 2 voters" in found.agreement_said


def test_equal_ids_of_two_platforms_are_two_voters(store):
    from core.platforms import write_comparisons

    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    accept_upload(store, project_id, answer_batch(batch, voters=("W1",)), "mturk.csv")
    table = write_comparisons(read_comparisons(store, project_id, 1)).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(table)))
    lines = [f"{row['comparison_id']},W1,left" for row in rows[:20]]
    accept_upload(store, project_id, "\n".join(["comparison_id,voter,choice", *lines]).encode(), "plain.csv")
    voters = trust.load_checks(store, project_id).sides.voters
    assert sorted(voters["voter"]) == ["W1 (mturk)", "W1 (plain)"]


@pytest.mark.parametrize("draw", [False, True])
def test_without_votes_there_is_nothing_to_check(store, draw):
    project_id = make_project(store)
    if draw:
        draw_batch(store, project_id)
    found = trust.load_checks(store, project_id)
    assert found.part_sizes == ()
    assert found.parts_said == "There are no votes to check yet."
    assert "No vote tells" in found.sides_said
    assert found.agreement is None
