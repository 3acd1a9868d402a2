"""The workspace as the voters' server opens it and keeps it in order; `core.voting.api` gives all of this on."""

from __future__ import annotations

import os

import sqlalchemy as sa

from ..store import Store, open_store
from ..store.dialects import VOTERS_DATABASE, is_postgresql, name_of
from ..store.voters_role import open_by_role
from ..store.voting.tending import release_due
from ..store.voting.tending import tend as _tend

LARGE_JOURNAL = 4_000_000  # bytes; a thousand pages, after which SQLite by itself would begin to copy
SHORT_WAIT_MS = 100  # for looks that still read in the journal; the next time will do


def open_voters_store() -> Store:
    """The workspace, for a server whose votes must not wait.

    On PostgreSQL it comes by a role that may do no more than `voters_role` says, where `RUNOFF_VOTING_DATABASE_URL` is
    set. SQLite copies its journal into the database every thousand pages, in whoever commits then, and all others wait
    for it; here `tidy` does that beside the votes.
    """
    if os.environ.get(VOTERS_DATABASE):
        return open_by_role()
    store = open_store()
    if not is_postgresql(store.engine):
        store.engine.dispose()
        sa.event.listen(store.engine, "connect", lambda dbapi, _: dbapi.execute("PRAGMA wal_autocheckpoint=0"))
    return store


def n_lines(store: Store) -> int:
    """How many writers may be at work at once: on PostgreSQL those of different links, on SQLite one."""
    return 16 if is_postgresql(store.engine) else 1


def tend(store: Store, given_up: set[int]) -> list[str]:
    """What the page does by itself (`tending.tend`); by the voters' role only leases whose time is over go back.

    `python -m core tend` does the rest then, with the owner's role.
    """
    if os.environ.get(VOTERS_DATABASE):
        release_due(store)
        return []
    return _tend(store, given_up)


def kept_in(store: Store) -> str:
    """Where votes go, as it may be shown: no password."""
    return name_of(store.engine)


def tidy(store: Store) -> None:
    """Copy SQLite's journal, once it is large, into the database as far as that goes without making anybody wait."""
    _checkpoint(store, "PASSIVE")


def shorten(store: Store) -> None:
    """Begin SQLite's journal anew, once it is large: in a writer's turn, and right after `tidy`, so that it is quick.

    As long as somebody writes, `tidy` never comes to the journal's end, and it only grows.
    """
    _checkpoint(store, "TRUNCATE")


def _checkpoint(store: Store, mode: str) -> None:
    journal = store.folder / "runoff.sqlite-wal"
    if is_postgresql(store.engine) or not journal.exists() or journal.stat().st_size <= LARGE_JOURNAL:
        return
    connection = store.engine.raw_connection()
    try:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout={SHORT_WAIT_MS}").fetchall()
        cursor.execute(f"PRAGMA wal_checkpoint({mode})").fetchall()
    finally:
        connection.close()
