"""Where the underlying similarities z of a simulation come from: a distribution, a file, or an embedding's cosines."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..errors import InputError, Issue
from ..installed import HOME
from ..tabular import column_numbers, open_table, places_of, same_name, shown_header
from ..voters.panel import Floats
from .conventions import convention_of

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


def read_similarities(source: str | Path, *, encoding: str | None = None) -> Floats:
    """The column `similarity` of a table (CSV, TSV, Excel), in the order of its rows; other columns don't matter.

    Raises `InputError` for a file that can't be read, lacks the column or has it twice, with the row of every value
    that isn't a number in [−1, 1], and for fewer than two rows.
    """
    path = Path(source)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}. Check the path.") from error
    table = open_table(data, path.name, encoding=encoding, fits=(lambda header: COLUMN in map(same_name, header),))
    places = places_of(table, [COLUMN])
    if not places:
        raise InputError(f"{path.name} needs a column named {COLUMN} (its columns are {shown_header(table)}).")
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
