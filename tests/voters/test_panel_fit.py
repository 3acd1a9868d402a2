"""The fitted panel: its search against quadrature, its coverage of the truth, and what stays undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import dblquad

from core.base.estimates import share, widened_tails
from core.errors import InputError
from core.plan import Plan
from core.simulation import simulate_campaign
from core.voters.likelihood import Ranges, likeliest_ranges, log_marginal
from core.voters.model import Panel, Voters, answer, draw_panel, exponential, power_law
from core.voters.panel_fit import fit_panel, similarity_from_ranks


def votes_of(panel, *, n_items=120, n_votes=3000, seed=1, notion="relatedness", z=None):
    """Votes on random comparisons, dealt in turn, and z."""
    rng = np.random.default_rng([seed, 7])
    z = exponential(n_items) if z is None else z
    voters = panel if isinstance(panel, Voters) else draw_panel(panel, rng)
    first = rng.integers(len(z), size=n_votes)
    second = (first + rng.integers(1, len(z), size=n_votes)) % len(z)
    voter = np.resize(np.arange(len(voters)), n_votes)
    outcome = answer(z, first, second, voter, voters, seed=seed, rng=rng, notion=notion)
    return first, second, outcome, voter, z


def fitted(votes, seed=1, **settings):
    *given, z = votes
    settings = {"resamples": 60, "similarity": z, **settings}
    return fit_panel(given, rng=np.random.default_rng(seed), **settings)


# The search over ranges


def test_weights_are_means_of_the_interpolated_values():
    nodes = np.array([0.0, 0.1, 0.4, 1.0])
    values = np.array([2.0, 1.0, 5.0, 3.0])
    ranges = Ranges(np.array([0.0, 0.05, 0.2, 0.35, 0.4]), np.array([1.0, 0.3, 0.2, 0.36, 0.7]))
    fine = [np.linspace(low, high, 200_001) for low, high in zip(*ranges, strict=True)]
    expected = [np.interp(points, nodes, values).mean() for points in fine]
    np.testing.assert_allclose(ranges.weights(nodes) @ values, expected, rtol=1e-5)
    np.testing.assert_allclose(ranges.weights(nodes).sum(axis=1), 1, rtol=1e-12)


def bumps(centres, nodes, width=(0.03, 0.01)):
    """Voters whose likelihood is a bell about a centre, and its scale."""
    one, other = (np.exp(-(((n - c[:, None]) / w) ** 2) / 2) for n, c, w in zip(nodes, centres.T, width, strict=True))
    return one[:, :, None] * other[:, None, :], np.zeros(len(centres))


def test_marginal_likelihood_is_the_mean_over_the_ranges():
    nodes = np.linspace(0, 0.6, 121), np.linspace(0, 0.3, 121)
    centres = np.array([[0.1, 0.02], [0.3, 0.1]])
    likelihood, scale = bumps(centres, nodes)
    ranges = Ranges(np.array([0.05]), np.array([0.35])), Ranges(np.array([0.0]), np.array([0.12]))
    found = log_marginal(likelihood, scale + 2.0, nodes, ranges)[:, 0, 0]
    for value, (a, b) in zip(found, centres, strict=True):
        total, _ = dblquad(
            lambda y, x, a=a, b=b: math.exp(-(((x - a) / 0.03) ** 2) / 2 - ((y - b) / 0.01) ** 2 / 2),
            0.05,
            0.35,
            0,
            0.12,
        )
        assert value == pytest.approx(math.log(total / 0.3 / 0.12) + 2.0, abs=0.01)


def test_search_finds_what_a_dense_net_finds():
    rng = np.random.default_rng(4)
    nodes = np.concatenate(([0.0], np.geomspace(0.005, 1.5, 93))), np.linspace(0, 0.5, 101)
    centres = np.stack((rng.uniform(0.05, 0.25, 30), rng.uniform(0.02, 0.1, 30)), axis=1)
    likelihood, scale = bumps(centres, nodes)
    found = likeliest_ranges(likelihood, scale, nodes, np.ones((1, 30)))
    ends = np.linspace(0.01, 0.4, 79)
    dense = Ranges(*(part.ravel() for part in np.meshgrid(ends, ends)))
    dense = Ranges(dense.low[dense.low < dense.high], dense.high[dense.low < dense.high])
    best = log_marginal(likelihood, scale, nodes, (dense, found.oversight)).sum(axis=0).max()
    assert found.log_likelihood[0] > best - 0.1
    assert found.nonconformity.low[0] == pytest.approx(centres[:, 0].min(), abs=0.04)
    assert found.nonconformity.high[0] == pytest.approx(centres[:, 0].max(), abs=0.04)


# Votes


@pytest.mark.parametrize("notion", ["relatedness", "similarity"])
def test_a_panel_is_found_again(notion):
    panel = Panel(60, (0.05, 0.25), (0.02, 0.1))
    fit = fitted(votes_of(panel, n_votes=12_000, notion=notion), notion=notion)
    assert fit.nonconformity.mean.estimate == pytest.approx(0.15, abs=0.02)
    assert fit.nonconformity.width.estimate == pytest.approx(0.2, abs=0.06)
    assert fit.oversight.mean.estimate == pytest.approx(0.06, abs=0.015)
    assert fit.n_voters == 60
    assert fit.n_votes + fit.ties.count == 12_000
    drawn = fit.panel(10)
    assert drawn.n_voters == 10
    assert drawn.nonconformity == pytest.approx(fit.nonconformity.ends)
    assert fit.reason == ""


def test_doubled_nonconformity_is_seen():
    single, double = (
        fitted(votes_of(Panel(40, (0.02 * k, 0.2 * k)), n_votes=8000), resamples=50).nonconformity.mean for k in (1, 2)
    )
    assert double.estimate / single.estimate == pytest.approx(2, abs=0.3)
    assert double.lower > single.upper


@pytest.mark.release
@pytest.mark.release
def test_intervals_hold_the_truth():
    """A small version of `python -m bench.panel_coverage`: 16 campaigns × 4 figures at 90%."""
    panel, plan = Panel(40, (0.04, 0.24), (0.01, 0.09)), Plan(150, 4, 0.5, 30)
    truths = (0.14, 0.2, 0.05, 0.08)
    held = np.zeros((16, 4), dtype=bool)
    for seed in range(len(held)):
        rng = np.random.default_rng([seed, 3])
        campaign = simulate_campaign(exponential(150), plan, protocol="paper", rng=rng, panel=panel)
        names = ("first", "second", "outcome", "voter")
        votes = [np.concatenate([getattr(ballot.votes, name) for ballot in campaign.held]) for name in names]
        fit = fit_panel(votes, similarity=exponential(150), rng=rng, resamples=80)
        parts = fit.nonconformity.mean, fit.nonconformity.width, fit.oversight.mean, fit.oversight.width
        held[seed] = [part.lower <= truth <= part.upper for part, truth in zip(parts, truths, strict=True)]
    # 64 intervals at 90%: 57.6 expected, and were they independent 51 or fewer came about once in 200 times.
    assert held.sum() >= 52
    assert (held.sum(axis=0) >= 11).all()


def test_same_seed_same_fit_whatever_the_order_of_votes():
    first, second, outcome, voter, z = votes_of(Panel(12))
    fit = fitted((first, second, outcome, voter, z))
    again = fitted((first, second, outcome, voter, z))
    assert (fit.nonconformity, fit.oversight) == (again.nonconformity, again.oversight)
    order = np.argsort(voter, kind="stable")  # votes of a voter stay in order, voters don't
    other = fitted((second[order], first[order], 1 - outcome[order], voter[order] * 7 + 3, z))
    assert other.nonconformity.mean.estimate == pytest.approx(fit.nonconformity.mean.estimate)
    assert other.voters.tolist() == (fit.voters * 7 + 3).tolist()


def test_voters_are_told_apart():
    voters = Voters(np.repeat([0.03, 0.3], 10), np.tile([0.01, 0.2], 10))
    fit = fitted(votes_of(voters, n_votes=10_000))
    assert fit.voter_nonconformity[:10].max() < fit.voter_nonconformity[10:].min()
    assert fit.voter_oversight[0::2].mean() < 0.05 < 0.15 < fit.voter_oversight[1::2].mean()
    assert fit.guessers == ()


def test_guessers_are_named():
    kinds = np.where(np.arange(20) == 4, 1, 0)
    voters = Voters(np.full(20, 0.1), np.full(20, 0.02), kinds)
    assert fitted(votes_of(voters, n_votes=4000)).guessers == (4,)


def test_ties_and_items_without_similarity_are_left_out_and_counted():
    first, second, outcome, voter, z = votes_of(Panel(12), n_votes=3000)
    whole = fitted((first, second, outcome, voter, z))
    extra = np.full(100, 5), np.full(100, 6), np.full(100, 0.5), np.zeros(100, dtype=int)
    lost = np.zeros(30, dtype=int), np.full(30, len(z)), np.ones(30), np.zeros(30, dtype=int)
    more = [np.concatenate(parts) for parts in zip((first, second, outcome, voter), extra, lost, strict=True)]
    fit = fitted((*more, np.append(z, np.nan)))
    assert fit.nonconformity == whole.nonconformity
    assert (fit.ties.count, fit.ties.total, fit.n_unplaced) == (whole.ties.count + 100, 3130, 30)


# What stays undefined


def test_too_few_votes():
    fit = fitted(votes_of(Panel(5), n_votes=29))
    assert fit.nonconformity.mean.estimate is None
    assert "30 votes" in fit.reason
    assert fit.panel() is None
    assert np.isnan(fit.voter_oversight).all()


def test_all_ties():
    first, second, outcome, voter, z = votes_of(Panel(5), n_votes=500)
    fit = fitted((first, second, np.full(len(outcome), 0.5), voter, z))
    assert fit.panel() is None
    assert "there are 0" in fit.reason
    assert fit.ties.estimate == 1
    assert fit.n_voters == 0


def test_no_votes():
    fit = fit_panel(([], [], [], []), similarity=[0.1, 0.2], rng=np.random.default_rng(1))
    assert fit.panel() is None
    assert fit.ties.estimate is None


def test_one_voter_has_no_width_and_no_interval():
    fit = fitted(votes_of(Panel(1, (0.1, 0.1)), n_votes=2000))
    assert fit.nonconformity.mean.estimate == pytest.approx(0.1, abs=0.03)
    assert fit.nonconformity.mean.lower is None
    assert "at least 5 voters" in fit.nonconformity.mean.reason
    assert fit.nonconformity.width.estimate is None
    assert "One voter" in fit.nonconformity.width.reason
    low, high = fit.panel().nonconformity
    assert low == high


def test_few_votes_a_voter_have_no_width():
    fit = fitted(votes_of(Panel(40), n_votes=400))
    assert "the middle voter has 10" in fit.oversight.width.reason
    assert fit.oversight.mean.upper is not None


def test_tossed_coins():
    first, second, _, voter, z = votes_of(Panel(20), n_votes=2000)
    coins = np.random.default_rng(1).integers(2, size=2000).astype(float)
    fit = fitted((first, second, coins, voter, z))
    assert fit.panel() is None
    assert "tossed coins" in fit.reason


# Families


def test_similarity_from_ranks():
    scores = np.array([0.3, np.nan, 0.9, 0.1, 0.3])
    values = np.sort(power_law(4))[::-1]
    found = similarity_from_ranks(scores, "power_law")
    middle = (values[1] + values[2]) / 2
    np.testing.assert_allclose(found.z, [middle, np.nan, values[0], values[3], middle])
    assert found.family == "power_law"


def test_relatedness_takes_strengths_and_similarity_signs():
    strong = similarity_from_ranks(np.arange(50), "exponential").z
    signed = similarity_from_ranks(np.arange(50), "exponential", notion="similarity").z
    np.testing.assert_allclose(np.sort(strong), np.sort(np.abs(exponential(50))))
    np.testing.assert_allclose(np.sort(signed), np.sort(exponential(50)))
    assert (np.diff(strong) > 0).all()
    assert (np.diff(signed) > 0).all()


def test_the_family_decides_the_scale_of_nonconformity():
    first, second, outcome, voter, z = votes_of(Panel(40), n_votes=8000)
    known = fitted((first, second, outcome, voter, z))
    right, wrong = (
        fitted((first, second, outcome, voter, similarity_from_ranks(np.abs(z), family)))
        for family in ("exponential", "power_law")
    )
    assert right.nonconformity.mean.estimate == pytest.approx(known.nonconformity.mean.estimate, rel=1e-6)
    assert wrong.nonconformity.mean.estimate < 0.8 * known.nonconformity.mean.estimate
    assert "another family" in wrong.basis
    assert "given" in known.basis


# Errors, and the intervals' helpers


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"similarity": [[0.1, 0.2]]}, "one row"),
        ({"similarity": [0.1, 1.5]}, r"not in \[-1, 1\]"),
        ({"resamples": 10}, "50 resamples"),
        ({"level": 1.0}, "level"),
        ({"notion": "love"}, "notion"),
        ({"voter": [0]}, "voter's code"),
        ({"voter": [0.5, 1.5]}, "voter's code"),
        ({"second": [7, 1]}, "can't be scored"),
        ({"outcome": [0.2, 1]}, "can't be scored"),
    ],
)
def test_bad_input(change, message):
    given = {"first": [0, 0], "second": [1, 1], "outcome": [1, 0], "voter": [0, 1], "similarity": [0.1, 0.2], **change}
    votes = [given.pop(name) for name in ("first", "second", "outcome", "voter")]
    with pytest.raises(InputError, match=message):
        fit_panel(votes, **given, rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    ("scores", "family"), [([1, 2], "normal"), ([1, np.nan], "exponential"), ([[1, 2]], "exponential")]
)
def test_bad_ranks(scores, family):
    with pytest.raises(InputError):
        similarity_from_ranks(scores, family)


@pytest.mark.parametrize(("count", "total"), [(0, 20), (3, 20), (20, 20), (1, 1)])
def test_wilson_bounds_are_where_the_score_test_turns(count, total):
    found = share(count, total)
    p = count / total
    for bound, inside in ((found.lower, count == 0), (found.upper, count == total)):
        if inside:
            assert bound == p
        else:
            assert abs(p - bound) / math.sqrt(bound * (1 - bound) / total) == pytest.approx(1.644854, abs=1e-5)


def test_shares_of_nothing_are_undefined():
    assert share(0, 0).estimate is None
    assert share(0, 0).reason
    with pytest.raises(InputError):
        share(3, 2)


def test_few_units_have_wider_tails():
    assert widened_tails(10**6) == pytest.approx((0.05, 0.95), abs=1e-4)
    assert widened_tails(10)[0] == pytest.approx(0.0267, abs=0.0005)
