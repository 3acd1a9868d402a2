"""Rating sets read from files of every layout, what is wrong in them, and what they come to."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from core.cli.ratings import groups_command, ratings_command
from core.errors import InputError
from core.evaluation.baselines import longest_common_substring
from core.evaluation.rating_report import blocked_anova, factors_of, pair_order, report, stand
from core.questions.rating.files import read_ratings
from core.questions.rating.scales import CLSS, STSS
from core.questions.rating.statistics import alpha
from core.views.kinds import rating_sets as view

DATA = Path(__file__).parents[3] / "shared" / "data"
NAN = np.nan


def told(found):
    return [(issue.row, issue.message) for issue in found.issues]


class TestLong:
    TEXT = (
        "token_a;token_b;voter;rating;level;genre;condition;order\n"
        "ship;boat;anna;3,5;word;sea;calm;A\n"
        "ship;boat;ben;3;word;sea;calm;b\n"
        "sea;*salt*;anna;1;word;sea;calm;A\n"
    )

    def test_every_column_is_read(self):
        found = read_ratings(self.TEXT.encode("utf-16"), "long.csv", scale=STSS)
        assert found.items == ("ship – boat", "sea – *salt*")
        assert (found.people, found.level, found.genre) == (("anna", "ben"), ("word", "word"), ("sea", "sea"))
        assert np.array_equal(found.table, [[3.5, 1], [3, NAN]], equal_nan=True)
        assert (found.conditions, found.order) == (("calm",), ("A", "B", "A"))
        assert (found.issues, found.notes) == ((), ())

    @pytest.mark.parametrize(
        ("row", "what"),
        [
            ("sea;salt;ben;much;;;;", "is no number, so there is no rating"),
            ("sea;salt;ben;;;;;", "is no number, so there is no rating"),
            ("sea;salt;ben;4,5;;;;", "is outside the scale (0 to 4 in steps of 0.1)"),
            ("sea;salt;ben;4.5;;;;", "a point where the other numbers have a decimal comma"),
            ("sea;salt;ben;nan;;;;", "is no number, so there is no rating"),
            ("sea;;ben;2;;;;", "one of the two texts is empty"),
            ("sea;salt;;2;;;;", "says not whose rating it is"),
            ("sea;salt;ben;2;;;;C", "must be A or B"),
            ("ship;boat;anna;2;word;sea;calm;B", "anna rated this item already, in row 2, whose rating counts"),
            ("sea", "the row stops after 1 fields, and 2 are needed: the row is cut"),
        ],
    )
    def test_what_is_wrong_is_named_by_its_row(self, row, what):
        found = read_ratings((self.TEXT + row + "\n").encode(), "long.csv", scale=STSS)
        assert told(found) == [(5, what)]
        assert len(found.rating) == 3

    def test_a_person_in_two_conditions_is_told_and_averaged(self):
        text = self.TEXT + "ship;boat;anna;1,5;word;sea;storm;A\nsea;*salt*;anna;2;word;sea;storm;A\n"
        found = read_ratings(text.encode(), "long.csv")
        assert found.table[0].tolist() == [2.5, 1.5]
        assert found.under("storm").tolist() == [[1.5, 2.0]]
        assert "2 ratings are of an item that the same person rated in another condition" in found.notes[0]

    def test_same_texts_on_another_level_are_another_item(self):
        text = self.TEXT + "ship;boat;anna;1;phrase;sea;calm;A\n"
        assert read_ratings(text.encode(), "long.csv").n_items == 3


class TestWide:
    def test_blank_cells_are_no_ratings_and_other_columns_are_told(self):
        text = "Word 1,Word 2,Human (mean),1,2,POS\nlove,sex,6.5,6,7,N\ntiger,cat,8,,8,N\nold,new,,,,A\n"
        found = read_ratings(text.encode(), "wide.csv")
        assert np.array_equal(found.table, [[6, NAN, NAN], [7, 8, NAN]], equal_nan=True)
        assert np.array_equal(found.mean, [6.5, 8, NAN], equal_nan=True)
        assert told(found) == [(4, "has no rating; the item is kept")]
        assert found.notes == ("Columns that aren't read: POS.",)
        assert report(found).gap == 0

    def test_an_item_that_stands_twice_counts_once(self):
        text = "word1,word2,a,b\nmoney,cash,9,8\nx,y,1,2\nmoney,cash,7,7\n"
        found = read_ratings(text.encode(), "wide.csv")
        assert told(found) == [(4, "2 of 2 people rated this item already, in row 2, whose ratings count")]
        assert found.table[:, 0].tolist() == [9, 8]

    def test_people_of_one_name_stay_apart(self):
        assert read_ratings(b"word1,word2,p,p\na,b,1,2\nc,d,3,4\n", "w.csv").people == ("p (column 3)", "p (column 4)")


class TestMeans:
    def test_simlex(self):
        text = (
            "word1\tword2\tPOS\tSimLex999\tconc(w1)\tSD(SimLex)\nold\tnew\tA\t1.58\t2.72\t0.41\n"
            "smart\tintelligent\tA\t9.2\t1.75\t-1\nold\tnew\tA\t2\t2\t1\n"
        )
        found = read_ratings(text.encode(), "SimLex-999.txt")
        assert (found.mean.tolist(), found.has_people) == ([1.58, 9.2], False)
        assert np.array_equal(found.sd, [0.41, NAN], equal_nan=True)
        assert told(found) == [(3, "is no SD"), (4, "this item stands in an earlier row, whose score counts")]
        out = report(found)
        assert (out.noise.estimate, out.alpha, out.leave_one_out) == (0.41, out.leave_one_out, out.alpha)
        assert "means only" in out.alpha

    @pytest.mark.parametrize(
        "text",
        [
            'main-news\theadlines\t2013\t0001\t2.5\t"Yes," he said.\tHe said "yes" to it.\n'
            "main-captions\tMSRvid\t2012test\t0002\t5.000\tA plane takes off.\tA plane is taking off.\n",
            '2.5\t"Yes," he said.\tHe said "yes" to it.\n5.000\tA plane takes off.\tA plane is taking off.\n',
            '"Yes," he said.\tHe said "yes" to it.\t2.5\nA plane takes off.\tA plane is taking off.\t5.000\n',
            'score\tsentence1\tsentence2\n2.5\t"Yes," he said.\tHe said "yes" to it.\n'
            "5\tA plane takes off.\tA plane is taking off.\n",
        ],
    )
    def test_sentences_with_quotation_marks_and_without_a_header(self, text):
        found = read_ratings(text.encode(), "sts.tsv")
        assert found.first == ('"Yes," he said.', "A plane takes off.")
        assert found.second == ('He said "yes" to it.', "A plane is taking off.")
        row = 2 if text.startswith("score") else 1
        assert found.mean.tolist() == [2.5, 5.0]
        assert [str(issue) for issue in found.issues] == [
            f"quotation marks were read as letters: in row {row} one stands by itself, not in a pair around a cell"
        ]

    def test_numbers_of_an_item_are_no_people(self):
        text = "index\tgenre\tyear\told_index\tsentence1\tsentence2\tscore\n0\tnews\t2012\t1\ta b\tb c\t5\n"
        found = read_ratings((text + "1\tnews\t2013\t2\td\te\t1.5\n").encode(), "train.tsv")
        assert (found.people, found.mean.tolist(), found.genre) == ((), [5, 1.5], ("news", "news"))
        assert found.notes == ("Columns that aren't read: index, year, old_index.",)
        found = read_ratings(b"word1,word2,POS,rating\na,b,N,1\nc,d,V,2\n", "x.csv")
        assert (found.people, found.mean.tolist()) == ((), [1, 2])

    def test_rows_without_a_header_are_counted_from_one(self):
        assert told(read_ratings(b"1\tsea\tsalt\nx\tc\td\n2\te\tf\n", "sts.tsv"))[0][0] == 2


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a_pair,score\nx,1\n", "lacks the columns token_a, token_b"),
        ("word1,word2,voter\nx,y,anna\n", "none named rating"),
        ("word1,word2,POS\nx,y,N\n", "has no ratings"),
        ("word1,word2,score\nx,y,1\n", "1 items; two are needed"),
        ("word1,word2,score\nx,y,?\n", "0 items; two are needed.*found '\\?'"),
    ],
)
def test_files_that_are_no_rating_sets(text, what):
    with pytest.raises(InputError, match=what):
        read_ratings(text.encode(), "x.csv")


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(2, 6))
def test_long_and_wide_say_the_same(seed, n_people, n_items):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 17, (n_people, n_items)) / 4
    table[rng.random(table.shape) < 0.3] = NAN
    table[:, :2] = np.nan_to_num(table[:, :2])  # two items with ratings, by everybody
    wide = pd.DataFrame(table.T, columns=[f"p{i}" for i in range(n_people)])
    wide.insert(0, "word1", [f"a{i}" for i in range(n_items)])
    wide.insert(1, "word2", "b")
    if n_people == 1:
        wide["q"] = 1.0  # one column would be one of means
    long = wide.melt(["word1", "word2"], var_name="voter", value_name="rating").dropna()
    one = read_ratings(wide.to_csv(index=False).encode(), "wide.csv", scale=CLSS)
    other = read_ratings(long.to_csv(index=False, sep="\t").encode(), "long.tsv", scale=CLSS)
    place = [one.items.index(item) for item in other.items]
    rows = [one.people.index(person) for person in other.people]
    assert np.array_equal(one.table[np.ix_(rows, place)], other.table, equal_nan=True)
    assert len(other.rating) == len(long)


class TestReport:
    def campaign(self):
        """Four conditions, two orders; ratings drawn."""
        rng = np.random.default_rng(3)
        rows = []
        for number in range(8):
            for at, condition in enumerate(("single, none", "single, anchors", "sorted, none", "sorted, anchors")):
                for person in range(4):
                    value = np.clip(round(2 * (number / 4 + rng.normal(0, 0.4) + 0.1 * at)) / 2, 0, 4)
                    rows.append((f"a{number}", "b", f"{at}-{person}", value, condition, "AB"[person % 2]))
        return pd.DataFrame(rows, columns=["text1", "text2", "voter", "rating", "condition", "order"])

    def test_conditions_and_orders(self):
        frame = self.campaign()
        found = report(read_ratings(frame.to_csv(index=False).encode(), "c.csv", scale=STSS))
        assert found.factors == (("single", "sorted"), ("none", "anchors"))
        means = frame.groupby(["condition", "text1"])["rating"].mean().unstack()
        cells = [[means.loc[f"{a}, {b}"].to_numpy() for b in ("none", "anchors")] for a in ("single", "sorted")]
        assert found.anova == blocked_anova(cells)
        assert len(found.conditions) == 6
        item = frame[frame["text1"] == "a3"]
        sides = [item.loc[item["order"] == side, "rating"].to_numpy() for side in "AB"]
        assert found.order_tests[3] == pair_order(*sides)
        assert view.anova(found)["effect"].tolist() == [
            "sorted rather than single",
            "anchors rather than none",
            "both together",
        ]
        assert "24 degrees" not in view.anova_text(found)
        assert "21 degrees of freedom" in view.anova_text(found)
        assert len(view.orders(found)) == 8

    def test_conditions_that_cross_no_factors_say_what_is_needed(self):
        frame = self.campaign().replace({"condition": {"single, none": "plain"}})
        found = report(read_ratings(frame.to_csv(index=False).encode(), "c.csv"))
        assert "needs four conditions that cross two factors" in found.anova
        assert factors_of(["QO", "QW", "CO", "CW"]) == (("Q", "C"), ("O", "W"))
        assert factors_of(["a,b", "a,c", "d,b", "d,b"]) is None
        assert factors_of(["a,b", "a,c", "d,b", "d,e"]) is None

    def test_models_stand_with_the_floor(self):
        text = "text1,text2,score,level\nwarm coat,coat,4,p2w\nwinter storm,storm,3,p2w\nsea,idea,0,p2w\nx,y,1,w2w\n"
        found = read_ratings(text.encode(), "m.csv")
        standings = stand(found, found.mean, {"a model": np.array([0.9, 0.7, 0.1, NAN])})
        assert standings[0].model == "a model"
        (floor,) = [s for s in standings if s.model == "longest common substring"]
        overlap = [longest_common_substring(*pair) for pair in list(zip(found.first, found.second, strict=True))[:3]]
        assert floor.by_level["p2w"].pearson == pytest.approx(np.corrcoef(overlap, [4, 3, 0])[0, 1])
        table = view.models(standings)
        assert table["covered"][1] == "0 of 1"
        assert "3 are needed" in table["why undefined"][1]

    def test_a_model_called_like_a_baseline_stands_beside_it(self):
        text = "text1,text2,score\nwarm coat,coat,4\nwinter storm,storm,3\nsea,idea,0\n"
        found = read_ratings(text.encode(), "m.csv")
        name = "longest common substring"
        standings = {s.model: s for s in stand(found, found.mean, {name: np.array([0.0, 1.0, 2.0])})}
        assert set(standings) == {name, f"{name} (baseline)", "greedy string tiling"}
        assert standings[name].by_level["all"].pearson == pytest.approx(np.corrcoef([0, 1, 2], [4, 3, 0])[0, 1])


class TestAlpha:
    def test_the_interval_holds_the_estimate_where_some_items_have_many_more_ratings(self):
        rng = np.random.default_rng(6)
        truth = rng.random(120) * 6
        table = np.full((200, 120), NAN)
        for item in range(120):
            raters = np.arange(200) if item < 4 else rng.permutation(200)[:6]
            table[raters, item] = truth[item] + rng.normal(0, 1.5, len(raters))
        found = alpha(table)
        assert found.lower < found.alpha < found.upper

    def test_one_shared_item_has_no_interval(self):
        found = alpha([[1.0, 2.0], [2.0, NAN]])
        assert found.alpha == pytest.approx(0)  # the disagreement is all there is
        assert np.isnan(found.lower)

    def test_ratings_far_from_zero_lose_no_digits(self):
        table = np.array([[1.0, 2, 3, 4], [1.5, 2, 3.5, 4]])
        assert alpha(table + 1e6).alpha == pytest.approx(alpha(table).alpha, abs=1e-6)


def test_a_table_as_a_file_holds_no_formulas():
    table = pd.DataFrame({"first": ["=1+1", "-x", "a"], "mean": [-1.5, 0, 1]})
    assert view.as_csv(table).decode().splitlines() == ["first,mean", "'=1+1,-1.5", "'-x,0.0", "a,1.0"]


class TestCommands:
    def test_ratings(self, tmp_path):
        path = tmp_path / "wide.csv"
        path.write_text("word1,word2,a,b\nx,y,1,2\nz,y,3,3.05\nu,v,4,4\n")
        run = CliRunner().invoke(ratings_command, [str(path), "--json", "--scale", "STSS"])
        found = json.loads(run.output)
        assert (found["n_items"], found["n_people"], found["n_ratings"]) == (3, 2, 5)
        assert found["issues"] == ["row 3, column b: is outside the scale (0 to 4 in steps of 0.1) (found '3.05')"]
        assert found["leave_one_out"]["mean"] is None
        text = CliRunner().invoke(ratings_command, [str(path)]).output
        assert text.splitlines()[5].startswith("pairwise ρ ")
        assert "0.878 (" in text.splitlines()[6]  # α of x y 1 2, z y 3 3.05, u v 4 4
        assert text.splitlines()[7] == "to adjudicate    1 items, a point or more apart"

    def test_groups(self, tmp_path):
        groups, model = tmp_path / "groups.txt", tmp_path / "model.txt"
        groups.write_text(
            "singer\nmusician,0.90,person,0.10\nrandoms\nmusician,1.00,laptop,0.00\nmusician,1.00,x,0.00\n"
        )
        model.write_text("singer 1 0\nmusician 0.2 1\nperson 0.5 1\nlaptop 0 1\n")
        found = json.loads(CliRunner().invoke(groups_command, [str(groups), str(model), "--json"]).output)
        assert (found["n_groups"], found["n_comparisons"]) == (1, 3)
        overall = found["models"][0]["overall"]
        assert overall["value"] == pytest.approx(1 / 1.8)  # person nearer than musician: .8 lost
        assert (overall["n"], overall["n_missing"]) == (2, 1)
        text = CliRunner().invoke(groups_command, [str(groups), str(model)]).output
        assert "0.556" in text
        assert "there is no distractor comparison" in text


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data isn't here")
class TestRealSets:
    @pytest.mark.parametrize(("number", "n_people", "n_rows", "n_items"), [(1, 13, 153, 152), (2, 16, 200, 200)])
    def test_wordsim(self, number, n_people, n_rows, n_items):
        path = DATA / f"wordsim353_set{number}.csv"
        found = read_ratings(path.read_bytes(), path.name)
        assert (len(found.people), found.n_items) == (n_people, n_items)
        assert len(found.issues) == n_rows - n_items  # money – cash stands twice in set 1
        raw = pd.read_csv(path).drop_duplicates(["Word 1", "Word 2"])
        assert np.array_equal(found.table, raw.iloc[:, 3:].to_numpy(float).T)
        assert report(found).gap < 0.0051

    @pytest.mark.release
    def test_simverb(self):
        data = gzip.decompress((DATA / "simverb_ratings.csv.gz").read_bytes())
        found = read_ratings(data, "simverb.csv")
        assert (len(found.people), found.n_items, len(found.rating), found.issues) == (702, 3520, 49140, ())
        out = report(found)
        assert out.alpha.lower < out.alpha.alpha < out.alpha.upper
        assert out.alpha.alpha == pytest.approx(0.536, abs=5e-4)
