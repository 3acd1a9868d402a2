"""`python -m bench.off_model FOLDER`: the protocol "runoff" where voters aren't what its model takes them for.

990 items, all pairs of 45 tokens, seven ballots, α = ½, 100 voters; each condition changes one thing of the paper's
panel. ρ_w and τ_w are between scores and truth; coverage is that of nominal 90% intervals of six models' ρ_w and τ_w,
and of the differences of each and the next (`bench.votes_coverage`). Campaign s of every condition has the seed
(seed, s). Figures go to FOLDER, a file a condition and similarity, a line a campaign; what is there is not made again.
--similarity NAME=FILE adds the similarities in the last column of a CSV file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path

import click
import numpy as np

from bench.camps import second_opinion
from bench.cells import (
    Cell,
    Row,
    carry_out,
    means,
    models_of,
    print_table,
    similarities_of,
    votes_of,
    with_run,
    with_similarities,
)
from bench.votes_coverage import NOISE, shares_held
from core.evaluation.vote_intervals import FIGURES, draw_scores
from core.metrics import weighted_kendall, weighted_spearman
from core.protocols import Votes
from core.protocols.runoff import Runoff, spread_appearances
from core.scores.bradley_terry import fit_votes
from core.simulation.campaign import Crowd, hold_ballots
from core.simulation.conventions import PAPER
from core.tables import Floats, Ints
from core.trust.camps import CAMPS_Z, find_camps
from core.voters.model import PAPER_PANEL, Panel, Voters, decide, draw_panel

TASK = 20  # comparisons in a task
TIRED = 0.3  # ε added at the end of a task by voters who tire, evenly from 0 at its start
LEVEL = 0.05  # opinions nearer than this are a tie, where ties are allowed
TOKENS = 45


class TiringCrowd(Crowd):
    """ε grows within a task of `TASK` comparisons, evenly from the voter's own by `TIRED`."""

    def answer(self, items: Ints, pairs: Ints, rng: np.random.Generator, voter: Ints | None = None) -> Votes:
        assert voter is not None
        order = np.argsort(voter, kind="stable")
        counts = np.bincount(voter, minlength=len(self.voters))
        place = np.empty(len(voter), dtype=np.int64)
        place[order] = np.arange(len(voter)) - np.repeat(np.cumsum(counts) - counts, counts)
        oversight = self.voters.oversight[voter] + TIRED * (place % TASK) / (TASK - 1)
        one, other = self._asked(pairs[:, 0], pairs[:, 1], voter)
        return Votes(items, pairs[:, 0], pairs[:, 1], decide(one, other, oversight, rng), voter)


class TyingCrowd(Crowd):
    """Opinions nearer than `LEVEL` are a tie."""

    def answer(self, items: Ints, pairs: Ints, rng: np.random.Generator, voter: Ints | None = None) -> Votes:
        votes = super().answer(items, pairs, rng, voter)
        one, other = self._asked(pairs[:, 0], pairs[:, 1], votes.voter)
        return votes._replace(outcome=np.where(np.abs(one - other) < LEVEL, 0.5, votes.outcome))


@dataclass(frozen=True)
class Condition:
    """A panel, who answers how, what becomes of the opinions (and of the truth) once they are drawn."""

    panel: Panel = PAPER_PANEL
    crowd: type[Crowd] = Crowd
    changed: Callable[[Crowd, Floats, Voters, np.random.Generator], Floats] = lambda crowd, z, voters, rng: np.abs(z)


def half_known(crowd: Crowd, z: Floats, voters: Voters, rng: np.random.Generator) -> Floats:
    """Each voter knows half of the tokens, and of an item with another one guesses: the opinion of any item."""
    token = np.array(list(combinations(range(TOKENS), 2)))
    for row in crowd.opinions:
        known = np.isin(token, rng.permutation(TOKENS)[: TOKENS // 2]).all(axis=1)
        row[~known] = rng.choice(row, int((~known).sum()))
    return np.abs(z)


def two_camps(crowd: Crowd, z: Floats, voters: Voters, rng: np.random.Generator) -> Floats:
    """Half of the voters hold other similarities (normal scores correlate by .5); the truth is the mean of both."""
    second = second_opinion(z, 0.5, rng)
    half = np.arange(len(voters)) % 2 == 0
    crowd.opinions[half] = Crowd(second, voters, "relatedness", PAPER, rng).opinions[half]
    return np.asarray((np.abs(z) + np.abs(second)) / 2)


CONDITIONS = {
    "the paper's panel": Condition(),
    "every ε .10": Condition(Panel(100, oversight=(0.1, 0.1))),
    "10% click at random": Condition(Panel(100, random_clickers=0.1)),
    "20% click at random": Condition(Panel(100, random_clickers=0.2)),
    "σ* doubled": Condition(Panel(100, (0.04, 0.4))),
    "voters tire: ε + 0 to .3 within a task of 20": Condition(crowd=TiringCrowd),
    "each knows half of the tokens, and guesses else": Condition(changed=half_known),
    "two camps, r = .5": Condition(changed=two_camps),
    "ties allowed: opinions within .05": Condition(crowd=TyingCrowd),
}


def campaign(of: Condition, similarity: Floats, n_comparisons: int, resamples: int, seed: tuple[int, int]) -> Row:
    """One campaign: accuracy, shares of intervals that held, ties, and z of two camps."""
    rng = np.random.default_rng(seed)
    voters = draw_panel(of.panel, rng)
    z = rng.permutation(similarity)
    crowd = of.crowd(z, voters, "relatedness", PAPER, rng)
    truth = of.changed(crowd, z, voters, rng)
    protocol, plan = Runoff(), spread_appearances(len(z), 7, 0.5, n_comparisons)
    votes = votes_of(hold_ballots(protocol, plan, crowd.asked_by(protocol, rng), rng=rng))
    fitted = fit_votes(votes)
    found = {
        "rho_w": weighted_spearman(truth, fitted.fit.theta),
        "tau_w": weighted_kendall(truth, fitted.fit.theta),
        "ties": float(np.mean(np.concatenate([ballot.outcome for ballot in votes]) == 0.5)),
        "camps": find_camps(votes, fitted).z,
    }
    if not resamples:
        return found
    drawn = draw_scores(votes, Runoff.name, resamples=resamples, rng=rng)
    everything = np.ones(len(truth), dtype=np.bool_)
    held = shares_held(truth, drawn.estimate, drawn.drawn, models_of(truth, NOISE, rng), everything)
    columns = [list(FIGURES).index(name) for name in ("rho_w", "tau_w")]
    return found | {"held": held[:, columns].tolist()}


@click.command()
@with_run(20, seed=29_201)
@click.option("--votes", default=9_830, show_default=True)
@click.option("--resamples", default=40, show_default=True, help="0: accuracy alone, without intervals.")
@with_similarities
@click.option("--condition", "chosen", multiple=True, type=int, help="Only this one, from 0. Repeatable.")
def main(
    folder: Path,
    n: int,
    seed: int,
    seconds: float,
    votes: int,
    resamples: int,
    files: tuple[str, ...],
    chosen: tuple[int, ...],
) -> None:
    """Simulate the campaigns that FOLDER lacks, one of each at a time, and print the table."""
    cells = [
        Cell(
            (condition, name),
            f"{place}-{name}-{votes}-{resamples}-{seed}",
            partial(campaign, of, z, votes, resamples),
        )
        for place, (condition, of) in enumerate(CONDITIONS.items())
        if not chosen or place in chosen
        for name, z in similarities_of(files).items()
    ]
    rows = carry_out(cells, n, seed, folder, seconds)
    header = ("", "", "campaigns", "ρ_w", "τ_w", "lowest", "held, ρ_w / difference", "held, τ_w / difference")
    lines = (_line(cell, found) for cell, found in zip(cells, rows, strict=True) if len(found) > 1)
    print_table((*header, "two camps told"), lines)


def _line(cell: Cell, rows: list[Row]) -> list[str]:
    figures = np.array([[row["rho_w"], row["tau_w"]] for row in rows])
    held = np.array([row.get("held", np.full((2, 2), np.nan)) for row in rows])
    shares = [" / ".join(means(held[:, :, figure], 2)) for figure in (0, 1)]
    low, told = figures.min(axis=0), sum(row["camps"] > CAMPS_Z for row in rows)
    return [*cell.labels, f"{len(rows)}", *means(figures), f"{low[0]:.3f}, {low[1]:.3f}", *shares, f"{told}"]


if __name__ == "__main__":
    main()
