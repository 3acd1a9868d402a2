"""What best–worst judgements say: counts and Bradley–Terry scores with intervals, and how reliable they are.

Intervals (90 %) draw whole voters anew: a voter's judgements hang together. A count that is undefined in more than a
fifth of the resamples has none. Reliability is Spearman's ρ (Pearson's r
beside it) between the scores of two random halves, the mean over splits:

* **of the judgements** of each tuple, as Kiritchenko and Mohammad halve them: tuples judged once are left out;
* **of the voters**: nobody's judgements stand in both halves.

A half has half the judgements, so all of them together are more reliable than either figure.

Reference: Kiritchenko, Mohammad (2016), Capturing reliable fine-grained sentiment associations by crowdsourcing and
best-worst scaling, NAACL (counts, halves of the judgements).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...base.estimates import LEVEL, Estimate, widened_tails
from ...errors import RunoffError
from ...metrics import rounded_scores
from ...scores.uncertainty import MOST_UNDEFINED, resample_voters
from ...tables import Floats, Ints
from ..rating.statistics import pearson
from .files import BestWorstSet
from .tuples import BestWorst

FEWEST_VOTERS = 5
RESAMPLES, SPLITS = 200, 100


@dataclass(frozen=True, eq=False)
class Scores:
    """A score of each item (n_items,), NaN where there is none, with the bounds of its interval; why some lack them."""

    score: Floats
    lower: Floats
    upper: Floats
    reason: str = ""


@dataclass(frozen=True)
class Halves:
    """Mean Spearman's ρ and Pearson's r over `n_splits` splits, None with the reason where undefined.

    lower and upper are the quantiles .05 and .95 of ρ over the splits: how much the split decides, no interval.
    """

    spearman: float | None
    pearson: float | None
    lower: float | None
    upper: float | None
    n_splits: int
    reason: str = ""


@dataclass(frozen=True, eq=False)
class BestWorstReport:
    """shown, best, worst : how often each item was shown, and named either; counts in [−1, 1], theta in logits."""

    read: BestWorstSet
    shown: Ints
    best: Ints
    worst: Ints
    counts: Scores
    theta: Scores
    by_judgement: Halves
    by_voter: Halves


def report(read: BestWorstSet, *, seed: int = 0, resamples: int = RESAMPLES, splits: int = SPLITS) -> BestWorstReport:
    """Work judgements out. Nothing raises: what is undefined says so. Same seed, same figures."""
    answers, n = read.answers, len(read.items)
    rows = np.arange(len(answers.shown))
    named = [np.bincount(answers.shown[rows, place], minlength=n) for place in (answers.best, answers.worst)]
    return BestWorstReport(
        read,
        np.bincount(answers.shown.ravel(), minlength=n),
        named[0],
        named[1],
        _counts(read, resamples, np.random.default_rng([seed, 1])),
        _theta(read, resamples, np.random.default_rng([seed, 2])),
        _halves(read, _HalfOfJudgements(answers, np.random.default_rng([seed, 3])), splits),
        _halves(read, _HalfOfVoters(read, np.random.default_rng([seed, 4])), splits),
    )


def _too_few(read: BestWorstSet) -> str:
    if not read.voters:
        return "no interval: the file doesn't say who judged"
    n = len(read.voters)
    if n >= FEWEST_VOTERS:
        return ""
    return f"no interval: {n} voters, and {FEWEST_VOTERS} are needed"


def _counts(read: BestWorstSet, resamples: int, rng: np.random.Generator) -> Scores:
    answers, n = read.answers, len(read.items)
    counts, nothing = answers.counts(n), np.full(n, np.nan)
    why = _too_few(read)
    if why:
        return Scores(counts, nothing, nothing, why)
    net, times = np.zeros((2, len(read.voters), n))
    rows = np.arange(len(answers.shown))
    np.add.at(net, (read.voter, answers.shown[rows, answers.best]), 1)
    np.add.at(net, (read.voter, answers.shown[rows, answers.worst]), -1)
    np.add.at(times, (read.voter[:, None], answers.shown), 1)
    m = len(read.voters)
    drawn = rng.multinomial(m, np.full(m, 1 / m), resamples).astype(np.float64)
    shown = drawn @ times
    values = np.divide(drawn @ net, shown, out=np.full(shown.shape, np.nan), where=shown > 0)
    # An item that one voter judged has the same count in every resample that has it: that is no interval.
    known = np.isnan(values).mean(axis=0) <= MOST_UNDEFINED
    lower, upper = nothing.copy(), nothing.copy()
    if known.any():
        lower[known], upper[known] = np.nanquantile(values[:, known], widened_tails(m, LEVEL), axis=0)
    few = "no interval where too few voters judged an item" if (known < ~np.isnan(counts)).any() else ""
    return Scores(counts, lower, upper, few)


def _theta(read: BestWorstSet, resamples: int, rng: np.random.Generator) -> Scores:
    n = len(read.items)
    nothing = np.full(n, np.nan)
    try:
        fit = read.answers.fit(n)
        why = _too_few(read)
        if why:
            return Scores(fit.theta, nothing, nothing, why)
        winner, loser, row = read.answers.implied()
        ones = np.ones(len(winner))
        drawn = resample_voters(fit, (winner, loser, ones, read.voter[row]), resamples=resamples, rng=rng, workers=None)
        lower, upper = np.quantile(drawn.theta, widened_tails(len(read.voters), LEVEL), axis=0)
        return Scores(fit.theta, lower, upper)
    except RunoffError as error:
        return Scores(nothing, nothing, nothing, str(error).rstrip("."))


class _HalfOfJudgements:
    """A random half of the judgements of each tuple; None where every tuple was judged once."""

    def __init__(self, answers: BestWorst, rng: np.random.Generator) -> None:
        _, code, n = np.unique(np.sort(answers.shown, axis=1), axis=0, return_inverse=True, return_counts=True)
        self.code, self.n, self.rng = code.ravel(), n, rng
        self.reason = "" if (n > 1).any() else "every tuple was judged once"
        self.used = n[self.code] > 1

    def __call__(self) -> NDArray[np.bool_]:
        order = np.lexsort((self.rng.random(len(self.code)), self.code))
        start = np.cumsum(self.n) - self.n
        turn = np.empty(len(order), dtype=np.int64)
        turn[order] = np.arange(len(order)) - start[self.code[order]]
        return np.asarray((turn + self.rng.integers(0, 2, len(self.n))[self.code]) % 2 == 0)


class _HalfOfVoters:
    """A random half of the voters, with all their judgements."""

    def __init__(self, read: BestWorstSet, rng: np.random.Generator) -> None:
        self.voter, self.m, self.rng = read.voter, len(read.voters), rng
        self.reason = "the file doesn't say who judged" if not self.m else "there is one voter" if self.m < 2 else ""
        self.used = np.ones(len(self.voter), dtype=bool)

    def __call__(self) -> NDArray[np.bool_]:
        return np.asarray((self.rng.permutation(self.m) < self.m // 2)[self.voter])


def _halves(read: BestWorstSet, half: _HalfOfJudgements | _HalfOfVoters, splits: int) -> Halves:
    if half.reason:
        return Halves(None, None, None, None, 0, half.reason)
    n, found = len(read.items), []
    reason = ""
    for _ in range(splits):
        first = half()
        one, other = (_part(read.answers, rows & half.used).counts(n) for rows in (first, ~first))
        both = ~np.isnan(one) & ~np.isnan(other)
        r, reason = pearson(one[both], other[both])
        rho, _why = pearson(_ranks(one[both]), _ranks(other[both]))
        if r is not None and rho is not None:
            found.append((rho, r))
    if len(found) < 0.8 * splits:
        return Halves(None, None, None, None, 0, reason or "too few splits have two halves that differ")
    rho_of, r_of = np.array(found).T
    lower, upper = np.quantile(rho_of, [0.05, 0.95]).tolist()
    return Halves(float(rho_of.mean()), float(r_of.mean()), lower, upper, len(found))


def _ranks(values: Floats) -> Floats:
    from scipy.stats import rankdata

    return np.asarray(rankdata(rounded_scores(values)))


def _part(answers: BestWorst, rows: NDArray[np.bool_]) -> BestWorst:
    return replace(answers, shown=answers.shown[rows], best=answers.best[rows], worst=answers.worst[rows])


def estimate(halves: Halves) -> Estimate:
    """ρ between halves with the spread over splits, as an `Estimate`."""
    return Estimate(halves.spearman, halves.lower, halves.upper, halves.reason)
