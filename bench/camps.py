"""`python -m bench.camps FOLDER`: how often one panel is taken for two camps, and two camps are told, by simulation.

A camp's true similarities are those of the other mixed with new ones: their normal scores correlate by .5 or .8,
and the second camp has a half or a fifth of the voters. One panel is the paper's, with a fifth of random clickers, or
with opinions twice as far apart. Campaign s of a kind has the seed (seed, s). Figures go to FOLDER, a file a kind, a
line a campaign; what is there is not made again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
import numpy as np
from scipy.special import ndtri

from core.plan import Plan
from core.protocols import Held, Votes, protocol_of
from core.scores import BallotVotes
from core.scores.bradley_terry import fit_votes
from core.simulation.campaign import Crowd, hold_ballots
from core.simulation.conventions import PAPER
from core.tables import Ints
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

    def ask(items: Ints, pairs: Ints, held: Sequence[Held]) -> Votes:
        return crowd.answer(items, pairs, rng, protocol.assign(pairs, held, len(voters), rng))

    held = hold_ballots(protocol, Plan(kind.items, kind.ballots, 0.5, kind.appearances), ask, rng=rng)
    return [BallotVotes(*Votes.of(ballot.votes)) for ballot in held], second


def kinds() -> Iterator[Kind]:
    for size in SIZES:
        for protocol in ("runoff", "paper"):
            one = Kind(*size, protocol)
            yield from (one, replace(one, clickers=0.2), replace(one, spread=2.0))
            yield from (replace(one, share=share, correlation=r) for share, r in ((0.5, 0.5), (0.5, 0.8), (0.2, 0.5)))


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--campaigns", "n", default=40, show_default=True, help="Of each kind.")
@click.option("--two", default=10, show_default=True, help="Of each kind with two camps.")
@click.option("--seed", default=29_101, show_default=True)
@click.option("--items", "sizes", multiple=True, type=int, help="Only campaigns of so many items.")
@click.option("--seconds", default=500.0, show_default=True, help="No campaign is begun after so many.")
def main(folder: Path, n: int, two: int, seed: int, sizes: tuple[int, ...], seconds: float) -> None:
    """Simulate what FOLDER lacks, and print the table."""
    folder.mkdir(parents=True, exist_ok=True)
    start, every = time.monotonic(), [kind for kind in kinds() if not sizes or kind.items in sizes]
    paths = {kind: folder / f"{number}-{kind.items}-{seed}.jsonl" for number, kind in enumerate(kinds())}
    for number in range(n):
        for kind in every:
            there = paths[kind].read_text().count("\n") if paths[kind].exists() else 0
            if there > number or (kind.share and number >= two) or time.monotonic() - start > seconds:
                continue
            votes, second = votes_of(kind, (seed, number))
            found = find_camps(votes, fit_votes(votes))
            right = float(np.mean(found.camp == second)) if kind.share else None
            right = None if right is None else max(right, 1 - right)
            apart = between_camps(votes, found) if found.are_two else None
            with paths[kind].open("a") as file:
                row = {"z": found.z, "two": bool(found.are_two), "right": right, "rho_w": apart}
                file.write(json.dumps(row) + "\n")
    click.echo("| | campaigns | two camps told | z: mean, highest | voters put right | ρ_w between the camps |")
    click.echo("|---" * 6 + "|")
    wrong = total = 0
    for kind in every:
        rows = [json.loads(line) for line in paths[kind].read_text().splitlines()] if paths[kind].exists() else []
        if not rows:
            continue
        z, told = np.array([row["z"] for row in rows]), sum(row["z"] > CAMPS_Z for row in rows)
        if not kind.share:
            wrong, total = wrong + told, total + len(rows)
        put_right = [row["right"] for row in rows if row["two"] and row["right"] is not None]
        between = [row["rho_w"] for row in rows if row["two"] and row["rho_w"] is not None]
        click.echo(
            f"| {kind.name} | {len(rows)} | {told} | {z.mean():.1f}, {z.max():.1f} "
            f"| {f'{np.mean(put_right):.2f}' if put_right else '–'} | {f'{np.mean(between):.2f}' if between else '–'} |"
        )
    if total:
        click.echo(f"\n{wrong} of {total} campaigns of one panel are taken for two camps ({wrong / total:.1%}).")


if __name__ == "__main__":
    main()
