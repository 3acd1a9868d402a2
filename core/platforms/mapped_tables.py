"""Votes read from a table whose columns are named by a person or by a preset (`presets`).

A name may hold `{n}`: then the columns where a number stands in its place, 1, 2, …, are the comparisons of a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from ..errors import InputError, Issue
from ..tabular import NUMBER, Header, SourceTable, Texts, lacking, numbered_columns, refuse_doubled
from ..tabular.json_files import known_values, parse_json
from ..votes.answers import TEXTS
from ..votes.meanings import STATUS_ASKED, Pairs, ValueMeanings, is_code, key_of, meanings_by_value, status_of
from ..votes.platform import ResultFile
from ..votes.reading import (
    damaged_voters,
    decoded,
    forget_damaged,
    result_file,
    seconds_of,
    utc_times,
    whole,
    with_usual_ids,
)
from .mturk import decided
from .plain import split_ids

__all__ = ["mapped_frame", "meanings", "of_server", "read_mapped", "unwrapped", "usual_of"]


_PAIRS = {"choices", "statuses", "marks"}
TEXT_COLUMNS = ("left_a", "left_b", "right_a", "right_b")
ROLES = {
    "voter": "Voter",
    "choice": "Choice",
    "choice_too": "Second column of the choice",
    "comparison": "Id of the comparison",
    "task": "Id of the task",
    "left_a": "Left pair, first token",
    "left_b": "Left pair, second token",
    "right_a": "Right pair, first token",
    "right_b": "Right pair, second token",
    "area_left": "Area of the left pair",
    "area_right": "Area of the right pair",
    "submitted_at": "Time of the answer",
    "seconds": "Seconds it took",
    "status": "Status (approved, rejected)",
    "reason": "Reason of a rejection",
    "assignment": "Id of the assignment",
}


@dataclass(frozen=True)
class Mapping(ValueMeanings):
    """The column of each of `ROLES`, "" where there is none, and what values mean (`meanings.ValueMeanings`).

    Needed are a voter, a choice, and the id of the comparison (as in the table of comparisons), of the task, or the
    words: four columns, or one per pair with the `separator` that stands between its tokens. `rejected` are the values
    of `status` that reject an answer. `platform` names where the votes come from: the same name with another one is
    another voter. With `us_dates` the month stands first in a date. Without any column it is for files whose columns
    are a platform's own.
    """

    voter: str = ""
    choice: str = ""
    choice_too: str = ""
    comparison: str = ""
    task: str = ""
    left_a: str = ""
    left_b: str = ""
    right_a: str = ""
    right_b: str = ""
    area_left: str = ""
    area_right: str = ""
    submitted_at: str = ""
    seconds: str = ""
    status: str = ""
    reason: str = ""
    assignment: str = ""
    separator: str = ""
    rejected: tuple[str, ...] = ("rejected",)
    platform: str = "table"
    us_dates: bool = False

    @classmethod
    def of(cls, stored: AnyMapping[str, Any]) -> Mapping:
        """A mapping as JSON keeps it; what another version knows besides is left out."""
        values = known_values(cls, stored)
        for name in _PAIRS & values.keys():
            values[name] = tuple((str(value), str(meaning)) for value, meaning in values[name])
        if "rejected" in values:
            values["rejected"] = tuple(map(str, values["rejected"]))
        return cls(**values)

    def stored(self) -> dict[str, Any]:
        """The mapping as JSON, without what is at its default."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        values |= {name: [list(pair) for pair in values[name]] for name in _PAIRS & values.keys()}
        return values | ({"rejected": list(self.rejected)} if "rejected" in values else {})

    def named(self) -> dict[str, str]:
        """The columns by role, those that are there."""
        return {role: getattr(self, role) for role in ROLES if getattr(self, role)}

    @property
    def told(self) -> dict[str, Any]:
        """What somebody said of values, by what they are; for the log."""
        values: dict[str, Any] = {name: dict(getattr(self, name)) for name in sorted(_PAIRS) if getattr(self, name)}
        return values | ({"server": self.server} if self.server else {})

    def saying(self, said: ValueMeanings) -> Self:
        """The mapping with what was said besides, which goes before what it says itself."""
        return replace(
            self,
            choices=_joined(self.choices, said.choices),
            statuses=_joined(self.statuses, said.statuses),
            marks=_joined(self.marks, said.marks),
            former=self.former or said.former,
            server=said.server or self.server,
        )

    @property
    def shows_texts(self) -> bool:
        """Whether the words that voters saw are among the columns."""
        if self.separator:
            return bool(self.left_a and self.right_a)
        return all(getattr(self, name) for name in TEXT_COLUMNS)

    @property
    def is_complete(self) -> bool:
        """Whether votes can be read by it."""
        return bool(self.voter and self.choice and (self.comparison or self.task or self.shows_texts))

    def check(self, header: Sequence[str]) -> None:
        """Raise `InputError` where a column isn't in the header, or where something that is needed is missing."""
        table = Header("The file", tuple(header))
        missing = {role: name for role, name in self.named().items() if not numbered_columns(header, name)}
        if missing:
            roles = ", ".join(f"“{ROLES[role]}”" for role in missing)
            raise lacking(table, list(missing.values()), then=f"Choose other columns for {roles}.")
        for name in self.named().values():
            if header.count(name) != 1:  # else the one written so is meant
                places = [at for at, column in enumerate(header) if numbered_columns([column], name)]
                refuse_doubled(table, places, then=", or name another")
        unsaid = [ROLES[role].lower() for role in ("voter", "choice") if not getattr(self, role)]
        if not (self.comparison or self.task or self.shows_texts):
            unsaid.append("either the id of the comparison or the four tokens shown")
        if unsaid:
            raise InputError(f"Say also which columns hold {', '.join(unsaid)}.")
        self.check_said()


def _joined(before: Pairs, after: Pairs) -> Pairs:
    return tuple((meanings_by_value(before) | meanings_by_value(after)).items())


_LEFT = ("left", "a", "first", "l", "option a", "item_a", "item a", "a1")
_RIGHT = ("right", "b", "second", "r", "option b", "item_b", "item b", "b1")
_TIE = ("tie", "equal", "same", "draw", "no preference")
_UNKNOWN = ("unknown", "don't know", "dont know", "i don't know", "idk")
OWN_TASK = "[a-z]+[0-9]*-[0-9a-f]{8}(?:-[0-9]+)?"  # a task's id as Runoff makes it
_OWN_VOTERS = ("turkle", "labelstudio", "potato")  # programs that people run themselves, with accounts of their own
_NUMBERED = {"1": "left", "2": "right"}
# What a value means where the mapping doesn't say; numbers only where a file has both 1 and 2 (`usual_of`).
USUAL = {
    **dict.fromkeys(_LEFT, "left"),
    **dict.fromkeys(_RIGHT, "right"),
    **dict.fromkeys(_TIE, "tie"),
    **dict.fromkeys(_UNKNOWN, "unknown"),
    "": "",
}


def usual_of(values: Iterable[str]) -> dict[str, str]:
    """What values mean usually, by their keys, in a column of choices that holds these.

    1 and 2 are the first and the second pair, where both occur and no other number: of 0 and 1, or of ones alone,
    nobody knows which pair is meant.

    >>> usual_of(["1", "2"])["1"], "1" in usual_of(["0", "1"]), "1" in usual_of(["1"])
    ('left', False, False)
    """
    codes = {key for value in values if is_code(key := _bare(value))}
    return USUAL | _NUMBERED if codes == set(_NUMBERED) else USUAL


def read_mapped(table: SourceTable, mapping: Mapping) -> ResultFile:
    """Read a table by a mapping. Raises `InputError` where columns are missing (`Mapping.check`)."""
    rows, frame, unread, notices = mapped_frame(table, mapping)
    return result_file(mapping.platform, rows, frame, unread, notices, shows_texts=mapping.shows_texts)


def mapped_frame(table: SourceTable, mapping: Mapping) -> tuple[Texts, pd.DataFrame, list[Issue], list[Issue]]:
    """The answers by a mapping (schema ANSWERS, and `area_left`, `area_right` where these are mapped), one row each;
    the rows they are from, those that can't be attributed, and what else to say."""
    mapping.check(table.header)
    places = {role: numbered_columns(table.header, getattr(mapping, role)) for role in ROLES}
    wanted = sorted({at for of_role in places.values() for at in of_role.values()})
    pending = _pending(table.header, mapping)
    wanted = sorted({*wanted, *pending})
    needed = [at for role in ("voter", "choice", "comparison", "task", *TEXTS) for at in places[role].values()]
    rows = table.texts(wanted, max(needed) + 1)
    cell = dict(zip(wanted, rows.columns, strict=True))

    def column(role: str, n: int) -> pd.Series | None:
        at = places[role].get(n if NUMBER in getattr(mapping, role) else 1)
        return None if at is None else cell[at]

    notices: list[Issue] = []
    chosen = [cell[at].unique() for role in ("choice", "choice_too") for at in places[role].values()]
    usual = USUAL | {"1": "left", "2": "right"} if mapping.former else usual_of(set().union(*chosen))
    parts = [_comparison(rows, mapping, n, column, usual) for n in places["choice"]]
    frame = pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
    frame["submitted_at"], late = utc_times(frame["submitted_at"], mapping.submitted_at, us_dates=mapping.us_dates)
    notices += late
    if pending:
        statuses, notes, told_twice = decided([cell[at] for at in pending], rows.numbers, mapping)
        notices += told_twice
        decisions = pd.DataFrame({"status": statuses, "note": notes}, index=rows.numbers, dtype="str")
        frame[["status", "note"]] = decisions.loc[frame["row"]].replace({"status": {"": "submitted"}}).to_numpy()
    frame, evened = with_usual_ids(frame)
    notices += evened
    unread = _unattributed(frame, mapping)
    for name, role in (("assignment_id", "assignment"), ("task_id", "task")):
        forget_damaged(frame, name, getattr(mapping, role), notices)
    of_server(frame, mapping, mapping.platform)
    is_blank = (frame["choice"] == "") & (frame["voter"] == "")
    if mapping.shows_texts and len(parts) > 1:
        is_blank |= (frame[list(TEXTS)] == "").all(axis=1)
    frame = frame[~is_blank] if is_blank.any() else frame
    if len(parts) > 1:
        frame = frame.assign(seconds=frame["seconds"] / frame.groupby("row")["row"].transform("size"))
        frame = frame.sort_values(["row", "n"], kind="stable", ignore_index=True)
    return rows, frame.reset_index(drop=True), unread, notices


def _pending(header: Sequence[str], mapping: Mapping) -> list[int]:
    """Mechanical Turk's columns of decisions, made and pending, where the status is its own; else none."""
    if mapping.status.strip().casefold() != "assignmentstatus":
        return []
    places = [numbered_columns(header, name) for name in ("AssignmentStatus", "Approve", "Reject", "RequesterFeedback")]
    return [place[1] for place in places] if all(places) else []


def of_server(frame: pd.DataFrame, said: ValueMeanings, platform: str) -> None:
    """Make ids those of the server that was said, where it isn't the first: of assignments, of tasks that Runoff didn't
    make, and of voters where these have accounts of that server."""
    if said.server in ("", "1"):
        return
    names = {"assignment_id": frame["assignment_id"] != ""}
    names["task_id"] = (frame["task_id"] != "") & ~frame["task_id"].str.fullmatch(OWN_TASK)
    if platform in _OWN_VOTERS:
        names["voter"] = frame["voter"] != ""
    for name, those in names.items():
        frame[name] = (said.server + ":" + frame[name]).where(those, frame[name]).astype("str")


def _comparison(rows: Texts, mapping: Mapping, n: int, column: Any, usual: dict[str, str]) -> pd.DataFrame:
    """The answers to the n-th comparison of each row."""
    empty = pd.Series([""] * len(rows.numbers), dtype="str")

    def text(role: str) -> pd.Series:
        cells = column(role, n)
        return empty if cells is None else cells.str.strip()

    task, number = text("task"), np.full(len(rows.numbers), n, dtype=np.int64)
    if mapping.comparison:
        task, number = _split(text("comparison"))
    frame = pd.DataFrame({"row": rows.numbers, "assignment_id": text("assignment"), "voter": text("voter")})
    frame["task_id"], frame["n"] = task, number
    for name, texts in _texts(mapping, {role: text(role) for role in TEXTS}).items():
        frame[name] = texts
    frame["choice"] = meanings(text("choice"), mapping, usual)
    if mapping.choice_too:
        frame["choice"] = _together(frame["choice"], meanings(text("choice_too"), mapping, usual))
    status = text("status")
    frame["status"] = _statuses(status, mapping)
    frame["note"] = text("reason").where(frame["status"] != STATUS_ASKED, status)
    frame["seconds"] = seconds_of(column("seconds", n))
    frame["submitted_at"] = text("submitted_at")
    for role in ("area_left", "area_right"):
        if getattr(mapping, role):
            frame[role] = decoded(text(role).tolist())
    return frame


def _together(one: pd.Series, other: pd.Series) -> pd.Series:
    """The choice of two columns: whichever says something; both joined by + where they differ, which is no choice."""
    both = one.where((other == "") | (one == other), other.where(one == "", one + "+" + other))
    return both.astype("str")


def _split(ids: pd.Series) -> tuple[pd.Series, np.ndarray]:
    """Task and number of the ids of comparisons; an id without a number is its task's first comparison."""
    task, n = split_ids(ids)
    bare = ids.str.lstrip("'")
    return task.where(n > 0, bare), np.where(n > 0, n, 1)


def _texts(mapping: Mapping, texts: dict[str, pd.Series]) -> dict[str, pd.Series]:
    if not mapping.shows_texts:
        return {name: pd.Series([""] * len(texts[name]), dtype="str") for name in TEXTS}
    whole = {name: decoded(texts[name].tolist()) for name in TEXTS}
    if not mapping.separator:
        return whole
    split = {}
    for side in ("left", "right"):
        parts = [text.split(mapping.separator, 1) for text in whole[f"{side}_a"]]
        split[f"{side}_a"] = pd.Series([part[0].strip() for part in parts], dtype="str")
        split[f"{side}_b"] = pd.Series([part[1].strip() if len(part) > 1 else "" for part in parts], dtype="str")
    return split


def meanings(values: pd.Series, mapping: Mapping, usual: dict[str, str]) -> pd.Series:
    """What each choice means; what nobody said stays as it was found, in small letters."""
    by_value = meanings_by_value(mapping.choices)
    codes, different = values.factorize()
    meant = []
    for value in different:
        bare, found = _bare(value), key_of(unwrapped(value))
        meant.append(by_value.get(key_of(value), by_value.get(bare, usual.get(bare, found))))
    return pd.Series(pd.Series(meant, dtype="str").array.take(codes), values.index) if meant else values


def _bare(value: str) -> str:
    """A choice as its meaning is looked up: without JSON around it, in small letters, 1 for 1.0."""
    return whole(key_of(unwrapped(value)))


def unwrapped(value: str) -> str:
    """The choice inside a cell that holds JSON, as Label Studio writes it.

    >>> unwrapped('[{"selected":"left"}]'), unwrapped('{"choices": ["A"]}'), unwrapped("left")
    ('left', 'A', 'left')
    """
    if not value.lstrip().startswith(("[", "{")):
        return value
    try:
        content = parse_json(value)
    except (ValueError, RecursionError):
        return value
    while isinstance(content, list | dict):
        if isinstance(content, list):
            if len(content) != 1:
                return value if content else ""
            (content,) = content
        else:
            chosen = [name for name, inner in content.items() if inner is True]
            inner = content.get("selected", content.get("choices", chosen[0] if len(chosen) == 1 else None))
            if inner is None:
                return value
            content = inner
    return str(content)


def _statuses(values: pd.Series, mapping: Mapping) -> pd.Series:
    codes, different = values.factorize()
    statuses = [status_of(value, mapping, mapping.platform, mapping.rejected) for value in different]
    return pd.Series(pd.Series(statuses, dtype="str").array.take(codes), values.index) if statuses else values


def _unattributed(frame: pd.DataFrame, mapping: Mapping) -> list[Issue]:
    """Answers that nobody gave, or whose voter a spreadsheet made a number of."""
    unread = [
        Issue("no voter, so the vote can't be attributed", row=int(row), column=mapping.voter)
        for row in frame.loc[(frame["voter"] == "") & (frame["choice"] != ""), "row"]
    ]
    unread += damaged_voters(frame["row"].to_numpy(), frame["voter"], mapping.voter)
    return unread
