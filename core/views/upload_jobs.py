"""Large result files: their preview by a job, which keeps what the page shows of it, and the taking of their votes."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from .. import platforms
from ..errors import InputError, Issue, StoreError
from ..platforms import Question, UnnamedColumnsError
from ..store import Store
from ..store.ballots import Ballot
from ..store.brought_files import brought
from ..store.made_files import keep_made, made_path
from ..store.votes import UploadPreview, preview_upload

KIND = "upload_preview"
DOING = "Reading the file"
VERSION = 2
LARGE = 4_000_000  # bytes: a file of so many is read and taken in about a second
LARGE_WORKBOOK = 500_000  # a workbook is packed, and slower to read
MOST_SHOWN = 5_000  # rows of a class that a page shows
MOST_ISSUES = 1_000
_PART = 50_000  # rows of the table that are read together


@dataclass(frozen=True)
class LargePreview:
    """What accepting a file would do, as `store.votes.UploadPreview` says it; its answers lie in a file, by class."""

    filename: str
    platform: str
    ballot: int
    n_rows: int
    counts: dict[str, int]
    row_counts: dict[str, int]
    issues: tuple[Issue, ...]
    n_issues: int
    accepted_before: str | None
    mapping: platforms.Mapping | None
    takes_something: bool
    path: Path
    questions: tuple[Question, ...] = ()

    def table(self, name: str) -> pd.DataFrame:
        """The first `MOST_SHOWN` answers of a class, in the order of the file; errors as of `whole`."""
        return self._read(lambda answers, of_class: answers.head(MOST_SHOWN, filter=of_class), name)

    def whole(self, name: str) -> pd.DataFrame:
        """All answers of a class; `StoreError` where they are there no more."""
        return self._read(lambda answers, of_class: answers.to_table(filter=of_class), name)

    def _read(self, read: Callable[[Any, Any], pa.Table], name: str) -> pd.DataFrame:
        try:
            return read(ds.dataset(self.path, format="parquet"), ds.field("class") == name).to_pandas()
        except OSError as error:
            raise StoreError(f"What was read of {self.filename} is gone. Upload it again.") from error


@dataclass(frozen=True)
class Unreadable:
    """Why a file can't be read; `is_unnamed` where its columns must be named first."""

    message: str
    issues: tuple[Issue, ...]
    is_unnamed: bool

    @property
    def error(self) -> InputError:
        """The error as the reader gave it."""
        return InputError(self.message, list(self.issues))


def is_large(data: bytes, filename: str) -> bool:
    """Whether a job should read a file."""
    return len(data) > (LARGE_WORKBOOK if filename.lower().endswith(".xlsx") else LARGE)


def params_of(
    sha256: str, filename: str, ballot: Ballot, revision: int, said: platforms.Mapping | None = None
) -> dict[str, Any]:
    """What a job needs to read a file that was brought, for a ballot, against the project as it is at a revision, with
    what somebody said of its values."""
    of_ballot = {"area_id": ballot.area_id, "code": ballot.code, "said": None if said is None else said.stored()}
    return {"version": VERSION, "sha256": sha256, "name": filename, **of_ballot, "revision": revision}


def preview(store: Store, project_id: str, params: Mapping[str, Any], job_id: str) -> dict[str, Any]:
    """Read a file as the job does, and keep its answers beside; what a page shows of it, as JSON."""
    try:
        data = brought(store, params["sha256"], params["name"])
        said = platforms.Mapping.of(params["said"]) if params.get("said") else None
        of_ballot = {"area_id": params["area_id"], "code": params["code"]}
        found = preview_upload(store, project_id, data, params["name"], mapping=said, **of_ballot)
    except InputError as error:
        issues = [_issue_kept(issue) for issue in error.issues]
        unnamed = isinstance(error, UnnamedColumnsError)
        return {"problem": str(error.args[0]), "issues": issues[:MOST_ISSUES], "unnamed": unnamed}
    keep_made(store, job_id, _table(found))
    return {
        "filename": found.filename,
        "platform": found.platform,
        "ballot": found.ballot,
        "n_rows": found.n_rows,
        "counts": found.counts,
        "row_counts": found.row_counts,
        "issues": [_issue_kept(issue) for issue in found.issues[:MOST_ISSUES]],
        "n_issues": len(found.issues),
        "accepted_before": found.accepted_before,
        "mapping": None if found.mapping is None else found.mapping.stored(),
        "takes_something": found.takes_something,
        "questions": [list(astuple(question)) for question in found.questions],
    }


def found(store: Store, job_id: str, result: Mapping[str, Any]) -> LargePreview | Unreadable:
    """What a job that is done has read."""
    told = dict(result["found"])
    issues = tuple(Issue(*issue) for issue in told.pop("issues"))
    if "problem" in told:
        return Unreadable(told["problem"], issues, told["unnamed"])
    mapping, questions = told.pop("mapping"), told.pop("questions")
    return LargePreview(
        **told,
        issues=issues,
        mapping=None if mapping is None else platforms.Mapping.of(mapping),
        path=made_path(store, job_id),
        questions=tuple(Question(*question) for question in questions),
    )


def _issue_kept(issue: Issue) -> list[Any]:
    return [issue.message, issue.row, issue.column, issue.found]


def _table(found: UploadPreview) -> bytes:
    """The answers of all classes, those of one together, so that one can be read without the others."""
    table = found.table().sort_values("class", kind="stable", ignore_index=True)
    target = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False), target, row_group_size=_PART)
    return target.getvalue()
