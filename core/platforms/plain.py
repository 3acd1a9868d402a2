"""Votes in a table of one's own: a comparison, a voter and a choice in each row.

    comparison_id,voter,choice[,seconds][,submitted_at]
    b1-0a1b2c3d-00001-1,anna,left

The comparisons go out as tables too (`colleagues`), so that votes can be collected with anything that holds rows: a
form, a spreadsheet, a script.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..errors import InputError, Issue
from ..tables import ANSWERS
from .answers import TEXTS
from .base import Outgoing, PlatformFile, ResultFile
from .csvfiles import CsvFile
from .times import to_utc

NEEDED = ("comparison_id", "voter", "choice")
OPTIONAL = ("seconds", "submitted_at")


def comparison_ids(comparisons: pd.DataFrame) -> pd.Series:
    """The public id of each comparison: its task's id and its number there, such as `b1-0a1b2c3d-00001-1`."""
    return comparisons["task_id"] + "-" + comparisons["n"].astype("str")


@dataclass(frozen=True)
class Plain:
    """A table of votes: `comparison_id`, `voter`, `choice`, and `seconds`, `submitted_at` where they are known."""

    name: str = "plain"
    label: str = "Plain table"
    download_hint: str = "A table of votes needs the columns comparison_id, voter and choice."
    steps: tuple[str, ...] = (
        "Give each colleague a file, or one file to all. The choice is left, right, tie or unknown.",
        "Upload what comes back under 2, in any order. A file that is only begun may be uploaded too.",
    )
    publishes: bool = False

    def files(self, ballot: Outgoing) -> tuple[PlatformFile, ...]:
        """The comparisons as one table for all, as CSV and for Excel (`colleagues` writes one for each)."""
        from .colleagues import table_files

        return table_files(ballot)

    def recognises(self, columns: Collection[str]) -> bool:
        """A file with the comparison's id and a choice."""
        return {"comparison_id", "choice"} <= set(columns)

    def read_results(self, file: CsvFile) -> ResultFile:
        """Read the file. A voter's rows of one task are one assignment; rows without a choice are answers not given."""
        names = [name.strip().casefold() for name in file.header]
        missing = [name for name in NEEDED if name not in names]
        if missing:
            issues = [Issue("column is missing", column=name) for name in missing]
            raise InputError(f"{file.name} lacks columns. {self.download_hint}", issues)
        wanted = [names.index(name) for name in (*NEEDED, *OPTIONAL) if name in names]
        rows = file.read(wanted, max(wanted[: len(NEEDED)]) + 1)
        cell = dict(zip([names[at] for at in wanted], rows.columns, strict=True))
        answers, issues = _answers(rows.numbers, cell)
        bad = sum(issue.row is not None for issue in issues)
        return ResultFile(
            self.name, answers, rows.n_rows, rows.n_unreadable + bad, (*rows.issues, *issues), shows_texts=False
        )


def _answers(numbers: list[int], cell: dict[str, list[str]]) -> tuple[pd.DataFrame, list[Issue]]:
    issues: list[Issue] = []
    count = len(numbers)
    times, n_unread = to_utc(cell.get("submitted_at", [""] * count))
    if n_unread:
        issues.append(Issue(f"{n_unread} times could not be read and were left out", column="submitted_at"))
    time_taken = cell.get("seconds", [""] * count)
    seconds_of = {text: _seconds(text) for text in set(time_taken)}
    kept: list[tuple[int, str, str, str, int, str, float, str]] = []
    columns = (numbers, *(cell[name] for name in NEEDED), time_taken, times)
    for row, comparison, voter, choice, seconds, time in zip(*columns, strict=True):
        name, given = voter.strip(), choice.strip()
        if not name and not given:
            continue  # a row of the table that nobody has filled in yet
        task, _, place = comparison.strip().lstrip("'").rpartition("-")
        if not (task and place.isascii() and place.isdigit() and int(place[:9]) > 0 and name):
            what = "no voter" if task and not name else "no id of a comparison"
            issues.append(
                Issue(what, row=row, column="voter" if what == "no voter" else "comparison_id", found=comparison)
            )
            continue
        kept.append((row, f"{task}/{name}", name, task, int(place[:9]), given.casefold(), seconds_of[seconds], time))
    names = ("row", "assignment_id", "voter", "task_id", "n", "choice", "seconds", "submitted_at")
    found: dict[str, Sequence[Any]] = dict.fromkeys(names, ())
    found |= dict(zip(names, zip(*kept, strict=True), strict=True)) if kept else {}
    found |= dict.fromkeys(TEXTS, [""] * len(kept)) | {"status": ["submitted"] * len(kept), "note": [""] * len(kept)}
    kinds = {"int": "int64", "float": "float64", "text": "str"}
    frame = pd.DataFrame(
        {name: pd.Series(list(found[name]), dtype=kinds[kind]) for name, kind in ANSWERS.columns.items()}
    )
    return ANSWERS.check(frame), issues


def _seconds(text: str) -> float:
    try:
        value = float(text.strip().replace(",", "."))
    except ValueError:
        return math.nan
    return value if math.isfinite(value) and value >= 0 else math.nan


PLAIN = Plain()
