"""Simulated campaigns and registered plans; θ, scores and rank intervals of the protocol runoff."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    for name in ("theta", "error", "score", "rank_lower", "rank_upper"):
        op.add_column("ballot_item", sa.Column(name, sa.Float(), nullable=True))
    op.add_column("ballot", sa.Column("fit", sa.JSON(), nullable=True))
    op.create_table(
        "simulation",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("params", sa.JSON(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_simulation")),
    )
    op.create_table(
        "registration",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name=op.f("fk_registration_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_registration")),
    )
    op.create_index(op.f("ix_registration_project_id"), "registration", ["project_id"])
