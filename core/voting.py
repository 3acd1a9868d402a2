"""All that the server of the voting page may do, and nothing else of the library: look, begin, vote, undo, finish.

A voter is known by a signed cookie that belongs to one sitting. Every vote is in the store, on the disk, before a view
says so. What a stranger sends never names a row: a code, a cookie and a place in the voter's own task is all there is.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock

import sqlalchemy as sa

from .errors import InputError, RunoffError
from .language import Language, language, preferred, translatable
from .store import Store, open_store
from .store import schema as t
from .store.dialects import VOTERS_DATABASE, is_postgresql, name_of
from .store.engine import now
from .store.page_addresses import hashed
from .store.page_dealing import deal_task
from .store.page_views import Place, View, make_view, show, shown
from .store.page_visits import (
    At,
    Who,
    asks_name,
    carried_over,
    is_shut_out,
    known_sitting,
    link_at,
    may_come,
    note_traits,
    person,
    read_sitting,
    sit_down,
    sitting_of,
    voter_id,
    who_of,
)  # fmt: skip
from .store.page_votes import IncompleteError, record, set_aside, stop, take_back_last
from .store.page_words import WrongWord, asks_word, check_word
from .store.voters_role import open_by_role
from .store.voting_rounds import release_due
from .store.voting_rounds import tend as _tend
from .voting_process import PORT, announce, beat, leave
from .voting_questions import answer_of, asset
from .voting_settings import ADDRESS_KEPT, TRAITS
from .voting_texts import explained, task_html


class Forged(RunoffError):
    """A form without the token of the page that it must come from."""


# Writers wait for each other inside this process already: quicker than SQLite's polling, and on PostgreSQL nobody
# who waits holds a connection. There the links have lines of their own, a few of them, as anybody can make up a link.
_TURNS = [Lock() for _ in range(16)]


@contextmanager
def _writing(store: Store, code: str) -> Iterator[sa.Connection]:
    place = hash(code) % len(_TURNS) if is_postgresql(store.engine) else 0
    link = t.voting_link.c
    with _TURNS[place], store.write(sa.select(link.project_id).where(link.code == code).scalar_subquery()) as conn:
        yield conn


def look(store: Store, code: str, cookie: str = "", visit: str = "", who: Who | None = None) -> View:
    """What somebody sees who comes to a link. `visit` is a random value of the browser's, for those without a cookie.

    Somebody who comes from a platform, or by a personal link, and was here before finds everything as it was left.
    """
    who = who or Who()
    with store.read() as conn:
        at = link_at(conn, code)
        if at is None:
            return View("nothing")
        if at.state != "open":
            return make_view(at, at.state, visit)
        if who.preview:
            return make_view(at, "preview", visit)
        sitting = sitting_of(conn, at, cookie) if cookie else None
        sitting = known_sitting(conn, at, code, who, sitting)
        if sitting is None and not may_come(at, who):
            return make_view(at, "uninvited", visit)
        if sitting is None:
            return make_view(at, "entry", visit, asks_name=asks_name(at, who), asks_word=asks_word(at, who))
        if sitting.voting_id == at.table.voting_id:
            view = show(conn, at, sitting, writes=False)
            if view is not None:
                return view
    with _writing(store, code) as conn:
        at = link_at(conn, code)
        if at is None or at.state != "open":
            return View("nothing") if at is None else make_view(at, at.state, visit)
        return shown(conn, at, carried_over(conn, at, sitting))


# What is done


@contextmanager
def _act(store: Store, code: str, cookie: str, form: str) -> Iterator[tuple[sa.Connection, At, sa.Row | None]]:
    """A step of a voter: the transaction, where it happens, and the sitting; None where voting is not open.

    Raises `InputError` for a link or cookie that leads nowhere, `Forged` for a form that isn't of this voter's page.
    """
    with _writing(store, code) as conn:
        at = link_at(conn, code)
        sitting = sitting_of(conn, at, cookie) if at is not None else None
        if at is None or sitting is None:
            raise InputError(translatable("This page is not known. Open the link that you were given once more."))
        if not hmac.compare_digest(form.encode("utf-8", "replace"), at.sign("form", cookie).encode()):
            raise Forged(
                translatable("This answer came from a page that isn't valid any more. Open your link once more.")
            )
        is_here = at.state == "open" and sitting.voting_id == at.table.voting_id
        yield conn, at, sitting if is_here else None


def begin(
    store: Store,
    code: str,
    visit: str,
    form: str,
    who: Who,
    *,
    name: str = "",
    traits: Mapping[str, str] | None = None,
    word: str = "",
    cookie: str = "",
    sender: str = "",
) -> View:
    """Somebody agreed to take part, from the network `sender`, in a browser that may bring a `cookie`.

    Raises `InputError` for a name that is taken or no name, `WrongWord` where the page asks for another code word,
    `Forged` for a form. A name that somebody types is no proof of who it is, so a name under which there are votes
    already is refused. Who was stopped stays so under another name.
    """
    with _writing(store, code) as conn:
        at = link_at(conn, code)
        if at is None:
            return View("nothing")
        if not hmac.compare_digest(form.encode("utf-8", "replace"), at.sign("form", visit).encode()):
            raise Forged(translatable("This page isn't valid any more. Open your link once more."))
        if at.state != "open":
            return make_view(at, at.state, visit)
        if not may_come(at, who):
            return make_view(at, "uninvited", visit)
        before = known_sitting(conn, at, code, who, sitting_of(conn, at, cookie) if cookie else None)
        if before is not None and (who.platform or who.token or is_shut_out(conn, at, before)):
            return shown(conn, at, carried_over(conn, at, before))
        check_word(at, who, word)
        platform, external_id = person(conn, at, code, who, name)
        voter = voter_id(conn, at.project_id, platform, external_id)
        sitting, is_new = sit_down(conn, at, voter, address=hashed(at.address_salt, sender))
        if not is_new and platform == "runoff":
            raise InputError(translatable(
                "Somebody votes under this name already. If that is you, open the link in the browser that you began "
                "with; else type another name."
            ))  # fmt: skip
        if is_new:
            note_traits(conn, at, traits or {})
        return shown(conn, at, sitting)


def example_done(store: Store, code: str, cookie: str, form: str, number: int) -> View:
    """The voter has worked through example `number` (from 0); one that is done already changes nothing."""
    with _act(store, code, cookie, form) as (conn, at, sitting):
        if sitting is None:
            return make_view(at, at.state, cookie)
        if number == sitting.n_examples < len(at.examples):
            row = sa.update(t.sitting).where(t.sitting.c.id == sitting.id)
            conn.execute(row.values(n_examples=sitting.n_examples + 1, seen_at=now()))
        return shown(conn, at, read_sitting(conn, sitting.id) or sitting)


_SAID = {
    "saved": translatable("Saved."),
    "known": translatable("That one was answered already; your first answer stands. Undo takes it back."),
    "late": translatable("The time for that one was over, and somebody else has it now. Here is another one."),
    "undone": translatable("Your last answer is taken back."),
    "nothing done": translatable("There is no answer that can be taken back."),
}


def vote(
    store: Store, code: str, cookie: str, form: str, *, task: int, n: int, choice: str, seconds: float | None = None
) -> View:
    """Record an answer (see `page_votes.record`); the view that follows is shown once the answer is on the disk."""
    with _act(store, code, cookie, form) as (conn, at, sitting):
        if sitting is None or sitting.state != "voting":
            return make_view(at, at.state, cookie) if sitting is None else shown(conn, at, sitting)
        said = record(conn, at.table, sitting, task, n, choice, seconds)
        sitting = read_sitting(conn, sitting.id) or sitting
        settings = at.table.settings
        if said == "saved" and sitting.gold_wrong > settings.gold_allowed and sitting.counts:
            if settings.gold_action == "stop":
                stop(conn, sitting.id, "stopped")
            elif settings.gold_action == "set aside":
                set_aside(conn, at.table, sitting.id)
            sitting = read_sitting(conn, sitting.id) or sitting
        view = shown(conn, at, sitting, _SAID[said])
        if view.kind == "between":
            row = sa.update(t.sitting).where(t.sitting.c.id == sitting.id)
            conn.execute(row.values(n_done=t.sitting.c.n_tasks))
        return view


def undo(store: Store, code: str, cookie: str, form: str) -> View:
    """Take the voter's last answer in the task back, so that it is asked again."""
    with _act(store, code, cookie, form) as (conn, at, sitting):
        if sitting is None or sitting.state != "voting":
            return make_view(at, at.state, cookie) if sitting is None else shown(conn, at, sitting)
        done = take_back_last(conn, at.table, sitting)
        if done:
            row = sa.update(t.sitting).where(t.sitting.c.id == sitting.id)
            conn.execute(row.values(n_done=t.sitting.c.n_tasks - 1))
        return shown(conn, at, read_sitting(conn, sitting.id) or sitting, _SAID["undone" if done else "nothing done"])


def more(store: Store, code: str, cookie: str, form: str) -> View:
    """Another task, once the last one is done and as long as the voter may have one."""
    with _act(store, code, cookie, form) as (conn, at, sitting):
        if sitting is None or sitting.state != "voting":
            return make_view(at, at.state, cookie) if sitting is None else shown(conn, at, sitting)
        view = shown(conn, at, sitting)
        if view.kind != "between" or not view.may_more:
            return view
        deal_task(conn, at.table, sitting)
        return shown(conn, at, read_sitting(conn, sitting.id) or sitting)


def finish(store: Store, code: str, cookie: str, form: str) -> View:
    """The end: thanks and the completion code, for somebody who has finished a task. Else all stays as it is."""
    with _act(store, code, cookie, form) as (conn, at, sitting):
        if sitting is None:
            return make_view(at, at.state, cookie)
        view = shown(conn, at, sitting)
        if view.kind != "between":
            return view
        settings = at.table.settings
        own = secrets.token_hex(4).upper()
        code_shown = {"none": "", "shared": settings.code, "own": own}[settings.completion]
        stop(conn, sitting.id, "finished", code_shown or None)
        return shown(conn, at, read_sitting(conn, sitting.id) or sitting)


# The server's store


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


def tend(store: Store, given_up: set[int]) -> list[str]:
    """What the page does by itself (`voting_rounds.tend`); by the voters' role only leases whose time is over go back.

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
    """Copy SQLite's journal into the database as far as that goes without making anybody wait."""
    if not is_postgresql(store.engine):
        connection = store.engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        finally:
            connection.close()


__all__ = [
    "ADDRESS_KEPT", "PORT", "TRAITS", "Forged", "IncompleteError", "InputError", "Language", "Place", "RunoffError",
    "Store", "View", "Who", "WrongWord", "announce", "answer_of", "asset", "beat", "begin", "example_done",
    "explained", "finish", "kept_in", "language", "leave", "look", "more", "open_voters_store", "preferred",
    "task_html", "tend", "tidy", "translatable", "undo", "vote", "who_of",
]  # fmt: skip
