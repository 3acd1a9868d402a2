"""`python -m bench.panel_coverage`: how often the intervals of `core.voters.panel_fit` hold the truth, on simulated
votes.

Each seed draws a panel, a campaign of the paper's protocol and the resamples of the fit. Some minutes for 100 seeds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import click
import numpy as np
from joblib import Parallel, delayed

from core.base.estimates import Estimate
from core.plan import Plan
from core.simulation import Campaign, simulate_campaign
from core.voters.model import Panel, exponential, power_law
from core.voters.panel_fit import AssumedSimilarity, PanelFit, fit_panel, similarity_from_ranks


@dataclass(frozen=True)
class Case:
    """One kind of campaign: who votes, by what plan, on what similarities, and how z is known to the fit."""

    name: str
    panel: Panel
    plan: Plan
    z: Callable[[int], np.ndarray] = exponential
    notion: str = "relatedness"
    protocol: str = "paper"
    family: str = ""


PAPER = Plan(990, 7, 0.5, 20)
CASES = (
    Case("paper's panel", Panel(100), PAPER),
    Case("σ* doubled", Panel(100, (0.04, 0.4)), PAPER),
    Case("ε .05 to .2", Panel(100, oversight=(0.05, 0.2)), PAPER),
    Case("20 voters", Panel(20), PAPER),
    Case("one σ*, one ε", Panel(100, (0.1, 0.1), (0.01, 0.01)), PAPER),
    Case("similarity, power law", Panel(100), PAPER, power_law, "similarity"),
    Case("100 voters, 3,880 votes", Panel(100), Plan(200, 5, 0.5, 20)),
    Case("20 voters, 1,940 votes", Panel(20), Plan(200, 5, 0.5, 10)),
    Case("pilot: 20 voters, 400 votes", Panel(20), Plan(80, 1, 0.5, 10), protocol="uniform"),
    Case("pilot: 10 voters, 100 votes", Panel(10), Plan(100, 1, 0.5, 2), protocol="uniform"),
    Case("z from ranks, right family", Panel(100), PAPER, family="exponential"),
    Case("z from ranks, wrong family", Panel(100), PAPER, family="power_law"),
)
FIGURES = ("σ* mean", "σ* width", "ε mean", "ε width")


def fitted(case: Case, seed: int) -> PanelFit:
    """One campaign, and the panel fitted to its votes."""
    rng = np.random.default_rng([seed, 20])
    z = case.z(case.plan.n_items)
    campaign = simulate_campaign(z, case.plan, protocol=case.protocol, rng=rng, panel=case.panel, notion=case.notion)
    first, second, outcome, voter = votes_of(campaign)
    known: np.ndarray | AssumedSimilarity = z
    if case.family:
        known = similarity_from_ranks(campaign.scores, case.family, notion=case.notion)
    return fit_panel((first, second, outcome, voter), similarity=known, rng=rng, notion=case.notion)


def votes_of(campaign: Campaign) -> tuple[np.ndarray, ...]:
    """first, second, outcome and voter of all ballots."""
    votes = [ballot.votes for ballot in campaign.held]
    return tuple(np.concatenate([getattr(v, name) for v in votes]) for name in ("first", "second", "outcome", "voter"))


def figures(fit: PanelFit) -> tuple[Estimate, ...]:
    """What `FIGURES` names."""
    return fit.nonconformity.mean, fit.nonconformity.width, fit.oversight.mean, fit.oversight.width


def rows(case: Case, seeds: int, jobs: int) -> list[str]:
    """A line for each figure: truth, mean and sd of the estimates, mean interval, share of intervals with the truth."""
    start = time.perf_counter()
    fits = Parallel(n_jobs=jobs)(delayed(fitted)(case, seed) for seed in range(seeds))
    taken = (time.perf_counter() - start) / seeds * jobs
    lines = [f"{case.name}: {np.mean([fit.n_votes for fit in fits]):,.0f} votes, {taken:.1f} s a campaign and fit"]
    ranges = case.panel.nonconformity, case.panel.oversight
    truths = [figure for low, high in ranges for figure in ((low + high) / 2, high - low)]
    for place, (name, truth) in enumerate(zip(FIGURES, truths, strict=True)):
        parts = [figures(fit)[place] for fit in fits]
        found = [part for part in parts if part.lower is not None]
        if not found:
            lines.append(f"    {name:9} undefined: {parts[0].reason}")
            continue
        value, low, high = np.array([(e.estimate, e.lower, e.upper) for e in found]).T
        held = np.mean((low - 1e-9 <= truth) & (truth <= high + 1e-9))
        lines.append(
            f"    {name:9} truth {truth:.4f}  estimates {value.mean():.4f} ± {value.std():.4f}  "
            f"interval {low.mean():.4f} to {high.mean():.4f}  holds the truth in {held:.0%} of {len(found)}"
        )
    return lines


@click.command()
@click.option("--seeds", default=100, show_default=True, help="Campaigns a case.")
@click.option("--case", "wanted", multiple=True, help="Only cases whose name holds this text.")
@click.option("--jobs", default=2, show_default=True, help="Processes.")
def main(seeds: int, wanted: tuple[str, ...], jobs: int) -> None:
    """Print how often the 90% intervals of a fitted panel hold the truth."""
    for case in CASES:
        if not wanted or any(text in case.name for text in wanted):
            click.echo("\n".join(rows(case, seeds, jobs)))


if __name__ == "__main__":
    main()
