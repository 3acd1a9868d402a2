"""Which column is which in the exports of Label Studio, Potato, Toloka and Appen, and a guess for any other table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..questions.template import TIE, UNKNOWN
from ..tabular import Table
from .label_studio_results import OWN, is_min
from .mapped import USUAL, unwrapped
from .mapping import NUMBER, Mapping
from .mturk import MTURK
from .turkle import TURKLE

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
_WORDS = (*((text, "tie") for text in TIE.values()), (UNKNOWN, "unknown"))
PRESETS = (
    Preset("labelstudio", "Label Studio", frozenset({"annotation_id", "annotator"}), choices=_WORDS),
    Preset("potato", "Potato", frozenset({"instance_id", "user_id"})),
    Preset("toloka", "Toloka", frozenset({"assignment:worker_id", "assignment:status"})),
    Preset("appen", "Appen", frozenset({"_unit_id", "_worker_id", "_trust"}), us_dates=True),
)


def preset_of(header: Sequence[str]) -> Preset | None:
    """The platform whose export has these columns, None for none of them."""
    folded = {name.strip().casefold() for name in header}
    return next((preset for preset in PRESETS if preset.marks <= folded), None)


def guess(table: Table) -> Mapping:
    """The likeliest mapping of a table by the names of its columns and its first rows; roles in doubt stay empty."""
    preset = preset_of(table.header)
    found = {role: _named(table.header, names) for role, names in NAMES.items()}
    if preset is not None and preset.name == "labelstudio":
        found |= {"status": "was_cancelled" if "was_cancelled" in table.header else "", "reason": ""}
        found["choice_too"] = "other" if {"choice", "other"} <= set(table.header) else ""
    if not found["choice"] or (is_min(table.header) and not found["choice_too"]):
        found["choice"] = _by_values(table, found) or found["choice"]
    mapping = Mapping.of(found)
    folded = {name.strip().casefold() for name in table.header}
    own = next((platform.name for platform in (TURKLE, MTURK) if platform.recognises(folded)), "")
    if preset is None:
        return replace(mapping, platform=own) if own else mapping
    return replace(mapping, platform=preset.name, us_dates=preset.us_dates, choices=preset.choices)


def preset_mapping(table: Table) -> Mapping | None:
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
            continue
        for column in header:
            bare = _PREFIX.sub("", column.strip(), count=1).casefold()
            is_other = name == "task_id" and column.casefold().startswith("assignment")  # Toloka's own number
            if (bare == name and not is_other) or column.strip().casefold() == name:
                return column
    return ""


def _by_values(table: Table, found: dict[str, str]) -> str:
    """The column whose first rows are choices, such as left and right or A and B."""
    head = table.head(LOOKED_AT)
    taken = {column for role, column in found.items() if role != "choice"} | OWN
    for at, column in enumerate(table.header):
        values = {unwrapped(row[at]).strip().casefold() for row in head if len(row) > at}
        says_more = any(not value.isdigit() for value in values - {""})
        if column not in taken and says_more and values <= set(USUAL):
            return column
    return ""
