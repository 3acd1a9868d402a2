"""Tables of pairs and values as people bring them: quotation marks, doubled columns, spaces, commas in numbers."""

from __future__ import annotations

import csv
import datetime
import io
import json
import zipfile
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_runs import examples

from core.__main__ import main
from core.dataset.files import read_dataset
from core.dataset.side_by_side import read_scored
from core.embeddings import load
from core.embeddings.readers.similarity_files import open_long
from core.errors import InputError, Issue
from core.questions.best_worst.files import NamedError, read_best_worst, read_item_list
from core.questions.order.kind import read_groups
from core.questions.order.orders import read_orders
from core.questions.rating.files import read_ratings
from core.questions.writing import read_form, read_texts
from core.simulation.similarities import read_similarities
from core.tabular import open_csv

SECOND = Path(__file__).parents[1] / "cases" / "second"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    """A command of the command line: its exit code, what it wrote, and its errors."""

    def _run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as exited:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return exited.value.code, out, err

    return _run


def pairs_of(data: bytes, tmp_path: Path) -> list[tuple[str, str, float]]:
    """The pairs of a file of similarities with their values, by the names of the tokens."""
    path = tmp_path / "similarities.txt"
    path.write_bytes(data)
    model = load(path)
    pairs = list(combinations(sorted(model.vocabulary.to_pylist()), 2))
    values = model.cosines(*([pair[side] for pair in pairs] for side in (0, 1))).tolist()
    return [(*pair, value) for pair, value in zip(pairs, values, strict=True) if value == value]


class TestQuotationMarks:
    """A mark in a table that isn't quoted is text; a table that is quoted stays so; no row vanishes."""

    def test_an_unquoted_dataset(self, run):
        frame = read_dataset(SECOND / "81-unquoted-dataset.tsv")
        assert frame["token_a"].tolist() == ["anvil", '"', "dune", '"', "gravel", "anvil"]
        code, out, _ = run("evaluate", SECOND / "81-unquoted-dataset.tsv", SECOND / "81-words.vec", "--json")
        (overall,) = (row for row in json.loads(out)["models"] if row["area"] is None)
        assert (code, overall["n_items"], overall["n_covered"]) == (0, 6, 6)

    @pytest.mark.parametrize("mark", ["\t", ",", ";"])
    def test_a_quoted_dataset_stays_quoted(self, mark):
        rows = [("token_a", "token_b", "score"), (f"a{mark}b", 'say "x"', "0.9"), ("line\nend", '"', "0.5")]
        lines = [mark.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
        frame = read_dataset("\n".join(lines).encode() + b"\n")
        assert frame["token_a"].tolist() == [f"a{mark}b", "line\nend"]
        assert frame["token_b"].tolist() == ['say "x"', '"']

    UNQUOTED = 'anvil\t"\n"\tbarge\n5" nail\tcandle\ndune\t"ember\nflute\t"\n'

    def rows(self) -> list[list[str]]:
        return [line.split("\t") for line in self.UNQUOTED.splitlines()]

    def table(self, header: str, *more: str) -> bytes:
        lines = [header, *("\t".join([*row, *more]) for row in self.rows())]
        return ("\n".join(lines) + "\n").encode()

    def test_in_every_reader(self, tmp_path):
        expected = self.rows()
        frame = read_dataset(self.table("token_a\ttoken_b\tscore", "0.5"))
        assert frame[["token_a", "token_b"]].to_numpy().tolist() == expected
        ratings = read_ratings(self.table("word1\tword2\tscore", "3"), "r.tsv")
        assert [list(pair) for pair in zip(ratings.first, ratings.second, strict=True)] == expected
        scored = read_scored(self.table("word1\tword2\tscore", "3"), "r.tsv")
        assert [list(pair) for pair in zip(scored.first, scored.second, strict=True)] == expected
        pairs = pairs_of(self.table("token_a\ttoken_b\tsimilarity", "0.5"), tmp_path)
        assert sorted(pairs) == sorted((*sorted(pair), 0.5) for pair in expected)
        orders = read_orders(self.table("target\tword\tvoter\tplace", "A", "1"), "o.tsv").orders["A"]
        assert [[target, word] for target, words in orders.items() for word in words] == expected
        items = read_item_list(self.table("token_a\ttoken_b"), "i.tsv").items
        assert list(items) == [" – ".join(pair) for pair in expected]
        texts = read_texts(self.table("text\tgenre"), "t.tsv").texts
        assert [[text.text, text.genre] for text in texts] == expected
        form = read_form(self.table("larger\tsmaller\twanted", "3"), "f.tsv")
        assert [[task.larger.text] for task in form.tasks] == [row[:1] for row in expected]
        assert [answer.text for answer in form.answers] == [row[1] for row in expected]
        judged = read_best_worst(self.table("item_1\titem_2\titem_3\tbest\tworst", "x", "1", "2"), "b.tsv")
        assert (judged.n_judgements, [issue.row for issue in judged.issues]) == (5, [None])  # how marks were read
        (tmp_path / "s.tsv").write_bytes(self.table("similarity\tnote\ttoken", "x").replace(b"anvil", b"0.5"))
        with pytest.raises(InputError, match="row 3"):
            read_similarities(tmp_path / "s.tsv")


class TestDoubledColumns:
    """Two columns of one name, or of one meaning, are refused, and both are named."""

    @pytest.mark.parametrize(
        ("read", "header", "named"),
        [
            (read_dataset, "token_a,token_b,score,Token_A", "token_a, Token_A"),
            (read_dataset, "token_a,token_b,score,pos,pos", "pos, pos"),
            (read_ratings, "word1,word2,score,Word1", "word1, Word1"),
            (read_ratings, "word1,word2,voter,rating,condition,Rating", "rating, Rating"),
            (read_ratings, "word1,word2,Human (mean),human_mean,p,q", "Human (mean), human_mean"),
            (read_best_worst, "item_1,item_2,item_3,best,worst,best", "best, best"),
            (read_best_worst, "item_1,item_2,item_3,best,worst,BestItem", "best, BestItem"),
            (read_best_worst, "item_1,item_2,option1,best,worst,x", "item_1, option1"),
            (read_best_worst, "item_1,item_2,best,worst,voter,Voter", "voter, Voter"),
            (read_orders, "target,voter,word,place,Place", "place, Place"),
            (read_orders, "target,word,place,rater,Rater", "rater, Rater"),
            (read_item_list, "token_a,token_b,token_b", "token_b, token_b"),
            (read_texts, "text,genre,text", "text, text"),
            (read_form, "larger,smaller,Larger", "larger, Larger"),
            (read_scored, "word1,word2,score,Word1", "word1, Word1"),
        ],
    )
    def test_in_every_reader(self, read, header, named):
        cells = header.count(",") + 1
        data = f"{header}\n{','.join('abcdef'[:cells])}\n".encode()
        with pytest.raises(InputError) as refused:
            read(data) if read is read_dataset else read(data, "x.csv")
        assert f"several columns of one name ({named}). Keep one of each." in str(refused.value)

    def test_of_similarities(self, tmp_path):
        with pytest.raises(InputError, match=r"several columns of one name \(similarity, Similarity\)"):
            pairs_of(b"token_a,token_b,similarity,Similarity\na,b,1,2\n", tmp_path)
        (tmp_path / "z.csv").write_bytes(b"similarity,similarity\n1,2\n")
        with pytest.raises(InputError, match=r"several columns of one name \(similarity, similarity\)"):
            read_similarities(tmp_path / "z.csv")

    def test_people_of_one_name_are_told_apart_and_a_second_mean_is_nobody(self):
        found = read_ratings(b"word1,word2,mean,gold,p,p\na,b,1,1,1,2\nc,d,2,2,3,4\n", "w.csv")
        assert found.people == ("p (column 5)", "p (column 6)")
        assert found.notes == ("Columns that aren't read: gold.",)


class TestSpaces:
    def test_after_commas(self, run):
        frame = read_dataset(SECOND / "93-space-after-comma.csv")
        assert frame["token_b"].tolist() == ["barge", "ember", "gravel", "harbor"]
        code, out, _ = run("evaluate", SECOND / "93-space-after-comma.csv", SECOND / "93-words.vec", "--json")
        assert (code, json.loads(out)["models"][0]["n_covered"]) == (0, 4)

    def test_around_every_cell_and_of_any_kind(self):
        data = "area\t token_a\u00a0\t token_b \t score\n sea \t new york \t\u00a0ship\t 0,5 \n"
        frame = read_dataset(data.encode())
        assert frame.to_numpy().tolist() == [["sea", "new york", "ship", 0.5]]

    def test_a_token_of_spaces_is_missing(self):
        with pytest.raises(InputError, match="row 2, column token_b: the token is missing"):
            read_dataset(b"token_a,token_b,score\na,  ,1\n")


def scores_of(values: list[str], mark: str = "\t") -> list[float]:
    rows = [mark.join((f"a{n}", f"b{n}", value)) for n, value in enumerate(values)]
    return read_dataset("\n".join([mark.join(("token_a", "token_b", "score")), *rows, ""]).encode())["score"].tolist()


def similarities_of(values: list[str], tmp_path: Path, mark: str = "\t") -> list[float]:
    rows = [mark.join((f"a{n}", f"b{n}", value)) for n, value in enumerate(values)]
    data = "\n".join([mark.join(("token_a", "token_b", "similarity")), *rows, ""]).encode()
    return [value for _, _, value in sorted(pairs_of(data, tmp_path))]


class TestCommasInNumbers:
    def test_thousands_beside_other_numbers(self, run):
        assert read_dataset(SECOND / "97-thousands.tsv")["score"].tolist() == [1234, 985, 12]
        code, out, _ = run("evaluate", SECOND / "97-thousands.tsv", SECOND / "97-similarities.csv", "--json")
        told = json.loads(out)
        assert (code, told["models"][0]["rho"]["estimate"]) == (0, pytest.approx(1))
        assert any("row 2, column score: the comma was read as thousands" in note for note in told["notes"])

    @pytest.mark.parametrize(
        ("written", "numbers"),
        [
            (["0,5", "0,25", "1"], [0.5, 0.25, 1]),
            (["1,234", "0,5"], [1.234, 0.5]),
            (["1,234", "985", "12"], [1234, 985, 12]),
            (["1,234", "0.5"], [1234, 0.5]),
            (["1.234,5", "0,5"], [1234.5, 0.5]),
            (["1,234,567", "1,5"], None),  # thousands in one row, a decimal comma in the other
            (["0,5", "0.75"], None),
            (["1e-3", "2.5E+2"], [0.001, 250]),
        ],
    )
    def test_datasets_and_similarities_are_read_alike(self, tmp_path, written, numbers):
        for read in (scores_of, lambda values: similarities_of(values, tmp_path)):
            if numbers is None:
                with pytest.raises(InputError, match=r"row [23], column (score|similarity)"):
                    read(written)
            else:
                assert read(written) == numbers

    def test_ratings_places_and_wanted_ratings(self):
        found = read_ratings(b"word1;word2;p;q\na;b;1,5;2\nc;d;3;2,25\n", "w.csv")
        assert found.table.tolist() == [[1.5, 3], [2, 2.25]]
        orders = read_orders(b"target;voter;word;place\nx;A;y;1,5\nx;A;z;3\n", "o.csv")
        assert orders.orders == {"A": {"x": {"y": 1.5, "z": 3.0}}}
        form = read_form(b"larger;smaller;wanted\na;b;2,5\n", "f.csv")
        assert [task.wanted for task in form.tasks] == [2.5]
        with pytest.raises(InputError, match="row 2, column wanted: must be a number"):
            read_form(b"larger,smaller,wanted\na,b,high\n", "f.csv")

    def test_a_rating_of_another_convention_is_told(self):
        found = read_ratings(b"word1;word2;score\na;b;1,5\nc;d;2.5\ne;f;3\n", "r.csv")
        assert [(i.row, i.message, i.found) for i in found.issues] == [
            (3, "a point where the other numbers have a decimal comma", "2.5")
        ]


class TestEncodings:
    TABLE = "token_a,token_b,score\ncaffè,tè,0.9\nragù,però,0.5\n"

    def test_an_odd_byte_is_told_and_the_others_stay(self):
        data = self.TABLE.encode() + b"pur\xe8,latte,0.1\n"
        frame = read_dataset(data)
        assert frame["token_a"].tolist() == ["caffè", "ragù", "purè"]
        assert any("line 4 holds the byte 0xE8" in note for note in frame.attrs["notes"])

    def test_an_encoding_can_be_chosen(self, run, tmp_path):
        path = tmp_path / "gbk.csv"
        path.write_bytes("token_a,token_b,score\n铁砧,驳船,0.9\n蜡烛,铁砧,0.1\n".encode("gbk"))
        model = tmp_path / "model.csv"
        model.write_text("token_a,token_b,similarity\n铁砧,驳船,0.8\n蜡烛,铁砧,0.2\n", encoding="utf-8")
        assert run("evaluate", path, model)[0] == 0
        code, out, _ = run("evaluate", path, model, "--dataset-encoding", "gbk", "--json")
        assert (code, json.loads(out)["models"][0]["n_covered"]) == (0, 2)
        code, _, err = run("evaluate", path, model, "--dataset-encoding", "klingon")
        assert (code, "There is no text encoding 'klingon'" in err) == (2, True)
        ratings = run("ratings", path, "--encoding", "gbk", "--json")
        assert json.loads(ratings[1])["items"][0]["first"] == "铁砧"

    def test_similarities_in_utf_16_and_with_an_odd_byte(self, tmp_path):
        table = self.TABLE.replace("score", "similarity")
        for encoding in ("utf-8-sig", "utf-16"):
            assert pairs_of(table.encode(encoding), tmp_path) == [("caffè", "tè", 0.9), ("però", "ragù", 0.5)]
        with pytest.raises(InputError, match=r"line 4: the text isn't valid UTF-8 \(byte 0xe8\)"):
            pairs_of(table.encode() + b"pur\xe8,latte,0.1\n", tmp_path)

    def test_what_was_decided_of_a_list_of_items_is_told(self, run, tmp_path):
        (tmp_path / "items.txt").write_bytes("caffè\ntè\nragù\npurè\n".encode("cp1252"))
        code, out, _ = run("draw-tuples", tmp_path / "items.txt", "--output", tmp_path / "out.csv")
        assert (code, "Windows-1252" in out) == (0, True)


class TestWorkbooks:
    @staticmethod
    def book(*rows: tuple[object, ...], notes_first: bool = False) -> bytes:
        from openpyxl import Workbook

        book = Workbook()
        sheet = book.active
        if notes_first:
            sheet.append(["What this is"])
            sheet.append(["Ratings of May"])
            sheet = book.create_sheet("Data")
        for row in rows:
            sheet.append(list(row))
        out = io.BytesIO()
        book.save(out)
        return out.getvalue()

    def test_a_dataset_with_its_remarks(self):
        data = self.book(
            ("token_a", "token_b", "score"), ("ship", datetime.date(2026, 3, 1), 0.9), ("sea", "boat", 0.5)
        )
        frame = read_dataset(data)
        assert frame.to_numpy().tolist() == [["", "ship", "2026-03-01", 0.9], ["", "sea", "boat", 0.5]]
        assert any("row 2" in note and "made a date" in note for note in frame.attrs["notes"])

    def test_a_sheet_behind_notes(self):
        rows = (("word1", "word2", "score"), ("a", "b", 1.5), ("c", "d", 2))
        found = read_ratings(self.book(*rows, notes_first=True), "r.xlsx")
        assert found.mean.tolist() == [1.5, 2]
        assert [str(issue) for issue in found.issues] == ["only the sheet 'Data' was read, of 'Sheet', 'Data'"]

    def test_ratings_without_a_header(self):
        found = read_ratings(self.book((2.5, "a b", "c d"), (5, "e", "f"), ("x", "g", "h")), "sts.xlsx")
        assert (found.first, found.mean.tolist()) == (("a b", "e"), [2.5, 5])
        assert [issue.row for issue in found.issues] == [3]

    def test_best_worst_orders_scores_items_and_texts(self):
        judged = self.book(("item_1", "item_2", "item_3", "best", "worst"), ("sea", "tax", "cat", "sea", "tax"))
        assert read_best_worst(judged, "b.xlsx").n_judgements == 1
        assert read_scored(judged, "b.xlsx").scheme.startswith("best–worst")
        orders = read_orders(self.book(("target", "voter", "word", "place"), ("x", "A", "y", 1)), "o.xlsx")
        assert orders.orders == {"A": {"x": {"y": 1.0}}}
        scored = read_scored(self.book(("token_a", "token_b", "score", "rank"), ("a", "b", 0.5, 1)), "d.xlsx")
        assert (scored.first, scored.score.tolist()) == (("a",), [0.5])
        assert read_item_list(self.book(("token_a", "token_b"), ("a", "b"), ("c", "d")), "i.xlsx").items == (
            "a – b",
            "c – d",
        )
        assert read_texts(self.book(("text",), ("A man.",)), "t.xlsx").texts[0].text == "A man."

    def test_a_zip_that_is_neither_says_so(self):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("x.txt", "x")
        with pytest.raises(InputError, match=r"no manifest\.json"):
            read_dataset(out.getvalue())


CELL = st.text("ab\" ,\t;'é", max_size=4)
LINE_ENDS = st.sampled_from(["\n", "\r\n", "\r"])


class TestLongTables:
    """A table that goes by in pieces is read as one that is held."""

    @given(
        rows=st.lists(st.lists(CELL, min_size=1, max_size=4), max_size=12),
        mark=st.sampled_from([",", ";", "\t", "|"]),
        end=LINE_ENDS,
        quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONE]),
        size=st.integers(1, 9),
        encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
        before=st.sampled_from(["", "sep"]),
        last=st.booleans(),
    )
    @settings(deadline=None, max_examples=examples(120))
    def test_streamed_and_whole(self, rows, mark, end, quoting, size, encoding, before, last):
        out = io.StringIO(newline="")
        if quoting == csv.QUOTE_NONE:
            for row in (["token_a", "token_b", "similarity"], *rows):
                out.write(mark.join(row) + end)
        else:
            writer = csv.writer(out, delimiter=mark, lineterminator=end, quoting=quoting)
            writer.writerows([["token_a", "token_b", "similarity"], *rows])
        text = (f"sep={mark}{end}" if before else "") + out.getvalue()
        self.agree(text if last else text.rstrip("\r\n"), encoding, size)

    @given(st.text('ab",\n\r\t;1', max_size=60), st.integers(1, 9))
    @settings(deadline=None, max_examples=examples(120))
    def test_any_text(self, text, size):
        self.agree("token_a,token_b,similarity\n" + text, "utf-8", size)

    def agree(self, text: str, encoding: str, size: int) -> None:
        data = text.encode(encoding)
        codec = "utf-16" if encoding == "utf-16" else encoding.removesuffix("-sig")

        def pieces() -> Iterator[bytes]:
            return (data[at : at + size] for at in range(0, len(data), size))

        whole = open_csv(data, "x.csv", encoding=codec)
        long = open_long(pieces, "x.csv", codec=codec)
        assert (long.header, long.dialect) == (whole.header, whole.dialect)
        read = whole.read(range(len(whole.header)), 2)
        found = list(long.rows(pieces(), 2))
        kept = [(number, row) for number, row in found if not isinstance(row, Issue)]
        assert [number for number, _ in kept] == read.numbers
        assert [list(column) for column in zip(*(row for _, row in kept), strict=True)] == [
            column for column in read.columns if column
        ]
        assert [row for _, row in found if isinstance(row, Issue)] == list(read.unread)

    def test_similarities_are_what_a_held_table_has(self, tmp_path):
        rows = [(f"a{n}", f'b "{n}"' if n % 3 else f"b\n{n}", f"{n / 7:.6f}".replace(".", ",")) for n in range(400)]
        for mark, quoting in ((";", csv.QUOTE_ALL), ("\t", csv.QUOTE_MINIMAL)):
            out = io.StringIO(newline="")
            writer = csv.writer(out, delimiter=mark, quoting=quoting)
            writer.writerows([("token_a", "token_b", "similarity"), *rows])
            data = out.getvalue().encode()
            held = read_dataset(data.replace(b"similarity", b"score"))
            expected = zip(held["token_a"], held["token_b"], held["score"].round(12), strict=True)
            assert sorted(pairs_of(data, tmp_path)) == sorted(expected)


class TestBestAndWorstByNumber:
    HEADER = "item_1,item_2,item_3,item_4,best,worst\n"

    def test_a_cell_that_can_be_both_is_asked_about(self, run):
        data = (SECOND / "108-numeric-items.csv").read_bytes()
        with pytest.raises(NamedError) as refused:
            read_best_worst(data, "108.csv")
        assert str(refused.value) == (
            "In 108.csv best and worst can be items or places: row 2 shows 3, 1, 4, 2, and its best is 1, which stands "
            "at place 2, while place 1 holds 3. Say whether they are items or places."
        )
        code, _, err = run("best-worst", SECOND / "108-numeric-items.csv")
        assert code == 2
        assert "items or places" in err
        assert "--named items or --named places" in err

    def test_what_was_said_is_taken(self, run):
        data = (SECOND / "108-numeric-items.csv").read_bytes()
        items = read_best_worst(data, "108.csv", named="items")
        assert [items.items[row[at]] for row, at in zip(items.answers.shown, items.answers.best, strict=True)] == list(
            "1114"
        )
        places = read_best_worst(data, "108.csv", named="places")
        assert places.answers.best.tolist() == [0, 0, 0, 3]
        assert places.answers.worst.tolist() == [3, 3, 2, 1]
        for named, best in (("items", ("1", 3)), ("places", ("4", 2))):
            code, out, _ = run("best-worst", SECOND / "108-numeric-items.csv", "--named", named, "--json")
            top = max(json.loads(out)["items"], key=lambda row: row["best"])
            assert (code, top["item"], top["best"]) == (0, *best)

    def test_cells_that_can_be_one_only_decide_and_are_told(self):
        items = read_best_worst((self.HEADER + "3,1,4,2,1,4\n4,2,7,3,7,4\n").encode(), "x.csv")
        assert [items.items[row[at]] for row, at in zip(items.answers.shown, items.answers.best, strict=True)] == [
            "1",
            "7",
        ]
        assert items.notes == ("Best and worst are read as items: row 3 names '7', which is no place.",)
        places = read_best_worst((self.HEADER + "3,1,4,2,1,4\n14,12,17,13,2,4\n").encode(), "x.csv")
        assert places.answers.best.tolist() == [0, 1]
        assert places.notes == ("Best and worst are read as places: row 3 names '2', which is none of its items.",)

    def test_where_some_can_be_items_only_and_some_places_only(self):
        data = (self.HEADER + "3,1,4,2,1,4\n4,2,7,3,7,4\n14,12,17,13,2,4\n").encode()
        with pytest.raises(NamedError):
            read_best_worst(data, "x.csv")
        assert [(i.row, i.message) for i in read_best_worst(data, "x.csv", named="items").issues] == [
            (4, "the best is none of the items")
        ]
        assert [(i.row, i.message) for i in read_best_worst(data, "x.csv", named="places").issues] == [
            (3, "the best is no place from 1 to 4")
        ]

    def test_items_that_are_their_own_places_need_no_question(self):
        read = read_best_worst((self.HEADER + "1,2,3,4,2,4\n").encode(), "x.csv")
        assert (read.answers.best.tolist(), read.answers.worst.tolist(), read.notes) == ([1], [3], ())

    def test_the_question_comes_through_scores_of_any_scheme(self, run):
        path = SECOND / "108-numeric-items.csv"
        with pytest.raises(NamedError):
            read_scored(path.read_bytes(), "108.csv")
        assert run("compare-schemes", path, path)[0] == 2
        assert run("compare-schemes", path, path, "--named", "items")[0] == 0


def test_lines_of_target_groups_end_at_line_ends_only():
    """U+2028 and U+0085 are characters of a word, as any."""
    read = read_groups("sin\u2028ger\r\nmus\u0085ician,0.90,person,0.10\rdistractors\nperson,1.00,song,0.00\n")
    assert [(c.target, c.first, c.second) for c in read.comparisons] == [
        ("sin\u2028ger", "mus\u0085ician", "person"),
        ("sin\u2028ger", "person", "song"),
    ]
