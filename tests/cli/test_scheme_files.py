"""Files of other schemes on the command line: orders, gold, experts, cross-level models, two schemes, tuples."""

from __future__ import annotations

import contextlib
import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from core.__main__ import cli
from core.dataset.side_by_side import read_scored, side_by_side
from core.errors import InputError
from core.questions.best_worst.files import read_item_list
from core.questions.order.kind import groups_of, read_groups
from core.questions.order.orders import comparisons_of, group_agreement, read_orders, without
from core.questions.rating.files import crowd_minus_experts, qualify_people, read_ratings

GROUP_FILE = (
    "singer\nmusician,0.50,person,0.50\nartist,0.50,person,0.50\nartist,0.50,musician,0.50\ndistractors\n"
    "musician,1.00,song,0.00\nperson,1.00,song,0.00\nartist,1.00,song,0.00\n"
)
ORDERS = "target,voter,word,place\n" + "".join(
    f"singer,{voter},{word},{place}\n"
    for voter, places in {"A": (1, 2, 3), "B": (1, 2, 3), "C": (1, 3, 2), "D": (3, 2, 1)}.items()
    for word, place in zip(("musician", "artist", "person"), places, strict=True)
)


@pytest.fixture
def run(tmp_path):
    def invoke(*args: str, **files: str | bytes):
        for name, content in files.items():
            data = content if isinstance(content, bytes) else content.encode()
            (tmp_path / name).write_bytes(data)
        full = [str(tmp_path / arg[1:]) if arg.startswith("@") else arg for arg in args]
        found = CliRunner().invoke(cli, full)
        return found

    invoke.folder = tmp_path
    return invoke


class TestOrders:
    def test_shares_and_agreement_by_hand(self):
        """musician over artist: A, B, C of four; over person the same; artist over person: A, B, and D turns it."""
        read = read_orders(ORDERS.encode(), "orders.csv", groups_of(read_groups(GROUP_FILE).comparisons))
        found = group_agreement(read.orders)
        # ρ: AB 1, AC .5, AD −1, BC .5, BD −1, CD −.5
        assert found.mean == pytest.approx(-0.5 / 6)
        assert found.proposed == ("D",)  # means .1667 .1667 .1667 −.8333: SD .5, bound −.5833
        assert found.bound == pytest.approx(-0.5 / 6 - 0.5)
        shares = {(c.first, c.second): c.r for c in comparisons_of(read.orders) if c.kind == "positive"}
        assert shares == {("musician", "artist"): 0.75, ("musician", "person"): 0.75, ("artist", "person"): 0.5}
        left = comparisons_of(without(read.orders, ["D"]))
        assert {c.r for c in left} == {1.0, round(2 / 3, 12)}

    @pytest.mark.parametrize(
        ("row", "why"),
        [
            ("singer,E,singer,1", "the target itself can't be placed"),
            ("singer,A,artist,1", "A placed this word already, at 2, which counts"),
            ("singer,E,song,1", "is no positive of its target, and only positives are ordered"),
            ("dancer,E,song,1", "is the target of no group"),
            ("singer,E,artist,0", "a place is a number from 1 on"),
            ("singer,E,artist,first", "a place is a number from 1 on"),
            ("singer,,artist,1", "target, voter or word is empty"),
        ],
    )
    def test_a_row_that_cant_be_taken_is_told(self, row, why):
        found = read_orders((ORDERS + row + "\n").encode(), "o.csv", groups_of(read_groups(GROUP_FILE).comparisons))
        (issue,) = found.issues
        assert (issue.row, issue.message) == (14, why)

    def test_files_that_are_none(self):
        with pytest.raises(InputError, match=r"lacks the columns voter, place. Its columns are target, word"):
            read_orders(b"target,word\na,b\n", "x.csv")
        with pytest.raises(InputError, match="no order that can be used"):
            read_orders(b"target,voter,word,place\na,b,c,x\n", "x.csv")
        with pytest.raises(InputError, match="Nobody ordered two words"):
            comparisons_of(read_orders(b"target,voter,word,place\na,b,c,1\n", "x.csv").orders)

    def test_the_command_writes_groups_that_read_back(self, run):
        found = run(
            "group-orders", "@orders.csv", "--groups", "@groups.txt", "--leave-out-proposed", "--output", "@out.txt",
            **{"orders.csv": ORDERS, "groups.txt": GROUP_FILE},
        )  # fmt: skip
        assert found.exit_code == 0, found.output
        assert "Proposed for exclusion: D." in found.output
        assert "Without D: mean ρ 0.667." in found.output
        back = read_groups((run.folder / "out.txt").read_text(encoding="utf-8")).comparisons
        assert sum(c.kind == "distractor" for c in back) == 3
        assert sorted(c.r for c in back if c.kind == "positive") == pytest.approx([2 / 3, 1, 1])
        as_json = json.loads(run("group-orders", "@orders.csv", "--leave-out", "A", "--json").output)
        assert as_json["left_out"] == ["A"]
        assert as_json["agreement"]["proposed"] == ["D"]
        assert run("group-orders", "@orders.csv", "--leave-out", "Z").exit_code != 0


WIDE = "text_a,text_b,genre,ann,ben\nsea,ship,news,4,2\ntax,law,news,1,1\ncat,dog,slang,3,0\nsun,moon,slang,2,2\n"
GOLD = "word1,word2,score\nship,sea,4\ntax,law,1\ncat,dog,3\n"


class TestGoldAndExperts:
    def test_who_qualifies(self, run):
        found = qualify_people(read_ratings(WIDE.encode(), "w.csv"), read_ratings(GOLD.encode(), "g.csv"))
        assert [(one.voter, one.result.n_within, one.result.passed) for one in found] == [
            ("ann", 3, True),
            ("ben", 1, False),
        ]
        said = run("ratings", "@w.csv", "--gold", "@g.csv", "--tolerance", "3", **{"w.csv": WIDE, "g.csv": GOLD})
        assert "2 of 2 people rated every gold pair within ±3" in said.output
        with pytest.raises(InputError, match="No item of"):
            qualify_people(read_ratings(WIDE.encode(), "w"), read_ratings(b"word1,word2,score\na,b,1\nc,d,2\n", "g"))
        with pytest.raises(InputError, match="nobody can be qualified"):
            qualify_people(read_ratings(GOLD.encode(), "g"), read_ratings(GOLD.encode(), "g"))

    def test_a_pair_left_out_is_not_near(self):
        gap = WIDE.replace("sea,ship,news,4,2", "sea,ship,news,,2")
        found = qualify_people(read_ratings(gap.encode(), "w.csv"), read_ratings(GOLD.encode(), "g.csv"))
        (ann,) = (one for one in found if one.voter == "ann")
        assert (ann.missing, ann.result.passed) == (1, False)

    def test_crowd_minus_experts(self, run):
        """News: 3 − 4 and 1 − 1; slang: 1.5 − 3, and an item that experts have not."""
        found = crowd_minus_experts(read_ratings(WIDE.encode(), "w.csv"), read_ratings(GOLD.encode(), "g.csv"))
        assert [(name, one.mean, one.n) for name, one in found.items()] == [
            ("all", pytest.approx(-2.5 / 3), 3),
            ("news", -0.5, 2),
            ("slang", -1.5, 1),
        ]
        out = run("ratings", "@w.csv", "--experts", "@g.csv", "--json", **{"w.csv": WIDE, "g.csv": GOLD}).output
        assert json.loads(out)["crowd_minus_experts"]["slang"]["median"] == -1.5


def cross_level() -> str:
    lines = ["level\tgenre\ttext_a\ttext_b\tscore"]
    for level in ("sentence to phrase", "phrase to word"):
        for genre in ("news", "slang"):
            for n in range(5):
                lines.append(f"{level}\t{genre}\tw{n} {genre} {level[:2]}\tv{n}{genre}{level[:2]}\t{n}")
    return "\n".join(lines) + "\n"


def table_of(sign: dict[str, float], texts: str) -> str:
    """A table of similarities: right in the genres of sign 1, turned round in those of −1."""
    rows = ["token_a,token_b,similarity"]
    for line in texts.splitlines()[1:]:
        _, genre, first, second, score = line.split("\t")
        rows.append(f"{first},{second},{sign[genre] * int(score) / 10}")
    return "\n".join(rows) + "\n"


class TestCrossLevel:
    def test_models_by_the_sum_over_levels_with_genres_and_held_out_ones(self, run):
        texts = cross_level()
        files = {
            "clss.tsv": texts,
            "good.csv": table_of({"news": 1, "slang": 1}, texts),
            "half.csv": table_of({"news": 1, "slang": -1}, texts),
        }
        args = ("ratings", "@clss.tsv", "@half.csv", "@good.csv", "--held-out", "slang")
        found = run(*args, "--json", **files)
        assert found.exit_code == 0, found.output
        models = json.loads(found.output)["models"]
        assert models[0]["model"].endswith("good.csv")
        good, half = (next(m for m in models if m["model"].endswith(name)) for name in ("good.csv", "half.csv"))
        assert (good["sum_pearson"], good["sum_spearman"]) == pytest.approx((2.0, 2.0))
        # per level: scores 0…4 twice against ±score; r² by hand below
        x, y = np.array([*range(5), *range(5)]), np.array([*range(5), *(-n for n in range(5))])
        assert half["sum_pearson"] == pytest.approx(2 * np.corrcoef(x, y)[0, 1], abs=1e-9)
        assert (half["held_out"]["pearson"], half["held_out"]["n"]) == (pytest.approx(-1), 10)
        by_genre = {(g["level"], g["genre"]): g["pearson"] for g in half["genres"]}
        assert by_genre["phrase to word", "news"] == pytest.approx(1)
        assert by_genre["phrase to word", "slang"] == pytest.approx(-1)
        shown = run(*args).output
        assert "r held out" in shown
        assert "string tiling" in shown.casefold()


class TestTwoSchemes:
    VOTES = (
        "area,token_a,token_b,score,rank\nsea,sea,ship,0.9,1\nsea,tax,law,0.5,2\nsea,cat,dog,0.1,3\nsea,a,b,0.05,4\n"
    )

    def test_a_dataset_against_ratings(self, run):
        found = run("compare-schemes", "@v.csv", "@w.csv", "--json", **{"v.csv": self.VOTES, "w.csv": WIDE})
        assert found.exit_code == 0, found.output
        said = json.loads(found.output)
        # ranks by votes: sea 1, tax 2, cat 3; by mean rating 3, 1, 1.5: sea 1, tax 3, cat 2
        assert said["figures"]["rho"]["estimate"] == 0.5
        assert {row["item"]: row["gap"] for row in said["items"]} == {
            "sea – ship": 0, "tax – law": 1, "cat – dog": -1,
        }  # fmt: skip
        assert (said["only_first"], said["only_second"]) == (["a – b"], ["sun – moon"])
        shown = run("compare-schemes", "@v.csv", "@w.csv").output
        assert "Spearman's ρ" in shown
        assert "+1" in shown

    def test_best_worst_against_a_dataset_in_either_order_of_the_tokens(self):
        rows = ["item_1,item_2,item_3,best,worst"]
        rows += ["sea – ship,tax – law,dog – cat,sea – ship,dog – cat"] * 2
        one = read_scored("\n".join(rows).encode() + b"\n", "bw.csv")
        other = read_scored(self.VOTES.encode(), "votes.csv")
        found, notes = side_by_side(one, other)
        assert one.scheme == "best–worst (Bradley–Terry)"
        assert (found.n, found.figures["rho"].estimate, notes) == (3, pytest.approx(1.0), ())

    def test_an_item_twice_in_one_file_is_told(self):
        twice = "word1,word2,score\nsea,ship,4\nship,sea,2\ntax,law,1\ncat,dog,0\n"
        one = read_scored(twice.encode(), "twice.csv")
        found, notes = side_by_side(one, read_scored(self.VOTES.encode(), "votes.csv"))
        assert found.table.set_index("item").loc["sea – ship", "one"] == 3
        assert notes == ("twice.csv: 1 rows are of an item that stands in it already; the mean counts.",)

    @given(st.binary(max_size=60))
    def test_any_bytes_are_read_or_refused(self, data):
        with contextlib.suppress(InputError):
            read_scored(data, "x.csv")


class TestTuples:
    @pytest.mark.release
    def test_drawn_filled_in_read_and_drawn_further(self, run):
        items = "\n".join(f"i{n:02}" for n in range(12)) + "\n"
        args = ("draw-tuples", "@items.txt", "--output", "@tuples.csv", "--appearances", "6")
        found = run(*args, "--json", **{"items.txt": items})
        assert json.loads(found.output)["n_tuples"] == 18
        first = (run.folder / "tuples.csv").read_bytes()
        run(*args)
        assert (run.folder / "tuples.csv").read_bytes() == first
        lines = first.decode().splitlines()
        filled = [lines[0]]
        for number, line in enumerate(lines[1:]):
            cells = line.split(",")
            shown = sorted(cells[1:5])
            filled.append(",".join([*cells[:5], shown[0], shown[-1], f"W{number % 6}"]))
        answers = {"answers.csv": "\n".join(filled) + "\n"}
        scored = json.loads(run("best-worst", "@answers.csv", "--json", **answers).output)
        assert scored["items"][0]["item"] == "i00"
        assert scored["items"][0]["count_lower"] <= scored["items"][0]["count"]
        assert "Halves of the voters: Spearman's ρ" in run("best-worst", "@answers.csv").output
        more = run(
            "draw-tuples", "@items.txt", "--after", "@answers.csv", "--keep", "0.5", "--output", "@next.csv", "--json"
        )
        assert json.loads(more.output)["n_items"] == 6
        assert "i11" not in (run.folder / "next.csv").read_text(encoding="utf-8")
        # 12 · .375 is 4.5, which the plan's rule rounds up.
        some = run(
            "draw-tuples", "@items.txt", "--after", "@answers.csv", "--keep", "0.375", "--output", "@x", "--json"
        )
        assert json.loads(some.output)["n_items"] == 5

    def test_items_that_stand_twice(self):
        with pytest.raises(InputError, match="row 3"):
            read_item_list(b"sea\nship\nsea\n", "x.txt")
        with pytest.raises(InputError, match="two at least"):
            read_item_list(b"sea\n", "x.txt")
