"""A text whose lines are rows of one length, read in a few passes over arrays; else by `table`, row by row.

Both give the same for every input: what isn't plain enough is left to the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from .dialect import Dialect

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_BLANK = 100_000  # lines, of a table that is read at once

Found = tuple[npt.NDArray[np.int64], dict[int, pd.Series]]


def read_at_once(text: str, dialect: Dialect, n_columns: int, used: Sequence[int]) -> Found | None:
    """The numbers of the rows that aren't blank, and the columns at the positions `used`; None where a row needs a
    second look."""
    if not dialect.simple or "\x00" in text or n_columns < 2 or not used:
        return None
    if not text.endswith("\n") or text.count("\r") != text.count("\r\n"):
        return None
    begin = text.index("\n", dialect.start)
    table, blank = _table(text, begin, dialect, n_columns, used), list[int]()
    if table is None or _may_be_blank(table, used[0]):
        found = _without_blanks(text[begin:], dialect)
        if found is None or (table is None and not found[1]):
            return None
        body, blank = found
        table = _table(body, 0, dialect, n_columns, used) if blank else table
    if table is None or not table.num_rows:
        return None
    numbers = np.delete(np.arange(2, table.num_rows + len(blank) + 2, dtype=np.int64), blank)
    return numbers, {at: pd.Series(table[str(at)].to_pandas(), dtype="str") for at in used}


def _table(text: str, begin: int, dialect: Dialect, n_columns: int, used: Sequence[int]) -> pa.Table | None:
    """The rows after the line end at a position of a text; None where one has more or fewer cells."""
    import pyarrow as pa
    from pyarrow import csv

    names = [str(at) for at in range(n_columns)]
    quote: Any = '"' if dialect.quoted else False
    options = (
        # The line end is a row of its own: what begins with a byte order mark would lose it.
        csv.ReadOptions(skip_rows=1, column_names=names, use_threads=False, block_size=1 << 24),
        csv.ParseOptions(delimiter=dialect.delimiter, quote_char=quote, ignore_empty_lines=False),
        csv.ConvertOptions(
            include_columns=[names[at] for at in used],
            column_types={names[at]: pa.large_string() for at in used},
            strings_can_be_null=False,
            quoted_strings_can_be_null=False,
        ),
    )
    try:
        rows = pa.py_buffer(text.encode()).slice(len(text[:begin].encode()))
        return csv.read_csv(pa.BufferReader(rows), *options)
    except pa.ArrowInvalid:
        return None


def _may_be_blank(table: pa.Table, at: int) -> bool:
    """Whether some row could be a blank line: its cell of one column holds nothing but spaces."""
    import pyarrow.compute as pc

    column = table[str(at)]
    if pc.any(pc.equal(pc.binary_length(column), 0)).as_py():
        return True
    return bool(pc.any(pc.utf8_is_space(column)).as_py())


@cache
def _blank_line(delimiter: str, quoted: bool) -> re.Pattern[str]:
    """A line end and a blank line after it."""
    d = re.escape(delimiter)
    spaces = rf"(?:(?!{d})[^\S\n])*+"
    cell = rf'(?:"[^\S\n]*+"|{spaces})' if quoted else spaces
    return re.compile(rf"\n{cell}(?:{d}{cell})*+\r?+(?=\n)")


def _without_blanks(body: str, dialect: Dialect) -> tuple[str, list[int]] | None:
    """Lines, each after its line end, without those that are blank; and the positions of these among all lines. None
    where so many are blank that it is no table."""
    found: list[int] = []
    n = before = 0
    pattern = _blank_line(dialect.delimiter, dialect.quoted)
    for match in pattern.finditer(body):
        n += body.count("\n", before, match.start())
        before = match.start()
        found.append(n)
        if len(found) > _MOST_BLANK:
            return None
    return (pattern.sub("", body), found) if found else (body, found)
