"""What the owner says of a dataset, kept with the project."""

from __future__ import annotations

import sqlalchemy as sa

from ...dataset.datasheet.fields import SheetFields, check_fields
from .. import schema as t
from ..command import command, project_row
from ..engine import Store


def read_fields(store: Store, project_id: str) -> SheetFields:
    """The owner's fields as they are stored."""
    with store.read() as conn:
        return SheetFields.of(project_row(conn, project_id).datasheet)


def save_fields(store: Store, project_id: str, fields: SheetFields, *, expected_revision: int | None = None) -> None:
    """Keep the owner's fields; `InputError` naming those that can't be."""
    kept = check_fields(fields).stored()
    with command(store, project_id, "describe dataset", expected_revision=expected_revision) as change:
        before = change.project.datasheet or {}
        change.detail = {"changed": sorted(name for name in {*before, *kept} if before.get(name) != kept.get(name))}
        change.conn.execute(sa.update(t.project).where(t.project.c.id == project_id).values(datasheet=kept))
