"""Votes from a table whose columns a person has named, or a preset (`presets`) has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..errors import Issue
from ..tabular import Table, Texts
from ..tabular.json_texts import parse_json
from ..votes.answers import TEXTS
from ..votes.meanings import STATUS_ASKED, Said, is_code, key_of, said_of, status_of
from ..votes.platform import ResultFile
from ..votes.reading import damaged_voters, decoded, forget_damaged, one_spelling, result_file, seconds_of, utc_times
from .mapping import NUMBER, ROLES, Mapping, columns_of
from .mturk import decided
from .plain import split_ids

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
    codes = {key for value in values if is_code(key := key_of(unwrapped(value)))}
    return USUAL | _NUMBERED if codes == set(_NUMBERED) else USUAL


def read_mapped(table: Table, mapping: Mapping) -> ResultFile:
    """Read a table by a mapping. Raises `InputError` where columns are missing (`Mapping.check`)."""
    rows, frame, unread, notices = mapped_frame(table, mapping)
    return result_file(mapping.platform, rows, frame, unread, notices, shows_texts=mapping.shows_texts)


def mapped_frame(table: Table, mapping: Mapping) -> tuple[Texts, pd.DataFrame, list[Issue], list[Issue]]:
    """The answers by a mapping (schema ANSWERS, and `area_left`, `area_right` where these are mapped), one row each;
    the rows they are from, those that can't be attributed, and what else to say."""
    mapping.check(table.header)
    places = {role: columns_of(table.header, getattr(mapping, role)) for role in ROLES}
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
        told = pd.DataFrame({"status": statuses, "note": notes}, index=rows.numbers, dtype="str")
        frame[["status", "note"]] = told.loc[frame["row"]].replace({"status": {"": "submitted"}}).to_numpy()
    frame["voter"] = one_spelling(frame["voter"])
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
    places = [columns_of(header, name) for name in ("AssignmentStatus", "Approve", "Reject", "RequesterFeedback")]
    return [place[1] for place in places] if all(places) else []


def of_server(frame: pd.DataFrame, said: Said, platform: str) -> None:
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
        found = column(role, n)
        return empty if found is None else found.str.strip()

    task, number = text("task"), np.full(len(rows.numbers), n, dtype=np.int64)
    if mapping.comparison:
        task, number = _split(text("comparison"))
    frame = pd.DataFrame({"row": rows.numbers, "assignment_id": text("assignment"), "voter": text("voter")})
    frame["task_id"], frame["n"] = task, number
    for name, found in _texts(mapping, {role: text(role) for role in TEXTS}).items():
        frame[name] = found
    frame["choice"] = meanings(text("choice"), mapping, usual)
    if mapping.choice_too:
        frame["choice"] = _together(frame["choice"], meanings(text("choice_too"), mapping, usual))
    found = text("status")
    frame["status"] = _statuses(found, mapping)
    frame["note"] = text("reason").where(frame["status"] != STATUS_ASKED, found)
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
    said = said_of(mapping.choices)
    codes, different = values.factorize()
    told = []
    for value in different:
        bare = key_of(unwrapped(value))
        told.append(said.get(key_of(value), said.get(bare, usual.get(bare, bare))))
    return pd.Series(pd.Series(told, dtype="str").array.take(codes), values.index) if told else values


def unwrapped(value: str) -> str:
    """The choice inside a cell that holds JSON, as Label Studio writes it.

    >>> unwrapped('[{"selected":"left"}]'), unwrapped('{"choices": ["A"]}'), unwrapped("left")
    ('left', 'A', 'left')
    """
    if not value.lstrip().startswith(("[", "{")):
        return value
    try:
        found = parse_json(value)
    except (ValueError, RecursionError):
        return value
    while isinstance(found, list | dict):
        if isinstance(found, list):
            if len(found) != 1:
                return value if found else ""
            (found,) = found
        else:
            chosen = [name for name, inner in found.items() if inner is True]
            inner = found.get("selected", found.get("choices", chosen[0] if len(chosen) == 1 else None))
            if inner is None:
                return value
            found = inner
    return str(found)


def _statuses(values: pd.Series, mapping: Mapping) -> pd.Series:
    codes, different = values.factorize()
    told = [status_of(value, mapping, mapping.platform, mapping.rejected) for value in different]
    return pd.Series(pd.Series(told, dtype="str").array.take(codes), values.index) if told else values


def _unattributed(frame: pd.DataFrame, mapping: Mapping) -> list[Issue]:
    """Answers that nobody gave, or whose voter a spreadsheet made a number of."""
    unread = [
        Issue("no voter, so the vote can't be attributed", row=int(row), column=mapping.voter)
        for row in frame.loc[(frame["voter"] == "") & (frame["choice"] != ""), "row"]
    ]
    unread += damaged_voters(frame["row"].to_numpy(), frame["voter"], mapping.voter)
    return unread


__all__ = ["mapped_frame", "meanings", "of_server", "read_mapped", "unwrapped", "usual_of"]
