"""`python -m bench.votes_coverage`: how often intervals over votes hold, by the size of the campaign.

Each campaign of the protocol "runoff" is compared with six models: normal scores of the true ranks plus normal noise.
Shares are of models, and of the differences of each and the next; "area" is the same over a part of the items drawn at
random: a quarter, or 190 of 990. --embedding FILE.csv takes similarities from its last column, for 990 items its first.
Figures go to --folder, a file a kind, a line a campaign; what is there is not made again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
import numpy as np

from bench.cells import DEMO, Cell, Row, carry_out, models_of, print_table, read_similarities, votes_of
from core.evaluation import correlations
from core.evaluation.vote_intervals import FIGURES, Resampled, draw_scores, interval
from core.protocols.runoff import spread_appearances
from core.simulation import simulate_campaign
from core.tables import Bools, Floats
from core.voters.model import Panel, exponential, power_law

LOW, HIGH = 0.86, 0.94
NOISE = (0.15, 0.3, 0.45, 0.7, 1.1, 2.0)  # of the models


@dataclass(frozen=True)
class Kind:
    """Items, ballots (α = ½), votes and voters of a campaign, and what its similarities are like."""

    similarity: str
    items: int
    ballots: int
    votes: int
    voters: int

    def draw(self, pool: Floats, rng: np.random.Generator) -> Floats:
        """The similarities in a drawn order; those of "embedding" are drawn from the pool themselves."""
        if self.similarity == "embedding":
            return rng.permutation(pool[: self.items]) if self.items > 500 else rng.choice(pool, self.items, False)
        return rng.permutation((exponential if self.similarity == "exponential" else power_law)(self.items))


SIZES = (
    (60, 3, 840, 100), (60, 3, 840, 20), (150, 3, 2100, 60), (300, 5, 4500, 60), (990, 7, 19_660, 100),
    (990, 7, 9_830, 100),
)  # fmt: skip
KINDS = tuple(Kind(name, *size) for size in SIZES for name in ("exponential", "power law", "embedding"))


def held_of(kind: Kind, pool: Floats, rng: np.random.Generator, resamples: int) -> Row:
    """Whether one campaign's intervals held the truth, under "all" and "area": (2, figures), models and differences."""
    z = kind.draw(pool, rng)
    plan = spread_appearances(kind.items, kind.ballots, 0.5, kind.votes)
    held = simulate_campaign(z, plan, protocol="runoff", rng=rng, panel=Panel(kind.voters)).held
    drawn = draw_scores(votes_of(held), "runoff", resamples=resamples, rng=rng)
    truth = np.abs(z)
    models = models_of(truth, NOISE, rng)
    area = np.zeros(kind.items, dtype=np.bool_)
    area[rng.choice(kind.items, 190 if kind.items == 990 else kind.items // 4, replace=False)] = True
    parts = {"all": np.ones(kind.items, dtype=np.bool_)} | ({"area": area} if kind.items >= 150 else {})
    return {
        name: shares_held(truth, drawn.estimate, drawn.drawn, models, rows).tolist() for name, rows in parts.items()
    }


def shares_held(truth: Floats, scores: Floats, drawn: Floats, models: list[Floats], rows: Bools) -> Floats:
    """Shares of the models, and of the differences of each and the next, whose interval of each figure over `rows` held
    the truth, (2, figures)."""
    resampled = Resampled(drawn)
    own = resampled.figures(scores, rows, 2.0)
    moved = [resampled.figures(model, rows, 2.0) for model in models]
    result = np.zeros((2, len(FIGURES)))
    for column, name in enumerate(FIGURES):
        true, found = (
            np.array([getattr(correlations(by[rows], model[rows], names=[name]), name).estimate for model in models])
            for by in (truth, scores)
        )
        draws = np.array([each[name] for each in moved])
        for row, (t, e, d) in enumerate(
            ((true, found, draws), (-np.diff(true), -np.diff(found), -np.diff(draws, axis=0)))
        ):
            hits = []
            for value, estimate, values in zip(t, e, d, strict=True):
                bounds = interval(estimate, values, own[name], name=name, of_difference=bool(row), n_items=len(truth))
                hits.append(bounds is not None and bounds.lower <= value <= bounds.upper)
            result[row, column] = np.mean(hits)
    return result


@click.command()
@click.option("--campaigns", "n", default=40, show_default=True, help="Of each kind.")
@click.option("--first", default=7001, show_default=True, help="Number of the first campaign.")
@click.option("--resamples", default=60, show_default=True)
@click.option("--items", "sizes", multiple=True, type=int, help="Only campaigns of so many items. Repeatable.")
@click.option("--embedding", type=click.Path(path_type=Path), help="CSV file; default: the demo's, up to 300 items.")
@click.option("--folder", type=click.Path(path_type=Path), help="Where a run goes on; else nothing is kept.")
def main(
    n: int, first: int, resamples: int, sizes: tuple[int, ...], embedding: Path | None, folder: Path | None
) -> None:
    """Print how often nominal 90% intervals held the truth."""
    pool = read_similarities(embedding or DEMO)

    def campaign(kind: Kind, seed: tuple[int, int]) -> Row:
        rng = np.random.default_rng([sum(seed), kind.items, kind.votes, kind.voters, 4])
        return held_of(kind, pool, rng, resamples)

    cells = [
        Cell(
            (f"{kind.similarity}, {kind.items} items, {kind.votes:,} votes, {kind.voters} voters",),
            f"{kind.similarity}-{kind.items}-{kind.votes}-{kind.voters}-{resamples}-{first}",
            partial(campaign, kind),
        )
        for kind in KINDS
        if (not sizes or kind.items in sizes) and (kind.similarity != "embedding" or kind.items <= len(pool))
    ]
    lines, every_mean = [], []
    for cell, rows in zip(cells, carry_out(cells, n, first, folder), strict=True):
        for part in rows[0] if rows else ():
            mean = np.mean([row[part] for row in rows], axis=0)
            every_mean.append(mean)
            shares = [f"{one:.2f} / {pair:.2f}".replace("0.", ".") for one, pair in mean.T]
            lines.append([cell.labels[0] + ", area" * (part == "area"), f"{len(rows)}", *shares])
    if not every_mean:
        return
    shares = [f"{one:.3f} / {pair:.3f}" for one, pair in np.mean(every_mean, axis=0).T]
    print_table(("", "campaigns", *(f"{name} / difference" for name in FIGURES)), [*lines, ["*mean*", "", *shares]])
    held = np.round(every_mean, 9)
    inside, above = int(np.sum((held >= LOW) & (held <= HIGH))), int(np.sum(held > HIGH))
    click.echo(f"\n{inside} of {held.size} shares lie from {LOW} to {HIGH}, {above} above.")


if __name__ == "__main__":
    main()
