"""The voter model fitted to people's votes: nonconformity σ* and oversight ε of a panel, with assumed similarities.

A voter's votes have a likelihood for every σ* and ε (`likelihood`), given the items' similarities z. Over voters σ* is
uniform on one range and ε on another, independent, as a `Panel` has them; the ranges are those that make all votes
likeliest, and intervals come from drawing voters with replacement.

σ* is not identified where z is free. Opinions differ by σ*·(1 − z²), so that similarities twice as far apart with twice
the σ* give much the same votes. Hence z must be given, or, where nobody measured it, taken from a family of
distributions by the ranks of the scores (`similarity_from_ranks`); then everything found is conditional on the family,
and on the ranks, which the same votes made, and says so.

Reference for the model: Lombardo et al. (2020), EMNLP, section 4.1, which leaves the fit to later work.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its parts are loaded where they are first asked for: most processes never do
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from ..base.estimates import LEVEL, Estimate, Share, share, widened_tails
from ..errors import InputError
from ..metrics import average_ranks
from ..scores.borda import checked_votes
from ..tables import Floats, Ints, VoteColumns
from .likelihood import ComparisonTerms, Ranges, likeliest_ranges, log_likelihoods, log_marginal
from .model import Panel, checked_similarity, exponential, power_law

FAMILIES = {"exponential": exponential, "power_law": power_law}


@dataclass(frozen=True, eq=False)
class AssumedSimilarity:
    """Similarities that nobody measured: z of a family, shape (n_items,), NaN where an item has no score."""

    z: Floats
    family: str


def similarity_from_ranks(scores: ArrayLike, family: str, *, notion: str = "relatedness") -> AssumedSimilarity:
    """Give the values of a family of distributions to items by the ranks of their scores.

    The item of the highest score gets the highest value: of |z| for relatedness (an opinion's |o| has the same law for
    z and −z, so |z| is given), of z for similarity. Tied items share the mean of their values. Items without a score
    (NaN) get none and don't count.

    family : "exponential" or "power_law" (`voters`). Raises `InputError` for another, or fewer than two scores.

    >>> similarity_from_ranks([0.1, 0.9, 0.1], "power_law", notion="similarity").z.round(3)
    array([0.051, 0.268, 0.051])
    """
    if family not in FAMILIES:
        raise InputError(f"The family must be one of {', '.join(FAMILIES)}, found {family!r}.")
    values = np.asarray(scores, dtype=np.float64)
    scored = np.flatnonzero(~np.isnan(values))
    if values.ndim != 1 or len(scored) < 2:
        raise InputError(f"Ranks need one row with at least two scores, found {len(scored)}.")
    drawn = FAMILIES[family](len(scored))
    drawn = np.sort(np.abs(drawn) if notion == "relatedness" else drawn)[::-1]
    _, place, count = np.unique(average_ranks(values[scored]), return_inverse=True, return_counts=True)
    ends = np.cumsum(count)
    sums = np.concatenate(([0.0], np.cumsum(drawn)))
    z = np.full(len(values), np.nan)
    z[scored] = ((sums[ends] - sums[ends - count]) / count)[place]
    return AssumedSimilarity(z, family)


RESAMPLES = 300
LEAST_VOTES = 30  # untied votes in all below which nothing is fitted
LEAST_VOTERS = 5  # voters below which there are no intervals
VOTES_FOR_WIDTH = 30  # untied votes that the middle voter needs before voters can be told apart
BETTER_THAN_CHANCE = 6.0  # log-likelihood over that of tossed coins below which the votes say nothing about z
GUESSES = 3.0  # log-likelihood by which coins explain the votes of one voter better than the panel does

# Likelihoods are computed at the first nodes and joined by cubic splines at the second.
SIGMA = np.geomspace(0.005, 1.5, 24)
EPSILON = np.concatenate(([0.0], np.geomspace(0.001, 0.5, 22)))
FINE_SIGMA = np.geomspace(0.005, 1.5, 93)
FINE_EPSILON = np.concatenate(([0.0], np.geomspace(0.0005, 0.5, 48)))
NEAR_ZERO = 0.002  # splines in ε run over log(ε + this)


@dataclass(frozen=True)
class FittedRange:
    """σ* or ε over a panel's voters: the mean and the width (high − low) of a uniform range."""

    mean: Estimate
    width: Estimate

    @property
    def ends(self) -> tuple[float, float] | None:
        """Low and high end; both the mean where the width is undefined, None where the mean is."""
        if self.mean.estimate is None:
            return None
        half = (self.width.estimate or 0.0) / 2.0
        return max(0.0, self.mean.estimate - half), self.mean.estimate + half


@dataclass(frozen=True, eq=False)
class PanelFit:
    """σ* and ε of a panel as its votes show them.

    nonconformity, oversight : σ* and ε over the voters, each with intervals, or the reason why there are none.
    basis : what similarities the fit is conditional on, in words.
    n_voters, n_votes : voters and untied votes that the fit rests on.
    ties : share of ties among the votes. The model makes ties only of opinions cut to ±1, people make them for other
        reasons too; they are left out.
    n_unplaced : votes left out since an item has no similarity.
    voters : code of each voter, ascending, shape (n_voters,); votes : untied votes of each.
    voter_nonconformity, voter_oversight : what is to be expected of each, given the panel; NaN where nothing is.
    guessers : codes of voters whose votes tossed coins explain better. They widen the range of ε: look at them, and
        fit again without them.
    """

    nonconformity: FittedRange
    oversight: FittedRange
    basis: str
    n_voters: int
    n_votes: int
    ties: Share
    n_unplaced: int
    voters: Ints
    votes: Ints
    voter_nonconformity: Floats
    voter_oversight: Floats
    guessers: tuple[int, ...]

    @property
    def reason(self) -> str:
        """Why there is no panel, empty where there is one."""
        return "" if self.nonconformity.ends else self.nonconformity.mean.reason

    def panel(self, n_voters: int | None = None) -> Panel | None:
        """The fitted panel, of as many voters unless said otherwise; None where nothing could be fitted."""
        sigma, epsilon = self.nonconformity.ends, self.oversight.ends
        if sigma is None or epsilon is None:
            return None
        return Panel(self.n_voters if n_voters is None else n_voters, sigma, epsilon)


def fit_panel(
    votes: VoteColumns,
    *,
    similarity: ArrayLike | AssumedSimilarity,
    rng: np.random.Generator,
    notion: str = "relatedness",
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> PanelFit:
    """Estimate σ* and ε of a panel, their means and widths over voters, from votes.

    Parameters
    ----------
    votes : item positions of each, its outcome, and the code from 0 on of who voted.
    similarity : z of the items in [−1, 1], NaN where unknown, shape (n_items,); or assumed from ranks.
    rng : source of the resamples of voters; the same state gives the same intervals.
    notion : "relatedness" or "similarity"; resamples : at least 50; level : of the intervals.

    σ* holds all that an ordinary voter's opinions differ from the similarities by; where the panel as a whole sees
    items otherwise than z has them, that too. The votes of one voter on an item they met before share an opinion, and
    are taken as independent (a composite likelihood): that makes no bias in the means, and intervals come from whole
    voters. What can't be told is undefined and says why: too few untied votes, votes no better than chance, no
    intervals below 5 voters, no width where the middle voter has fewer than 30 votes or there is only one.

    Raises `InputError` for votes, voters, similarities or settings that don't fit.
    """
    if resamples < 50 or not 0 < level < 1:
        raise InputError(f"Give at least 50 resamples and a level between 0 and 1, found {resamples} and {level}.")
    z, basis = _basis(similarity)
    first, second, outcome, voter = votes
    a, b, y = checked_votes(first, second, outcome, n_items=len(z))
    codes = np.asarray(voter)
    if codes.shape != a.shape or not (codes.size == 0 or np.issubdtype(codes.dtype, np.integer)):
        raise InputError(f"Each of {len(a)} votes needs a voter's code.")
    placed = ~np.isnan(z[a] + z[b])
    used = np.flatnonzero(placed & (y != 0.5))
    used = used[np.argsort(codes[used], kind="stable")]
    voters, row, n_votes = np.unique(codes[used], return_inverse=True, return_counts=True)
    pairs = ComparisonTerms.of(z[a[used]], z[b[used]], notion)
    ties = share(int((y == 0.5).sum()), len(y), level)
    counted = _Counted(basis, voters.astype(np.int64), n_votes, ties, int((~placed).sum()))
    if len(used) < LEAST_VOTES:
        return counted.without(f"A fit needs {LEAST_VOTES} votes that are no ties, and there are {len(used)}.")
    rows = log_likelihoods(pairs, y[used], row.ravel(), len(voters), SIGMA, EPSILON)
    return _fitted(counted, _Surface.of(rows), resamples, level, rng)


# Of assumed similarities, as sentences call them.
FAMILY_NAMES = {"exponential": "exponential", "power_law": "power law"}


def _basis(similarity: ArrayLike | AssumedSimilarity) -> tuple[Floats, str]:
    if isinstance(similarity, AssumedSimilarity):
        return similarity.z, (
            f"Conditional on {FAMILY_NAMES[similarity.family]} similarities, given to the items by the ranks of "
            "their scores: with another family the same votes give another σ*, and errors of the ranks make it "
            "too high."
        )
    z = np.asarray(similarity, dtype=np.float64)
    if z.ndim == 1:
        z = z.copy()
        z[~np.isnan(z)] = checked_similarity(z[~np.isnan(z)])
        return z, "Conditional on the similarities given: what the panel as a whole sees otherwise counts into σ*."
    raise InputError(f"Similarities must be one row of numbers, found an array of shape {z.shape}.")


@dataclass(frozen=True, eq=False)
class _Counted:
    """What is known before anything is fitted."""

    basis: str
    voters: Ints
    votes: Ints
    ties: Share
    n_unplaced: int

    def without(self, reason: str) -> PanelFit:
        """No fit, and why."""
        nothing = FittedRange(Estimate(None, reason=reason), Estimate(None, reason=reason))
        unknown = np.full(len(self.voters), np.nan)
        return self.result(nothing, nothing, unknown, unknown, ())

    def result(
        self, sigma: FittedRange, epsilon: FittedRange, by_sigma: Floats, by_epsilon: Floats, guessers: tuple[int, ...]
    ) -> PanelFit:
        n_voters, n_votes = len(self.voters), int(self.votes.sum())
        return PanelFit(
            sigma,
            epsilon,
            self.basis,
            n_voters,
            n_votes,
            self.ties,
            self.n_unplaced,
            self.voters,
            self.votes,
            by_sigma,
            by_epsilon,
            guessers,
        )


@dataclass(frozen=True, eq=False)
class _Surface:
    """The likelihood of each voter over exp(scale), at the fine nodes of σ* and ε."""

    likelihood: Floats
    scale: Floats
    nodes: tuple[Floats, Floats]

    @classmethod
    def of(cls, logs: Floats) -> _Surface:
        spline = scipy.interpolate.CubicSpline
        logs = spline(np.log(SIGMA), logs, axis=1)(np.log(FINE_SIGMA))
        logs = spline(np.log(EPSILON + NEAR_ZERO), logs, axis=2)(np.log(FINE_EPSILON + NEAR_ZERO))
        logs = np.concatenate((logs[:, :1], logs), axis=1)  # below the lowest σ* nothing changes any more
        scale = logs.max(axis=(1, 2))
        return cls(np.exp(logs - scale[:, None, None]), scale, (np.concatenate(([0.0], FINE_SIGMA)), FINE_EPSILON))

    def expected(self, sigma: tuple[float, float], epsilon: tuple[float, float]) -> tuple[Floats, Floats, Floats]:
        """σ* and ε to be expected of each voter, and the log-likelihood of their votes, given the ranges."""
        one, other = (Ranges(np.array([low]), np.array([high])) for low, high in (sigma, epsilon))
        joint = self.likelihood * one.weights(self.nodes[0]).T * other.weights(self.nodes[1])
        total = joint.sum(axis=(1, 2))
        logs = log_marginal(self.likelihood, self.scale, self.nodes, (one, other)).ravel()
        means = joint.sum(axis=2) @ self.nodes[0], joint.sum(axis=1) @ self.nodes[1]
        return means[0] / total, means[1] / total, logs


def _fitted(counted: _Counted, surface: _Surface, resamples: int, level: float, rng: np.random.Generator) -> PanelFit:
    n_voters = len(counted.voters)
    no_width = ""
    if n_voters == 1:
        no_width = "One voter shows no differences between voters."
    elif np.median(counted.votes) < VOTES_FOR_WIDTH:
        no_width = (
            f"Differences between voters need {VOTES_FOR_WIDTH} untied votes per voter, and the middle voter has "
            f"{float(np.median(counted.votes)):g}."
        )
    drawn = np.ones((1, n_voters))
    if n_voters >= LEAST_VOTERS:
        again = rng.multinomial(n_voters, np.full(n_voters, 1 / n_voters), size=resamples)
        drawn = np.concatenate((drawn, again))
    found = likeliest_ranges(surface.likelihood, surface.scale, surface.nodes, drawn, points=bool(no_width))
    coins = counted.votes * np.log(0.5)
    if found.log_likelihood[0] - coins.sum() < BETTER_THAN_CHANCE:
        return counted.without("The votes follow these similarities no better than tossed coins would.")
    sigma, epsilon = (_range(ranges, n_voters, level, no_width) for ranges in (found.nonconformity, found.oversight))
    by_sigma, by_epsilon, logs = surface.expected(_first(found.nonconformity), _first(found.oversight))
    guessers = tuple(counted.voters[coins - logs > GUESSES].tolist())
    return counted.result(sigma, epsilon, by_sigma, by_epsilon, guessers)


def _first(ranges: Ranges) -> tuple[float, float]:
    return float(ranges.low[0]), float(ranges.high[0])


def _range(ranges: Ranges, n_voters: int, level: float, no_width: str) -> FittedRange:
    mean = _estimate(ranges.mean, n_voters, level)
    return FittedRange(mean, Estimate(None, reason=no_width) if no_width else _width(ranges.width, n_voters, level))


def _estimate(values: Floats, n_voters: int, level: float) -> Estimate:
    """The first value, with the interval of the others."""
    if len(values) == 1:
        reason = f"An interval needs votes of at least {LEAST_VOTERS} voters; found {n_voters}."
        return Estimate(float(values[0]), reason=reason)
    lower, upper = np.quantile(values[1:], widened_tails(n_voters, level))
    return Estimate(float(values[0]), float(lower), float(upper))


def _width(values: Floats, n_voters: int, level: float) -> Estimate:
    """As `_estimate`, for likeliest widths, which can't exceed what the voters at hand span.

    n draws from a uniform range of width 1 span (n − 1)/(n + 1) on average, with the law Beta(n − 1, 2): no resample
    spans more than the voters it is drawn from, so the upper bound is at least the one this law gives.
    """
    estimate = _estimate(values * (n_voters + 1) / (n_voters - 1), n_voters, level)
    if estimate.upper is None:
        return estimate
    least = float(values[0] / betaincinv(n_voters - 1, 2, (1 - level) / 2))
    return Estimate(estimate.estimate, estimate.lower, max(estimate.upper, least))
