"""`python -m bench.aims FOLDER`: how the schedule of the protocol "runoff" trades ρ_w against τ_w.

A schedule says how often the whole field is drawn before the first cut, and how steeply appearances fall with the rank:
an item of rank r appears about (r + 2)^−γ times a constant. Campaign s of every schedule has the seed (seed, s), the
same voters and opinions. Figures go to FOLDER, a file a schedule, similarity and budget, a line a campaign; what is
there is not made again. --design WHOLE,GAMMA,SHARE,LAST takes the family below (of seven ballots, or of a fifth
number), --design rho_w the protocol's own, --design both_many,8 that of eight ballots.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click
import numpy as np

from bench.cells import Cell, Row, carry_out, means, print_table, similarities_of, with_run, with_similarities
from bench.runoff_table import PAPER
from core.metrics import weighted_kendall, weighted_spearman
from core.plan import Plan
from core.protocols import Mode
from core.protocols.base import AIMS
from core.protocols.runoff import QuickRunoff, Runoff, spread_appearances
from core.simulation.campaign import Crowd, hold_ballots
from core.simulation.conventions import PAPER as CONVENTION
from core.tables import Floats
from core.voters.model import Panel, draw_panel


class Scheduled(Runoff):
    """The protocol with sizes and appearances as given."""

    def __init__(self, sizes: Sequence[int], appearances: Sequence[int]) -> None:
        super().__init__()
        self.given = [(n, -(-n * m // 2)) for n, m in zip(sizes, appearances, strict=True)]

    def sizes(self, plan: Plan) -> Sequence[tuple[int, int]]:
        return self.given


class QuickScheduled(Scheduled, QuickRunoff):
    """The same by the protocol's quick way."""


def schedule(
    n_items: int, n_comparisons: int, whole: int, gamma: float, share: float, last: int, n_ballots: int = 7
) -> tuple[list[int], list[int]]:
    """Sizes and appearances: `whole` ballots of all items, of whose appearances the first has `share`; then even cuts
    down to `last` items; an item appears about (rank + 2)^−γ times a constant."""
    cuts = n_ballots - whole
    keep = (last / n_items) ** (1 / cuts)
    sizes = [n_items] * whole + [round(n_items * keep**k) for k in range(1, cuts + 1)]
    edges = [*sizes[whole - 1 :], 0]
    groups = [np.arange(low, high) + 1 for high, low in itertools.pairwise(edges)]
    wanted = np.array([np.mean((ranks + 2.0) ** -gamma) for ranks in groups])
    steps = np.diff(wanted, prepend=0.0)
    first = share if whole > 1 else 1.0
    profile = [steps[0] * first] + [steps[0] * (1 - first) / max(whole - 1, 1)] * (whole - 1) + list(steps[1:])

    def of(scale: float) -> list[int]:
        return [max(2, int(scale * m)) for m in profile]

    def cost(appearances: Sequence[int]) -> int:
        return sum(-(-n * m // 2) for n, m in zip(sizes, appearances, strict=True))

    low, high = 0.0, 1e6
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if cost(of(middle)) <= n_comparisons else (low, middle)
    appearances = of(low)
    for ballot in reversed(range(n_ballots)):
        more = [*appearances[:ballot], appearances[ballot] + 1, *appearances[ballot + 1 :]]
        if cost(more) <= n_comparisons:
            appearances = more
    return sizes, appearances


def campaign(similarity: Floats, design: str, n_comparisons: int, quick: bool, seed: tuple[int, int]) -> Row:
    """ρ_w and τ_w of a campaign by a design, its sizes and appearances, and the seconds of a processor it took."""
    start = time.process_time()
    aim, _, n_ballots = design.partition(",")
    if aim in AIMS:
        plan = spread_appearances(len(similarity), int(n_ballots or 7), 0.5, n_comparisons, aim)
        sizes, appearances = list(plan.sizes), list(plan.appearances_by_ballot)
    else:
        whole, gamma, share, last, *ballots = design.split(",")
        shape = int(whole), float(gamma), float(share), int(last)
        sizes, appearances = schedule(len(similarity), n_comparisons, *shape, int(ballots[0]) if ballots else 7)
    rng = np.random.default_rng(seed)
    protocol = (QuickScheduled if quick else Scheduled)(sizes, appearances)
    voters = draw_panel(Panel(100), rng)
    crowd = Crowd(similarity, voters, "relatedness", CONVENTION, rng)
    held = hold_ballots(protocol, Plan(len(similarity), 7, 0.5, 2), crowd.asked_by(protocol, rng), rng=rng)
    theta, truth = protocol.field(held, Mode.QUICK).rank_by, np.abs(similarity)
    accuracy = [weighted_spearman(truth, theta), weighted_kendall(truth, theta)]
    seconds = round(time.process_time() - start, 3)
    return {"n": seed[1], "found": accuracy, "sizes": sizes, "M": appearances, "seconds": seconds}


@click.command()
@with_run(6, seed=29_001)
@click.option(
    "--design",
    "designs",
    multiple=True,
    help="WHOLE,GAMMA,SHARE,LAST, BALLOTS; or an aim, BALLOTS.",
)
@click.option("--votes", multiple=True, type=int, default=(PAPER // 2,), show_default=True)
@click.option("--quick", is_flag=True, help="As the planner simulates: the same figures in a sixth of the time.")
@with_similarities
def main(
    folder: Path,
    n: int,
    seed: int,
    seconds: float,
    designs: tuple[str, ...],
    votes: tuple[int, ...],
    quick: bool,
    files: tuple[str, ...],
) -> None:
    """Simulate what FOLDER lacks, a campaign of each at a time, and print the table."""
    cells = [
        Cell(
            (name, f"{budget:,}", design),
            f"{name}-{budget}-{design}-{seed}" + "-quick" * quick,
            partial(campaign, z, design, budget, quick),
        )
        for budget in votes
        for design in designs
        for name, z in similarities_of(files).items()
    ]
    rows = carry_out(cells, n, seed, folder, seconds)
    header = ("similarity", "votes", "design", "sizes, M", "campaigns", "ρ_w", "τ_w", "lowest", "s a campaign")
    print_table(header, (_line(cell, found) for cell, found in zip(cells, rows, strict=True) if len(found) > 1))


def _line(cell: Cell, rows: list[Row]) -> list[str]:
    figures = np.array([row["found"] for row in rows])
    low, seconds = figures.min(axis=0), np.mean([row["seconds"] for row in rows])
    shape = f"{rows[0]['sizes']} {rows[0]['M']}"
    return [*cell.labels, shape, f"{len(rows)}", *means(figures, 4), f"{low[0]:.3f}, {low[1]:.3f}", f"{seconds:.2f}"]


if __name__ == "__main__":
    main()
