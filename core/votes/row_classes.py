"""Each row of a result file in exactly one class, and each answer too: counted, shown, written as a file.

A row holds one answer or several (a task's comparisons). An answer's class is what `votes.classify` found. A row's is
that of its weightiest answer, in the order of `CLASSES`; a row without any is `no_answer` where nothing is filled in,
else `unreadable`. So the classes' rows add up to the rows of the file; the classes' answers add up to the answers in
it, with one for each row that holds none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..errors import Issue
from ..tabular.csv_writing import table_for_spreadsheets

CONTRADICTS = "contradicts"
# In the order of weight: what changes the store, what is there already, what is left out.
CLASSES = (
    "new",
    "check",
    "unknown",
    "changed",
    "rejected",
    "repeat",
    "excluded",
    "asked",
    CONTRADICTS,
    "known",
    "no_answer",
    "other_ballot",
    "unreadable",
)
COLUMNS = ("row", "class", "reason", "voter", "assignment_id", "task_id", "n",
           "left_a", "left_b", "right_a", "right_b", "choice")  # fmt: skip
_BLANK = "nothing is filled in"
# A spreadsheet, and whoever opens the file in one, should see the words, not run them.


def classes_of(rows: pd.DataFrame) -> pd.Series:
    """The class of each answer of `votes.Preview.rows`: its kind, but `contradicts` where the store keeps another
    answer of the same assignment."""
    stays = (rows["kind"] == "changed") & (rows["becomes"] == "")
    return rows["kind"].mask(stays, CONTRADICTS)


def count_answers(rows: pd.DataFrame, unread: Sequence[Issue], blank: npt.NDArray[np.int64]) -> dict[str, int]:
    """How many answers are in each class that occurs; a row without an answer counts as one."""
    found = classes_of(rows).value_counts(sort=False)
    return _in_order({str(kind): int(n) for kind, n in found.items()}, len(unread), len(blank))


def count_rows(rows: pd.DataFrame, unread: Sequence[Issue], blank: npt.NDArray[np.int64]) -> dict[str, int]:
    """How many rows of the file are in each class that occurs."""
    places = pd.Index(CLASSES).get_indexer(pd.Index(classes_of(rows)))
    weightiest = pd.Series(places).groupby(rows["row"].to_numpy(), sort=False).min()
    found = {CLASSES[int(str(place))]: int(n) for place, n in weightiest.value_counts().items()}
    return _in_order(found, len(unread), len(blank))


def _in_order(found: dict[str, int], n_unread: int, n_blank: int) -> dict[str, int]:
    found["unreadable"] = found.get("unreadable", 0) + n_unread
    found["no_answer"] = found.get("no_answer", 0) + n_blank
    return {name: found[name] for name in CLASSES if found.get(name)}


def class_table(
    rows: pd.DataFrame, unread: Sequence[Issue], blank: npt.NDArray[np.int64], name: str | None = None
) -> pd.DataFrame:
    """The answers of one class, or of all, one per row, with `COLUMNS`: the row of the file, class and reason first.

    Rows without an answer stand among them, with empty cells where nothing could be read; `n` is 0 there.
    """
    classes = classes_of(rows)
    mine = rows if name is None else rows[classes == name]
    table = mine.assign(**{"class": classes[mine.index]})[list(COLUMNS)]
    more = [(issue.row, "unreadable", issue.message) for issue in unread] if name in (None, "unreadable") else []
    more += [(int(row), "no_answer", _BLANK) for row in blank] if name in (None, "no_answer") else []
    if more:
        empty = pd.DataFrame(more, columns=["row", "class", "reason"]).assign(n=0)
        empty = empty.assign(**dict.fromkeys([c for c in COLUMNS if c not in empty], ""))
        table = pd.concat([table, empty[list(COLUMNS)]], ignore_index=True)
    return table.sort_values(["row", "n"], kind="stable", ignore_index=True)


def class_file(table: pd.DataFrame) -> bytes:
    """A table of `class_table` as CSV for people: UTF-8 with a byte order mark, an apostrophe before formulas."""
    return table_for_spreadsheets(table)
