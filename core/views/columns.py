"""What is shown where columns are named by hand: names to choose from, values of the choice, the first rows as read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from ..platforms import SourceTable, guess, normalised, open_results
from ..platforms.mapped_tables import NUMBER, Mapping, columns_of, mapped_frame, unwrapped, usual_of
from ..tabular import RowTable
from ..votes.meanings import CHOICES, key_of, meanings_by_value

LOOKED_AT = 200
SHOWN = 5
MAX_VALUES = 12  # values of the choice that can be given a meaning
_SHOWN = {"row": "row", "voter": "voter", "task_id": "task", "n": "n", "choice": "choice", "status": "status",
          "submitted_at": "time (UTC)"}  # fmt: skip


@dataclass(frozen=True)
class Columns:
    """A table whose columns are to be named: `names` to choose from (those with numbers also with `{n}`), and the first
    rows as a table of their own."""

    header: tuple[str, ...]
    names: tuple[str, ...]
    sample: SourceTable
    guessed: Mapping

    def values(self, choice: str) -> list[str]:
        """The values of the column of the choice in the first rows, as somebody would name them."""
        places = columns_of(self.sample.header, choice)
        rows = self.sample.head(LOOKED_AT)
        found = dict.fromkeys(unwrapped(row[at]).strip() for at in places.values() for row in rows if len(row) > at)
        return [value for value in found if value][:MAX_VALUES]

    def preview(self, mapping: Mapping) -> pd.DataFrame:
        """The first rows under a mapping. Raises `InputError` where it lacks something."""
        rows = self.sample.head(SHOWN)
        few = RowTable(self.sample.name, self.sample.header, tuple(range(2, len(rows) + 2)), rows)
        _, frame, _, _ = mapped_frame(few, mapping)
        table = frame[list(_SHOWN)].rename(columns=_SHOWN)
        table["choice"] = [CHOICES.get(value, f"? {value}") for value in frame["choice"]]
        if mapping.shows_texts:
            table["left"] = frame["left_a"] + " – " + frame["left_b"]
            table["right"] = frame["right_a"] + " – " + frame["right_b"]
        return table


def load(data: bytes, name: str) -> Columns:
    """The columns of a result file. Raises `InputError` where it can't be opened."""
    table = normalised(open_results(data, name))
    rows = [row + [""] * (len(table.header) - len(row)) for row in table.head(LOOKED_AT)]
    sample = RowTable(name, table.header, tuple(range(2, len(rows) + 2)), rows)
    several = {re.sub(r"[1-9]\d*(?=\D*$)", NUMBER, column) for column in table.header}
    patterns = [name for name in sorted(several) if NUMBER in name and len(columns_of(table.header, name)) > 1]
    return Columns(table.header, (*table.header, *patterns), sample, guess(sample))


def meaning_of(value: str, mapping: Mapping, values: Sequence[str]) -> str:
    """What a value of a column that holds these means by a mapping, else usually; "?" where nobody said."""
    said = meanings_by_value(mapping.choices)
    return said.get(key_of(value), usual_of(values).get(key_of(value), "?"))
