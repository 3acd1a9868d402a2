"""The released code's conventions, each against loops written from their description."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core import metrics
from core.plan import Plan
from core.simulation import simulate_campaign
from core.simulation.conventions import (
    released_amplitude,
    released_decide,
    released_exponential,
    released_power_law,
    released_rankings,
)
from core.voters.model import Voters

PLAN = Plan(61, 5, 0.5, 10)


def rng(seed=0):
    return np.random.default_rng(seed)


def campaign(protocol="paper", seed=1, plan=PLAN, **options):
    z = released_exponential(plan.n_items)
    return simulate_campaign(z, plan, protocol=protocol, rng=rng(seed), convention="released", **options)


def first_appearance(votes):
    """The items of a ballot in the order in which they first stand in its pairs."""
    return list(dict.fromkeys(np.column_stack((votes.first, votes.second)).ravel().tolist()))


def scores_of(votes):
    """x of each item, as an ordered dict."""
    wins, times = {}, {}
    for a, b, outcome in zip(votes.first.tolist(), votes.second.tolist(), votes.outcome.tolist(), strict=True):
        for item, won in ((a, outcome == 1), (b, outcome == 0)):
            wins[item] = wins.get(item, 0) + won
            times[item] = times.get(item, 0) + 1
    return {item: wins[item] / times[item] for item in first_appearance(votes)}


def test_noise():
    z = np.linspace(-1, 1, 9)
    assert released_amplitude(z).tolist() == [value * (1 - value) for value in z.tolist()]


def test_distributions():
    np.testing.assert_allclose(released_exponential(4), [2 * math.exp(-i / 4) - 1 for i in range(4)], rtol=1e-15)
    np.testing.assert_allclose(released_power_law(4), [2 / (1 + i / 4) - 1 for i in range(4)], rtol=1e-15)


def test_equal_opinions_go_to_the_first_item():
    assert released_decide(np.array([0.9, 0.1, 0.5]), np.array([0.2, 0.4, 0.5]), np.zeros(3), rng()).tolist() == [
        1,
        0,
        1,
    ]
    assert released_decide(np.array([0.9, 0.1, 0.5]), np.array([0.2, 0.4, 0.5]), np.ones(3), rng()).tolist() == [
        0,
        1,
        0,
    ]
    held = released_decide(np.full(20_000, 0.5), np.full(20_000, 0.5), np.full(20_000, 0.3), rng())
    assert held.mean() == pytest.approx(0.7, abs=5 * math.sqrt(0.21 / 20_000))


@pytest.mark.parametrize("seed", range(4))
def test_scores_and_choice_of_items(seed):
    """Points 3 and 4: ballot 1 drops out at ballot 2; the top by x goes on, equal ones as they first appeared."""
    held = campaign(seed=seed)
    mean: dict[int, float] = {}
    chosen = list(range(61))
    for k, (ballot, scores) in enumerate(zip(held.held, held.ballots, strict=True), start=1):
        x = scores_of(ballot.votes)
        assert scores.items.tolist() == list(x)
        assert scores.x == pytest.approx(list(x.values()))
        assert set(x) == set(chosen)
        if k == 1:
            mean = dict(x)
        else:
            slope = sum((1 - x[i]) * (1 - mean[i]) for i in x) / sum((1 - x[i]) ** 2 for i in x)
            for i in x:
                mean[i] = ((k - 2) * mean[i] + 1 - slope + slope * x[i]) / (k - 1)
            assert scores.slope == pytest.approx(slope)
        assert scores.mean == pytest.approx([mean[i] for i in x])
        if k < PLAN.n_ballots:
            chosen = [i for i, _ in sorted(x.items(), key=lambda pair: pair[1], reverse=True)][: PLAN.sizes[k]]
    assert held.scores == pytest.approx([mean[i] for i in range(61)])


def test_nobody_gets_half_a_point():
    assert {outcome for ballot in campaign().held for outcome in ballot.votes.outcome.tolist()} == {0.0, 1.0}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("protocol", ["paper", "uniform"])
def test_the_accuracy_takes_item_numbers_for_ranks(protocol, seed):
    """Point 7, in plain Python: place i of the second vector is the number of the item at rank i."""
    held = campaign(protocol, seed)
    truth = np.abs(released_exponential(61)).tolist()
    by_truth = sorted(range(61), key=lambda item: (truth[item], item), reverse=True)
    a = [by_truth.index(item) + 1 for item in range(61)]
    scores = held.scores.tolist()
    appeared = first_appearance(held.held[0].votes)
    b = [item + 1 for item in sorted(appeared, key=lambda item: scores[item], reverse=True)]
    w = [1 / (p + 2) ** 2 + 1 / (q + 2) ** 2 for p, q in zip(a, b, strict=True)]
    mean_a = sum(v * p for v, p in zip(w, a, strict=True)) / sum(w)
    mean_b = sum(v * q for v, q in zip(w, b, strict=True)) / sum(w)
    top, over_a, over_b = (
        sum(v * p * q for v, p, q in zip(w, one, other, strict=True))
        for one, other in (
            ([p - mean_a for p in a], [q - mean_b for q in b]),
            ([p - mean_a for p in a], [p - mean_a for p in a]),
            ([q - mean_b for q in b], [q - mean_b for q in b]),
        )
    )
    pairs = [(i, j) for i in range(61) for j in range(61)]
    sign = [np.sign(a[j] - a[i]) * np.sign(b[j] - b[i]) for i, j in pairs]
    tau_w = sum(w[i] * w[j] * s for (i, j), s in zip(pairs, sign, strict=True))
    ours = held.accuracy()
    assert ours.rho_w == pytest.approx(top / math.sqrt(over_a * over_b))
    assert ours.tau_w == pytest.approx(tau_w / (sum(w) ** 2 - sum(v * v for v in w)))
    assert ours.rho == pytest.approx(metrics.spearman([-p for p in a], [-q for q in b]))
    assert ours.tau == pytest.approx(sum(sign) / (61 * 60))


def test_true_ties_go_to_the_higher_item_number():
    one, other = released_rankings(np.array([0.1, 0.3, 0.3]), np.array([0.5, 0.5, 0.9]), np.array([2, 0, 1]))
    assert (-one).tolist() == [3, 2, 1]
    assert (-other).tolist() == [3, 2, 1]  # items 2 and 1 tie, and 2 appeared first


def test_the_uniform_arm_rounds_its_appearances():
    plan = Plan(990, 7, 0.5, 20)
    uniform = campaign("uniform", plan=plan)
    assert uniform.n_comparisons == 19_800
    assert set(uniform.ballots[0].votes.tolist()) == {40}
    assert campaign("paper", plan=plan).n_comparisons == 19_660


def test_both_arms_share_the_same_voters():
    """Without oversight, a voter asked the same in both arms says the same."""
    voters = Voters(np.full(4, 0.2), np.zeros(4))
    said: dict[tuple[int, int, int], set[int]] = {}
    for protocol in ("paper", "uniform"):
        for ballot in campaign(protocol, panel=voters).held:
            for a, b, outcome, voter in zip(*(column.tolist() for column in ballot.votes[1:]), strict=True):
                said.setdefault((voter, *sorted((a, b))), set()).add(a if outcome else b)
    assert max(map(len, said.values())) == 1
