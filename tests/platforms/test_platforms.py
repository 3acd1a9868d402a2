"""Batch files out, result files in."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import ClassVar

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.platforms import PLATFORMS, read_results, write_batch
from core.platforms.mturk import decide
from core.questions.comparison_page import FIELDS
from core.tables import COMPARISONS
from core.tabular import open_csv
from core.votes.answers import parse_answer_name
from core.votes.reading import decode, encode, to_utc

TEXTS = ["left_a", "left_b", "right_a", "right_b"]
HEADER = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "SubmitTime", "WorkTimeInSeconds"]
ROW = ["H1", "A1", "W1", "Submitted", "Wed Feb 20 11:00:41 PST 2019", "30"]


def tasks(*rows: tuple) -> pd.DataFrame:
    """Comparisons from (task_id, n, area, left_a, left_b, right_a, right_b), both items of the same area."""
    return pd.DataFrame(
        [
            {
                "question_id": at,
                "task_id": row[0],
                "n": row[1],
                "first": 0,
                "second": 1,
                "flipped": False,
                **dict(zip(TEXTS, row[3:], strict=True)),
                **dict.fromkeys(["area_left", "area_right"], row[2]),
            }
            for at, row in enumerate(rows)
        ]
    )


def result(
    answers: dict[str, str], *, n: int = 1, end: str = "\r\n", row: list[str] = ROW, platform: str = "mturk"
) -> bytes:
    """A small result file with one row, every field quoted, two fields short on Mechanical Turk as real ones are."""
    suffixes = [""] if n == 1 else [f"_{at}" for at in range(1, n + 1)]
    inputs = {f"Input.{text}{suffix}": f"{text}{suffix}" for suffix in suffixes for text in TEXTS}
    after = ["Approve", "Reject"] if platform == "mturk" else ["Turkle.Username"]
    header = [*HEADER, *inputs, *(f"Answer.{name}" for name in answers), *after]
    fields = [*row, *inputs.values(), *answers.values(), *([] if platform == "mturk" else ["worker1"])]
    return end.join(quoted(line) for line in (header, fields, [])).encode()


def quoted(fields: list[str]) -> str:
    return ",".join('"' + field.replace('"', '""') + '"' for field in fields)


def choices(data: bytes, name: str = "results.csv") -> list[tuple[int, str]]:
    answers = read_results(data, name).answers
    return list(zip(answers["n"], answers["choice"], strict=True))


class TestText:
    @given(st.text())
    def test_decoding_undoes_encoding(self, text: str) -> None:
        assert decode(encode(text)) == text

    @given(st.text(alphabet="&#;xamplt3$<>'\"\n\x00\U0001f525"))
    def test_decoding_undoes_encoding_of_what_looks_like_references(self, text: str) -> None:
        assert decode(encode(text)) == text

    @given(st.text())
    def test_nothing_dangerous_is_left(self, text: str) -> None:
        written = encode(text)
        assert not re.search(r"[<>\"'$\n\r\x00]", written)
        assert all(ord(character) <= 0xFFFF for character in written)

    @pytest.mark.parametrize(
        ("raw", "expected"),
        [
            ("AT&T", "AT&T"),  # never encoded: no semicolon
            ('<b>fig</b> & "date"', '<b>fig</b> & "date"'),
            ("&copy", "&copy"),  # a browser would read ©; a token may well end so
            ("caf&#233;", "café"),
            ("caf&eacute;", "café"),
            ("&nosuch;", "&nosuch;"),
            ("&#x110000;", "&#x110000;"),  # beyond Unicode
            ("&amp;amp;", "&amp;"),  # undone once, not twice
        ],
    )
    def test_decode(self, raw: str, expected: str) -> None:
        assert decode(raw) == expected

    def test_emoji_are_written_without_four_byte_characters(self, shared: Path) -> None:
        for token in (shared / "cases/30-tokens-emoji.txt").read_text(encoding="utf-8").split("\n"):
            assert max(map(ord, encode(token)), default=0) <= 0xFFFF
            assert decode(encode(token)) == token
        assert encode("fire 🔥") == "fire &#x1F525;"


class TestBatch:
    def test_one_comparison_a_task_has_no_numbers(self) -> None:
        written = write_batch(
            tasks(("t1", 1, "sea", "ship", "boat", "salt", "R&D"), ("t2", 1, "sea", "a", "b", "c", "d"))
        )
        assert written.decode() == (
            "task_id,left_a,left_b,right_a,right_b,area_left,area_right\n"
            "t1,ship,boat,salt,R&amp;D,sea,sea\nt2,a,b,c,d,sea,sea\n"
        )

    def test_short_tasks_end_in_empty_cells_whatever_the_order_of_rows(self) -> None:
        frame = tasks(
            ("t1", 2, "sea", "e", "f", "g", "h"),
            ("t2", 1, "sky", "i", "j", "k", "l"),
            ("t1", 1, "sea", "a", "b", "c", "d"),
        )
        lines = write_batch(frame).decode().splitlines()
        assert lines[0] == "task_id," + ",".join(f"{name}_{n}" for n in (1, 2) for name in FIELDS)
        assert lines[1:] == ["t1,a,b,c,d,sea,sea,e,f,g,h,sea,sea", "t2,i,j,k,l,sky,sky,,,,,,"]

    def test_formulas_keep_their_text(self, shared: Path) -> None:
        with (shared / "cases/25-tokens-formula.csv").open(encoding="utf-8", newline="") as file:
            tokens = [row["token"] for row in csv.DictReader(file)]
        written = write_batch(tasks(("t", 1, "odd", *tokens[:4])))
        (row,) = csv.DictReader(io.StringIO(written.decode()))
        assert [decode(row[text]) for text in TEXTS] == tokens[:4] == ["=2+3", "+1", "-er", "@home"]
        assert decode(encode(tokens[4])) == "'tis"

    def test_no_byte_order_mark(self) -> None:
        assert write_batch(tasks(("t", 1, "é", "é", "b", "c", "d"))).startswith(b"task_id,")

    @pytest.mark.parametrize("numbers", [(1, 3), (2, 3), (1, 1)])
    def test_gaps_in_the_numbers_are_refused(self, numbers: tuple[int, int]) -> None:
        with pytest.raises(InputError, match="numbered 1, 2, … without gaps"):
            write_batch(tasks(*(("t", n, "x", "a", "b", "c", "d") for n in numbers)))

    def test_nothing_to_publish(self) -> None:
        with pytest.raises(InputError, match="no comparison to publish"):
            write_batch(COMPARISONS.empty())

    @pytest.mark.release
    @given(st.lists(st.tuples(st.text(), st.text(), st.text(), st.text()).filter(any), min_size=1, max_size=4))
    @settings(deadline=None)
    def test_any_text_comes_back_through_a_result_file(self, items: list[tuple[str, str, str, str]]) -> None:
        frame = tasks(*((f"t{at}", 1, "area", *item) for at, item in enumerate(items)))
        (header, *rows) = csv.reader(io.StringIO(write_batch(frame).decode(), newline=""))
        lines = [[*HEADER, *(f"Input.{name}" for name in header), "Answer.choice", "Approve", "Reject"]]
        lines += [["H", f"A{at}", *ROW[2:], *row, "left"] for at, row in enumerate(rows)]
        answers = read_results("\r\n".join(map(quoted, lines)).encode(), "x.csv").answers
        assert list(answers[TEXTS].itertuples(index=False, name=None)) == items
        assert list(answers["task_id"]) == list(frame["task_id"])


class TestLayouts:
    @pytest.mark.parametrize(
        ("answers", "n", "expected"),
        [
            ({"choice": "left"}, 1, [(1, "left")]),
            ({"choice": " Right "}, 1, [(1, "right")]),
            ({"choice_1": "unknown"}, 1, [(1, "unknown")]),
            ({"choice": ""}, 1, [(1, "")]),
            ({"choice": "both"}, 1, [(1, "both")]),
            ({"choice_1": "left", "choice_2": "tie"}, 2, [(1, "left"), (2, "tie")]),
            ({"choice.left": "true", "choice.right": "false"}, 1, [(1, "left")]),
            ({"choice.left": "False", "choice.right": "True"}, 1, [(1, "right")]),
            ({"choice.left": "FALSCH", "choice.right": "WAHR"}, 1, [(1, "right")]),
            ({"choice.left": "false", "choice.right": "false"}, 1, [(1, "")]),
            ({"choice.left": "true", "choice.right": "true"}, 1, [(1, "left+right")]),
            ({"choice.left": "maybe", "choice.right": "false"}, 1, [(1, "left=maybe")]),
            ({"choice.other": "true"}, 1, [(1, "other")]),
            (
                {"choice_1.left": "true", "choice_1.tie": "false", "choice_2.left": "false", "choice_2.tie": "true"},
                2,
                [(1, "left"), (2, "tie")],
            ),
            ({"left.on": "true", "right.on": "false"}, 1, [(1, "left")]),
            (
                {
                    "choice_1_left.on": "false",
                    "choice_1_right.on": "true",
                    "choice_2_left.on": "true",
                    "choice_2_right.on": "false",
                },
                2,
                [(1, "right"), (2, "left")],
            ),
            ({"choice.label": "left"}, 1, [(1, "left")]),
            ({"taskAnswers": '[{"choice":{"left":true,"right":false}}]'}, 1, [(1, "left")]),
            (
                {"taskAnswers": '[{"choice_2":{"left":false,"right":true},"choice_1":"tie"}]'},
                2,
                [(1, "tie"), (2, "right")],
            ),
            ({"taskAnswers": '[{"left":{"on":false},"right":{"on":true}}]'}, 1, [(1, "right")]),
            ({"taskAnswers": "[{}]"}, 1, [(1, "")]),
            ({"taskAnswers": "null"}, 1, [(1, "")]),
            (
                {"taskAnswers": '[{"choice": {"left": tr'},
                1,
                [(1, 'JSON that can\'t be read: [{"choice": {"left": tr'.lower())],
            ),
            # A comparison that nobody answered has no Answer column at all; its texts say that it was asked.
            ({"choice_2": "left"}, 2, [(1, ""), (2, "left")]),
            ({"choice": "left", "comment": 'fine,\n"ok"'}, 1, [(1, "left")]),
        ],
    )
    def test_choice(self, answers: dict[str, str], n: int, expected: list[tuple[int, str]]) -> None:
        assert choices(result(answers, n=n)) == expected

    def test_answer_columns_sorted_as_text(self) -> None:
        answers = {f"choice_{n}": ["left", "right", "tie"][n % 3] for n in sorted(range(1, 13), key=str)}
        assert choices(result(answers, n=12)) == [(n, ["left", "right", "tie"][n % 3]) for n in range(1, 13)]

    def test_two_columns_for_the_same_choice_are_refused(self) -> None:
        with pytest.raises(InputError, match=r"ambiguous.*Answer\.choice_1"):
            read_results(result({"choice": "left", "choice_1": "right"}), "x.csv")

    def test_empty_places_of_a_short_task_are_no_answers(self) -> None:
        data = result({"choice_1": "left", "choice_2": ""}, n=2).replace(
            b'"left_a_2","left_b_2","right_a_2","right_b_2","left"', b'"","","","","left"'
        )
        answers = read_results(data, "x.csv").answers
        assert list(answers["n"]) == [1]
        assert list(answers["seconds"]) == [30.0]

    def test_seconds_are_shared_among_a_tasks_comparisons(self) -> None:
        answers = read_results(result({"choice_1": "left", "choice_2": "tie"}, n=2), "x.csv").answers
        assert list(answers["seconds"]) == [15.0, 15.0]

    def test_names_that_are_no_choice(self) -> None:
        assert parse_answer_name("choice_0") is None
        assert parse_answer_name("shown_left") is None


class TestFiles:
    @pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
    @pytest.mark.parametrize("delimiter", [",", ";", "\t"])
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
    def test_encodings_delimiters_and_ends(self, end: str, delimiter: str, encoding: str) -> None:
        text = result({"choice": "left"}, end=end).decode().replace('left_a","left_b', 'œuvre","château', 2)
        text = text.replace("Input.œuvre", "Input.left_a").replace('"château","Input.left_b"', '"Input.left_b"')
        text = text.replace('","', f'"{delimiter}"')
        file = read_results(text.encode(encoding), "x.csv")
        assert list(file.answers["choice"]) == ["left"]
        assert file.answers["left_a"][0] in ("œuvre", "left_a")
        assert "œuvre" in set(file.answers.iloc[0][TEXTS])
        assert [issue.message[:23] for issue in file.issues] == (
            ["the file is not UTF-8; "] if encoding == "cp1252" else []
        )

    def test_excels_line_about_its_delimiter(self) -> None:
        data = b"sep=;\r\n" + result({"choice": "left"}).replace(b'","', b'";"')
        answers = read_results(data, "x.csv").answers
        assert (answers["row"][0], answers["choice"][0]) == (2, "left")

    def test_files_saved_again_by_pandas(self) -> None:
        table = pd.read_csv(io.BytesIO(result({"choice.left": "true", "choice.right": "false"}, platform="turkle")))
        out = table.to_csv()
        assert out.startswith(",HITId")
        assert "True" in out
        assert choices(out.encode()) == [(1, "left")]

    def test_blank_rows_are_not_counted_but_keep_their_number(self) -> None:
        head, row, _ = result({"choice": "left"}).split(b"\r\n")
        file = read_results(b"\r\n".join([head, b"", row, b",,,", b'"",""', row.replace(b"A1", b"A2"), b""]), "x.csv")
        assert list(file.answers["row"]) == [3, 6]
        assert (file.n_rows, file.n_unreadable, file.issues) == (2, 0, ())

    def test_no_rows(self) -> None:
        file = read_results(result({"choice": "left"}).split(b"\r\n")[0], "x.csv")
        assert (file.n_rows, len(file.answers)) == (0, 0)

    def test_too_many_fields(self) -> None:
        head, row, _ = result({"choice": "left"}).split(b"\r\n")
        file = read_results(b"\n".join([head, row + b',"","",""', row + b',"","","more"']), "x.csv")
        assert (file.n_rows, file.n_unreadable, len(file.answers)) == (2, 1, 1)
        assert file.issues[0].row == 3
        assert "more than the header" in file.issues[0].message

    def test_a_wrong_quotation_mark_costs_one_row(self) -> None:
        head, row, _ = result({"choice": "left"}).split(b"\r\n")
        file = read_results(b"\r\n".join([head, row.replace(b'"W1"', b'"W"1"'), row, b""]), "x.csv")
        assert (file.n_rows, file.n_unreadable, list(file.answers["row"])) == (2, 1, [3])
        assert "quotation marks" in file.issues[0].message

    @pytest.mark.release
    def test_any_cut_of_a_file_gives_whole_answers_or_a_reason(self) -> None:
        """Cut after every byte of the last row: the row is there as it was, or counted as unreadable."""
        head, row, _ = result({"choice_1": "left", "choice_2": "right"}, n=2, platform="turkle").split(b"\r\n")
        other = row.replace(b"A1", b"A2").replace(b"W1", "W1é".encode())
        whole = b"\r\n".join([head, row, other])
        for length in range(len(head) + len(row) + 5, len(whole)):
            file = read_results(whole[:length], "cut.csv")
            assert choices(whole[:length])[:2] == [(1, "left"), (2, "right")]
            n_answers = len(file.answers) - 2
            assert n_answers in (0, 2), length
            assert (n_answers == 2) == (file.n_unreadable == 0), length
            assert file.issues or n_answers, length

    def test_cut_in_the_middle_of_a_character(self) -> None:
        data = result({"choice": "left"}).replace(b'"left_a"', '"é"'.encode())
        at = data.index("é".encode()) + 1
        file = read_results(data[:at], "x.csv")
        assert (file.n_rows, file.n_unreadable) == (1, 1)
        assert any("in the middle of its last row" in str(issue) for issue in file.issues)

    @pytest.mark.parametrize(
        ("data", "what"),
        [
            (b"", "is empty"),
            (b" \r\n ", "is empty"),
            (b"PK\x03\x04....", "as an Excel workbook"),
            (b"<!DOCTYPE html><html>", "web page"),
            (b'[{"id": 1}]', "not a result file"),
            (b"\x1f\x8b\x08\x00", "gzip"),
            (b"\n\nAssignmentId,WorkerId\n", "no header"),
            (b"AssignmentId,WorkerId\n\x81\x8d\xff,1\n", "line 2 holds the byte 0x81"),
            (b"AssignmentId,WorkerId\n", "lacks the columns"),
            (b"a,b\n1,2\n", "not a result file"),
            (b"Submission id,Participant id,Status\n1,2,APPROVED\n", "Prolific"),
        ],
    )
    def test_refused(self, data: bytes, what: str) -> None:
        with pytest.raises(InputError, match=what):
            read_results(data, "x.csv")

    @given(st.binary(max_size=300))
    def test_no_bytes_make_it_fall_over(self, data: bytes) -> None:
        with pytest.raises(InputError):
            read_results(data, "x.csv")

    @given(st.binary(max_size=60), st.integers(0, 400))
    def test_no_damage_makes_it_fall_over(self, noise: bytes, at: int) -> None:
        data = result({"choice": "left"})
        at = len(data) * at // 400
        try:
            file = read_results(data[:at] + noise + data[at:], "x.csv")
        except InputError:
            return
        assert len(file.answers) + file.n_unreadable <= file.n_rows + 1

    @pytest.mark.parametrize(
        ("field", "value", "reason"),
        [
            (1, "", "id is missing"),
            (2, " ", "id is missing"),
            (2, "1E+14", "its digits are lost"),
            (3, "", "status is missing"),
        ],
    )
    def test_votes_that_cant_be_attributed(self, field: int, value: str, reason: str) -> None:
        row = [*ROW[:field], value, *ROW[field + 1 :]]
        file = read_results(result({"choice": "left"}, row=row), "x.csv")
        assert (file.n_rows, file.n_unreadable, len(file.answers)) == (1, 1, 0)
        assert reason in file.issues[0].message
        assert file.issues[0].row == 2

    def test_dates_of_a_spreadsheet_are_unknown_and_said_so(self) -> None:
        file = read_results(result({"choice": "left"}, row=[*ROW[:4], "20.02.2019 11:00", "x"]), "x.csv")
        assert file.answers["submitted_at"][0] == ""
        assert file.answers["seconds"].isna().all()
        assert "1 time could not be read" in str(file.issues[0])

    def test_windows_1252_of_excel(self, shared: Path) -> None:
        file = open_csv((shared / "cases/26-tokens-excel-semicolon.csv").read_bytes(), "tokens.csv")
        rows = file.read([0, 1], 2)
        assert file.header == ("area", "token")
        assert rows.columns[1] == ["fenêtre", "château", "œuvre"]
        assert "Windows-1252" in str(rows.issues[0])

    def test_byte_order_mark(self, shared: Path) -> None:
        file = open_csv((shared / "cases/26b-tokens-bom.csv").read_bytes(), "tokens.csv")
        assert file.header == ("area", "token")
        assert file.read([1], 2).columns == [["anvil", "barge"]]


class TestTimes:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("Wed Feb 20 11:00:37 PST 2019", "2019-02-20T19:00:37Z"),
            ("Sun Jul 07 23:30:00 PDT 2019", "2019-07-08T06:30:00Z"),
            ("Sat Nov 28 00:51:58 UTC 2026", "2026-11-28T00:51:58Z"),
            ("2026-11-28T00:51:58+01:00", "2026-11-27T23:51:58Z"),
            ("2026-11-28 00:51:58", "2026-11-28T00:51:58Z"),
            ("", ""),
            ("soon", ""),
            ("Wed Feb 20 11:00:37 XXX 2019", ""),
            ("Wed Feb 31 11:61:37 PST 2019", ""),
            ("0001-01-01T00:00:00+14:00", ""),
            ("Wed Feb 99 11:00:37 PST 2019", ""),
            ("Wed Feb 9223372036854775808 11:00:37 PST 2019", ""),
            (f"Wed Feb {'9' * 5000} 11:00:37 PST 2019", ""),
            ("Wed Feb \u0663 11:00:37 PST 2019", ""),
            ("a Feb 20 11:00:37 PST 99999999", ""),
        ],
    )
    def test_to_utc(self, text: str, expected: str) -> None:
        assert to_utc([text]) == ([expected], int(expected == "" and text != ""))


class TestDecisions:
    @pytest.mark.parametrize(
        ("status", "approve", "reject", "feedback", "expected"),
        [
            ("Submitted", "", "", "", ("submitted", "")),
            ("Submitted", "X", "", "", ("approved", "")),
            ("Submitted", "x", "  ", "", ("approved", "")),
            ("Submitted", "", "too fast", "", ("rejected", "too fast")),
            ("Rejected", "", "", "too fast", ("rejected", "too fast")),
            ("Rejected", "X", "", "too fast", ("approved", "")),
            ("Approved", "", "changed my mind", "", ("approved", "")),
            ("approved", "", "", "thanks", ("approved", "")),
            ("Other", "", "", "", ("status?", "Other")),
            ("", "X", "", "", ("", "")),
        ],
    )
    def test_decide(self, status: str, approve: str, reject: str, feedback: str, expected: tuple[str, str]) -> None:
        assert decide(status, approve, reject, feedback) == expected

    def test_a_contradiction_changes_nothing(self) -> None:
        assert decide("Submitted", "X", "too fast", "")[0] == "submitted"


class TestSamples:
    """Format-exact samples, with their columns renamed to ours: each single item stands in for a token of a pair."""

    NAMES: ClassVar = {
        "Input.item_a_text": "Input.left_a",
        "Input.item_b_text": "Input.right_a",
        "Input.item_a": "Input.left_b",
        "Input.item_b": "Input.right_b",
        "Answer.choice.a": "Answer.choice.left",
        "Answer.choice.b": "Answer.choice.right",
        "Answer.a.on": "Answer.left.on",
        "Answer.b.on": "Answer.right.on",
        "Input.ballot_id": "Input.task_id",
    }

    def ours(self, path: Path) -> bytes:
        head, _, rows = path.read_bytes().decode("utf-8", "ignore").partition("\n")
        for name, our_name in self.NAMES.items():
            head = head.replace(f'"{name}"', f'"{our_name}"')
        rows = re.sub(r'"a"(?=,"[ab]",|\r?\n|$|,"",|,"x")', '"left"', rows)
        rows = re.sub(r'"b"(?=,"[ab]",|\r?\n|$|,"",|,"x")', '"right"', rows)
        rows = rows.replace('""a"":', '""left"":').replace('""b"":', '""right"":')
        return f"{head}\n{rows}".encode()

    @pytest.mark.parametrize(
        "name",
        [
            "mturk_results_plain_radio",
            "mturk_results_crowd_flatten",
            "mturk_results_taskAnswers",
            "mturk_results_crowd_button_on",
        ],
    )
    def test_mechanical_turk(self, shared: Path, name: str) -> None:
        file = read_results(self.ours(shared / f"platforms/samples/{name}.csv"), name)
        assert (file.platform, file.n_rows, file.n_unreadable, file.issues) == ("mturk", 6, 0, ())
        answers = file.answers
        assert list(answers["choice"]) == ["left", "right", "left", "right", "right", "left"]
        assert list(answers["status"]) == ["approved", "submitted", "rejected"] * 2
        assert answers["note"][2] == "Failed the check question"
        assert list(answers["task_id"]) == ["q1"] * 3 + ["q2"] * 3
        assert answers["left_a"][3] == 'fig "black"'
        assert answers["submitted_at"][0] == "2019-02-20T19:00:41Z"
        assert list(answers["seconds"]) == [37.0] * 6

    def test_mechanical_turk_review_upload(self, shared: Path) -> None:
        file = read_results(self.ours(shared / "platforms/samples/mturk_review_upload.csv"), "review.csv")
        assert list(file.answers["status"]) == ["approved", "approved", "rejected"] * 2
        assert file.answers["note"][2] == "Failed the check question"

    def test_turkle(self, shared: Path) -> None:
        file = read_results(self.ours(shared / "platforms/samples/turkle_results_admin_crlf.csv"), "turkle.csv")
        assert (file.platform, file.n_rows, file.n_unreadable, file.issues) == ("turkle", 6, 0, ())
        assert list(file.answers["choice"]) == ["left", "right", "left", "right", "left", "right"]
        assert set(file.answers["status"]) == {"submitted"}
        assert set(file.answers["right_a"]) == {"pear, ripe", "apple 🍎"}
        assert set(file.answers["left_a"]) == {"apple", '<b>fig</b> & "date"'}

    def test_turkles_cut_file_is_noticed(self, shared: Path) -> None:
        file = read_results(self.ours(shared / "platforms/samples/turkle_results_api_TRUNCATED_BUG.csv"), "turkle.csv")
        assert (file.n_rows, file.n_unreadable, len(file.answers)) == (6, 1, 5)
        assert file.issues[0].row == 7
        assert "never closed" in file.issues[0].message
        assert "Download it again" in file.issues[1].message

    def test_samples_of_other_templates_are_refused_with_what_is_missing(self, shared: Path) -> None:
        data = (shared / "platforms/samples/mturk_results_multi.csv").read_bytes()
        with pytest.raises(InputError, match=r"Input\.left_a, .*Answer\.choice.*Download CSV"):
            read_results(data, "multi.csv")

    @pytest.mark.parametrize(
        "name",
        [
            "toloka_assignments.tsv",
            "appen_full.csv",
            "labelstudio_pairwise_export.csv",
            "prolific_export_65f000000000000000000001.csv",
        ],
    )
    def test_other_platforms_are_refused(self, shared: Path, name: str) -> None:
        with pytest.raises(InputError):
            read_results((shared / "platforms/samples" / name).read_bytes(), name)


class TestCases:
    def test_missing_input_columns_are_named(self, cases: Path) -> None:
        with pytest.raises(
            InputError,
            match=r"Input\.left_a, Input\.left_b, Input\.right_a, Input\.right_b\. Its .* On Mechanical Turk",
        ):
            read_results((cases / "33-results-no-input-columns.csv").read_bytes(), "33.csv")

    @pytest.mark.parametrize(
        ("name", "n"),
        [
            ("31-results-rejected", 5),
            ("35-results-overlap-part1", 3),
            ("35b-results-overlap-part2", 4),
            ("37-results-mac-cr", 3),
            ("39-results-other-batch", 2),
            ("41-results-always-left", 8),
            ("42-results-lowercase-headers", 3),
        ],
    )
    def test_all_rows_are_read(self, cases: Path, name: str, n: int) -> None:
        file = read_results((cases / f"{name}.csv").read_bytes(), name)
        assert (file.n_rows, file.n_unreadable, len(file.answers), file.issues) == (n, 0, n, ())


def test_platforms_have_distinct_names() -> None:
    assert [platform.name for platform in PLATFORMS] == ["turkle", "mturk", "labelstudio", "prolific", "plain"]
    assert all(platform.label and platform.download_hint for platform in PLATFORMS)


def test_json_in_a_cell_survives_the_csv(tmp_path: Path) -> None:
    answer = json.dumps([{"choice_1": {"left": True}, "comment": 'a "quoted",\ncomment'}])
    assert choices(result({"taskAnswers": answer}), str(tmp_path)) == [(1, "left")]
