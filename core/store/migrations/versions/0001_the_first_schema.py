"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "embedding",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("format", sa.Text(), nullable=False),
        sa.Column("n_words", sa.Integer(), nullable=False),
        sa.Column("dimensions", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("info", sa.JSON(), nullable=False),
        sa.Column("imported_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_embedding")),
    )
    op.create_table(
        "project",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("notion", sa.Text(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("archived_at", sa.Text(), nullable=True),
        sa.Column("item_rules", sa.JSON(), nullable=True),
        sa.CheckConstraint("kind IN ('real', 'trial', 'demo')", name=op.f("ck_project_kind")),
        sa.CheckConstraint("notion IN ('relatedness', 'similarity')", name=op.f("ck_project_notion")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_project")),
    )
    op.create_table(
        "area",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_area_project_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_area")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_area_project_id_name")),
    )
    op.create_table(
        "frequency_source",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=True),
        sa.Column("embedding_id", sa.Text(), nullable=True),
        sa.Column("language", sa.Text(), nullable=True),
        sa.Column("share", sa.Float(), nullable=False),
        sa.Column("lower", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["embedding_id"], ["embedding.id"], name=op.f("fk_frequency_source_embedding_id")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name=op.f("fk_frequency_source_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project_id", name=op.f("pk_frequency_source")),
    )
    op.create_table(
        "job",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("params", sa.JSON(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=True),
        sa.Column("done", sa.Float(), server_default="0", nullable=False),
        sa.Column("total", sa.Float(), server_default="0", nullable=False),
        sa.Column("message", sa.Text(), server_default="", nullable=False),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Text(), nullable=True),
        sa.Column("heartbeat_at", sa.Text(), nullable=True),
        sa.Column("ended_at", sa.Text(), nullable=True),
        sa.CheckConstraint("state IN ('queued', 'running', 'done', 'failed', 'cancelled')", name=op.f("ck_job_state")),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_job_project_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
    )
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_job_project_id"), ["project_id"], unique=False)

    op.create_table(
        "log",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_log_project_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_log")),
    )
    with op.batch_alter_table("log", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_log_project_id"), ["project_id"], unique=False)

    op.create_table(
        "plan",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("protocol", sa.Text(), nullable=False),
        sa.Column("n_items", sa.Integer(), nullable=False),
        sa.Column("n_ballots", sa.Integer(), nullable=False),
        sa.Column("keep", sa.Float(), nullable=False),
        sa.Column("appearances", sa.JSON(), nullable=False),
        sa.Column("task_size", sa.Integer(), nullable=False),
        sa.Column("ties_allowed", sa.Boolean(), nullable=False),
        sa.Column("n_voters", sa.Integer(), nullable=False),
        sa.Column("seconds_per_comparison", sa.Float(), nullable=False),
        sa.Column("reward", sa.Float(), nullable=False),
        sa.Column("fee", sa.Float(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("wording", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_plan_project_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plan")),
    )
    with op.batch_alter_table("plan", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_plan_project_id"), ["project_id"], unique=False)

    op.create_table(
        "project_embedding",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("embedding_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("subwords", sa.Boolean(), server_default="0", nullable=False),
        sa.Column("added_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["embedding_id"], ["embedding.id"], name=op.f("fk_project_embedding_embedding_id")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name=op.f("fk_project_embedding_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project_id", "embedding_id", name=op.f("pk_project_embedding")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_project_embedding_project_id_name")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "voter",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.CheckConstraint("kind IN ('person', 'simulated')", name=op.f("ck_voter_kind")),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_voter_project_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_voter")),
        sa.UniqueConstraint(
            "project_id", "platform", "external_id", name=op.f("uq_voter_project_id_platform_external_id")
        ),
    )
    op.create_table(
        "ballot",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("plan_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("protocol", sa.Text(), nullable=False),
        sa.Column("appearances", sa.Integer(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("n_items", sa.Integer(), nullable=False),
        sa.Column("n_comparisons", sa.Integer(), nullable=False),
        sa.Column("n_tied", sa.Integer(), server_default="0", nullable=False),
        sa.Column("n_tied_kept", sa.Integer(), server_default="0", nullable=False),
        sa.Column("slope", sa.Float(), nullable=True),
        sa.Column("interval_note", sa.Text(), nullable=True),
        sa.Column("drawn_at", sa.Text(), nullable=False),
        sa.Column("closed_at", sa.Text(), nullable=True),
        sa.CheckConstraint("state IN ('open', 'closed')", name=op.f("ck_ballot_state")),
        sa.ForeignKeyConstraint(["plan_id"], ["plan.id"], name=op.f("fk_ballot_plan_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_ballot_project_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ballot")),
        sa.UniqueConstraint("project_id", "number", name=op.f("uq_ballot_project_id_number")),
    )
    op.create_table(
        "token",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("area_id", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("origin", sa.Text(), server_default="given", nullable=False),
        sa.ForeignKeyConstraint(["area_id"], ["area.id"], name=op.f("fk_token_area_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_token")),
        sa.UniqueConstraint("area_id", "text", name=op.f("uq_token_area_id_text")),
    )
    op.create_table(
        "item",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("area_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("token_a_id", sa.Integer(), nullable=False),
        sa.Column("token_b_id", sa.Integer(), nullable=False),
        sa.Column("similarity", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["area_id"], ["area.id"], name=op.f("fk_item_area_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_item_project_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["token_a_id"], ["token.id"], name=op.f("fk_item_token_a_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["token_b_id"], ["token.id"], name=op.f("fk_item_token_b_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_item")),
        sa.UniqueConstraint("project_id", "position", name=op.f("uq_item_project_id_position")),
        sa.UniqueConstraint("token_a_id", "token_b_id", name=op.f("uq_item_token_a_id_token_b_id")),
    )
    op.create_table(
        "question",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("ballot_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("n_wanted", sa.Integer(), nullable=False),
        sa.Column("n_votes", sa.Integer(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["ballot_id"], ["ballot.id"], name=op.f("fk_question_ballot_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_question")),
    )
    with op.batch_alter_table("question", schema=None) as batch_op:
        batch_op.create_index("ix_question_ballot_id", ["ballot_id"], unique=False)

    op.create_table(
        "task",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("ballot_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["ballot_id"], ["ballot.id"], name=op.f("fk_task_ballot_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task")),
        sa.UniqueConstraint("ballot_id", "code", name=op.f("uq_task_ballot_id_code")),
        sa.UniqueConstraint("ballot_id", "position", name=op.f("uq_task_ballot_id_position")),
    )
    op.create_table(
        "upload",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("ballot_id", sa.Integer(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("filename", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("n_bytes", sa.Integer(), nullable=False),
        sa.Column("n_rows", sa.Integer(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("accepted_at", sa.Text(), nullable=False),
        sa.Column("withdrawn_at", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["ballot_id"], ["ballot.id"], name=op.f("fk_upload_ballot_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_upload")),
    )
    with op.batch_alter_table("upload", schema=None) as batch_op:
        batch_op.create_index("ix_upload_ballot_id", ["ballot_id"], unique=False)

    op.create_table(
        "assignment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("ballot_id", sa.Integer(), nullable=False),
        sa.Column("voter_id", sa.Integer(), nullable=False),
        sa.Column("upload_id", sa.Integer(), nullable=True),
        sa.Column("task_id", sa.Integer(), nullable=True),
        sa.Column("external_id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("submitted_at", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["ballot_id"], ["ballot.id"], name=op.f("fk_assignment_ballot_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["task_id"], ["task.id"], name=op.f("fk_assignment_task_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["upload_id"], ["upload.id"], name=op.f("fk_assignment_upload_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["voter_id"], ["voter.id"], name=op.f("fk_assignment_voter_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignment")),
        sa.UniqueConstraint(
            "ballot_id", "voter_id", "external_id", name=op.f("uq_assignment_ballot_id_voter_id_external_id")
        ),
    )
    with op.batch_alter_table("assignment", schema=None) as batch_op:
        batch_op.create_index("ix_assignment_upload_id", ["upload_id"], unique=False)

    op.create_table(
        "ballot_item",
        sa.Column("ballot_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("entry_score", sa.Float(), nullable=True),
        sa.Column("wins", sa.Integer(), server_default="0", nullable=False),
        sa.Column("ties", sa.Integer(), server_default="0", nullable=False),
        sa.Column("losses", sa.Integer(), server_default="0", nullable=False),
        sa.Column("unknowns", sa.Integer(), server_default="0", nullable=False),
        sa.Column("x", sa.Float(), nullable=True),
        sa.Column("y", sa.Float(), nullable=True),
        sa.Column("mean", sa.Float(), nullable=True),
        sa.Column("count", sa.Integer(), nullable=True),
        sa.Column("lower", sa.Float(), nullable=True),
        sa.Column("upper", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["ballot_id"], ["ballot.id"], name=op.f("fk_ballot_item_ballot_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_ballot_item_item_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("ballot_id", "item_id", name=op.f("pk_ballot_item")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "question_option",
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_question_option_item_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["question_id"], ["question.id"], name=op.f("fk_question_option_question_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("question_id", "position", name=op.f("pk_question_option")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "task_question",
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("flipped", sa.Boolean(), nullable=False),
        sa.Column("left_swapped", sa.Boolean(), nullable=False),
        sa.Column("right_swapped", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["question_id"], ["question.id"], name=op.f("fk_task_question_question_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["task_id"], ["task.id"], name=op.f("fk_task_question_task_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("task_id", "n", name=op.f("pk_task_question")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("task_question", schema=None) as batch_op:
        batch_op.create_index("ix_task_question_question_id", ["question_id"], unique=False)

    op.create_table(
        "judgement",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.CheckConstraint("source IN ('person', 'simulated')", name=op.f("ck_judgement_source")),
        sa.CheckConstraint(
            "status IN ('counted', 'unknown', 'rejected', 'repeat', 'withdrawn')", name=op.f("ck_judgement_status")
        ),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignment.id"], name=op.f("fk_judgement_assignment_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["question_id"], ["question.id"], name=op.f("fk_judgement_question_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgement")),
        sa.UniqueConstraint("assignment_id", "question_id", name=op.f("uq_judgement_assignment_id_question_id")),
    )
    with op.batch_alter_table("judgement", schema=None) as batch_op:
        batch_op.create_index("ix_judgement_question_id_status", ["question_id", "status"], unique=False)
