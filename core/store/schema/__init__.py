"""The tables of a workspace, as SQLAlchemy Core, in five modules.

Judgements are stored, not votes: a `question` of some kind has options (items), a voter's `assignment`
answers it with a `judgement`. A vote is a counted judgement of a comparison. Ratings, tuples of best–worst and
target groups to order are other kinds of question, in rounds: ballots of another kind.

Item order inside a comparison is `question_option.position` (0 first, 1 second); what a voter saw is
`task_question.flipped` (first on the right) with the order of the tokens of each side.
"""

from __future__ import annotations

from .ballots import (
    assignment,
    ballot,
    ballot_item,
    check_question,
    deal,
    exclusion,
    gold,
    invitation,
    item_score,
    judgement,
    model_answer,
    model_judge,
    publication,
    question,
    question_option,
    seal,
    sitting,
    task,
    task_question,
    upload,
    voter,
    voter_trait,
    voting,
    voting_link,
)
from .projects import (
    area,
    column_mapping,
    embedding,
    frequency_source,
    item,
    job,
    log,
    metadata,
    plan,
    project,
    project_embedding,
    registration,
    release,
    simulation,
    token,
)

__all__ = [
    "area",
    "assignment",
    "ballot",
    "ballot_item",
    "check_question",
    "column_mapping",
    "deal",
    "embedding",
    "exclusion",
    "frequency_source",
    "gold",
    "invitation",
    "item",
    "item_score",
    "job",
    "judgement",
    "log",
    "metadata",
    "model_answer",
    "model_judge",
    "plan",
    "project",
    "project_embedding",
    "publication",
    "question",
    "question_option",
    "registration",
    "release",
    "seal",
    "simulation",
    "sitting",
    "task",
    "task_question",
    "token",
    "upload",
    "voter",
    "voter_trait",
    "voting",
    "voting_link",
]
