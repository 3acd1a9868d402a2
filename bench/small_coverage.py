"""`python -m bench.small_coverage FOLDER`: how often intervals hold in small campaigns: of ranks, scores, ρ_w and τ_w.

Twelve kinds of campaign of the protocol "runoff", the paper's panel, α = ½. The similarities of campaign s are
exponential, power law, or drawn from the demo's cosines, in turn; its seed is (seed, s, kind). Ranks are the true ones;
the true score of an item is the share of votes it would win against all others from the population that the voters were
drawn from (2,000 voters). ρ_w and τ_w: intervals of six models against the true ranking, and of the differences of
each and the next (`bench.votes_coverage`). The intervals that one campaign gives hang together, so standard errors are
of the means of campaigns. Figures go to FOLDER, a file a kind, a line a campaign; what is there is not made again.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import click
import numpy as np
from scipy.special import ndtri

from bench.runoff_table import Floats, read_similarities
from bench.votes_coverage import DEMO, NOISE, Kind, shares_held
from core.evaluation.vote_intervals import FIGURES, draw_scores
from core.metrics import average_ranks
from core.protocols import Votes, protocol_of
from core.protocols.runoff import Runoff, spread_appearances
from core.scores import BallotVotes
from core.scores.bradley_terry import fit_votes
from core.simulation import simulate_campaign
from core.voters.model import Panel, draw_panel, opinions

# items, ballots, votes, voters
CELLS = (
    (20, 2, 300, 5), (20, 2, 300, 30), (20, 2, 900, 10),
    (60, 3, 840, 5), (60, 3, 840, 10), (60, 3, 840, 30), (60, 3, 1680, 30),
    (190, 4, 1071, 30), (190, 4, 2142, 30), (190, 4, 4000, 10),
    (300, 4, 2400, 30), (300, 4, 4000, 30),
)  # fmt: skip
SIMILARITIES = ("exponential", "power law", "embedding")
NAMES = ("score", "rank", "score of the first ten", "rank of the first ten")
RESAMPLED = 60  # for ρ_w and τ_w
POPULATION = 2_000


def population_scores(z: Floats, rng: np.random.Generator) -> Floats:
    """The share of votes each item would win against all others, (n,)."""
    voters = draw_panel(Panel(POPULATION), rng)
    held = opinions(z, voters, seed=int(rng.integers(2**31)))
    won = np.argsort(np.argsort(held, axis=1), axis=1) / (len(z) - 1)
    clear = 1 - 2 * voters.oversight
    return np.asarray((clear[:, None] * won + voters.oversight[:, None]).mean(axis=0))


def campaign(kind: Kind, pool: Floats, rng: np.random.Generator) -> dict[str, list[float]]:
    """Shares of one campaign's intervals that held, and mean widths of those of scores and ranks."""
    z = kind.draw(pool, rng)
    plan = spread_appearances(kind.items, kind.ballots, 0.5, kind.votes)
    simulated = simulate_campaign(z, plan, protocol=Runoff.name, rng=rng, panel=Panel(kind.voters))
    votes = [BallotVotes(*Votes.of(ballot.votes)) for ballot in simulated.held]
    protocol, truth = protocol_of(Runoff.name), np.abs(z)
    scored = protocol.of_fit(fit_votes(votes))
    assert scored is not None
    found = protocol.intervals(votes, scored, 0.9, rng).columns
    score, rank = population_scores(z, rng), average_ranks(truth)
    held = np.array([
        (found["lower"] <= score) & (score <= found["upper"]),
        (found["rank_lower"] <= rank) & (rank <= found["rank_upper"]),
    ])  # fmt: skip
    top = rank <= 10
    drawn = draw_scores(votes, Runoff.name, resamples=RESAMPLED, rng=rng)
    normal = -ndtri((rank - 0.5) / kind.items)
    models = [normal + noise * rng.standard_normal(kind.items) for noise in NOISE]
    every = np.ones(kind.items, dtype=np.bool_)
    of_models = shares_held(truth, drawn.estimate, drawn.drawn, models, every)
    columns = [list(FIGURES).index(name) for name in ("rho_w", "tau_w")]
    return {
        "items": [*held.mean(axis=1), *held[:, top].mean(axis=1)],
        "models": of_models[:, columns].T.ravel().tolist(),
        "width": [
            float(np.mean(found["upper"] - found["lower"])),
            float(np.mean(found["rank_upper"] - found["rank_lower"])),
        ],
        "bias": [float(np.mean((scored.score - score)[top])), float(np.sqrt(np.mean((scored.score - score) ** 2)))],
    }


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--campaigns", "n", default=60, show_default=True, help="Of each kind.")
@click.option("--seed", default=29_401, show_default=True)
@click.option("--cell", "cells", multiple=True, type=int, help="Only this kind, from 0. Repeatable.")
@click.option("--seconds", default=500.0, show_default=True, help="No campaign is begun after so many.")
def main(folder: Path, n: int, seed: int, cells: tuple[int, ...], seconds: float) -> None:
    """Simulate the campaigns that FOLDER lacks, one of each at a time, and print how often 90% intervals held."""
    pool, start = read_similarities(DEMO), time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    chosen = cells or tuple(range(len(CELLS)))
    paths = {cell: folder / f"{'-'.join(map(str, CELLS[cell]))}-{seed}.jsonl" for cell in chosen}
    for number in range(n):
        for cell, path in paths.items():
            there = path.read_text().count("\n") if path.exists() else 0
            if there > number or time.monotonic() - start > seconds:
                continue
            kind = Kind(SIMILARITIES[number % 3], *CELLS[cell])
            found = campaign(kind, pool, np.random.default_rng((seed, number, cell)))
            with path.open("a") as file:
                file.write(json.dumps(found) + "\n")
    header = ("", "campaigns", *NAMES, "ρ_w / difference", "τ_w / difference", "error of a score")
    click.echo(f"| {' | '.join(header)} |\n" + "|---" * len(header) + "|")
    for cell, path in paths.items():
        rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        if len(rows) < 2:
            continue
        items, models, bias = (np.array([row[name] for row in rows]) for name in ("items", "models", "bias"))
        mean, error = items.mean(axis=0), items.std(axis=0, ddof=1) / np.sqrt(len(rows))
        of_models, spread = models.mean(axis=0), models.std(axis=0, ddof=1) / np.sqrt(len(rows))
        size, ballots, votes, voters = CELLS[cell]
        cells_ = [f"{m:.2f} ± {e:.2f}" for m, e in zip(mean, error, strict=True)]
        cells_ += [
            f"{of_models[k]:.2f} ± {spread[k]:.2f} / {of_models[k + 1]:.2f} ± {spread[k + 1]:.2f}" for k in (0, 2)
        ]
        click.echo(
            f"| {size} items, {votes:,} votes, {voters} voters, {ballots} ballots | {len(rows)} | {' | '.join(cells_)} "
            f"| {bias[:, 1].mean():.3f} |"
        )


if __name__ == "__main__":
    main()
