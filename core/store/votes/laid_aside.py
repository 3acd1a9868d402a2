"""Votes of voters whom the owner left out: which voters these are, and how judgements follow.

A judgement that would count, as a vote or as "I don't know a word here", has the status `excluded` while its voter is
left out; rejected, repeated and withdrawn ones stay what they are. So what a judgement is without any exclusion can
always be told, files are read against that, and exclusions are laid over it afterwards: files and exclusions may come
in any order.
"""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa

from .. import schema as t

_J = t.judgement.c
_WITHOUT_EXCLUSION = sa.case((_J.answer == "unknown", "unknown"), else_="counted")


def excluded_ids(conn: sa.Connection, project_id: str) -> frozenset[int]:
    """The voters of a project who are left out."""
    e = t.exclusion.c
    query = sa.select(e.voter_id).where(e.project_id == project_id, e.undone_at.is_(None))
    return frozenset(conn.execute(query).scalars())


def is_excluded(conn: sa.Connection, voter_id: int) -> bool:
    """Whether a voter is left out."""
    e = t.exclusion.c
    query = sa.select(e.id).where(e.voter_id == voter_id, e.undone_at.is_(None)).limit(1)
    return conn.execute(query).first() is not None


def lay_aside(conn: sa.Connection, ballot_id: int) -> None:
    """Bring the judgements of a ballot in line with who is left out; the tallies must follow."""
    e = t.exclusion.c
    of = sa.select(t.ballot.c.project_id).where(t.ballot.c.id == ballot_id).scalar_subquery()
    ever = set(conn.execute(sa.select(e.voter_id).where(e.project_id == of)).scalars())
    if not ever:
        return
    out = set(conn.execute(sa.select(e.voter_id).where(e.project_id == of, e.undone_at.is_(None))).scalars())
    aside = sa.update(t.judgement).where(_of_voters(ballot_id, out), _J.status.in_(["counted", "unknown"]))
    conn.execute(aside.values(status="excluded"))
    back = sa.update(t.judgement).where(_of_voters(ballot_id, ever - out), _J.status == "excluded")
    conn.execute(back.values(status=_WITHOUT_EXCLUSION))


def _of_voters(ballot_id: int, voter_ids: Iterable[int]) -> sa.ColumnElement[bool]:
    a = t.assignment.c
    theirs = sa.select(a.id).where(a.ballot_id == ballot_id, a.voter_id.in_(sorted(voter_ids)))
    return _J.assignment_id.in_(theirs)
