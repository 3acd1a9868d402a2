"""The uniform ranges of σ* and ε that make the votes of a panel likeliest, for the panel as it is and resampled.

The likelihood of a panel with σ* ~ U[a, b] and ε ~ U[c, d] is the product over its voters of the mean of their own
likelihood over [a, b] × [c, d]. That mean is taken exactly of the likelihood joined linearly between the nodes of a
fine grid. The best ranges are searched over a coarse net of ranges, then over a fine net around what the coarse one
found for any of the resamples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

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


class Found(NamedTuple):
    """The likeliest ranges of each resample: ends of σ* and of ε, and the log-likelihood, each of shape (n,)."""

    nonconformity: Ranges
    oversight: Ranges
    log_likelihood: Floats


def likeliest_ranges(
    likelihood: Floats, scale: Floats, nodes: tuple[Floats, Floats], counts: Floats, *, points: bool = False
) -> Found:
    """Search the ranges for each row of `counts`, which says how often each voter counts, shape (n, n_voters).

    likelihood : of each voter at the nodes of σ* and ε, over exp(scale), shape (n_voters, n σ*, n ε);
    points : only ranges without a width, one σ* and one ε for all voters.
    """
    nets = _first_nets(nodes, points)
    found = _best(likelihood, scale, nodes, _ranges(nets, nodes), counts)
    for n_means, n_ratios in STAGES[1:]:
        nets = [
            (_around(ranges.mean, means, n), _around(ranges.ratio, ratios, 1 if points else m))
            for ranges, (means, ratios), n, m in zip(found[:2], nets, n_means, n_ratios, strict=True)
        ]
        found = _best(likelihood, scale, nodes, _ranges(nets, nodes), counts)
    return found


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
) -> Found:
    shape = len(nets[0].low), len(nets[1].low)
    size = max(1, CELLS // (shape[0] * shape[1]))
    total = np.zeros((len(counts), shape[0] * shape[1]))
    for start in range(0, len(scale), size):
        part = slice(start, start + size)
        marginal = log_marginal(likelihood[part], scale[part], nodes, nets)
        total += counts[:, part] @ marginal.reshape(len(marginal), -1)
    at = total.argmax(axis=1)
    one, other = np.unravel_index(at, shape)
    return Found(
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
