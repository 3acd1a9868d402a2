"""What a panel could give at most: the accuracy of all its opinions on every item, with no vote in between.

No plan and no estimator gets past it; where it is low only other or more voters help.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..errors import UndefinedMetricError
from ..metrics import weighted_kendall, weighted_spearman
from ..voters.model import opinions
from ..voters.panel import draw_panel
from .forecast import Guess

RELIABLE = 0.8  # ρ_w from which a top is called reliable
DRAWS = 5
TIMES = (1, 2, 4, 8)
MOST_OPINIONS = 4_000_000  # held at once


@dataclass(frozen=True)
class PanelCeiling:
    """ρ_w and τ_w between the true ranking and that of the panel's median opinions, means over drawn panels.

    n_voters : of the panel. enough : the fewest voters of those tried (1, 2, 4 and 8 times as many) that reach
    ρ_w = .8; None where none does, or where they are too many to try. NaN where all items are truly equal.
    """

    n_voters: int
    rho_w: float
    tau_w: float
    enough: int | None

    @property
    def is_reliable(self) -> bool:
        """The panel can give a reliable top."""
        return bool(self.rho_w >= RELIABLE)


def panel_ceiling(guess: Guess, *, seed: int) -> PanelCeiling:
    """The ceiling of a guess's panel, and how many of such voters would do. The same seed gives the same figures."""
    thin = guess.thinned()
    first, enough = (float("nan"), float("nan")), None
    for times in TIMES:
        n_voters = times * thin.panel.n_voters
        if times > 1 and n_voters * thin.n_items > MOST_OPINIONS:
            break
        found = _of_voters(thin, n_voters, seed)
        first = found if times == 1 else first
        if found[0] >= RELIABLE:
            enough = n_voters
            break
    return PanelCeiling(thin.panel.n_voters, *first, enough)


def _of_voters(guess: Guess, n_voters: int, seed: int) -> tuple[float, float]:
    truth = np.abs(guess.similarity) if guess.notion == "relatedness" else guess.similarity
    figures = []
    for draw in range(DRAWS):
        rng = np.random.default_rng([seed, 11, draw])
        voters = draw_panel(replace(guess.panel, n_voters=n_voters), rng)
        held = opinions(guess.similarity, voters, seed=int(rng.integers(2**31)), notion=guess.notion)
        middle = np.median(held, axis=0)
        try:
            figures.append((weighted_spearman(truth, middle), weighted_kendall(truth, middle)))
        except UndefinedMetricError:
            return float("nan"), float("nan")
    rho_w, tau_w = np.mean(figures, axis=0)
    return float(rho_w), float(tau_w)
