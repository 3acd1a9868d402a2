"""`python -m bench.aims FOLDER`: how the schedule of the protocol "runoff" trades ρ_w against τ_w.

A schedule says how often the whole field is drawn before the first cut, and how steeply appearances fall with the rank:
an item of rank r appears about (r + 2)^−γ times a constant. Campaign s of every schedule has the seed (seed, s), the
same voters and opinions. Figures go to FOLDER, a file a schedule, similarity and budget, a line a campaign; what is
there is not made again. --design WHOLE,GAMMA,SHARE,LAST takes the family below, --design rho_w the protocol's own.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from bench.runoff_table import PAPER, Floats, read_similarities
from core.metrics import weighted_kendall, weighted_spearman
from core.plan import Plan
from core.protocols import Held, Mode, Votes
from core.protocols.base import AIMS
from core.protocols.runoff import Runoff, spread_appearances
from core.simulation.campaign import Crowd, hold_ballots
from core.simulation.conventions import PAPER as CONVENTION
from core.tables import Ints
from core.voters.model import Panel, draw_panel, exponential, power_law


class Scheduled(Runoff):
    """The protocol with sizes and appearances as given."""

    def __init__(self, sizes: Sequence[int], appearances: Sequence[int]) -> None:
        super().__init__()
        self.given = [(n, -(-n * m // 2)) for n, m in zip(sizes, appearances, strict=True)]

    def sizes(self, plan: Plan) -> Sequence[tuple[int, int]]:
        return self.given


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


def campaign(similarity: Floats, protocol: Runoff, plan: Plan, seed: tuple[int, int], panel: Panel) -> Floats:
    """ρ_w and τ_w of a campaign, (2,)."""
    rng = np.random.default_rng(seed)
    voters = draw_panel(panel, rng)
    crowd = Crowd(similarity, voters, "relatedness", CONVENTION, rng)

    def ask(items: Ints, pairs: Ints, held: Sequence[Held]) -> Votes:
        return crowd.answer(items, pairs, rng, protocol.assign(pairs, held, len(voters), rng))

    held = hold_ballots(protocol, plan, ask, rng=rng)
    theta, truth = protocol.field(held, Mode.QUICK).rank_by, np.abs(similarity)
    return np.array([weighted_spearman(truth, theta), weighted_kendall(truth, theta)])


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--design", "designs", multiple=True, help="WHOLE,GAMMA,SHARE,LAST; or an aim: both, rho_w, tau_w.")
@click.option("--votes", multiple=True, type=int, default=(PAPER // 2,), show_default=True)
@click.option("--campaigns", "n", default=6, show_default=True)
@click.option("--seed", default=29_001, show_default=True)
@click.option("--similarity", "files", multiple=True, help="NAME=FILE.csv")
@click.option("--seconds", default=500.0, show_default=True, help="No campaign is begun after so many.")
def main(
    folder: Path,
    designs: tuple[str, ...],
    votes: tuple[int, ...],
    n: int,
    seed: int,
    files: tuple[str, ...],
    seconds: float,
) -> None:
    """Simulate what FOLDER lacks, a campaign of each at a time, and print the table."""
    similarities = {"exponential": exponential(990), "power law": power_law(990)}
    similarities |= {name: read_similarities(Path(path)) for name, _, path in (file.partition("=") for file in files)}
    folder.mkdir(parents=True, exist_ok=True)
    kinds = [(budget, design, name) for budget in votes for design in designs for name in similarities]
    start = time.monotonic()
    for number in range(n):
        for budget, design, name in kinds:
            path = folder / f"{name}-{budget}-{design}-{seed}.jsonl"
            there = path.read_text().count("\n") if path.exists() else 0
            if there > number or time.monotonic() - start > seconds:
                continue
            z = similarities[name]
            if design in AIMS:
                plan = spread_appearances(len(z), 7, 0.5, budget, design)
                sizes, appearances = list(plan.sizes), list(plan.appearances_by_ballot)
            else:
                whole, gamma, share, last = design.split(",")
                sizes, appearances = schedule(len(z), budget, int(whole), float(gamma), float(share), int(last))
            began = time.process_time()
            found = campaign(z, Scheduled(sizes, appearances), Plan(len(z), 7, 0.5, 2), (seed, number), Panel(100))
            row = {"n": number, "found": found.tolist(), "sizes": sizes, "M": appearances}
            with path.open("a") as file:
                file.write(json.dumps(row | {"seconds": round(time.process_time() - began, 3)}) + "\n")
    for budget, design, name in kinds:
        path = folder / f"{name}-{budget}-{design}-{seed}.jsonl"
        rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        if len(rows) > 1:
            values = np.array([row["found"] for row in rows])
            mean, error, low = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(rows)), values.min(axis=0)
            click.echo(
                f"| {name} | {budget:,} | {design} | {rows[0]['sizes']} {rows[0]['M']} | {len(rows)} "
                f"| {mean[0]:.4f} ± {error[0]:.4f} | {mean[1]:.4f} ± {error[1]:.4f} | {low[0]:.3f}, {low[1]:.3f} "
                f"| {np.mean([row['seconds'] for row in rows]):.2f} |"
            )


if __name__ == "__main__":
    main()
