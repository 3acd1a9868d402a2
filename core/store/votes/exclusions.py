"""Commands that leave voters out and take them back in, and who is left out.

Leaving out is the owner's decision, with a reason, logged, and can be undone: all of a voter's votes in all ballots of
the project are laid aside (`tallies`), also those still to come. Tallies, progress and top-up batches follow; closed
ballots are scored again at once (`scores.scoring`), while who went on from ballot to ballot stays as it was decided.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from ...errors import InputError, StoreError
from ...questions import RoundScores
from .. import schema as t
from ..ballots.ballot_rows import Ballot, every_ballot_of
from ..command import Change, check_revision, command, project_row
from ..engine import Store, now
from ..scores.scoring import NewScores, rounds_without, scores_without, write_round_scores, write_scores
from .tallies import ballots_with, excluded_ids, of_voters, write_tallies

MAX_REASON = 500


@dataclass(frozen=True)
class Exclusion:
    """A voter who is left out, since when and why; `detail` has the figures that spoke for it."""

    voter_id: int
    reason: str
    detail: dict[str, Any]
    at: str


@dataclass(frozen=True)
class ExclusionChange:
    """What a command did: voters and answers that count no more (or again), and closed ballots scored again."""

    voters: int
    answers: int
    rescored: int


def exclusions_of(conn: sa.Connection, project_id: str) -> list[Exclusion]:
    """The voters who are left out, in the order it was decided."""
    e = t.exclusion.c
    query = sa.select(e.voter_id, e.reason, e.detail, e.at).where(e.project_id == project_id, e.undone_at.is_(None))
    return [Exclusion(*row) for row in conn.execute(query.order_by(e.id))]


def exclude_voters(
    store: Store,
    project_id: str,
    voter_ids: Collection[int],
    reason: str,
    detail: dict[int, dict[str, Any]] | None = None,
    *,
    expected_revision: int | None = None,
) -> ExclusionChange:
    """Leave voters out: none of their votes counts any more, in any ballot, nor those to come.

    `reason` is the owner's, in words; `detail` has for a voter what spoke for it. Takes as long as closing the closed
    ballots again. Raises `InputError` without a reason, `StoreError` for voters that aren't the project's or all left
    out already, and where a closed ballot couldn't be scored without them; then nothing changes.
    """
    reason = " ".join(reason.split())
    if not reason or len(reason) > MAX_REASON:
        raise InputError(f"Say in at most {MAX_REASON} characters why these voters are left out.")
    wanted = {int(id_) for id_ in voter_ids}
    with store.read() as conn:
        project = project_row(conn, project_id)
        check_revision(project, expected_revision)
        _check_known(conn, project_id, wanted)
        out = excluded_ids(conn, project_id)
        new = wanted - out
        if not new:
            raise StoreError("Choose voters who aren't left out yet." if wanted else "Choose the voters to leave out.")
        scores = scores_without(conn, project_id, out | new, new)
        rounds = rounds_without(conn, project_id, out | new, new)
    with command(store, project_id, "exclude voters", expected_revision=project.revision) as change:
        at = now()
        rows = [
            {
                "voter_id": id_,
                "reason": reason,
                "detail": (detail or {}).get(id_, {}),
                "project_id": project_id,
                "at": at,
            }
            for id_ in sorted(new)
        ]
        change.conn.execute(sa.insert(t.exclusion), rows)
        moved = _follow(change, new, scores, rounds)
        change.detail |= {"reason": reason}
        return moved


def readmit_voters(
    store: Store, project_id: str, voter_ids: Collection[int], *, expected_revision: int | None = None
) -> ExclusionChange:
    """Let voters count again; the store is then as if they had never been left out, but for the log.

    Raises `StoreError` where none of them is left out.
    """
    wanted = {int(id_) for id_ in voter_ids}
    with store.read() as conn:
        project = project_row(conn, project_id)
        check_revision(project, expected_revision)
        out = excluded_ids(conn, project_id)
        back = wanted & out
        if not back:
            raise StoreError("None of these voters is left out.")
        scores = scores_without(conn, project_id, out - back, back)
        rounds = rounds_without(conn, project_id, out - back, back)
    with command(store, project_id, "readmit voters", expected_revision=project.revision) as change:
        e = t.exclusion.c
        undone = sa.update(t.exclusion).where(e.voter_id.in_(sorted(back)), e.undone_at.is_(None))
        change.conn.execute(undone.values(undone_at=now()))
        return _follow(change, back, scores, rounds)


def _follow(
    change: Change, moved: set[int], scores: list[NewScores], rounds: list[tuple[Ballot, RoundScores]]
) -> ExclusionChange:
    """Bring judgements, tallies and scores in line with who is left out now."""
    conn = change.conn
    before = _n_excluded(conn, change.project_id, moved)
    with_votes = ballots_with(conn, change.project_id, moved)
    for ballot in every_ballot_of(conn, change.project_id):
        if ballot.id in with_votes:
            write_tallies(conn, ballot.id)
    for new in scores:
        write_scores(change, new)
    for found, of_round in rounds:
        write_round_scores(change, found, of_round)
    answers = abs(_n_excluded(conn, change.project_id, moved) - before)
    change.detail = {"voters": len(moved), "judgements": answers, "ballots scored anew": len(scores) + len(rounds)}
    return ExclusionChange(len(moved), answers, len(scores) + len(rounds))


def _n_excluded(conn: sa.Connection, project_id: str, voter_ids: set[int]) -> int:
    query = (
        sa.select(sa.func.count())
        .select_from(t.judgement)
        .join(t.assignment, t.assignment.c.id == t.judgement.c.assignment_id)
        .where(of_voters(project_id, voter_ids), t.judgement.c.status == "excluded")
    )
    return int(conn.execute(query).scalar_one())


def _check_known(conn: sa.Connection, project_id: str, voter_ids: set[int]) -> None:
    v = t.voter.c
    known = set(conn.execute(sa.select(v.id).where(v.project_id == project_id, v.id.in_(sorted(voter_ids)))).scalars())
    if voter_ids - known:
        raise StoreError("There is no such voter in this project.")
