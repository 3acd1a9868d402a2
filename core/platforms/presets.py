"""Which column is which in a result table: known of exports of Label Studio, Potato, Toloka and Appen, else guessed.

A file is CSV, an Excel workbook, JSON, or JSON line by line.

Of Label Studio's exports, the full JSON holds tasks with annotations, each with the results of the controls; JSON_MIN
and CSV hold a row an annotation: the task's data, `id`, a column a control, `annotator`, `annotation_id`, `created_at`,
`updated_at`, `lead_time`. Annotations that were skipped (`was_cancelled`) have no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import InputError, Issue
from ..questions.comparison_page import TIE_LABELS, UNKNOWN
from ..tabular import (
    NUMBER,
    RowsOfJson,
    SourceTable,
    bare_name,
    is_json,
    json_records,
    json_table,
    open_table,
    positions,
    same_name,
)
from .mapped_tables import USUAL, Mapping, unwrapped
from .mturk import MTURK
from .turkle import TURKLE

OWN = frozenset({"annotation_id", "annotator", "created_at", "id", "lead_time", "updated_at", "was_cancelled"})


def is_export(records: Sequence[Any]) -> bool:
    """Whether these are the tasks of a full JSON export."""
    return bool(records) and all(isinstance(task, AnyMapping) and "annotations" in task for task in records)


def has_answers(tasks: Sequence[AnyMapping[str, Any]]) -> bool:
    """Whether any annotation of a full export says anything, in whatever control."""
    lists = [task["annotations"] for task in tasks if isinstance(task["annotations"], list)]
    return any(isinstance(each, AnyMapping) and each.get("result") for annotations in lists for each in annotations)


def is_min(header: Sequence[str]) -> bool:
    """Whether these are the columns of JSON_MIN or CSV."""
    return {"annotation_id", "annotator"} <= set(map(same_name, header))


def rows_of(tasks: Sequence[AnyMapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The annotations of a full export as JSON_MIN has them, with `was_cancelled`.

    >>> list(rows_of([{"id": 1, "data": {"text1": "a"}, "annotations": [{"id": 10, "completed_by": {"id": 1, "email":
    ... "w"}, "result": [{"from_name": "pw", "value": {"selected": "left"}}]}]}]))[0]["pw"]
    'left'
    """
    for task in tasks:
        data = task.get("data")
        annotations = task.get("annotations")
        for annotation in annotations if isinstance(annotations, list) else []:
            if not isinstance(annotation, AnyMapping):
                continue
            row: dict[str, Any] = dict(data) if isinstance(data, AnyMapping) else {}
            row |= {"id": task.get("id"), "annotation_id": annotation.get("id")}
            row["annotator"] = _annotator(annotation.get("completed_by"))
            row |= {name: annotation.get(name) for name in ("created_at", "updated_at", "lead_time")}
            row["was_cancelled"] = annotation.get("was_cancelled", False)
            row["was_cancelled"] = bool(row["was_cancelled"] or annotation.get("skipped"))
            if not row["was_cancelled"]:
                row |= _answers(annotation.get("result"))
            yield row


def _annotator(completed_by: Any) -> Any:
    if isinstance(completed_by, AnyMapping):
        return completed_by.get("email") or completed_by.get("id")
    return completed_by


def _answers(results: Any) -> dict[str, Any]:
    """What the controls hold, by their names: the side of a pairwise one, the choice of choices."""
    answers: dict[str, Any] = {}
    for result in results if isinstance(results, Sequence) else []:
        if not isinstance(result, AnyMapping) or not isinstance(result.get("value"), AnyMapping):
            continue
        value = result["value"]
        chosen = value.get("selected", value.get("choices"))
        if chosen is not None:
            name = str(result.get("from_name", "choice"))
            value = chosen[0] if isinstance(chosen, list) and len(chosen) == 1 else chosen
            answers[name] = value if answers.get(name, value) == value else f"{answers[name]}+{value}"
    return answers


LOOKED_AT = 200  # rows that a guess looks at
# The usual names of a column by its role, in the order of preference; prefixes are left out before.
NAMES: dict[str, tuple[str, ...]] = {
    "voter": ("workerid", "worker_id", "_worker_id", "voter", "annotator", "user_id", "prolific_pid", "participant_id",
              "worker", "user", "username", "email"),
    "choice": ("choice", "choice_{n}", "choice{n}", "result", "preference.selection", "labels.preference.selection",
               "pw", "pairwise", "preference", "answer", "vote", "winner", "label", "c{n}", "taskanswers", "on"),
    "choice_too": (),
    "comparison": ("comparison_id", "instance_id", "comparison"),
    "task": ("task_id",),
    "left_a": ("left_a", "left_a_{n}"),
    "left_b": ("left_b", "left_b_{n}"),
    "right_a": ("right_a", "right_a_{n}"),
    "right_b": ("right_b", "right_b_{n}"),
    "area_left": ("area_left", "area_left_{n}", "area"),
    "area_right": ("area_right", "area_right_{n}", "area"),
    "submitted_at": ("submittime", "submitted_at", "submitted", "answered_at", "_created_at", "created_at",
                     "updated_at"),
    "seconds": ("worktimeinseconds", "seconds", "lead_time"),
    "status": ("assignmentstatus", "status", "_tainted"),
    "reason": ("requesterfeedback",),
    "assignment": ("assignmentid", "assignment_id", "annotation_id", "_id"),
}  # fmt: skip
_PREFIX = re.compile(r"(?:input|output|answer|assignment)[.:]", re.IGNORECASE)


@dataclass(frozen=True)
class Preset:
    """A platform whose exports are read by a mapping: `marks` are columns (casefolded) by which it is known."""

    name: str
    label: str
    marks: frozenset[str]
    us_dates: bool = False
    choices: tuple[tuple[str, str], ...] = ()


# What Runoff's own labelling interface calls them, where an export has the text in place of the value.
_WORDS = (*((text, "tie") for text in TIE_LABELS.values()), (UNKNOWN, "unknown"))
PRESETS = (
    Preset("labelstudio", "Label Studio", frozenset({"annotation_id", "annotator"}), choices=_WORDS),
    Preset("potato", "Potato", frozenset({"instance_id", "user_id"})),
    Preset("toloka", "Toloka", frozenset({"assignment:worker_id", "assignment:status"})),
    Preset("appen", "Appen", frozenset({"_unit_id", "_worker_id", "_trust"}), us_dates=True),
)


def preset_of(header: Sequence[str]) -> Preset | None:
    """The platform whose export has these columns, None for none of them."""
    names = set(map(same_name, header))
    return next((preset for preset in PRESETS if preset.marks <= names), None)


def guess(table: SourceTable) -> Mapping:
    """The likeliest mapping of a table by the names of its columns and its first rows; roles in doubt stay empty."""
    preset = preset_of(table.header)
    columns = {role: _named(table.header, names) for role, names in NAMES.items()}
    if preset is not None and preset.name == "labelstudio":
        columns |= {"status": "was_cancelled" if "was_cancelled" in table.header else "", "reason": ""}
        columns["choice_too"] = "other" if {"choice", "other"} <= set(table.header) else ""
    if not columns["choice"] or (is_min(table.header) and not columns["choice_too"]):
        columns["choice"] = _by_values(table, columns) or columns["choice"]
    mapping = Mapping.of(columns)
    names = set(map(same_name, table.header))
    own = next((platform.name for platform in (TURKLE, MTURK) if platform.recognises(names)), "")
    if preset is None:
        return replace(mapping, platform=own) if own else mapping
    return replace(mapping, platform=preset.name, us_dates=preset.us_dates, choices=preset.choices)


def preset_mapping(table: SourceTable) -> Mapping | None:
    """How a known platform's export is read; None where it is none, or where it lacks what says which comparisons."""
    if preset_of(table.header) is None:
        return None
    mapping = guess(table)
    return mapping if mapping.is_complete else None


def _named(header: Sequence[str], names: Sequence[str]) -> str:
    """The column with the first of the names that there is, as the header writes it; `{n}` where the name has it."""
    for name in names:
        if NUMBER in name:
            before, after = name.split(NUMBER)
            fits = re.compile(f"(.*[.:])?{re.escape(before)}[1-9][0-9]*{re.escape(after)}", re.IGNORECASE)
            column = next((column for column in header if fits.fullmatch(column.strip())), "")
            if column:
                return re.sub(f"[1-9][0-9]*({re.escape(after)})$", NUMBER + r"\1", column.strip())
        elif places := positions(header, [name], _of_role):
            return header[places[0]]
    return ""


def _of_role(column: str) -> str:
    """A column's name without its prefix, bare; `_id` is a database's own, and `ASSIGNMENT:task_id` Toloka's."""
    name = same_name(column)
    bare = _PREFIX.sub("", name, count=1)
    if bare == "task_id" and name.startswith("assignment"):
        return name
    return "_" * bare.startswith("_") + bare_name(bare)


def _by_values(table: SourceTable, found: dict[str, str]) -> str:
    """The column whose first rows are choices, such as left and right or A and B."""
    head = table.head(LOOKED_AT)
    others = {column for role, column in found.items() if role != "choice"} | OWN
    for at, column in enumerate(table.header):
        values = {unwrapped(row[at]).strip().casefold() for row in head if len(row) > at}
        says_more = any(not value.isdigit() for value in values - {""})
        if column not in others and says_more and values <= set(USUAL):
            return column
    return ""


MOST_LETTERS = 10_000  # of a column's name, which may be a question of a survey; names are looked at letter by letter
# Columns of which a sheet with results has all of one set (casefolded).
_SHEETS = (
    frozenset({"assignmentid", "workerid"}),
    frozenset({"comparison_id", "choice"}),
    frozenset({"question_id", "answer"}),
    frozenset({"participant id", "status"}),
)


def open_results(data: bytes, name: str, *, sheet: str | None = None) -> SourceTable:
    """Open a result file. Of a workbook the sheet is taken that holds results, else the only one of several columns.

    Raises `InputError` where it is none, or damaged, or has a name of a column as no program writes them.

    >>> open_results(b'[{"voter": "anna", "labels": {"choice": "left"}}]', "votes.json").header
    ('voter', 'labels.choice')
    """
    table: SourceTable
    if is_json(data):
        table = json_table(_of_platforms(json_records(data, name), name), name)
    else:
        table = open_table(data, name, sheet=sheet, fits=(_holds_results, _has_columns))
    long = next((column for column in table.header if len(column) > MOST_LETTERS), None)
    if long is not None:
        issues = [Issue("is longer than any that a program writes", column=long[:40] + "…")]
        raise InputError(f"{name} isn't a table of results: the name of a column has {len(long):,} letters.", issues)
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
        rows: list[AnyMapping[str, Any]] = list(rows_of(found.records))
    elif len(found.records) == 1 and "instance_id_to_label_to_value" in found.records[0]:
        rows = _potato_state(found.records[0])
    else:
        return found
    return RowsOfJson(rows, tuple(range(1, len(rows) + 1)))


def _potato_state(state: AnyMapping[str, Any]) -> list[AnyMapping[str, Any]]:
    """One annotator's file of Potato as rows of its exports."""
    rows: list[AnyMapping[str, Any]] = []
    labels = state["instance_id_to_label_to_value"]
    for instance, values in labels.items() if isinstance(labels, AnyMapping) else ():
        row: dict[str, Any] = {"instance_id": instance, "user_id": state.get("user_id", "")}
        for pair in values if isinstance(values, list) else ():
            if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], AnyMapping):
                row[f"{pair[0].get('schema', '')}.{pair[0].get('name', '')}"] = pair[1]
        rows.append(row)
    return rows
