"""A plan may aim at ρ_w or τ_w alone."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("plan", sa.Column("aim", sa.Text()))
