"""`python -m bench.people`: the protocols on real people's opinions, the ceiling beside them, and what would raise it.

Needs the ratings of SimVerb-3500 as one table of ratings (token_a, token_b, voter, rating) and those of WordSim-353 a
column a person; neither is shipped with Runoff. Says so and ends where they are absent. Some minutes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
import pandas as pd

from bench.people_ceilings import ceiling_of, forecast_ceiling, model_ceiling, spearman_brown, top_verdict
from bench.people_replay import Averaged, replay_splits
from core.plan import Plan
from core.protocols import PROTOCOLS

FIGURES = ("rho_w", "tau_w", "rho", "tau")
SUBSET_SEEDS = (1, 2, 3)  # of the 990 pairs taken from SimVerb
PLANS = {990: Plan(990, 7, 0.5, 20), 153: Plan(153, 5, 0.5, 20), 200: Plan(200, 5, 0.5, 20)}


@dataclass(frozen=True, eq=False)
class RatedData:
    """A data set: people × items, NaN where there is no rating."""

    name: str
    ratings: np.ndarray


def read_simverb(path: Path) -> np.ndarray:
    """One row a rating; items and people in alphabetical order. Shape (702, 3520)."""
    table = pd.read_csv(path, keep_default_na=False)
    _, item = np.unique((table["token_a"] + "\t" + table["token_b"]).to_numpy(str), return_inverse=True)
    _, person = np.unique(table["voter"].to_numpy(str), return_inverse=True)
    ratings = np.full((person.max() + 1, item.max() + 1), np.nan)
    ratings[person, item] = table["rating"].to_numpy(float)
    return ratings


def read_wordsim(path: Path) -> np.ndarray:
    """Two words, the mean, then a column a person."""
    return pd.read_csv(path, keep_default_na=False).iloc[:, 3:].to_numpy(float).T


def data_sets(folder: Path) -> Iterator[RatedData]:
    """Every data set there is in the folder."""
    if (folder / "simverb_ratings.csv.gz").exists():
        simverb = read_simverb(folder / "simverb_ratings.csv.gz")
        for seed in SUBSET_SEEDS:
            chosen = np.random.default_rng(seed).choice(simverb.shape[1], 990, replace=False)
            yield RatedData(f"SimVerb, 990 pairs (draw {seed})", simverb[:, np.sort(chosen)])
    for number in (1, 2):
        path = folder / f"wordsim353_set{number}.csv"
        if path.exists():
            yield RatedData(f"WordSim-353, set {number}", read_wordsim(path))


def line(name: str, found: Averaged, *, signed: bool = False) -> str:
    """A line of a table: mean ± standard error of the four figures."""
    form = "+.3f" if signed else ".3f"
    cells = (
        f"{getattr(found.mean, figure):{form}} ± {getattr(found.standard_error, figure):.3f}" for figure in FIGURES
    )
    return f"  {name:34}" + "".join(f"{cell:>17}" for cell in cells)


def replays(data: RatedData, splits: int, seed: int) -> str:
    """Protocols against the ceiling, and their differences split by split."""
    n_people, n_items = data.ratings.shape
    replay = replay_splits(data.ratings, PLANS[n_items], protocols=tuple(PROTOCOLS), splits=splits, seed=seed)
    lines = [
        f"{data.name}: {n_people} people, {replay.n_items:.0f} of {n_items} items rated by both halves, "
        f"{replay.n_comparisons:,.0f} votes, {splits} splits, seed {seed}",
        f"  {'':34}" + "".join(f"{figure:>17}" for figure in FIGURES),
    ]
    lines += [
        line(f"{name} ({replay.ties[name]:.0%} ties, {replay.of_two[name]:.0%} of two)", found)
        for name, found in replay.protocols.items()
    ]
    lines.append(line("ceiling: half against half", replay.ceiling))
    others = [name for name in replay.protocols if name != "uniform"]
    lines += [line(f"{name} less uniform", replay.difference(name, "uniform"), signed=True) for name in others]
    return "\n".join(lines)


def forecasts(data: RatedData, seed: int) -> str:
    """The ceiling as more ratings would raise it, and the verdict in words."""
    rng = np.random.default_rng(seed)
    ceiling, model = model_ceiling(data.ratings, rng=rng)
    found = forecast_ceiling(model, rng=rng)
    observed = ceiling.agreement.mean
    lines = [
        f"{data.name}: reliability of all people's means {ceiling.reliability:.3f}; model r {model.share:.2f}, "
        f"κ {model.packing:.2f}; observed rho_w {observed.rho_w:.3f}, rho {observed.rho:.3f}"
    ]
    lines += [
        f"  × {f.times:<4g}{'even' if f.is_even else '':6}{f.ratings_per_item:6.1f} a half   "
        f"rho_w {f.agreement.mean.rho_w:.3f}   rho {f.agreement.mean.rho:.3f}   "
        f"Spearman–Brown of rho {spearman_brown(observed.rho, f.times):.3f}, "
        f"of rho_w {spearman_brown(observed.rho_w, f.times):.3f}"
        for f in found
    ]
    return "\n".join([*lines, f"  {top_verdict(ceiling, found).text}"])


def checks(data: RatedData, seed: int, rounds: int) -> str:
    """What half of the ratings forecast for twice as many, against what all of them show."""
    rng = np.random.default_rng(seed)
    n_people = len(data.ratings)
    rows = []
    for _ in range(rounds):
        part = data.ratings
        if np.isnan(part).any():  # few ratings an item: drop each with a chance of a half
            part = np.where(rng.random(part.shape) < 0.5, part, np.nan)
            part = part[:, ~np.isnan(part).all(axis=0)]
        else:
            part = part[rng.choice(n_people, n_people // 2, replace=False)]
        ceiling, model = model_ceiling(part, rng=rng)
        (_, twice) = forecast_ceiling(model, rng=rng, times=(2.0,))
        rows.append((*ceiling.agreement.mean[::2], *twice.agreement.mean[::2]))
    low_w, low, high_w, high = np.mean(rows, axis=0)
    spread = np.std(rows, axis=0, ddof=1)
    seen = ceiling_of(data.ratings, rng=rng).agreement.mean
    return (
        f"{data.name}: half the ratings show rho_w {low_w:.3f} and forecast {high_w:.3f} ± {spread[2]:.3f} for all of "
        f"them (seen {seen.rho_w:.3f}; Spearman–Brown {spearman_brown(low_w, 2.0):.3f}); "
        f"rho {low:.3f}, forecast {high:.3f} (seen {seen.rho:.3f})"
    )


@click.command()
@click.option("--data", envvar="RUNOFF_PEOPLE", default="", help="Folder with the data; or RUNOFF_PEOPLE.")
@click.option("--splits", default=40, show_default=True, help="Splits of the people.")
@click.option("--seed", default=1, show_default=True, help="Of splits, campaigns and forecasts.")
@click.option("--checks", "rounds", default=6, show_default=True, help="Forecasts tried on half the ratings.")
def main(data: str, splits: int, seed: int, rounds: int) -> None:
    """Replay the protocols on people's ratings."""
    sets = list(data_sets(Path(data))) if data else []
    if not sets:
        click.echo("No ratings found. Give --data the folder that holds simverb_ratings.csv.gz or wordsim353_set1.csv.")
        return
    for rated in sets:
        click.echo(replays(rated, splits, seed) + "\n")
    for rated in sets:
        click.echo(forecasts(rated, seed) + "\n")
    for rated in sets:
        click.echo(checks(rated, seed, rounds))


if __name__ == "__main__":
    main()
