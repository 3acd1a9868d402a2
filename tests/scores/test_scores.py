"""Borda scores, rescaling and averaging, against values by hand and loops straight from the equations."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.scores import BallotVotes, borda, final_scores, rescale, score_campaign

VOTES = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.0, 0.5, 1.0])).filter(lambda v: v[0] != v[1]),
    min_size=1,
    max_size=40,
)


def columns(votes):
    first, second, outcome = zip(*votes, strict=True)
    return np.array(first), np.array(second), np.array(outcome)


def borda_by_counting(votes, items):
    scores = []
    for item in items:
        won = sum((outcome if a == item else 1 - outcome) for a, b, outcome in votes if item in (a, b))
        times = sum(item in (a, b) for a, b, _ in votes)
        scores.append(won / times if times else math.nan)
    return scores


def chain_by_loops(ballots):
    """Eqs. 1, 5, 6 item by item; ballots are (items, votes). Returns each ballot's y, b and means."""
    history, steps = {}, []
    for number, (items, votes) in enumerate(ballots):
        x = dict(zip(items, borda_by_counting(votes, items), strict=True))
        slope = 1.0
        if number > 0:
            known = [i for i in items if not math.isnan(x[i]) and history.get(i)]
            below = math.fsum((1 - x[i]) ** 2 for i in known)
            above = math.fsum((1 - x[i]) * (1 - np.mean(history[i])) for i in known)
            slope = above / below if below else math.nan
        y = {i: 1.0 if x[i] == 1 else 1 - slope + slope * x[i] for i in items}
        for i in items:
            if not math.isnan(y[i]):
                history.setdefault(i, []).append(y[i])
        means = [np.mean(history[i]) if history.get(i) else math.nan for i in items]
        steps.append(([y[i] for i in items], slope, means))
    return steps


class TestBorda:
    def test_by_hand(self):
        # 0 beats 1 and ties 2; 2 beats 1; nobody meets 3.
        scores = borda([0, 0, 1], [1, 2, 2], [1, 0.5, 0], n_items=4)
        np.testing.assert_array_equal(scores, [0.75, 0.0, 0.75, np.nan])

    @given(VOTES)
    def test_by_counting(self, votes):
        np.testing.assert_allclose(borda(*columns(votes), n_items=6), borda_by_counting(votes, range(6)), rtol=1e-14)

    @given(VOTES)
    def test_reversed_votes_reverse_scores(self, votes):
        first, second, outcome = columns(votes)
        scores = borda(first, second, outcome, n_items=6)
        np.testing.assert_allclose(borda(first, second, 1 - outcome, n_items=6), 1 - scores, rtol=1e-14)
        np.testing.assert_array_equal(borda(second, first, 1 - outcome, n_items=6), scores)

    @given(VOTES, st.permutations(range(6)))
    def test_relabelling_items_changes_nothing(self, votes, names):
        first, second, outcome = columns(votes)
        names = np.array(names)
        renamed = borda(names[first], names[second], outcome, n_items=6)
        np.testing.assert_array_equal(renamed[names], borda(first, second, outcome, n_items=6))

    def test_no_votes_no_score(self):
        np.testing.assert_array_equal(borda([], [], [], n_items=2), [np.nan, np.nan])

    def test_every_fault_is_reported(self):
        with pytest.raises(InputError) as caught:
            borda([0, 1, 9, -1, 2], [1, 1, 2, 0, 1], [1, 0, 0.5, 1, 0.7], n_items=3)
        text = " ".join(str(issue) for issue in caught.value.issues)
        for part in ("vote 1: an item can't", "vote 2: first", "vote 3: first", "vote 4: outcome", "'0.7'"):
            assert part in text
        assert str(caught.value).startswith("4 votes can't be scored.")

    def test_bad_shapes(self):
        with pytest.raises(InputError, match="equally long"):
            borda([0], [1, 2], [1], n_items=3)
        with pytest.raises(InputError, match="whole numbers"):
            borda([0.5], [1], [1], n_items=3)
        with pytest.raises(InputError, match="outcome"):
            borda([0], [1], [np.nan], n_items=3)

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("44-votes-disconnected.csv", [0.5, 0.5, 0.5, 0.5]),
            ("45-votes-undefeated.csv", [1.0, 0.25, 1 / 3]),
            ("47-votes-cycle.csv", [0.5, 0.5, 0.5]),
        ],
    )
    def test_shared_cases(self, cases, name, expected):
        votes = pd.read_csv(cases / name)
        scores = borda(votes["winner"], votes["loser"], np.ones(len(votes)), n_items=len(expected))
        np.testing.assert_allclose(scores, expected, rtol=1e-15)


class TestRescale:
    def test_by_hand(self):
        # Gaps of x: .5, 1; of the mean: .2, .4. b = (.5·.2 + 1·.4)/(.25 + 1) = .4; y = .6 + .4x.
        result = rescale([0.5, 0.0, 1.0], [0.8, 0.6, 1.0], [1, 2, 3])
        assert result.slope == pytest.approx(0.4)
        np.testing.assert_allclose(result.y, [0.8, 0.6, 1.0])
        np.testing.assert_allclose(result.mean, [0.8, 0.6, 1.0])
        assert result.count.tolist() == [2, 3, 4]

    def test_steep_is_flagged_and_not_clipped(self):
        # Gaps of x: .2, .8; of the mean: .5, 1. b = (.1 + .8)/(.04 + .64) = .9/.68.
        result = rescale([0.8, 0.2], [0.5, 0.0], 1)
        assert result.slope == pytest.approx(0.9 / 0.68)
        np.testing.assert_allclose(result.y, 1 - 0.9 / 0.68 * np.array([0.2, 0.8]))
        assert result.y[1] < 0

    def test_item_without_votes_keeps_mean_and_count_and_tells_no_slope(self):
        with_it = rescale([0.5, np.nan, 0.0], [0.8, 0.1, 0.6], [1, 4, 1])
        without = rescale([0.5, 0.0], [0.8, 0.6], [1, 1])
        assert with_it.slope == without.slope
        assert np.isnan(with_it.y[1])
        assert with_it.mean[1] == 0.1
        assert with_it.count.tolist() == [2, 4, 2]

    def test_item_without_a_mean_starts_with_its_y(self):
        result = rescale([0.5, 0.5], [0.75, np.nan], [2, 0])
        assert result.slope == 0.5
        assert result.mean.tolist() == [0.75, 0.75]
        assert result.count.tolist() == [3, 1]

    def test_all_one_has_no_slope_but_is_still_one(self):
        result = rescale([1.0, 1.0, np.nan], [0.5, 0.9, 0.4], [1, 1, 1])
        assert np.isnan(result.slope)
        np.testing.assert_array_equal(result.y, [1.0, 1.0, np.nan])
        np.testing.assert_allclose(result.mean, [0.75, 0.95, 0.4])

    def test_no_votes_at_all(self):
        result = rescale([np.nan, np.nan], [0.5, 0.9], [1, 1])
        assert np.isnan(result.slope)
        assert result.mean.tolist() == [0.5, 0.9]
        assert result.count.tolist() == [1, 1]

    def test_slope_is_the_least_squares_line_through_one_one(self):
        rng = np.random.default_rng(2)
        x, before = rng.random(40), rng.random(40)
        [expected], *_ = np.linalg.lstsq((1 - x)[:, None], 1 - before, rcond=None)
        assert rescale(x, before, 1).slope == pytest.approx(expected, rel=1e-12)

    def test_inputs_are_left_alone(self):
        x, before, count = np.array([0.5, np.nan]), np.array([0.5, 0.5]), np.array([1, 1])
        rescale(x, before, count)
        assert x[0] == 0.5
        assert before.tolist() == [0.5, 0.5]
        assert count.tolist() == [1, 1]

    def test_bad_input(self):
        with pytest.raises(InputError, match="shapes"):
            rescale([0.5], [0.5, 0.5], 1)
        with pytest.raises(InputError, match=r"\[0, 1\], found"):
            rescale([1.5], [0.5], 1)
        with pytest.raises(InputError, match="one entry for each of 2"):
            rescale([0.5, 0.5], [0.5, 0.5], [1, 1, 1])


def votes_of(items, votes):
    first, second, outcome = columns(votes) if votes else (np.empty(0, int), np.empty(0, int), np.empty(0))
    return BallotVotes(np.array(items), first, second, outcome, np.zeros(len(first), int))


class TestCampaign:
    def test_three_ballots_by_hand(self):
        first = votes_of([0, 1, 2, 3], [(0, 1, 1), (2, 3, 1), (0, 2, 0.5), (1, 3, 1)])
        second = votes_of([0, 2], [(0, 2, 1), (2, 0, 0.5)])
        scores = score_campaign([first, second], 5)
        np.testing.assert_allclose(scores[0].x, [0.75, 0.5, 0.75, 0.0])
        np.testing.assert_array_equal(scores[0].y, scores[0].x)
        assert scores[0].slope == 1.0
        # x = .75, .25; gaps .25, .75; means' gaps .25, .25: b = .25/.625 = .4; y = .9, .7.
        np.testing.assert_allclose(scores[1].x, [0.75, 0.25])
        assert scores[1].slope == pytest.approx(0.4)
        np.testing.assert_allclose(scores[1].y, [0.9, 0.7])
        np.testing.assert_allclose(scores[1].mean, [0.825, 0.725])
        assert scores[1].votes.tolist() == [2, 2]
        assert [entry.number for entry in scores] == [1, 2]
        final = final_scores(scores, 5)
        np.testing.assert_allclose(final.score, [0.825, 0.5, 0.725, 0.0, np.nan])
        assert final.ballots.tolist() == [2, 1, 2, 1, 0]
        assert final.votes.tolist() == [4, 2, 4, 2, 0]

    @given(st.data())
    def test_chain_equals_the_loops(self, data):
        items, ballots = list(range(7)), []
        for _ in range(data.draw(st.integers(1, 4))):
            pair = st.tuples(st.sampled_from(items), st.sampled_from(items)).filter(lambda p: p[0] != p[1])
            vote = st.tuples(pair, st.sampled_from([0.0, 0.5, 1.0])).map(lambda v: (*v[0], v[1]))
            ballots.append((items, data.draw(st.lists(vote, max_size=25))))
            kept = data.draw(st.lists(st.sampled_from(items), min_size=2, unique=True))
            items = kept
        scores = score_campaign([votes_of(*ballot) for ballot in ballots], 7)
        for ours, (y, slope, means) in zip(scores, chain_by_loops(ballots), strict=True):
            np.testing.assert_allclose(ours.y, y, rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(ours.slope, slope, rtol=1e-10)
            np.testing.assert_allclose(ours.mean, means, rtol=1e-10, atol=1e-12)

    def test_item_without_votes_in_the_first_ballot_is_missing_there(self):
        [scores] = score_campaign([votes_of([0, 1, 2], [(0, 1, 1)])], 3)
        np.testing.assert_array_equal(scores.mean, [1, 0, np.nan])
        assert scores.count.tolist() == [1, 1, 0]
        assert np.isnan(final_scores([scores], 3).score[2])

    def test_no_ballot(self):
        assert score_campaign([], 3) == ()
        assert np.isnan(final_scores([], 2).score).all()

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (([0, 1], [0], [2], [1], [0]), "can't be scored|not in the ballot"),
            (([0, 3], [0], [1], [1], [0]), "1 votes name items that are not in the ballot"),
            (([0, 1, 1], [0], [1], [1], [0]), "different positions"),
            (([0, -1], [0], [0], [1], [0]), "different positions"),
            (([0, 1], [0], [1], [1], []), "needs a voter"),
            (([0, 1], [0], [1], [1], [-1]), "needs a voter"),
            (([0, 1], [0], [1], [0.3], [0]), "outcome must be"),
        ],
    )
    def test_impossible_ballots(self, arguments, message):
        with pytest.raises(InputError, match=message):
            BallotVotes(*arguments)

    def test_item_beyond_the_project(self):
        with pytest.raises(InputError, match="has 3 items, but a ballot names position 4"):
            score_campaign([votes_of([0, 4], [(0, 4, 1)])], 3)
