"""Votes in a plain table: out as comparisons, back as votes."""

from __future__ import annotations

import csv
import io

import pytest
from campaigns import draw_batch, longer_pair, make_project

from core.errors import InputError
from core.platforms import read_results, write_comparisons
from core.store.ballots.ballot_rows import read_comparisons
from core.store.scores.project_dataset import read_ballot_scores
from core.store.votes.intake import accept_upload, preview_upload


def filled(table: bytes, *, voters=("anna", "ben"), extra: str = "") -> bytes:
    """The table of comparisons with every choice filled in by one of the voters in turn."""
    rows = list(csv.DictReader(io.StringIO(table.decode("utf-8-sig"))))
    lines = ["comparison_id,voter,choice" + (",seconds" if extra else "")]
    for at, row in enumerate(rows):
        lines.append(f"{row['comparison_id']},{voters[at % len(voters)]},{longer_pair(row)}{extra}")
    return ("\n".join(lines) + "\n").encode()


def drawn(store):
    project_id = make_project(store)
    draw_batch(store, project_id)
    return project_id, write_comparisons(read_comparisons(store, project_id, 1))


def test_the_comparisons_go_out_as_a_table_and_votes_come_back(store):
    project_id, table = drawn(store)
    rows = list(csv.DictReader(io.StringIO(table.decode("utf-8-sig"))))
    assert len(rows) == 42
    assert len({row["comparison_id"] for row in rows}) == 42
    accepted = accept_upload(store, project_id, filled(table, extra=",4.5"), "votes.csv")
    assert accepted.counts == {"new": 42}
    assert accepted.n_voters == 2
    scores = read_ballot_scores(store, project_id)
    assert (scores["wins"] + scores["ties"] + scores["losses"] == 4).all()


def test_the_same_table_twice_changes_nothing(store):
    project_id, table = drawn(store)
    accept_upload(store, project_id, filled(table), "votes.csv")
    assert preview_upload(store, project_id, filled(table), "again.csv").counts == {"known": 42}


def test_a_second_voter_is_another_vote_and_the_same_voter_is_not(store):
    project_id, table = drawn(store)
    accept_upload(store, project_id, filled(table, voters=("anna",)), "votes.csv")
    assert preview_upload(store, project_id, filled(table, voters=("ben",)), "ben.csv").counts == {"new": 42}


def test_a_spreadsheets_formulas_do_no_harm(store):
    _, table = drawn(store)
    cells = [cell for row in csv.reader(io.StringIO(table.decode("utf-8-sig"))) for cell in row]
    assert "'=cow" in cells
    assert not any(cell.startswith("=") for cell in cells)


def test_odd_rows_are_told_and_the_rest_is_read():
    data = (
        b"comparison_id;voter;choice;seconds;submitted_at\n"
        b"b1-abc-00001-1;anna;LEFT;3,5;2026-11-28T10:00:00Z\n"
        b"b1-abc-00001-2;;right;;\n"
        b"nonsense;anna;right;;\n"
        b"b1-abc-00001-3;anna;;x;yesterday\n"
        b"b1-abc-00001-4;anna;both;-1;\n"
    )
    file = read_results(data, "votes.csv")
    assert file.platform == "plain"
    answers = file.answers
    assert answers[["row", "task_id", "n", "choice"]].to_numpy().tolist() == [
        [2, "b1-abc-00001", 1, "left"],
        [5, "b1-abc-00001", 3, ""],
        [6, "b1-abc-00001", 4, "both"],
    ]
    assert answers["seconds"].tolist()[:1] == [3.5]
    assert answers["seconds"].isna().tolist()[1:] == [True, True]
    assert file.n_unreadable == 2
    assert [issue.row for issue in file.issues if issue.row] == [3, 4]


def test_missing_columns_are_named():
    with pytest.raises(InputError, match="voter"):
        read_results(b"comparison_id,choice\nb1-x-1,left\n", "votes.csv")


def test_a_table_that_is_only_begun_is_read_as_far_as_it_is_filled(store):
    project_id, table = drawn(store)
    rows = list(csv.reader(io.StringIO(table.decode("utf-8-sig"))))
    for row in rows[1:6]:
        row[-2:] = ["anna", "left"]
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    preview = preview_upload(store, project_id, out.getvalue().encode("utf-8-sig"), "begun.csv")
    assert preview.counts == preview.row_counts == {"new": 5, "no_answer": 37}
    assert preview.issues == ()
