"""`python -m bench.runoff_table`: how accurate the protocol "runoff" is at several budgets, on simulated voters.

The paper's setting: 990 items, seven ballots, α = ½, 100 voters (Lombardo et al. 2020, section 4.2); ρ_w and τ_w are
the mean ± standard error over campaigns. Campaign s has the seed (seed, s). --similarity NAME=FILE adds the
similarities in the last column of a CSV file.
"""

from __future__ import annotations

import csv
import time
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from core.metrics import weighted_kendall, weighted_spearman
from core.plan import Plan
from core.protocols.runoff import Runoff, spread_appearances
from core.simulation import simulate_campaign
from core.voters.model import Panel, draw_panel, exponential, power_law

PAPER = 19_660  # comparisons of the paper's protocol at this setting
N_VOTERS = 100

Floats = NDArray[np.float64]


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


def read_similarities(path: Path) -> Floats:
    """The last column of a CSV file with a header."""
    with path.open(encoding="utf-8", newline="") as file:
        return np.array([float(row[-1]) for row in list(csv.reader(file))[1:]])


@click.command()
@click.option("--simulations", default=200, help="Campaigns a line.")
@click.option("--seed", default=20_001)
@click.option("--budget", "budgets", multiple=True, type=float, default=(1.0, 0.65, 0.5, 0.4), help="Shares of 19,660.")
@click.option("--similarity", "files", multiple=True, help="NAME=FILE.csv")
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
    similarities = {"exponential": exponential(990), "power law": power_law(990)}
    similarities |= {name: read_similarities(Path(path)) for name, _, path in (file.partition("=") for file in files)}
    panel = Panel(N_VOTERS, (0.02 * spread, 0.2 * spread), lapse)
    click.echo("| similarity | comparisons | M | ρ_w | τ_w | lowest | s a campaign |\n|---|---|---|---|---|---|---|")
    for name, similarity in similarities.items():
        for budget in budgets:
            start = time.process_time()
            found, plan = accuracies(similarity, int(budget * PAPER), simulations, seed, panel, clickers, convention)
            seconds = (time.process_time() - start) / simulations
            mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(simulations)
            lowest = found.min(axis=0)
            click.echo(
                f"| {name} | {plan.n_comparisons:,} | {', '.join(map(str, plan.appearances_by_ballot))} "
                f"| {mean[0]:.4f} ± {error[0]:.4f} | {mean[1]:.4f} ± {error[1]:.4f} "
                f"| {lowest[0]:.3f}, {lowest[1]:.3f} | {seconds:.2f} |"
            )


if __name__ == "__main__":
    main()
