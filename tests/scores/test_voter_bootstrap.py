"""Resampled voters against refits, and what follows from them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from core.errors import InputError
from core.metrics import spearman, weighted_spearman
from core.scores import fit_bradley_terry
from core.scores.reliability import noise_ceiling, split_half
from core.scores.uncertainty import resample_voters


def votes(n_items=30, n_votes=3000, n_voters=25, seed=2):
    rng = np.random.default_rng(seed)
    strength = np.linspace(4, -4, n_items)
    first = rng.integers(n_items, size=n_votes)
    second = (first + rng.integers(1, n_items, size=n_votes)) % n_items
    voter = np.arange(n_votes) % n_voters
    held = strength + rng.normal(0, 1, (n_voters, n_items))
    p = 0.03 + 0.94 / (1 + np.exp(held[voter, second] - held[voter, first]))
    return first, second, (rng.random(n_votes) < p).astype(float), voter


@pytest.mark.parametrize("with_voters", [False, True])
def test_resamples_are_where_refits_land(with_voters):
    first, second, outcome, voter = votes()
    extra = {"voter": voter} if with_voters else {}
    fit = fit_bradley_terry(first, second, outcome, n_items=30, ridge=0.1, **extra)
    found = resample_voters(fit, (first, second, outcome, voter), resamples=12, rng=np.random.default_rng(1))
    drawn = np.random.default_rng(1).multinomial(25, np.full(25, 1 / 25), size=12)
    for theta, times in zip(found.theta, drawn, strict=True):
        rows = np.repeat(np.arange(len(first)), times[voter])
        # Every copy of a voter is a voter of their own.
        copy = np.concatenate([np.arange(times[v]) for v in voter])
        code = np.unique(voter[rows] * 100 + copy, return_inverse=True)[1]
        again = {"voter": code} if with_voters else {}
        refit = fit_bradley_terry(first[rows], second[rows], outcome[rows], n_items=30, ridge=0.1, **again).theta
        moved, expected = theta - fit.theta, refit - fit.theta
        assert np.corrcoef(moved, expected)[0, 1] > (0.97 if with_voters else 0.999)
        assert np.abs(moved - expected).max() < (0.25 if with_voters else 0.01)


def test_scores_spread_over_resamples_as_they_do_over_panels():
    fits = []
    for seed in range(40):
        first, second, outcome, _ = votes(seed=seed)
        fits.append(fit_bradley_terry(first, second, outcome, n_items=30, ridge=0.1).theta)
    first, second, outcome, voter = votes()
    fit = fit_bradley_terry(first, second, outcome, n_items=30, ridge=0.1)
    found = resample_voters(fit, (first, second, outcome, voter), resamples=200, rng=np.random.default_rng(1))
    assert np.median(found.theta.std(axis=0) / np.std(fits, axis=0)) == pytest.approx(1.0, abs=0.2)


def test_ranks_ties_and_scores_lie_in_their_intervals():
    first, second, outcome, voter = votes()
    fit = fit_bradley_terry(first, second, outcome, n_items=31, ridge=0.1)
    found = resample_voters(fit, (first, second, outcome, voter), resamples=200, rng=np.random.default_rng(1))
    best, worst = found.rank_intervals()
    rank = np.argsort(np.argsort(-fit.theta[:30])) + 1
    assert (best[:30] <= rank).all()
    assert (rank <= worst[:30]).all()
    assert (best[30], worst[30]) == (0, 0)
    assert (worst - best)[:30].max() > 0
    narrow = found.rank_intervals(0.5)
    assert (narrow[0] >= best).all()
    assert (narrow[1] <= worst).all()
    first_group = found.tied_for_first().tolist()
    assert first_group[0] == int(np.nanargmax(fit.theta))
    assert set(found.tied_for_first(0.5).tolist()) <= set(first_group)
    low, high = found.score_intervals()
    assert (low[:30] < fit.theta[:30]).mean() > 0.9
    assert (fit.theta[:30] < high[:30]).mean() > 0.9
    assert np.isnan(found.theta[:, 30]).all()


@pytest.mark.parametrize("n_voters", [5, 25])
def test_few_voters_and_few_votes_widen_intervals(n_voters):
    """By brute force: moves drawn out for few voters and to the standard error of θ, ranks by counting."""
    first, second, outcome, voter = votes(n_votes=300, n_voters=n_voters)
    outcome[second == 0], outcome[first == 0] = 0.0, 1.0  # no resample has a lost vote of item 0
    fit = fit_bradley_terry(first, second, outcome, n_items=30, ridge=0.1)
    found = resample_voters(fit, (first, second, outcome, voter), resamples=200, rng=np.random.default_rng(1))
    deviation = np.std(found.theta, axis=0, ddof=1) * np.sqrt(n_voters / (n_voters - 1))
    assert fit.standard_error[0] > 2 * deviation[0]
    assert (fit.standard_error < deviation).any()
    wider = np.maximum(deviation, fit.standard_error) / np.std(found.theta, axis=0, ddof=1)
    drawn = fit.theta + wider * (found.theta - fit.theta)
    assert np.array(found.score_intervals()) == pytest.approx(np.quantile(drawn, (0.05, 0.95), axis=0))
    ranks, own = (1 + np.argsort(np.argsort(-scores)) for scores in (drawn, fit.theta))
    for item, (best, worst) in enumerate(zip(*found.rank_intervals(), strict=True)):
        beyond = {r: np.mean(ranks[:, item] < r) + np.mean(ranks[:, item] == r) / 2 for r in range(1, 31)}
        inside = [r for r in set(ranks[:, item].tolist()) if 0.05 - 1e-9 <= beyond[r] <= 0.95 + 1e-9]
        assert best == min(*inside, own[item], 31)
        assert worst == max(*inside, own[item], 0)
    plain = np.array(found.score_intervals(plain=True))
    assert plain == pytest.approx(np.quantile(found.theta, (0.05, 0.95), axis=0))
    ranks = 1 + np.argsort(np.argsort(-found.theta))
    best, worst = found.rank_intervals(plain=True)
    assert (best == np.minimum(np.quantile(ranks, 0.05, axis=0, method="lower"), own)).all()
    assert (worst == np.maximum(np.quantile(ranks, 0.95, axis=0, method="higher"), own)).all()


def test_intervals_of_scores_know_neither_the_lapse_nor_the_curve():
    """By hand: the further of two curves, and the lapse's standard error at right angles to that of θ."""
    first, second, outcome, voter = votes(n_votes=900)
    outcome[second == 0], outcome[first == 0] = 0.0, 1.0
    fit = fit_bradley_terry(first, second, outcome, voter=voter, n_items=30, ridge=0.1)
    found = resample_voters(fit, (first, second, outcome, voter), resamples=100, rng=np.random.default_rng(1))
    scores = fit.expected_borda()
    low, high = found.borda_intervals(scores)
    for side, bound, theta in zip((-1, 1), (low, high), found.score_intervals(), strict=True):
        far = np.zeros(30)
        for curve in (lambda gap: 1 / (1 + np.exp(-gap)), lambda gap: norm.cdf(gap / 1.702)):
            end = 0.03 + 0.94 * curve(theta[:, None] - fit.theta).mean(axis=1)
            far = np.maximum(far, side * (end - scores))
        by_lapse = 1.645 * fit.lapse_error * abs(2 * scores - 1) / 0.94
        assert side * (bound - scores) == pytest.approx(np.sqrt(far**2 + by_lapse**2), abs=1e-5)
    assert high[0] > 0.97  # what the usual lapse lets an item reach that never loses
    assert low.min() >= 0
    assert high.max() <= 1
    alike = fit_bradley_terry(first, second, outcome, n_items=30, ridge=0.1)
    assert alike.lapse_error == 0


def test_the_same_seed_gives_the_same_resamples():
    given = votes(n_votes=600)
    fit = fit_bradley_terry(*given[:3], n_items=30, ridge=0.1)
    one, other = (resample_voters(fit, given, resamples=3, rng=np.random.default_rng(1)).theta for _ in range(2))
    assert one.tobytes() == other.tobytes()


def test_what_can_not_be_resampled_is_an_error():
    first, second, outcome, voter = votes(n_votes=600)
    fit = fit_bradley_terry(first, second, outcome, n_items=30)
    with pytest.raises(InputError, match="two voters"):
        resample_voters(fit, (first, second, outcome, voter * 0), rng=np.random.default_rng(1))
    with pytest.raises(InputError, match="600 votes"):
        resample_voters(fit, (first[1:], second[1:], outcome[1:], voter[1:]), rng=np.random.default_rng(1))
    gaps = fit_bradley_terry(first, second, outcome, n_items=30, voter=voter * 2)
    with pytest.raises(InputError, match="without a gap"):
        resample_voters(gaps, (first, second, outcome, voter * 2), rng=np.random.default_rng(1))


def test_halves_agree_more_the_more_votes_there_are():
    few, many = (
        split_half(votes(n_votes=n), weighted_spearman, n_items=30, repetitions=5, rng=np.random.default_rng(1)).mean
        for n in (400, 6000)
    )
    assert few < many < 1.0
    first, second, outcome, voter = votes()
    with pytest.raises(InputError, match="two voters"):
        split_half((first, second, outcome, voter * 0), spearman, n_items=30, rng=np.random.default_rng(1))


def test_the_ceiling_is_near_what_the_truth_itself_scores():
    first, second, outcome, _ = votes(n_votes=1500)
    truth = np.linspace(4, -4, 30)
    fit = fit_bradley_terry(first, second, outcome, n_items=30, ridge=0.1)
    ceiling = noise_ceiling(fit, spearman, repetitions=20, rng=np.random.default_rng(1))
    assert ceiling.mean == pytest.approx(spearman(truth, fit.theta), abs=0.03)
    assert len(ceiling.values) == 20
