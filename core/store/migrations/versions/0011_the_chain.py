"""A chain of hashes over the log and the votes: heads of entries, and what each sealed. The next command begins it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "seal",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_seal_project_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_seal")),
    )
    op.create_index("ix_seal_project_id_revision", "seal", ["project_id", "revision"])
    with op.batch_alter_table("assignment") as assignment:
        assignment.add_column(sa.Column("seal_id", sa.Integer()))
        assignment.create_foreign_key(op.f("fk_assignment_seal_id"), "seal", ["seal_id"], ["id"])
    op.create_index("ix_assignment_seal_id", "assignment", ["seal_id"])
    op.add_column("log", sa.Column("head", sa.Text()))
    for role in _voters_roles(op.get_bind()):
        op.execute(f"GRANT SELECT (seal_id), UPDATE (seal_id) ON assignment TO {role}")


def _voters_roles(conn: sa.Connection) -> list[str]:
    """The roles that write assignments for the voting page, on PostgreSQL."""
    if conn.dialect.name != "postgresql":
        return []
    query = sa.text(
        "SELECT DISTINCT grantee FROM information_schema.column_privileges WHERE table_schema = 'public' "
        "AND table_name = 'assignment' AND column_name = 'voter_id' AND privilege_type = 'SELECT' "
        "AND grantee NOT IN ('PUBLIC', CURRENT_USER)"
    )
    quoted = conn.dialect.identifier_preparer.quote_identifier
    return [quoted(str(role)) for role in conn.execute(query).scalars()]
