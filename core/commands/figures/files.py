"""Files that are read or made for a page: result files, the dataset's zip, the project file, the table of payments."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import sqlalchemy as sa

from ...base.parallel import Progress
from ...dataset.formats import parquet
from ...errors import InputError, Issue
from ...platforms import Mapping, UnnamedColumnsError, ValueQuestion
from ...store import Store
from ...store import schema as t
from ...store.ballots.ballot_rows import Ballot
from ...store.projects.archive import export_project
from ...store.stored_files import read_upload
from ...store.votes.intake import UploadPreview, preview_upload
from ...store.votes.payment import read_assignments
from ...tables import ASSIGNMENTS
from ..base import n_comparisons
from ..projects import publishing_seconds
from ..publishing import publish
from ..votes import SpooledFile
from .base import Figure, MeasuredFigure
from .votes import READ

MOST_SHOWN = 5_000  # rows of a class that a page shows
MOST_ISSUES = 1_000
_PART = 50_000  # rows of the table that are read together


@dataclass(frozen=True)
class FileRead:
    """What accepting a file would do, as `intake.UploadPreview` says it; its answers go as a file (`answers_of`).

    problem : why it can't be read, "" where it can; is_unnamed : its columns must be named first. issues : the first
    `MOST_ISSUES` of n_issues.
    """

    filename: str
    issues: tuple[Issue, ...] = ()
    n_issues: int = 0
    problem: str = ""
    is_unnamed: bool = False
    platform: str = ""
    n_rows: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    row_counts: dict[str, int] = field(default_factory=dict)
    accepted_before: str | None = None
    mapping: dict[str, Any] | None = None
    takes_something: bool = False
    questions: tuple[ValueQuestion, ...] = ()

    @property
    def error(self) -> InputError:
        """Why it can't be read, as the reader gave it."""
        return InputError(self.problem, list(self.issues))


@dataclass(frozen=True)
class ReadFile(Figure[FileRead]):
    """Read a result file that was brought, for a ballot, with what somebody said of its values (`Mapping.stored`)."""

    name = "upload_preview"
    version = 4
    doing = "Reading the file"
    file: SpooledFile
    area_id: int | None
    code: str
    said: dict[str, Any] | None

    @classmethod
    def of(cls, project_id: str, revision: int, ballot: Ballot, file: SpooledFile, said: Mapping | None) -> ReadFile:
        """Read a file for a ballot."""
        stored = None if said is None else said.stored()
        return cls(project_id, revision, file, ballot.area_id, ballot.code, stored)

    def seconds(self, conn: sa.Connection) -> float:
        return self.file.seconds

    def measure(self, store: Store, progress: Progress | None) -> tuple[FileRead, bytes | None]:
        try:
            data = read_upload(store, self.file.sha256, self.file.name)
            mapping = Mapping.of(self.said) if self.said else None
            preview = preview_upload(
                store, self.project_id, data, self.file.name, self.area_id, mapping=mapping, code=self.code
            )
        except InputError as error:
            issues, unnamed = tuple(error.issues), isinstance(error, UnnamedColumnsError)
            message = str(error.args[0])
            return FileRead(self.file.name, issues[:MOST_ISSUES], len(issues), message, unnamed), None
        read = FileRead(
            filename=preview.filename,
            issues=preview.issues[:MOST_ISSUES],
            n_issues=len(preview.issues),
            platform=preview.platform,
            n_rows=preview.n_rows,
            counts=preview.counts,
            row_counts=preview.row_counts,
            accepted_before=preview.accepted_before,
            mapping=None if preview.mapping is None else preview.mapping.stored(),
            takes_something=preview.takes_something,
            questions=preview.questions,
        )
        return read, _answers(preview)


def _answers(found: UploadPreview) -> bytes:
    """The answers of all classes, those of one together, so that one can be read without the others."""
    table = found.table().sort_values("class", kind="stable", ignore_index=True)
    target = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False), target, row_group_size=_PART)
    return target.getvalue()


def answers_of(found: MeasuredFigure[FileRead], name: str, most: int | None = None) -> pd.DataFrame:
    """The answers of a class, or the first of them, in the order of the file; `StoreError` where they are gone."""
    answers = pq.read_table(pa.BufferReader(found.read_file()), filters=[("class", "==", name)])
    return (answers if most is None else answers.slice(0, most)).to_pandas()


@dataclass(frozen=True)
class MadeFile:
    """A file that was made: its size in bytes, what it is called, and what isn't in it, with the reason."""

    size: int
    filename: str
    left_out: dict[str, str]


@dataclass(frozen=True)
class DatasetFile(Figure[MadeFile]):
    """The dataset of a project as one zip; `model_answers` puts what language models answered in, as a file."""

    name = "publication"
    version = 2
    doing = "Making the dataset's files"
    model_answers: bool = False

    def seconds(self, conn: sa.Connection) -> float:
        return publishing_seconds(conn, self.project_id)

    def measure(self, store: Store, progress: Progress | None) -> tuple[MadeFile, bytes | None]:
        published = publish(store, self.project_id, model_answers=self.model_answers)
        return MadeFile(published.size, published.filename, published.left_out), published.data


@dataclass(frozen=True)
class ProjectFile(Figure[MadeFile]):
    """The file of a project."""

    name = "project_file"
    version = 2
    doing = "Writing the project file"

    def seconds(self, conn: sa.Connection) -> float:
        return n_comparisons(conn, self.project_id) / READ

    def measure(self, store: Store, progress: Progress | None) -> tuple[MadeFile, bytes | None]:
        data = export_project(store, self.project_id)
        return MadeFile(len(data), f"runoff-{self.project_id}.zip", {}), data


@dataclass(frozen=True)
class Assignments(Figure[int]):
    """The assignments of a ballot to decide on and pay: how many; the table (`tables.ASSIGNMENTS`) is the file, as
    Parquet."""

    name = "settlement"
    version = 2
    doing = "Reading the assignments"
    ballot_id: int

    def seconds(self, conn: sa.Connection) -> float:
        query = sa.select(t.ballot.c.n_comparisons).where(t.ballot.c.id == self.ballot_id)
        return (conn.execute(query).scalar_one_or_none() or 0) / READ

    def measure(self, store: Store, progress: Progress | None) -> tuple[int, bytes | None]:
        assignments = read_assignments(store, self.ballot_id)
        return len(assignments), parquet(assignments, ASSIGNMENTS)
