"""Inputs of a simulation: the underlying similarities z of its items, and a budget of votes spread over ballots.

The similarities come from a distribution, a file, or an embedding's cosines. Items appear equally often in each ballot,
or more often in some.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..errors import InputError, Issue, PlanError
from ..installed import HOME
from ..plan import Plan
from ..plan.budgets import largest_within
from ..tables import Floats
from ..tabular import column_numbers, lacking, open_table, places_of, same_name
from .conventions import convention_of

# The ratio of M in one ballot to M in the ballot before.
SHAPES: Mapping[str, float] = {"even": 1.0, "late": 1.5, "early": 1 / 1.5}


def plan_within(
    n_items: int, n_ballots: int, keep: float, n_comparisons: int, *, shape: str = "even", uncut: int = 1
) -> Plan:
    """The plan that spends a budget of comparisons in full, as nearly as even appearances allow, and never more.

    M of ballot k is the even number nearest to c·r^(k−1), 2 at least, with r of `SHAPES` and the largest c that the
    budget pays for; what is left goes, two appearances at a time, to the last ballots, as far as it reaches.
    Raises `PlanError` if 2 appearances per item cost more, or no campaign could have such ballots.

    >>> plan_within(990, 7, 0.5, 19_660).appearances
    (20, 20, 20, 20, 20, 20, 20)
    >>> plan_within(990, 7, 0.5, 19_660, shape="late").appearances
    (12, 16, 26, 38, 58, 86, 130)
    """
    if shape not in SHAPES:
        raise PlanError(f"The shape of a plan is one of {', '.join(SHAPES)}, found {shape!r}.")
    ratio = SHAPES[shape]

    def scaled(c: float) -> Plan:
        appearances = tuple(max(2, 2 * round(c * ratio**k / 2)) for k in range(n_ballots))
        return Plan(n_items, n_ballots, keep, appearances, uncut)

    least = scaled(0.0)
    if least.n_comparisons > n_comparisons:
        raise PlanError(
            f"Two appearances of each item take {least.n_comparisons:,} comparisons, and the budget is "
            f"{n_comparisons:,}; raise it, or plan fewer items or ballots."
        )
    return _topped_up(largest_within(scaled, n_comparisons), n_comparisons)


BUDGETS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)  # of a plan's own


@lru_cache(maxsize=32)
def at_other_budgets(plan: Plan) -> tuple[Plan, ...]:
    """Plans with the same ballots at a quarter to three times the comparisons, the plan itself among them.

    Budgets that don't pay for two appearances of each item are left out.
    """
    plans = []
    for share in BUDGETS:
        try:
            budget = round(share * plan.n_comparisons)
            other = plan_within(plan.n_items, plan.n_ballots, plan.keep, budget, uncut=plan.uncut)
            plans.append(plan if share == 1.0 else other)
        except PlanError:
            continue
    return tuple(plans)


def _topped_up(plan: Plan, n_comparisons: int) -> Plan:
    """The plan with two appearances more in the last ballots, from the last on, while the budget pays for them."""
    appearances = list(plan.appearances_by_ballot)
    left = n_comparisons - plan.n_comparisons
    for k in reversed(range(plan.n_ballots)):
        if plan.sizes[k] <= left and appearances[k] + 2 < plan.sizes[k]:
            appearances[k] += 2
            left -= plan.sizes[k]
    return replace(plan, appearances=tuple(appearances))


DATA = HOME / "data"
COLUMN = "similarity"


def distribution(name: str, n_items: int, convention: str = "paper") -> Floats:
    """Similarities of a distribution, "exponential" or "power_law", by the rules of a convention; shape (n_items,).

    Raises `InputError` for another name or fewer than two items.

    >>> distribution("power_law", 4).round(3).tolist()
    [0.333, 0.172, 0.072, 0.0]
    """
    known = convention_of(convention).distributions
    if name not in known:
        raise InputError(f"The distribution must be one of {', '.join(known)}, found {name!r}.")
    if n_items < 2:
        raise InputError(f"A distribution needs at least two items, found {n_items}.")
    return known[name](n_items)


def read_similarities(source: str | Path) -> Floats:
    """The column `similarity` of a table (CSV, TSV, Excel), in the order of its rows; other columns don't matter.

    Raises `InputError` for a file that can't be read, lacks the column or has it twice, with the row of every value
    that isn't a number in [−1, 1], and for fewer than two rows.
    """
    path = Path(source)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}. Check the path.") from error
    table = open_table(data, path.name, fits=(lambda header: COLUMN in map(same_name, header),))
    places = places_of(table, [COLUMN])
    if not places:
        raise lacking(table, [COLUMN])
    texts = table.texts([places[COLUMN]], places[COLUMN] + 1)
    (cells,), rows = texts.lists, texts.numbers.tolist()
    values = column_numbers(cells, rows, COLUMN).values
    inside = np.abs(values) <= 1 + 1e-9
    issues = [*texts.unread, *_outside(cells, rows, inside.tolist())]
    if issues:
        raise InputError(f"{len(issues)} rows of {path.name} can't be used.", issues)
    if len(values) < 2:
        raise InputError(f"{path.name} has {len(values)} similarities, and a ballot needs at least two items.")
    return values


def _outside(cells: list[str], rows: list[int], inside: list[bool]) -> list[Issue]:
    return [
        Issue("must be a number from -1 to 1", row=row, column=COLUMN, found=text)
        for row, text, is_inside in zip(rows, cells, inside, strict=True)
        if not is_inside
    ]


def demo_similarities() -> Floats:
    """Cosines of the demo's items in the demo's embedding (data/SOURCE.md), 722 without those that it doesn't cover.

    Raises `InputError` where the program is installed without the demo's data.
    """
    from ..embeddings import load  # here, not above: nothing else in a simulation reads embeddings
    from ..tokens.files import read_areas_file
    from ..tokens.items import all_pairs

    if not (DATA / "demo.bin").exists():
        raise InputError("The demo's embedding isn't installed here; give a file of similarities instead.")
    items = all_pairs(read_areas_file((DATA / "areas.csv").read_bytes(), "areas.csv").areas)
    a, b = items["token_a"].tolist(), items["token_b"].tolist()
    cosines = load(DATA / "demo.bin", tokens=sorted({*a, *b})).cosines(a, b)
    return cosines[~np.isnan(cosines)]
