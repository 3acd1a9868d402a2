"""Each row of a result file in exactly one class: the platforms' samples, the cases, and files that were damaged."""

from __future__ import annotations

import contextlib
import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from campaigns import PLAN, answer_batch, draw_batch, make_project
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from property_runs import examples
from test_votes import comparisons, known

from core.errors import Issue, RunoffError
from core.platforms import Mapping, ResultFile, guess, normalised, open_results, read_results
from core.store import Store
from core.store.ballots.ballot_rows import read_ballots
from core.store.ballots.comparisons import comparisons_of
from core.tables import KNOWN
from core.votes.classify import CountingRules, classify
from core.votes.reasons import CLASSES, count_answers, count_rows, report_file, report_table

# What the samples compare: q1 apple against pear, q2 fig against apple; each item's number stands in for a second word.
SAMPLES = {
    # file: columns named by hand; classes of rows and of answers against a ballot of q1 and q2
    "mturk_results_plain_radio.csv": ("choice=Answer.choice", {"new": 4, "rejected": 2}),
    "mturk_results_crowd_flatten.csv": ("choice=Answer.choice", {"new": 4, "rejected": 2}),
    "mturk_results_taskAnswers.csv": ("choice=Answer.choice", {"new": 4, "rejected": 2}),
    "mturk_results_crowd_button_on.csv": ("choice=Answer.on", {"new": 4, "rejected": 2}),
    "mturk_review_upload.csv": ("choice=Answer.choice", {"new": 4, "rejected": 2}),
    "turkle_results_admin_crlf.csv": ("choice=Answer.choice", {"new": 3, "other_ballot": 3}),
    "turkle_results_api_ascii.csv": ("choice=Answer.choice", {"new": 3, "other_ballot": 3}),
    "turkle_results_api_TRUNCATED_BUG.csv": ("choice=Answer.choice", {"new": 3, "other_ballot": 2, "unreadable": 1}),
}
BALLOT = comparisons((1, "q1", 1, False, "apple w01 pear_ripe w02"), (2, "q2", 1, False, 'fig_"black" w03 apple w01'))
BALLOT = BALLOT.assign(
    **{name: BALLOT[name].replace({"pear_ripe": "pear, ripe", 'fig_"black"': 'fig "black"'})
       for name in ("left_a", "right_a")}
)  # fmt: skip
WORDS = {"left_a": "Input.item_a_text", "left_b": "Input.item_a", "right_a": "Input.item_b_text",
         "right_b": "Input.item_b"}  # fmt: skip


def by_hand(data: bytes, name: str, **columns: str) -> ResultFile:
    """The file as read by the guessed mapping with some columns named by hand."""
    found = guess(normalised(open_results(data, name)))
    return read_results(data, name, Mapping.of(found.stored() | columns))


def counted(file: ResultFile, ballot: pd.DataFrame = BALLOT, stored: pd.DataFrame | None = None) -> dict[str, int]:
    """The classes of the rows; both totals must add up."""
    rows = classify(
        file.answers, ballot, KNOWN.empty() if stored is None else stored, CountingRules(shows_texts=file.shows_texts)
    ).rows
    of_rows, of_answers = count_rows(rows, file.unread, file.blank), count_answers(rows, file.unread, file.blank)
    assert sum(of_rows.values()) == file.n_rows
    assert sum(of_answers.values()) == len(rows) + len(file.unread) + len(file.blank)
    assert set(of_rows) | set(of_answers) <= set(CLASSES)
    return of_rows


class TestSamples:
    @pytest.mark.parametrize("name", SAMPLES)
    def test_mechanical_turk_and_turkle(self, shared: Path, name: str) -> None:
        named, expected = SAMPLES[name]
        role, column = named.split("=")
        data = (shared / "platforms/samples" / name).read_bytes()
        assert counted(by_hand(data, name, **WORDS, **{role: column})) == expected

    def test_dresses_say_the_same(self, shared: Path) -> None:
        names = [name for name in SAMPLES if name.startswith("mturk_results")]
        answers = [
            by_hand((shared / "platforms/samples" / name).read_bytes(), name, **WORDS).answers["choice"].tolist()
            for name in names
        ]
        assert answers == [["left", "right", "left", "right", "right", "left"]] * 4

    @pytest.mark.parametrize(
        ("name", "choice", "a", "b", "expected"),
        [
            ("mturk_results_multi.csv", "Answer.choice{n}", "Input.item_a_text{n}", "Input.item_b_text{n}", 2),
            ("turkle_results_multi_api.csv", "Answer.c{n}", "Input.a{n}_text", "Input.b{n}_text", 2),
        ],
    )
    def test_several_comparisons_a_row(
        self, shared: Path, name: str, choice: str, a: str, b: str, expected: int
    ) -> None:
        data = (shared / "platforms/samples" / name).read_bytes()
        file = by_hand(data, name, choice=choice, left_a=a, left_b=a, right_a=b, right_b=b)
        assert file.answers.groupby("row").size().tolist() == [expected] * file.n_rows
        assert set(file.answers["choice"]) == {"left", "right"}
        assert counted(file) == {"other_ballot": file.n_rows}

    @pytest.mark.parametrize("kind", ["pairwise", "choices"])
    @pytest.mark.parametrize("ending", ["_export.csv", "_export.json", "_min.json"])
    def test_label_studio(self, shared: Path, kind: str, ending: str) -> None:
        name = f"labelstudio_{kind}{ending}"
        data = (shared / "platforms/samples" / name).read_bytes()
        file = by_hand(data, name, comparison="pair_id")
        assert counted(file) == {"new": 6}
        votes = file.answers.set_index(["voter", "task_id"])["choice"]
        expected = {
            ("w1@example.com", "q1"): "left",
            ("w2@example.com", "q1"): "right",
            ("w1@example.com", "q2"): "right",
        }
        assert {key: votes[key] for key in expected} == expected
        assert set(file.answers["assignment_id"]) == {"10", "11", "12", "20", "21", "22"}

    def test_label_studios_exports_are_the_same_votes(self, shared: Path) -> None:
        names = [f"labelstudio_{kind}" for kind in ("pairwise_export.csv", "pairwise_export.json", "pairwise_min.json")]
        files = [by_hand((shared / "platforms/samples" / n).read_bytes(), n, comparison="pair_id") for n in names]
        columns = ["assignment_id", "voter", "task_id", "choice", "seconds", "submitted_at"]
        told = [file.answers[columns].sort_values(columns, ignore_index=True) for file in files]
        pd.testing.assert_frame_equal(told[0], told[1])
        pd.testing.assert_frame_equal(told[0], told[2])

    @pytest.mark.parametrize("name", ["potato_annotations.csv", "potato_annotations.tsv", "potato_annotations.jsonl"])
    def test_potato_by_its_preset(self, shared: Path, name: str) -> None:
        file = read_results((shared / "platforms/samples" / name).read_bytes(), name)
        assert (file.platform, counted(file)) == ("potato", {"new": 6})
        votes = file.answers.set_index(["voter", "task_id"])["choice"]
        assert (votes["w1", "q1"], votes["w1", "q2"], votes["w3", "q2"]) == ("left", "right", "right")

    @pytest.mark.parametrize(
        ("name", "platform", "task", "voter"),
        [
            ("toloka_assignments.tsv", "toloka", "INPUT:ballot_id", "sampleworker0"),
            ("appen_full.csv", "appen", "ballot_id", "10000001"),
            ("prolific_votes_own_web.csv", "table", "ballot_id", "65f0b0000000000000000000"),
        ],
    )
    def test_others(self, shared: Path, name: str, platform: str, task: str, voter: str) -> None:
        file = by_hand((shared / "platforms/samples" / name).read_bytes(), name, task=task)
        assert (file.platform, counted(file)) == (platform, {"new": 6})
        assert file.answers["voter"][0] == voter
        assert (file.answers["submitted_at"] != "").all()

    def test_tainted_judgements_of_appen_are_rejected(self, shared: Path) -> None:
        data = (shared / "platforms/samples/appen_full.csv").read_bytes()
        first, tainted = data.split(b"\n", 2)[1], data.split(b"\n", 2)[1].replace(b",false,samplechannel", b",true,x")
        assert first != tainted
        assert counted(by_hand(data.replace(first, tainted), "appen.csv", task="ballot_id"))["rejected"] == 1

    @pytest.mark.parametrize("name", ["prolific_export_65f000000000000000000001.csv", "appen_aggregated.csv"])
    def test_files_without_votes_are_refused(self, shared: Path, name: str) -> None:
        with pytest.raises(RunoffError):
            read_results((shared / "platforms/samples" / name).read_bytes(), name)


class TestCases:
    ANVIL = comparisons((1, "H1", 1, False, "anvil barge candle dune"), (2, "H2", 1, False, "anvil candle candle dune"))

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("31-results-rejected", {"new": 3, "rejected": 2}),
            ("35-results-overlap-part1", {"new": 3}),
            ("35b-results-overlap-part2", {"new": 4}),
            ("37-results-mac-cr", {"new": 3}),
            ("39-results-other-batch", {"new": 1, "other_ballot": 1}),
            ("42-results-lowercase-headers", {"new": 3}),
        ],
    )
    def test_results(self, cases: Path, name: str, expected: dict[str, int]) -> None:
        data = (cases / f"{name}.csv").read_bytes()
        ballot = self.ANVIL
        if name.startswith("31"):  # the same words in two tasks: the HIT tells them apart
            ballot = comparisons(*((n, f"H{n}", 1, False, "anvil barge candle dune") for n in (1, 2)))
            assert (
                counted(by_hand(data, name, task="HITId", **{text: f"Input.{text}" for text in WORDS}), ballot)
                == expected
            )
            return
        assert counted(read_results(data, name), ballot) == expected

    def test_sides_are_turned_where_the_file_shows_them_turned(self, cases: Path) -> None:
        """41: eight tasks in turn show the same two items in either order; by words alone they are two comparisons."""
        data = (cases / "41-results-always-left.csv").read_bytes()
        file = by_hand(data, "41.csv", task="HITId", **{text: f"Input.{text}" for text in WORDS})
        ballot = comparisons(*((n, f"H{n}", 1, False, "anvil barge candle dune") for n in range(1, 9)))
        rows = classify(file.answers, ballot, known()).rows
        assert rows["kind"].eq("new").all()
        assert rows["answer"].value_counts().to_dict() == {"first": 4, "second": 4}

    @pytest.mark.parametrize("name", ["44-votes-disconnected", "45-votes-undefeated", "47-votes-cycle",
                                      "60-alpha-single-ratings", "62-alpha-missing-as-label"])  # fmt: skip
    def test_tables_that_name_no_voter_or_choice_are_told_so(self, cases: Path, name: str) -> None:
        with pytest.raises(RunoffError, match="say which column is which"):
            read_results((cases / f"{name}.csv").read_bytes(), name)


class TestTables:
    def test_a_row_stands_in_the_class_of_its_weightiest_answer(self) -> None:
        rows = pd.DataFrame({"row": [2, 2, 2, 3, 3, 4], "becomes": ["counted", "", "", "", "", ""],
                             "kind": ["new", "no_answer", "known", "other_ballot", "no_answer", "changed"],
                             })  # fmt: skip
        unread, blank = (Issue("cut", row=5),), np.array([6, 7])
        assert count_rows(rows, unread, blank) == {
            "new": 1, "contradicts": 1, "no_answer": 3, "unreadable": 1
        }  # fmt: skip
        assert count_answers(rows, unread, blank) == {
            "new": 1, "contradicts": 1, "known": 1, "no_answer": 4, "other_ballot": 1, "unreadable": 1
        }  # fmt: skip

    def test_a_class_as_a_file_runs_no_formula_and_names_rows_and_reasons(self) -> None:
        data = b"comparison_id,voter,choice\nb1-x-1,=cmd(),left\nb9-x-1,@me,left\nnonsense,-1,left\nb1-x-1,,\n,,\n"
        file = read_results(data, "votes.csv")
        rows = classify(
            file.answers, comparisons((1, "b1-x", 1, False, "a b c d")), known(), CountingRules(shows_texts=False)
        ).rows
        table = report_table(rows, file.unread, file.blank)
        assert table[["row", "class"]].to_numpy().tolist() == [
            [2, "new"], [3, "other_ballot"], [4, "unreadable"], [5, "no_answer"]
        ]  # fmt: skip
        read = list(csv.DictReader(io.StringIO(report_file(table).decode("utf-8-sig"))))
        assert [row["voter"] for row in read] == ["'=cmd()", "'@me", "", ""]
        assert read[1]["reason"]
        assert read[2]["reason"] == "no id of a comparison"
        for name in ("new", "unreadable", "no_answer", "other_ballot"):
            assert len(report_table(rows, file.unread, file.blank, name)) == 1


def mturk_ids_damaged(data: bytes) -> bytes:
    rows = list(csv.reader(io.StringIO(data.decode())))
    for row in rows[1:]:
        row[1] = "1.00E+23"
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


class TestDamagedIds:
    def test_voter_and_comparison_tell_what_the_ids_did(self, store: Store) -> None:
        from core.store.votes.intake import accept_upload, preview_upload

        project_id = make_project(store)
        data = answer_batch(draw_batch(store, project_id))
        damaged = mturk_ids_damaged(data)
        found = preview_upload(store, project_id, damaged, "excel.csv")
        assert found.counts == {"new": 42}
        assert "lost their digits" in str(found.issues[0])
        accept_upload(store, project_id, data, "results.csv")
        assert preview_upload(store, project_id, damaged, "excel.csv").counts == {"known": 42}

    def test_damaged_first_then_whole(self, store: Store) -> None:
        from core.store.scores.project_dataset import read_ballot_scores
        from core.store.votes.intake import accept_upload

        project_id = make_project(store)
        data = answer_batch(draw_batch(store, project_id))
        accept_upload(store, project_id, mturk_ids_damaged(data), "excel.csv")
        before = read_ballot_scores(store, project_id)
        accept_upload(store, project_id, data, "results.csv")
        pd.testing.assert_frame_equal(read_ballot_scores(store, project_id), before)


# Files that went through many hands: what is done to one, and whether votes may be lost by it.
def _recoded(encoding: str):
    return lambda text, draw: text.encode(encoding)


def _delimited(delimiter: str):
    def change(text: str, draw) -> bytes:
        rows = list(csv.reader(io.StringIO(text)))
        out = io.StringIO()
        csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
        return out.getvalue().encode()

    return change


def _shuffled(text: str, draw) -> bytes:
    head, *lines = text.splitlines(keepends=True)
    return (head + "".join(draw(st.permutations(lines)))).encode()


def _doubled(text: str, draw) -> bytes:
    head, *lines = text.splitlines(keepends=True)
    return (head + "".join(lines) + "".join(draw(st.lists(st.sampled_from(lines), max_size=8)))).encode()


def _carriage_returns(text: str, draw) -> bytes:
    return text.replace("\n", "\r").encode()


def _cut(text: str, draw) -> bytes:
    data = text.encode()
    return data[: draw(st.integers(len(data) // 3, len(data) - 1))]


def _column_dropped(text: str, draw) -> bytes:
    rows = list(csv.reader(io.StringIO(text)))
    at = draw(st.integers(0, len(rows[0]) - 1))
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([row[:at] + row[at + 1 :] for row in rows])
    return out.getvalue().encode()


def _garbled(text: str, draw) -> bytes:
    data = bytearray(text.encode())
    for at in draw(st.lists(st.integers(0, len(data) - 1), max_size=5)):
        data[at] = draw(st.integers(0, 255))
    return bytes(data)


HARMLESS = {
    "utf-8 with mark": _recoded("utf-8-sig"),
    "utf-16": _recoded("utf-16"),
    "windows": _recoded("cp1252"),
    "semicolons": _delimited(";"),
    "tabs": _delimited("\t"),
    "carriage returns": _carriage_returns,
    "shuffled": _shuffled,
    "parts twice": _doubled,
}
HARMFUL = {"cut": _cut, "column dropped": _column_dropped, "garbled": _garbled}


def _ballot(tmp_path_factory) -> tuple[pd.DataFrame, str]:
    from core.store import open_store

    store = open_store(tmp_path_factory.mktemp("mutated") / "workspace")
    project_id = make_project(store, plan=PLAN)
    batch = draw_batch(store, project_id)
    with store.read() as conn:
        ballot = comparisons_of(conn, read_ballots(store, project_id)[0].id, project_id)
    store.engine.dispose()
    return ballot, answer_batch(batch).decode()


@pytest.fixture(scope="module")
def drawn(tmp_path_factory) -> tuple[pd.DataFrame, str]:
    return _ballot(tmp_path_factory)


def votes_of(file: ResultFile, ballot: pd.DataFrame) -> set[tuple[str, int, str]]:
    rows = classify(file.answers, ballot, KNOWN.empty(), CountingRules(shows_texts=file.shows_texts)).rows
    kept = rows[rows["becomes"] == "counted"]
    return set(zip(kept["voter"], kept["question_id"].tolist(), kept["answer"], strict=True))


class TestMutatedFiles:
    @pytest.mark.parametrize("name", HARMLESS)
    @given(data=st.data())
    @settings(deadline=None, max_examples=6, suppress_health_check=list(HealthCheck))
    def test_where_nothing_is_lost_the_votes_are_the_same(self, drawn, name: str, data) -> None:
        ballot, text = drawn
        whole = votes_of(read_results(text.encode(), "whole.csv"), ballot)
        assert len(whole) == 42
        file = read_results(HARMLESS[name](text, data.draw), "changed.csv")
        classes = counted(file, ballot)
        assert set(classes) <= {"new", "known"}
        assert votes_of(file, ballot) == whole

    @pytest.mark.parametrize("name", HARMFUL)
    @given(data=st.data())
    @settings(deadline=None, max_examples=examples(25), suppress_health_check=list(HealthCheck))
    def test_every_row_is_accounted_for_whatever_happened(self, drawn, name: str, data) -> None:
        ballot, text = drawn
        changed = HARMFUL[name](text, data.draw)
        again = data.draw(st.sampled_from([None, *HARMLESS]))
        if again is not None:
            with contextlib.suppress(UnicodeError, csv.Error):
                changed = HARMLESS[again](changed.decode("utf-8"), data.draw)
        try:
            file = read_results(changed, "changed.csv")
        except RunoffError:
            return
        counted(file, ballot)
        if name == "cut":
            assert votes_of(file, ballot) <= votes_of(read_results(text.encode(), "whole.csv"), ballot)

    @given(data=st.data())
    @settings(deadline=None, max_examples=examples(25), suppress_health_check=list(HealthCheck))
    def test_any_bytes_are_read_or_refused(self, data) -> None:
        given_ = data.draw(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
        try:
            file = read_results(given_, "any.csv")
        except RunoffError:
            return
        assert len(set(file.answers["row"])) + file.n_unreadable + len(file.blank) == file.n_rows


def test_the_two_ways_of_reading_a_table_agree() -> None:
    """Quoted fields are read row by row, others at once."""
    lines = [
        "comparison_id,voter,choice",
        *(f"b1-x-{n},W{n % 3},{'left' if n % 2 else ''}" for n in range(1, 30)),
        "b1-x-30,,",
        ",,",
    ]
    plain = read_results(("\n".join(lines) + "\n").encode(), "a.csv")
    quoted = "\n".join(",".join(f'"{field}"' for field in line.split(",")) for line in lines) + "\n"
    other = read_results(quoted.encode(), "b.csv")
    pd.testing.assert_frame_equal(plain.answers, other.answers)
    assert plain.blank.tolist() == other.blank.tolist() == [31]
