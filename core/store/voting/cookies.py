"""How a browser is known again: its cookie names a session by a nonce that no other session ever has."""

from __future__ import annotations

import re

import sqlalchemy as sa

from .. import schema as t
from .visits import NONCE, At, is_same, pages_of

_OLD_COOKIE = re.compile("[0-9]{1,15}")  # what an older Runoff's names: the row of the session


def cookie_of(at: At, nonce: str) -> str:
    return f"{nonce}.{at.sign('sitting', nonce)}"


def sitting_of(conn: sa.Connection, at: At, cookie: str) -> sa.Row | None:
    """The sitting a cookie belongs to, perhaps at an earlier ballot of the link; None for one that isn't ours."""
    nonce, _, _ = cookie.partition(".")
    if not is_same(cookie, cookie_of(at, nonce)):
        return None
    s = t.sitting.c
    is_meant = _is_from_before(at, int(nonce)) if _OLD_COOKIE.fullmatch(nonce) else s.nonce == nonce
    return conn.execute(sa.select(t.sitting).where(is_meant)).one_or_none()


def _is_from_before(at: At, sitting_id: int) -> sa.ColumnElement[bool]:
    """Whether a row of `sitting` is meant by a cookie of an older Runoff, so that an update throws nobody out.

    Rows had no nonce then. SQLite gives ids out again: a row that has got another nonce than `with_nonce` gives isn't
    meant, nor one that came into another project of the workspace as a copy.
    """
    s = t.sitting.c
    same_row = sa.and_(s.id == sitting_id, s.nonce.is_(None), s.voting_id.in_(pages_of(at)))
    return sa.or_(s.nonce == _nonce_for_old(at, sitting_id), same_row)


def _nonce_for_old(at: At, sitting_id: int) -> str:
    return at.sign("nonce", sitting_id)[:NONCE]


def with_nonce(conn: sa.Connection, at: At, sitting: sa.Row) -> sa.Row:
    """A session with its nonce; one from before, or of an imported project, gets it now.

    An old cookie leads to this nonce, whether the answer that brings the new cookie arrives or not.
    """
    if sitting.nonce is not None:
        return sitting
    s = t.sitting.c
    conn.execute(sa.update(t.sitting).where(s.id == sitting.id).values(nonce=_nonce_for_old(at, sitting.id)))
    return conn.execute(sa.select(t.sitting).where(s.id == sitting.id)).one()
