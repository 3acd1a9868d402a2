"""Where a voter is dealt comparisons: the voting page with its ballot and settings, and what was given already."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from ...questions import RoundKind, RoundSettings, round_kind
from ...questions.voting_settings import VotingSettings
from .. import schema as t


@dataclass(frozen=True)
class Table:
    """Where dealing happens: the voting page, its ballot, its settings; those of a round where it is one."""

    voting_id: int
    ballot_id: int
    settings: VotingSettings
    round: RoundSettings | None = None

    @property
    def asks(self) -> RoundKind | None:
        """What the questions of a round are; None for comparisons."""
        return None if self.round is None else round_kind(self.round.scheme)

    def lacks_votes(self) -> sa.ColumnElement[bool]:
        """Whether a row of `question` lacks votes that aren't being given: a round wants so many answers of each."""
        q = t.question.c
        return q.n_dealt < (q.n_wanted if self.round is not None else self.settings.votes_per_comparison)

    def expires(self) -> str:
        """When a lease given now is over."""
        after = datetime.now(UTC) + timedelta(minutes=self.settings.minutes_per_task)
        return after.isoformat(timespec="microseconds")


def add_dealt(conn: sa.Connection, question_ids: list[int], change: int) -> None:
    if question_ids:
        q = t.question.c
        row = sa.update(t.question).where(q.id == sa.bindparam("of")).values(n_dealt=q.n_dealt + change)
        conn.execute(row, [{"of": id_} for id_ in question_ids])


SIDES = ("flipped", "left_swapped", "right_swapped")


def was_given(sitting_id: int, question_id: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
    """Whether a voter was given a comparison, or a check that is the same one put before further voters."""
    d, c = t.deal.c, t.check_question.alias("same").c  # an alias, so that no query around it is meant
    itself = sa.exists().where(d.sitting_id == sitting_id, d.question_id == question_id)
    as_check = sa.exists().where(d.sitting_id == sitting_id, d.question_id == c.question_id, c.of_id == question_id)
    return sa.or_(itself, as_check)
