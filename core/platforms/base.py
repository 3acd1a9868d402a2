"""What a platform is to Runoff: a template and a batch go out, a result file comes in."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

import pandas as pd

from ..errors import Issue
from .csvfiles import CsvFile


@dataclass(frozen=True)
class ResultFile:
    """A result file, read.

    `answers` (`tables.ANSWERS`) has one row an answer field, in the order of the file; `n_rows` counts the file's
    rows (assignments) and `n_unreadable` those that gave no answers; `issues` says why, and whatever else a person
    should know before the votes are taken (a guessed encoding, a file that is cut off). `shows_texts` is False where
    the file has ids of comparisons only.
    """

    platform: str
    answers: pd.DataFrame
    n_rows: int
    n_unreadable: int
    issues: tuple[Issue, ...]
    shows_texts: bool = True


class Platform(Protocol):
    """A place where voters work. `name` is for files and URLs, `label` for people."""

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str: ...

    @property
    def download_hint(self) -> str:
        """Where the right result file is found."""

    def recognises(self, columns: Collection[str]) -> bool:
        """Whether a file with these columns (casefolded) comes from this platform."""

    def read_results(self, file: CsvFile) -> ResultFile:
        """Read a recognised file. Raises `InputError` naming the columns that are missing."""
