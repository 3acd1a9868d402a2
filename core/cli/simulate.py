"""`python -m core simulate`: campaigns on simulated voters, and the paper's Table 2."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from .shared import appearances_of, text_table, with_json, write_json

if TYPE_CHECKING:
    from ..simulation.table2 import Row, Spread
    from ..voters.panel import Floats

_METRICS = (("rho_w", "ρ_w", 4), ("tau_w", "τ_w", 3), ("rho", "ρ", 4), ("tau", "τ", 4))  # name, label, digits
_DISTRIBUTIONS = ("exponential", "power_law")


@click.command("simulate")
@click.option("--table2", is_flag=True, help="The paper's Table 2: exponential, power law and an embedding's cosines.")
@click.option("--simulations", type=int, default=50, show_default=True, help="Campaigns simulated for each row.")
@click.option(
    "--similarity",
    metavar="FILE|NAME",
    help="The embedding's row of the table: a CSV file with a column similarity; default: the demo's embedding. "
    "Without --table2 the one row: such a file, or exponential, power_law or embedding.",
)
@click.option("--protocol", "protocols", multiple=True, help="Only this protocol, such as paper; can be repeated.")
@click.option("--convention", default="paper", show_default=True, help="paper, or released: as the authors' code does.")
@click.option("--items", "n_items", type=int, default=990, show_default=True, help="Items of the distributions, N.")
@click.option("--ballots", "n_ballots", type=int, default=7, show_default=True, help="Number of ballots.")
@click.option("--keep", type=float, default=0.5, show_default=True, help="Fraction that goes on to the next ballot, α.")
@click.option("--appearances", default="20", show_default=True, help="M; or one per ballot: 20,20,40.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same figures.")
@click.option(
    "--workers", type=int, help="Processes; default: the cores, where it pays. The figures don't depend on it."
)
@with_json
def simulate_command(
    table2: bool,
    simulations: int,
    similarity: str | None,
    protocols: tuple[str, ...],
    convention: str,
    n_items: int,
    n_ballots: int,
    keep: float,
    appearances: str,
    seed: int,
    workers: int | None,
    as_json: bool,
) -> None:
    """Simulate campaigns, and say how near their rankings come to the true one."""
    from ..simulation.table2 import Setting, table_2

    if not table2 and similarity is None:
        raise InputError("Say what to simulate: --table2, or --similarity with a file or the name of a distribution.")
    setting = Setting(n_ballots, keep, appearances_of(appearances))
    rows = table_2(
        _similarities(table2, similarity, n_items, convention),
        simulations=simulations,
        seed=seed,
        setting=setting,
        protocols=protocols or None,
        convention=convention,
        workers=workers,
        progress=_progress(as_json),
    )
    if as_json:
        plan = {"n_ballots": n_ballots, "keep": keep, "appearances": setting.appearances}
        write_json({"seed": seed, "plan": plan, "rows": [asdict(row) for row in rows]})
    else:
        click.echo(_text(rows, convention, seed))


def _similarities(table2: bool, similarity: str | None, n_items: int, convention: str) -> dict[str, Floats]:
    """The rows' similarities by name."""
    from ..simulation.similarities import demo_similarities, distribution, read_similarities

    if table2:
        embedding = read_similarities(similarity) if similarity else demo_similarities()
        return {name: distribution(name, n_items, convention) for name in _DISTRIBUTIONS} | {"embedding": embedding}
    if similarity in _DISTRIBUTIONS:
        return {similarity: distribution(similarity, n_items, convention)}
    if similarity == "embedding":
        return {"embedding": demo_similarities()}
    return {"embedding": read_similarities(str(similarity))}


def _progress(as_json: bool) -> Callable[[int, int], None] | None:
    """Shows how far the work is, where a person looks on."""
    if as_json or not sys.stderr.isatty():
        return None
    return lambda done, total: click.echo(f"\r{done:,} of {total:,} campaigns", err=True, nl=done == total)


def _text(rows: Sequence[Row], convention: str, seed: int) -> str:
    header = ("similarity", "protocol", "items", "comparisons", *(label for _, label, _ in _METRICS))
    cells = [
        [
            row.similarity.ljust(max(len(each.similarity) for each in rows)),
            row.protocol,
            f"{row.n_items:,}",
            f"{row.n_comparisons:,}",
            *(_spread(getattr(row, name), digits) for name, _, digits in _METRICS),
        ]
        for row in rows
    ]
    parts = [
        text_table(header, cells),
        f"Mean ± standard deviation over {rows[0].simulations:,} simulations, convention {convention}, seed {seed}.",
    ]
    undefined = [f"{row.similarity}, {row.protocol}: {row.n_undefined}" for row in rows if row.n_undefined]
    if undefined:
        parts.append(f"Simulations that rank nothing, as all scores were equal, are left out: {'; '.join(undefined)}.")
    return "\n\n".join(parts)


def _spread(spread: Spread, digits: int) -> str:
    def number(value: Any) -> str:
        return "–" if value != value else f"{value:.{digits}f}"

    return f"{number(spread.mean)} ± {number(spread.sd)}"
