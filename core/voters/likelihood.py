"""How likely votes are under the voter model, and which ranges of nonconformity σ* and oversight ε fit a panel best.

Of items i and j a voter holds the opinions o_i and o_j, independent, o ~ N(z, (σ*·(1 − z²))²) cut to [−1, 1] (Eq. 11).
With Q the probability that the first opinion is the higher one before any cut, t that the cut makes both equal, which
is a tie, and q that the first is the higher one of two that the cut makes equal,

    P(first wins | no tie) = ε + (1 − 2ε)·(Q − t·q) / (1 − t)

    similarity:   Q = P(o_i > o_j) = Φ((z_i − z_j) / s),  s² = s_i² + s_j²,  s_i = σ*·(1 − z_i²)
    relatedness:  Q = P(|o_i| > |o_j|) = P((o_i − o_j)(o_i + o_j) > 0): difference and sum are normal with the same
                  variance s² and the correlation (s_i² − s_j²) / s²; Owen's T gives two quadrants' probability

t is exact. q takes oversteps as exponential: against 2,000,000 draws each, P is right within 0.003 for σ* = 0.8, and
within what the draws can tell for σ* ≤ 0.4. Votes on repeated items share an opinion; each is looked at by itself here.

The likelihood of a panel with σ* ~ U[a, b] and ε ~ U[c, d] is the product over its voters of the mean of their own
likelihood over [a, b] × [c, d]. That mean is taken exactly of the likelihood joined linearly between the nodes of a
fine grid. The best ranges, of the panel as it is and resampled, are searched over a coarse net of ranges, then over a
fine net around what the coarse one found for any of the resamples.

References: Lombardo et al. (2020), EMNLP, Eq. 11; Owen (1956), Tables for computing bivariate normal probabilities,
Annals of Mathematical Statistics 27.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, ndtr, owens_t

from ..errors import InputError
from ..tables import Floats, Ints

CELLS = 4_000_000  # voters × ranges worked on at once
# Means and relative half-widths tried for σ* and for ε, stage by stage; the first stage has means a factor apart.
STAGES = ((28, 20), (5, 4)), ((12, 9), (6, 5)), ((12, 9), (6, 5)), ((20, 14), (9, 8))
LEAST = 0.01, 0.002  # lowest means of the first stage; 0 is tried too


class Ranges(NamedTuple):
    """Uniform ranges: low and high ends, both of shape (n,)."""

    low: Floats
    high: Floats

    @classmethod
    def net(cls, means: Floats, ratios: Floats, top: float) -> Ranges:
        """All ranges mean ± ratio·mean, no end above `top`."""
        middle, ratio = (part.ravel() for part in np.meshgrid(means, ratios, indexing="ij"))
        half = np.minimum(ratio * middle, top - middle)
        low, high = np.unique(np.stack((middle - half, middle + half)), axis=1)
        return cls(np.maximum(low, 0.0), high)

    @property
    def mean(self) -> Floats:
        """Middles of the ranges."""
        return (self.low + self.high) / 2.0

    @property
    def ratio(self) -> Floats:
        """Half the width over the mean, 0 to 1."""
        return np.divide(self.high - self.low, self.high + self.low, out=np.zeros(len(self.low)), where=self.high > 0)

    @property
    def width(self) -> Floats:
        """High ends less low ends."""
        return self.high - self.low

    def weights(self, nodes: Floats) -> Floats:
        """What the mean over each range takes of the values at the nodes, shape (n, n_nodes); rows sum to 1."""
        width = self.width
        is_point = width <= 1e-12 * self.high
        area = _integrals(self.high, nodes) - _integrals(self.low, nodes)
        return np.where(is_point[:, None], _hats(self.low, nodes), area / np.where(is_point, 1.0, width)[:, None])


class LikeliestRanges(NamedTuple):
    """The likeliest ranges of each resample: ends of σ* and of ε, and the log-likelihood, each of shape (n,)."""

    nonconformity: Ranges
    oversight: Ranges
    log_likelihood: Floats


def likeliest_ranges(
    likelihood: Floats, scale: Floats, nodes: tuple[Floats, Floats], counts: Floats, *, points: bool = False
) -> LikeliestRanges:
    """Search the ranges for each row of `counts`, which says how often each voter counts, shape (n, n_voters).

    likelihood : of each voter at the nodes of σ* and ε, over exp(scale), shape (n_voters, n σ*, n ε);
    points : only ranges without a width, one σ* and one ε for all voters.
    """
    nets = _first_nets(nodes, points)
    best = _best(likelihood, scale, nodes, _ranges(nets, nodes), counts)
    for n_means, n_ratios in STAGES[1:]:
        nets = [
            (_around(ranges.mean, means, n), _around(ranges.ratio, ratios, 1 if points else m))
            for ranges, (means, ratios), n, m in zip(best[:2], nets, n_means, n_ratios, strict=True)
        ]
        best = _best(likelihood, scale, nodes, _ranges(nets, nodes), counts)
    return best


def _first_nets(nodes: tuple[Floats, Floats], points: bool) -> list[tuple[Floats, Floats]]:
    """Means and ratios of the first stage, of σ* and of ε."""
    nets = []
    for least, values, n, m in zip(LEAST, nodes, *STAGES[0], strict=True):
        means = np.concatenate(([0.0], np.geomspace(least, 0.9 * values[-1], n - 1)))
        nets.append((means, np.linspace(0.0, 1.0, 1 if points else m)))
    return nets


def _ranges(nets: list[tuple[Floats, Floats]], nodes: tuple[Floats, Floats]) -> tuple[Ranges, Ranges]:
    one, other = (Ranges.net(*net, float(values[-1])) for net, values in zip(nets, nodes, strict=True))
    return one, other


def log_marginal(
    likelihood: Floats, scale: Floats, nodes: tuple[Floats, Floats], ranges: tuple[Ranges, Ranges]
) -> Floats:
    """Log-likelihood of each voter's votes under each pair of ranges, shape (n_voters, n ranges of σ*, n of ε)."""
    one, other = ranges[0].weights(nodes[0]), ranges[1].weights(nodes[1])
    n_voters, n_sigma, n_epsilon = likelihood.shape
    # Two large products are faster than many small ones.
    half = (one @ likelihood.transpose(1, 0, 2).reshape(n_sigma, -1)).reshape(len(one), n_voters, n_epsilon)
    whole = half.transpose(1, 0, 2).reshape(-1, n_epsilon) @ other.T
    logs = np.log(np.maximum(whole, 1e-300, out=whole), out=whole)
    return logs.reshape(n_voters, len(one), len(other)) + scale[:, None, None]


def _best(
    likelihood: Floats, scale: Floats, nodes: tuple[Floats, Floats], nets: tuple[Ranges, Ranges], counts: Floats
) -> LikeliestRanges:
    shape = len(nets[0].low), len(nets[1].low)
    size = max(1, CELLS // (shape[0] * shape[1]))
    total = np.zeros((len(counts), shape[0] * shape[1]))
    for start in range(0, len(scale), size):
        part = slice(start, start + size)
        marginal = log_marginal(likelihood[part], scale[part], nodes, nets)
        total += counts[:, part] @ marginal.reshape(len(marginal), -1)
    at = total.argmax(axis=1)
    one, other = np.unravel_index(at, shape)
    return LikeliestRanges(
        Ranges(nets[0].low[one], nets[0].high[one]),
        Ranges(nets[1].low[other], nets[1].high[other]),
        total[np.arange(len(at)), at],
    )


def _around(found: Floats, tried: Floats, n: int) -> Floats:
    """`n` values from a step below nearly all found to a step above; the steps are those tried."""
    low, high = np.quantile(np.append(found, found[0]), (0.01, 0.99), method="nearest")
    first, last = np.searchsorted(tried, np.array([min(low, found[0]), max(high, found[0])]) * (1 - 1e-9))
    return np.linspace(tried[max(0, first - 1)], tried[min(len(tried) - 1, last + 1)], n)


def _hats(at: Floats, nodes: Floats) -> Floats:
    """Weights of the nodes in the linear interpolation at each place, shape (n, n_nodes)."""
    cell = np.clip(np.searchsorted(nodes, at, side="right") - 1, 0, len(nodes) - 2)
    share = (at - nodes[cell]) / (nodes[cell + 1] - nodes[cell])
    result = np.zeros((len(at), len(nodes)))
    rows = np.arange(len(at))
    result[rows, cell], result[rows, cell + 1] = 1.0 - share, share
    return result


def _integrals(to: Floats, nodes: Floats) -> Floats:
    """Weights of the nodes in the integral of the linear interpolant from the first node on, shape (n, n_nodes)."""
    steps = np.diff(nodes)
    whole = np.zeros((len(nodes), len(nodes)))
    for place, step in enumerate(steps, start=1):
        whole[place] = whole[place - 1]
        whole[place, place - 1 : place + 1] += step / 2.0
    cell = np.clip(np.searchsorted(nodes, to, side="right") - 1, 0, len(nodes) - 2)
    part = to - nodes[cell]
    result = whole[cell]
    rows = np.arange(len(to))
    result[rows, cell] += part - part**2 / (2.0 * steps[cell])
    result[rows, cell + 1] += part**2 / (2.0 * steps[cell])
    return result


SURE = 1e-12  # no vote is held for more certain than this, so that one slip never rules a voter out
BLOCK = 2_000_000  # votes × values of σ* worked on at once


@dataclass(frozen=True)
class ComparisonTerms:
    """What of comparisons doesn't hang on σ*; arrays of one shape.

    difference, total : means of o_i − o_j and of o_i + o_j over their standard deviation at σ* = 1;
    slant, other_slant : Owen's a of each; one, other : z of the items, for relatedness |z|.
    """

    notion: str
    one: Floats
    other: Floats
    difference: Floats
    total: Floats
    slant: Floats
    other_slant: Floats

    @classmethod
    def of(cls, one: Floats, other: Floats, notion: str) -> ComparisonTerms:
        """Of z of the two items of each comparison."""
        if notion not in ("relatedness", "similarity"):
            raise InputError(f'The notion must be "relatedness" or "similarity", found {notion!r}.')
        if notion == "relatedness":  # |o| has the same law for z and −z
            one, other = np.abs(one), np.abs(other)
        spread_one, spread_other = 1.0 - one * one, 1.0 - other * other
        scale = np.hypot(spread_one, spread_other)
        with np.errstate(divide="ignore", invalid="ignore"):
            difference, total = (one - other) / scale, (one + other) / scale
            r = (spread_one**2 - spread_other**2) / scale**2
            rest = 2.0 * spread_one * spread_other / scale**2  # √(1 − r²)
            slant = (total / difference - r) / rest
            other_slant = (difference / total - r) / rest
        # Equal |z|: the chances are even, and T(0, ·) would be taken of 0/0.
        even = one == other
        return cls(
            notion,
            one,
            other,
            np.where(even, 0.0, difference),
            np.where(even, 1.0, total),
            np.where(even, np.inf, slant),
            np.where(even, 0.0, other_slant),
        )

    def rows(self, part: slice) -> ComparisonTerms:
        """Some of the comparisons, each with an axis of length 1 after it."""
        arrays = (self.one, self.other, self.difference, self.total, self.slant, self.other_slant)
        return ComparisonTerms(self.notion, *(array[part, None] for array in arrays))

    def first_is_higher(self, sharpness: Floats) -> Floats:
        """P(the first opinion is the higher one | they differ) for 1/σ*, of a shape that broadcasts."""
        h, k = self.difference * sharpness, self.total * sharpness
        if self.notion == "similarity":
            higher = ndtr(h)
        else:
            higher = np.where(h >= 0, 1.0, 0.0) - 2.0 * (owens_t(h, self.slant) + owens_t(k, self.other_slant))
        tied, of_them = self._tied(sharpness)
        with np.errstate(invalid="ignore"):
            fair = (higher - of_them) / (1.0 - tied)
        return np.clip(np.where(tied < 1.0, fair, 0.5), 0.0, 1.0)

    def _tied(self, sharpness: Floats) -> tuple[Floats, Floats]:
        """t, the probability that the cut makes the two opinions equal, and that besides o_i was higher before it."""
        top, top_other = _beyond(self.one, sharpness), _beyond(self.other, sharpness)
        bottom, bottom_other = _beyond(-self.one, sharpness), _beyond(-self.other, sharpness)
        step, step_other = _overstep(self.one, sharpness), _overstep(self.other, sharpness)
        step_below, step_other_below = _overstep(-self.one, sharpness), _overstep(-self.other, sharpness)
        if self.notion == "relatedness":
            steps = _mean(top, step, bottom, step_below), _mean(top_other, step_other, bottom_other, step_other_below)
            tied = (top + bottom) * (top_other + bottom_other)
            return tied, tied * _share(*steps)
        above, below = top * top_other, bottom * bottom_other
        return above + below, above * _share(step, step_other) + below * _share(step_other_below, step_below)


def _beyond(z: Floats, sharpness: Floats) -> Floats:
    """Probability of an opinion at or beyond 1, which is (1 − z)/(σ*·(1 − z²)) = 1/(σ*·(1 + z)) deviations away."""
    with np.errstate(divide="ignore"):
        return np.where(z >= 1.0, 1.0, ndtr(-sharpness / (1.0 + z)))


def _overstep(z: Floats, sharpness: Floats) -> Floats:
    """By how much an opinion beyond 1 is beyond it on average, times a constant of the comparison."""
    with np.errstate(divide="ignore", invalid="ignore"):
        far = sharpness / (1.0 + z)
        return np.where(z <= -1.0, 0.0, (1.0 - z * z) * (np.sqrt(2.0 / np.pi) / erfcx(far / np.sqrt(2.0)) - far))


def _mean(weight: Floats, value: Floats, other_weight: Floats, other_value: Floats) -> Floats:
    """Weighted mean of two values; the first where neither has a weight."""
    total = weight + other_weight
    return np.divide(weight * value + other_weight * other_value, total, out=value.copy(), where=total > 0)


def _share(one: Floats, other: Floats) -> Floats:
    """Probability that the one of two exponential values with these means is the higher."""
    total = one + other
    return np.divide(one, total, out=np.full(total.shape, 0.5), where=total > 0)


def log_likelihoods(
    pairs: ComparisonTerms, outcome: Floats, voter: Ints, n_voters: int, nonconformity: Floats, oversight: Floats
) -> Floats:
    """Σ log P of each voter's votes for every σ* and ε of a grid, shape (n_voters, len(σ*), len(ε)).

    outcome : 1 the first won, 0 the second won, no ties; voter : code 0…n_voters−1, in ascending order; both of the
    shape (n_votes,) of `pairs`. The votes of a voter count as independent (a composite likelihood): those on an item
    that the voter met before are not quite.
    """
    result = np.zeros((n_voters, len(nonconformity), len(oversight)))
    size = max(1, BLOCK // (len(nonconformity)))
    for start in range(0, len(outcome), size):
        part = slice(start, start + size)
        prefers = pairs.rows(part).first_is_higher(1.0 / nonconformity)
        agrees = np.where(outcome[part, None] == 1.0, prefers, 1.0 - prefers)
        codes, starts = np.unique(voter[part], return_index=True)
        for place, slip in enumerate(oversight.tolist()):
            chance = np.maximum(slip + (1.0 - 2.0 * slip) * agrees, SURE)
            result[codes, :, place] += np.add.reduceat(np.log(chance), starts, axis=0)
    return result
