"""Amazon Mechanical Turk: its batch files and task page as files to hand over, and a reader of its result files.

It has been closed since 30 September 2026; its result files live on.

Turkle shares the format. A result file is read by `MechanicalTurk.read`; what its answer columns hold is
`core.votes.answers`' to say.

Its templates have layouts of answers of their own; each becomes one column per question:

Answer.choice.a = true, Answer.choice.b = false   →   Answer.choice = a
Answer.a.on = true, Answer.b.on = false           →   Answer.on = a
Answer.taskAnswers = [{"choice": {"a": true, …}}] →   Answer.choice = a
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ..base.numbers_in_words import many
from ..errors import Issue
from ..questions.comparison_page import template, write_batch
from ..tables import Ints
from ..tabular import SourceTable, Texts, refuse_doubled, same_name
from ..tabular.json_files import parse_json
from ..votes.answers import find_layout, joined, read_answers
from ..votes.meanings import (
    APPROVE_ASKED,
    NO_MEANINGS,
    STATUS_ASKED,
    STATUSES,
    ValueMeanings,
    approves,
    key_of,
    reason_of,
    status_of,
)
from ..votes.platform import Outgoing, PlatformFile, ResultFile

CSV, HTML = "text/csv", "text/html"


def batch_file(ballot: Outgoing, note: str, *, ascii_only: bool = False) -> PlatformFile:
    """The batch of a ballot, or of what it lacks."""
    name = f"{ballot.part}-batch.csv" if not ballot.is_top_up else f"{ballot.part}.csv"
    label = "Top-up batch (CSV)" if ballot.is_top_up else "Batch (CSV)"

    def make() -> bytes:
        return write_batch(ballot.comparisons(), only=ballot.only(), ascii_only=ascii_only)

    return PlatformFile(name, label, note, CSV, make)


def page_file(ballot: Outgoing, target: str, label: str, note: str) -> PlatformFile:
    """The task page for `target` (see `template`)."""
    return PlatformFile(f"{ballot.code}-task-{target}.html", label, note, HTML, partial(_page, ballot, target))


def page_of(ballot: Outgoing, target: str) -> str:
    """The ballot's task page as a template for `target`."""
    return template(
        n_comparisons=ballot.widest,
        notion=ballot.notion,
        ties_allowed=ballot.ties_allowed,
        wording=ballot.wording,
        target=target,
    )


def _page(ballot: Outgoing, target: str) -> bytes:
    return page_of(ballot, target).encode("utf-8")


BOTH = "both Approve and Reject are filled, so neither was taken"
_MOST_ROWS = 10  # that a remark names


@dataclass(frozen=True)
class MechanicalTurk:
    """Result files `Batch_…_batch_results.csv`, also with decisions pending in the columns Approve and Reject."""

    name: str = "mturk"
    label: str = "Mechanical Turk"
    download_hint: str = (
        "On Mechanical Turk, the right file is Manage › Review results › Download CSV (Batch_…_batch_results.csv), "
        "with all its columns."
    )
    steps: tuple[str, ...] = (
        (
            "Make a project in such a program and paste one of the two task pages as its template: the plain one where "
            "the program adds a form and a Submit button by itself, the one with a crowd-form where it doesn't."
        ),
        "Publish the batch in that project.",
        "Download the results with all their columns and upload them under 2.",
    )

    def files(self, ballot: Outgoing) -> tuple[PlatformFile, ...]:
        """The batch, and the page in both layouts."""
        about = (
            "One row per task, with the comparisons that have no vote yet." if ballot.is_top_up else "One row per task."
        )
        plain = "Radio buttons only; answers come back as Answer.choice_1 = left."
        crowd = "The same page in a <crowd-form>; answers come back as Answer.choice_1.left = true."
        return (
            batch_file(ballot, about),
            page_file(ballot, "turkle", "Task page, plain (HTML)", plain),
            page_file(ballot, "mturk", "Task page, crowd-form (HTML)", crowd),
        )

    def recognises(self, columns: Collection[str]) -> bool:
        """A file with an assignment's status, or at least its id and no mark of Turkle."""
        return "turkle.username" not in columns and bool({"assignmentstatus", "assignmentid"} & set(columns))

    def read(self, file: SourceTable, said: ValueMeanings) -> ResultFile:
        """Read the file; rows that stop after the last Answer column are as Mechanical Turk writes them."""
        layout = find_layout(file, ("AssignmentId", "WorkerId", "AssignmentStatus"), self.download_hint)
        names = ("assignmentstatus", "approve", "reject", "requesterfeedback")
        wanted = sorted({*layout.used(), *(layout.meta[name] for name in names if name in layout.meta)})
        rows = file.texts(wanted, layout.last_answer + 1)
        cell = dict(zip(wanted, rows.columns, strict=True))
        empty = pd.Series([""] * len(rows.numbers), dtype="str")
        columns = [cell[layout.meta[name]] if name in layout.meta else empty for name in names]
        statuses, notes, notices = decided(columns, rows.numbers, said)
        return read_answers(self.name, rows, layout, wanted, statuses, notes, notices)


def decided(
    columns: Sequence[pd.Series], numbers: Ints, said: ValueMeanings
) -> tuple[list[str], list[str], list[Issue]]:
    """The status of each row and the reason for it, by `decide`, and what to say of decisions that contradict
    themselves; columns as its parameters, `numbers` are the rows'."""
    if not len(columns[0]):
        return [], [], []  # pandas before 3 makes no index of no rows
    # A file has few different decisions and many rows.
    codes, different = pd.MultiIndex.from_arrays(columns).factorize()
    decisions = [decide(str(status), str(mark), str(reason), str(why), said) for status, mark, reason, why in different]
    rows = numbers[np.array([note == BOTH for _, note in decisions], dtype=bool)[codes]] if decisions else numbers[:0]
    notices = []
    if len(rows):
        named = ", ".join(map(str, rows[:_MOST_ROWS])) + (", …" if len(rows) > _MOST_ROWS else "")
        text = f"{BOTH}, and the status stands: {many(len(rows), 'row')} ({named}); empty one of the two"
        notices.append(Issue(text, row=int(rows[0]), column="Approve"))
    return [decisions[code][0] for code in codes], [decisions[code][1] for code in codes], notices


def decide(status: str, approve: str, reject: str, feedback: str, said: ValueMeanings = NO_MEANINGS) -> tuple[str, str]:
    """An assignment's status, with the decision that is pending in the file, and the reason for it.

    A mark in Approve approves, also what was rejected before; a reason in Reject rejects what was only submitted; with
    both filled the file contradicts itself and the status stands. What programs write for an empty cell is no mark. Of
    a status or a mark that nobody knows what was found, to be asked about; of no status "" and "".

    >>> decide("Submitted", "NA", "always right", "")
    ('rejected', 'always right')
    >>> decide("Rejected", "X", "", "too fast")
    ('approved', '')
    >>> decide("Rejected", "perhaps", "", "too fast")
    ('approve?', 'perhaps')
    """
    known = status_of(status, said) if status.strip() else ""
    if not known or (said.former and key_of(status) not in STATUSES):
        return "", ""
    if known == STATUS_ASKED:
        return known, status.strip()
    is_marked, reason = approves(approve, said), reason_of(reject, said)
    if is_marked is None:
        return APPROVE_ASKED, approve.strip()
    if is_marked and not reason:
        return "approved", ""
    if reason and not is_marked and known == "submitted":
        return "rejected", reason
    if is_marked and reason:
        return known, BOTH
    return known, feedback.strip() if known == "rejected" else ""


MTURK = MechanicalTurk()


_OPTION = re.compile(r"(answer\.[^.]+)\.(?!label$)([^.]+)", re.IGNORECASE)
_ON = re.compile(r"(answer)\.([^.]+)\.on", re.IGNORECASE)
_JSON = "answer.taskanswers"


@dataclass(frozen=True)
class NormalisedTable:
    """A table with further columns at its end: `options[name]` are the positions of the columns that name an option
    each; `questions` are fields of the JSON in the column `json`."""

    base: SourceTable
    options: dict[str, dict[str, int]]
    json: int | None
    questions: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.base.name

    @property
    def header(self) -> tuple[str, ...]:
        return (*self.base.header, *self.options, *self.questions)

    @property
    def notes(self) -> tuple[Issue, ...]:
        return self.base.notes

    def texts(self, wanted: Sequence[int], n_needed: int) -> Texts:
        """The columns at the positions `wanted`, made where they are the further ones."""
        width = len(self.base.header)
        of_base = sorted({at for position in wanted for at in self._sources(position)})
        # Columns after the last answer may be left off in a row.
        last = max(at for options in self.options.values() for at in options.values()) if self.options else 0
        made = max(last, self.json or 0) + 1
        rows = self.base.texts(of_base, made if n_needed > width else n_needed)
        cell = dict(zip(of_base, rows.columns, strict=True))
        columns = [cell[at] if at < width else self._made(at - width, cell) for at in wanted]
        return Texts(rows.numbers, columns, rows.n_rows, rows.unread, rows.issues)

    def head(self, n: int) -> list[list[str]]:
        """The first n rows, with the further columns."""
        width = len(self.base.header)
        rows = [row + [""] * (width - len(row)) for row in self.base.head(n)]
        cell = {at: pd.Series([row[at] for row in rows], dtype="str") for at in range(width)}
        columns = [self._made(at, cell).tolist() for at in range(len(self.header) - width)]
        return [[*row[:width], *(column[at] for column in columns)] for at, row in enumerate(rows)]

    def _sources(self, position: int) -> list[int]:
        at = position - len(self.base.header)
        if at < 0:
            return [position]
        if at < len(self.options):
            return list(list(self.options.values())[at].values())
        return [] if self.json is None else [self.json]

    def _made(self, at: int, cell: Mapping[int, pd.Series]) -> pd.Series:
        if at < len(self.options):
            options = list(self.options.values())[at]
            columns = {option: cell[place].to_numpy(dtype=object).tolist() for option, place in options.items()}
            length = len(next(iter(columns.values())))
            return pd.Series(joined(columns, length), dtype="str")
        question = self.questions[at - len(self.options)].split(".", 1)[1]
        cells = cell[self.json if self.json is not None else 0]
        codes, different = cells.factorize()
        answers = pd.Series([_answer(text, question) for text in different], dtype="str")
        return pd.Series(answers.array.take(codes)) if len(answers) else cells


def normalised(table: SourceTable) -> SourceTable:
    """The table with its answers as one column per question; the table itself where they are so already."""
    options: dict[str, dict[str, int]] = {}
    at_json = None
    for at, column in enumerate(table.header):
        name = column.strip()
        if name.casefold() == _JSON:
            at_json = at
        elif match := _ON.fullmatch(name):
            options.setdefault(f"{match[1]}.on", {})[match[2]] = at
        elif match := _OPTION.fullmatch(name):
            options.setdefault(match[1], {})[match[2]] = at
    used = [at for at, column in enumerate(table.header) if same_name(column).startswith("answer.")]
    if options or at_json is not None:
        refuse_doubled(table, used)
    options = {name: found for name, found in options.items() if len(found) > 1 or name.endswith(".on")}
    options = {name: found for name, found in options.items() if name not in table.header}
    questions: tuple[str, ...] = ()
    if at_json is not None:
        cells = [row[at_json] for row in table.head(50) if len(row) > at_json]
        names = dict.fromkeys(name for cell in cells for name in _fields(cell))
        questions = tuple(f"Answer.{name}" for name in names if f"Answer.{name}" not in table.header)
    return NormalisedTable(table, options, at_json, questions) if options or questions else table


def _objects(text: str) -> list[Any]:
    try:
        objects = parse_json(text) if text.strip() else []
    except (ValueError, RecursionError):
        return []
    return [part for part in (objects if isinstance(objects, list) else [objects]) if isinstance(part, Mapping)]


def _fields(text: str) -> list[str]:
    return [str(name) for part in _objects(text) for name in part]


def _answer(text: str, question: str) -> str:
    """What one field of the JSON says: the option that is true, or the text itself."""
    for part in _objects(text):
        if question in part:
            value = part[question]
            if isinstance(value, Mapping):
                chosen = [str(option) for option, is_chosen in value.items() if is_chosen in (True, "true")]
                return "+".join(chosen)
            return "" if value is None else str(value)
    return ""
