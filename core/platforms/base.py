"""What a platform is to Runoff: a template and a batch go out, a result file comes in."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pandas as pd

from ..errors import Issue
from .quick_csv import Ints, Table


@dataclass(frozen=True)
class ResultFile:
    """A result file, read.

    `answers` (`tables.ANSWERS`) has one row an answer field, in the order of the file; `n_rows` counts the file's
    rows (assignments). Each of them is in `answers`, in `unread` (with its number and why it gave no answers) or in
    `blank` (nothing is filled in). `issues` says whatever a person should know before the votes are taken: what is
    unread, a guessed encoding, a file that is cut off. `shows_texts` is False where the file has ids of comparisons
    only.
    """

    platform: str
    answers: pd.DataFrame
    n_rows: int
    unread: tuple[Issue, ...]
    issues: tuple[Issue, ...]
    shows_texts: bool = True
    blank: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def n_unreadable(self) -> int:
        return len(self.unread)


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

    def read_results(self, file: Table) -> ResultFile:
        """Read a recognised file. Raises `InputError` naming the columns that are missing."""
