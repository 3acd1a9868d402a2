"""Commands on whose votes count: leave voters out, let them count again, take them out, decide on assignments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from ..base.plurals import many, plural
from ..store import Store
from ..store import schema as t
from ..store.votes.exclusions import ExclusionChange, exclude_voters, readmit_voters
from ..store.votes.payment import ReviewChange, review_assignments
from ..store.voting.owner_commands import withdraw_voters
from ..votes.payment import Review
from .base import PER_SECOND, OfProject, R, scoring_seconds


@dataclass(frozen=True)
class _Rescores(OfProject[R]):
    """A command that scores closed ballots anew."""

    def seconds(self, conn: sa.Connection) -> float:
        return scoring_seconds(conn, self.project_id)


@dataclass(frozen=True)
class ExcludeVoters(_Rescores[ExclusionChange]):
    """Leave voters out, for a reason; `detail` is what spoke for it, by voter."""

    name = "exclude voters"
    doing = "Leaving voters out"
    voter_ids: tuple[int, ...]
    reason: str
    detail: dict[int, dict[str, Any]]

    def run(self, store: Store) -> ExclusionChange:
        return exclude_voters(
            store, self.project_id, self.voter_ids, self.reason, self.detail, expected_revision=self.revision
        )

    def summary(self, result: ExclusionChange) -> str:
        return _moved(result, "{voters} is left out: {answers}.", "{voters} are left out: {answers}.")


@dataclass(frozen=True)
class ReadmitVoters(_Rescores[ExclusionChange]):
    """Let voters count again."""

    name = "readmit voters"
    doing = "Letting voters count again"
    voter_ids: tuple[int, ...]

    def run(self, store: Store) -> ExclusionChange:
        return readmit_voters(store, self.project_id, self.voter_ids, expected_revision=self.revision)

    def summary(self, result: ExclusionChange) -> str:
        return _moved(result, "{voters} is readmitted: {answers}.", "{voters} are readmitted: {answers}.")


def _moved(moved: ExclusionChange, one: str, several: str) -> str:
    counts = {"voters": many(moved.voters, "voter"), "answers": many(moved.answers, "answer")}
    message = plural(moved.voters, one, several, **counts)
    return f"{message} {many(moved.rescored, 'closed ballot')} scored again." if moved.rescored else message


@dataclass(frozen=True)
class WithdrawVoters(OfProject[int]):
    """Take voters of a voting page out; how many answers."""

    name = "withdraw voters"
    doing = "Taking voters out"
    session_ids: tuple[int, ...]

    def seconds(self, conn: sa.Connection) -> float:
        """By the largest ballot of their voting pages: its tallies are written anew."""
        largest = (
            sa.select(sa.func.max(t.ballot.c.n_comparisons))
            .join(t.voting, t.voting.c.ballot_id == t.ballot.c.id)
            .join(t.sitting, t.sitting.c.voting_id == t.voting.c.id)
            .where(t.sitting.c.id.in_(self.session_ids[:1]))  # all are of one page
        )
        return (conn.execute(largest).scalar_one_or_none() or 0) / PER_SECOND

    def run(self, store: Store) -> int:
        return withdraw_voters(store, self.project_id, self.session_ids, expected_revision=self.revision)

    def summary(self, result: int) -> str:
        return f"{many(result, 'answer')} marked as withdrawn."


@dataclass(frozen=True)
class ReviewAssignments(OfProject[ReviewChange]):
    """Decide on assignments of a ballot by their ids; None takes a decision back."""

    name = "review assignments"
    doing = "Deciding on assignments"
    ballot_id: int
    decisions: Mapping[int, Review | None]

    def seconds(self, conn: sa.Connection) -> float:
        query = sa.select(t.ballot.c.n_comparisons).where(t.ballot.c.id == self.ballot_id)
        return (conn.execute(query).scalar_one_or_none() or 0) / PER_SECOND

    def run(self, store: Store) -> ReviewChange:
        return review_assignments(store, self.project_id, self.decisions, expected_revision=self.revision)

    def summary(self, result: ReviewChange) -> str:
        counts = {"out": many(result.out, "vote"), "back": many(result.back, "vote")}
        message = "{assignments} decided."
        if result.out and result.back:
            message = (
                "{assignments} decided; {out} left out; {back} came in. What they answered needs votes again: see the "
                "top-up."
            )
        elif result.out:
            message = "{assignments} decided; {out} left out. What they answered needs votes again: see the top-up."
        elif result.back:
            message = "{assignments} decided; {back} came in."
        return message.format(assignments=many(result.decided, "assignment"), **counts)
