"""What a platform is to Runoff: the files of a ballot go out, a result file comes in."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pandas as pd

from ..errors import Issue
from ..tables import Ints
from ..tabular import SourceTable
from .meanings import ValueMeanings

if TYPE_CHECKING:
    from ..questions.comparison_page import Wording


@dataclass(frozen=True)
class ResultFile:
    """A result file, read.

    `answers` (`tables.ANSWERS`) has one row per answer field, in the order of the file; `n_rows` counts the file's
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


@dataclass(frozen=True)
class Outgoing:
    """A ballot as it goes out. Nothing of it is read before a file is made.

    `code` begins the files' names; `widest` is the number of comparisons of its widest task; `comparisons` reads the
    ballot (`tables.COMPARISONS`), `only` the question ids to ask for: None for all of them, else what is missing (a
    top-up; the names of its files say so).
    """

    code: str
    widest: int
    notion: str
    ties_allowed: bool
    comparisons: Callable[[], pd.DataFrame]
    wording: Wording
    only: Callable[[], Collection[int] | None] = lambda: None
    is_top_up: bool = False

    def asked(self) -> pd.DataFrame:
        """The comparisons to ask for, those of a top-up without the rest."""
        frame, only = self.comparisons(), self.only()
        return frame if only is None else frame[frame["question_id"].isin(list(only))].reset_index(drop=True)

    @property
    def part(self) -> str:
        """How the names of files about these comparisons begin."""
        return f"{self.code}-top-up" if self.is_top_up else self.code


@dataclass(frozen=True)
class PlatformFile:
    """A file for a platform: its name, what stands on its button, a sentence on its use; `make` writes it."""

    name: str
    label: str
    note: str
    mime: str
    make: Callable[[], bytes]


class Platform(Protocol):
    """A place where voters work. `name` is for files and URLs, `label` for people.

    `steps` say in order what the owner does there.
    """

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str: ...

    @property
    def download_hint(self) -> str:
        """Where the right result file is found."""

    @property
    def steps(self) -> tuple[str, ...]: ...

    def files(self, ballot: Outgoing) -> tuple[PlatformFile, ...]:
        """What the platform needs of a ballot. Files are named and explained here, and written when asked for."""

    def recognises(self, columns: Collection[str]) -> bool:
        """Whether a file with these columns (casefolded) comes from this platform."""

    def read(self, file: SourceTable, said: ValueMeanings) -> ResultFile:
        """Read a recognised file, with what a person said of its values. Raises `InputError` naming the columns that
        are missing."""
