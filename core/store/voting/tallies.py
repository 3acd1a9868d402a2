"""Tallies that follow each vote of the voting page by itself, without a recount of its ballot.

`question.n_dealt` is what the page gives comparisons out by, the fewest first: the votes a comparison has, the leases
on it, and the answers "I don't know a word here" beyond the second. A comparison that nobody knows is thus given up in
the end.
"""

from __future__ import annotations

import sqlalchemy as sa

from ...questions import kind_of
from .. import schema as t

UNKNOWN_ALLOWED = 2  # so many voters may not know a word before their answers stand for votes: another may know it
LEASED, COUNTED, UNKNOWN, ASIDE = "leased", "counted", "unknown", "aside"


def write_lease_counts(conn: sa.Connection, ballot_id: int) -> None:
    """Bring `n_dealt` of a ballot's comparisons in line with its judgements and leases."""
    q, j, d = t.question.c, t.judgement.c, t.deal.c
    unknown = sa.select(sa.func.count()).where(j.question_id == q.id, j.status == "unknown").scalar_subquery()
    leases = sa.select(sa.func.count()).where(d.question_id == q.id, d.state == "open", d.kind == "main")
    more = sa.case((unknown > UNKNOWN_ALLOWED, unknown - UNKNOWN_ALLOWED), else_=0)
    dealt = q.n_votes + more + leases.scalar_subquery()
    rows = sa.update(t.question).where(q.ballot_id == ballot_id, q.role == "main", q.n_dealt != dealt)
    conn.execute(rows.values(n_dealt=dealt))
    # A check is done with any answer: "I don't know" isn't asked of somebody else.
    answers = sa.select(sa.func.count()).where(j.question_id == q.id, j.status.in_(["counted", "unknown"]))
    held = sa.select(sa.func.count()).where(d.question_id == q.id, d.state == "open")
    dealt = answers.scalar_subquery() + held.scalar_subquery()
    checks = sa.update(t.question).where(q.ballot_id == ballot_id, q.role == "check", q.n_wanted > 0)
    conn.execute(checks.where(q.n_dealt != dealt).values(n_dealt=dealt))


def has_voting(conn: sa.Connection, ballot_id: int) -> bool:
    """Whether the ballot was ever put on the voting page."""
    return conn.execute(sa.select(t.voting.c.id).where(t.voting.c.ballot_id == ballot_id)).first() is not None


_OF = t.ballot_item.c
_KEPT = ("wins", "ties", "losses", "unknowns")
_ADD_TO_ITEM = (
    sa.update(t.ballot_item)
    .where(_OF.ballot_id == sa.bindparam("of_ballot"), _OF.item_id == sa.bindparam("of_item"))
    .values({name: _OF[name] + sa.bindparam(f"d_{name}") for name in _KEPT})
)


def move(conn: sa.Connection, ballot_id: int, question_id: int, answer: str, before: str, after: str) -> None:
    """Follow one answer to a question that is scored from one standing to another; the judgement is written already.

    The standings are LEASED (open, no answer), COUNTED, UNKNOWN ("I don't know a word here") and ASIDE (not counted).
    """
    votes = (after == COUNTED) - (before == COUNTED)
    dealt = (after in (LEASED, COUNTED)) - (before in (LEASED, COUNTED))
    unknowns = (after == UNKNOWN) - (before == UNKNOWN)
    if unknowns:
        n_now = _n_unknown(conn, question_id)
        dealt += unknowns * (max(n_now, n_now - unknowns) > UNKNOWN_ALLOWED)
    if votes or dealt:
        row = sa.update(t.question).where(t.question.c.id == question_id)
        conn.execute(row.values(n_votes=t.question.c.n_votes + votes, n_dealt=t.question.c.n_dealt + dealt))
    if votes or unknowns:
        conn.execute(_ADD_TO_ITEM, _changes(conn, ballot_id, question_id, answer, votes, unknowns))


def move_check(conn: sa.Connection, question_id: int, before: str, after: str) -> None:
    """Follow one answer to an overlap or an audit, which are in no item's tallies; standings as in `move`."""
    votes = (after == COUNTED) - (before == COUNTED)
    dealt = (after != ASIDE) - (before != ASIDE)
    if votes or dealt:
        row = sa.update(t.question).where(t.question.c.id == question_id)
        conn.execute(row.values(n_votes=t.question.c.n_votes + votes, n_dealt=t.question.c.n_dealt + dealt))


def stands_for_vote(conn: sa.Connection, question_id: int) -> bool:
    """Whether the newest "I don't know a word here" of a comparison stands for a vote."""
    return _n_unknown(conn, question_id) > UNKNOWN_ALLOWED


def _n_unknown(conn: sa.Connection, question_id: int) -> int:
    j = t.judgement.c
    query = sa.select(sa.func.count()).where(j.question_id == question_id, j.status == "unknown")
    return int(conn.execute(query).scalar_one())


def _changes(
    conn: sa.Connection, ballot_id: int, question_id: int, answer: str, votes: int, unknowns: int
) -> list[dict[str, int]]:
    """What changes in the tallies of the items that the question shows."""
    option, q = t.question_option.c, t.question.c
    query = sa.select(option.item_id, q.kind).join(t.question, q.id == option.question_id)
    query = query.where(option.question_id == question_id).order_by(option.position)
    changes = []
    for side, (item_id, kind) in enumerate(conn.execute(query)):
        change = {"of_ballot": ballot_id, "of_item": item_id}
        change |= dict.fromkeys(("d_wins", "d_ties", "d_losses"), 0) | {"d_unknowns": unknowns}
        if votes:
            change[f"d_{_KEPT[kind_of(kind).counts_as(answer, side)]}"] = votes
        changes.append(change)
    return changes
