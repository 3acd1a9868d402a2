"""Archived campaigns as projects: rebuilt, voted, closed, scored."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from campaigns import answer_batch, draw_batch, make_project
from click.testing import CliRunner

from core.__main__ import cli
from core.commands.archived import archive_mapping, import_archived, rebuild
from core.errors import InputError
from core.platforms import Mapping, open_results
from core.store import Store
from core.store.ballots.ballot_rows import read_ballots
from core.store.projects.project_commands import list_projects
from core.store.scores.project_dataset import read_ballot_scores
from core.store.tokens.areas import read_areas


def archived_file(store: Store, **options) -> bytes:
    """A campaign's file as Mechanical Turk gave it, without our task ids."""
    project_id = make_project(store)
    data = answer_batch(draw_batch(store, project_id), **options)
    rows = list(csv.reader(io.StringIO(data.decode())))
    at = rows[0].index("Input.task_id")
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows([row[:at] + row[at + 1 :] for row in rows])
    return out.getvalue().encode()


@pytest.mark.parametrize("random_opponents", [False, True])
def test_a_campaign_comes_back_with_its_tokens_votes_and_scores(store: Store, random_opponents: bool) -> None:
    data = archived_file(store)
    done = import_archived(store, "Old", [("batch.csv", data)], random_opponents=random_opponents)
    assert (done.n_tokens, done.n_items, done.n_comparisons, done.why_open) == (10, 21, 42, "")
    assert done.counts == {"batch.csv": {"new": 42}}
    areas = {area.name: set(area.tokens) for area in read_areas(store, done.project_id)}
    assert areas == {
        "Animals": {"cat", "dog", "horse", "mouse", "café", "=cow"}, "Tools": {"hammer", "saw", "007", "NA"}
    }  # fmt: skip
    (ballot,) = read_ballots(store, done.project_id)
    assert (ballot.state, ballot.protocol, ballot.n_comparisons) == (
        "closed",
        "paper" if random_opponents else "runoff",
        42,
    )
    original = next(project for project in list_projects(store) if project.id != done.project_id)
    assert _tallies(store, done.project_id) == _tallies(store, original.id, data=data, store_votes=True)


def _tallies(store: Store, project_id: str, *, data: bytes = b"", store_votes: bool = False) -> dict:
    """Wins, ties and losses by the tokens of each item."""
    from core.store.tokens.areas import read_items
    from core.store.votes.intake import accept_upload

    if store_votes:
        accept_upload(store, project_id, data, "results.csv")
    items = read_items(store, project_id).set_index("item")
    scores = read_ballot_scores(store, project_id)
    return {
        frozenset((items.loc[row.item, "token_a"], items.loc[row.item, "token_b"])): (row.wins, row.ties, row.losses)
        for row in scores.itertuples()
    }


@pytest.mark.parametrize(
    ("name", "items", "comparisons", "counts"),
    [
        ("31-results-rejected", 2, 2, {"new": 3, "rejected": 2}),
        ("35-results-overlap-part1", 2, 1, {"new": 3}),
        ("41-results-always-left", 2, 8, {"new": 8}),
        ("37-results-mac-cr", 2, 1, {"new": 3}),
        ("42-results-lowercase-headers", 2, 1, {"new": 3}),
        ("39-results-other-batch", 4, 2, {"new": 2}),
    ],
)
def test_cases(store: Store, cases: Path, name: str, items: int, comparisons: int, counts: dict) -> None:
    done = import_archived(store, "Old", [(name, (cases / f"{name}.csv").read_bytes())])
    assert (done.n_items, done.n_comparisons, done.counts) == (items, comparisons, {name: counts})


def test_parts_that_no_vote_joins_stay_open_and_say_why(store: Store, cases: Path) -> None:
    data = (cases / "39-results-other-batch.csv").read_bytes()
    done = import_archived(store, "Old", [("other.csv", data)])
    state = read_ballots(store, done.project_id)[0].state
    assert (state == "open") == bool(done.why_open)


def test_a_file_without_words_makes_nothing(store: Store, cases: Path) -> None:
    data = (cases / "33-results-no-input-columns.csv").read_bytes()
    with pytest.raises(InputError, match=r"no Input columns.*Download CSV"):
        import_archived(store, "Old", [("33.csv", data)])
    assert list_projects(store) == []


def test_four_inputs_of_any_name_are_taken_in_their_order() -> None:
    header = (
        "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.w1a,Input.w1b,Input.w2a,Input.w2b,Input.id,Answer.choice"
    )
    data = f"{header}\nH1,A1,W1,Approved,cat,dog,pen,ink,7,left\n".encode()
    mapping = archive_mapping(open_results(data, "x.csv"))
    assert [mapping.left_a, mapping.right_b, mapping.task] == ["Input.w1a", "Input.w2b", "HITId"]
    found = rebuild([open_results(data, "x.csv")], mapping)
    assert {area: set(tokens) for area, tokens in found.areas.items()} == {"Archived": {"cat", "dog", "pen", "ink"}}


@pytest.mark.parametrize("last", ["Input.w2b", "Input.w²", "Input.hit:w1", "Input." + "7" * 9000 + "x"])
def test_inputs_may_be_called_anything(last: str) -> None:
    header = f"HITId,Input.w1a,Input.w1b,Input.w2a,{last},Input.area,Input.my_id_2,Answer.choice"
    mapping = archive_mapping(open_results(f"{header}\nH1,a,b,c,d,x,7,left\n".encode(), "x.csv"))
    assert [mapping.left_a, mapping.left_b, mapping.right_a, mapping.right_b] == header.split(",")[1:5]


def test_later_ballots_must_hold_items_of_the_earlier_ones(store: Store) -> None:
    head = "voter,choice,left_a,left_b,right_a,right_b\n"
    first = head + "".join(f"v{v},left,a,b,c,d\nv{v},right,a,b,e,f\nv{v},left,c,d,e,f\n" for v in range(6))
    later = head + "".join(f"v{v},left,a,b,c,d\n" for v in range(6))
    mapping = Mapping(
        voter="voter", choice="choice", left_a="left_a", left_b="left_b", right_a="right_a", right_b="right_b"
    )
    files = [("one.csv", first.encode()), ("two.csv", later.encode())]
    done = import_archived(store, "Two", files, mapping=mapping, random_opponents=True, ballot_per_file=True)
    ballots = read_ballots(store, done.project_id)
    assert [(ballot.number, ballot.n_items, ballot.state) for ballot in ballots] == [(1, 3, "closed"), (2, 2, "closed")]
    with pytest.raises(InputError, match=r"compares 1 items that two\.csv doesn't"):
        import_archived(store, "Turned", files[::-1], mapping=mapping, ballot_per_file=True)
    one = import_archived(store, "One", files, mapping=mapping)
    assert [ballot.n_items for ballot in read_ballots(store, one.project_id)] == [3]
    # Without times, the same voter with the same choice on the same items is the same answer once more.
    assert (one.counts, "two.csv holds no vote" in str(one.notes[0])) == ({"one.csv": {"new": 18}}, True)


def test_words_in_any_order_and_spelling_are_one_item(store: Store) -> None:
    head = "voter,choice,left_a,left_b,right_a,right_b\n"
    rows = "v1,left,cat,dog,pen,ink\nv2,right,ink,pen,dog, cat\nv3,left,caf\u00e9,tea,cat,dog\n"
    rows += "v4,left,cafe\u0301,tea,cat,dog\n"
    odd = "v5,left,cat,cat,pen,ink\nv6,left,,dog,pen,ink\nv7,left,cat,dog,dog,cat\n"
    mapping = Mapping(
        voter="voter", choice="choice", left_a="left_a", left_b="left_b", right_a="right_a", right_b="right_b"
    )
    done = import_archived(store, "Words", [("w.csv", (head + rows + odd).encode())], mapping=mapping)
    assert (done.n_items, done.n_comparisons) == (3, 2)
    assert done.counts["w.csv"] == {"new": 4, "other_ballot": 3}
    assert "3 rows show no two pairs" in str(done.notes[0])


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cases: Path) -> None:
    monkeypatch.setenv("RUNOFF_WORKSPACE", str(tmp_path / "cli"))
    path = str(cases / "31-results-rejected.csv")
    result = CliRunner().invoke(cli, ["import-archived", path, "--name", "Old", "--json"], catch_exceptions=False)
    told = json.loads(result.stdout)
    assert (told["items"], told["comparisons"]) == (2, 2)
    assert told["answers"] == {"31-results-rejected.csv": {"new": 3, "rejected": 2}}
    columns = ["--column", "left_a=Input.left_a", "--choice", "left=right"]
    result = CliRunner().invoke(cli, ["import-archived", path, "--name", "Turned", *columns], catch_exceptions=False)
    assert "2 items" in result.stdout
