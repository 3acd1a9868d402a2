"""The rows behind the paper's Figures 2 and 4, from one simulated campaign.

Figure 2 shows how the scores of a ballot lie to those before it, with the line that brings them to one scale.
Figure 4 shows the scores of every ballot along the theoretical ranks. `core.charts.charts` draws both.

Reference: Lombardo et al. (2020), EMNLP, sections 2.6 and 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..errors import InputError
from ..metrics import average_ranks
from ..plan import Plan
from ..voters.model import exponential
from ..voters.panel import PAPER_PANEL, Panel, Voters
from .campaign import Campaign, simulate_campaign

PAPER_PLAN = Plan(990, 7, 0.5, 20)
FIGURE_2_PANEL = Panel(100, nonconformity=(0.1, 0.1), oversight=(0.01, 0.01))
FIGURE_4_BALLOTS = 5


@dataclass(frozen=True)
class Figure2:
    """`points`: item, pair (its name), x in the ballot, `previous` (ȳ before); `line`: two ends, x and previous.

    slope : b̂ of Eq. 6, which is also the least-squares slope of the points through (1, 1).
    """

    ballot: int
    points: pd.DataFrame
    line: pd.DataFrame
    slope: float


def example_campaign(seed: int = 0, panel: Panel | Voters = PAPER_PANEL) -> Campaign:
    """The campaign of the paper's figures: exponential similarities of 990 items, n_b = 7, α = ½, M = 20.

    Figure 4 has the default panel, Figure 2 has `FIGURE_2_PANEL`.
    """
    return simulate_campaign(
        exponential(PAPER_PLAN.n_items), PAPER_PLAN, protocol="paper", rng=np.random.default_rng(seed), panel=panel
    )


def figure_2(campaign: Campaign, ballot: int = 2) -> Figure2:
    """Scores x of a ballot against ȳ after the one before, for the items of that ballot.

    Raises `InputError` for a ballot that has none before it, or wasn't held.
    """
    if not 2 <= ballot <= len(campaign.ballots):
        raise InputError(f"The ballot must be from 2 to {len(campaign.ballots)}, found {ballot}.")
    before, here = campaign.ballots[ballot - 2 : ballot]
    known = pd.Series(before.mean, index=before.items)
    points = pd.DataFrame({"item": here.items, "x": here.x, "previous": known[here.items].to_numpy()})
    points.insert(1, "pair", _names(points["item"]))
    x = np.array([min(float(here.x.min()), 1.0), 1.0])
    line = pd.DataFrame({"x": x, "previous": 1 - here.slope + here.slope * x})
    return Figure2(ballot, points, line, here.slope)


def figure_4(campaign: Campaign, n_ballots: int = FIGURE_4_BALLOTS) -> pd.DataFrame:
    """x of each item in each of the first ballots, beside its theoretical rank and its final score.

    One row an item and ballot: item, pair (its name), ballot, x, y, mean (ȳ so far), final (the last ȳ), rank (by
    truth, 1 = the most related, ties share their average), sorted by rank and ballot.
    """
    rank = average_ranks(campaign.truth)
    parts = [
        pd.DataFrame({"item": held.items, "ballot": held.number, "x": held.x, "y": held.y, "mean": held.mean})
        for held in campaign.ballots[:n_ballots]
    ]
    frame = pd.concat(parts, ignore_index=True)
    items = frame["item"].to_numpy()
    frame = frame.assign(pair=_names(frame["item"]), final=campaign.scores[items], rank=rank[items])
    return frame.sort_values(["rank", "item", "ballot"], kind="stable").reset_index(drop=True)


def _names(items: pd.Series) -> pd.Series:
    return "item " + (items + 1).astype("str")
