"""The cut audit: some items that were cut come back as checks, so that what was lost is seen by votes.

When a ballot is drawn, some of the items that it cuts are chosen at random with known probabilities, more of those
near the cut, and each meets the items around the end of the top, where a vote tells most about whether the item belongs
above it. These votes enter no score. Whether an audited item i belongs to the top n is judged by its votes in the
ballots and its audit votes together, q_i; for an item that wasn't audited there are its votes in the ballots only, p_i
(the fit's, `scores.posterior`). The number of items of the top n that were cut is then

    Σ p_i  (all items cut)  +  Σ (q_i − p_i)/π_i  (audited items),

where π_i is the probability with which i was chosen. In expectation over the choice it is what auditing every cut
item would have given, however wrong the p_i are (the difference estimator).

Reference: Särndal, Swensson, Wretman (1992), Model assisted survey sampling, section 6.3; Hartley, Rao (1962), Sampling
with unequal probabilities and without replacement, Annals of Mathematical Statistics 33.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, gammaincinv

from ..errors import InputError
from ..scores.bradley_terry import BradleyTerry
from ..scores.posterior import Posteriors
from ..scores.voter_effects import SMALLEST
from ..tables import Floats, Ints

LEVEL = 0.9
FAR_SHARE = 0.5  # of the choice that goes by nearness to the cut alone, whatever the fit says of an item


@dataclass(frozen=True)
class DrawnAudit:
    """Which cut items come back, and against whom; items are positions of the fit.

    items : chosen, the nearest to the cut first; inclusion : the probability of each to be chosen, in (0, 1];
    pairs : a chosen item and its opponent, shape (n, 2).
    """

    items: Ints
    inclusion: Floats
    pairs: Ints


def draw_audit(
    posteriors: Posteriors,
    cut: ArrayLike,
    stayers: ArrayLike,
    *,
    n_top: int,
    n_items: int,
    n_votes: int,
    rng: np.random.Generator,
) -> DrawnAudit:
    """Choose `n_items` of the items just cut (all, where they are fewer), each to meet `n_votes` stayers.

    Half of the choice goes by √(p(1−p)), p the probability to belong to the first `n_top`, half by 1/(place + n_items)
    after the cut, so that every item can be chosen. The sample is systematic over the items in the order of their
    scores. Opponents are the stayers around place `n_top`, the same for all.

    Parameters: `cut` and `stayers`, positions in the fit behind `posteriors`; at least one stayer.
    """
    gone, stay = np.asarray(cut, dtype=np.int64), np.asarray(stayers, dtype=np.int64)
    if not len(stay):
        raise InputError("An audit needs items that stayed.")
    gone = gone[np.argsort(-posteriors.theta[gone], kind="stable")]
    inclusion = _inclusion(posteriors.top_probability(n_top)[gone], min(n_items, len(gone)))
    start = rng.random()
    # An item is chosen where its stretch of the summed probabilities holds a point start, start + 1, …
    reached = np.floor(np.cumsum(inclusion) - start + 1e-9)
    chosen = np.diff(reached, prepend=np.floor(-start + 1e-9)) > 0
    ranked = stay[np.argsort(-posteriors.theta[stay], kind="stable")]
    first = int(np.clip(n_top - n_votes // 2, 0, max(0, len(ranked) - n_votes)))
    opponents = ranked[first : first + n_votes]
    items = gone[chosen]
    pairs = np.stack((np.repeat(items, len(opponents)), np.tile(opponents, len(items))), axis=1)
    # Another processor's fit has other last bits; what is written down, and named by its hash, hasn't.
    return DrawnAudit(items, np.round(inclusion[chosen], 9), pairs)


def _inclusion(probability: Floats, n: int) -> Floats:
    """Probabilities of inclusion that sum to n, none above 1."""
    if not n:
        return np.zeros(len(probability))
    unsure = np.sqrt(probability * (1.0 - probability)) + 1e-12
    near = 1.0 / (np.arange(len(probability)) + n)
    weight = (1.0 - FAR_SHARE) * unsure / unsure.sum() + FAR_SHARE * near / near.sum()
    result = np.zeros(len(weight))
    free = np.ones(len(weight), dtype=bool)
    while True:
        result[free] = weight[free] * (n - (~free).sum()) / weight[free].sum()
        over = free & (result > 1.0)
        if not over.any():
            return np.minimum(result, 1.0)
        result[over], free[over] = 1.0, False


@dataclass(frozen=True)
class CutAudit:
    """What the audits say of the items cut so far.

    lost : expected number of the true first `n_top` that were cut, not below 0; lower and upper, whole, bound it at
    `level`. modelled : the same by the votes in the ballots alone. n_audited of n_cut items came back; they have
    `n_votes` audit votes and won `points` of them (a tie is half).
    """

    n_top: int
    lost: float
    lower: int
    upper: int
    level: float
    modelled: float
    n_cut: int
    n_audited: int
    n_votes: int
    points: float

    def stored(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> CutAudit | None:
        """As it was stored; None where nothing was, or by another version."""
        return cls(**stored) if set(stored) == {field.name for field in fields(cls)} else None


def estimate_lost(
    fit: BradleyTerry,
    posteriors: Posteriors,
    cut: ArrayLike,
    *,
    audited: ArrayLike,
    inclusion: ArrayLike,
    votes: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike],
    n_top: int,
) -> CutAudit:
    """How many of the true first `n_top` were cut, by votes; see the module.

    Parameters
    ----------
    fit, posteriors : of the votes in the ballots; audit votes are in neither.
    cut : all items cut so far; audited : those chosen for an audit at their cut, with at least one audit vote;
    inclusion : their probabilities to be chosen.
    votes : item, opponent, outcome (1 the item won, 0 the opponent, .5 a tie) and voter of each audit vote; voters are
    those of the fit, −1 for one whom the fit doesn't know.

    The interval is a gamma distribution's with the estimate's mean and variance, to whole numbers. The variance is that
    of the choice plus that of each item's membership.
    Raises `InputError` for an audited item that wasn't cut.
    """
    gone, seen = np.asarray(cut, dtype=np.int64), np.asarray(audited, dtype=np.int64)
    chance = np.asarray(inclusion, dtype=np.float64)
    if not np.isin(seen, gone).all():
        raise InputError("Only items that were cut can be audited.")
    p = np.nan_to_num(posteriors.top_probability(n_top))
    after = _updated(fit, posteriors, votes)
    q = posteriors.top_probability(n_top, of=after)
    step = q[seen] - p[seen]
    total = float(p[gone].sum() + (step / chance).sum())
    others = np.setdiff1d(gone, seen)
    variance = ((1.0 - chance) * (step / chance) ** 2).sum() + (q[seen] * (1.0 - q[seen])).sum()
    variance += (p[others] * (1.0 - p[others])).sum()
    item, _, outcome, _ = (np.asarray(part) for part in votes)
    own = np.isin(item, seen)
    lower, upper = _interval(max(total, 0.0), float(variance), LEVEL)
    return CutAudit(
        n_top=n_top,
        lost=max(total, 0.0),
        lower=lower,
        upper=upper,
        level=LEVEL,
        modelled=float(p[gone].sum()),
        n_cut=len(gone),
        n_audited=len(seen),
        n_votes=int(own.sum()),
        points=float(outcome[own].sum()),
    )


def _updated(
    fit: BradleyTerry, posteriors: Posteriors, votes: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike]
) -> Floats:
    """The posteriors with the audit votes, opponents and voters as the fit has them; shape (n_items, n_knots)."""
    item, opponent, voter = (np.asarray(votes[at], dtype=np.int64) for at in (0, 1, 3))
    outcome = np.asarray(votes[2], dtype=np.float64)
    lapse, sharp = fit.effects.lapse, fit.effects.sharpness
    known = voter >= 0
    code = np.where(known, np.minimum(voter, len(lapse) - 1), 0)
    own_lapse = np.where(known, lapse[code], fit.lapse)[:, None]
    own_sharp = np.where(known, sharp[code], 1.0)[:, None]
    gap = own_sharp * (posteriors.knots - fit.theta[opponent][:, None])
    wins = (1.0 - 2.0 * own_lapse) * expit(gap) + own_lapse
    losses = (1.0 - 2.0 * own_lapse) * expit(-gap) + own_lapse
    told = outcome[:, None] * np.log(np.maximum(wins, SMALLEST))
    told += (1.0 - outcome)[:, None] * np.log(np.maximum(losses, SMALLEST))
    logs = np.log(np.maximum(posteriors.probability, SMALLEST))
    np.add.at(logs, item, told)
    logs -= logs.max(axis=1, keepdims=True)
    result = np.exp(logs)
    return np.asarray(result / result.sum(axis=1, keepdims=True))


def _interval(mean: float, variance: float, level: float) -> tuple[int, int]:
    """Bounds of a number of items: quantiles of a gamma distribution, to the next whole number."""
    if mean <= 0 or variance <= 0:
        return round(mean), round(mean)
    tail = (1.0 - level) / 2
    lower, upper = gammaincinv(mean * mean / variance, [tail, 1.0 - tail]) * (variance / mean)
    return math.floor(lower + 0.5), math.floor(upper + 0.5)
