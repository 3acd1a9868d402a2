"""A ranking for each area, ways to look tokens up, the progress of ballots, and the effect of uploads."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    with op.batch_alter_table("project", recreate="always") as project:
        project.add_column(sa.Column("ranking", sa.Text(), server_default="all", nullable=False))
        project.create_check_constraint(op.f("ck_project_ranking"), "ranking IN ('all', 'area')")
    op.add_column("project_embedding", sa.Column("lower", sa.Boolean(), server_default="0", nullable=False))
    op.add_column("project_embedding", sa.Column("multiword", sa.Text(), server_default="as they are", nullable=False))
    with op.batch_alter_table("plan") as plan:
        plan.add_column(sa.Column("area_id", sa.Integer(), nullable=True))
        plan.create_foreign_key(op.f("fk_plan_area_id"), "area", ["area_id"], ["id"], ondelete="CASCADE")
    with op.batch_alter_table("ballot") as ballot:
        ballot.add_column(sa.Column("area_id", sa.Integer(), nullable=True))
        ballot.add_column(sa.Column("progress", sa.JSON(), nullable=True))
        ballot.create_foreign_key(op.f("fk_ballot_area_id"), "area", ["area_id"], ["id"], ondelete="CASCADE")
        ballot.drop_constraint(op.f("uq_ballot_project_id_number"), type_="unique")
        ballot.create_unique_constraint(
            op.f("uq_ballot_project_id_area_id_number"), ["project_id", "area_id", "number"]
        )
    of_all = sa.text("area_id IS NULL")
    op.create_index(
        "uq_ballot_of_all_areas",
        "ballot",
        ["project_id", "number"],
        unique=True,
        sqlite_where=of_all,
        postgresql_where=of_all,
    )
    op.add_column("upload", sa.Column("effect", sa.JSON(), nullable=True))
