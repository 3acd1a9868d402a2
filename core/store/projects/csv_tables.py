"""A table's rows as CSV text that loses nothing.

The first line has the column names. An empty cell is NULL where the column may be NULL; a text of such a column that is
empty or begins with a backslash has a backslash more in front. Numbers are written so that they come back bit for bit,
booleans as 0 and 1, JSON columns as JSON text.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import IO, Any

import sqlalchemy as sa

from ...errors import InputError, Issue
from ...tabular import SPARE_CELLS, bounded
from ..engine import HEAD
from ..schema.parts import is_exported

FETCH_AGAIN = "Choose the .zip as Runoff exported it, or export the project again."
MAX_CELL = 2**30
MAX_ISSUES = 100
Rows = Sequence[tuple[Any, ...]]

_WHOLE = re.compile(r"-?[0-9]{1,19}")
_csv_limit = threading.Lock()  # the csv module has one limit for all threads


def write_table(table: sa.Table, rows: Rows) -> bytes:
    """The CSV text of rows in the order of the table's columns, values as SQLite has them, less what is `here_`."""
    columns = [column for column in table.c if is_exported(column)]
    kept = [place for place, column in enumerate(table.c) if is_exported(column)]
    escaped = [place for place, column in enumerate(columns) if _may_be_null_text(column)]
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")  # with "\n" alone it leaves a "\r" in a cell without quotes
    writer.writerow(column.name for column in columns)
    for row in rows:
        cells = list(row) if len(kept) == len(row) else [row[place] for place in kept]
        for place in escaped:
            if cells[place] is not None and cells[place][:1] in ("", "\\"):
                cells[place] = "\\" + cells[place]
        writer.writerow(cells)
    return out.getvalue().encode("utf-8")


def _may_be_null_text(column: sa.Column) -> bool:
    return bool(column.nullable) and isinstance(column.type, sa.Text)


def read_table(table: sa.Table, file: IO[bytes], where: str, n_rows: int, schema: str = HEAD) -> Rows:
    """The rows of a table's CSV text in the order of the table's columns; `where` names the file.

    `n_rows` is how many it must have: no more are made, however many stand there. `schema` is the version that wrote
    it: columns that came later are filled with their defaults. Raises `InputError` with the rows and columns that
    can't be.
    """
    columns = [column for column in table.c if is_exported(column) and column.info.get("since", "") <= schema]
    try:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        with _csv_limit:
            before = csv.field_size_limit(MAX_CELL)
            try:
                lines = csv.reader(bounded(text, len(columns) + SPARE_CELLS, where), strict=True)
                _check_header(next(lines, []), [column.name for column in columns], where)
                rows = _read_rows(columns, lines, where, n_rows)
            finally:
                csv.field_size_limit(before)
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{where} is no CSV table in UTF-8 ({error}). {FETCH_AGAIN}") from error
    return rows if len(columns) == len(table.c) else _with_defaults(table, columns, rows)


def _check_header(header: list[str], names: list[str], where: str) -> None:
    if header == names:
        return
    issues = [Issue("column is missing", column=name) for name in names if name not in header]
    issues += [Issue("column is unknown", column=name[:100]) for name in header if name not in names]
    issues = issues or [Issue("columns stand in another order", row=1)]
    raise InputError(f"{where} hasn't the columns of this Runoff. {FETCH_AGAIN}", issues)


def _read_rows(columns: list[sa.Column], lines: Iterable[list[str]], where: str, n_rows: int) -> Rows:
    names = [column.name for column in columns]
    readers = [_reader(column) for column in columns]
    rows: list[tuple[Any, ...]] = []
    issues: list[Issue] = []
    for number, line in enumerate(lines, start=2):
        if number > n_rows + 1:
            raise InputError(f"{where} has more rows; the manifest says {n_rows}. {FETCH_AGAIN}")
        if len(line) != len(names):
            issues.append(Issue(f"has {len(line)} cells, not {len(names)}", row=number))
        else:
            try:
                rows.append(tuple([read(cell) for read, cell in zip(readers, line, strict=True)]))
            except (ValueError, RecursionError):
                issues.append(_issue(number, names, readers, line))
        if len(issues) == MAX_ISSUES:
            break
    if issues:
        raise InputError(f"{where} holds what its columns can't. {FETCH_AGAIN}", issues)
    if len(rows) != n_rows:
        raise InputError(f"{where} has {len(rows):,} rows; the manifest says {n_rows}. {FETCH_AGAIN}")
    return rows


def _with_defaults(table: sa.Table, columns: list[sa.Column], rows: Rows) -> Rows:
    """Rows of `columns` alone, filled up to all columns of the table."""
    place = {column.name: number for number, column in enumerate(columns)}
    missing = {column.name: _default(column) for column in table.c if column.name not in place}
    order = [(place.get(column.name), missing.get(column.name)) for column in table.c]
    return [tuple([default if at is None else row[at] for at, default in order]) for row in rows]


def _default(column: sa.Column) -> Any:
    default = column.server_default
    return _reader(column)(str(default.arg)) if isinstance(default, sa.DefaultClause) else None


def _issue(number: int, names: list[str], readers: list[Callable[[str], Any]], line: list[str]) -> Issue:
    for name, read, cell in zip(names, readers, line, strict=True):
        try:
            read(cell)
        except (ValueError, RecursionError) as error:
            message = str(error) if type(error) is ValueError else "can't be read"
            return Issue(message, row=number, column=name, found=cell[:60])
    raise InputError(f"Row {number} can't be read. {FETCH_AGAIN}")


def _reader(column: sa.Column) -> Callable[[str], Any]:
    """Reads a cell of a column; `ValueError` for what can't stand there."""
    kind, nullable = column.type, column.nullable
    if isinstance(kind, sa.Text):
        return _null_or_text if nullable else str
    read: Callable[[str], Any] = _whole
    if isinstance(kind, sa.Boolean):
        read = _boolean
    elif isinstance(kind, sa.Float):
        read = _number
    elif isinstance(kind, sa.JSON):
        read = _json
    return (lambda cell: read(cell) if cell else None) if nullable else read


def _null_or_text(cell: str) -> str | None:
    return None if not cell else cell[1:] if cell[0] == "\\" else cell


def _whole(cell: str) -> int:
    value = int(cell) if _WHOLE.fullmatch(cell) else 2**63
    if not -(2**63) <= value < 2**63:
        raise ValueError("must be a whole number of 64 bits")
    return value


def _boolean(cell: str) -> int:
    if cell not in ("0", "1"):
        raise ValueError("must be 0 or 1")
    return int(cell)


def _number(cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError("must be a finite number")
    return value


def _json(cell: str) -> str:
    try:
        found = json.loads(cell)
        if "\\ud" in cell.lower():  # half a character can't be stored
            json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise ValueError("must be JSON") from None
    return cell
