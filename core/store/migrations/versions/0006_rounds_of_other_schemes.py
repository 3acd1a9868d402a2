"""Rounds of other schemes (ratings, best–worst, orders of target groups) are ballots of a scheme with settings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("ballot", sa.Column("scheme", sa.Text(), nullable=False, server_default="comparison"))
    op.add_column("ballot", sa.Column("settings", sa.JSON()))
