"""What a ballot is stands in columns: purpose, kind of question and ordinal; a round has settings and no plan.

Until now the number said it: 1, 2, … were the campaign's, 0 the pilot, and −1, −2, … rounds, each with a row of `plan`
that was invented for it. All that such a row says stands in the settings of its round.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

KINDS_OF_ROUNDS = "('rating', 'best-worst', 'order')"
FILL = """
UPDATE ballot SET kind = scheme, ordinal = ABS(number),
    purpose = CASE WHEN number < 0 THEN 'round' WHEN number = 0 THEN 'pilot' ELSE 'campaign' END,
    plan_id = CASE WHEN number < 0 THEN NULL ELSE plan_id END
"""
# By protocol: copies of projects without their ballots have some that no round leads to.
FORGET = f"""
DELETE FROM plan WHERE protocol IN {KINDS_OF_ROUNDS}
    AND id NOT IN (SELECT plan_id FROM ballot WHERE plan_id IS NOT NULL)
"""  # nosec B608 # names of our own


def upgrade() -> None:
    conn = op.get_bind()
    readers = _readers(conn)
    with op.batch_alter_table("ballot") as ballot:
        ballot.drop_index("uq_ballot_of_all_areas")
        ballot.drop_constraint(op.f("uq_ballot_project_id_area_id_number"), type_="unique")
        ballot.add_column(sa.Column("purpose", sa.Text()))
        ballot.add_column(sa.Column("kind", sa.Text()))
        ballot.add_column(sa.Column("ordinal", sa.Integer()))
        ballot.alter_column("plan_id", existing_type=sa.Integer(), nullable=True)
    conn.execute(sa.text(FILL))
    conn.execute(sa.text(FORGET))
    with op.batch_alter_table("ballot") as ballot:
        ballot.drop_column("number")
        ballot.drop_column("scheme")
        ballot.alter_column("purpose", existing_type=sa.Text(), nullable=False)
        ballot.alter_column("kind", existing_type=sa.Text(), nullable=False)
        ballot.alter_column("ordinal", existing_type=sa.Integer(), nullable=False)
        ballot.create_unique_constraint(
            op.f("uq_ballot_project_id_area_id_purpose_ordinal"), ["project_id", "area_id", "purpose", "ordinal"]
        )
        ballot.create_check_constraint(op.f("ck_ballot_purpose"), "purpose IN ('campaign', 'pilot', 'round')")
        ballot.create_check_constraint(
            op.f("ck_ballot_ordinal"), "(purpose = 'pilot') = (ordinal = 0) AND ordinal >= 0"
        )
    of_all = sa.text("area_id IS NULL")
    op.create_index(
        "uq_ballot_of_all_areas", "ballot", ["project_id", "purpose", "ordinal"], unique=True,
        sqlite_where=of_all, postgresql_where=of_all,
    )  # fmt: skip
    for role in readers:
        op.execute(f"GRANT SELECT (purpose, kind, ordinal) ON ballot TO {role}")


def _readers(conn: sa.Connection) -> list[str]:
    """The roles that may read what a ballot is asked by, on PostgreSQL: that of voters, where there is one."""
    if conn.dialect.name != "postgresql":
        return []
    query = sa.text(
        "SELECT DISTINCT grantee FROM information_schema.column_privileges WHERE table_schema = 'public' "
        "AND table_name = 'ballot' AND column_name = 'scheme' AND privilege_type = 'SELECT' AND grantee <> 'PUBLIC'"
    )
    quoted = conn.dialect.identifier_preparer.quote_identifier
    return [quoted(str(role)) for role in conn.execute(query).scalars()]
