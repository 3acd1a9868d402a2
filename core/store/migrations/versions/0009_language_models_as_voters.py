"""Language models that are asked about ballots, in tables of their own; which servers of models a project may ask."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("project", sa.Column("servers", sa.JSON()))
    op.create_table(
        "model_judge",
        *_row("model_judge", "ballot"),
        _text("address"),
        _text("model"),
        sa.Column("temperature", sa.Float()),
        sa.Column("most_tokens", sa.Integer()),
        _text("prompt"),
        sa.Column("wording", sa.JSON(), nullable=False),
        sa.Column("n_wanted", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("input_price", sa.Float()),
        sa.Column("output_price", sa.Float()),
        _text("began_at"),
    )
    op.create_index(op.f("ix_model_judge_ballot_id"), "model_judge", ["ballot_id"])
    op.create_table(
        "model_answer",
        *_row("model_answer", "model_judge", "question"),
        sa.Column("flipped", sa.Boolean(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        _text("prompt"),
        _text("raw"),
        _text("answer", nullable=True),
        _text("reason", nullable=True),
        _text("revision"),
        _text("fingerprint", nullable=True),
        sa.Column("prompt_tokens", sa.Integer()),
        sa.Column("answer_tokens", sa.Integer()),
        sa.Column("seconds", sa.Float(), nullable=False),
        _text("at"),
        sa.UniqueConstraint(
            "model_judge_id", "question_id", "flipped", "attempt",
            name=op.f("uq_model_answer_model_judge_id_question_id_flipped_attempt"),
        ),
        sa.CheckConstraint("answer IN ('first', 'second', 'tie')", name=op.f("ck_model_answer_answer")),
        sa.CheckConstraint("(answer IS NULL) = (reason IS NOT NULL)", name=op.f("ck_model_answer_reason")),
    )  # fmt: skip
    op.create_index(op.f("ix_model_answer_question_id"), "model_answer", ["question_id"])


def _row(table: str, *parents: str) -> list[sa.Column | sa.Constraint]:
    """The id of a row, and the keys to rows with which it goes."""
    parts: list[sa.Column | sa.Constraint] = [sa.Column("id", sa.Integer(), nullable=False)]
    parts += [sa.Column(f"{parent}_id", sa.Integer(), nullable=False) for parent in parents]
    parts.append(sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")))
    for parent in parents:
        name = op.f(f"fk_{table}_{parent}_id")
        parts.append(sa.ForeignKeyConstraint([f"{parent}_id"], [f"{parent}.id"], name=name, ondelete="CASCADE"))
    return parts


def _text(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.Text(), nullable=nullable)
