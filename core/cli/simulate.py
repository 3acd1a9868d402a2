"""`python -m core simulate`: campaigns on simulated voters, and the paper's Table 2.

`python -m core equal-time`: comparisons of a plan, and other kinds of question for the same time of people.

`python -m core schemes`: comparisons, ratings, best–worst and target groups on the same voters at equal cost.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from .shared import appearances_of, text_table, with_json, write_json

if TYPE_CHECKING:
    from ..simulation.schemes import SchemeRow
    from ..simulation.table2 import Spread, TableRow
    from ..tables import Floats


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
    from ..simulation.schemes import SchemeSetting, Times, compare_schemes, groups_of_tokens
    from ..simulation.similarities import distribution

    pairs = list(combinations([f"t{number}" for number in range(tokens)], 2))
    rng = np.random.default_rng(seed)
    z = rng.permutation(distribution(similarity, max(len(pairs), 2)))
    groups = groups_of_tokens([a for a, _ in pairs], [b for _, b in pairs], rng=rng)
    question = SchemeSetting(z, groups, hours * 3600, Times(read, decide), stretch=stretch, shift=shift)
    rows = compare_schemes(question, simulations=simulations, seed=seed, schemes=schemes or None)
    if as_json:
        write_json({"seed": seed, "hours": hours, "items": len(z), "rows": [asdict(row) for row in rows]})
    else:
        click.echo(_schemes_text(rows, len(z), seed, read, decide))


@click.command("equal-time")
@click.option("--items", "n_items", type=int, default=990, show_default=True, help="Number of items, N.")
@click.option("--ballots", "n_ballots", type=int, default=7, show_default=True, help="Number of ballots.")
@click.option("--keep", type=float, default=0.5, show_default=True, help="Fraction that goes on to the next ballot, α.")
@click.option(
    "--votes",
    type=int,
    default=9830,
    show_default=True,
    help="Comparisons, with appearances as the protocol likes them.",
)
@click.option("--protocol", default="runoff", show_default=True, help="Of the comparisons.")
@click.option("--voters", type=int, default=100, show_default=True, help="Voters of a panel, as in the paper.")
@click.option("--similarity", default="exponential", show_default=True, help="exponential, power_law or a CSV file.")
@click.option("--read", type=float, default=3.0, show_default=True, help="Seconds to read an item.")
@click.option("--decide", type=float, default=3.0, show_default=True, help="Seconds to decide once.")
@click.option("--goal", default="both", show_default=True, help="What is to be right: rho_w, tau_w or both.")
@click.option("--panels", type=int, default=20, show_default=True, help="Panels simulated.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same figures.")
@with_json
def equal_time_command(
    n_items: int,
    n_ballots: int,
    keep: float,
    votes: int,
    protocol: str,
    voters: int,
    similarity: str,
    read: float,
    decide: float,
    goal: str,
    panels: int,
    seed: int,
    as_json: bool,
) -> None:
    """Comparisons, or ratings or best–worst for the same time of people? And from which times on."""
    from ..protocols import protocol_of
    from ..simulation.equal_time import at_times, simulate_equal_time
    from ..simulation.forecast import ForecastAssumptions
    from ..simulation.schemes import Times
    from ..views.equal_time import view_of
    from ..voters.model import Panel

    times = Times(read, decide)
    (z,) = _similarities(False, similarity, n_items, "paper").values()
    plan = protocol_of(protocol).plan_within(len(z), n_ballots, keep, votes)
    guess = ForecastAssumptions(z, Panel(voters))
    found = simulate_equal_time(guess, plan, protocol, seed=seed, panels=panels)
    if as_json:
        asked: dict[str, Any] = {
            "seed": seed,
            "items": found.n_items,
            "n_comparisons": found.n_comparisons,
            "panels": found.n_panels,
        }
        asked |= {"read": read, "decide": decide, "goal": goal, "appearances": plan.appearances}
        write_json(asked | asdict(at_times(found, times, goal)))
        return
    view = view_of(found, times, goal)
    cells = [[str(value) for value in row] for row in view.table.itertuples(index=False)]
    table = text_table(list(view.table.columns), cells)
    click.echo("\n\n".join([f"{view.headline}", table, *view.lines]))


def _hours_for(money: float, wage: float, fee: float) -> float:
    """The hours that a budget pays for; raises `InputError` for a wage or a budget that isn't above 0."""
    if not (money > 0 and wage > 0 and fee >= 0):
        raise InputError(f"Money and wage must be above 0, the fee 0 or more; found {money:g}, {wage:g} and {fee:g}.")
    return money / (wage * (1 + fee))


def _schemes_text(rows: list[SchemeRow], n_items: int, seed: int, read: float, decide: float) -> str:
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
@click.option("--aim", default="both", show_default=True, help="What runoff spreads votes for: rho_w, tau_w or both.")
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
    aim: str,
    seed: int,
    workers: int | None,
    as_json: bool,
) -> None:
    """Simulate campaigns, and say how near their rankings come to the true one."""
    from ..simulation.table2 import TablePlan, table_2

    if not table2 and similarity is None:
        raise InputError("Say what to simulate: --table2, or --similarity with a file or the name of a distribution.")
    setting = TablePlan(n_ballots, keep, appearances_of(appearances), aim)
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


def _text(rows: Sequence[TableRow], convention: str, seed: int) -> str:
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
