"""The paper's simulated results made again: Table 2, and the rows behind Figures 2 and 4.

Table 2 has the accuracy of the protocols on three distributions of similarities. Figure 2 shows, of one campaign, how
the scores of a ballot lie to those before it, with the line that brings them to one scale; Figure 4 the scores of every
ballot along the theoretical ranks. `core.charts.campaign_charts` draws both.

Reference: Lombardo et al. (2020), EMNLP, sections 2.6 and 4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..errors import InputError
from ..metrics import average_ranks
from ..plan import Plan
from ..protocols import protocol_of
from ..protocols.base import BOTH
from ..tables import Floats
from ..voters.model import PAPER_PANEL, Panel, Voters, exponential
from .campaign import Accuracy, Campaign, Run, simulate_campaign, simulate_campaigns
from .conventions import convention_of, method_of

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


def figure_4(campaign: Campaign) -> pd.DataFrame:
    """x of each item in each of the first ballots, beside its theoretical rank and its final score.

    One row an item and ballot: item, pair (its name), ballot, x, y, mean (ȳ so far), final (the last ȳ), rank (by
    truth, 1 = the most related, ties share their average), sorted by rank and ballot.
    """
    rank = average_ranks(campaign.truth)
    parts = [
        pd.DataFrame({"item": ballot.items, "ballot": ballot.number, "x": ballot.x, "y": ballot.y, "mean": ballot.mean})
        for ballot in campaign.ballots[:FIGURE_4_BALLOTS]
    ]
    frame = pd.concat(parts, ignore_index=True)
    items = frame["item"].to_numpy()
    frame = frame.assign(pair=_names(frame["item"]), final=campaign.scores[items], rank=rank[items])
    return frame.sort_values(["rank", "item", "ballot"], kind="stable").reset_index(drop=True)


def _names(items: pd.Series) -> pd.Series:
    return "item " + (items + 1).astype("str")


METRICS = Accuracy._fields


@dataclass(frozen=True)
class TablePlan:
    """The plan of the table, for any number of items; the paper's by default."""

    n_ballots: int = 7
    keep: float = 0.5
    appearances: int | tuple[int, ...] = 20
    aim: str = BOTH  # of a protocol with appearances of its own

    def plan(self, n_items: int) -> Plan:
        """The plan for this many items; raises `PlanError` where there is none."""
        return Plan(n_items, self.n_ballots, self.keep, self.appearances)

    def plans(self, n_items: int, protocol: str) -> list[Plan]:
        """The plans of a protocol's rows: the plan, or at `BUDGETS` of the votes those it likes better, if it does."""
        plan, asked = self.plan(n_items), protocol_of(protocol)
        if not asked.about.own_appearances or isinstance(self.appearances, tuple):
            return [plan]
        budgets = [int(share * plan.n_comparisons) for share in BUDGETS]
        return [asked.plan_within(n_items, self.n_ballots, self.keep, budget, self.aim) for budget in budgets]


PAPER_SETTING = TablePlan()
PROTOCOLS = ("uniform", "paper")  # of the paper's table
BUDGETS = (1.0, 0.65, 0.5, 0.4)


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation (unbiased estimate) over simulations; NaN where there are too few."""

    mean: float
    sd: float


@dataclass(frozen=True)
class TableRow:
    """One protocol on one distribution. `simulations` were done, of which `n_undefined` gave no accuracy."""

    similarity: str
    protocol: str
    convention: str
    simulations: int
    n_undefined: int
    n_items: int
    n_comparisons: int
    rho_w: Spread
    tau_w: Spread
    rho: Spread
    tau: Spread


def table_2(
    similarities: Mapping[str, Floats],
    *,
    simulations: int,
    seed: int,
    setting: TablePlan = PAPER_SETTING,
    protocols: Sequence[str] | None = None,
    convention: str = "paper",
    workers: int | None = 1,
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> list[TableRow]:
    """One row for each of the similarities (by name) and protocols, in that order.

    protocols : default the table's two. The protocol "runoff" has a row for each of `BUDGETS`, shares of the plan's
    votes, with appearances as it likes them, unless the setting has them ballot by ballot. Campaign s has the same
    voters with the same opinions under every protocol, and others for other similarities: a row's random numbers follow
    from `seed` and the name of the similarities, so that it doesn't matter which rows are asked for. progress, stop and
    workers as in `simulate_campaigns`, over all rows together. After a stop the rows begun are as long as they got, and
    the others are left out.

    Raises `InputError` and `PlanError` before anything is simulated, for what doesn't fit.
    """
    names = PROTOCOLS if protocols is None else tuple(protocols)
    methods = {name: method_of(convention_of(convention), name) for name in names}
    wanted = [
        (similarity, protocol, plan)
        for similarity, z in similarities.items()
        for protocol in names
        for plan in setting.plans(len(z), protocol)
    ]
    total = simulations * len(wanted)
    rows: list[TableRow] = []
    for place, (similarity, protocol, plan) in enumerate(wanted):
        run = simulate_campaigns(
            similarities[similarity],
            plan,
            protocol=protocol,
            n=simulations,
            seed=_seed_of(seed, similarity),
            workers=workers,
            panel=PAPER_PANEL,
            convention=convention,
            progress=_shifted(progress, place * simulations, total),
            stop=stop,
        )
        n_comparisons = sum(votes for _, votes in methods[protocol].sizes(plan))
        if run.results:
            rows.append(_row(similarity, protocol, convention, plan.n_items, n_comparisons, run))
        if not run.is_complete:
            break
    return rows


def _seed_of(seed: int, similarity: str) -> int:
    if seed < 0:
        raise InputError(f"seed must be a whole number, 0 or more, found {seed}.")
    return int(np.random.SeedSequence([seed, *similarity.encode()]).generate_state(1, np.uint64)[0])


def _shifted(progress: Callable[[int, int], None] | None, before: int, total: int) -> Callable[[int, int], None] | None:
    """Progress of one row as that of the whole table."""
    return None if progress is None else lambda done, _: progress(before + done, total)


def _row(
    similarity: str, protocol: str, convention: str, n_items: int, n_comparisons: int, run: Run[Accuracy]
) -> TableRow:
    figures = np.array(run.results)
    defined = figures[~np.isnan(figures).any(axis=1)]
    n = len(defined)
    spreads = {
        name: Spread(
            float(defined[:, place].mean()) if n else float("nan"),
            float(defined[:, place].std(ddof=1)) if n > 1 else float("nan"),
        )
        for place, name in enumerate(METRICS)
    }
    return TableRow(similarity, protocol, convention, len(figures), len(figures) - n, n_items, n_comparisons, **spreads)
