"""Votes in a table of one's own: a comparison, a voter and a choice in each row.

    comparison_id,voter,choice[,seconds][,submitted_at]
    b1-0a1b2c3d-00001-1,anna,left

The comparisons go out as tables too (`colleagues`), so that votes can be collected with anything that holds rows: a
form, a spreadsheet, a script.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..errors import InputError, Issue
from ..tabular import Table, places_of
from ..votes.answers import TEXTS
from ..votes.meanings import Said
from ..votes.platform import Outgoing, PlatformFile, ResultFile
from ..votes.reading import damaged_voters, result_file, seconds_of, utc_times

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

    def files(self, ballot: Outgoing) -> tuple[PlatformFile, ...]:
        """The comparisons as one table for all, as CSV and for Excel (`colleagues` writes one for each)."""
        from .colleagues import table_files

        return table_files(ballot)

    def recognises(self, columns: Collection[str]) -> bool:
        """A file with the comparison's id and a choice."""
        return {"comparison_id", "choice"} <= set(columns)

    def read_results(self, file: Table, said: Said) -> ResultFile:
        """Read the file. A voter's rows of one task are one assignment, where no times are told."""
        places = places_of(file, (*NEEDED, *OPTIONAL))
        missing = [name for name in NEEDED if name not in places]
        if missing:
            issues = [Issue("column is missing", column=name) for name in missing]
            raise InputError(f"{file.name} lacks columns. {self.download_hint}", issues)
        rows = file.texts(list(places.values()), max(places[name] for name in NEEDED) + 1)
        cell = dict(zip(places, rows.columns, strict=True))
        comparison, voter, choice = (cell[name].str.strip() for name in NEEDED)
        task, n = split_ids(comparison)
        is_filled = ((voter != "") | (choice != "")).to_numpy()  # else nobody has filled the row in yet
        unread = _unread(rows.numbers, comparison, (n == 0) & is_filled, (voter == "").to_numpy() & is_filled)
        unread += [] if said.former else damaged_voters(rows.numbers, voter, file.header[places["voter"]])
        kept = (n > 0) & (voter != "").to_numpy() & is_filled
        frame, notices = plain_answers(rows.numbers, cell, task, n, choice)
        answers = frame if kept.all() else frame[kept].reset_index(drop=True)
        return result_file(self.name, rows, answers, unread, notices, shows_texts=False)


def plain_answers(
    numbers: npt.NDArray[np.int64], cell: Mapping[str, pd.Series], task: pd.Series, n: npt.NDArray[np.int64],
    choice: pd.Series,
) -> tuple[pd.DataFrame, list[Issue]]:  # fmt: skip
    """The rows of a plain table as answers, and notices on their times; `cell` are its columns by name."""
    times, notices = utc_times(cell.get("submitted_at"), "submitted_at")
    columns = {
        "row": numbers,
        "assignment_id": "",  # of its task, voter and time
        "voter": cell["voter"].str.strip(),
        "task_id": task,
        "n": n,
        "choice": choice.str.lower(),
        "seconds": seconds_of(cell.get("seconds")),
        "submitted_at": times,
        "status": "submitted",
    }
    return pd.DataFrame(columns).assign(**dict.fromkeys((*TEXTS, "note"), "")), notices


def split_ids(comparison: pd.Series) -> tuple[pd.Series, npt.NDArray[np.int64]]:
    """The task and the number of each comparison's id, "" and 0 where it is none. A leading apostrophe is left out.

    >>> split_ids(pd.Series(["b1-0a1b2c3d-00001-2", "nonsense"]))[1].tolist()
    [2, 0]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    clean = pc.ascii_ltrim(pa.array(comparison, type=pa.large_string()), characters="'")
    parts = pc.split_pattern(clean, "-", max_splits=1, reverse=True)
    lengths = np.asarray(pc.list_value_length(parts), dtype=np.int64)
    flat, ends = pc.list_flatten(parts), lengths.cumsum()
    task, number = flat.take(pa.array(ends - lengths)), flat.take(pa.array(ends - 1))
    is_number = np.asarray(pc.match_substring_regex(number, "^[0-9]{1,9}$"))
    is_id = is_number & (lengths == 2) & (np.asarray(pc.binary_length(task)) > 0)
    n = np.asarray(pc.cast(pc.if_else(pa.array(is_id), number, "0"), pa.int64()))
    return pd.Series(pc.if_else(pa.array(n > 0), task, "").to_pandas(), comparison.index, dtype="str"), n


def _unread(
    numbers: npt.NDArray[np.int64],
    comparison: pd.Series,
    without_id: npt.NDArray[np.bool_],
    without_voter: npt.NDArray[np.bool_],
) -> list[Issue]:
    issues = []
    for at in np.flatnonzero(without_id | without_voter).tolist():
        what, column = ("no id of a comparison", "comparison_id") if without_id[at] else ("no voter", "voter")
        issues.append(Issue(what, row=int(numbers[at]), column=column, found=comparison.iloc[at]))
    return issues


PLAIN = Plain()
