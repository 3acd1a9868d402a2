"""Target groups: the score by hand and by brute force, the authors' files, agreement."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from core.errors import InputError, UndefinedMetricError
from core.questions.order.groups import (
    GroupComparison,
    TargetGroup,
    by_definition,
    compared,
    from_orders,
    score_groups,
)
from core.questions.order.kind import groups_of, read_groups, write_groups
from core.questions.order.orders import agree, group_agreement

SINGER = TargetGroup("singer", ("musician", "performer", "artist", "person"), ("dancer", "song"), ("laptop",))
AG = Path(__file__).parents[3] / "shared" / "data" / "ag"  # the authors' files, which may not be copied
THE_PAPERS = """singer
person,0.1,musician,0.9
artist,0.8,person,0.2
musician,0.6,performer,0.4
distractors
musician,1.0,song,0.0
randoms
musician,1.0,laptop,0.0
"""


def by(table, *, missing=()):
    """A model that knows a similarity of each word to every target."""

    def similarity(targets, words):
        return np.array([np.nan if word in missing else table[word] for word in words])

    return similarity


def test_the_papers_table_1_by_hand():
    comparisons = read_groups(THE_PAPERS).comparisons
    assert comparisons[0] == GroupComparison("singer", "musician", "person", "positive", 0.9)
    sims = {"musician": 0.5, "performer": 0.6, "artist": 0.7, "person": 0.4, "song": 0.1, "laptop": 0.55}
    found = score_groups(comparisons, by(sims))
    # |s| = .8, .6, .2, 1, 1; wrong: musician before performer (.2), musician before laptop (1)
    assert found.overall.value == pytest.approx((0.8 + 0.6 + 1) / 3.6)
    assert found.positive.value == pytest.approx(1.4 / 1.6)
    assert (found.distractor.value, found.random.value) == (1, 0)
    assert (found.overall.n, found.positive.n) == (5, 3)
    # People: musician (.9 + .6)/2, artist .8, performer .4, person (.1 + .2)/2, then song and laptop tied
    gold = [0.75, 0.4, 0.8, 0.15, -1, -1]
    model = [sims[word] for word in ("musician", "performer", "artist", "person", "song", "laptop")]
    assert found.spearman == pytest.approx(spearmanr(gold, model).statistic)


def test_a_model_that_tells_nothing_apart_earns_nothing():
    comparisons = [compared("t", "a", "b", share) for share in (0.1, 0.9, 0.5)]
    assert all(comparison.r >= 0.5 for comparison in comparisons)
    found = score_groups(comparisons, by({"a": 0.3, "b": 0.3}))
    assert found.overall.value == 0
    assert found.spearman is None
    assert "no target" in found.reason


def test_a_positive_that_nobody_ordered_is_not_the_first():
    group = TargetGroup("t", ("a", "b", "c"), ("d",))
    similar = {"a": 0.9, "b": 0.5, "c": 0.1, "d": 0.3}
    found = score_groups(from_orders(group, [{"a": 1, "b": 2}]), by(similar))
    assert found.spearman == pytest.approx(1.0)  # a, b, d; of c people said nothing
    unordered = score_groups(by_definition(group), by(similar))
    assert unordered.spearman == pytest.approx(spearmanr([1, 1, 1, 0], list(similar.values())).statistic)


def test_where_people_are_divided_evenly_there_is_no_score():
    found = score_groups([compared("t", "a", "b", 0.5)], by({"a": 1, "b": 0}))
    assert (found.overall.value, found.positive.value, found.random.value) == (None, None, None)
    assert "evenly divided" in found.overall.reason
    assert found.random.reason == "there is no random comparison"


def test_missing_words_are_left_out_and_counted():
    comparisons = read_groups(THE_PAPERS).comparisons
    sims = dict.fromkeys(("musician", "performer", "artist", "person", "song", "laptop"), 0.1) | {"musician": 0.9}
    found = score_groups(comparisons, by(sims, missing={"laptop", "artist"}))
    assert (found.overall.n, found.overall.n_missing) == (3, 2)
    assert found.random.value is None
    assert found.random.reason == "the model knows the words of no random comparison"
    with pytest.raises(UndefinedMetricError):
        score_groups([], by({}))


def test_orders_become_shares():
    orders = [
        {"musician": 1, "performer": 2, "artist": 3, "person": 4},
        {"musician": 2, "performer": 1, "artist": 3},
        {"musician": 1, "performer": 1, "artist": 2, "person": 3},
    ]
    found = {frozenset((c.first, c.second)): c for c in from_orders(SINGER, orders)}
    both = found[frozenset(("musician", "performer"))]
    assert (both.first, both.r, both.n) == ("musician", 0.5, 3)  # won, lost and tied
    assert found[frozenset(("artist", "person"))].n == 2
    assert len(found) == 6 + 4 * 3
    assert all(c.r == 1 and c.n is None for c in by_definition(SINGER))
    with pytest.raises(InputError, match="song"):
        from_orders(SINGER, [{"song": 1}])


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(0, 2), st.integers(0, 2))
def test_the_score_is_the_papers_formula(seed, n_positives, n_distractors, n_randoms):
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(n_positives + n_distractors + n_randoms)]
    ends = np.cumsum([n_positives, n_distractors])
    group = TargetGroup("t", tuple(words[: ends[0]]), tuple(words[ends[0] : ends[1]]), tuple(words[ends[1] :]))
    orders = [dict(zip(group.positives, rng.integers(1, 4, n_positives).tolist(), strict=True)) for _ in range(4)]
    sims = dict(zip(words, rng.integers(0, 4, len(words)) / 4, strict=True))
    comparisons = from_orders(group, orders)
    if not comparisons:
        return
    top = bottom = 0.0
    for w1, w2 in permutations(words, 2):  # each two words twice: the formula's sums, halved below
        if w1 in group.positives and w2 in group.positives:
            r = np.mean([1.0 if o[w1] < o[w2] else 0.5 if o[w1] == o[w2] else 0.0 for o in orders])
        elif (w1 in group.positives) != (w2 in group.positives):
            r = 1.0 if w1 in group.positives else 0.0
        else:
            continue
        if r < 0.5:
            continue  # stored once, the preferred first
        s = (1 if sims[w1] > sims[w2] else -1) * (2 * r - 1)
        top, bottom = top + max(s, 0), bottom + abs(s)
    found = score_groups(comparisons, by(sims)).overall
    if bottom == 0:
        assert found.value is None
    else:
        assert found.value == pytest.approx(top / bottom)
        assert 0 <= found.value <= 1


class TestFiles:
    def test_they_read_back(self):
        comparisons = [compared("t", "a", "b", 1 / 3, 3), compared("t", "a", "c", 1.0), *by_definition(SINGER)]
        again = read_groups(write_groups(comparisons)).comparisons
        assert [(c.target, c.first, c.second, c.kind) for c in again] == [
            (c.target, c.first, c.second, c.kind) for c in comparisons
        ]
        assert [c.r for c in again] == pytest.approx([c.r for c in comparisons], abs=1e-11)

    def test_a_target_may_follow_at_once_and_repeats_are_told(self):
        text = "a\r\nb,1.00,c,0.00\r\nrandoms\r\nb,1.00,x,0.00\r\nd\r\ne,0.20,f,0.80\r\ne,0.20,f,0.80\r\n"
        found = read_groups(text)
        assert [(c.target, c.first, c.kind) for c in found.comparisons] == [
            ("a", "b", "positive"),
            ("a", "b", "random"),
            ("d", "f", "positive"),
        ]
        assert [(issue.row, issue.found) for issue in found.repeated] == [(7, "e,0.20,f,0.80")]
        assert [group.target for group in groups_of(found.comparisons)] == ["a", "d"]

    @pytest.mark.parametrize(
        ("line", "why"),
        [
            ("a,1.0,b", "four parts"),
            ("a,1.0,b,0.2", "add up to 1"),
            ("a,nan,b,0.2", "add up to 1"),
            ("a,x,b,0.2", "no number"),
            ("a,1.0,a,0.0", "two different words"),
            ("t,1.0,a,0.0", "two different words"),
            ("q,0.3,p,0.7", "says otherwise"),
        ],
    )
    def test_what_is_wrong_is_named_by_its_line(self, line, why):
        with pytest.raises(InputError, match=why) as told:
            read_groups(f"t\nq,0.7,p,0.3\n{line}\n")
        assert told.value.issues[0].row == 3

    def test_other_faults(self):
        with pytest.raises(InputError, match="before any target"):
            read_groups("a,1.0,b,0.0\n")
        with pytest.raises(InputError, match="by definition"):
            read_groups("t\nrandoms\na,0.9,b,0.1\n")
        with pytest.raises(InputError, match="no comparisons"):
            read_groups("t\n\n")
        with pytest.raises(InputError, match="more than once"):
            TargetGroup("t", ("a", "a"))
        with pytest.raises(InputError, match="no positive"):
            TargetGroup("t", ())

    @pytest.mark.skipif(not AG.is_dir(), reason="the authors' files aren't here")
    @pytest.mark.parametrize(
        ("name", "n_groups", "n_pairs", "n_comparisons"),
        [("basic-nn", 75, 476, 1063), ("cohyponyms-cat", 30, 207, 528), ("inflected-vb_inf", 41, 306, 446)],
    )
    def test_the_authors_hebrew_sets(self, name, n_groups, n_pairs, n_comparisons):
        found = read_groups((AG / f"{name}.txt").read_text("utf-8"))
        groups = groups_of(found.comparisons)
        assert (len(groups), sum(len(group.words) for group in groups)) == (n_groups, n_pairs)
        assert (len(found.comparisons), found.repeated) == (n_comparisons, ())

    @pytest.mark.skipif(not AG.is_dir(), reason="the authors' files aren't here")
    def test_a_model_on_the_hebrew_nouns_by_hand(self):
        """A model that goes by the length of a word: every line of the file worked out by itself."""
        text = (AG / "basic-nn.txt").read_text("utf-8")
        sums = {kind: [0.0, 0.0] for kind in ("positives", "distractors", "randoms")}
        kind = "positives"
        for line in text.splitlines():
            cells = line.strip().split(",")
            if len(cells) == 1:
                kind = cells[0] if cells[0] in sums else "positives"
                continue
            majority = float(cells[1]) - float(cells[3])  # 2R − 1 for the first word
            longer = len(cells[0]) - len(cells[2])
            sums[kind][0] += abs(majority) if majority * longer > 0 else 0
            sums[kind][1] += abs(majority)
        found = score_groups(
            read_groups(text).comparisons, lambda _, words: np.array([len(word) for word in words], dtype=float)
        )
        for figure, (top, bottom) in zip((found.positive, found.distractor, found.random), sums.values(), strict=True):
            assert figure.value == pytest.approx(top / bottom)
        total = np.sum(list(sums.values()), axis=0)
        assert found.overall.value == pytest.approx(total[0] / total[1])
        assert found.overall.n == 1063


class TestAgreement:
    def test_two_people_by_hand(self):
        one = {"a": {"x": 1, "y": 2, "z": 3}, "b": {"p": 1, "q": 2}, "c": {"r": 1}}
        other = {"a": {"x": 1, "y": 3, "z": 2}, "b": {"p": 2, "q": 1}, "c": {"r": 1}}
        assert agree(one, other) == pytest.approx((0.5 - 1) / 2)  # ρ = 1 − 6·2/24, and −1
        assert agree(one, {"d": {"u": 1, "v": 2}}) is None
        assert agree({"b": {"p": 1, "q": 1}}, other) is None  # all tied: undefined, not 0

    def test_who_stands_apart_is_proposed(self):
        usual = {"a": {"x": 1, "y": 2, "z": 3, "w": 4}}
        orders = {f"v{i}": usual for i in range(5)} | {"odd": {"a": {"x": 4, "y": 3, "z": 2, "w": 1}}}
        found = group_agreement(orders)
        assert found.proposed == ("odd",)
        assert found.n_pairs == 15
        assert found.mean == pytest.approx((10 - 5) / 15)
        of_people = np.array([(4 - 1) / 5] * 5 + [-1])
        assert [person.agreement for person in found.people] == pytest.approx(of_people)
        assert found.bound == pytest.approx(of_people.mean() - of_people.std(ddof=1))

    def test_who_lies_exactly_one_sd_under_the_mean_stays(self):
        """Agreements .5, .2 and −.1: the bound is −.1 but for the last bit of a float."""
        places = {"A": (1, 2, 3, 4), "B": (1, 4, 3, 2), "C": (2, 1, 3, 4)}
        found = group_agreement({who: {"t": dict(zip("wxyz", at, strict=True))} for who, at in places.items()})
        assert [person.agreement for person in found.people] == pytest.approx([0.5, -0.1, 0.2])
        assert found.bound == pytest.approx(-0.1)
        assert found.proposed == ()

    def test_nobody_in_common(self):
        with pytest.raises(UndefinedMetricError, match="No two people"):
            group_agreement({"v": {"a": {"x": 1, "y": 2}}, "w": {"b": {"x": 1, "y": 2}}})
        two = group_agreement({"v": {"a": {"x": 1, "y": 2}}, "w": {"a": {"x": 1, "y": 2}}})
        assert (two.bound, two.proposed) == (None, ())
