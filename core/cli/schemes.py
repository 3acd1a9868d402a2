"""`python -m core schemes`: comparisons, ratings, best–worst and target groups on the same voters at equal cost."""

from __future__ import annotations

from dataclasses import asdict
from itertools import combinations
from typing import TYPE_CHECKING

import click

from ..errors import InputError
from .shared import text_table, with_json, write_json

if TYPE_CHECKING:
    from ..simulation.scheme_table import SchemeRow
    from ..simulation.table2 import Spread

_FIGURES = (("rho_w", "ρ_w", 3), ("tau_w", "τ_w", 3), ("rho", "ρ", 3), ("within", "ρ within targets", 3))


@click.command("schemes")
@click.option("--hours", type=float, default=49.0, show_default=True, help="Person-hours that each scheme may take.")
@click.option("--money", type=float, help="A budget in place of the hours: what they come to at the wage and the fee.")
@click.option("--wage", type=float, default=12.0, show_default=True, help="Hourly pay, for --money.")
@click.option("--fee", type=float, default=0.2, show_default=True, help="The platform's share on top, for --money.")
@click.option(
    "--tokens", type=int, default=45, show_default=True, help="Tokens of the area; items are all their pairs."
)
@click.option("--similarity", default="exponential", show_default=True, help="exponential or power_law.")
@click.option("--scheme", "schemes", multiple=True, help="Only this scheme; can be repeated.")
@click.option("--simulations", type=int, default=50, show_default=True, help="Panels simulated for each scheme.")
@click.option("--read", type=float, default=3.0, show_default=True, help="Seconds to read an item.")
@click.option("--decide", type=float, default=3.0, show_default=True, help="Seconds to decide once.")
@click.option(
    "--stretch", type=float, default=0.3, show_default=True, help="How far voters' rating scales differ: SD of log g."
)
@click.option(
    "--shift", type=float, default=0.25, show_default=True, help="How far cut points shift, in parts of their distance."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same figures.")
@with_json
def schemes_command(
    hours: float,
    money: float | None,
    wage: float,
    fee: float,
    tokens: int,
    similarity: str,
    schemes: tuple[str, ...],
    simulations: int,
    read: float,
    decide: float,
    stretch: float,
    shift: float,
    seed: int,
    as_json: bool,
) -> None:
    """Compare ways to ask people on simulated voters who have the same time."""
    import numpy as np

    if money is not None:
        hours = _hours_for(money, wage, fee)
    from ..simulation.scheme_table import compare_schemes
    from ..simulation.schemes import Question, Times, groups_of_tokens
    from ..simulation.similarities import distribution

    pairs = list(combinations([f"t{number}" for number in range(tokens)], 2))
    rng = np.random.default_rng(seed)
    z = rng.permutation(distribution(similarity, max(len(pairs), 2)))
    groups = groups_of_tokens([a for a, _ in pairs], [b for _, b in pairs], rng=rng)
    question = Question(z, groups, hours * 3600, Times(read, decide), stretch=stretch, shift=shift)
    rows = compare_schemes(question, simulations=simulations, seed=seed, schemes=schemes or None)
    if as_json:
        write_json({"seed": seed, "hours": hours, "items": len(z), "rows": [asdict(row) for row in rows]})
    else:
        click.echo(_text(rows, len(z), seed, read, decide))


def _hours_for(money: float, wage: float, fee: float) -> float:
    """The hours that a budget pays for; raises `InputError` for a wage or a budget that isn't above 0."""
    if not (money > 0 and wage > 0 and fee >= 0):
        raise InputError(f"Money and wage must be above 0, the fee from 0 on; found {money:g}, {wage:g} and {fee:g}.")
    return money / (wage * (1 + fee))


def _text(rows: list[SchemeRow], n_items: int, seed: int, read: float, decide: float) -> str:
    header = ("scheme", "judgements", "hours", *(label for _, label, _ in _FIGURES))
    width = max(len(row.scheme) for row in rows)
    cells = [
        [
            row.scheme.ljust(width),
            f"{row.n_judgements:,.0f}",
            f"{row.hours:.1f}",
            *(_cell(getattr(row, name), digits) for name, _, digits in _FIGURES),
        ]
        for row in rows
    ]
    notes = [f"{row.scheme}: {row.reason}" for row in rows if row.reason]
    return "\n\n".join(
        [
            text_table(header, cells),
            f"{n_items:,} items; mean ± standard deviation over {rows[0].simulations:,} panels, seed {seed}. "
            f"Assumed: {read:g} s to read an item, {decide:g} s to decide once.",
            *notes,
        ]
    )


def _cell(spread: Spread, digits: int) -> str:
    if spread.mean != spread.mean:
        return "–"
    return f"{spread.mean:.{digits}f}" + ("" if spread.sd != spread.sd else f" ± {spread.sd:.{digits}f}")
