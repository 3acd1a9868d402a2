"""Prediction-powered estimates: against ppi-python, by hand, and against campaigns whose truth is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from test_judge_figures import answers_of

from core.errors import InputError
from core.judges.prediction_powered import (
    JudgedComparisons,
    judged_comparisons,
    powered_mean,
    powered_scores,
    with_model,
)
from core.scores import BallotVotes
from core.scores.bradley_terry import fit_bradley_terry

# What ppi-python 0.2.3 says (reference/make_ppi.py).
PPI = json.loads((Path(__file__).parents[1] / "reference" / "ppi.json").read_text("utf-8"))


def comparisons() -> JudgedComparisons:
    votes, rest = np.array(PPI["votes"]), np.array(PPI["rest"])
    values = [np.array(PPI[name]) for name in ("outcome", "predicted", "rest_predicted")]
    return JudgedComparisons(4, votes[:, 0], votes[:, 1], values[0], values[1], rest[:, 0], rest[:, 1], values[2])


def test_scores_are_those_of_ppi_python():
    for weight, theta, lower, upper in PPI["logistic"]:
        found = powered_scores(comparisons(), ridge=0.0, weight=weight)
        assert found.powered[1:] - found.powered[0] == pytest.approx(theta, abs=2e-4), weight
        assert found.weight == weight
        # The package's items have θ of item 0 taken off; so do these, and its interval is ±1.645 of the same error.
        off = np.hstack((-np.ones((3, 1)), np.eye(3)))
        error = np.sqrt(np.diag(off @ found.covariance @ off.T))
        assert error * 2 * 1.6448536 == pytest.approx(np.subtract(upper, lower), rel=2e-3), weight


def test_means_are_those_of_ppi_python():
    values = [np.array(PPI[name]) for name in ("outcome", "predicted", "rest_predicted")]
    for weight, estimate, lower, upper in PPI["mean"]:
        found = powered_mean(*values, weight=weight)
        # λ has other denominators there: variances of votes and rest together.
        near = {"abs": 1e-12} if weight is not None else {"abs": 0.01}
        assert found.powered.estimate == pytest.approx(estimate, **near)
        wide = found.powered.upper - found.powered.lower
        assert wide == pytest.approx(upper - lower, rel=0.02)  # n − 1 here, n there


def test_a_mean_by_hand():
    values, rest = np.array([0.0, 1.0, 1.0, 1.0]), np.array([0.0, 0.0, 0.0, 1.0, 1.0])
    found = powered_mean(values, values, rest)
    # A model that is always right: the covariance is the variance, ¼/4 of the mean; of the rest .3/5.
    assert found.weight == pytest.approx(min(0.0625 / (0.0625 + 0.06), 5 / 9))
    assert found.powered.estimate == pytest.approx(0.75 + found.weight * (0.4 - 0.75))
    against = powered_mean(values, 1 - values, rest)
    assert (against.weight, against.powered) == (0.0, against.plain)
    alone = powered_mean(values, values, rest[:1])
    assert (alone.weight, alone.powered) == (0.0, alone.plain)
    by_voter = powered_mean(values, values, rest, voter=np.array([0, 1, 1, 1]))
    assert by_voter.plain.upper - by_voter.plain.lower > found.plain.upper - found.plain.lower
    with pytest.raises(InputError, match="voters needs"):
        powered_mean(values, values, rest, voter=np.zeros(4, dtype=np.int64))


def test_without_a_model_it_is_the_fit_of_votes():
    data = comparisons()
    fit = fit_bradley_terry(data.first, data.second, data.outcome, n_items=4, lapse=0.0, ridge=0.1)
    found = powered_scores(data, ridge=0.1, weight=0.0)
    assert found.powered == pytest.approx(fit.theta, abs=1e-5)
    assert found.plain == pytest.approx(fit.theta, abs=1e-5)
    nobody = np.empty(0, dtype=np.int64)
    all_voted = JudgedComparisons(4, data.first, data.second, data.outcome, data.predicted, nobody, nobody, np.empty(0))
    found = powered_scores(all_voted, ridge=0.1)
    assert (found.weight, found.powered.tolist()) == (0.0, found.plain.tolist())


def drawn(
    rng: np.random.Generator, theta: np.ndarray, model: np.ndarray | None, n: int, rest: int
) -> JudgedComparisons:
    """Votes of people with scores θ on pairs at random, and answers by the model's scores; or, without such, those that
    people would give, but for a tenth."""
    first = rng.integers(len(theta), size=n + rest)
    second = (first + rng.integers(1, len(theta), size=n + rest)) % len(theta)
    outcome = (rng.random(n + rest) < expit(theta[first] - theta[second])).astype(float)
    says = np.where(rng.random(n + rest) < 0.9, outcome, 1 - outcome)
    if model is not None:
        says = (model[first] > model[second]).astype(float)
    return JudgedComparisons(len(theta), first[:n], second[:n], outcome[:n], says[:n], first[n:], second[n:], says[n:])


def test_a_model_that_knows_people_helps_and_a_wrong_one_moves_nothing():
    theta = np.linspace(-1, 1, 5)
    models = {"good": None, "wrong": theta[[4, 1, 2, 3, 0]]}
    off, errors, weights = ({name: [] for name in (*models, "plain")} for _ in range(3))
    for seed in range(6):
        for name, model in models.items():
            found = powered_scores(drawn(np.random.default_rng(seed), theta, model, 120, 400), ridge=0.001)
            off[name].append(found.powered - theta)
            errors[name].append(found.powered_error.mean() / found.plain_error.mean())
            weights[name].append(found.weight)
        off["plain"].append(found.plain - theta)
    square = {name: float(np.mean(np.square(values))) for name, values in off.items()}
    assert square["good"] < 0.7 * square["plain"]
    assert square["wrong"] < 1.1 * square["plain"]
    assert np.mean(errors["good"]) < 0.8
    assert np.mean(weights["wrong"]) < 0.25 * np.mean(weights["good"])
    # Its top and bottom are exchanged, and people's aren't moved.
    mean = np.mean(off["wrong"], axis=0) - np.mean(off["plain"], axis=0)
    assert np.abs(mean).max() < 0.05


def test_votes_and_answers_side_by_side_by_hand():
    answers = answers_of(
        [
            (1, 5, 2, False, 1.0), (1, 5, 2, True, 0.0),  # orders that differ: ½
            (2, 2, 7, False, 1.0), (2, 2, 7, True, 1.0),
            (3, 7, 5, False, 1.0), (3, 7, 5, True, float("nan")),  # a refusal counts ½: ¾ for item 7
            (4, 2, 9, False, 1.0),  # item 9 has no vote
        ]
    )  # fmt: skip
    items = np.array([2, 5, 7, 9, 11])
    first, second = np.array([7, 5, 11]), np.array([2, 2, 2])
    votes = BallotVotes(items, first, second, np.array([1.0, 0.5, 0.0]), np.array([0, 1, 2]))
    data, found = judged_comparisons(answers, votes)
    assert found.tolist() == [2, 5, 7, 11]
    assert (data.first.tolist(), data.second.tolist()) == ([0, 0, 0], [2, 1, 3])
    assert data.outcome.tolist() == [0.0, 0.5, 1.0]
    np.testing.assert_array_equal(data.predicted, [1.0, 0.5, np.nan])
    assert (data.rest_first.tolist(), data.rest_second.tolist()) == ([1], [2])
    assert data.rest_predicted.tolist() == [0.25]
    told = with_model(answers, votes)
    assert (told.n_votes, told.n_both, told.n_rest, told.agreement) == (3, 2, 1, None)
    assert told.reason.endswith("there are 2 and 1.")
    assert with_model(answers, None).reason == "There are no votes of people yet."


def test_a_ballot_half_voted_on():
    rng = np.random.default_rng(8)
    theta = np.linspace(-2, 2, 20)
    pairs = np.array([(i, j) for i in range(20) for j in range(i)])
    pairs = pairs[rng.permutation(len(pairs))]
    says = (theta[pairs[:, 0]] + rng.normal(0, 0.5, len(pairs)) > theta[pairs[:, 1]]).astype(float)
    answers = answers_of(
        [
            (n, *pair, bool(way), value)
            for n, (pair, value) in enumerate(zip(pairs, says, strict=True))
            for way in (0, 1)
        ]
    )
    first, second = np.tile(pairs[:95], (3, 1)).T
    outcome = (rng.random(285) < expit(theta[first] - theta[second])).astype(float)
    votes = BallotVotes(np.arange(20), first, second, outcome, np.arange(285) % 9)
    found = with_model(answers, votes)
    assert (found.reason, found.n_votes, found.n_both, found.n_rest, found.n_voters) == ("", 285, 285, 95, 9)
    alike = float(np.mean(outcome == np.tile(says[:95], 3)))
    assert found.agreement.plain.estimate == pytest.approx(alike)
    assert found.scores["item"].tolist() == list(range(20))
    plain = fit_bradley_terry(first, second, outcome, n_items=20, lapse=0.0, ridge=0.1).theta
    assert found.scores["plain"].to_numpy() == pytest.approx(plain, abs=1e-4)
    # The model's answers follow from the pair alone, and what the scores explain they can't explain once more.
    assert 0 <= found.weight < 0.1
    assert found.error[1] == pytest.approx(found.error[0], rel=0.05)
    assert (found.scores["powered lower"] < found.scores["powered"]).all()
    # The rest of the ballot by another model: the votes' own estimate doesn't move.
    turned = with_model(answers.assign(value=1 - answers["value"]), votes)
    pd.testing.assert_series_equal(turned.scores["plain"], found.scores["plain"])
    once = BallotVotes(votes.items, first[:95], second[:95], outcome[:95], np.arange(95) % 9)
    found = with_model(answers, once)
    assert found.no_intervals == "θ has no intervals: they take 20 votes per item, and there are 9.5."
    assert (found.error, found.scores["powered lower"].isna().all()) == (None, True)
    assert found.scores["powered"].notna().all()
    few = BallotVotes(votes.items, first, second, outcome, np.arange(285) % 3)
    assert with_model(answers, few).reason == "An interval needs votes of at least 5 voters; found 3."
