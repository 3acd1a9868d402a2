"""`python -m bench.powered_coverage`: prediction-powered θ beside that of people's votes alone, by simulation.

A ballot of random pairs, of which voters have answered a quarter or a half; a model has answered all, by scores that
agree with the truth as in `bench.model_choice`. Coverage is that of nominal 90% intervals of θ, of the θ that fits all
pairs of items and voters without end, with the same ridge a vote; width is that of the mean interval against people's
alone; ρ_w and τ_w are against the truth. Campaign s has the seed (seed, s).
"""

from __future__ import annotations

from functools import partial

import click
import numpy as np
from scipy.special import ndtri

from bench.cells import Cell, Row, carry_out, means, print_table
from bench.model_choice import MODELS, model_scores
from core.ballots.quick_draw import quick_comparisons
from core.errors import RunoffError
from core.judges.prediction_powered import JudgedComparisons, powered_scores
from core.metrics import weighted_kendall, weighted_spearman
from core.scores.bradley_terry import RIDGE
from core.simulation.campaign import Crowd
from core.simulation.conventions import PAPER
from core.tables import Floats
from core.voters.model import Panel, draw_panel, exponential, power_law

MANY_VOTERS = 400
REACH = float(ndtri(0.95))


def fitting(z: Floats, seed: int, ridge: float) -> Floats:
    """θ that fits what voters without end say of all pairs; ridge : a vote."""
    rng = np.random.default_rng(seed)
    voters = draw_panel(Panel(MANY_VOTERS), rng)
    opinions = Crowd(z, voters, "relatedness", PAPER, rng).opinions
    first, second = np.triu_indices(len(z), 1)
    oversight = voters.oversight[:, None]
    chance = np.mean(oversight + (1 - 2 * oversight) * (opinions[:, first] > opinions[:, second]), axis=0)
    none = np.empty(0, dtype=np.int64)
    data = JudgedComparisons(len(z), first, second, chance, np.full(len(first), 0.5), none, none, np.empty(0))
    return powered_scores(data, ridge=ridge * len(first), weight=0.0).plain


def measured(
    shapes: list[tuple[Floats, Floats]], model: str, n: tuple[int, int], by_voter: bool, seed: tuple[int, int]
) -> Row:
    """Coverage, mean half-width, ρ_w, τ_w of people alone, the same powered, and λ; or the error.

    shapes : z and the θ that fits it, in turn; n : votes, comparisons.
    """
    z, fit = shapes[seed[1] % len(shapes)]
    rng = np.random.default_rng(seed)
    voters = draw_panel(Panel(30), rng)
    crowd = Crowd(z, voters, "relatedness", PAPER, rng)
    items = np.arange(len(z))
    pairs = quick_comparisons(items, n[1], rng)
    pairs = pairs[rng.permutation(len(pairs))]
    votes = crowd.answer(items, pairs[: n[0]], rng)
    scores = model_scores(np.abs(z), model, np.random.default_rng((*seed, 1)))
    says = (scores[pairs[:, 0]] > scores[pairs[:, 1]]).astype(np.float64)
    rest = pairs[n[0] :]
    voter = votes.voter if by_voter else None
    given = (votes.first, votes.second, votes.outcome, says[: n[0]], rest[:, 0], rest[:, 1], says[n[0] :], voter)
    try:
        found = powered_scores(JudgedComparisons(len(z), *given), ridge=RIDGE)
    except RunoffError as refusal:
        return {"error": str(refusal)}
    row: list[float] = []
    for theta, error in ((found.plain, found.plain_error), (found.powered, found.powered_error)):
        held = np.abs(theta - fit) <= REACH * error
        truth = np.abs(z)
        row += [held.mean(), REACH * error.mean(), weighted_spearman(truth, theta), weighted_kendall(truth, theta)]
    return {"figures": [*row, found.weight]}


@click.command()
@click.option("--campaigns", "n", default=100, show_default=True, help="Of each line.")
@click.option("--seed", default=30_202, show_default=True)
@click.option("--items", default=60, show_default=True)
@click.option("--appearances", default=20, show_default=True, help="Of an item in the ballot.")
@click.option("--by-voter", is_flag=True, help="The votes of a voter are one unit of the variance.")
@click.option("--seconds", default=500.0, show_default=True, help="No campaign is begun after so many.")
def main(n: int, seed: int, items: int, appearances: int, by_voter: bool, seconds: float) -> None:
    """Print the table."""
    n_comparisons, shapes = items * appearances // 2, (exponential(items), power_law(items))
    click.echo(f"{items} items, {n_comparisons} comparisons, exponential and power law in turn\n")
    cells = []
    for share in (0.25, 0.5):
        n_votes = round(share * n_comparisons)
        fitted = [(z, fitting(z, seed, RIDGE / n_votes)) for z in shapes]
        cells += [
            Cell(
                (f"{n_votes} of {n_comparisons}", model),
                f"{n_votes}-{model}",
                partial(measured, fitted, model, (n_votes, n_comparisons), by_voter),
            )
            for model in MODELS
        ]
    lines = []
    for cell, rows in zip(cells, carry_out(cells, n, seed, None, seconds), strict=True):
        for error in [row["error"] for row in rows if "error" in row]:
            click.echo(f"{', '.join(cell.labels)}: {error}", err=True)
        table = np.array([row["figures"] for row in rows if "figures" in row])
        if len(table) > 1:
            mean, gains = table.mean(axis=0), means(table[:, 6:8] - table[:, 2:4], 4, "+")
            shares = [f"{mean[0]:.3f}", f"{mean[4]:.3f}", f"{mean[5] / mean[1]:.2f}"]
            lines.append([*cell.labels, f"{len(table)}", *shares, *gains, f"{mean[8]:.2f}"])
    print_table(("votes", "model", "campaigns", "coverage", "powered", "width", "ρ_w: gain", "τ_w: gain", "λ"), lines)


if __name__ == "__main__":
    main()
