"""What the readers of result files share: cells, damaged ids, and the file with each row in its place."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..errors import Issue
from ..tables import ANSWERS
from ..tabular import Ints, Texts
from .base import ResultFile
from .text import decode
from .times import to_utc

# An id that a spreadsheet took for a number: its digits are gone, so that different ids look the same.
_DAMAGED = re.compile(r"\d(?:[.,]\d+)?E\+\d+", re.IGNORECASE)


def result_file(
    platform: str,
    rows: Texts,
    answers: pd.DataFrame,
    unread: Sequence[Issue],
    notices: Sequence[Issue],
    *,
    shows_texts: bool = True,
) -> ResultFile:
    """The file as read, with each of its rows in its place: rows that are `unread` give no answers."""
    bad = {issue.row for issue in unread}
    if bad:
        answers = answers[~answers["row"].isin(bad)].reset_index(drop=True)
    first = {issue.row: issue for issue in (*reversed(unread), *rows.unread)}
    blank = _without(rows.numbers, answers["row"].to_numpy(), bad)
    answers = ANSWERS.check(answers[list(ANSWERS.columns)])
    issues = (*rows.issues, *unread, *notices)
    return ResultFile(platform, answers, rows.n_rows, tuple(first.values()), issues, shows_texts, blank)


def _without(numbers: Ints, answered: Ints, bad: set[int | None]) -> Ints:
    """The rows that aren't answered and not bad either."""
    if np.array_equal(numbers, answered):
        return numbers[:0]
    left = numbers[~np.isin(numbers, answered)]
    return left[~np.isin(left, [row for row in bad if row is not None])] if bad else left


def row_issues(frame: pd.DataFrame) -> tuple[list[Issue], list[Issue]]:
    """Rows whose votes can't be attributed (an id is missing, a voter's was lost to a spreadsheet, the status is
    unknown), and what else to say. Assignments whose ids were lost are told by their voter and task instead."""
    unread = []
    for name, column in (("assignment_id", "AssignmentId"), ("voter", "WorkerId")):
        for row in frame.loc[frame[name] == "", "row"]:
            unread.append(Issue("the id is missing, so the vote can't be attributed", row=int(row), column=column))
    for row, value in frame.loc[is_damaged(frame["voter"]), ["row", "voter"]].itertuples(index=False, name=None):
        text = "a spreadsheet took the id for a number, so its digits are lost; upload the file as downloaded"
        unread.append(Issue(text, row=int(row), column="WorkerId", found=value))
    for row, note in frame.loc[frame["status"] == "", ["row", "note"]].itertuples(index=False, name=None):
        text = "the status is none of Submitted, Approved and Rejected"
        unread.append(Issue(text, row=int(row), column="AssignmentStatus", found=note))
    notices: list[Issue] = []
    forget_damaged(frame, "assignment_id", "AssignmentId", notices)
    return unread, notices


def is_damaged(ids: pd.Series) -> pd.Series:
    """Which ids a spreadsheet took for numbers: their digits are gone, so that different ids look the same."""
    return ids.str.fullmatch(_DAMAGED.pattern, case=False)


def forget_damaged(frame: pd.DataFrame, name: str, column: str, notices: list[Issue]) -> None:
    """Empty the ids that a spreadsheet damaged, and say so: what they told is told by voters and words instead."""
    damaged = is_damaged(frame[name])
    if damaged.any():
        instead = "the words shown say which comparisons they are" if name == "task_id" else (
            "voter and comparison say which answers they are"
        )  # fmt: skip
        text = f"{int(damaged.sum()):,} ids were taken for numbers by a spreadsheet and lost their digits; {instead}"
        notices.append(Issue(text, column=column, found=str(frame.loc[damaged, name].iloc[0])))
        frame.loc[damaged, name] = ""


def stripped(values: Sequence[str]) -> pd.Series:
    return pd.Series([value.strip() for value in values], dtype="str")


def lowered(values: Sequence[str]) -> list[str]:
    return [value.strip().lower() for value in values]


def decoded(values: Sequence[str]) -> pd.Series:
    return pd.Series([decode(value) if "&" in value else value for value in values], dtype="str")


def numbers(values: Sequence[str]) -> pd.Series:
    return pd.to_numeric(pd.Series(list(values), dtype="str"), errors="coerce").astype("float64")


def seconds_of(column: pd.Series | None) -> pd.Series | float:
    """Times taken as numbers of seconds, NaN where there is none; a comma may stand for the point."""
    if column is None:
        return np.nan
    codes, texts = column.factorize()
    read = pd.to_numeric(pd.Series(texts, dtype="str").str.strip().str.replace(",", "."), errors="coerce")
    values = read.astype("float64").to_numpy()
    values = np.where(np.isfinite(values) & (values >= 0), values, np.nan)
    return pd.Series(np.append(values, np.nan)[codes], column.index)


def utc_times(column: pd.Series | None, name: str, *, us_dates: bool = False) -> tuple[pd.Series | str, list[Issue]]:
    """Times in UTC, "" where they are unknown, and how many could not be read."""
    if column is None:
        return "", []
    codes, texts = column.factorize()
    times, _ = to_utc(list(texts), us_dates=us_dates)
    utc = pd.Series(times, dtype="str")
    found = utc.array.take(codes) if len(utc) else column.array
    n_unread = int(((pd.Series(found) == "") & (column.str.strip().to_numpy() != "")).sum())
    text = f"{n_unread} times could not be read and were left out"
    return pd.Series(found, column.index), [Issue(text, column=name)] if n_unread else []
