"""What a language model's answers say: by hand, and against simulated models whose lapse and sharpness are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.evaluation.figures import correlations
from core.evaluation.vote_intervals import Resampled
from core.judges.figures import (
    by_gap,
    judge_cost,
    judge_effects,
    order_effect,
    own_ranking,
    ranking_agreement,
)
from core.scores import BallotVotes
from core.scores.bradley_terry import fit_votes
from core.tables import MODEL_ANSWERS


def answers_of(rows: list[tuple[int, int, int, bool, float]]) -> pd.DataFrame:
    """question, first, second, flipped, value; NaN for no vote."""
    frame = pd.DataFrame(rows, columns=["question_id", "first", "second", "flipped", "value"])
    frame["reason"] = np.where(frame["value"].isna(), "words", "")
    texts = {name: "" for name, kind in MODEL_ANSWERS.columns.items() if kind == "text" and name != "reason"}
    numbers = {"attempt": 1, "prompt_tokens": 10.0, "answer_tokens": 1.0, "seconds": 0.1}
    return MODEL_ANSWERS.check(frame.assign(**texts, **numbers))


def test_flips_and_the_taste_for_a_place_by_hand():
    nan = float("nan")
    answers = answers_of(
        [
            (1, 0, 1, False, 1.0), (1, 0, 1, True, 1.0),  # no flip: A, then B
            (2, 0, 2, False, 1.0), (2, 0, 2, True, 0.0),  # a flip: A both times
            (3, 1, 2, False, 0.5), (3, 1, 2, True, 0.0),  # a tie in one order alone; A in the other
            (4, 1, 3, False, 1.0), (4, 1, 3, True, nan),  # one order has no vote
        ]
    )  # fmt: skip
    found = order_effect(answers)
    assert (found.flips.count, found.flips.total) == (2, 3)
    assert (found.chose_a.count, found.chose_a.total) == (5, 6)
    nothing = order_effect(answers_of([(1, 0, 1, False, nan)]))
    assert (nothing.flips.estimate, nothing.chose_a.estimate) == (None, None)
    assert nothing.flips.reason


def test_agreement_by_gap_by_hand():
    scores = np.array([0.9, 0.5, 0.4, np.nan, 0.5])
    answers = answers_of(
        [
            (1, 0, 1, False, 1.0), (1, 0, 1, True, 0.0),  # half right, a gap of .4
            (2, 2, 0, False, 0.0), (2, 2, 0, True, 0.5),  # ¾ right, a gap of .5
            (3, 0, 3, False, 1.0),  # no score
            (4, 1, 4, False, 1.0),  # level
        ]
    )  # fmt: skip
    items = np.arange(5)
    votes = BallotVotes(items, np.array([1, 0, 0]), np.array([0, 2, 2]), np.array([0.0, 1.0, 0.5]), np.array([0, 1, 2]))
    (row,) = by_gap(answers, scores, votes).to_dict("records")
    assert (row["comparisons"], row["votes"], row["shared"]) == (2, 3, 6)
    assert row["model"] == pytest.approx((0.5 + 0.75) / 2)
    assert row["people"] == pytest.approx((1 + 1 + 0.5) / 3)
    # Of (1): the vote is for item 0, the answers 0 and 1. Of (2): votes for 0 and a tie; answers for 0 and a tie.
    assert row["same"] == pytest.approx((1 + 2) / 6)
    assert (row["lower"], row["upper"]) == pytest.approx((0.4, 0.5))
    assert row["model lower"] < row["model"] < row["model upper"]
    alone = by_gap(answers, scores, None).to_dict("records")[0]
    assert alone["votes"] == 0
    assert np.isnan(alone["people"])
    assert by_gap(answers, np.full(5, np.nan), votes).empty


def test_gaps_fall_into_bins_of_equal_size():
    rng = np.random.default_rng(3)
    scores = rng.random(30)
    pairs = np.array([(i, j) for i in range(30) for j in range(i)])[rng.permutation(435)[:100]]
    better = scores[pairs[:, 0]] > scores[pairs[:, 1]]
    rows = [(n, int(i), int(j), False, float(up)) for n, ((i, j), up) in enumerate(zip(pairs, better, strict=True))]
    found = by_gap(answers_of(rows), scores, None)
    assert found["comparisons"].tolist() == [20] * 5
    assert found["model"].tolist() == [1.0] * 5
    assert (found["upper"][:-1].to_numpy() <= found["lower"][1:].to_numpy()).all()


def simulated(theta: np.ndarray, sharpness: float, lapse: float, n: int, seed: int, taste: float = 0.5) -> pd.DataFrame:
    """A model that guesses with probability 2ε, then A with probability `taste`, and else goes by the scores."""
    rng = np.random.default_rng(seed)
    rows = []
    for question in range(n):
        i, j = rng.choice(len(theta), 2, replace=False).tolist()
        for flipped in (False, True):
            if rng.random() < 2 * lapse:
                wins = float((rng.random() < taste) != flipped)
            else:
                wins = float(rng.random() < 1 / (1 + np.exp(-sharpness * (theta[i] - theta[j]))))
            rows.append((question, i, j, flipped, wins))
    return answers_of(rows)


@pytest.fixture(scope="module")
def people():
    """The fit of 40 simulated voters of 20 items, and θ."""
    rng = np.random.default_rng(8)
    theta = np.sort(rng.normal(size=20) * 1.5)
    pairs = np.array([rng.choice(20, 2, replace=False) for _ in range(4000)])
    wins = rng.random(4000) < 1 / (1 + np.exp(-(theta[pairs[:, 0]] - theta[pairs[:, 1]])))
    votes = BallotVotes(np.arange(20), pairs[:, 0], pairs[:, 1], wins.astype(float), np.arange(4000) % 40)
    return theta, fit_votes([votes])


def test_lapse_and_sharpness_are_those_that_a_model_has(people):
    theta, fitted = people
    careless = judge_effects(simulated(theta, 1.0, 0.2, 1500, 1, taste=0.9), fitted)
    sharp = judge_effects(simulated(theta, 1.6, 0.01, 1500, 2), fitted)
    unit = np.polyfit(theta, fitted.fit.theta, 1)[0]  # people's scores have a unit of their own
    assert careless.lapse.lower < 0.2 < careless.lapse.upper
    assert careless.side.lower < 0.9 < careless.side.upper
    assert careless.sharpness.lower < 1.1
    assert sharp.sharpness.lower < 1.6 / unit < sharp.sharpness.upper
    assert sharp.sharpness.lower > careless.sharpness.estimate
    assert sharp.lapse.upper < 0.06
    assert (sharp.n_comparisons, sharp.n_voters) == (1500, 40)
    assert sharp.people_sharpness.low < 1 < sharp.people_sharpness.high
    few = judge_effects(simulated(theta, 1.0, 0.0, 29, 1), fitted)
    assert few.lapse.estimate is None
    assert few.lapse.reason == "A fit needs votes on 30 comparisons, and there are 29."
    assert judge_effects(simulated(theta, 1, 0, 50, 1), None, "No votes.").sharpness.reason == "No votes."


def test_what_people_say_is_not_moved_by_the_model(people):
    theta, fitted = people
    before = fitted.fit.theta.copy(), fitted.fit.voter_lapse.copy()
    judge_effects(simulated(theta, 1.0, 0.2, 200, 1), fitted)
    assert np.array_equal(before[0], fitted.fit.theta)
    assert np.array_equal(before[1], fitted.fit.voter_lapse)


def test_its_own_ranking_against_peoples(people):
    theta, _ = people
    answers = simulated(theta, 0.7, 0.1, 150, 4)
    ranking = own_ranking(answers)
    assert ranking.n_votes == 300
    scores = np.append(theta, np.nan)  # the last item has no score
    expected = correlations(theta, ranking.score, n0=2.0, names=["rho_w", "tau_w"])
    found = ranking_agreement(answers, scores, None, n0=2.0, no_draws="None yet.")
    assert (found.rho_w.estimate, found.tau_w.estimate) == (expected.rho_w.estimate, expected.tau_w.estimate)
    assert (found.n_items, found.n_common, found.no_interval) == (20, 20, "None yet.")
    rng = np.random.default_rng(5)
    drawn = scores + rng.normal(scale=0.15, size=(40, 21))
    with_ends = ranking_agreement(answers, scores, Resampled(drawn, n_voters=6), n0=2.0)
    assert with_ends.rho_w.lower < with_ends.rho_w.corrected <= with_ends.rho_w.upper
    assert with_ends.rho_w.estimate == expected.rho_w.estimate
    apart = answers_of([(1, 0, 1, False, 1.0), (2, 2, 3, False, 1.0)])
    undefined = ranking_agreement(apart, scores, None, n0=2.0)
    assert undefined.rho_w.estimate is None
    assert "no ranking of its own" in undefined.rho_w.reason


def test_costs_by_hand():
    nan = float("nan")
    replies = pd.DataFrame({"prompt_tokens": [100.0, 100.0, nan], "answer_tokens": [2.0, 4.0, 1.0]})
    found = judge_cost(replies, (1.0, 10.0), 0.05, 2)
    assert (found.prompt_tokens, found.answer_tokens, found.n_counted, found.n_replies) == (200, 6, 2, 3)
    assert found.tokens_per_vote == 103
    assert found.money == pytest.approx((200 * 1 + 6 * 10) / 1e6)
    assert found.money_per_vote == pytest.approx(found.money / 2)
    assert judge_cost(replies, (1.0, None), 0.05, 2).money is None
    assert "wasn't said" in judge_cost(replies, (1.0, None), 0.05, 2).reason
    assert "doesn't tell" in judge_cost(replies.iloc[2:], (1.0, 1.0), None, 1).reason
    assert judge_cost(replies, (1.0, 1.0), None, 0).money_per_vote is None
