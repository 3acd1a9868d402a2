"""The cut audit: who is audited, what votes add, and whether the estimate is right in simulated campaigns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from bench.cut_audit import one_campaign
from core.ballots.audit import CutAudit, draw_audit, estimate_lost
from core.errors import InputError
from core.plan import Plan
from core.scores.bradley_terry import fit_with_voters
from core.scores.posterior import Posteriors, item_posteriors
from core.simulation.campaign import simulate_campaign
from core.voters.model import exponential


def spread_posteriors(n: int) -> Posteriors:
    """n items whose scores fall from 4 to −4, each known up to a normal error of .7."""
    theta, knots = np.linspace(4, -4, n), np.linspace(-6, 6, 64)
    probability = np.exp(-0.5 * ((knots - theta[:, None]) / 0.7) ** 2)
    return Posteriors(knots, probability / probability.sum(axis=1, keepdims=True), theta)


def test_inclusion_is_what_is_told():
    """Frequencies of 4,000 draws against the probabilities told of each item: within 4.5 standard errors."""
    posteriors, cut, stay = spread_posteriors(40), np.arange(15, 40), np.arange(15)
    rng, draws = np.random.default_rng(5), 4000
    times, told = np.zeros(40), np.full(40, np.nan)
    for _ in range(draws):
        audit = draw_audit(posteriors, cut, stay, n_top=10, n_items=6, n_votes=4, rng=rng)
        assert len(audit.items) == 6
        times[audit.items] += 1
        told[audit.items] = audit.inclusion
    assert not np.isnan(told[cut]).any()  # every item can be chosen, the last too
    assert told[cut].sum() == pytest.approx(6)
    error = np.sqrt(told[cut] * (1 - told[cut]) / draws)
    assert (np.abs(times[cut] / draws - told[cut]) <= 4.5 * error + 1e-9).all()
    assert (np.diff(told[cut]) <= 1e-9).all()  # more of those near the cut


def test_opponents_stand_around_the_end_of_the_top():
    posteriors = spread_posteriors(40)
    rng = np.random.default_rng(1)
    audit = draw_audit(posteriors, [30, 31], np.arange(20)[::-1], n_top=10, n_items=5, n_votes=4, rng=rng)
    assert sorted(audit.items.tolist()) == [30, 31]  # no more than were cut
    assert audit.inclusion.tolist() == [1.0, 1.0]
    assert sorted(set(audit.pairs[:, 1].tolist())) == [8, 9, 10, 11]
    few = draw_audit(posteriors, [30], [0, 1], n_top=2, n_items=1, n_votes=4, rng=rng)
    assert sorted(few.pairs[:, 1].tolist()) == [0, 1]
    assert draw_audit(posteriors, [], [0], n_top=1, n_items=3, n_votes=4, rng=rng).pairs.shape == (0, 2)
    with pytest.raises(InputError):
        draw_audit(posteriors, [1], [], n_top=1, n_items=1, n_votes=1, rng=rng)


@pytest.fixture(scope="module")
def fitted():
    """Forty items, one ballot of 400 votes: the fit, its posteriors."""
    z = exponential(40)
    campaign = simulate_campaign(z, Plan(40, 1, 0.5, 20), protocol="paper", rng=np.random.default_rng(2))
    votes = campaign.held[0].votes
    fit = fit_with_voters(votes.first, votes.second, votes.outcome, n_items=40, voter=votes.voter)
    return fit, item_posteriors(fit)


def test_the_estimate_is_the_sum_over_items_by_hand(fitted):
    """Bayes' rule over the knots, item by item, in a loop."""
    fit, posteriors = fitted
    cut, item = np.arange(20, 40), np.array([22, 22, 30])
    opponent, outcome, voter = np.array([3, 4, 3]), np.array([1.0, 0.5, 0.0]), np.array([0, 7, -1])
    found = estimate_lost(
        fit, posteriors, cut, audited=[22, 30], inclusion=[0.5, 0.25], votes=(item, opponent, outcome, voter), n_top=5
    )
    p = posteriors.top_probability(5)
    after = posteriors.probability.copy()
    for i, j, y, v in zip(item, opponent, outcome, voter, strict=True):
        lapse, sharp = (fit.effects.lapse[v], fit.effects.sharpness[v]) if v >= 0 else (fit.lapse, 1.0)
        win = lapse + (1 - 2 * lapse) * expit(sharp * (posteriors.knots - fit.theta[j]))
        lose = lapse + (1 - 2 * lapse) * expit(sharp * (fit.theta[j] - posteriors.knots))
        after[i] = after[i] * win**y * lose ** (1 - y)
        after[i] /= after[i].sum()
    q = posteriors.top_probability(5, of=after)
    want = p[20:].sum() + (q[22] - p[22]) / 0.5 + (q[30] - p[30]) / 0.25
    assert found.lost == pytest.approx(max(want, 0.0))
    assert found.modelled == pytest.approx(p[20:].sum())
    assert (found.n_cut, found.n_audited, found.n_votes, found.points) == (20, 2, 3, 1.5)
    assert found.lower <= round(found.lost) <= found.upper
    assert CutAudit.of(found.stored()) == found
    assert CutAudit.of({"reason": "none"}) is None
    with pytest.raises(InputError):
        estimate_lost(fit, posteriors, [1], audited=[2], inclusion=[1], votes=([], [], [], []), n_top=5)


def test_votes_can_contradict_the_ballots(fitted):
    """An item of the middle that wins every audit vote against the top is counted; one that loses them isn't."""
    fit, posteriors = fitted
    order = np.argsort(-fit.theta).tolist()
    best, last = order[:12], order[20]
    assert posteriors.top_probability(10)[last] < 0.01
    found = []
    for outcome in (1.0, 0.0):
        votes = ([last] * 12, best, [outcome] * 12, [-1] * 12)
        audit = estimate_lost(fit, posteriors, [last], audited=[last], inclusion=[1.0], votes=votes, n_top=10)
        found.append(audit.lost)
    assert found[0] > 0.8
    assert found[1] < 1e-4


def test_in_expectation_over_the_choice_it_is_an_audit_of_all(fitted):
    """Whatever the ballots' votes say: 800 choices of 4 of 20 items, answered alike, against all 20 audited."""
    fit, posteriors = fitted
    order = np.argsort(-fit.theta)
    cut, stay = order[14:34], order[:14]
    rng = np.random.default_rng(9)
    wins = rng.random((40, 6)) < 0.7  # far more often than such items would

    def estimate(items, inclusion):
        opponents = stay[7:13]
        votes = (
            np.repeat(items, 6), np.tile(opponents, len(items)), wins[items].ravel().astype(float),
            np.full(6 * len(items), -1),
        )  # fmt: skip
        return estimate_lost(fit, posteriors, cut, audited=items, inclusion=inclusion, votes=votes, n_top=10).lost

    whole = estimate(cut, np.ones(20))
    some = []
    for _ in range(800):
        audit = draw_audit(posteriors, cut, stay, n_top=10, n_items=4, n_votes=6, rng=rng)
        some.append(estimate(audit.items, audit.inclusion))
    assert whole > estimate(np.empty(0, np.int64), []) + 0.05
    assert abs(np.mean(some) - whole) < 4 * np.std(some) / np.sqrt(len(some))


@pytest.mark.release
def test_small_campaigns_lose_what_the_audit_says():
    """100 campaigns of 60 items, three ballots to 15, by the paper's protocol; the top 10 loses .8 on average."""
    z, plan = exponential(60), Plan(60, 3, 0.5, 6)
    found = [one_campaign(z, plan, "paper", 4, 6, np.random.default_rng((31, s))) for s in range(100)]
    off = np.array([audit.lost - lost for audit, lost in found])
    assert np.mean([lost for _, lost in found]) > 0.5
    assert abs(off.mean()) < 3 * off.std(ddof=1) / np.sqrt(len(off))
