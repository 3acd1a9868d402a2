"""The interval of a model's figure against the *true* ranking, from resampled voters, and its constants.

A model's correlation with scores of noisy votes lies below that with the true ranking. Resampled votes hold the noise
once more, so that each resample correlates still less; a percentile interval misses the truth nearly always, and what
the resamples lost has to be added to the estimate. Voters drawn with replacement make more noise than the votes have,
so not all of it:

    E + c·D ± 1.645·√((k·s)² + (h·D)²)
    E = ρ(model, scores),  R_b = ρ(model, scores by resample b),  D = E − mean of the R_b

cut at the ends of the figure. Two things move R_b: how much noise resample b holds, which takes the same from every
model, is seen in O_b = ρ(scores, scores by resample b), and is made up for by c; and where the noise happens to lie,
for this model or against it. Only the second is an error of the corrected figure. So s is what of R_b the O_b leave
unexplained (standard deviation about a straight line), and k may rise with L = 1 − mean of the O_b: how much to make up
for is the less sure, the more it is. h stands for what isn't known of c: campaigns of other similarities lose more, or
less, by the same resamples, above all in ρ and τ, which ask about the bottom of the ranking, where ballots ask least.

τ_w hangs on the order of a few first items. Noise turns two of them round once it exceeds their distance: where that is
rare in resamples, it is far rarer in the votes. So for τ_w only a share u of what resamples lose and of their variance
counts, u = L/.2 or L/.3, at most 1; s is the standard deviation of the R_b.

What two models lose in ρ_w and τ_w differs by little more than chance, so their differences have c = 0; in ρ and τ a
good model loses more than a poor one. The constants (`RULES`) are those at which simulated campaigns of three kinds
hold the truth in about nine of ten (calibrated coverage), for rankings of up to 150 items and of 990; docs/runoff.md
has how often they held, on others. Pearson's correlation has none: it hangs on the scale of the scores, which isn't
that of the true similarities, and what it loses by that no resample shows.

The estimate may lie at the lower end of its interval, or below: noise only takes away. For the paper's protocol the
same resampling knows nothing of what rescaling and early cuts do to scores, and holds too seldom: there is no interval.

References: Davison, Hinkley (1997), Bootstrap Methods and their Application, sections 2.3 and 5.2; Loh (1987),
Calibrating confidence coefficients, Journal of the American Statistical Association 82.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ..errors import InputError

Floats = NDArray[np.float64]

LEVEL = 0.9
MOST_UNDEFINED = 0.2  # share of resamples in which a figure may be undefined and still get an interval
FEWEST = 3  # resamples
FIGURES = ("rho_w", "tau_w", "rho", "tau", "precision")  # those that have intervals over votes
SMALL, LARGE = 150, 990  # items: one rule holds up to the first, another from the second on


@dataclass(frozen=True)
class Rule:
    """What the interval of a figure is made of; see the module.

    share is c; spread + rise·L is k; doubt is h; full is the L from which on losses count in full, 0 for always.
    """

    share: float
    spread: float
    rise: float = 0.0
    doubt: float = 0.0
    full: float = 0.0

    def at(self, loss: float) -> Floats:
        """c, k and h at an L, (3,)."""
        part = float(np.clip(loss / self.full, 0.0, 1.0)) if self.full else 1.0
        return np.array([self.share * part, (self.spread + self.rise * loss) * np.sqrt(part), self.doubt * part])


BY_LINE = ("rho_w", "rho", "tau", "precision")  # their s is what the O_b leave unexplained; τ_w's all of the deviation
_PAIR_OF_RHO, _PAIR_OF_TAU = Rule(1.5, 1.5), Rule(2.5, 2.2, 0.0, 0.4)
_PRECISION, _PAIR_OF_PRECISION = Rule(0.7, 1.5, 2.0), Rule(0.3, 1.3, 2.0)
# Of each figure, and of differences in it: the rules of small and of large campaigns.
RULES: dict[tuple[str, bool], tuple[Rule, Rule]] = {
    ("rho_w", False): (Rule(2 / 3, 1.0, 2.5), Rule(2 / 3, 0.72, 2.5)),
    ("rho_w", True): (Rule(0.0, 0.8, 4.0), Rule(0.0, 0.72, 1.0)),
    ("tau_w", False): (Rule(0.8, 1.9, full=0.3), Rule(0.6, 1.3, full=0.2)),
    ("tau_w", True): (Rule(0.0, 1.5, full=0.2), Rule(0.0, 1.3, full=0.2)),
    ("rho", False): (Rule(1.4, 1.4, 0.0, 0.2), Rule(1.1, 1.3, 0.0, 0.15)),
    ("rho", True): (_PAIR_OF_RHO, _PAIR_OF_RHO),
    ("tau", False): (Rule(1.9, 1.8, 0.0, 0.35), Rule(1.5, 1.8, 0.0, 0.2)),
    ("tau", True): (_PAIR_OF_TAU, _PAIR_OF_TAU),
    ("precision", False): (_PRECISION, _PRECISION),
    ("precision", True): (_PAIR_OF_PRECISION, _PAIR_OF_PRECISION),
}


@dataclass(frozen=True)
class Interval:
    """A figure with the noise of the votes taken out, not cut, its standard error, and the bounds of its interval."""

    corrected: float
    error: float
    lower: float
    upper: float


def interval(
    estimate: float,
    drawn: Floats,
    own: Floats,
    *,
    name: str = "rho_w",
    of_difference: bool = False,
    n_items: int = LARGE,
    level: float = LEVEL,
) -> Interval | None:
    """The interval of the module; None where over a fifth of the resamples are NaN, or fewer than three are left.

    estimate : E, by all votes; drawn : R_b of each resample, (resamples,); own : O_b, of the scores with each resample,
    (resamples,); name : of `FIGURES`; of_difference : E and R_b are differences of two models; n_items : of the ranking
    that the votes are about, of which the figure may be over a part.

    >>> drawn, own = np.array([0.6, 0.7, 0.8, 0.7]), np.array([0.8, 0.9, 0.9, 0.8])
    >>> found = interval(0.85, drawn, own)
    >>> round(found.corrected, 3), round(found.error, 3), round(found.lower, 3), round(found.upper, 3)
    (0.95, 0.077, 0.823, 1.0)
    """
    if not 0 < level < 1:
        raise InputError(f"The level must be between 0 and 1, found {level!r}.")
    known = ~np.isnan(drawn) & ~np.isnan(own)
    found, of_scores = drawn[known], own[known]
    if len(found) < FEWEST or len(found) < (1 - MOST_UNDEFINED) * len(drawn):
        return None
    by_line = name in BY_LINE
    spread = _unexplained(found, of_scores) if by_line else float(found.std(ddof=1))
    c, k, h = _constants(name, of_difference, n_items, 1.0 - float(of_scores.mean()))
    loss = estimate - float(found.mean())
    corrected = estimate + c * loss
    error = float(np.hypot(k * spread, h * loss))
    reach = float(ndtri((1 + level) / 2)) * error
    least, most = (0.0, 1.0) if name == "precision" else (-1.0, 1.0)
    ends = (least - most, most - least) if of_difference else (least, most)
    lower, upper = np.clip([corrected - reach, corrected + reach], *ends).tolist()
    return Interval(corrected, error, lower, upper)


def _constants(name: str, of_difference: bool, n_items: int, loss: float) -> tuple[float, float, float]:
    """c, k and h for a ranking of so many items; between `SMALL` and `LARGE` by the logarithm of their number."""
    small, large = (rule.at(max(loss, 0.0)) for rule in RULES[name, of_difference])
    part = float(np.clip(np.log(LARGE / max(n_items, 1)) / np.log(LARGE / SMALL), 0.0, 1.0))
    c, k, h = (part * small + (1 - part) * large).tolist()
    return c, k, h


def _unexplained(values: Floats, by: Floats) -> float:
    """Standard deviation of `values` about the straight line on `by`."""
    off, along = values - values.mean(), by - by.mean()
    power = float(np.sum(along * along))
    slope = float(np.sum(off * along)) / power if power > 0 else 0.0
    rest = off - slope * along
    return float(np.sqrt(np.sum(rest * rest) / (len(values) - 2)))
