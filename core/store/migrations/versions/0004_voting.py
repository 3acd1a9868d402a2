"""Runoff's own voting page: its settings, links, voters and what they were dealt; checks with a known answer."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def _key(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_{column}")
    return sa.ForeignKeyConstraint([column], [f"{target}.id"], name=name, ondelete="CASCADE")


def _id(table: str) -> tuple[sa.Column, sa.PrimaryKeyConstraint]:
    return sa.Column("id", sa.Integer(), nullable=False), sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}"))


def _number(name: str) -> sa.Column:
    return sa.Column(name, sa.Integer(), nullable=False)


def _count(name: str) -> sa.Column:
    return sa.Column(name, sa.Integer(), server_default="0", nullable=False)


def _text(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _flag(name: str, default: str | None = None) -> sa.Column:
    return sa.Column(name, sa.Boolean(), server_default=default, nullable=False)


def _unique(table: str, *columns: str) -> sa.UniqueConstraint:
    return sa.UniqueConstraint(*columns, name=op.f(f"uq_{table}_{'_'.join(columns)}"))


def _one_of(table: str, column: str, *values: str) -> sa.CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    return sa.CheckConstraint(f"{column} IN ({listed})", name=op.f(f"ck_{table}_{column}"))


def _index(table: str, *columns: str) -> None:
    op.create_index(op.f(f"ix_{table}_{'_'.join(columns)}"), table, list(columns))


def upgrade() -> None:
    op.add_column("project", _count("pulse"))
    op.add_column("question", _count("n_dealt"))
    op.execute("UPDATE question SET n_dealt = n_votes WHERE n_votes > 0")
    _index("question", "ballot_id", "role", "n_dealt", "id")
    _voting()
    _sittings()


def _voting() -> None:
    op.create_table(
        "voting",
        *_id("voting"),
        *(_number("ballot_id"), _text("state"), sa.Column("settings", sa.JSON(), nullable=False)),
        *(_text("opened_at"), _text("closed_at", nullable=True)),
        _key("voting", "ballot_id", "ballot"),
        _unique("voting", "ballot_id"),
        _one_of("voting", "state", "open", "paused", "closed"),
    )
    op.create_table(
        "voting_link",
        *_id("voting_link"),
        *(_text("project_id"), sa.Column("area_id", sa.Integer(), nullable=True), _text("code"), _text("secret")),
        _key("voting_link", "project_id", "project"),
        _key("voting_link", "area_id", "area"),
        _unique("voting_link", "code"),
    )
    _index("voting_link", "project_id")
    op.create_table(
        "invitation",
        *_id("invitation"),
        *(_number("voting_link_id"), _text("name"), _text("token")),
        _key("invitation", "voting_link_id", "voting_link"),
        _unique("invitation", "voting_link_id", "name"),
        _unique("invitation", "token"),
    )
    op.create_table(
        "gold",
        *(_number("question_id"), _text("answer")),
        _key("gold", "question_id", "question"),
        sa.PrimaryKeyConstraint("question_id", name=op.f("pk_gold")),
        _one_of("gold", "answer", "first", "second"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "voter_trait",
        *(_number("voting_id"), _text("trait"), _text("value"), _count("n")),
        _key("voter_trait", "voting_id", "voting"),
        sa.PrimaryKeyConstraint("voting_id", "trait", "value", name=op.f("pk_voter_trait")),
        sqlite_with_rowid=False,
    )


def _sittings() -> None:
    op.create_table(
        "sitting",
        *_id("sitting"),
        *(_number("voting_id"), _number("voter_id"), _text("state")),
        *map(_count, ("n_examples", "n_tasks", "n_done", "gold_right", "gold_wrong")),
        *(_flag("counts", "1"), _text("began_at"), _text("seen_at")),
        *(_text("finished_at", nullable=True), _text("code", nullable=True)),
        _key("sitting", "voting_id", "voting"),
        _key("sitting", "voter_id", "voter"),
        _unique("sitting", "voting_id", "voter_id"),
        _one_of("sitting", "state", "voting", "finished", "stopped"),
    )
    _index("sitting", "voter_id")
    op.create_table(
        "deal",
        *_id("deal"),
        *(_number("sitting_id"), _number("question_id"), sa.Column("assignment_id", sa.Integer(), nullable=True)),
        *(_number("task"), _number("n"), _text("kind")),
        *map(_flag, ("flipped", "left_swapped", "right_swapped")),
        *(_text("state"), _text("expires_at"), _text("answered_at", nullable=True)),
        *(_key("deal", f"{table}_id", table) for table in ("sitting", "question", "assignment")),
        _unique("deal", "sitting_id", "task", "n"),
        _unique("deal", "sitting_id", "question_id", "kind"),
        _one_of("deal", "kind", "main", "gold", "repeat"),
        _one_of("deal", "state", "open", "answered", "released"),
    )
    for columns in (("question_id", "state"), ("state", "expires_at"), ("answered_at",), ("assignment_id",)):
        _index("deal", *columns)
