"""One table in every dialect, through every family of readers: the same cells."""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from property_runs import examples
from workbooks import workbook

from core.commands.archived import rebuild
from core.dataset.files import read_dataset
from core.embeddings import EncodingError, load
from core.errors import InputError
from core.platforms import Mapping, open_results, read_results
from core.platforms.answer_files import read_round_results
from core.platforms.prolific import read_submissions
from core.platforms.round_files import read_writing
from core.questions import round_kind
from core.questions.best_worst.files import read_best_worst
from core.questions.order.orders import read_orders
from core.questions.rating.files import open_ratings, read_cells, read_ratings
from core.questions.writing import read_form, read_texts
from core.tabular import (
    column_numbers,
    decode_bytes,
    is_missing,
    json_records,
    open_csv,
    open_table,
    places_of,
    read_lines,
    read_workbook,
    refuse_doubled,
)
from core.tabular.table import as_texts, at_once
from core.tabular.workbook_reading import escaped, unescaped
from core.votes.payment import write_review

# --- Families of readers: one line each. A family's rows hold one free text each; `read` gives these back. ---


@dataclass(frozen=True)
class Family:
    """A reader: its columns, of which `needed` mustn't be there twice; a row around a free text; the texts read."""

    header: tuple[str, ...]
    row: Callable[[str, int], tuple[str, ...]]
    read: Callable[[bytes], list[str]]
    needed: str
    tidy: Callable[[str], str] = str.strip  # what of a text the reader keeps


_MTURK = ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "Input.left_a", "Input.left_b", "Input.right_a",
          "Input.right_b", "Answer.choice")  # fmt: skip
_SHOWN = Mapping(voter="who", choice="choice", left_a="a", left_b="b", right_a="c", right_b="d")
RATED = round_kind("rating")
_GOLD = {"kind": "rating", "gold": [["sea", "ship", 5]]}


def _mturk(text: str, n: int) -> tuple[str, ...]:
    return (f"H{n}", f"A{n}", f"W{n}", "Submitted", text, "ship", "tax", "law", "left")


def _reviewed(data: bytes) -> list[str]:
    rows = list(csv.DictReader(io.StringIO(write_review(data, "x.csv", {}).decode())))
    return [row["WorkerId"] for row in rows]


def _similarities(data: bytes) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        path.write_bytes(data)
        try:
            model = load(path)
        except EncodingError as asked:
            model = load(path, encoding=asked.suggested)
    n_rows = sum(re.fullmatch(r"n\d", word) is not None for word in model.vocabulary.to_pylist())
    return [model.neighbours(f"n{n}")[0][0] for n in range(1, n_rows + 1)]


def _judged(data: bytes) -> list[str]:
    read = read_best_worst(data, "x")
    return [read.items[at] for at in read.answers.shown[:, 0]]


def _placed(data: bytes) -> list[str]:
    orders = read_orders(data, "x").orders["A"]
    return [word for n in range(1, len(orders) + 1) for word in orders[f"t{n}"]]


def _one_space(text: str) -> str:
    return " ".join(text.split())


FAMILIES = {
    "table": Family(("a", "b", "c"), lambda text, n: (text, f"n{n}", "x"),
                    lambda data: open_table(data, "x").texts([0], 1).lists[0], "a"),
    "last column": Family(("a", "b", "c"), lambda text, n: (f"n{n}", "x", text),
                          lambda data: open_table(data, "x").texts([2], 3).lists[0], "c"),
    "plain votes": Family(("comparison_id", "voter", "choice"), lambda text, n: (f"b1-0a1b2c3d-{n:05}-1", text, "left"),
                          lambda data: read_results(data, "x").answers["voter"].tolist(), "choice"),
    "Mechanical Turk": Family(_MTURK, _mturk, lambda data: read_results(data, "x").answers["left_a"].tolist(),
                              "Answer.choice"),
    "named columns": Family(("who", "choice", "a", "b", "c", "d"), lambda text, n: (text, "left", "a", "b", "c", "d"),
                            lambda data: read_results(data, "x", _SHOWN).answers["voter"].tolist(), "choice"),
    "rounds": Family(("question_id", "voter", "answer"), lambda text, n: (f"r1-0a1b2c3d-{n:05}-1", text, "2"),
                     lambda data: read_round_results(data, "x", RATED).answers["voter"].tolist(), "answer"),
    "Prolific": Family(("Participant id", "Status", "Note"), lambda text, n: (text, "APPROVED", "x"),
                       lambda data: read_submissions(data, "x").rows["participant"].tolist(), "Status"),
    "review": Family(("AssignmentId", "WorkerId", "Reject"), lambda text, n: (f"A{n}", text, ""), _reviewed, "Reject"),
    "writing": Family(("WorkerId", "Input.text_id_1", "Answer.text_1"), lambda text, n: ("W", f"t{n}", text),
                      lambda data: [answer.text for answer in read_writing(data, "x")], "Answer.text_1"),
    "dataset": Family(("token_a", "token_b", "score"), lambda text, n: (text, f"n{n}", "0.5"),
                      lambda data: read_dataset(data)["token_a"].tolist(), "token_a"),
    "similarities": Family(("similarity", "token_b", "token_a"), lambda text, n: ("0.5", f"n{n}", text),
                           _similarities, "similarity"),
    "ratings": Family(("word1", "word2", "score"), lambda text, n: (text, f"n{n}", "3"),
                      lambda data: read_cells(open_ratings(data, "x")[0], 3).columns[0], "word1"),
    "best and worst": Family(("item_1", "item_2", "item_3", "best", "worst"),
                             lambda text, n: (text, f"m{n}", f"n{n}", "1", "2"), _judged, "item_1", _one_space),
    "orders": Family(("target", "voter", "word", "place"), lambda text, n: (f"t{n}", "A", text, "1"), _placed, "word",
                     _one_space),
    "texts": Family(("text", "genre"), lambda text, n: (text, f"g{n}"),
                    lambda data: [text.text for text in read_texts(data, "x").texts], "text", _one_space),
    "form": Family(("larger", "smaller", "wanted"), lambda text, n: (text, f"s{n}", "3"),
                   lambda data: [task.larger.text for task in read_form(data, "x").tasks], "larger", _one_space),
}  # fmt: skip

# --- Dialects: how a table is written. None where a dialect can't hold the table. ---


@dataclass(frozen=True)
class Written:
    """How a file is written; the ends of its lines are taken in turn."""

    delimiter: str = ","
    quoting: int = csv.QUOTE_MINIMAL
    ends: tuple[str, ...] = ("\n",)
    encoding: str = "utf-8"
    blank: str = ""  # a line after each row
    after: str = ""  # at the end of each row
    before: str = ""  # above the header
    last: bool = True  # whether the last line has an end

    def write(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> bytes | None:
        lines = [self._line(row) for row in (header, *rows)]
        if None in lines:
            return None
        text = self.before
        for at, line in enumerate(lines):
            end = self.ends[at % len(self.ends)]
            text += f"{line}{self.after}" + (end if self.last or at + 1 < len(lines) else "")
            text += self.blank + end if self.blank and at else ""
        try:
            return text.encode(self.encoding)
        except UnicodeEncodeError:
            return None

    def _line(self, row: Sequence[str]) -> str | None:
        if self.quoting == csv.QUOTE_NONE:
            # Without quotation marks around cells, some can't be told from quoted ones by anybody.
            odd = any(self.delimiter in cell or (cell.startswith('"') and cell != '"') for cell in row)
            return None if odd else self.delimiter.join(row)
        out = io.StringIO(newline="")
        csv.writer(out, delimiter=self.delimiter, quoting=self.quoting, lineterminator="").writerow(row)
        return out.getvalue()


DIALECTS = {
    "comma": Written(),
    "semicolon": Written(";"),
    "tab": Written("\t"),
    "pipe": Written("|"),
    "all quoted": Written(quoting=csv.QUOTE_ALL),
    "all quoted, tab, CRLF": Written("\t", csv.QUOTE_ALL, ("\r\n",)),
    "CR": Written(ends=("\r",)),
    "CRLF": Written(ends=("\r\n",)),
    "mixed ends": Written(ends=("\n", "\r\n", "\r")),
    "byte order mark": Written(encoding="utf-8-sig"),
    "UTF-16": Written("\t", ends=("\r\n",), encoding="utf-16"),
    "UTF-16, quoted": Written(";", csv.QUOTE_ALL, encoding="utf-16"),
    "Windows-1252": Written(";", encoding="cp1252"),
    "blank lines": Written(blank=" "),
    "blank lines, CRLF, all quoted": Written(quoting=csv.QUOTE_ALL, ends=("\r\n",), blank='""'),
    "lines of delimiters": Written(";", blank=";;"),
    "trailing delimiters": Written(after=","),
    "more trailing delimiters": Written(";", csv.QUOTE_ALL, after=";;"),
    "sep=": Written(";", before="sep=;\n"),
    "sep= and CRLF": Written(",", csv.QUOTE_ALL, ("\r\n",), before="sep=,\r\n"),
    "no last end": Written(last=False),
    "unquoted, tab": Written("\t", csv.QUOTE_NONE),
    "unquoted, comma": Written(",", csv.QUOTE_NONE),
    "unquoted, semicolon, CRLF": Written(";", csv.QUOTE_NONE, ("\r\n",)),
    "unquoted, pipe, blank lines": Written("|", csv.QUOTE_NONE, blank="\t"),
    "unquoted, tab, CR": Written("\t", csv.QUOTE_NONE, ("\r",)),
}

_LETTERS = st.text("abé東 \";,|\t'’#", min_size=0, max_size=6).map(lambda text: f"w{text}".strip())
TEXTS = st.lists(
    st.one_of(_LETTERS, st.sampled_from(['"', '5" nail', 'tè "verde"', "rock, paper", '"quoted" word', "ß"])),
    min_size=1,
    max_size=5,
)


# Some are read by another's code: they wait for a release.
@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=pytest.mark.release) if one in ("rounds", "named columns") else one for one in FAMILIES],
)
@settings(max_examples=12, deadline=None)
@given(texts=TEXTS)
def test_every_reader_finds_the_same_cells_in_every_dialect(name: str, texts: list[str]):
    family, told = FAMILIES[name], set()
    for dialect, how in DIALECTS.items():
        if dialect == "Windows-1252" and all(text.isascii() for text in texts):
            continue
        data = how.write(family.header, [family.row(text, n) for n, text in enumerate(texts, 1)])
        if data is not None:
            told.add(dialect)
            assert [family.tidy(text) for text in family.read(data)] == [family.tidy(text) for text in texts], dialect
    assert {"comma", "UTF-16", "blank lines", "all quoted"} <= told


@pytest.mark.parametrize("dialect", ["comma", "all quoted", "unquoted, tab", "UTF-16", "sep="])
@pytest.mark.parametrize("name", FAMILIES)
def test_a_doubled_column_is_refused_with_both_named(name: str, dialect: str):
    family = FAMILIES[name]
    other = family.needed.upper() if name != "named columns" else family.needed
    rows = [(*family.row("wort", n), "x") for n in (1, 2)]
    data = DIALECTS[dialect].write((*family.header, other), rows)
    if name == "ratings":
        family = replace(family, read=lambda data: list(read_ratings(data, "x").first))
    if name in ("table", "last column"):
        with pytest.raises(InputError, match=r"\(a, A\)|\(c, C\)"):
            places_of(open_table(data, "x"), family.header)
        return
    with pytest.raises(InputError) as refused:
        family.read(data)
    told = str(refused.value)
    assert told.count(family.needed) + told.count(other) >= 1
    assert re.search(r"several columns|ambiguous|Two columns", told)


# --- The fast path and the one that goes row by row. ---

_CELLS = st.sampled_from(
    [
        "",
        "a",
        "b c",
        " ",
        "\u00a0",
        "\x1c",
        "é",
        '"a"',
        '""',
        '"x,y"',
        '" "',
        'n""',
        "\ufeff",
        "東\u2028",
        "\ta",
        '" \t "',
        '""""',
    ]
)
_ROWS = st.one_of(
    st.tuples(_CELLS, _CELLS).map(",".join), st.sampled_from(["", " ", ",", '""', '""""""', "\u00a0", " , "])
)


@settings(max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.lists(_ROWS, max_size=8), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["a,b", '"a","b"', "sep=,\na,b"]))
def test_both_ways_to_read_a_file_agree(rows: list[str], end: str, header: str):
    file = open_csv(end.join([header, *rows, ""]).encode(), "x.csv")
    fast = at_once(file, [0, 1])
    assume(fast is not None)
    slow = as_texts(file.read([0, 1], 2))
    assert fast.numbers.tolist() == slow.numbers.tolist()
    assert fast.lists == slow.lists
    assert (fast.n_rows, fast.issues) == (slow.n_rows, slow.issues)


@pytest.mark.parametrize("row", ["", " ", " , ", ",,", '"",""', "\u00a0,", ",\r"])
def test_a_blank_line_is_no_row_and_is_counted_as_a_line(row: str):
    header, end = ('"a","b"', '"y"') if '"' in row else ("a,b", "y")
    file = open_csv(f"{header}\nx,{end}\n{row}\nx,{end}\n{row}\n{row}\nx,{end}\n".encode(), "x.csv")
    for rows in (at_once(file, [0, 1]), as_texts(file.read([0, 1], 2)), file.texts([1, 0], 2)):
        if rows is None:
            assert row in (",,", ",\r")  # longer than the header, or of another line end
            continue
        assert rows.numbers.tolist() == [2, 4, 7]
        assert sorted(rows.lists) == [["x"] * 3, ["y"] * 3]
        assert rows.n_rows == 3


# --- Quotation marks. ---


def cells(text: str) -> list[list[str]]:
    """All rows that can be read, from a file of this text."""
    file = open_csv(text.encode(), "x.csv")
    assert not file.read([0], 1).unread
    return [list(row) for row in zip(*file.read(range(len(file.header)), 1).columns, strict=True)]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('a\tb\tc\n"\tx\t1\ny\tz\t2\n"\tu\t3\n', [['"', "x", "1"], ["y", "z", "2"], ['"', "u", "3"]]),
        ('a\tb\tc\n"\tx\t1\ny\t"\t2\n', [['"', "x", "1"], ["y", '"', "2"]]),
        ('a\tb\tc\n"\t"\t1\n', [['"', '"', "1"]]),
        ('a,b\nx,"\ny,z\n', [["x", '"'], ["y", "z"]]),
        ('a,b\n5" nail,1\n3" nail,2\n', [['5" nail', "1"], ['3" nail', "2"]]),
        ('a\tb\n"tis\t1\nrock"\t2\nx\t3\n', None),
        ('a\tb\tc\n"tis\tx\t1\nrock"\ty\t2\n', [['"tis', "x", "1"], ['rock"', "y", "2"]]),
        ('a,b\n"quoted" word,1\nx,2\n', [['"quoted" word', "1"], ["x", "2"]]),
        ('a\n"\nb\n"\n', [['"'], ["b"], ['"']]),
        ('"\ta\tb\nx\ty\tz\n"\tc\td\n', [["x", "y", "z"], ['"', "c", "d"]]),
        ('a,b\n"x","y"\n', [["x", "y"]]),
        ('a,b\nx,"one, two"\ny,z\n', [["x", "one, two"], ["y", "z"]]),
        ('a,b\nx,"one\ntwo"\ny,z\n', [["x", "one\ntwo"], ["y", "z"]]),
        ('a,b,c\nx,"well, no\nnot, yes",1\n', [["x", "well, no\nnot, yes", "1"]]),
        ('a,b\nx,"say ""hi"""\n', [["x", 'say "hi"']]),
        ('a,b\n"x","5"" nail"\n"""","y"\n', [["x", '5" nail'], ['"', "y"]]),
        ('"a, b",c\n"x",y\n', [["x", "y"]]),
    ],
)  # fmt: skip
def test_marks_are_taken_off_only_where_they_stand_around_cells(text: str, rows: list[list[str]] | None):
    if rows is None:  # nobody can tell; it is said
        assert open_csv(text.encode(), "x.csv").notes
    else:
        assert cells(text) == rows


def test_where_marks_are_letters_it_is_said_with_the_row():
    assert "in row 3 one stands by itself" in str(open_csv(b'a\tb\nx\ty\n"\tz\n', "x.tsv").notes[0])
    assert not open_csv(b'a\tb\n5" nail\ty\n', "x.tsv").notes


def test_a_damaged_row_of_a_quoted_file_takes_no_other_row_with_it():
    lines = ['"a","b"', *(f'"x{n}","y, {n}"' for n in range(6))]
    lines[3] = '"x2","y, 2'
    file = open_csv("\n".join([*lines, ""]).encode(), "x.csv")
    rows = file.read([0, 1], 2)
    assert rows.columns[0] == ["x0", "x1", "x3", "x4", "x5"]
    assert [issue.row for issue in rows.unread] == [4]
    assert "the quotation marks don't fit" in rows.unread[0].message


# --- Encodings. ---


def test_a_stray_byte_leaves_the_file_as_it_is_and_is_told():
    data = "area,token\ncucina,caffè\ncucina,tè\n".encode() + b"cucina,pur\xe8\ncucina,rag\xc3\xb9\n"
    found = decode_bytes(data, "x.csv")
    assert found.text.split() == ["area,token", "cucina,caffè", "cucina,tè", "cucina,purè", "cucina,ragù"]
    assert "line 4 holds the byte 0xE8" in str(found.notes[0])
    both = "nome,nota\nfenêtre,it".encode() + b"\x92s\n"
    assert decode_bytes(both, "x.csv").text == "nome,nota\nfenêtre,it’s\n"


def test_a_file_wholly_in_windows_1252_stays_so_and_another_can_be_chosen():
    text = "token\nfenêtre\ncafé\nthe\n"
    found = decode_bytes(text.encode("cp1252"), "x.csv")
    assert found.text == text
    assert "Windows-1252" in str(found.notes[0])
    assert "choose another encoding" in str(found.notes[0])
    chinese = "铁砧\n驳船\n蜡烛\n"
    assert read_lines(chinese.encode("gbk"), "x.txt", encoding="gbk").texts == chinese.split()
    assert open_table(f"token,n\n{chinese}".encode("gb18030"), "x", encoding="GB18030").head(1) == [["铁砧"]]


@pytest.mark.parametrize("name", ["hex", "zip", "rot13", "punycode", "unicode_escape", "no such", "idna", ""])
def test_what_is_no_encoding_of_files_is_refused(name: str):
    with pytest.raises(InputError, match="encoding"):
        decode_bytes(b"a,b\n", "x.csv", encoding=name)


def test_a_wrong_choice_is_refused_with_the_line_and_the_byte():
    with pytest.raises(InputError, match=r"not in the encoding utf-8: line 2 holds the byte 0xe8"):
        decode_bytes(b"a\n\xe8\n", "x.csv", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 3 holds the byte 0x81"):
        decode_bytes("è\nè\n".encode() + b"\x81\n", "x.csv")


# --- Lists of lines, JSON. ---


def test_lists_of_lines_know_no_delimiters_and_no_marks():
    data = 'anvil\r\nrock, paper\n\n"\n{\r"quoted" word\n x\ty \u2028\n'.encode()
    found = read_lines(data, "x.txt")
    assert found.texts == ["anvil", "rock, paper", '"', "{", '"quoted" word', "x\ty"]
    assert found.numbers == [1, 2, 4, 5, 6, 7]
    with pytest.raises(InputError, match="PDF"):
        read_lines(b"%PDF-1.4", "x.txt")


@pytest.mark.parametrize("inside", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1e"])
def test_lines_of_json_end_at_line_feeds_only(inside: str):
    text = f'{{"a": "x{inside}y"}}\r\n\n{{"a": "z"}}\n{{"a": \n'
    if inside < "\x20":
        text = text.replace(inside, f"\\u{ord(inside):04x}")
    found = json_records(text.encode(), "x.jsonl")
    assert [record["a"] for record in found.records] == [f"x{inside}y", "z"]
    assert found.numbers == (1, 2)
    assert [issue.row for issue in found.unread] == [3]


# --- Workbooks. ---


def test_escapes_of_workbooks_are_undone():
    told = ["anvil_x000D_", "_x005F_x0041_", "_x0041_", "a_x000A_b", "x_00", "_xZZZZ_", "_xd83d__xde00_", "_xD800_"]
    (sheet,) = read_workbook(workbook({"List": [["token"], *([text] for text in told)]}), "x.xlsx")
    assert [row[0] for row in sheet.rows[1:]] == ["anvil\r", "_x0041_", "A", "a\nb", "x_00", "_xZZZZ_", "😀", "\ufffd"]


@given(st.text(st.sampled_from("_x0041F5aé😀"), max_size=20))
def test_what_runoff_escapes_comes_back(text: str):
    assert unescaped(escaped(text)) == text


def test_the_sheet_is_chosen_by_its_columns_or_asked_for():
    votes, notes = [["comparison_id", "voter", "choice"], ["b1-0a1b2c3d-00001-1", "A", "left"]], [["what"], ["note"]]
    found = open_results(workbook({"Notes": notes, "Votes": votes}), "x.xlsx")
    assert found.header == ("comparison_id", "voter", "choice")
    assert "only the sheet 'Votes' was read, of 'Notes', 'Votes'" in str(found.notes[0])
    assert open_results(workbook({"Votes": votes}), "x.xlsx").notes == ()
    for sheets in ({"One": votes, "Two": votes}, {"One": notes, "Two": notes}):
        with pytest.raises(InputError, match=r"several sheets: 'One', 'Two', and .*hold"):
            open_results(workbook(sheets), "x.xlsx")
    assert open_results(workbook({"One": votes, "Two": votes}), "x.xlsx", sheet="Two").head(1) == [votes[1]]
    by_hand = open_results(workbook({"Notes": notes, "Data": [["who", "what"], ["A", "left"]]}), "x.xlsx")
    assert by_hand.header == ("who", "what")


def test_cells_that_a_spreadsheet_made_something_else_of_are_told_with_their_rows():
    import datetime

    day = datetime.datetime(2026, 3, 1)
    rows = [
        ["voter", "choice", "left", "when"],
        ["A", "left", day, day],
        ["B", True, "sea", day],
        ["C", "right", "b", day],
    ]
    texts = open_table(workbook({"Votes": rows}), "x.xlsx").texts([0, 1, 2, 3], 4)
    assert [(issue.row, issue.found) for issue in texts.issues] == [(3, "TRUE"), (2, "2026-03-01")]
    shown = [
        ["who", "choice", "a", "b", "c", "d"],
        ["A", "left", day, "y", "z", "u"],
        ["B", "left", "x", "y", "z", "u"],
    ]
    notes = rebuild([open_results(workbook({"Votes": shown}), "x.xlsx")], _SHOWN).notes
    assert [(issue.row, issue.found) for issue in notes] == [(2, "2026-03-01")]


# --- Values. ---


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["1,234", "985", "12"], [1234, 985, 12]),
        (["1,234", "0.5"], [1234, 0.5]),
        (["1,234,567", "2,000"], [1234567, 2000]),
        (["0,5", "0,25", "1"], [0.5, 0.25, 1]),
        (["1,333", "2", "2,667"], [1.333, 2, 2.667]),
        (["1.234,5", "0,5"], [1234.5, 0.5]),
        (["1 234,5", "2"], [1234.5, 2]),
        (["1'234.5", "2"], [1234.5, 2]),
        (["-1e-3", "+2", ".5", "5."], [-0.001, 2, 0.5, 5]),
        (["NA", "nan", "NULL", "-", "", " n/a "], [np.nan] * 6),
    ],
)
def test_numbers_are_read_by_their_whole_column(texts: list[str], values: list[float]):
    found = column_numbers(texts, range(2, len(texts) + 2), "score")
    assert found.values.tolist() == pytest.approx(values, nan_ok=True)
    assert found.bad == ()


@pytest.mark.parametrize("texts", [["0,5", "0.25", "0,1"], ["high", "1"], ["inf", "1"], ["1_0"], ["١", "1"], ["1e999"]])
def test_what_is_no_number_of_its_column_is_told_by_row(texts: list[str]):
    found = column_numbers(texts, range(2, len(texts) + 2), "score")
    assert len(found.bad) == 1
    at = found.bad[0].row - 2
    assert found.bad[0].found == texts[at]
    assert np.isnan(found.values[at])


def test_a_comma_that_could_be_either_is_told():
    assert "thousands" in str(column_numbers(["1,234", "985"], [2, 3], "score").notes[0])
    assert "a decimal comma" in str(column_numbers(["1,333", "2"], [2, 3], "score").notes[0])
    assert column_numbers(["0,5", "1,333"], [2, 3], "score").notes == ()


def test_marks_of_missing_values_are_no_words():
    assert all(map(is_missing, ["", " NA", "n/a", "NaN", "NULL", "None", "-", "–", "#N/A", "\\N", "<NA>"]))
    assert not any(map(is_missing, ["0", "no", "nada", "x", "FALSE", "nan bread"]))


def test_names_are_compared_without_case_and_spaces():
    table = open_csv(b"\xef\xbb\xbf Voter ,CHOICE,choice \nx,y,z\n", "x.csv")
    assert places_of(table, ["voter", "missing"]) == {"voter": 0}
    with pytest.raises(InputError, match=r"\(CHOICE, choice\)"):
        places_of(table, ["choice"])
    with pytest.raises(InputError, match=r"\(CHOICE, choice\)"):
        refuse_doubled(table)
    refuse_doubled(table, [0, 1])
