"""Turkle: the self-hosted stand-in for Mechanical Turk, with the same template and the same columns."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ..tabular import Table
from ..votes.answers import find_layout, read_answers
from ..votes.meanings import Said
from ..votes.platform import Outgoing, PlatformFile, ResultFile
from .task_files import batch_file, page_file


@dataclass(frozen=True)
class Turkle:
    """Result files of Turkle's admin site or API: no status of an assignment, ids are small numbers."""

    name: str = "turkle"
    label: str = "Turkle"
    download_hint: str = (
        "In Turkle, the right file is Admin › Batches › Download results (the API's copy of it may be cut at the end)."
    )
    steps: tuple[str, ...] = (
        "On Turkle's admin site make a project and paste the task page as its template.",
        "Publish the batch in that project. Several assignments per task ask as many people each comparison.",
        "When people have answered, choose Batches › Download results, and upload the file under 2.",
    )

    def files(self, ballot: Outgoing) -> tuple[PlatformFile, ...]:
        """The batch and the page."""
        about = (
            "One row per task, with the comparisons that have no vote yet." if ballot.is_top_up else "One row per task."
        )
        page = "What voters see and answer. Turkle adds the form and the Submit button."
        return (
            batch_file(ballot, about, ascii_only=True),
            page_file(ballot, "turkle", "Task page for Turkle (HTML)", page),
        )

    def recognises(self, columns: Collection[str]) -> bool:
        """A file with Turkle's own column."""
        return "turkle.username" in columns

    def read_results(self, file: Table, said: Said) -> ResultFile:
        """Read the file; every assignment in it was submitted, as Turkle knows no approval."""
        layout = find_layout(file, ("AssignmentId", "WorkerId"), self.download_hint)
        wanted = sorted(layout.used())
        rows = file.texts(wanted, layout.last_answer + 1)
        length = len(rows.numbers)
        return read_answers(self.name, rows, layout, wanted, ["submitted"] * length, [""] * length)


TURKLE = Turkle()
