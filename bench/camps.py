"""`python -m bench.camps FOLDER`: how often one panel is taken for two camps, and two camps are told, by simulation.

A camp's true similarities are those of the other mixed with new ones: their normal scores correlate by .5 or .8,
and the second camp has a half or a fifth of the voters. One panel is the paper's, with a fifth of random clickers, or
with opinions twice as far apart. Campaign s of a kind has the seed (seed, s). Figures go to FOLDER, a file a kind, a
line a campaign; what is there is not made again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import click
import numpy as np
from scipy.special import ndtri

from bench.cells import Cell, Row, carry_out, print_table, with_run
from bench.cells import votes_of as votes_of_ballots
from core.plan import Plan
from core.protocols import protocol_of
from core.scores import BallotVotes
from core.scores.bradley_terry import fit_votes
from core.simulation.campaign import Crowd, hold_ballots
from core.simulation.conventions import PAPER
from core.trust.camps import CAMPS_Z, between_camps, find_camps
from core.voters.model import Panel, draw_panel, exponential, power_law

SIZES = ((60, 3, 14, 10), (60, 3, 14, 30), (190, 4, 12, 30), (190, 4, 12, 100), (990, 7, 10, 100))


@dataclass(frozen=True)
class Kind:
    """Items, ballots, M and voters of a campaign, by a protocol; the share of clickers, the factor on σ*, the second
    camp's share of the voters and its correlation with the first."""

    items: int
    ballots: int
    appearances: int
    voters: int
    protocol: str
    clickers: float = 0.0
    spread: float = 1.0
    share: float = 0.0
    correlation: float = 1.0

    @property
    def name(self) -> str:
        what = "one panel"
        if self.share:
            what = f"two camps, {self.share:.0%} of correlation {self.correlation:g}"
        elif self.clickers:
            what = f"{self.clickers:.0%} clickers"
        elif self.spread != 1:
            what = "σ* doubled"
        return f"{self.items} items, {self.voters} voters, {self.protocol}: {what}"


def second_opinion(z: np.ndarray, correlation: float, rng: np.random.Generator) -> np.ndarray:
    """The same values in an order whose normal scores correlate so with those of `z`."""
    normal = ndtri((np.argsort(np.argsort(z)) + 0.5) / len(z))
    mixed = correlation * normal + np.sqrt(1 - correlation**2) * rng.standard_normal(len(z))
    return np.asarray(np.sort(z)[np.argsort(np.argsort(mixed))])


def votes_of(kind: Kind, seed: tuple[int, int]) -> tuple[list[BallotVotes], np.ndarray]:
    """The votes of a campaign, and who is of the second camp."""
    rng = np.random.default_rng(seed)
    panel = Panel(kind.voters, (0.02 * kind.spread, 0.2 * kind.spread), random_clickers=kind.clickers)
    voters = draw_panel(panel, rng)
    z = rng.permutation((exponential, power_law)[seed[1] % 2](kind.items))
    crowd = Crowd(z, voters, "relatedness", PAPER, rng)
    second = np.arange(kind.voters) < round(kind.share * kind.voters)
    if kind.share and crowd.kept is not None:
        other = Crowd(second_opinion(z, kind.correlation, rng), voters, "relatedness", PAPER, rng)
        crowd.opinions[second] = other.opinions[second]
    protocol = protocol_of(kind.protocol)
    plan = Plan(kind.items, kind.ballots, 0.5, kind.appearances)
    return votes_of_ballots(hold_ballots(protocol, plan, crowd.asked_by(protocol, rng), rng=rng)), second


def kinds() -> Iterator[Kind]:
    for size in SIZES:
        for protocol in ("runoff", "paper"):
            one = Kind(*size, protocol)
            yield from (one, replace(one, clickers=0.2), replace(one, spread=2.0))
            yield from (replace(one, share=share, correlation=r) for share, r in ((0.5, 0.5), (0.5, 0.8), (0.2, 0.5)))


def campaign(kind: Kind, seed: tuple[int, int]) -> Row:
    """z, whether two camps are told, the share of voters put into their own camp, and ρ_w between the camps told."""
    votes, second = votes_of(kind, seed)
    camps = find_camps(votes, fit_votes(votes))
    same = float(np.mean(camps.camp == second))
    right = max(same, 1 - same) if kind.share else None
    between = between_camps(votes, camps) if camps.are_two else None
    return {"z": camps.z, "two": bool(camps.are_two), "right": right, "rho_w": between}


@click.command()
@with_run(40, seed=29_101)
@click.option("--two", default=10, show_default=True, help="Of each kind with two camps.")
@click.option("--items", "sizes", multiple=True, type=int, help="Only campaigns of so many items.")
def main(folder: Path, n: int, seed: int, seconds: float, two: int, sizes: tuple[int, ...]) -> None:
    """Simulate what FOLDER lacks, and print the table."""
    chosen = {number: kind for number, kind in enumerate(kinds()) if not sizes or kind.items in sizes}
    cells = [
        Cell(
            (kind.name,),
            f"{number}-{kind.items}-{seed}",
            partial(campaign, kind),
            two if kind.share else None,
        )
        for number, kind in chosen.items()
    ]
    rows = carry_out(cells, n, seed, folder, seconds)
    header = ("", "campaigns", "two camps told", "z: mean, highest", "voters put right", "ρ_w between the camps")
    print_table(header, (_line(cell, found) for cell, found in zip(cells, rows, strict=True) if found))
    of_one = [row for kind, found in zip(chosen.values(), rows, strict=True) if not kind.share for row in found]
    if of_one:
        wrong = sum(row["z"] > CAMPS_Z for row in of_one)
        total = f"{wrong} of {len(of_one)} campaigns of one panel are taken for two camps"
        click.echo(f"\n{total} ({wrong / len(of_one):.1%}).")


def _line(cell: Cell, rows: list[Row]) -> list[str]:
    z = np.array([row["z"] for row in rows])
    told = [row for row in rows if row["two"]]
    figures = ([row[name] for row in told if row[name] is not None] for name in ("right", "rho_w"))
    shares = [f"{np.mean(values):.2f}" if values else "–" for values in figures]
    return [*cell.labels, f"{len(rows)}", f"{np.sum(z > CAMPS_Z)}", f"{z.mean():.1f}, {z.max():.1f}", *shares]


if __name__ == "__main__":
    main()
