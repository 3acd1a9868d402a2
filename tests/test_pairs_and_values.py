"""Tables of pairs and values as people bring them: quotation marks, doubled columns, spaces, commas in numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.__main__ import main
from core.dataset import read_dataset
from core.embeddings import load
from core.errors import InputError
from core.schemes.best_worst_files import NamedError, read_best_worst, read_items
from core.schemes.group_files import read_groups
from core.schemes.group_orders import read_orders
from core.schemes.rating_files import read_ratings
from core.schemes.scored_files import read_scored
from core.schemes.writing_files import read_form, read_texts
from core.simulation.similarities import read_similarities

SECOND = Path(__file__).parent / "cases" / "second"


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
    words = model.vocabulary.to_pylist()
    return [(a, b, float(v)) for a in words for b in words if a < b and (v := model.cosines([a], [b])[0]) == v]


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
        items = read_items(self.table("token_a\ttoken_b"), "i.tsv").items
        assert list(items) == [" – ".join(pair) for pair in expected]
        texts = read_texts(self.table("text\tgenre"), "t.tsv").texts
        assert [[text.text, text.genre] for text in texts] == expected
        form = read_form(self.table("larger\tsmaller\twanted", "3"), "f.tsv")
        assert [[task.larger.text] for task in form.tasks] == [row[:1] for row in expected]
        assert [answer.text for answer in form.answers] == [row[1] for row in expected]
        judged = read_best_worst(self.table("item_1\titem_2\titem_3\tbest\tworst", "x", "1", "2"), "b.tsv")
        assert (judged.n_judgements, judged.issues) == (5, ())
        (tmp_path / "s.tsv").write_bytes(self.table("similarity\tnote\ttoken", "x").replace(b"anvil", b"0.5"))
        with pytest.raises(InputError, match="row 3"):
            read_similarities(tmp_path / "s.tsv")


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
