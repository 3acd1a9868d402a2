"""Large CSV files in a few passes over arrays, where they are simple enough; else row by row (`csvfiles`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..errors import Issue
from .csvfiles import CsvFile, Rows, records

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Texts:
    """The wanted columns of a table as arrays of texts.

    `numbers` are the rows' numbers as a spreadsheet shows them, shape (n,); `columns` has one Series of texts a wanted
    column; `n_rows` counts all rows that aren't blank, `unread` are those left out, each with its row and why; `issues`
    are those and what else a person should know.
    """

    numbers: Ints
    columns: list[pd.Series]
    n_rows: int
    unread: tuple[Issue, ...]
    issues: tuple[Issue, ...]


class Table(Protocol):
    """What results are read from: a CSV file, a workbook's sheet, an export in JSON."""

    @property
    def name(self) -> str: ...

    @property
    def header(self) -> tuple[str, ...]: ...

    def texts(self, wanted: Sequence[int], n_needed: int) -> Texts:
        """The columns at the positions `wanted`; a row with fewer than `n_needed` fields is left out."""

    def head(self, n: int) -> list[list[str]]:
        """The first n rows as they are."""


@dataclass(frozen=True)
class CsvTable:
    """An opened CSV file as a `Table`."""

    file: CsvFile

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def header(self) -> tuple[str, ...]:
        return self.file.header

    def texts(self, wanted: Sequence[int], n_needed: int) -> Texts:
        """As `CsvFile.read`, at once for all rows where no field is quoted and each row is as long as the header."""
        return _at_once(self.file, wanted) or as_texts(self.file.read(wanted, n_needed))

    def head(self, n: int) -> list[list[str]]:
        """The first n rows that can be read, as they are."""
        return list(islice((record for record in records(self.file) if isinstance(record, list) and any(record)), n))


def as_texts(rows: Rows) -> Texts:
    """Rows that were read one by one as arrays."""
    columns = [pd.Series(column, dtype="str") for column in rows.columns]
    return Texts(np.asarray(rows.numbers, dtype=np.int64), columns, rows.n_rows, rows.unread, rows.issues)


def _at_once(file: CsvFile, wanted: Sequence[int]) -> Texts | None:
    """The texts of a file that needs no second look at any row, else None."""
    text = file.decoded.text
    if file.decoded.is_cut or '"' in text or "\x00" in text or len(file.header) < 2 or not text.endswith("\n"):
        return None
    if text.count("\r") != text.count("\r\n"):
        return None
    import pyarrow as pa
    from pyarrow import csv

    names = [str(at) for at in range(len(file.header))]
    odd: list[Any] = []

    def is_odd(row: Any) -> str:
        odd.append(row)
        return "skip"

    body = text[file.start :] if file.start else text
    used = sorted(set(wanted))
    options = (
        csv.ReadOptions(skip_rows=1, column_names=names, use_threads=False, block_size=1 << 24),
        csv.ParseOptions(
            delimiter=file.delimiter, quote_char=False, ignore_empty_lines=False, invalid_row_handler=is_odd
        ),
        csv.ConvertOptions(
            include_columns=[names[at] for at in used],
            column_types={names[at]: pa.large_string() for at in used},
            strings_can_be_null=False,
        ),
    )
    try:
        table = csv.read_csv(pa.BufferReader(body.encode()), *options)
    except pa.ArrowInvalid:
        return None
    if odd or not table.num_rows:
        return None
    series = {at: pd.Series(table[names[at]].to_pandas(), dtype="str") for at in used}
    numbers = np.arange(2, table.num_rows + 2, dtype=np.int64)
    return Texts(numbers, [series[at] for at in wanted], table.num_rows, (), file.decoded.notes)
