"""A result file opened as a table, whatever it is: CSV, an Excel workbook, JSON, or JSON line by line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InputError, Issue
from ..json_texts import parse_json
from ..spreadsheets import check_cells, is_workbook, read_workbook
from .csvfiles import open_csv
from .label_studio_results import is_export, rows_of
from .quick_csv import CsvTable, Table, Texts

MOST_LETTERS = 10_000  # of a column's name, which may be a question of a survey; names are looked at letter by letter


@dataclass(frozen=True)
class RowTable:
    """A table whose rows are in memory: `numbers` as people count them, `rows` of texts as long as the header."""

    name: str
    header: tuple[str, ...]
    numbers: tuple[int, ...]
    rows: Sequence[Sequence[str]]
    issues: tuple[Issue, ...] = ()
    unread: tuple[Issue, ...] = ()

    def texts(self, wanted: Sequence[int], n_needed: int) -> Texts:
        """The columns at the positions `wanted`."""
        columns = [pd.Series([row[at] for row in self.rows], dtype="str") for at in wanted]
        n_rows = len(self.rows) + len(self.unread)
        numbers = np.array(self.numbers, dtype=np.int64)
        return Texts(numbers, columns, n_rows, self.unread, (*self.issues, *self.unread))

    def head(self, n: int) -> list[list[str]]:
        """The first n rows."""
        return [list(row) for row in self.rows[:n]]


def open_results(data: bytes, name: str) -> Table:
    """Open a result file. Raises `InputError` where it is none, or damaged, or has a name of a column as no program
    writes them.

    >>> open_results(b'[{"voter": "anna", "labels": {"choice": "left"}}]', "votes.json").header
    ('voter', 'labels.choice')
    """
    table: Table
    if is_workbook(data):
        table = _sheet(data, name)
    elif data[:64].removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"[", b"{")):
        table = _json(data, name)
    else:
        table = CsvTable(open_csv(data, name))
    long = next((column for column in table.header if len(column) > MOST_LETTERS), None)
    if long is not None:
        told = [Issue("is longer than any that a program writes", column=long[:40] + "…")]
        raise InputError(f"{name} isn't a table of results: the name of a column has {len(long):,} letters.", told)
    return table


def _sheet(data: bytes, name: str) -> RowTable:
    sheets = read_workbook(data, name)
    if not sheets:
        raise InputError(f"{name} is empty. Download it again.")
    sheet = sheets[0]
    issues = [Issue(f"only the first sheet, {sheet.name}, was read")] if len(sheets) > 1 else []
    header = tuple(text.strip() for text in sheet.rows[0])
    return RowTable(name, header, sheet.numbers[1:], sheet.rows[1:], tuple(issues))


def _json(data: bytes, name: str) -> RowTable:
    records, unread = _parsed(data, name)
    if is_export(records):
        records = list(rows_of(records))
    elif len(records) == 1 and "instance_id_to_label_to_value" in records[0]:
        records = _potato_state(records[0])
    flat = [_flat(record) for record in records]
    header = tuple(dict.fromkeys(column for record in flat for column in record))
    if not header:
        raise InputError(f"{name} holds no answers.")
    check_cells(len(header) * len(flat), name)
    rows = [[record.get(column, "") for column in header] for record in flat]
    numbers = tuple(range(1, len(rows) + 1))
    if unread and len(unread) < 10**9:
        bad = {issue.row for issue in unread}
        numbers = tuple(number for number in range(1, len(rows) + len(unread) + 1) if number not in bad)
    return RowTable(name, header, numbers, rows, (), unread)


def _parsed(data: bytes, name: str) -> tuple[list[Mapping[str, Any]], tuple[Issue, ...]]:
    """The objects of a JSON list, of one object, or of lines with one object each."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is JSON, but byte {error.start + 1} is no UTF-8. Export it again.") from error
    try:
        found = parse_json(text)
    except (ValueError, RecursionError) as error:
        if text.lstrip().startswith("{") and "\n" in text.strip():
            return _lines(text)
        raise InputError(
            f"{name} can't be read as JSON ({error}): it is cut or was changed. Export it again."
        ) from error
    found = found if isinstance(found, list) else [found]
    if not found or not all(isinstance(record, Mapping) for record in found):
        raise InputError(f"{name} is JSON, but no list of answers. Choose an export of annotations.")
    return found, ()


def _lines(text: str) -> tuple[list[Mapping[str, Any]], tuple[Issue, ...]]:
    records: list[Mapping[str, Any]] = []
    unread: list[Issue] = []
    for number, line in enumerate((line for line in text.splitlines() if line.strip()), 1):
        try:
            record = parse_json(line)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, Mapping):
            records.append(record)
        else:
            unread.append(Issue("the line is no JSON object: it is cut, or damaged", row=number))
    return records, tuple(unread)


def _potato_state(state: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """One annotator's file of Potato as rows of its exports."""
    rows: list[Mapping[str, Any]] = []
    labels = state["instance_id_to_label_to_value"]
    for instance, values in labels.items() if isinstance(labels, Mapping) else ():
        row: dict[str, Any] = {"instance_id": instance, "user_id": state.get("user_id", "")}
        for pair in values if isinstance(values, list) else ():
            if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], Mapping):
                row[f"{pair[0].get('schema', '')}.{pair[0].get('name', '')}"] = pair[1]
        rows.append(row)
    return rows


def _flat(record: Mapping[str, Any]) -> dict[str, str]:
    """An object as texts by dotted names; lists stay JSON."""
    flat: dict[str, str] = {}
    stack: list[tuple[str, Any]] = [(str(key), value) for key, value in reversed(list(record.items()))]
    while stack:
        name, value = stack.pop()
        if isinstance(value, Mapping):
            stack += [(f"{name}.{key}", inner) for key, inner in reversed(list(value.items()))]
        elif isinstance(value, list):
            flat[name] = json.dumps(value, ensure_ascii=False)
        elif isinstance(value, bool):
            flat[name] = "true" if value else "false"
        else:
            flat[name] = "" if value is None else str(value)
    return flat
