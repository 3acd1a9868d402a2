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

from core.dealing import count_seen, deal_to_voters
from core.metrics import weighted_kendall, weighted_spearman
from core.plan import Plan
from core.runoff import draw_runoff_ballot, spread_appearances
from core.scores import BradleyTerry
from core.scores.fit import fit_with_voters
from core.voters import Panel, Voters, decide, draw_panel, exponential, opinions, power_law

PAPER = 19_660  # comparisons of the paper's protocol at this setting
N_VOTERS = 100
ROUGH = 0.1  # tolerance of the fits between ballots, and of the last one
FINE = 0.01

Floats = NDArray[np.float64]


def campaign(similarity: Floats, plan: Plan, voters: Voters, *, seed: int, rng: np.random.Generator) -> BradleyTerry:
    """The last fit of one campaign of the protocol on simulated voters."""
    n, n_voters = plan.n_items, len(voters)
    held = opinions(similarity, voters, seed=seed)
    seen = np.zeros((n_voters, n), dtype=np.int32)
    pairs, voter, outcome = np.empty((0, 2), np.int64), np.empty(0, np.int64), np.empty(0)
    fit = None
    for number, (size, appearances) in enumerate(zip(plan.sizes, plan.appearances_by_ballot, strict=True), start=1):
        drawn = draw_runoff_ballot(fit, n, size, appearances, rng=rng).pairs
        asked = deal_to_voters(drawn, n_voters, seen=seen, n_items=n, rng=rng)
        seen += count_seen(drawn, asked, n_voters=n_voters, n_items=n)
        votes = decide(held[asked, drawn[:, 0]], held[asked, drawn[:, 1]], voters.oversight[asked], rng)
        pairs, voter = np.concatenate((pairs, drawn)), np.concatenate((voter, asked))
        outcome = np.concatenate((outcome, votes))
        start = None if fit is None else fit.theta
        tolerance = FINE if number == plan.n_ballots else ROUGH
        first, second = pairs.T
        fit = fit_with_voters(first, second, outcome, n_items=n, voter=voter, start=start, tolerance=tolerance)
    assert fit is not None
    return fit


def accuracies(
    similarity: Floats, n_comparisons: int, n: int, seed: int, panel: Panel, clickers: float
) -> tuple[Floats, Plan]:
    """ρ_w and τ_w of `n` campaigns, shape (n, 2), and the plan."""
    plan = spread_appearances(len(similarity), 7, 0.5, n_comparisons)
    results = np.empty((n, 2))
    for number in range(n):
        rng = np.random.default_rng((seed, number))
        voters = draw_panel(panel, rng)
        voters.oversight[: round(clickers * len(voters))] = 0.5
        theta = campaign(similarity, plan, voters, seed=int(rng.integers(2**31)), rng=rng).theta
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
def main(
    simulations: int,
    seed: int,
    budgets: tuple[float, ...],
    files: tuple[str, ...],
    clickers: float,
    spread: float,
    lapse: tuple[float, float],
) -> None:
    """Print the table."""
    similarities = {"exponential": exponential(990), "power law": power_law(990)}
    similarities |= {name: read_similarities(Path(path)) for name, _, path in (file.partition("=") for file in files)}
    panel = Panel(N_VOTERS, (0.02 * spread, 0.2 * spread), lapse)
    click.echo("| similarity | comparisons | M | ρ_w | τ_w | lowest | s a campaign |\n|---|---|---|---|---|---|---|")
    for name, similarity in similarities.items():
        for budget in budgets:
            start = time.process_time()
            found, plan = accuracies(similarity, int(budget * PAPER), simulations, seed, panel, clickers)
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
