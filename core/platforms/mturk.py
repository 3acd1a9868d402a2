"""Amazon Mechanical Turk: closed since 30 September 2026, but its files live on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pandas as pd

from .answers import find_layout, read_answers
from .base import Outgoing, PlatformFile, ResultFile
from .quick_csv import Table
from .task_files import batch_file, page_file

_STATUSES = {"submitted": "submitted", "approved": "approved", "rejected": "rejected"}


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
    publishes: bool = False

    def files(self, ballot: Outgoing) -> tuple[PlatformFile, ...]:
        """The batch, and the page in both dresses."""
        about = "One row a task, with the comparisons that have no vote yet." if ballot.is_top_up else "One row a task."
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

    def read_results(self, file: Table) -> ResultFile:
        """Read the file; rows that stop after the last Answer column are as Mechanical Turk writes them."""
        layout = find_layout(file, ("AssignmentId", "WorkerId", "AssignmentStatus"), self.download_hint)
        names = ("assignmentstatus", "approve", "reject", "requesterfeedback")
        wanted = sorted({*layout.used(), *(layout.meta[name] for name in names if name in layout.meta)})
        rows = file.texts(wanted, layout.last_answer + 1)
        cell = dict(zip(wanted, rows.columns, strict=True))
        empty = pd.Series([""] * len(rows.numbers), dtype="str")
        columns = [cell[layout.meta[name]] if name in layout.meta else empty for name in names]
        statuses, notes = decided(columns)
        return read_answers(self.name, rows, layout, wanted, statuses, notes)


def decided(columns: Sequence[pd.Series]) -> tuple[list[str], list[str]]:
    """The status of each row and the reason for it, by `decide`; columns as its parameters."""
    if not len(columns[0]):
        return [], []  # pandas before 3 makes no index of no rows
    # A file has few different decisions and many rows.
    codes, different = pd.MultiIndex.from_arrays(columns).factorize()
    found = [decide(*values) for values in different]
    return [found[code][0] for code in codes], [found[code][1] for code in codes]


def decide(status: str, approve: str, reject: str, feedback: str) -> tuple[str, str]:
    """An assignment's status, with the decision that is pending in the file, and the reason for it.

    An X in Approve approves, also what was rejected before; a reason in Reject rejects what was only submitted; with
    both filled the file contradicts itself and the status stands. An unknown status gives "" and what was found.

    >>> decide("Submitted", "", "always right", "")
    ('rejected', 'always right')
    >>> decide("Rejected", "X", "", "too fast")
    ('approved', '')
    """
    known = _STATUSES.get(status.strip().lower(), "")
    approve, reject = approve.strip(), reject.strip()
    if not known:
        return "", status.strip()
    if approve and not reject:
        return "approved", ""
    if reject and not approve and known == "submitted":
        return "rejected", reject
    if approve and reject:
        return known, "both Approve and Reject are filled, so neither was taken"
    return known, feedback.strip() if known == "rejected" else ""


MTURK = MechanicalTurk()
