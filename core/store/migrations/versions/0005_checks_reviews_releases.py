"""Checks that a plan asks for, voters left out, reviews, remembered columns, publications, releases."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def _key(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_{column}")
    return sa.ForeignKeyConstraint([column], [f"{target}.id"], name=name, ondelete="CASCADE")


def _id(table: str) -> tuple[sa.Column, sa.PrimaryKeyConstraint]:
    return sa.Column("id", sa.Integer(), nullable=False), sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}"))


def _text(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _json(name: str) -> sa.Column:
    return sa.Column(name, sa.JSON(), nullable=False)


def _number(name: str) -> sa.Column:
    return sa.Column(name, sa.Integer(), nullable=False)


def _one_of(column: str, *values: str) -> str:
    listed = ", ".join(f"'{value}'" for value in values)
    return f"{column} IN ({listed})"


def _choices(table: str, column: str, *values: str) -> None:
    """Let a column have further values."""
    with op.batch_alter_table(table) as batch:
        name = op.f(f"ck_{table}_{column}")
        batch.drop_constraint(name, type_="check")
        batch.create_check_constraint(name, _one_of(column, *values))


def upgrade() -> None:
    op.add_column("project", sa.Column("policy", sa.JSON()))
    op.add_column("project", sa.Column("datasheet", sa.JSON()))
    op.add_column("project", _text("voter_secret", nullable=True))
    op.add_column("plan", sa.Column("checks", sa.JSON()))
    op.add_column("upload", sa.Column("mapping", sa.JSON()))
    op.add_column("assignment", _text("review", nullable=True))
    op.add_column("assignment", _text("review_reason", nullable=True))
    _choices("judgement", "status", "counted", "unknown", "rejected", "repeat", "withdrawn", "excluded")
    _choices("deal", "kind", "main", "gold", "repeat", "overlap", "audit")
    _checks()
    _voters()
    _files()


def _checks() -> None:
    op.create_table(
        "check_question",
        _number("question_id"),
        _text("kind"),
        sa.Column("of_id", sa.Integer()),
        sa.Column("inclusion", sa.Float()),
        _key("check_question", "question_id", "question"),
        _key("check_question", "of_id", "question"),
        sa.PrimaryKeyConstraint("question_id", name=op.f("pk_check_question")),
        sa.CheckConstraint(_one_of("kind", "gold", "repeat", "overlap", "audit"), name=op.f("ck_check_question_kind")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_check_question_of_id"), "check_question", ["of_id"])


def _voters() -> None:
    op.create_table(
        "exclusion",
        *_id("exclusion"),
        *(_text("project_id"), _number("voter_id"), _text("reason"), _json("detail")),
        *(_text("at"), _text("undone_at", nullable=True)),
        _key("exclusion", "project_id", "project"),
        _key("exclusion", "voter_id", "voter"),
    )
    op.create_index(op.f("ix_exclusion_project_id"), "exclusion", ["project_id"])
    op.create_index(op.f("ix_exclusion_voter_id"), "exclusion", ["voter_id"])


def _files() -> None:
    op.create_table(
        "column_mapping",
        *_id("column_mapping"),
        *(_text("project_id"), _text("header"), _json("mapping"), _text("at")),
        _key("column_mapping", "project_id", "project"),
        sa.UniqueConstraint("project_id", "header", name=op.f("uq_column_mapping_project_id_header")),
    )
    op.create_table(
        "publication",
        *_id("publication"),
        *(_number("ballot_id"), _text("platform"), _text("address"), _json("detail")),
        *(_text("at"), _text("fetched_at", nullable=True)),
        _key("publication", "ballot_id", "ballot"),
    )
    op.create_index(op.f("ix_publication_ballot_id"), "publication", ["ballot_id"])
    op.create_table(
        "release",
        *_id("release"),
        *(_text("project_id"), _text("version"), _text("sha256"), _text("note"), _json("detail"), _text("at")),
        _key("release", "project_id", "project"),
        sa.UniqueConstraint("project_id", "version", name=op.f("uq_release_project_id_version")),
    )
