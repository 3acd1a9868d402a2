"""What counts of rejected answers and of repeats: chosen, counted again, taken back; and columns named by hand."""

from __future__ import annotations

import itertools
from collections import Counter

import pandas as pd
import pytest
from campaigns import answer_batch, draw_batch, make_project
from test_votes import BALLOT, answers, known

from core.errors import InputError
from core.platforms import Mapping, UnnamedColumnsError
from core.store import Store
from core.store.ballots.ballot_rows import read_ballots
from core.store.ballots.closing import close_ballot, reopen_ballot
from core.store.command import fetch_rows
from core.store.projects.project_commands import read_log
from core.store.scores.project_dataset import read_ballot_scores
from core.store.votes.intake import accept_upload, forget_mapping, preview_upload, read_mapping, remember_mapping
from core.store.votes.judgements import read_policy, recount, set_policy
from core.store.votes.uploads import read_uploads, withdraw_upload
from core.votes.classify import CountingRules, classify
from core.votes.reasons import Policy

POLICIES = [
    Policy(rejected, repeats) for rejected in ("leave out", "count") for repeats in ("earliest", "latest", "none")
]


def left(shown: dict[str, str]) -> str:
    return "left"


def right(shown: dict[str, str]) -> str:
    return "right"


@pytest.fixture
def files(store: Store) -> tuple[str, dict[str, bytes]]:
    """A ballot answered by six people, again by the same a day later, and by one whose work was rejected."""
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    later = answer_batch(batch, choose=right, tag="B").replace(b"Mon Jan 05", b"Tue Jan 06")
    return project_id, {
        "first": answer_batch(batch, choose=left, tag="C"),
        "later": later,
        "rejected": answer_batch(batch, voters=("W9",), choose=right, status="Rejected", tag="D"),
    }


def standing(store: Store, project_id: str) -> dict[str, int]:
    """Judgements of the open ballot by file (the letter of its assignments) and status."""
    import sqlalchemy as sa

    from core.store import schema as t

    query = sa.select(t.assignment.c.external_id, t.judgement.c.status).join(
        t.assignment, t.assignment.c.id == t.judgement.c.assignment_id
    )
    with store.read() as conn:
        return dict(Counter(f"{assignment[0]} {status}" for assignment, status in fetch_rows(conn, query)))


EXPECTED = {
    ("leave out", "earliest"): {"C counted": 42, "B repeat": 42, "D rejected": 42},
    ("leave out", "latest"): {"C repeat": 42, "B counted": 42, "D rejected": 42},
    ("leave out", "none"): {"C repeat": 42, "B repeat": 42, "D rejected": 42},
    ("count", "earliest"): {"C counted": 42, "B repeat": 42, "D counted": 42},
    ("count", "latest"): {"C repeat": 42, "B counted": 42, "D counted": 42},
    ("count", "none"): {"C repeat": 42, "B repeat": 42, "D counted": 42},
}


def test_the_default_is_stated_and_others_are_refused(store: Store) -> None:
    project_id = make_project(store)
    assert read_policy(store, project_id) == Policy("leave out", "earliest")
    with pytest.raises(InputError, match="earliest, latest, none"):
        Policy(repeats="newest")


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_the_count_follows_the_policy_whatever_came_first(store: Store, files, policy: Policy) -> None:
    """Chosen before any file, between files, and after all of them: the same count."""
    project_id, by_name = files
    expected = EXPECTED[policy.rejected, policy.repeats]
    order = ("later", "rejected", "first")
    for name in order[:2]:
        accept_upload(store, project_id, by_name[name], f"{name}.csv")
    set_policy(store, project_id, policy)
    accept_upload(store, project_id, by_name[order[2]], "first.csv")
    assert standing(store, project_id) == expected
    for name in by_name:
        assert not preview_upload(store, project_id, by_name[name], name).takes_something
    with store.write() as conn:
        assert recount(conn, project_id, read_ballots(store, project_id)[0].id) == 0


def test_a_change_is_undone_without_a_trace_in_the_scores(store: Store, files) -> None:
    project_id, by_name = files
    for name, data in by_name.items():
        accept_upload(store, project_id, data, f"{name}.csv")
    before = read_ballot_scores(store, project_id)
    n = set_policy(store, project_id, Policy("count", "latest"))
    assert n == 42 * 3
    assert not read_ballot_scores(store, project_id).equals(before)
    set_policy(store, project_id, Policy())
    pd.testing.assert_frame_equal(read_ballot_scores(store, project_id), before)
    detail = read_log(store, project_id, 1)[0]["detail"]
    assert (detail["repeats"], detail["before"]["repeats"], detail["answers that changed"]) == (
        "earliest",
        "latest",
        126,
    )


def test_a_reopened_ballot_follows_the_policy_of_then(store: Store, files) -> None:
    project_id, made = files
    for name in ("first", "later", "rejected"):
        accept_upload(store, project_id, made[name], f"{name}.csv")
    close_ballot(store, project_id)
    set_policy(store, project_id, Policy("count", "latest"))
    assert standing(store, project_id) == EXPECTED["leave out", "earliest"]
    reopen_ballot(store, project_id)
    assert standing(store, project_id) == EXPECTED["count", "latest"]


def test_a_withdrawn_file_and_the_policy(store: Store, files) -> None:
    project_id, by_name = files
    set_policy(store, project_id, Policy("count", "latest"))
    for name, data in by_name.items():
        accept_upload(store, project_id, data, f"{name}.csv")
    later = next(upload for upload in read_uploads(store, project_id) if upload.filename == "later.csv")
    withdraw_upload(store, project_id, later.id)
    assert standing(store, project_id) == {"C counted": 42, "B withdrawn": 42, "D counted": 42}


@pytest.mark.parametrize(
    ("repeats", "counts"), [("earliest", ["new", "repeat"]), ("latest", ["repeat", "new"]), ("none", ["repeat"] * 2)]
)
def test_repeats_in_one_file(repeats: str, counts: list[str]) -> None:
    table = answers({"submitted_at": "2026-01-05T09:00:00Z"},
                    {"assignment_id": "A2", "submitted_at": "2026-01-05T10:00:00Z"})  # fmt: skip
    for order in itertools.permutations(range(2)):
        rows = classify(table.iloc[list(order)], BALLOT, known(), CountingRules(policy=Policy(repeats=repeats))).rows
        assert rows.sort_values("row")["kind"].tolist() == counts


def test_a_rejection_under_the_policy_that_counts_it_is_noted(store: Store, files) -> None:
    """So that the count is right once the policy is the default again."""
    project_id, by_name = files
    set_policy(store, project_id, Policy("count"))
    pending = by_name["rejected"].replace(b"Rejected", b"Submitted")
    accept_upload(store, project_id, pending, "pending.csv")
    found = preview_upload(store, project_id, by_name["rejected"], "rejected.csv")
    assert found.counts == {"known": 42}
    assert found.takes_something
    accept_upload(store, project_id, by_name["rejected"], "rejected.csv")
    assert standing(store, project_id) == {"D counted": 42}
    set_policy(store, project_id, Policy())
    assert standing(store, project_id) == {"D rejected": 42}


def test_approved_after_all_holds_in_any_order(store: Store, files) -> None:
    project_id, by_name = files
    approved = by_name["rejected"].replace(b"Rejected", b"Approved")
    for name in ("rejected", "approved", "rejected"):
        data = approved if name == "approved" else by_name["rejected"]
        if preview_upload(store, project_id, data, name).takes_something:
            accept_upload(store, project_id, data, name)
    assert standing(store, project_id) == {"D counted": 42}


class TestColumns:
    HEADER = b"who,what,first pair,second pair\n"
    MAPPING = Mapping(voter="Who", choice="what", left_a="first pair", right_a="second pair", separator=" / ",
                      choices=(("1st", "left"), ("2nd", "right"), ("=", "tie")))  # fmt: skip

    def table(self, store: Store, project_id: str) -> bytes:
        from core.store.ballots.ballot_rows import read_comparisons

        frame = read_comparisons(store, project_id, 1)
        rows = [f'anna,1st,"{row.left_a} / {row.left_b}","{row.right_b} / {row.right_a}"' for row in frame.itertuples()]
        return self.HEADER + "\n".join(rows).encode() + b"\n"

    def test_named_once_and_remembered(self, store: Store) -> None:
        project_id = make_project(store)
        draw_batch(store, project_id)
        data = self.table(store, project_id)
        with pytest.raises(UnnamedColumnsError, match="say which column is which"):
            preview_upload(store, project_id, data, "own.csv")
        remember_mapping(store, project_id, ["who", "what", "first pair", "second pair"], self.MAPPING)
        found = preview_upload(store, project_id, data, "own.csv")
        assert (found.counts, found.platform) == ({"new": 42}, "table")
        accept_upload(store, project_id, data, "own.csv")
        assert preview_upload(store, project_id, data.replace(b"who,", b"WHO,"), "again.csv").counts == {"known": 42}
        assert read_mapping(store, project_id, ["WHO", "what", "first pair", "second pair"]) == self.MAPPING
        upload = read_uploads(store, project_id)[0]
        forget_mapping(store, project_id, ["who", "what", "first pair", "second pair"])
        other = answer_batch(self.batch(store, project_id))
        accept_upload(store, project_id, other, "others.csv")
        withdraw_upload(store, project_id, read_uploads(store, project_id)[0].id)
        assert read_uploads(store, project_id)[1].counts == upload.counts  # replayed by the mapping it came with

    @staticmethod
    def batch(store: Store, project_id: str) -> bytes:
        from core.questions.comparison_page import write_batch
        from core.store.ballots.ballot_rows import read_comparisons

        return write_batch(read_comparisons(store, project_id, 1))

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"voter": ""}, "voter"),
            ({"choice": "which"}, "which"),
            ({"left_a": ""}, "either the id of the comparison or the four tokens"),
            ({"choices": (("1st", "up"),)}, "up"),
        ],
    )
    def test_a_mapping_that_says_too_little_is_refused(self, store: Store, change: dict, said: str) -> None:
        from dataclasses import replace

        project_id = make_project(store)
        with pytest.raises(InputError, match=said):
            remember_mapping(
                store, project_id, ["who", "what", "first pair", "second pair"], replace(self.MAPPING, **change)
            )

    def test_a_mapping_comes_back_as_it_was_stored(self) -> None:
        import json

        assert Mapping.of(json.loads(json.dumps(self.MAPPING.stored()))) == self.MAPPING

    def test_a_workbook_is_read_like_its_table(self, store: Store) -> None:
        from workbooks import workbook

        from core.platforms import read_results

        rows = [["comparison_id", "voter", "choice"], ["b1-x-00001-1", "anna", "left"], ["b1-x-00001-2", "anna", ""]]
        file = read_results(workbook({"Sheet": rows}), "votes.xlsx")
        assert (file.platform, file.answers["choice"].tolist(), file.n_rows) == ("plain", ["left", ""], 2)
