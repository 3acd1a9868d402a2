"""Turkle: the self-hosted stand-in for Mechanical Turk, with the same template and the same columns."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from .answers import find_layout, read_answers
from .base import ResultFile
from .quick_csv import Table


@dataclass(frozen=True)
class Turkle:
    """Result files of Turkle's admin site or API: no status of an assignment, ids are small numbers."""

    name: str = "turkle"
    label: str = "Turkle"
    download_hint: str = (
        "In Turkle, the right file is Admin › Batches › Download results (the API's copy of it may be cut at the end)."
    )

    def recognises(self, columns: Collection[str]) -> bool:
        """A file with Turkle's own column."""
        return "turkle.username" in columns

    def read_results(self, file: Table) -> ResultFile:
        """Read the file; every assignment in it was submitted, as Turkle knows no approval."""
        layout = find_layout(file, ("AssignmentId", "WorkerId"), self.download_hint)
        wanted = sorted(layout.used())
        rows = file.texts(wanted, layout.last_answer + 1)
        length = len(rows.numbers)
        return read_answers(self.name, rows, layout, wanted, ["submitted"] * length, [""] * length)


TURKLE = Turkle()
