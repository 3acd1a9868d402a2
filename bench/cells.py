"""Cells of simulated campaigns: the command line, the folder and the table that the simulations of docs/ share.

A cell is one kind of campaign, with a line of the table. Campaigns are carried out one of each cell at a time. Their
rows go to a folder, a file a cell, a line a campaign as JSON; what is there is not made again, so that a run may be
broken off, and two runs of unlike cells may go on beside each other.
"""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from core.metrics import average_ranks
from core.protocols import Held, Votes
from core.scores import BallotVotes
from core.tables import Floats
from core.voters.model import exponential, power_law

DEMO = Path(__file__).resolve().parents[1] / "data" / "similarity.csv"
Row = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """A kind of campaign: its first columns in the table, its file's name, the row of the campaign of a seed; `most`
    campaigns, if there is a limit."""

    labels: tuple[str, ...]
    file: str
    campaign: Callable[[tuple[int, int]], Row]
    most: int | None = None


def carry_out(
    cells: Sequence[Cell], n: int, seed: int, folder: Path | None, seconds: float = np.inf
) -> list[list[Row]]:
    """The rows of the first `n` campaigns of each cell, campaign s of the seed (seed, s): those in the folder, and the
    missing ones made, none of them begun after so many seconds. Without a folder nothing is kept."""
    start = time.monotonic()
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    rows = [_read(folder, cell) for cell in cells]
    for number in range(n):
        for cell, there in zip(cells, rows, strict=True):
            is_late = time.monotonic() - start > seconds
            if len(there) > number or is_late or (cell.most is not None and number >= cell.most):
                continue
            there.append(cell.campaign((seed, number)))
            if folder is not None:
                with _path(folder, cell).open("a", encoding="utf-8") as file:
                    file.write(json.dumps(there[-1]) + "\n")
    return rows


def _path(folder: Path, cell: Cell) -> Path:
    return folder / f"{cell.file}.jsonl"


def _read(folder: Path | None, cell: Cell) -> list[Row]:
    if folder is None or not _path(folder, cell).exists():
        return []
    return [json.loads(line) for line in _path(folder, cell).read_text(encoding="utf-8").splitlines()]


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table in Markdown, each line as soon as it is known."""
    click.echo(f"| {' | '.join(header)} |\n" + "|---" * len(header) + "|")
    for row in rows:
        click.echo(f"| {' | '.join(row)} |")


def means(values: ArrayLike, digits: int = 3, sign: str = "") -> list[str]:
    """The mean ± standard error of each column, of a row a campaign; two campaigns at least."""
    table = np.asarray(values, dtype=np.float64)
    errors = table.std(axis=0, ddof=1) / np.sqrt(len(table))
    return [
        f"{mean:{sign}.{digits}f} ± {error:.{digits}f}" for mean, error in zip(table.mean(axis=0), errors, strict=True)
    ]


def with_run(n: int, seed: int, of: str = "campaigns") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The argument FOLDER and the options of a run of so many campaigns (or splits); as `folder`, `n`, `seed` and
    `seconds`."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        for option in (
            click.option("--seconds", default=500.0, show_default=True, help="None is begun after so many."),
            click.option("--seed", default=seed, show_default=True, help="The s-th of them has the seed (seed, s)."),
            click.option(f"--{of}", "n", default=n, show_default=True, help="For each line of the table."),
            click.argument("folder", type=click.Path(path_type=Path)),
        ):
            command = option(command)
        return command

    return decorated


def with_similarities(command: Callable[..., None]) -> Callable[..., None]:
    """The option --similarity NAME=FILE, as `files` for `similarities_of`."""
    return click.option("--similarity", "files", multiple=True, help="NAME=FILE.csv: those in its last column.")(
        command
    )


def similarities_of(files: Iterable[str]) -> dict[str, Floats]:
    """Those of the paper's 990 items, by name, and those of NAME=FILE.csv."""
    found = {"exponential": exponential(990), "power law": power_law(990)}
    return found | {name: read_similarities(Path(path)) for name, _, path in (file.partition("=") for file in files)}


def read_similarities(path: Path) -> Floats:
    """The last column of a CSV file with a header."""
    with path.open(encoding="utf-8", newline="") as file:
        return np.array([float(row[-1]) for row in list(csv.reader(file))[1:]])


def models_of(truth: Floats, noise: Iterable[float], rng: np.random.Generator) -> list[Floats]:
    """Models of the items: normal scores of the true ranks plus normal noise of these deviations."""
    normal = -ndtri((average_ranks(truth) - 0.5) / len(truth))
    return [normal + deviation * rng.standard_normal(len(truth)) for deviation in noise]


def votes_of(held: Iterable[Held]) -> list[BallotVotes]:
    """The votes of the ballots that were held, checked."""
    return [BallotVotes(*Votes.of(ballot.votes)) for ballot in held]
