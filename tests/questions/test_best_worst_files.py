"""Best–worst files: layouts, rows that can't be taken, and figures by other means."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from core.base.estimates import widened_tails
from core.errors import InputError
from core.questions.best_worst.files import is_best_worst, read_best_worst, report, write_tuples
from core.questions.best_worst.kind import draw_tuples

NRC = (
    b"Item1,Item2,Item3,Item4,BestItem,WorstItem,Annotator\nsea,ship,tax,law,sea,tax,W1\nsea,ship,tax,law,ship,law,W2\n"
)


def test_layouts_say_the_same():
    options = (
        b"participant;best;worst;option1;option2;option3;option4\n"
        b"W1;sea;tax;sea;ship;tax;law\nW2;2;4;sea;ship;tax;law\n"
    )
    own = (
        b"tuple,item_1,item_2,item_3,item_4,best,worst,voter\n"
        b"1,sea,ship,tax,law,sea,tax,W1\n1,sea,ship,tax,law,ship,law,W2\n"
    )
    first = read_best_worst(NRC, "nrc.csv")
    assert first.items == ("sea", "ship", "tax", "law")
    assert (first.answers.best.tolist(), first.answers.worst.tolist()) == ([0, 1], [2, 3])
    for data in (options, own):
        again = read_best_worst(data, "other.csv")
        assert (again.items, again.voters) == (first.items, first.voters)
        assert again.answers.best.tolist() == first.answers.best.tolist()
        assert is_best_worst(data.decode().splitlines()[0].split(";" if b";" in data else ","))
    assert read_best_worst(own, "own.csv").notes == ("Columns that aren't read: tuple.",)
    assert not is_best_worst(["word1", "word2", "score"])


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("sea,ship,tax,,sea,tax,W3", "an item is empty"),
        ("sea,ship,tax,sea,sea,tax,W3", "an item stands twice"),
        ("sea,ship,tax,law,sea,sea,W3", "the same item is named best and worst"),
        ("sea,ship,tax,law,boat,tax,W3", "the best is none of the items"),
        ("sea,ship,tax,law,sea,5,W3", "the worst is none of the items"),
        ("sea,ship,tax,law,sea,,W3", "the worst is missing"),
        ("sea,ship,tax,law,sea,tax,", "says not who judged"),
        ("law,ship,tax,sea,sea,tax,W1", "W1 judged these items already, in row 2, which counts"),
    ],
)
def test_a_row_that_cant_be_taken_is_told(row, why):
    found = read_best_worst(NRC + row.encode() + b"\n", "nrc.csv")
    (issue,) = found.issues
    assert (issue.row, issue.message) == (4, why)
    assert found.n_judgements == 2


def test_files_without_what_is_needed():
    with pytest.raises(InputError, match="lacks the columns best, worst"):
        read_best_worst(b"word1,word2\na,b\n", "x.csv")
    with pytest.raises(InputError, match="no judgement that can be used"):
        read_best_worst(NRC.splitlines()[0] + b"\n", "x.csv")


def test_drawn_tuples_come_back_filled_in():
    items = ["a, b", "=c", "d\u2013e", "זמר", "f", "g", "h", "i"]
    tuples = draw_tuples(range(8), 2, rng=np.random.default_rng(1))
    data = write_tuples(items, tuples)
    with pytest.raises(InputError):
        read_best_worst(data, "empty.csv")
    filled = data.decode().replace(",,,\n", ",1,2,me\n", 1).encode()
    found = read_best_worst(filled, "filled.csv")
    assert found.items == tuple(items[at] for at in tuples[0])
    assert found.notes == ("Columns that aren't read: tuple.", "Rows without an answer: 3.")


def judged(n_voters: int, seed: int, lapse: float = 0.0) -> bytes:
    """12 items in tuples, each judged by two voters in turn; whoever slips names other places."""
    rng = np.random.default_rng(seed)
    tuples = draw_tuples(range(12), 8, rng=rng)
    lines = ["item_1,item_2,item_3,item_4,best,worst,voter"]
    for number, row in enumerate(tuples.tolist()):
        for turn in range(2):
            order = sorted(row) if rng.random() >= lapse else rng.permutation(row).tolist()
            who = f"W{(2 * number + turn) % n_voters}"
            lines.append(",".join([*(f"i{at}" for at in row), f"i{order[0]}", f"i{order[-1]}", who]))
    return "\n".join(lines).encode() + b"\n"


@pytest.mark.release
def test_figures_by_other_means():
    read = read_best_worst(judged(6, 1, 0.3), "x.csv")
    found = report(read, splits=20)
    for at, item in enumerate(read.items):
        shown = best = worst = 0
        for row, b, w in zip(read.answers.shown, read.answers.best, read.answers.worst, strict=True):
            names = [read.items[n] for n in row]
            shown, best, worst = shown + (item in names), best + (names[b] == item), worst + (names[w] == item)
        assert (found.shown[at], found.best[at], found.worst[at]) == (shown, best, worst)
        assert found.counts.score[at] == pytest.approx((best - worst) / shown)
    number = [int(item[1:]) for item in read.items]
    assert stats.spearmanr(found.theta.score, number).statistic < -0.9  # i0 is best
    for scores in (found.counts, found.theta):
        assert (scores.lower <= scores.score).all()
        assert (scores.score <= scores.upper).all()
        assert scores.reason == ""
    assert report(read, splits=20).by_voter == found.by_voter


@pytest.mark.release
def test_voters_of_one_mind_are_reliable_and_clickers_are_not():
    same = report(read_best_worst(judged(6, 2), "x.csv"), splits=30)
    assert same.by_judgement.spearman > 0.95
    assert same.by_voter.spearman > 0.8
    guess = report(read_best_worst(judged(6, 2, 1.0), "x.csv"), splits=60)
    assert abs(guess.by_judgement.spearman) < 0.45
    assert guess.counts.upper.mean() - guess.counts.lower.mean() > same.counts.upper.mean() - same.counts.lower.mean()


def test_what_is_undefined_says_why():
    data = b"item_1,item_2,item_3,best,worst\na,b,c,a,c\nd,e,f,d,f\n"
    found = report(read_best_worst(data, "x.csv"), splits=5)
    assert "doesn't say who judged" in found.counts.reason
    assert found.by_judgement.reason == "every tuple was judged once"
    assert found.by_voter.reason == "the file doesn't say who judged"
    assert np.isnan(found.theta.score).all()
    assert "part" in found.theta.reason
    few = report(read_best_worst(NRC, "x.csv"), splits=5)
    assert few.counts.reason == "no interval: 2 voters, and 5 are needed"


def test_an_item_that_one_voter_judged_has_no_interval_of_no_width():
    lines = ["item_1,item_2,item_3,best,worst,voter", *(f"a,b,c,a,c,W{n}" for n in range(8)), "c,d,e,d,e,W0"]
    counts = report(read_best_worst("\n".join(lines).encode() + b"\n", "x.csv"), splits=2).counts
    assert counts.score.tolist()[3:] == [1, -1]
    assert np.isnan(counts.lower).tolist() == np.isnan(counts.upper).tolist() == [False, False, False, True, True]
    assert counts.reason == "no interval where too few voters judged an item"
    alone = [f"a{n},b{n},c{n},a{n},c{n},W{n}" for n in range(8)]  # nobody judged what another did
    counts = report(read_best_worst("\n".join([lines[0], *alone]).encode() + b"\n", "x.csv"), splits=2).counts
    assert np.isnan(counts.lower).all()
    assert counts.reason == "no interval where too few voters judged an item"


@pytest.mark.release
def test_voters_intervals_are_those_of_resampled_voters():
    """By drawing voters and counting anew, tails by the rule for few voters."""
    read = read_best_worst(judged(9, 3, 0.4), "x.csv")
    found = report(read, resamples=4000, splits=2)
    rng = np.random.default_rng(5)
    drawn = []
    for _ in range(4000):
        rows = np.concatenate([np.flatnonzero(read.voter == v) for v in rng.integers(0, 9, 9)])
        part = type(read.answers)(read.answers.shown[rows], read.answers.best[rows], read.answers.worst[rows])
        drawn.append(part.counts(12))
    lower, upper = np.nanquantile(drawn, widened_tails(9, 0.9), axis=0)
    assert found.counts.lower == pytest.approx(lower, abs=0.06)
    assert found.counts.upper == pytest.approx(upper, abs=0.06)
