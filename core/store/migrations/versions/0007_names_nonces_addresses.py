"""A project's name is its own; sessions have a nonce; answers have an order; where votes came from, while they come."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

MAX_NAME = 100


def upgrade() -> None:
    conn = op.get_bind()
    _name_twins_apart(conn)
    op.create_index(
        "uq_project_listed_name", "project", ["name"], unique=True,
        sqlite_where=sa.text("archived_at IS NULL"), postgresql_where=sa.text("archived_at IS NULL"),
    )  # fmt: skip
    op.add_column("voting", sa.Column("address_salt", sa.Text()))
    # A link's ids of platforms were hashed with its secret, and are found again by it.
    op.add_column("voting_link", sa.Column("voter_secret", sa.Text()))
    conn.execute(sa.text("UPDATE voting_link SET voter_secret = secret"))
    with op.batch_alter_table("voting_link") as batch:
        batch.alter_column("voter_secret", existing_type=sa.Text(), nullable=False)
    op.add_column("sitting", sa.Column("nonce", sa.Text()))
    op.add_column("sitting", sa.Column("address", sa.Text()))
    op.create_index("uq_sitting_nonce", "sitting", ["nonce"], unique=True)
    op.add_column("deal", sa.Column("answer_n", sa.Integer()))
    op.add_column("publication", sa.Column("confirmed", sa.Boolean(), nullable=False, server_default="1"))


def _name_twins_apart(conn: sa.Connection) -> None:
    """Of listed projects of one name the oldest keeps it; the others become “… (2)”, “… (3)”, in their order.

    A copy is as old as its original, and came later: its log begins after the original's.
    """
    query = sa.text(
        "SELECT id, name FROM project WHERE archived_at IS NULL "
        "ORDER BY created_at, (SELECT MIN(log.id) FROM log WHERE log.project_id = project.id), id"
    )
    rows = [tuple(row) for row in conn.execute(query)]
    taken = {name for _, name in rows}
    seen: set[str] = set()
    for id_, name in rows:
        if name in seen:
            name = _free(name, taken)
            conn.execute(sa.text("UPDATE project SET name = :name WHERE id = :id"), {"name": name, "id": id_})
            taken.add(name)
        seen.add(name)


def _free(name: str, taken: set[str]) -> str:
    n = 2
    while (found := f"{name[: MAX_NAME - len(f' ({n})')].rstrip()} ({n})") in taken:
        n += 1
    return found
