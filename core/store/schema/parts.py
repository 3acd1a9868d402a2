"""What the tables are made of.

What belongs to this machine and to no project's file: simulations and jobs.
"""

from __future__ import annotations

from sqlalchemy import JSON, CheckConstraint, Column, Float, ForeignKey, Integer, MetaData, Table, Text

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def id_() -> Column:
    return Column("id", Integer, primary_key=True)


def to_(table: str, *, name: str | None = None, primary_key: bool = False, nullable: bool = False) -> Column:
    """A foreign key to `table`, with its rows going when the parent goes."""
    key = ForeignKey(f"{table}.id", ondelete="CASCADE")
    return Column(name or f"{table}_id", key, primary_key=primary_key, nullable=nullable)


def text_(name: str, *, nullable: bool = False, default: str | None = None) -> Column:
    return Column(name, Text, nullable=nullable, server_default=default)


def since_(version: str, column: Column) -> Column:
    """A column that came with a later migration: exported projects from before it lack it (`project_zip`)."""
    column.info["since"] = version
    return column


def here_(column: Column) -> Column:
    """A column that is this workspace's alone: it stands in no exported project, and is NULL in a copy."""
    column.info["here"] = True
    return column


def is_exported(column: Column) -> bool:
    """Whether a column stands in exported projects."""
    return not column.info.get("here", False)


def count_(name: str) -> Column:
    return Column(name, Integer, nullable=False, server_default="0")


# What simulated campaigns gave, by a hash of all that they depend on: no project's own, and made again when it is gone.
simulation = Table(
    "simulation",
    metadata,
    Column("key", Text, primary_key=True),
    Column("params", JSON, nullable=False),
    Column("result", JSON, nullable=False),
    text_("at"),
)

job = Table(
    "job",
    metadata,
    Column("id", Text, primary_key=True),
    Column("project_id", ForeignKey("project.id", ondelete="CASCADE"), index=True),
    text_("kind"),
    Column("params", JSON, nullable=False),
    text_("state"),
    Column("pid", Integer),
    Column("done", Float, nullable=False, server_default="0"),
    Column("total", Float, nullable=False, server_default="0"),
    text_("message", default=""),
    Column("result", JSON),
    text_("error", nullable=True),
    text_("created_at"),
    text_("started_at", nullable=True),
    text_("heartbeat_at", nullable=True),
    text_("ended_at", nullable=True),
    CheckConstraint("state IN ('queued', 'running', 'done', 'failed', 'cancelled')", name="state"),
)
