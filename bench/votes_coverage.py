"""`python -m bench.votes_coverage`: how often intervals over votes hold, by the size of the campaign.

Each campaign of the protocol "runoff" is compared with six models: normal scores of the true ranks plus normal noise.
Shares are of models, and of the differences of each and the next; "area" is the same over a part of the items drawn at
random: a quarter, or 190 of 990. --embedding FILE.csv takes similarities from its last column, for 990 items its first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bench.runoff_table import read_similarities
from core.evaluation import correlations
from core.evaluation.vote_intervals import FIGURES, Resampled, draw_scores, interval
from core.metrics import average_ranks
from core.protocols import Votes
from core.protocols.runoff import spread_appearances
from core.scores import BallotVotes
from core.simulation import simulate_campaign
from core.voters.model import Panel, exponential, power_law

Floats = NDArray[np.float64]

LOW, HIGH = 0.86, 0.94
NOISE = (0.15, 0.3, 0.45, 0.7, 1.1, 2.0)  # of the models
DEMO = Path(__file__).resolve().parents[1] / "data" / "similarity.csv"


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


SIZES = ((60, 3, 840, 100), (60, 3, 840, 20), (150, 3, 2100, 60), (300, 5, 4500, 60), (990, 7, 19_660, 100))
KINDS = tuple(Kind(name, *size) for size in SIZES for name in ("exponential", "power law", "embedding"))


def held_of(kind: Kind, pool: Floats, rng: np.random.Generator, resamples: int) -> dict[str, Floats]:
    """Whether one campaign's intervals held the truth, under "all" and "area": (2, figures), models and differences."""
    z = kind.draw(pool, rng)
    plan = spread_appearances(kind.items, kind.ballots, 0.5, kind.votes)
    held = simulate_campaign(z, plan, protocol="runoff", rng=rng, panel=Panel(kind.voters)).held
    drawn = draw_scores(
        [BallotVotes(*Votes.of(ballot.votes)) for ballot in held], "runoff", resamples=resamples, rng=rng
    )
    truth = np.abs(z)
    normal = -ndtri((average_ranks(truth) - 0.5) / kind.items)
    models = [normal + noise * rng.standard_normal(kind.items) for noise in NOISE]
    area = np.zeros(kind.items, dtype=np.bool_)
    area[rng.choice(kind.items, 190 if kind.items == 990 else kind.items // 4, replace=False)] = True
    parts = {"all": np.ones(kind.items, dtype=np.bool_)} | ({"area": area} if kind.items >= 150 else {})
    return {name: shares_held(truth, drawn.estimate, drawn.drawn, models, rows) for name, rows in parts.items()}


def shares_held(truth: Floats, scores: Floats, drawn: Floats, models: list[Floats], rows: NDArray[np.bool_]) -> Floats:
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


def lines(kinds: tuple[Kind, ...], n: int, first: int, resamples: int, pool: Floats) -> Iterator[str]:
    """A line of the table for each kind and part, as soon as it is known."""
    yield "| | campaigns | " + " | ".join(f"{name} / difference" for name in FIGURES) + " |"
    yield "|---" * (2 + len(FIGURES)) + "|"
    means: list[Floats] = []
    for kind in kinds:
        seeds = [
            np.random.default_rng([number, kind.items, kind.votes, kind.voters, 4])
            for number in range(first, first + n)
        ]
        every = [held_of(kind, pool, rng, resamples) for rng in seeds]
        for part in every[0]:
            mean = np.mean([each[part] for each in every], axis=0)
            means.append(mean)
            cells = [f"{one:.2f} / {pair:.2f}".replace("0.", ".") for one, pair in mean.T]
            what = f"{kind.similarity}, {kind.items} items, {kind.votes:,} votes, {kind.voters} voters"
            yield f"| {what}{', area' * (part == 'area')} | {n} | {' | '.join(cells)} |"
    if means:
        cells = [f"{one:.3f} / {pair:.3f}" for one, pair in np.mean(means, axis=0).T]
        yield f"| *mean* | | {' | '.join(cells)} |"
        shares = np.round(means, 9)
        inside, above = int(np.sum((shares >= LOW) & (shares <= HIGH))), int(np.sum(shares > HIGH))
        yield f"\n{inside} of {shares.size} shares lie from {LOW} to {HIGH}, {above} above."


@click.command()
@click.option("--campaigns", "n", default=40, show_default=True, help="Of each kind.")
@click.option("--first", default=7001, show_default=True, help="Number of the first campaign.")
@click.option("--resamples", default=60, show_default=True)
@click.option("--items", "sizes", multiple=True, type=int, help="Only campaigns of so many items. Repeatable.")
@click.option("--embedding", type=click.Path(path_type=Path), help="CSV file; default: the demo's, up to 300 items.")
def main(n: int, first: int, resamples: int, sizes: tuple[int, ...], embedding: Path | None) -> None:
    """Print how often nominal 90% intervals held the truth."""
    pool = read_similarities(embedding or DEMO)
    kinds = tuple(
        kind
        for kind in KINDS
        if (not sizes or kind.items in sizes) and (kind.similarity != "embedding" or kind.items <= len(pool))
    )
    for line in lines(kinds, n, first, resamples, pool):
        click.echo(line)


if __name__ == "__main__":
    main()
