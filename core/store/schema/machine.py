"""What belongs to this machine and to no project's file: simulations and jobs."""

from __future__ import annotations

from sqlalchemy import JSON, CheckConstraint, Column, Float, ForeignKey, Integer, Table, Text

from .parts import metadata, text_

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
