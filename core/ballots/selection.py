"""Which items go on to the next ballot by Bradley–Terry scores, and how likely a good one was cut.

Scores are uncertain, so a cut may hit an item of the true top. `select_leading` keeps the items that may matter most
and says how likely a good one was cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..scores.bradley_terry import BradleyTerry
from ..scores.posterior import item_posteriors
from .draw import Selection, select_items

Floats = NDArray[np.float64]


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
