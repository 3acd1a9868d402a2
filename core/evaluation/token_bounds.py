"""The interval of a figure by resampled tokens, and what it is corrected by.

Items share tokens, so tokens are resampled, not items: within each area as many tokens as there are, with replacement.
An item stands there as often as its first token times its second; between a token and its own copy there is no item.
Three things are known of this bootstrap. What items differ by beyond their tokens is counted three times over, since a
product of two multiplicities varies threefold; so c times the variance of an ordinary bootstrap of the items is taken
away. A correlation varies the less, the nearer it is to 1, so that an error taken at an estimate that is too high
is too small; the interval is laid on a scale g on which errors don't depend on the figure: Fisher's z = artanh for
correlations, arcsin of the root for precision. And a few tokens make most of the variance, so that it is known no
better than from half as many tokens that all weigh the same.

    centre = estimate − s·(mean of the resamples − estimate),    error = k·√max(V − c·V_items, V_items / 2)
    bounds = g⁻¹(g(centre) ± t·error·g′(centre))

with t of Student's distribution, of (tokens − areas)/2 degrees of freedom. ρ_w's resamples reach far down where it is
high, so for it everything is taken on the scale g from the resamples on. Differences of two models keep their own
scale. The constants of `CORRECTIONS` were chosen by simulation; docs/evaluation.md says how often they hold.

References: Snijders, Borgatti (1999), Non-parametric standard errors and tests for network statistics, Connections 22;
Owen (2007), The pigeonhole bootstrap, Annals of Applied Statistics 1; Davezies, D'Haultfœuille, Guyonvarch (2021),
Empirical process results for exchangeable arrays, Annals of Statistics 49.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from ..errors import InputError

Floats = NDArray[np.float64]

LEVEL = 0.9
MOST_UNDEFINED = 0.2  # share of resamples in which a figure may be undefined and still get an interval


@dataclass(frozen=True)
class Correction:
    """Of the module's formula: `bias` is s, `items` is c, `spread` is k; `scale` is g, "z" or "root", "" for none.

    resampled : the variances and the mean are those of g of the resamples, so that g′ falls away.
    """

    bias: float
    items: float
    spread: float
    scale: str = "z"
    resampled: bool = False


# ρ and τ share one correction; Pearson's variance falls short a little more. A figure of the top hangs on few items,
# whose resampled copies tie with each other: its bootstrap is off its centre, and for ρ_w and τ_w counts what is of the
# items less than threefold.
_RANKS = Correction(0.0, 1.5, 1.05)
CORRECTIONS: Mapping[str, Correction] = {
    "rho_w": Correction(-0.5, 1.0, 1.05, "z", resampled=True),
    "tau_w": Correction(0.5, 0.25, 0.95),
    "rho": _RANKS,
    "tau": _RANKS,
    "pearson": Correction(0.0, 1.5, 1.1),
    "precision": Correction(0.0, 1.5, 1.05, "root"),
}
NEAR = 0.03  # of the ends of a scale, where its slope would be without bounds


@dataclass(frozen=True)
class Bounds:
    """The centre of the module's interval, its standard error on the figure's own scale, and the bounds."""

    corrected: float
    error: float
    lower: float
    upper: float


def bounds(
    estimate: float,
    by_tokens: Floats,
    by_items: Floats,
    correction: Correction,
    *,
    level: float = LEVEL,
    limits: tuple[float, float] = (-1.0, 1.0),
    freedom: float = np.inf,
) -> Bounds | None:
    """The interval of the module; None where the estimate or over a fifth of the resamples are undefined.

    freedom : degrees of freedom of t, infinite for the normal distribution.

    >>> found = bounds(0.5, np.array([0.4, 0.5, 0.6]), np.array([0.5, 0.5, 0.5]), Correction(0, 1, 1, ""))
    >>> round(found.error, 3), round(found.lower, 3), round(found.upper, 3)
    (0.1, 0.336, 0.664)
    >>> found = bounds(0.5, np.array([0.4, 0.5, 0.6]), np.array([0.5, 0.5, 0.5]), Correction(0, 1, 1, "z"))
    >>> round(found.error, 3), round(found.lower, 3), round(found.upper, 3)
    (0.1, 0.319, 0.646)
    """
    if not 0 < level < 1:
        raise InputError(f"The level must be between 0 and 1, found {level!r}.")
    tokens, items = (drawn[~np.isnan(drawn)] for drawn in (by_tokens, by_items))
    few = any(
        len(kept) < max(2, (1 - MOST_UNDEFINED) * len(drawn))
        for kept, drawn in ((tokens, by_tokens), (items, by_items))
    )
    if few or np.isnan(estimate):
        return None
    reach = float(stdtrit(freedom, (1 + level) / 2) if np.isfinite(freedom) else ndtri((1 + level) / 2))
    if correction.resampled and correction.scale == "z":
        at, spread = _centre_and_error(_artanh(estimate), _artanh(tokens), _artanh(items), correction)
        lower, upper = np.clip(np.tanh([at - reach * spread, at + reach * spread]), *limits).tolist()
        return Bounds(float(np.tanh(at)), float(spread * (1 - np.tanh(at) ** 2)), lower, upper)
    corrected, error = _centre_and_error(estimate, tokens, items, correction)
    lower, upper = np.clip(_ends(corrected, reach * error, correction.scale), *limits).tolist()
    return Bounds(corrected, error, lower, upper)


def _centre_and_error(estimate: Any, tokens: Floats, items: Floats, correction: Correction) -> tuple[float, float]:
    """The first line of the module's formula."""
    of_items = float(items.var(ddof=1))
    variance = max(float(tokens.var(ddof=1)) - correction.items * of_items, of_items / 2)
    centre = float(estimate - correction.bias * (tokens.mean() - estimate))
    return centre, correction.spread * float(np.sqrt(variance))


def _artanh(values: float | Floats) -> Any:
    """Fisher's z, of what lies off the ends by half of `NEAR` or more."""
    return np.arctanh(np.clip(values, NEAR / 2 - 1, 1 - NEAR / 2))


def _ends(centre: float, reach: float, scale: str) -> tuple[float, float]:
    """centre ± reach, taken on a scale where errors are the same all along it; "" takes the figure's own."""
    if not scale:
        return centre - reach, centre + reach
    if scale == "z":
        inside = float(np.clip(centre, NEAR - 1, 1 - NEAR))
        at, slope = np.arctanh(inside), 1 / (1 - inside**2)
        return float(np.tanh(at - slope * reach)), float(np.tanh(at + slope * reach))
    inside = float(np.clip(centre, NEAR, 1 - NEAR))
    at, slope = np.arcsin(np.sqrt(inside)), 1 / (2 * np.sqrt(inside * (1 - inside)))
    lower, upper = np.sin(np.clip([at - slope * reach, at + slope * reach], 0, np.pi / 2)) ** 2
    return float(lower), float(upper)
