"""Simulated campaigns and registered plans; θ, scores and rank intervals of the protocol runoff."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
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
    names = ("theta", "error", "score", "lower", "upper", "rank_lower", "rank_upper")
    op.create_table(
        "item_score",
        sa.Column("ballot_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Float(), nullable=name != "score") for name in names),
        sa.ForeignKeyConstraint(["ballot_id"], ["ballot.id"], name=op.f("fk_item_score_ballot_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_item_score_item_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("ballot_id", "item_id", name=op.f("pk_item_score")),
        sqlite_with_rowid=False,
    )
