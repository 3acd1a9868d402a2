"""Published versions of a dataset, each kept byte for byte and never written over.

What the owner says of a dataset is kept with the project too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from ...dataset.datasheet.facts import SheetFields, check_fields
from ...errors import InputError, StoreError
from ...tabular.zips import checksum
from .. import schema as t
from ..command import command, project_row
from ..engine import Store, now
from ..stored_files import put_blob, read_blob


def read_fields(store: Store, project_id: str) -> SheetFields:
    """The owner's fields as they are stored."""
    with store.read() as conn:
        return SheetFields.of(project_row(conn, project_id).datasheet)


def save_fields(store: Store, project_id: str, fields: SheetFields, *, expected_revision: int | None = None) -> None:
    """Keep the owner's fields; `InputError` naming those that can't be."""
    stored = check_fields(fields).stored()
    with command(store, project_id, "describe dataset", expected_revision=expected_revision) as change:
        before = change.project.datasheet or {}
        change.detail = {"changed": sorted(name for name in {*before, *stored} if before.get(name) != stored.get(name))}
        change.conn.execute(sa.update(t.project).where(t.project.c.id == project_id).values(datasheet=stored))


MAX_NOTE = 2000
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,39}")


@dataclass(frozen=True)
class Release:
    """A published version: its file's SHA-256, the owner's note, and figures of it (items, votes, voters, …)."""

    id: int
    version: str
    sha256: str
    note: str
    detail: dict[str, Any]
    at: str


def check_version(version: str) -> str:
    """A version's name; `InputError` for one that isn't letters, digits, dots, plus, hyphens or underscores.

    >>> check_version(" 1.0 ")
    '1.0'
    """
    name = version.strip()
    if not _VERSION.fullmatch(name):
        raise InputError(
            "A version's name begins with a letter or digit and has up to 40 letters, digits, dots, plus signs, "
            f"hyphens or underscores, such as 1.0; found {name[:60]!r}."
        )
    return name


def releases_of(conn: sa.Connection, project_id: str) -> list[Release]:
    """The published versions of a project, the newest first."""
    columns = [t.release.c[name] for name in Release.__annotations__]
    query = sa.select(*columns).where(t.release.c.project_id == project_id).order_by(t.release.c.id.desc())
    return [Release(*row) for row in conn.execute(query)]


def read_releases(store: Store, project_id: str) -> list[Release]:
    """The published versions of a project, the newest first."""
    with store.read() as conn:
        return releases_of(conn, project_id)


def check_is_new(store: Store, project_id: str, version: str) -> str:
    """The version's name if it can be released; `InputError` for one that was, whatever the case of its letters."""
    name = check_version(version)
    for known in read_releases(store, project_id):
        if known.version.casefold() == name.casefold():
            raise InputError(
                f"Version {known.version} was released on {known.at[:10]} and stays as it is. Choose another."
            )
    return name


def keep_release(
    store: Store,
    project_id: str,
    version: str,
    data: bytes,
    *,
    note: str = "",
    detail: dict[str, Any],
    made_at: int,
) -> Release:
    """Keep a published zip as a version of the project's dataset.

    `made_at` is the project's revision when the zip was made: after a command since, nothing is kept. Votes that came
    in on the voting page since are no fault: the version is of the votes there were. Raises `InputError` for a name
    that is no name or taken, `StoreError` else.
    """
    name, note = check_version(version), note.strip()
    if len(note) > MAX_NOTE:
        raise InputError(f"The note has {len(note):,} characters; {MAX_NOTE:,} are allowed.")
    with command(store, project_id, "release dataset") as change:
        if change.project.revision != made_at:
            raise StoreError("The project changed while the files were made, so nothing was released. Do it again.")
        for known in releases_of(change.conn, project_id):
            if known.version.casefold() == name.casefold():
                raise InputError(
                    f"Version {known.version} was released already and stays as it is. Choose another name."
                )
        digest, at = put_blob(store, data), now()
        values = {"version": name, "sha256": digest, "note": note, "detail": detail, "at": at}
        change.conn.execute(sa.insert(t.release).values(project_id=project_id, **values))
        change.detail = {"version": name, "sha256": digest}
    return next(found for found in read_releases(store, project_id) if found.version == name)


def release_bytes(store: Store, release: Release) -> bytes:
    """The file of a version, checked; `StoreError` where it is gone or damaged."""
    data = read_blob(store, release.sha256, f"The file of version {release.version}")
    if checksum(data) != release.sha256:
        raise StoreError(f"The file of version {release.version} was damaged on the disk. Restore it from a copy.")
    return data
