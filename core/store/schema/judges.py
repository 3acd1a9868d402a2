"""Language models that were asked about a ballot, and what they answered.

They stand apart from judgements, so that no query of people's votes ever meets an answer of a model: tallies, progress,
scores, agreement and closing read `judgement` alone.
"""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, CheckConstraint, Column, Float, Index, Integer, Table, UniqueConstraint

from .projects import count_, id_, metadata, text_, to_

# A record: a model asked about a ballot in one way. Answers of another model, prompt or wording have another record.
model_judge = Table(
    "model_judge",
    metadata,
    id_(),
    to_("ballot"),
    text_("address"),  # of the server; what came with a file is asked nothing (`project.servers`)
    text_("model"),  # as the owner named it; each answer says what the server called it
    Column("temperature", Float),  # NULL: the server's own
    Column("most_tokens", Integer),  # of an answer; NULL: the server's own bound
    text_("prompt"),  # what stands before each comparison
    Column("wording", JSON, nullable=False),  # of the ballot, as the prompt was made of it
    count_("n_wanted"),  # comparisons, each in both orders
    Column("input_price", Float),  # of a million tokens, in the money of the plan; NULL where nobody said
    Column("output_price", Float),
    text_("began_at"),
    Index("ix_model_judge_ballot_id", "ballot_id"),
    info={"since": "0009"},
)

# What came for a comparison in one order: a vote, or a reason why it is none. Everything that came is kept.
model_answer = Table(
    "model_answer",
    metadata,
    id_(),
    to_("model_judge"),
    to_("question"),
    Column("flipped", Boolean, nullable=False),  # the second item was A
    Column("attempt", Integer, nullable=False),  # 1, 2, …: what came and couldn't be read is asked again
    text_("prompt"),  # the comparison as it was sent, after the record's prompt
    text_("raw"),
    text_("answer", nullable=True),  # first, second or tie
    text_("reason", nullable=True),  # why it is no vote
    text_("revision"),  # the model as the server called it
    text_("fingerprint", nullable=True),  # of the server's set-up, where it says one
    Column("prompt_tokens", Integer),
    Column("answer_tokens", Integer),
    Column("seconds", Float, nullable=False),
    text_("at"),
    UniqueConstraint("model_judge_id", "question_id", "flipped", "attempt"),
    Index("ix_model_answer_question_id", "question_id"),
    CheckConstraint("answer IN ('first', 'second', 'tie')", name="answer"),
    CheckConstraint("(answer IS NULL) = (reason IS NOT NULL)", name="reason"),
    info={"since": "0009"},
)
