"""A result file opened as a table, whatever it is: CSV, an Excel workbook, JSON, or JSON line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InputError, Issue
from ..tabular import RowsOfJson, Table, is_json, json_records, json_table, open_table, same_name
from .label_studio_results import has_answers, is_export, rows_of
from .presets import preset_of

MOST_LETTERS = 10_000  # of a column's name, which may be a question of a survey; names are looked at letter by letter
# Columns of which a sheet with results has all of one set (casefolded).
_SHEETS = (
    frozenset({"assignmentid", "workerid"}),
    frozenset({"comparison_id", "choice"}),
    frozenset({"question_id", "answer"}),
    frozenset({"participant id", "status"}),
)


def open_results(data: bytes, name: str, *, encoding: str | None = None, sheet: str | None = None) -> Table:
    """Open a result file. Of a workbook the sheet is taken that holds results, else the only one of several columns.

    Raises `InputError` where it is none, or damaged, or has a name of a column as no program writes them.

    >>> open_results(b'[{"voter": "anna", "labels": {"choice": "left"}}]', "votes.json").header
    ('voter', 'labels.choice')
    """
    table: Table
    if is_json(data):
        table = json_table(_of_platforms(json_records(data, name), name), name)
    else:
        table = open_table(data, name, encoding=encoding, sheet=sheet, fits=(_holds_results, _has_columns))
    long = next((column for column in table.header if len(column) > MOST_LETTERS), None)
    if long is not None:
        told = [Issue("is longer than any that a program writes", column=long[:40] + "…")]
        raise InputError(f"{name} isn't a table of results: the name of a column has {len(long):,} letters.", told)
    return table


def _holds_results(header: Sequence[str]) -> bool:
    names = set(map(same_name, header))
    return any(known <= names for known in _SHEETS) or preset_of(header) is not None


def _has_columns(header: Sequence[str]) -> bool:
    return len(header) > 1


def _of_platforms(found: RowsOfJson, name: str) -> RowsOfJson:
    """What platforms export as nested JSON as rows of answers."""
    if is_export(found.records):
        if not has_answers(found.records):
            raise InputError(
                f"{name} is an export of Label Studio in which nobody has chosen yet: of its {len(found.records):,} "
                "tasks none has an answer in any control (in Runoff's interface they are called “choice” and “other”). "
                "Export it again once people have answered."
            )
        rows: list[Mapping[str, Any]] = list(rows_of(found.records))
    elif len(found.records) == 1 and "instance_id_to_label_to_value" in found.records[0]:
        rows = _potato_state(found.records[0])
    else:
        return found
    return RowsOfJson(rows, tuple(range(1, len(rows) + 1)))


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
