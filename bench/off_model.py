"""`python -m bench.off_model FOLDER`: the protocol "runoff" where voters aren't what its model takes them for.

990 items, all pairs of 45 tokens, seven ballots, α = ½, 100 voters; each condition changes one thing of the paper's
panel. ρ_w and τ_w are between scores and truth; coverage is that of nominal 90% intervals of six models' ρ_w and τ_w,
and of the differences of each and the next (`bench.votes_coverage`). Campaign s of every condition has the seed
(seed, s). Figures go to FOLDER, a file a condition and similarity, a line a campaign; what is there is not made again.
--similarity NAME=FILE adds the similarities in the last column of a CSV file.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import click
import numpy as np
from scipy.special import ndtri

from bench.camps import second_opinion
from bench.runoff_table import Floats, read_similarities
from bench.votes_coverage import NOISE, shares_held
from core.evaluation.vote_intervals import FIGURES, draw_scores
from core.metrics import average_ranks, weighted_kendall, weighted_spearman
from core.protocols import Held, Votes
from core.protocols.runoff import Runoff, spread_appearances
from core.scores import BallotVotes
from core.scores.bradley_terry import fit_votes
from core.simulation.campaign import Crowd, hold_ballots
from core.simulation.conventions import PAPER
from core.tables import Ints
from core.trust.camps import CAMPS_Z, find_camps
from core.voters.model import PAPER_PANEL, Panel, Voters, decide, draw_panel, exponential, power_law

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


def campaign(of: Condition, similarity: Floats, n_comparisons: int, seed: tuple[int, int], resamples: int) -> dict:
    """One campaign: accuracy, shares of intervals that held, ties, and z of two camps."""
    rng = np.random.default_rng(seed)
    voters = draw_panel(of.panel, rng)
    z = rng.permutation(similarity)
    crowd = of.crowd(z, voters, "relatedness", PAPER, rng)
    truth = of.changed(crowd, z, voters, rng)
    protocol, plan = Runoff(), spread_appearances(len(z), 7, 0.5, n_comparisons)

    def ask(items: Ints, pairs: Ints, held: Sequence[Held]) -> Votes:
        return crowd.answer(items, pairs, rng, protocol.assign(pairs, held, len(voters), rng))

    votes = [BallotVotes(*Votes.of(ballot.votes)) for ballot in hold_ballots(protocol, plan, ask, rng=rng)]
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
    normal = -ndtri((average_ranks(truth) - 0.5) / len(truth))
    models = [normal + noise * rng.standard_normal(len(truth)) for noise in NOISE]
    held = shares_held(truth, drawn.estimate, drawn.drawn, models, np.ones(len(truth), dtype=np.bool_))
    columns = [list(FIGURES).index(name) for name in ("rho_w", "tau_w")]
    return found | {"held": held[:, columns].tolist()}


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--votes", default=9_830, show_default=True)
@click.option("--campaigns", "n", default=20, show_default=True, help="Of each condition and similarity.")
@click.option("--seed", default=29_201, show_default=True)
@click.option("--resamples", default=40, show_default=True, help="0: accuracy alone, without intervals.")
@click.option("--similarity", "files", multiple=True, help="NAME=FILE.csv")
@click.option("--condition", "chosen", multiple=True, type=int, help="Only this one, from 0. Repeatable.")
@click.option("--seconds", default=500.0, show_default=True, help="No campaign is begun after so many.")
def main(
    folder: Path,
    votes: int,
    n: int,
    seed: int,
    resamples: int,
    files: tuple[str, ...],
    chosen: tuple[int, ...],
    seconds: float,
) -> None:
    """Simulate the campaigns that FOLDER lacks, one of each at a time, and print the table."""
    similarities = {"exponential": exponential(990), "power law": power_law(990)}
    similarities |= {name: read_similarities(Path(path)) for name, _, path in (file.partition("=") for file in files)}
    folder.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    wanted = [condition for place, condition in enumerate(CONDITIONS) if not chosen or place in chosen]
    kinds = [(condition, name) for condition in wanted for name in similarities]
    paths = {
        (condition, name): folder / f"{place}-{name}-{votes}-{resamples}-{seed}.jsonl"
        for place, condition in enumerate(CONDITIONS)
        for name in similarities
    }
    for number in range(n):
        for condition, name in kinds:
            path = paths[condition, name]
            there = path.read_text().count("\n") if path.exists() else 0
            if there > number or time.monotonic() - start > seconds:
                continue
            found = campaign(CONDITIONS[condition], similarities[name], votes, (seed, number), resamples)
            with path.open("a") as file:
                file.write(json.dumps(found) + "\n")
    click.echo(
        "| | | campaigns | ρ_w | τ_w | lowest | held, ρ_w / difference | held, τ_w / difference | two camps told |"
    )
    click.echo("|---" * 9 + "|")
    for condition, name in kinds:
        path = paths[condition, name]
        rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        if len(rows) < 2:
            continue
        figures = np.array([[row["rho_w"], row["tau_w"]] for row in rows])
        mean, error, low = figures.mean(axis=0), figures.std(axis=0, ddof=1) / np.sqrt(len(rows)), figures.min(axis=0)
        held = np.array([row.get("held", np.full((2, 2), np.nan)) for row in rows])
        share, of_share = held.mean(axis=0), held.std(axis=0, ddof=1) / np.sqrt(len(rows))
        told = sum(row["camps"] > CAMPS_Z for row in rows)
        cells = [f"{share[0, k]:.2f} ± {of_share[0, k]:.2f} / {share[1, k]:.2f} ± {of_share[1, k]:.2f}" for k in (0, 1)]
        click.echo(
            f"| {condition} | {name} | {len(rows)} | {mean[0]:.3f} ± {error[0]:.3f} | {mean[1]:.3f} ± {error[1]:.3f} "
            f"| {low[0]:.3f}, {low[1]:.3f} | {cells[0]} | {cells[1]} | {told} |"
        )


if __name__ == "__main__":
    main()
