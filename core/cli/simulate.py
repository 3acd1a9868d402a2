"""Commands of the terminal that simulate: campaigns on simulated voters, the paper's Table 2, and kinds of question.

`simulate` does the first two; `equal-time` holds comparisons of a plan against other kinds of question for the same
time of people.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from .shared import appearances_of, text_table, with_json, write_json

if TYPE_CHECKING:
    from ..simulation.table2 import Spread, TableRow
    from ..tables import Floats


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
@click.option("--kind", "kinds", multiple=True, help="Beside comparisons only this kind; can be repeated.")
@click.option(
    "--stretch", type=float, default=0.3, show_default=True, help="How far raters' scales differ: SD of log g."
)
@click.option(
    "--shift", type=float, default=0.25, show_default=True, help="How far cut points shift, in parts of their distance."
)
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
    kinds: tuple[str, ...],
    stretch: float,
    shift: float,
    panels: int,
    seed: int,
    as_json: bool,
) -> None:
    """Comparisons, or another kind of question for the same time of people? And from which times on."""
    from ..protocols import protocol_of
    from ..simulation.equal_time import OTHERS, EqualTimeSettings, Times, at_times, simulate_equal_time
    from ..simulation.forecast import ForecastAssumptions
    from ..views.equal_time import view_of
    from ..voters.model import Panel

    times = Times(read, decide)
    (z,) = _similarities(False, similarity, n_items, "paper").values()
    plan = protocol_of(protocol).plan_within(len(z), n_ballots, keep, votes)
    guess = ForecastAssumptions(z, Panel(voters))
    settings = EqualTimeSettings(panels, kinds or OTHERS, stretch, shift)
    equal_time = simulate_equal_time(guess, plan, protocol, seed=seed, settings=settings)
    if as_json:
        asked: dict[str, Any] = {
            "seed": seed,
            "items": equal_time.n_items,
            "n_comparisons": equal_time.n_comparisons,
            "panels": equal_time.n_panels,
        }
        asked |= {"read": read, "decide": decide, "goal": goal, "appearances": plan.appearances}
        write_json(asked | asdict(at_times(equal_time, times, goal)))
        return
    view = view_of(equal_time, times, goal)
    cells = [[str(value) for value in row] for row in view.table.itertuples(index=False)]
    table = text_table(list(view.table.columns), cells)
    click.echo("\n\n".join([f"{view.headline}", table, *view.lines]))


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
@click.option(
    "--convention",
    default="paper",
    show_default=True,
    help="paper; released: as the authors' code does; planning: as the search for a plan does, in less time.",
)
@click.option("--items", "n_items", type=int, default=990, show_default=True, help="Items of the distributions, N.")
@click.option("--ballots", "n_ballots", type=int, default=7, show_default=True, help="Number of ballots.")
@click.option("--keep", type=float, default=0.5, show_default=True, help="Fraction that goes on to the next ballot, α.")
@click.option("--appearances", default="20", show_default=True, help="M; or one per ballot: 20,20,40.")
@click.option("--aim", default="both", show_default=True, help="Of runoff: both, both_many, rho_w or tau_w.")
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
