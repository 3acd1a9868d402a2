"""The paper's Table 2: the accuracy of the protocols on three distributions of similarities.

Reference: Lombardo et al. (2020), EMNLP, section 4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..plan import Plan
from ..protocols import protocol_of
from ..voters.panel import PAPER_PANEL, Floats, Panel, Voters
from .campaign import Accuracy
from .conventions import convention_of, method_of
from .runs import Run, simulate_campaigns

METRICS = Accuracy._fields


@dataclass(frozen=True)
class Setting:
    """The plan of the table, for any number of items; the paper's by default."""

    n_ballots: int = 7
    keep: float = 0.5
    appearances: int | tuple[int, ...] = 20

    def plan(self, n_items: int) -> Plan:
        """The plan for this many items; raises `PlanError` where there is none."""
        return Plan(n_items, self.n_ballots, self.keep, self.appearances)

    def plans(self, n_items: int, protocol: str) -> list[Plan]:
        """The plans of a protocol's rows: the plan, or at `BUDGETS` of the votes those it likes better, if it does."""
        plan, asked = self.plan(n_items), protocol_of(protocol)
        if not asked.about.own_appearances or isinstance(self.appearances, tuple):
            return [plan]
        budgets = [int(share * plan.n_comparisons) for share in BUDGETS]
        return [asked.plan_within(n_items, self.n_ballots, self.keep, budget) for budget in budgets]


PAPER_SETTING = Setting()
PROTOCOLS = ("uniform", "paper")  # of the paper's table
BUDGETS = (1.0, 0.65, 0.5, 0.4)


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation (unbiased estimate) over simulations; NaN where there are too few."""

    mean: float
    sd: float


@dataclass(frozen=True)
class Row:
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
    setting: Setting = PAPER_SETTING,
    protocols: Sequence[str] | None = None,
    convention: str = "paper",
    panel: Panel | Voters = PAPER_PANEL,
    workers: int | None = 1,
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> list[Row]:
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
    rows: list[Row] = []
    for place, (similarity, protocol, plan) in enumerate(wanted):
        run = simulate_campaigns(
            similarities[similarity],
            plan,
            protocol=protocol,
            n=simulations,
            seed=_seed_of(seed, similarity),
            workers=workers,
            panel=panel,
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
        raise InputError(f"seed must be a whole number from 0 on, found {seed}.")
    return int(np.random.SeedSequence([seed, *similarity.encode()]).generate_state(1, np.uint64)[0])


def _shifted(progress: Callable[[int, int], None] | None, before: int, total: int) -> Callable[[int, int], None] | None:
    """Progress of one row as that of the whole table."""
    return None if progress is None else lambda done, _: progress(before + done, total)


def _row(similarity: str, protocol: str, convention: str, n_items: int, n_comparisons: int, run: Run[Accuracy]) -> Row:
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
    return Row(similarity, protocol, convention, len(figures), len(figures) - n, n_items, n_comparisons, **spreads)
