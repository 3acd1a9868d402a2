"""Which items go on to the next ballot by Bradley–Terry scores, and how likely a good one was cut.

Scores are uncertain, so a cut may hit an item of the true top. `select_leading` keeps the items that may matter most
and says how likely a good one was cut. `top_probability` does so for scores taken as normal with a known covariance:
draws of all scores are ranked, and the share of draws is counted in which an item is among the first n.

Reference: Hall, Miller (2009), Using the bootstrap to quantify the authority of an empirical ranking, Annals of
Statistics 37.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .ballots import Selection, select_items, whole_number
from .errors import InputError
from .scores.bradley_terry import BradleyTerry
from .scores.posterior import item_posteriors

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DRAWS = 1000
CELLS = 2_000_000  # scores drawn at once


def top_probability(
    score: ArrayLike,
    standard_error: ArrayLike,
    n_top: int,
    *,
    rng: np.random.Generator,
    covariance: ArrayLike | None = None,
    draws: int = DRAWS,
) -> Floats:
    """The probability that each item is truly among the `n_top` highest.

    Parameters
    ----------
    score : of the items, higher = more related, shape (n,); standard_error : of each, shape (n,).
    n_top : from 1 to n.
    covariance : of the scores, shape (n, n); then standard errors are not looked at. Default: independent scores.
    draws : how many rankings are drawn; the result is a share of them.

    Returns shape (n,), in [0, 1], the sum `n_top`. Raises `InputError` for values that don't fit.

    >>> top_probability([3.0, 0.0, 0.1], [0.1, 0.1, 0.1], 1, rng=np.random.default_rng(1))
    array([1., 0., 0.])
    """
    centre, width = np.asarray(score, dtype=np.float64), np.asarray(standard_error, dtype=np.float64)
    n = len(centre)
    if centre.shape != (n,) or width.shape != (n,) or not (np.isfinite(centre) & (width >= 0)).all():
        raise InputError("Each item needs a finite score and a standard error from 0 on.")
    if whole_number(n_top, 1, "n_top") > n:
        raise InputError(f"{n_top} items can't be the highest of {n}.")
    root = None if covariance is None else _root(np.asarray(covariance, dtype=np.float64), n)
    among = np.zeros(n, dtype=np.int64)
    size = max(1, CELLS // n)
    for at in range(0, whole_number(draws, 1, "draws"), size):
        noise = rng.standard_normal((min(size, draws - at), n))
        drawn = centre + (noise * width if root is None else noise @ root.T)
        top = np.argpartition(drawn, n - n_top, axis=1)[:, n - n_top :]
        among += np.bincount(top.ravel(), minlength=n)
    return among / draws


def _root(covariance: Floats, n: int) -> Floats:
    if covariance.shape != (n, n):
        raise InputError(f"The covariance must have shape ({n}, {n}), found {covariance.shape}.")
    values, vectors = np.linalg.eigh(covariance)  # singular: scores sum to zero
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


@dataclass(frozen=True)
class LeadingItems:
    """Who goes on, and what the cut may cost.

    selection : the items that stay, and ties at the cut (see `Selection`).
    n_top, probability : of every item of the fit, to be truly among the first `n_top`; shape (n_items,).
    lost : items of the true top that were cut, expected; certain : items among the first with 95 % or more.
    """

    selection: Selection
    n_top: int
    probability: Floats
    lost: float
    certain: int


def select_leading(
    fit: BradleyTerry, n_keep: int, *, rng: np.random.Generator, n_top: int | None = None, n0: float = 2.0
) -> LeadingItems:
    """The `n_keep` items of a fit that may matter most to a ranking that looks at the top; ties at the cut are drawn.

    An item stays for the mean of 1/(rank + n₀) over what its votes leave possible (`Posteriors.expected_weight`), so
    that one which may be far up is not cut for a slip or two. Items cut before may come back.

    Parameters
    ----------
    fit : of the votes so far, one connected part; n_keep : how many go on.
    n_top : the top whose loss is reported; default `n_keep`.
    n0 : offset of the weights.

    Raises `InputError` where fewer than `n_keep` items have votes, and `DisconnectedError`.
    """
    known = np.flatnonzero(fit.votes > 0)
    posteriors = item_posteriors(fit)
    chosen = select_items(known, posteriors.expected_weight(n0)[known], n_keep, rng=rng)
    top = n_keep if n_top is None else n_top
    probability = posteriors.top_probability(top)
    lost = float(np.delete(probability, chosen.items)[np.delete(fit.votes > 0, chosen.items)].sum())
    return LeadingItems(chosen, top, probability, lost, int((probability >= 0.95).sum()))
