"""What the readers of result files share: cells, damaged ids, and the file with each row in its place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..base.arrays import Ints
from ..errors import Issue
from ..tables import ANSWERS
from ..tabular import Texts
from .platform import ResultFile
from .text import decode
from .times import to_utc, unread_times

# An id that a spreadsheet took for a number: its digits are gone, so that different ids look the same.
_NUMBER = re.compile(r"-?\d(?:[.,]\d+)?E\+\d+", re.IGNORECASE)
# What spreadsheets show of an id that they took for a truth value, and for a date: 2026-03-01, 1/2/26, 01.02.2026,
# 02-Jan, 2. Mrz, Jan-26.
_TRUTH = re.compile(r"TRUE|FALSE|WAHR|FALSCH|VRAI|FAUX|VERDADERO|VERDADEIRO|[Tt]rue|[Ff]alse")
_MONTH = (
    "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mrz|mai|okt|dez|janv|févr|mars|avr|juin|juil|août|sept|déc|ene|"
    "abr|ago|dic|gen|mag|giu|lug|set|ott|fev|out"
)
_DATE = re.compile(
    r"\d{4}[-/]\d{1,2}[-/]\d{1,2}(?:[ T]\d{1,2}:\d\d(?::\d\d)?)?|\d{1,2}([/.])\d{1,2}\1\d{2,4}"
    rf"|\d{{1,2}}[-. ] ?(?:{_MONTH})\.?(?:[- ]\d{{2,4}})?|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)-\d{{2}}",
    re.IGNORECASE,
)


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
    answers = answers.assign(voter=one_spelling(answers["voter"]))
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
    unread += damaged_voters(frame["row"].to_numpy(), frame["voter"], "WorkerId")
    for row in frame.loc[frame["status"] == "", "row"]:
        unread.append(Issue("the status is missing", row=int(row), column="AssignmentStatus"))
    notices: list[Issue] = []
    forget_damaged(frame, "assignment_id", "AssignmentId", notices)
    return unread, notices


def taken_for(id_: str) -> str:
    """What a spreadsheet took an id for, so that nobody knows any more whose it was; "" where it is as it was.

    >>> taken_for("1.23457E+19"), taken_for("TRUE"), taken_for("02-Jan"), taken_for("W1")
    ('a number', 'a truth value', 'a date', '')
    """
    for what, pattern in (("a number", _NUMBER), ("a truth value", _TRUTH), ("a date", _DATE)):
        if pattern.fullmatch(id_):
            return what
    return ""


def why_lost(voter: str) -> str:
    """Why nobody knows whose id this was, "" where it is as it was.

    >>> why_lost("1.2E+19")
    "a spreadsheet took the voter's id for a number, so its digits are lost; upload the file as downloaded"
    """
    took = taken_for(voter)
    lost = "its digits are lost" if took == "a number" else "nobody knows what it was"
    return f"a spreadsheet took the voter's id for {took}, so {lost}; upload the file as downloaded" if took else ""


def composed(voter: str) -> str:
    """A voter in Unicode's composed form: programs write one name in two ways that nobody can tell apart."""
    return unicodedata.normalize("NFC", voter)


def damaged_voters(numbers: Ints, voters: pd.Series, column: str) -> list[Issue]:
    """The rows whose voter a spreadsheet took for something else; `numbers` are the rows of `voters`."""
    codes, different = voters.factorize()
    told = [why_lost(voter) for voter in different]
    if not any(told):
        return []
    those = np.flatnonzero((np.array([*told, ""], dtype=object) != "")[codes]).tolist()
    return [Issue(told[codes[at]], int(numbers[at]), column, different[codes[at]]) for at in those]


def one_spelling(voters: pd.Series) -> pd.Series:
    """Voters in their composed form."""
    codes, different = voters.factorize()
    if all(voter.isascii() for voter in different):
        return voters
    told = pd.Series([composed(voter) for voter in different], dtype="str")
    return pd.Series(told.array.take(codes), voters.index)


def is_damaged(ids: pd.Series) -> pd.Series:
    """Which ids a spreadsheet took for numbers: their digits are gone, so that different ids look the same."""
    return ids.str.fullmatch(_NUMBER.pattern, case=False)


def forget_damaged(frame: pd.DataFrame, name: str, column: str, notices: list[Issue]) -> None:
    """Empty the ids that a spreadsheet damaged, and say so: what they told is told by voters and words instead."""
    damaged = is_damaged(frame[name])
    if damaged.any():
        instead = "the tokens shown say which comparisons they are" if name == "task_id" else (
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
    found = pd.Series(utc.array.take(codes) if len(utc) else column.array, column.index)
    sizes = np.bincount(codes, minlength=len(times))
    return found, unread_times(list(texts), times, name, sizes.tolist())
