"""Where the underlying similarities z of a simulation come from: a distribution, a file, or an embedding's cosines."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from ..errors import InputError, Issue
from ..installed import HOME
from ..panel import Floats
from ..platforms.csvfiles import open_csv
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


def read_similarities(source: str | Path) -> Floats:
    """The column `similarity` of a CSV or TSV file, in the order of its rows; other columns don't matter.

    Raises `InputError` for a file that can't be read or lacks the column, with the row of every value that isn't a
    number in [−1, 1], and for fewer than two rows.
    """
    path = Path(source)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}. Check the path.") from error
    file = open_csv(data, path.name)
    names = [name.lower() for name in file.header]
    if names.count(COLUMN) != 1:
        raise InputError(f"{path.name} needs one column named {COLUMN} (its columns are {file.shown_header}).")
    rows = file.read([names.index(COLUMN)], names.index(COLUMN) + 1)
    issues = [issue for issue in rows.issues if issue.row is not None]
    values = [_number(text) for text in rows.columns[0]]
    issues += [
        Issue("must be a number from -1 to 1", row=number, column=COLUMN, found=text)
        for number, text, value in zip(rows.numbers, rows.columns[0], values, strict=True)
        if math.isnan(value)
    ]
    if issues:
        raise InputError(f"{len(issues)} rows of {path.name} can't be used.", issues)
    if len(values) < 2:
        raise InputError(f"{path.name} has {len(values)} similarities, and a ballot needs at least two items.")
    return np.array(values)


def _number(text: str) -> float:
    """A similarity, NaN where the text is none."""
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if "_" not in text and abs(value) <= 1 + 1e-9 else math.nan


def demo_similarities() -> Floats:
    """Cosines of the demo's items in the demo's embedding (data/SOURCE.md), 722 without those that it doesn't cover.

    Raises `InputError` where the program is installed without the demo's data.
    """
    from ..embeddings import load  # here, not above: nothing else in a simulation reads embeddings
    from ..items import all_pairs
    from ..tokens import read_areas_file

    if not (DATA / "demo.bin").exists():
        raise InputError("The demo's embedding isn't installed here; give a file of similarities instead.")
    items = all_pairs(read_areas_file((DATA / "areas.csv").read_bytes(), "areas.csv").areas)
    a, b = items["token_a"].tolist(), items["token_b"].tolist()
    cosines = load(DATA / "demo.bin", tokens=sorted({*a, *b})).cosines(a, b)
    return cosines[~np.isnan(cosines)]
