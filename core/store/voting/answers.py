"""A voter's answer on the voting page: recorded at once, taken back, or set aside."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

import sqlalchemy as sa

from ...errors import InputError
from ...i18n import language, translatable
from ...questions import COMPARISON, RoundSettings, round_kind
from ...questions.base import UNKNOWN as UNKNOWN_ANSWER
from .. import schema as t
from ..chain import unseal
from ..command import insert_one
from ..engine import now
from ..votes.tallies import is_excluded
from .leases import (
    ASIDE,
    CHANGE_LEASE,
    CHANGE_SESSION,
    COUNTED,
    LEASED,
    LEASED_KINDS,
    UNKNOWN,
    VotingPage,
    last_answer,
    lease_again,
    move_check,
    move_tallies,
    release_expired,
    stands_for_vote,
    task_leases,
)

MAX_SECONDS = 3600.0

# Statements of each answer, built once (see `leases`); what is set is named when one is carried out.
_BALLOT, _JUDGEMENT, _LEASE, _EARLIER = t.ballot.c, t.judgement.c, t.deal.c, t.deal.alias("earlier").c
_NEXT_ANSWER = sa.select(sa.func.coalesce(sa.func.max(_EARLIER.answer_n), 0) + 1)
_NEXT_ANSWER = _NEXT_ANSWER.where(_EARLIER.sitting_id == _LEASE.sitting_id)
_ANSWER_LEASE = CHANGE_LEASE.values(state="answered", answer_n=_NEXT_ANSWER.scalar_subquery())
_WRITE = sa.insert(t.judgement)
_WRITE_AGAIN = sa.update(t.judgement).where(
    _JUDGEMENT.assignment_id == sa.bindparam("of"), _JUDGEMENT.question_id == sa.bindparam("about")
)
_PROJECT = sa.select(_BALLOT.project_id).where(_BALLOT.id == sa.bindparam("ballot")).scalar_subquery()
_RAISE = sa.update(t.project).where(t.project.c.id == _PROJECT).values(pulse=t.project.c.pulse + 1)
_FORGET_PROGRESS = (
    sa.update(t.ballot)
    .where(_BALLOT.id == sa.bindparam("ballot"), _BALLOT.progress.is_not(None))
    .values(progress=sa.null())
)


class IncompleteError(InputError):
    """An answer to a question of a round that lacks something; the question can be shown again with the message."""


def record(
    conn: sa.Connection, page: VotingPage, session: sa.Row, task: int, n: int, choice: str, seconds: float | None
) -> str:
    """Record the answer to one comparison of a task: left, right, tie or unknown; of a round, as it is collected.

    Returns "saved"; "stored" where just this answer stands there already (it was sent again, as nobody heard of it);
    "known" where another does (nothing changes: another tab); "late" where its time was over and somebody else has
    been given it. The standing of the judgement: a vote counts, "I don't know" is kept, a check has its own role, a
    repeat is kept beside the first vote, and all of a voter who failed the checks, or whom the owner left out, is kept
    aside. Raises `InputError` for an answer or a place that the page didn't offer, `IncompleteError` for a round's
    answer that lacks something.
    """
    leases = task_leases(conn, session.id, task)
    lease = next((lease for lease in leases if lease.n == n), None)
    allowed = ("left", "right", "unknown", *(("tie",) if page.settings.ties_allowed else ()))
    if lease is None or (page.round is None and choice not in allowed):
        raise InputError(translatable("This answer fits nothing that the page asked. Load the page again."))
    if lease.state == "answered":
        return "stored" if stands(conn, page, session.id, task, n, choice) else "known"
    if lease.state == "released" and not lease_again(conn, page, lease):
        return "late"
    answer = _stored_answer(conn, page, lease, choice)
    assignment_id = _assignment(conn, page, session, lease, leases)
    standing = _standing(session, lease.kind, answer, is_excluded(conn, session.voter_id))
    kind = page.asks or COMPARISON
    value = None if answer == UNKNOWN_ANSWER else kind.value(answer)
    spent = _bounded(seconds, session.seen_at)
    _write(conn, assignment_id, lease.question_id, answer, value, standing[0], spent)
    conn.execute(_ANSWER_LEASE, {"of": lease.id, "answered_at": now(), "assignment_id": assignment_id})
    _update_tallies(conn, page.ballot_id, lease, answer, LEASED, standing[1])
    _note_step(conn, session.id, lease, answer, 1)
    _raise_vote_counter(conn, page.ballot_id)
    return "saved"


def stands(conn: sa.Connection, page: VotingPage, session_id: int, task: int, n: int, choice: str) -> bool:
    """Whether this very answer is the current one at a place of a session; writes nothing."""
    d, j = t.deal.c, t.judgement.c
    query = (
        sa.select(t.deal, j.answer)
        .join(t.judgement, sa.and_(j.assignment_id == d.assignment_id, j.question_id == d.question_id))
        .where(d.sitting_id == session_id, d.task == task, d.n == n, d.state == "answered")
    )
    lease = conn.execute(query).one_or_none()
    try:
        return lease is not None and lease.answer == _stored_answer(conn, page, lease, choice)
    except IncompleteError:
        return False


def _stored_answer(conn: sa.Connection, page: VotingPage, lease: sa.Row, choice: str) -> str:
    """The answer as it is stored: the option on the side that was chosen; of a round, as its kind stores it."""
    if page.round is not None:
        return _answer_of_round(conn, page.round, lease.question_id, choice)
    if choice in ("left", "right"):
        return "first" if (choice == "left") != bool(lease.flipped) else "second"
    return choice


def _answer_of_round(conn: sa.Connection, settings: RoundSettings, question_id: int, raw: str) -> str:
    """The answer to a round's question as its kind stores it; `IncompleteError` where it isn't a whole one."""
    option = t.question_option.c
    n_shown = conn.execute(sa.select(sa.func.count()).where(option.question_id == question_id)).scalar_one()
    try:
        return round_kind(settings.scheme).answer(settings, raw, n_shown, language(settings.language))
    except InputError as error:
        raise IncompleteError(str(error)) from error


def _update_tallies(conn: sa.Connection, ballot_id: int, lease: sa.Row, answer: str, before: str, after: str) -> None:
    """Let the tallies follow an answer from one standing to another; gold and repeats have none."""
    if lease.kind == "main":
        move_tallies(conn, ballot_id, lease.question_id, answer, before, after)
    elif lease.kind in LEASED_KINDS:
        move_check(conn, lease.question_id, before, after)


def _note_step(conn: sa.Connection, session_id: int, lease: sa.Row, answer: str, change: int) -> None:
    """Write down when the voter was last here, and how checks went."""
    if lease.kind == "gold" and answer != "unknown":
        right = conn.execute(sa.select(t.gold.c.answer).where(t.gold.c.question_id == lease.question_id)).scalar()
        column = t.sitting.c.gold_right if answer == right else t.sitting.c.gold_wrong
        conn.execute(CHANGE_SESSION.values({column: column + change}), {"of": session_id})
    conn.execute(CHANGE_SESSION, {"of": session_id, "seen_at": now()})


def _standing(session: sa.Row, kind: str, answer: str, excluded: bool) -> tuple[str, str]:
    """The status of the judgement, and its standing in the tallies."""
    if not session.counts:
        return "rejected", ASIDE
    if kind == "repeat":
        return "repeat", ASIDE
    if excluded:
        return "excluded", ASIDE
    return ("unknown", UNKNOWN) if answer == "unknown" else ("counted", COUNTED)


def _bounded(seconds: float | None, seen_at: str) -> float | None:
    """The seconds that a browser measured, at most those since the voter's last step; these where it sent none."""
    elapsed = (datetime.now(UTC) - datetime.fromisoformat(seen_at)).total_seconds()
    elapsed = min(max(elapsed, 0.0), MAX_SECONDS)
    if seconds is None or not 0 <= seconds <= MAX_SECONDS:
        return round(elapsed, 3)
    return round(min(seconds, elapsed), 3)


def _assignment(conn: sa.Connection, page: VotingPage, session: sa.Row, lease: sa.Row, leases: Sequence[sa.Row]) -> int:
    """The assignment that holds the answer: one for a task's leases, and one for its repeats."""
    same = (each.assignment_id for each in leases if (each.kind == "repeat") == (lease.kind == "repeat"))
    assignment_id = next((id_ for id_ in same if id_ is not None), None)
    if assignment_id is not None:
        unseal(conn, assignment_id)
        return int(assignment_id)
    return insert_one(
        conn,
        t.assignment,
        ballot_id=page.ballot_id,
        voter_id=session.voter_id,
        external_id=f"page-{secrets.token_hex(8)}",
        status="submitted",
        submitted_at=now(),
    )


def _write(
    conn: sa.Connection,
    assignment_id: int,
    question_id: int,
    answer: str,
    value: float | None,
    status: str,
    seconds: float | None,
) -> None:
    """Write the judgement, or bring the one that was taken back up to date."""
    values = {"answer": answer, "value": value, "seconds": seconds, "status": status, "source": "person"}
    again = conn.execute(_WRITE_AGAIN, {"of": assignment_id, "about": question_id, **values})
    if again.rowcount == 0:
        conn.execute(_WRITE, {"assignment_id": assignment_id, "question_id": question_id, **values})


def _raise_vote_counter(conn: sa.Connection, ballot_id: int) -> None:
    """Say that votes changed: caches look at the project's vote counter (`pulse`), and the ballot's progress is to be
    counted again."""
    conn.execute(_RAISE, {"ballot": ballot_id})
    conn.execute(_FORGET_PROGRESS, {"ballot": ballot_id})


_STANDINGS = {"counted": COUNTED, "unknown": UNKNOWN, "rejected": ASIDE, "repeat": ASIDE, "excluded": ASIDE}


def take_back_last(conn: sa.Connection, page: VotingPage, session: sa.Row, task: int, n: int) -> str:
    """Undo the answer at a place, if it is the voter's last in the task: it is marked as withdrawn, and asked again.

    Returns "undone"; "again" where that was done already (a press that came twice) and "passed" where answers came
    since (another tab), so that nothing changes; "nothing done" where an answer that was no vote let somebody else have
    the comparison. Raises `InputError` for a place at which nothing was answered.
    """
    d, j = t.deal.c, t.judgement.c
    query = (
        sa.select(t.deal, j.id.label("judgement_id"), j.answer, j.status)
        .join(t.judgement, sa.and_(j.assignment_id == d.assignment_id, j.question_id == d.question_id))
        .where(d.sitting_id == session.id, d.task == task, d.n == n)
    )
    lease = conn.execute(query).one_or_none()
    if lease is None:
        raise InputError(translatable("This answer fits nothing that the page asked. Load the page again."))
    if lease.state != "answered":
        return "again"
    last = last_answer(task_leases(conn, session.id, session.n_tasks))
    if last is None or last.id != lease.id:
        return "passed"
    if lease.kind == "main" and not _may_lease(conn, lease):
        return "nothing done"
    conn.execute(sa.update(t.judgement).where(j.id == lease.judgement_id).values(status="withdrawn"))
    unseal(conn, lease.assignment_id)
    again = {"state": "open", "answered_at": None, "answer_n": None, "expires_at": page.expires()}
    conn.execute(CHANGE_LEASE, {"of": lease.id, **again})
    _update_tallies(conn, page.ballot_id, lease, lease.answer, _STANDINGS[lease.status], LEASED)
    _note_step(conn, session.id, lease, lease.answer, -1)
    _raise_vote_counter(conn, page.ballot_id)
    return "undone"


def _may_lease(conn: sa.Connection, lease: sa.Row) -> bool:
    """Whether an answer can become a lease again without a vote too many for its comparison."""
    if lease.status == "counted":
        return True
    q = t.question.c
    query = sa.select(q.n_dealt < q.n_wanted).where(q.id == lease.question_id)
    return bool(conn.execute(query).scalar()) or (
        lease.status == "unknown" and stands_for_vote(conn, lease.question_id)
    )


def set_aside(conn: sa.Connection, page: VotingPage, session_id: int) -> None:
    """Keep all votes of a voter and count none, also those to come: too many checks failed."""
    d, j = t.deal.c, t.judgement.c
    query = (
        sa.select(j.id, j.question_id, j.answer, j.status, d.kind)
        .join(t.deal, sa.and_(j.assignment_id == d.assignment_id, j.question_id == d.question_id))
        .where(d.sitting_id == session_id, d.kind.in_(LEASED_KINDS), d.state == "answered")
        .where(j.status.in_(["counted", "unknown", "excluded"]))
    )
    for row in conn.execute(query).all():
        conn.execute(sa.update(t.judgement).where(j.id == row.id).values(status="rejected"))
        _update_tallies(conn, page.ballot_id, row, row.answer, _STANDINGS[row.status], ASIDE)
    conn.execute(CHANGE_SESSION, {"of": session_id, "counts": False})
    theirs = sa.select(d.assignment_id).where(d.sitting_id == session_id, d.assignment_id.is_not(None)).distinct()
    for assignment_id in conn.execute(theirs).scalars().all():
        unseal(conn, assignment_id)


def stop(conn: sa.Connection, session_id: int, state: str, code: str | None = None) -> None:
    """End a session (finished or stopped); its open leases are released."""
    d = t.deal.c
    leases = sa.update(t.deal).where(d.sitting_id == session_id, d.state == "open").values(expires_at="")
    conn.execute(leases)
    voting_id = conn.execute(sa.select(t.sitting.c.voting_id).where(t.sitting.c.id == session_id)).scalar_one()
    release_expired(conn, voting_id)
    conn.execute(CHANGE_SESSION, {"of": session_id, "state": state, "finished_at": now(), "code": code})
