"""`python -m bench.model_choice FOLDER`: what it does to choose the pairs that people are asked by a model's scores.

The scores are those of people's votes alone, by the protocol "runoff"; only who meets whom, or who goes on, hangs on
the model too. A model's scores agree with the truth by a rank correlation of .3, .6 or .9; or by .9 but for the top
tenth of the items, which is shuffled with a tenth from the middle. Ways to use them:

* half : half of ballot 1's opponents are near in the model's order, the others drawn at random;
* pairs : from ballot 2 on items are near by people's votes and the model together, who goes on is people's alone;
* all : half and pairs; and whom the model places high goes on too, beside whom people's votes do;
* cut : who goes on, and who is near, by people's votes and the model together.

Together: the model's scores are a normal prior of θ, whose slope and variance are fitted to people's votes so far.
Campaign s has the seed (seed, s), the same voters and the same model in every way. Figures go to FOLDER, a line a
campaign; what is there is not made again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
import numpy as np
from scipy.special import ndtri

from bench.cells import Cell, Row, carry_out, means, print_table, with_run
from core.ballots.draw import select_items
from core.ballots.pairing import draw_near_comparisons
from core.metrics import weighted_kendall, weighted_spearman
from core.protocols import Held, Mode
from core.protocols.base import Sampler, SelectedItems
from core.protocols.runoff import Runoff, spread_appearances
from core.scores.bradley_terry import FittedVotes
from core.scores.posterior import Posteriors, item_posteriors
from core.simulation.campaign import Crowd, hold_ballots
from core.simulation.conventions import PAPER
from core.tables import Floats, Ints
from core.voters.model import Panel, draw_panel, exponential, power_law

MODELS = {"0.3": 0.3, "0.6": 0.6, "0.9": 0.9, "0.9, top shuffled": 0.9}
WAYS = {
    "half": {"half"},
    "pairs": {"pairs"},
    "all": {"half", "pairs", "more"},
    "cut": {"cut", "pairs"},
}
SPREAD = 1.0  # of the order by the model's normal scores, whose standard deviation is 1
# Items, ballots, voters; budgets with a model; all budgets of people alone.
SETTINGS = (
    (120, 4, 30, (600, 1200), (400, 600, 900, 1200, 1800)),
    (300, 5, 50, (3000,), (2000, 3000, 4500)),
)
ROUNDS = 20  # of fitting the prior


def normal_scores(values: Floats) -> Floats:
    """The normal quantiles of the ranks."""
    return np.asarray(ndtri((np.argsort(np.argsort(values)) + 0.5) / len(values)))


def model_scores(truth: Floats, model: str, rng: np.random.Generator) -> Floats:
    """Normal scores of a model of `MODELS`."""
    r = 2 * np.sin(np.pi * MODELS[model] / 6)  # of normal scores that have this rank correlation
    scores = normal_scores(r * normal_scores(truth) + np.sqrt(1 - r * r) * rng.standard_normal(len(truth)))
    order, n, tenth = np.argsort(-truth), len(truth), len(truth) // 10
    top, middle = order[:tenth], order[(n - tenth) // 2 :][:tenth]
    if model.endswith("shuffled"):
        both = np.concatenate((top, middle))
        scores[both] = scores[rng.permutation(both)]
    return scores


class Guided(Runoff):
    """The protocol where a model's scores of all items help to choose, in the ways of a set of `WAYS`."""

    def __init__(self, scores: Floats, ways: set[str]) -> None:
        super().__init__()
        self.scores, self.ways = scores, ways

    def select(self, held: Sequence[Held], n: int, rng: np.random.Generator) -> SelectedItems:
        """Who goes on."""
        if not self.ways & {"more", "cut"}:
            return super().select(held, n, rng)
        field = self.field(held)
        fitted: FittedVotes = field.state
        weight = self._together(fitted).expected_weight(2.0)
        if "more" in self.ways:
            weight = np.maximum(weight, item_posteriors(fitted.fit).expected_weight(2.0))
        chosen = np.sort(select_items(np.arange(len(weight)), weight, n, rng=rng).items)
        return SelectedItems(fitted.items[chosen], field.score[chosen], 0, 0)

    def draw(self, items: Ints, n: int, held: Sequence[Held], rng: np.random.Generator, sampler: Sampler) -> Ints:
        """Who meets whom."""
        if not held and "half" in self.ways:
            return self._first(items, n, rng, sampler)
        if not held or "pairs" not in self.ways:
            return super().draw(items, n, held, rng, sampler)
        together = self._together(self.field(held).state)
        mean = together.probability @ together.knots
        variance = together.probability @ together.knots**2 - mean**2
        spread = np.sqrt(np.maximum(variance, 1e-4))
        return draw_near_comparisons(items, 2 * n // len(items), score=mean[items], spread=spread[items], rng=rng)

    def _first(self, items: Ints, n: int, rng: np.random.Generator, sampler: Sampler) -> Ints:
        wide = np.full(len(items), SPREAD)
        near = draw_near_comparisons(items, n // len(items), score=self.scores[items], spread=wide, rng=rng)
        return np.concatenate((near, sampler(items, n - len(near), rng)))

    def _together(self, fitted: FittedVotes) -> Posteriors:
        """The posteriors with the prior N(a + b·model, τ²) in place of the ridge's; a, b, τ² by moments."""
        people, theta, error = item_posteriors(fitted.fit), fitted.fit.theta, fitted.spread**2
        design, least = np.stack((np.ones_like(theta), self.scores), axis=1), 0.02 * float(np.var(theta))
        variance = float(np.var(theta))
        for _ in range(ROUNDS):
            weight = 1.0 / (error + variance)
            line = np.linalg.solve(design.T @ (weight[:, None] * design), design.T @ (weight * theta))
            off = theta - design @ line
            variance = max(float(np.average(off**2 - error, weights=weight**2)), least)
        logs = np.log(np.maximum(people.probability, 1e-300)) + 0.5 * fitted.fit.ridge * people.knots**2
        logs -= 0.5 * (people.knots - (design @ line)[:, None]) ** 2 / variance
        probability = np.exp(logs - logs.max(axis=1, keepdims=True))
        return Posteriors(people.knots, probability / probability.sum(axis=1, keepdims=True), theta)


@dataclass(frozen=True)
class Kind:
    """A campaign of so many items, ballots, voters and comparisons; by which model in which way, or by people alone."""

    items: int
    ballots: int
    voters: int
    budget: int
    model: str = ""
    way: str = "people alone"

    @property
    def name(self) -> str:
        return f"{self.items}-{self.budget}-{self.way}-{self.model}".replace(" ", "_").replace(",", "")


def kinds() -> Iterator[Kind]:
    for items, ballots, voters, budgets, alone in SETTINGS:
        yield from (Kind(items, ballots, voters, budget) for budget in alone)
        for budget in budgets:
            yield from (Kind(items, ballots, voters, budget, model, way) for way in WAYS for model in MODELS)


def accuracy(kind: Kind, seed: tuple[int, int]) -> Row:
    """ρ_w and τ_w of a campaign: exponential and power law in turn."""
    rng = np.random.default_rng(seed)
    z = (exponential, power_law)[seed[1] % 2](kind.items)
    truth = np.abs(z)
    voters = draw_panel(Panel(kind.voters), rng)
    crowd = Crowd(z, voters, "relatedness", PAPER, rng)
    protocol = Runoff()
    if kind.model:
        protocol = Guided(model_scores(truth, kind.model, np.random.default_rng((*seed, 1))), WAYS[kind.way])
    plan = spread_appearances(kind.items, kind.ballots, 0.5, kind.budget)
    held = hold_ballots(protocol, plan, crowd.asked_by(protocol, rng), rng=rng)
    theta = protocol.field(held, Mode.QUICK).rank_by
    return {"rho_w": weighted_spearman(truth, theta), "tau_w": weighted_kendall(truth, theta)}


def saved(kind: Kind, tables: dict[Kind, Floats], n: int, rng: np.random.Generator) -> list[str]:
    """What share of people's votes is saved at ρ_w and τ_w, with the standard error over resampled campaigns.

    log(1 − accuracy) of people alone is taken for a line in the logarithm of their votes.
    """
    alone = {k.budget: tables[k][:n] for k in tables if k.items == kind.items and not k.model}
    budgets = np.log(list(alone))
    found = []
    for column in (0, 1):
        draws = []
        for number in range(201):
            rows = np.arange(n) if number == 0 else rng.integers(n, size=n)
            lost = [float(np.log(1.0 - table[rows, column].mean())) for table in alone.values()]
            slope = np.polyfit(budgets, lost, 1)[0]
            off = np.log(1.0 - tables[kind][rows, column].mean()) - lost[list(alone).index(kind.budget)]
            draws.append(1.0 - np.exp(-off / slope))
        found.append(f"{draws[0]:+.0%} ± {np.std(draws[1:]):.0%}")
    return found


@click.command()
@with_run(100, seed=30_201)
@click.option("--items", "sizes", multiple=True, type=int, help="Only campaigns of so many items.")
@click.option("--way", "ways", multiple=True, type=click.Choice(list(WAYS)), help="Only these ways.")
def main(folder: Path, n: int, seed: int, seconds: float, sizes: tuple[int, ...], ways: tuple[str, ...]) -> None:
    """Simulate what FOLDER lacks, and print the table."""
    every = [
        kind
        for kind in kinds()
        if (not sizes or kind.items in sizes) and (not ways or not kind.model or kind.way in ways)
    ]
    cells = [
        Cell(
            (f"{kind.budget:,}", kind.way, kind.model or "–"),
            f"{kind.name}-{seed}",
            partial(accuracy, kind),
        )
        for kind in every
    ]
    rows = carry_out(cells, n, seed, folder, seconds)
    for items in dict.fromkeys(kind.items for kind in every):
        found = {
            kind: (cell, np.array([[row["rho_w"], row["tau_w"]] for row in there]))
            for kind, cell, there in zip(every, cells, rows, strict=True)
            if kind.items == items
        }
        _print(items, found)


def _print(items: int, found: dict[Kind, tuple[Cell, Floats]]) -> None:
    n = min(len(table) for _, table in found.values())
    if n < 2:
        return
    rng, tables = np.random.default_rng(1), {kind: table[:n] for kind, (_, table) in found.items()}
    lines = []
    for kind, table in tables.items():
        ahead = ["–"] * 3
        if kind.model:
            off = table - tables[Kind(kind.items, kind.ballots, kind.voters, kind.budget)]
            ahead = [", ".join(means(off, 4, "+")), *saved(kind, tables, n, rng)]
        lines.append([*found[kind][0].labels, *means(table, 4), *ahead])
    click.echo(f"\n{items} items, {n} campaigns each\n")
    print_table(("votes", "way", "model", "ρ_w", "τ_w", "difference", "votes saved at ρ_w", "at τ_w"), lines)


if __name__ == "__main__":
    main()
