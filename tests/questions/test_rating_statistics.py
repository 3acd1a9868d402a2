"""Rating scales and what ratings come to: by hand, by brute force, and on WordSim's and SimVerb's people."""

from __future__ import annotations

import gzip
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.errors import InputError, UndefinedMetricError
from core.evaluation.rating_report import blocked_anova, compare_conditions, pair_order
from core.questions.rating.files import read_ratings
from core.questions.rating.scales import CLSS, STSS, Anchor, RatingScale, qualify
from core.questions.rating.statistics import (
    adjudicate,
    alpha,
    alpha_by_group,
    deviation_by_group,
    item_ratings,
    leave_one_out,
    pairwise,
)

DATA = Path(__file__).parents[3] / "shared" / "data"
NAN = np.nan


class TestScales:
    def test_the_two_that_are_ready(self):
        assert (len(STSS.values), STSS.values[23], STSS.allows(2.35)) == (41, 2.3, False)
        assert (len(CLSS.values), CLSS.allows(2.25), CLSS.allows(2.3)) == (17, True, False)
        assert STSS.describe(3.9) == STSS.anchors[3].text
        assert [anchor.value for anchor in CLSS.anchors] == [0, 1, 2, 3, 4]

    def test_a_rating_as_it_was_written(self):
        assert (STSS.read(" 2,3 "), STSS.read("0"), CLSS.read("3.75")) == (2.3, 0, 3.75)
        for text in ("4.1", "-0.1", "2.35", "", "two", "nan", "inf"):
            with pytest.raises(InputError, match=r"row 7.*0 to 4 in steps of 0\.1"):
                STSS.read(text, row=7)

    def test_scales_that_are_none(self):
        with pytest.raises(InputError, match="don't lead"):
            RatingScale("x", 0, 1, 0.3)
        with pytest.raises(InputError, match="lower end"):
            RatingScale("x", 1, 1, 0.5)
        with pytest.raises(InputError, match=r"anchor at 0\.5"):
            RatingScale("x", 0, 2, 1, (Anchor(0.5, "?"),))


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(2, 8))
def test_statistics_are_numpys_and_scipys(seed, n_people, n_items):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 17, (n_people, n_items)) / 4
    table[rng.random(table.shape) < 0.3] = NAN
    found, people = item_ratings(table), leave_one_out(table).people
    for item in range(n_items):
        given_ = table[~np.isnan(table[:, item]), item]
        assert found.n[item] == len(given_)
        assert found.mean[item] == pytest.approx(given_.mean() if len(given_) else NAN, nan_ok=True)
        assert found.sd[item] == pytest.approx(given_.std(ddof=1) if len(given_) > 1 else NAN, nan_ok=True)
    for row, person in enumerate(people):
        rest = pd.DataFrame(np.delete(table, row, axis=0)).mean()
        both = np.flatnonzero(~np.isnan(table[row]) & rest.notna().to_numpy())
        assert person.n_items == len(both)
        if person.r is None:
            few = len(both) < 3
            assert few or np.ptp(table[row, both]) == 0 or np.ptp(rest[both].round(12)) == 0
        else:
            assert person.r == pytest.approx(stats.pearsonr(table[row, both], rest[both]).statistic)


def test_nobody_to_compare_with():
    found = leave_one_out([[1.0, 2, 3]])
    assert (found.mean, found.best, found.worst) == (None, None, None)
    assert "3 are needed" in found.people[0].reason
    assert item_ratings([[1.0, 2, 3]]).noise.estimate is None
    assert "same for all" in leave_one_out([[1.0, 1, 1], [1, 2, 3]]).people[0].reason


class TestAdjudication:
    def test_a_point_apart_waits(self):
        found = adjudicate([[1, 2.0, 4, NAN], [1.75, 3.0, NAN, NAN], [1.5, 2.5, NAN, NAN]])
        assert found.waiting.tolist() == [1]
        assert found.final[[0, 2]].tolist() == pytest.approx([4.25 / 3, 4])
        assert np.isnan(found.final[[1, 3]]).all()

    def test_float_steps_make_no_point(self):
        assert adjudicate([[0.7, 0.3], [1.7, 1.2]]).waiting.tolist() == [0]  # 1.7 − .7 is .9999…

    def test_decisions(self):
        assert adjudicate([[0, 2.0], [4, 2.0]], {0: 3.0}).final.tolist() == [3, 2]
        with pytest.raises(InputError, match="no item 2"):
            adjudicate([[0, 2.0], [4, 2.0]], {2: 3.0})

    def test_qualification(self):
        gold = [0, 1, 2, 3, 4]
        assert qualify([1, 0, 3, 4, 3], gold).passed
        assert qualify([1, 0, 3, 4, 2.75], gold) == qualify([1, 0, 3, 4, NAN], gold)
        assert qualify([1, 0, 3, 4, 2.75], gold).n_within == 4
        with pytest.raises(InputError, match="4 ratings of 5"):
            qualify([1, 2, 3, 4], gold)


class TestConditions:
    def test_the_analysis_is_that_of_a_linear_model(self):
        rng = np.random.default_rng(5)
        items = rng.random(12) * 4
        means = items + np.array([[[0.0], [0.4]], [[0.1], [0.3]]]) + rng.normal(0, 0.2, (2, 2, 12))
        found = blocked_anova(means)
        # The same by least squares on 48 cells, each effect against the model without it.
        order, anchors, item = (a.ravel() for a in np.indices((2, 2, 12)))
        y = means.ravel()
        code = {"order": 2 * order - 1, "anchors": 2 * anchors - 1}
        code["interaction"] = code["order"] * code["anchors"]

        def rss(*effects):
            design = np.column_stack([np.eye(12)[item], *[code[name] for name in effects]])
            return np.sum((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2)

        full = rss(*code)
        assert found.df_error == 48 - 12 - 3
        for name in code:
            f = (rss(*[other for other in code if other != name]) - full) / (full / 33)
            effect = getattr(found, name)
            assert effect.f == pytest.approx(f)
            assert effect.p == pytest.approx(stats.f.sf(f, 1, 33))
        assert found.anchors.difference == pytest.approx(means[:, 1].mean() - means[:, 0].mean())
        assert found.bartlett_p is not None
        assert found.levene_p > 0.001

    def test_the_papers_p_follow_from_its_f_at_these_degrees_of_freedom(self):
        """O'Shea et al. (2013), section 4.3: F and p of order, anchors and both; 65 items in 4 conditions.

        Its Tables 3 to 5 can't be derived: they rest on single ratings, which aren't printed.
        """
        df = blocked_anova(np.random.default_rng(1).random((2, 2, 65))).df_error
        for f, p in ((7.49, 0.007), (63.67, 0.000), (3.22, 0.074)):
            assert round(float(stats.f.sf(f, 1, df)), 3) == p

    def test_items_that_a_condition_lacks_are_left_out(self):
        means = np.random.default_rng(1).random((2, 2, 5))
        means[0, 1, 3] = NAN
        found, without = blocked_anova(means), blocked_anova(np.delete(means, 3, axis=2))
        assert (found.n_items, found.n_left_out) == (4, 1)
        assert found.order == without.order
        with pytest.raises(UndefinedMetricError, match="no error term"):
            blocked_anova(np.arange(4.0).reshape(2, 2, 1) + np.arange(3.0))
        with pytest.raises(UndefinedMetricError, match="1 items"):
            blocked_anova(means[:, :, 3:])
        with pytest.raises(InputError, match="shape"):
            blocked_anova(means[0])

    def test_order_in_the_pair(self):
        one, other = [1, 2, 3, 2.5], [3, 3.5, 2, NAN, 4]
        found = pair_order(one, other)
        assert found.t_p == pytest.approx(stats.ttest_ind(one, [3, 3.5, 2, 4], equal_var=False).pvalue)
        assert found.mann_whitney_p == pytest.approx(stats.mannwhitneyu(one, [3, 3.5, 2, 4]).pvalue)
        assert found.difference == pytest.approx(2.125 - 3.125)
        zeros = pair_order([0, 0, 0], [0, 0.1, 0])
        assert (zeros.t_p, zeros.mann_whitney_p) == (None, None)
        assert "equal" in zeros.reason
        assert "fewer than two" in pair_order([1], [2, 3]).reason

    def test_conditions_side_by_side(self):
        rng = np.random.default_rng(2)
        truth = rng.random(20) * 4
        tables = {name: truth + rng.normal(0, sd, (6, 20)) for name, sd in (("quiet", 0.2), ("loud", 0.9))}
        (found,) = compare_conditions(tables)
        means, sds = zip(*[(t.mean(axis=0), t.std(axis=0, ddof=1)) for t in tables.values()], strict=True)
        assert found.r == pytest.approx(stats.pearsonr(*means).statistic)
        assert found.noise_p == pytest.approx(stats.ttest_ind(*sds, equal_var=False).pvalue)
        assert found.noise_one < found.noise_other
        assert found.noise_p < 0.001
        (flat,) = compare_conditions({"a": np.ones((2, 4)), "b": tables["quiet"][:, :4]})
        assert flat.r is None
        assert "same for all" in flat.reason
        with pytest.raises(InputError, match="same items"):
            compare_conditions({"a": np.ones((2, 4)), "b": np.ones((2, 3))})


def test_by_genre():
    table = np.array([[1, 2, 3, 4.0], [1, 2, 3, 1], [NAN, NAN, NAN, 2]])
    found = alpha_by_group(table, ["news", "news", "slang", "slang"])
    assert found["news"].alpha == 1
    assert found["slang"].alpha < 0.5
    assert "two items" in alpha_by_group(table, ["a", "b", "b", "b"])["a"]
    gaps = deviation_by_group([1, 2, NAN, 4], [0, 0, 1, NAN], ["x", "x", "x", "y"])
    assert (gaps["x"].mean, gaps["x"].median, gaps["x"].n) == (1.5, 1.5, 2)
    assert gaps["y"] is None


def pairwise_alpha(table):
    """Krippendorff's α for interval data, straight from its definition over pairs of ratings."""
    within = total = 0.0
    pooled = []
    for item in table.T:
        values = item[~np.isnan(item)]
        if len(values) > 1:
            within += np.sum((values[:, None] - values) ** 2) / (len(values) - 1)
            pooled.extend(values)
    n = len(pooled)
    total = 2 * n * np.sum((np.array(pooled) - np.mean(pooled)) ** 2)
    return 1 - (within / n) / (total / (n * (n - 1)))


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data isn't here")
class TestRealPeople:
    def wordsim(self, number):
        table = pd.read_csv(DATA / f"wordsim353_set{number}.csv")
        return table.iloc[:, 3:].to_numpy(dtype=float).T, table.iloc[:, 2].to_numpy(dtype=float)

    @pytest.mark.parametrize(("number", "n_people", "n_items"), [(1, 13, 153), (2, 16, 200)])
    def test_wordsim(self, number, n_people, n_items):
        table, published = self.wordsim(number)
        assert table.shape == (n_people, n_items)
        assert item_ratings(table).mean == pytest.approx(published, abs=0.006)
        rest = [np.corrcoef(row, np.delete(table, i, axis=0).mean(axis=0))[0, 1] for i, row in enumerate(table)]
        found = leave_one_out(table)
        assert (found.mean, found.best, found.worst) == pytest.approx((np.mean(rest), max(rest), min(rest)))
        assert alpha(table, resamples=20).alpha == pytest.approx(pairwise_alpha(table))

    @pytest.mark.parametrize(("number", "two", "rest"), [(1, 0.675, 0.794), (2, 0.559, 0.726)])
    def test_figures_in_the_docs(self, number, two, rest):
        """The table of docs/schemes.md; the two sets have one item twice, which counts once here."""
        read = read_ratings((DATA / f"wordsim353_set{number}.csv").read_bytes(), "wordsim.csv")
        assert pairwise(read.table).mean == pytest.approx(two, abs=0.0006)
        assert leave_one_out(read.table, ranked=True).mean == pytest.approx(rest, abs=0.0006)

    def test_simverbs_two_people_agree_less_than_published(self):
        """Notes on the paper quote .84 between two people and .86 with the mean of the others: not what these say."""
        read = read_ratings(gzip.decompress((DATA / "simverb_ratings.csv.gz").read_bytes()), "simverb.csv")
        rated = ~np.isnan(read.table)
        everybody = rated.sum(axis=0) > 600
        tranche = rated[:, np.flatnonzero(~everybody)[0]]  # the people who got the same 70 pairs
        assert pairwise(read.table, most=400).mean == pytest.approx(0.612, abs=0.03)
        assert pairwise(read.table[tranche]).mean < 0.8
        assert leave_one_out(read.table, ranked=True).mean == pytest.approx(0.753, abs=0.0006)

    def test_simverb(self):
        with gzip.open(DATA / "simverb_ratings.csv.gz", "rt", encoding="utf-8") as file:
            long = pd.read_csv(file)
        items = long["token_a"] + " " + long["token_b"]
        wide = long.assign(item=items).pivot_table(index="voter", columns="item", values="rating", sort=True)
        table = wide.to_numpy()
        found = leave_one_out(table)
        assert len(found.people) == 702
        someone = found.people[17]
        rest = np.nanmean(np.delete(table, 17, axis=0), axis=0)
        both = ~np.isnan(table[17]) & ~np.isnan(rest)
        assert someone.r == pytest.approx(stats.pearsonr(table[17, both], rest[both]).statistic)
        assert alpha(table, resamples=20).alpha == pytest.approx(pairwise_alpha(table))


def test_pairwise_agreement_is_the_mean_over_pairs_of_people():
    rng = np.random.default_rng(3)
    table = np.where(rng.random((7, 12)) < 0.3, np.nan, rng.integers(0, 5, (7, 12)).astype(float))
    found = []
    for a, b in combinations(range(7), 2):
        both = ~np.isnan(table[a]) & ~np.isnan(table[b])
        if both.sum() > 2 and np.ptp(table[a, both]) and np.ptp(table[b, both]):
            found.append(stats.spearmanr(table[a, both], table[b, both]).statistic)
    assert pairwise(table).mean == pytest.approx(np.mean(found))
    assert pairwise(table).n_pairs == len(found)
    assert pairwise(table, most=5).n_shared == 5
    assert pairwise([[1, 2, np.nan], [np.nan, 2, 3]]).reason == "no two people rated 3 items in common"
    ranked = leave_one_out(table, ranked=True).people[2]
    both = ~np.isnan(table[2]) & ~np.isnan(np.delete(table, 2, 0)).all(axis=0)
    rest = np.nanmean(np.delete(table, 2, 0), axis=0)[both]
    assert ranked.r == pytest.approx(stats.spearmanr(table[2, both], rest).statistic)
