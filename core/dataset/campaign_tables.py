"""The tables that tell how a dataset came about, as they stand in a published one, and their CSV text.

They hold no time of a day, no id of a platform, no text that a voter wrote. `ranking` is the area that has a ranking of
its own, "" where one ranking holds all areas; `ballot` is its number, 0 for a pilot; `item` is a row of ITEMS;
`comparison` counts the comparisons of a ballot from 1, checks among them; `voter` is a pseudonym.
"""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pandas as pd

from ..errors import InputError
from ..tables import ITEMS, Schema
from ..tabular import SPARE_CELLS, bounded
from .files import quoted

_BALLOT = {"ranking": "text", "ballot": "int"}
_TALLIES = {"wins": "int", "ties": "int", "losses": "int", "unknowns": "int"}

# Of each item of each ballot: the score that let it in, its tallies, and x, y, ȳ with its interval (paper's protocol).
BALLOT_ITEMS = Schema(
    "ballot items",
    _BALLOT
    | {"item": "int", "entry_score": "float"}
    | _TALLIES
    | {"x": "float", "y": "float", "mean": "float", "count": "float", "lower": "float", "upper": "float"},
)
# What the protocol "runoff" wrote of every item when a ballot was closed.
FIT_SCORES = Schema(
    "fitted scores",
    _BALLOT
    | {"item": "int", "theta": "float", "error": "float", "score": "float", "lower": "float", "upper": "float"}
    | {"rank_lower": "float", "rank_upper": "float"},
)
# `role` is main or check; `expected` is the right answer of a check, "" where there is none; `check` is its kind (gold,
# repeat, overlap, audit), "" for a main comparison and all through datasets that were published before the column.
COMPARED = Schema(
    "comparisons",
    _BALLOT
    | {"comparison": "int", "role": "text", "first": "int", "second": "int", "expected": "text", "check": "text"},
    optional=frozenset({"check"}),
)
# Which comparisons stand in a task, where each is shown, and how.
TASKS = Schema(
    "tasks",
    _BALLOT
    | {"task": "int", "n": "int", "comparison": "int", "flipped": "int", "left_swapped": "int", "right_swapped": "int"},
)
# `answer` is first, second, tie or unknown; `value` 1, 0, .5 or nothing; `status` says whether it counts, and why not;
# `flipped` is 1 where the first item stood on the right, empty where that isn't known.
VOTES = Schema(
    "votes",
    _BALLOT
    | {"comparison": "int", "voter": "text", "answer": "text", "value": "float", "seconds": "float"}
    | {"status": "text", "source": "text", "flipped": "float"},
)
# In the order in which the workspace came to know them: resampling draws by it.
VOTERS = Schema("voters", {"voter": "text", "platform": "text", "kind": "text"})

FILES = {
    "campaign/items.csv": ITEMS,
    "campaign/ballot_items.csv": BALLOT_ITEMS,
    "campaign/fitted_scores.csv": FIT_SCORES,
    "campaign/comparisons.csv": COMPARED,
    "campaign/tasks.csv": TASKS,
    "campaign/votes.csv": VOTES,
    "campaign/voters.csv": VOTERS,
}
PLAN_FILE = "campaign/plan.json"


def write_table(frame: pd.DataFrame, schema: Schema) -> bytes:
    """A table as CSV: UTF-8, LF, the schema's columns, floats with all their digits, NaN as empty cells."""
    schema.check(frame)
    columns = []
    for name, kind in schema.columns.items():
        values = frame[name].tolist()
        if kind == "float":
            columns.append(["" if math.isnan(value) else _number(value) for value in values])
        elif kind == "int":
            columns.append([str(value) for value in values])
        else:
            cells = {value: quoted(value) for value in set(values)}
            columns.append([cells[value] for value in values])
    lines = [",".join(schema.columns), *(",".join(row) for row in zip(*columns, strict=True))]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _number(value: float) -> str:
    # Whole numbers of a column that may be empty, such as counts, read better without ".0"; -0.0 keeps its sign.
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 and str(value) != "-0.0" else repr(value)


def read_table(data: bytes, schema: Schema, where: str) -> pd.DataFrame:
    """The table that `write_table` wrote, bit for bit; `InputError` naming `where` for anything else.

    An optional column of text that the file lacks is empty.
    """
    kinds = {"text": "str", "int": "int64", "float": "str"}
    types = {name: kinds[kind] for name, kind in schema.columns.items()}
    try:
        # Each column costs a kilobyte, however empty it is; a row that is longer than the header makes none.
        text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
        next(csv.reader(bounded(text, len(schema.columns) + SPARE_CELLS, where)), None)
        frame = pd.read_csv(io.BytesIO(data), dtype=types, keep_default_na=False, na_filter=False, index_col=False)
        for name in sorted(schema.optional.difference(frame.columns)):
            frame[name] = pd.Series("", index=frame.index, dtype="str")
        for name in frame.columns:
            if schema.columns.get(name) == "float":
                # Python reads the digits back bit for bit, whatever pandas' own reader does.
                frame[name] = np.array([float(text) if text else math.nan for text in frame[name]], dtype=np.float64)
    except (ValueError, csv.Error, pd.errors.ParserError, OverflowError) as error:
        raise InputError(f"{where} can't be read as a table of {schema.name}: {error}.") from error
    return schema.check(frame)
