"""Best–worst scaling: designs, counts, and the comparisons that a choice decides."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.questions.best_worst.kind import BestWorst, choose_extremes, draw_tuples
from core.questions.order.kind import put_in_order
from core.questions.rating.kind import rate
from core.simulation.equal_time import assign_in_turn


def meetings(tuples):
    return Counter(tuple(sorted(pair)) for row in tuples.tolist() for pair in combinations(row, 2))


class TestDesign:
    @settings(deadline=None, max_examples=60)
    @given(st.integers(2, 30), st.integers(1, 6), st.integers(2, 5), st.integers(0, 2**32 - 1))
    def test_every_item_equally_often_and_never_twice_in_a_tuple(self, n, appearances, size, seed):
        items = np.arange(n) * 3 + 1
        if size > n:
            with pytest.raises(InputError, match="can't be drawn"):
                draw_tuples(items, appearances, size=size, rng=np.random.default_rng(seed))
            return
        tuples = draw_tuples(items, appearances, size=size, rng=np.random.default_rng(seed))
        assert tuples.shape == (-(-n * appearances // size), size)
        times = Counter(tuples.ravel().tolist())
        assert set(times) == set(items.tolist())
        assert set(times.values()) <= {appearances, appearances + 1}
        if n >= 2 * size:
            assert all(len(set(row)) == size for row in tuples.tolist())
        again = draw_tuples(items, appearances, size=size, rng=np.random.default_rng(seed))
        assert (tuples == again).all()

    def test_no_two_items_meet_twice_where_there_are_pairs_enough(self):
        for n, appearances in ((45, 8), (100, 10), (990, 8)):
            tuples = draw_tuples(range(n), appearances, rng=np.random.default_rng(n))
            assert max(meetings(tuples).values()) == 1

    def test_pairs_that_met_before_are_kept_apart(self):
        first = draw_tuples(range(60), 4, rng=np.random.default_rng(1))
        met = list(meetings(first))
        second = draw_tuples(range(60), 4, rng=np.random.default_rng(2), met=met)
        assert not set(meetings(second)) & set(met)

    def test_an_order_brings_neighbours_together(self):
        score = np.arange(200.0)
        order = score + np.random.default_rng(1).normal(0, 4, (3, 200))
        near = draw_tuples(range(200), 3, rng=np.random.default_rng(2), order=order)
        far = draw_tuples(range(200), 3, rng=np.random.default_rng(2))
        assert np.ptp(near, axis=1).mean() < 30 < np.ptp(far, axis=1).mean()
        with pytest.raises(InputError, match="order must have"):
            draw_tuples(range(200), 3, rng=np.random.default_rng(2), order=score)


class TestAnswers:
    ANSWERS = BestWorst([[0, 1, 2, 3], [3, 2, 1, 4]], [0, 0], [3, 2])

    def test_counts_by_hand(self):
        # 0 best of one; 3 worst of one, best of one; 1 worst of one of two
        assert self.ANSWERS.counts(6)[:5].tolist() == [1, -0.5, 0, 0, 0]
        assert np.isnan(self.ANSWERS.counts(6)[5])

    def test_implied_comparisons_by_hand(self):
        winner, loser, source = self.ANSWERS.implied()
        found = set(zip(source.tolist(), winner.tolist(), loser.tolist(), strict=True))
        first = {(0, 0, 1), (0, 0, 2), (0, 0, 3), (0, 1, 3), (0, 2, 3)}
        second = {(1, 3, 2), (1, 3, 1), (1, 3, 4), (1, 2, 1), (1, 4, 1)}
        assert found == first | second
        assert len(winner) == 10

    def test_a_tuple_of_two_is_a_comparison(self):
        winner, loser, _ = BestWorst([[5, 6]], [1], [0]).implied()
        assert (winner.tolist(), loser.tolist()) == ([6], [5])

    def test_the_fit_ranks_as_the_voters_do(self):
        rng = np.random.default_rng(3)
        truth = np.linspace(0.05, 0.95, 24)
        tuples = draw_tuples(range(24), 10, rng=rng)
        best, worst = choose_extremes(truth[tuples], 0.02, rng)
        fit = BestWorst(tuples, best, worst).fit(24)
        assert np.corrcoef(np.argsort(np.argsort(fit.theta)), np.arange(24))[0, 1] > 0.97

    @pytest.mark.parametrize(
        ("shown", "best", "worst", "why"),
        [
            ([[0, 1, 2]], [0], [0], "the same item best and worst"),
            ([[0, 1, 2]], [3], [0], "best must be a place from 0 to 2"),
            ([[0, 1, 2]], [1, 2], [0], "best must be"),
            ([[0]], [0], [0], "at least two items"),
        ],
    )
    def test_what_is_wrong_is_told(self, shown, best, worst, why):
        with pytest.raises(InputError, match=why):
            BestWorst(shown, best, worst)


class TestSimulatedAnswers:
    def test_extremes_and_lapses(self):
        opinion = np.tile([0.1, 0.4, 0.2, 0.9], (20_000, 1))
        best, worst = choose_extremes(opinion, 0.1, np.random.default_rng(1))
        assert (best != worst).all()
        assert (best == 3).mean() == pytest.approx(0.9, abs=0.01)
        assert (worst == 0).mean() == pytest.approx(0.9, abs=0.01)
        slipped = best[best != 3]
        assert set(slipped.tolist()) == {1, 2}  # never the one that is the other extreme

    def test_equal_opinions_are_drawn(self):
        best, _ = choose_extremes(np.full((9_000, 3), 0.5), 0.0, np.random.default_rng(1))
        assert np.bincount(best) / 9_000 == pytest.approx([1 / 3] * 3, abs=0.02)

    def test_ratings(self):
        cuts = np.tile([0.25, 0.5, 0.75], (40_000, 1))
        found = rate(np.full(40_000, 0.6), 1.0, cuts, 0.2, np.random.default_rng(1))
        assert np.bincount(found) / 40_000 == pytest.approx([0.05, 0.05, 0.85, 0.05], abs=0.01)
        assert rate(np.array([0.6]), 2.0, cuts[:1], 0.0, np.random.default_rng(1)).tolist() == [1]  # .36

    def test_orders(self):
        opinion = np.tile([0.9, 0.1, 0.5], (20_000, 1))
        assert (put_in_order(opinion, 0.0, np.random.default_rng(1)) == [1, 3, 2]).all()
        slipped = put_in_order(opinion, 0.1, np.random.default_rng(1))
        assert (np.sort(slipped, axis=1) == [1, 2, 3]).all()
        assert (slipped[:, 0] == 1).mean() == pytest.approx(0.9, abs=0.01)

    def test_nobody_judges_an_item_twice_before_all_did(self):
        item = np.random.default_rng(1).permutation(np.repeat(np.arange(7), 9))
        voter = assign_in_turn(item, 9, 7, np.random.default_rng(2))
        for number in range(7):
            assert sorted(voter[item == number]) == list(range(9))
