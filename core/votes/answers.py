"""From the columns of a result file to answers: Mechanical Turk's layout, which Turkle shares.

`Input.*` columns repeat the batch file, `Answer.*` columns hold what the voter chose, in one of several layouts:

    Answer.choice_1 = left                                   plain radio buttons
    Answer.choice_1.left = true, Answer.choice_1.right = …   crowd-form with answer-format="flatten-objects"
    Answer.left.on = true, Answer.right.on = …               crowd radio buttons
    Answer.choice_1.label = left                             crowd classifier
    Answer.taskAnswers = [{"choice_1": {"left": true, …}}]   crowd-form as JSON
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ..errors import InputError, Issue
from ..tables import ANSWERS
from ..tabular import SourceTable, Texts, lacking
from ..tabular.json_files import parse_json
from .platform import ResultFile
from .reading import (
    decoded,
    forget_damaged,
    lowered,
    numbers,
    result_file,
    row_issues,
    stripped,
    to_utc,
    unread_times,
    whole,
)

TEXTS = ("left_a", "left_b", "right_a", "right_b")
_INPUT = re.compile(r"input\.(left_a|left_b|right_a|right_b|task_id)(?:_([1-9][0-9]{0,8}))?")
_CHOICE = re.compile(r"choice(?:_([1-9][0-9]{0,8}))?(?:\.label)?")
_CHOICE_OPTION = re.compile(r"choice(?:_([1-9][0-9]{0,8}))?(?:\.([^.]+)|_(left|right|tie|unknown))(?:\.on)?")
_OPTION = re.compile(r"(left|right|tie|unknown)(?:_([1-9][0-9]{0,8}))?(?:\.on)?")
# What a spreadsheet in English, German, French, Spanish, Italian or Portuguese makes of true and false.
_TRUE = frozenset({"true", "1", "on", "wahr", "vrai", "verdadero", "vero", "verdadeiro"})
_FALSE = frozenset({"", "false", "0", "off", "falsch", "faux", "falso"})
_NO_TEXT = ""
# The platform's own columns that are read, so that it matters if one of them is there twice.
_READ = frozenset(
    {"assignmentid", "workerid", "assignmentstatus", "submittime", "worktimeinseconds", "approve", "reject"}
)


@dataclass
class Layout:
    """Where the columns of a result file are: positions in the header.

    `inputs[n, name]` for the texts and the task id (n = 1 where the column has no number), `plain[n]` for a choice in
    one column, `options[n][option]` for a choice spread over several, `json` for Answer.taskAnswers, `meta[name]` for
    the platform's own columns by casefolded name.
    """

    inputs: dict[tuple[int, str], int] = field(default_factory=dict)
    plain: dict[int, int] = field(default_factory=dict)
    options: dict[int, dict[str, int]] = field(default_factory=dict)
    json: int | None = None
    meta: dict[str, int] = field(default_factory=dict)
    last_answer: int = 0

    @property
    def numbers(self) -> list[int]:
        """The comparisons of a task, as far as the columns name any."""
        return sorted({n for n, name in self.inputs if name in TEXTS} | set(self.plain) | set(self.options))

    def used(self) -> set[int]:
        """The positions of all columns that answers are read from."""
        names = ("assignmentid", "workerid", "submittime", "worktimeinseconds")
        positions = {*self.inputs.values(), *self.plain.values()}
        positions |= {self.meta[name] for name in names if name in self.meta}
        positions |= {at for options in self.options.values() for at in options.values()}
        return positions | ({self.json} if self.json is not None else set())


def find_layout(file: SourceTable, required: Sequence[str], download_hint: str) -> Layout:
    """Find the columns of a result file by name, whatever the case of the letters.

    Raises `InputError` naming each missing column (those in `required`, the texts, any choice) and the right
    download, and where two columns claim the same place.
    """
    layout = Layout()
    doubled: list[Issue] = []
    for position, name in enumerate(file.header):
        if not _place(layout, name.casefold(), position):
            doubled.append(Issue("another column says the same thing; keep only one of them", column=name))
    if doubled:
        raise InputError(f"The columns of {file.name} are ambiguous.", doubled)
    missing = [name for name in required if name.casefold() not in layout.meta]
    numbers = layout.numbers or [1]
    missing += [
        f"Input.{text}" + (f"_{n}" if len(numbers) > 1 else "")
        for n in numbers
        for text in TEXTS
        if (n, text) not in layout.inputs
    ]
    if not layout.plain and not layout.options and layout.json is None:
        missing.append("Answer.choice")
    if missing:
        raise lacking(file, missing, then=download_hint)
    return layout


def read_answers(
    platform: str,
    rows: Texts,
    layout: Layout,
    wanted: Sequence[int],
    statuses: Sequence[str],
    notes: Sequence[str],
    told: Sequence[Issue] = (),
) -> ResultFile:
    """Turn the columns of a file into answers (`tables.ANSWERS`).

    `statuses` and `notes` have one entry per row: the assignment's status ("" where there is none) and the reason that
    came with it; `told` is what is to be said of them.
    """
    cell = {at: column.to_numpy(dtype=object).tolist() for at, column in zip(wanted, rows.columns, strict=True)}
    frame = pd.DataFrame(
        {
            "row": rows.numbers,
            "assignment_id": stripped(cell[layout.meta["assignmentid"]]),
            "voter": stripped(cell[layout.meta["workerid"]]),
            "status": pd.Series(list(statuses), dtype="str"),
            "note": pd.Series(list(notes), dtype="str"),
        }
    )
    work_time = layout.meta.get("worktimeinseconds")
    frame["seconds"] = numbers(cell[work_time]) if work_time is not None else np.nan
    submitted = cell[layout.meta["submittime"]] if "submittime" in layout.meta else [""] * len(frame)
    times, _ = to_utc(submitted)
    frame["submitted_at"] = pd.Series(times, dtype="str")
    unread, notices = row_issues(frame)
    notices += [*told, *unread_times(submitted, times, "SubmitTime")]
    answers = _spread(frame, cell, layout, notices)
    return result_file(platform, rows, answers, unread, notices)


def _place(layout: Layout, name: str, position: int) -> bool:
    """Note the column `name` (casefolded) in the layout; False where its place is taken."""
    if match := _INPUT.fullmatch(name):
        key = (1 if match[1] == "task_id" else int(match[2] or 1), match[1])
        return layout.inputs.setdefault(key, position) == position
    if not name.startswith("answer."):
        if name.startswith("input.") or not name:
            return True
        return layout.meta.setdefault(name, position) == position or name not in _READ
    layout.last_answer = max(layout.last_answer, position)
    answer = name.removeprefix("answer.")
    if answer == "taskanswers":
        layout.json = position
        return True
    place = parse_answer_name(answer)
    if place is None:
        return True
    n, option = place
    if option is None:
        return n not in layout.options and layout.plain.setdefault(n, position) == position
    return n not in layout.plain and layout.options.setdefault(n, {}).setdefault(option, position) == position


def parse_answer_name(name: str) -> tuple[int, str | None] | None:
    """Read the name of an answer field: the comparison's number, and the option where the field is one of several.

    >>> parse_answer_name("choice_3"), parse_answer_name("choice_3.left"), parse_answer_name("right.on")
    ((3, None), (3, 'left'), (1, 'right'))
    >>> parse_answer_name("comment") is None
    True
    """
    if match := _CHOICE.fullmatch(name):
        return int(match[1] or 1), None
    if match := _CHOICE_OPTION.fullmatch(name):
        return int(match[1] or 1), match[2] or match[3]
    if match := _OPTION.fullmatch(name):
        return int(match[2] or 1), match[1]
    return None


def _spread(frame: pd.DataFrame, cell: Mapping[int, list[str]], layout: Layout, notices: list[Issue]) -> pd.DataFrame:
    """One row per answer: the comparisons of each task below each other, empty ones left out."""
    by_json = _json_choices(cell[layout.json]) if layout.json is not None else {}
    task = layout.inputs.get((1, "task_id"))
    frame["task_id"] = decoded(cell[task]) if task is not None else ""
    frame["task_id"] = frame["task_id"].astype("str").str.strip()
    forget_damaged(frame, "task_id", "Input.task_id", notices)
    parts = []
    for n in sorted(set(layout.numbers) | set(by_json)):
        part = frame.assign(n=n)
        for text in TEXTS:
            position = layout.inputs.get((n, text))
            part[text] = decoded(cell[position]) if position is not None else _NO_TEXT
        part["choice"] = _choices(cell, layout, by_json, n, len(frame))
        used = part["choice"].to_numpy() != ""
        for text in TEXTS:
            used |= part[text].to_numpy() != ""
        parts.append(part[used])
    answers = pd.concat(parts, ignore_index=True)
    answers = answers.astype({name: "str" for name, kind in ANSWERS.columns.items() if kind == "text"})
    answers["n"] = answers["n"].astype("int64")
    answers["seconds"] = answers["seconds"] / answers.groupby("row")["row"].transform("size")
    return answers.sort_values(["row", "n"], kind="stable", ignore_index=True)


def _choices(
    cell: Mapping[int, list[str]], layout: Layout, by_json: Mapping[int, list[str]], n: int, length: int
) -> pd.Series:
    if n in layout.plain:
        return pd.Series(lowered(cell[layout.plain[n]]), dtype="str")
    if n in layout.options:
        return pd.Series(joined({option: cell[at] for option, at in layout.options[n].items()}, length), dtype="str")
    return pd.Series(by_json.get(n, [""] * length), dtype="str")


def joined(options: Mapping[str, list[str]], length: int) -> list[str]:
    """The option that is true in each row. Several are joined by +, odd values are shown: neither is a choice then."""
    chosen = np.full(length, "", dtype=object)
    for option, values in options.items():
        for row, value in enumerate(map(whole, lowered(values))):
            if value in _FALSE:
                continue
            text = option if value in _TRUE else f"{option}={value}"
            chosen[row] = f"{chosen[row]}+{text}" if chosen[row] else text
    return list(chosen)


def _json_choices(cells: Sequence[str]) -> dict[int, list[str]]:
    """The choices in each row's JSON, by comparison; JSON that can't be read becomes the choice of comparison 1."""
    choices: dict[int, list[str]] = {}
    for row, text in enumerate(cells):
        options: dict[int, dict[str, list[str]]] = {}
        for name, value in _flat(text):
            place = parse_answer_name(name)
            if place is not None:
                n, option = place
                options.setdefault(n, {}).setdefault(option or "", []).append(value)
        for n, found in options.items():
            plain = found.pop("", [])
            values = [*(value for value in lowered(plain) if value), *filter(None, joined(found, 1))]
            choices.setdefault(n, [""] * len(cells))[row] = "+".join(values)
    return choices


def _flat(text: str) -> Iterator[tuple[str, str]]:
    """The fields of Answer.taskAnswers with dotted names, `choice_1.left` → `true`."""
    if not text.strip():
        return
    try:
        parsed = parse_json(text)
    except (ValueError, RecursionError):
        yield "choice_1", f"JSON that can't be read: {text[:40]}"
        return
    stack = [("", parsed)]
    while stack:
        name, value = stack.pop()
        if isinstance(value, dict):
            stack += [(f"{name}.{key}" if name else str(key), inner) for key, inner in reversed(value.items())]
        elif isinstance(value, list):
            stack += [(name, inner) for inner in reversed(value)]
        else:
            yield name.casefold(), "" if value is None else str(value)
