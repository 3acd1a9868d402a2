"""`python -m bench.runoff_table`: how accurate the protocol "runoff" is at several budgets, on simulated voters.

The paper's setting: 990 items, seven ballots, α = ½, 100 voters (Lombardo et al. 2020, section 4.2); ρ_w and τ_w are
the mean ± standard error over campaigns. Campaign s has the seed (seed, s). --similarity NAME=FILE adds the
similarities in the last column of a CSV file.
"""

from __future__ import annotations

import time

import click
import numpy as np

from bench.cells import means, print_table, similarities_of, with_similarities
from core.metrics import weighted_kendall, weighted_spearman
from core.plan import Plan
from core.protocols.runoff import Runoff, spread_appearances
from core.simulation import simulate_campaign
from core.tables import Floats
from core.voters.model import Panel, draw_panel

PAPER = 19_660  # comparisons of the paper's protocol at this setting
N_VOTERS = 100


def accuracies(
    similarity: Floats, n_comparisons: int, n: int, seed: int, panel: Panel, clickers: float, convention: str
) -> tuple[Floats, Plan]:
    """ρ_w and τ_w of `n` campaigns, shape (n, 2), and the plan."""
    plan = spread_appearances(len(similarity), 7, 0.5, n_comparisons)
    results = np.empty((n, 2))
    for number in range(n):
        rng = np.random.default_rng((seed, number))
        voters = draw_panel(panel, rng)
        voters.oversight[: round(clickers * len(voters))] = 0.5
        held = simulate_campaign(similarity, plan, protocol=Runoff.name, rng=rng, panel=voters, convention=convention)
        theta = held.scores
        truth = np.abs(similarity)
        results[number] = weighted_spearman(truth, theta), weighted_kendall(truth, theta)
    return results, plan


@click.command()
@click.option("--simulations", default=200, help="Campaigns a line.")
@click.option("--seed", default=20_001)
@click.option("--budget", "budgets", multiple=True, type=float, default=(1.0, 0.65, 0.5, 0.4), help="Shares of 19,660.")
@with_similarities
@click.option("--clickers", default=0.0, help="Share of voters who click at random.")
@click.option("--spread", default=1.0, help="Factor on the voters' nonconformity.")
@click.option("--lapse", nargs=2, type=float, default=(0.005, 0.05), help="Range of the voters' oversight.")
@click.option("--convention", default="paper", help="paper, or planning: as plans are compared, in less time.")
def main(
    simulations: int,
    seed: int,
    budgets: tuple[float, ...],
    files: tuple[str, ...],
    clickers: float,
    spread: float,
    lapse: tuple[float, float],
    convention: str,
) -> None:
    """Print the table."""
    panel = Panel(N_VOTERS, (0.02 * spread, 0.2 * spread), lapse)

    def line(name: str, similarity: Floats, budget: float) -> list[str]:
        start = time.process_time()
        found, plan = accuracies(similarity, int(budget * PAPER), simulations, seed, panel, clickers, convention)
        taken, low = (time.process_time() - start) / simulations, found.min(axis=0)
        appearances = ", ".join(map(str, plan.appearances_by_ballot))
        cells = [name, f"{plan.n_comparisons:,}", appearances, *means(found, 4)]
        return [*cells, f"{low[0]:.3f}, {low[1]:.3f}", f"{taken:.2f}"]

    lines = (line(name, z, budget) for name, z in similarities_of(files).items() for budget in budgets)
    print_table(("similarity", "comparisons", "M", "ρ_w", "τ_w", "lowest", "s a campaign"), lines)


if __name__ == "__main__":
    main()
