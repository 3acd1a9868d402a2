"""CSV files as Runoff writes them: comma, LF, quotes where they must be; and cells that no spreadsheet runs."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# What a cell begins with that a spreadsheet takes for a formula (also in full width, which some turn into ASCII).
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


# Where lists are parted by semicolons (Italian, German, …), a spreadsheet begins a cell after each of a CSV file.
_PARTED = re.compile(r"(;[\"']?)(?=[=+\-@＝＋－＠])")


def harmless(value: Any) -> Any:
    """A cell for a spreadsheet: a text like a formula gets an apostrophe, anything else stays.

    >>> harmless("=1+1"), harmless("one"), harmless(-1), harmless("a;=1+1")
    ("'=1+1", 'one', -1, "a;'=1+1")
    """
    if not isinstance(value, str):
        return value
    value = _PARTED.sub(r"\1'", value)
    return f"'{value}" if value.startswith(FORMULA) else value


def table_for_spreadsheets(table: pd.DataFrame) -> bytes:
    """A table as CSV for people, as `for_spreadsheets`, missing values as empty cells."""
    return for_spreadsheets(map(str, table.columns), cells_of(table))


def cells_of(table: pd.DataFrame) -> Iterable[tuple[Any, ...]]:
    """The rows of a table, None for what is missing."""
    return table.astype("object").where(table.notna(), None).itertuples(index=False, name=None)


class _LineEndWriter(io.StringIO):
    """Takes rows that end in CR LF and ends them in LF: told LF, Python's writer leaves a CR in a cell without quotes,
    and a spreadsheet begins a row after it, perhaps with a formula."""

    def write(self, row: str, /) -> int:
        return super().write(row.removesuffix("\r\n") + "\n")


def csv_text(header: Iterable[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as CSV; None becomes an empty cell.

    >>> csv_text(["a", "b"], [["x, y", 1], ["\\r=1", None]])
    'a,b\\n"x, y",1\\n"\\r=1",\\n'
    """
    out = _LineEndWriter(newline="")
    writer = csv.writer(out)
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def for_spreadsheets(header: Iterable[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """A table as CSV for people: UTF-8 with a byte order mark, every cell `harmless`."""
    return csv_text(map(harmless, header), ([harmless(value) for value in row] for row in rows)).encode("utf-8-sig")
