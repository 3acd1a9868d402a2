"""CSV files as Runoff writes them: comma, LF, quotes where they must be; and cells that no spreadsheet runs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

# What a cell begins with that a spreadsheet takes for a formula (also in full width, which some turn into ASCII).
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def harmless(value: Any) -> Any:
    """A cell for a spreadsheet: a text like a formula gets an apostrophe, anything else stays.

    >>> harmless("=1+1"), harmless("one"), harmless(-1)
    ("'=1+1", 'one', -1)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def csv_text(header: Iterable[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as CSV; None becomes an empty cell.

    >>> csv_text(["a", "b"], [["x, y", 1]])
    'a,b\\n"x, y",1\\n'
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def for_spreadsheets(header: Iterable[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """A table as CSV for people: UTF-8 with a byte order mark, every cell `harmless`."""
    return csv_text(header, ([harmless(value) for value in row] for row in rows)).encode("utf-8-sig")
