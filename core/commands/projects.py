"""Commands on projects as such, and on versions of a dataset."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from ..store import Store
from ..store import schema as t
from ..store.projects.archive import delete_project, duplicate_project, import_project
from ..store.projects.project_commands import get_project, read_log
from ..store.stored_files import read_upload
from .base import PER_SECOND, OfProject, OfWorkspace, n_comparisons
from .publishing import release

BYTES = 500_000  # of a project file that is taken in within a second
PUBLISHED = 10_000  # votes whose dataset is made in a second


@dataclass(frozen=True)
class CreatedProject:
    """A project that was made: its id, its name, the name that was wished for it, and embeddings that it lacks here."""

    project_id: str
    name: str
    wished: str
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class CopyProject(OfWorkspace[CreatedProject]):
    """A copy of a project, under a name."""

    name = "duplicate project"
    doing = "Copying the project"
    original_id: str
    original: str
    copy: str

    def seconds(self, conn: sa.Connection) -> float:
        return n_comparisons(conn, self.original_id) / PER_SECOND

    def run(self, store: Store) -> CreatedProject:
        project_id = duplicate_project(store, self.original_id, self.copy)
        return CreatedProject(project_id, get_project(store, project_id).name, self.copy)

    def summary(self, result: CreatedProject) -> str:
        done = f"{result.name} is a copy of {self.original}."
        return f"{done} {other_name_text(result.name, result.wished)}".rstrip()

    def opens(self, result: CreatedProject) -> str:
        return result.project_id


@dataclass(frozen=True)
class DeleteProject(OfWorkspace[None]):
    """Delete a project for good, as it stood at a revision, by its name as it was typed."""

    name = "delete project"
    doing = "Deleting the project"
    of: str
    typed: str
    at: int

    def seconds(self, conn: sa.Connection) -> float:
        query = sa.select(t.project.c.name).where(t.project.c.id == self.of)
        if conn.execute(query).scalar_one_or_none() != self.typed:
            return 0.0  # it is refused at once
        return n_comparisons(conn, self.of) / PER_SECOND

    def run(self, store: Store) -> None:
        delete_project(store, self.of, self.typed, expected_revision=self.at)

    def summary(self, result: None) -> str:
        return f"{self.typed} is deleted. A copy lies in the workspace's folder backups."


@dataclass(frozen=True)
class ImportProject(OfWorkspace[CreatedProject]):
    """Take a project in from a file that was brought (`put_upload`)."""

    name = "import project"
    doing = "Importing the project"
    sha256: str
    filename: str
    size: int

    def seconds(self, conn: sa.Connection) -> float:
        return self.size / BYTES

    def run(self, store: Store) -> CreatedProject:
        project_id = import_project(store, read_upload(store, self.sha256, self.filename))
        detail = read_log(store, project_id, 1)[0]["detail"]
        missing = tuple(detail.get("embeddings missing", {}).values())
        return CreatedProject(project_id, detail["name"], detail.get("name asked for", detail["name"]), missing)

    def summary(self, result: CreatedProject) -> str:
        done = f"The project is imported. {other_name_text(result.name, result.wished)}".rstrip()
        if not result.missing:
            return done
        return f"{done} Embeddings that this workspace lacks: {', '.join(result.missing)}."

    def opens(self, result: CreatedProject) -> str:
        return result.project_id


@dataclass(frozen=True)
class ReleaseVersion(OfProject[str]):
    """Publish the dataset as it is as a version, and keep it; the version."""

    name = "release dataset"
    doing = "Releasing the version"
    version: str
    note: str
    model_answers: bool = False

    def seconds(self, conn: sa.Connection) -> float:
        return publishing_seconds(conn, self.project_id)

    def run(self, store: Store) -> str:
        released = release(
            store, self.project_id, self.version, self.note,
            model_answers=self.model_answers, expected_revision=self.revision,
        )  # fmt: skip
        return released.version

    def summary(self, result: str) -> str:
        return f"Version {result} is released and kept."


def publishing_seconds(conn: sa.Connection, project_id: str) -> float:
    """How long making the files of a project's dataset takes."""
    return n_comparisons(conn, project_id) / PUBLISHED


def other_name_text(given: str, wished: str) -> str:
    """That a project is called otherwise than somebody wished, as another one has that name; "" where it is as wished.

    >>> other_name_text("Words (2)", " Words "), other_name_text("Words", "Words")
    ('It is called “Words (2)”, as there is a project “Words” already.', '')
    """
    wished = " ".join(wished.split())
    if given == wished:
        return ""
    return f"It is called “{given}”, as there is a project “{wished}” already."
