"""Where sessions of the voting page began: a salted hash of the sender's network, kept while its ballot is open.

It tells the owner which voters came from one address, and nobody which address that was once the ballot is closed.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

import sqlalchemy as sa

from .. import schema as t


def new_salt() -> str:
    """A random salt for the addresses of one voting page."""
    return secrets.token_hex(32)


def salt_or_new() -> sa.ColumnElement[str]:
    """The salt of a page that is opened again; a new one where it has none: of a reopened ballot, a copy, or older."""
    return sa.func.coalesce(t.voting.c.address_salt, new_salt())


def hashed(salt: str | None, sender: str) -> str | None:
    """What is kept of a sender's network; None where the page keeps none, or the sender isn't known.

    >>> hashed("00", "192.0.2.7") == hashed("00", "192.0.2.7") != hashed("01", "192.0.2.7"), hashed(None, "192.0.2.7")
    (True, None)
    """
    if not salt or not sender:
        return None
    return hmac.new(bytes.fromhex(salt), sender.encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:32]


def forget_addresses(conn: sa.Connection, ballot_id: int) -> None:
    """Forget where the voters of a ballot or round that closes began, and the salt: no address can be tried on it."""
    here = sa.select(t.voting.c.id).where(t.voting.c.ballot_id == ballot_id)
    s = t.sitting.c
    conn.execute(sa.update(t.sitting).where(s.voting_id.in_(here), s.address.is_not(None)).values(address=None))
    conn.execute(sa.update(t.voting).where(t.voting.c.ballot_id == ballot_id).values(address_salt=None))
