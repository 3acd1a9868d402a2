"""All that the server of the voting page may do, and nothing else of the library: look, begin, vote, undo, finish.

A voter is known by a signed cookie that belongs to one sitting. Every vote is in the store, on the disk, before a view
says so. What a stranger sends never names a row: a code, a cookie and a place in the voter's own task is all there is.
It is looked at before a step takes its turn among the writers, and again then.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import sqlalchemy as sa

from ..base.templating import environment
from ..errors import BusyError, InputError, RunoffError
from ..i18n import Language, language, preferred, translatable
from ..questions.voting_settings import ADDRESS_KEPT, TRAITS
from ..store import Store
from ..store import schema as t
from ..store.engine import now
from ..store.voting.dealing import deal_task
from ..store.voting.rest import refuse_while_resting
from ..store.voting.views import Place, View, make_view, show, shown
from ..store.voting.visits import (
    At,
    Who,
    WrongWord,
    asks_name,
    asks_word,
    carried_over,
    check_word,
    is_shut_out,
    known_sitting,
    link_at,
    may_come,
    note_traits,
    read_sitting,
    sit_down,
    sitting_of,
    who_begins,
    who_of,
)  # fmt: skip
from ..store.voting.votes import IncompleteError, record, set_aside, stop, take_back_last
from ..store.voting.voting import hashed
from .process import PORT, announce, beat, leave
from .store import kept_in, n_lines, open_voters_store, shorten, tend, tidy
from .texts import answer_of, asset, explained, task_html


class Forged(RunoffError):
    """A form without the token of the page that it must come from."""


WAIT_SECONDS = 3.0  # for the turn of a writer; whoever doesn't get it is told, and asks again


@contextmanager
def _writing(store: Store, code: str) -> Iterator[sa.Connection]:
    link = t.voting_link.c
    of = sa.select(link.project_id).where(link.code == code).scalar_subquery()
    with store.write(of, wait=WAIT_SECONDS) as conn:
        yield conn


def look(store: Store, code: str, cookie: str = "", visit: str = "", who: Who | None = None) -> View:
    """What somebody sees who comes to a link. `visit` is a random value of the browser's, for those without a cookie.

    Somebody who comes from a platform, or by a personal link, and was here before finds everything as it was left.
    """
    view = glance(store, code, cookie, visit, who)
    if view is not None:
        return view
    with _writing(store, code) as conn:
        found = _comer(conn, code, cookie, visit, who or Who())  # anew: the row's id may be another's by now
        return found if isinstance(found, View) else shown(conn, found[0], carried_over(conn, *found))


def glance(store: Store, code: str, cookie: str = "", visit: str = "", who: Who | None = None) -> View | None:
    """What `look` shows, which waits for no writer; None for a voter who must be given something first."""
    with store.read() as conn:
        found = _comer(conn, code, cookie, visit, who or Who())
        if isinstance(found, View):
            return found
        at, sitting = found
        return show(conn, at, sitting, writes=False) if sitting.voting_id == at.table.voting_id else None


def _comer(conn: sa.Connection, code: str, cookie: str, visit: str, who: Who) -> View | tuple[At, sa.Row]:
    """Where somebody comes to and his or her session, perhaps of an earlier ballot; the view for all without one."""
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
    return at, sitting


# What is done. A form is checked by reading before it waits for a writer's turn, and again when it has it.


def check_step(store: Store, code: str, cookie: str, form: str) -> None:
    """Raise `InputError` for a link or cookie that leads nowhere, `Forged` for a form of another page."""
    with store.read() as conn:
        _voter_at(conn, code, cookie, form)


def check_newcomer(store: Store, code: str, visit: str, form: str) -> bool:
    """Whether a link leads somewhere. Raises `Forged` for a form that isn't of its first page in this browser."""
    with store.read() as conn:
        return _newcomer_at(conn, code, visit, form) is not None


def _voter_at(conn: sa.Connection, code: str, cookie: str, form: str) -> tuple[At, sa.Row]:
    """Where a step happens, and whose it is.

    Raises `InputError` for a link or cookie that leads nowhere, `Forged` for a form that isn't of this voter's page,
    such as that of an earlier ballot.
    """
    at = link_at(conn, code)
    sitting = sitting_of(conn, at, cookie) if at is not None else None
    if at is None or sitting is None:
        raise InputError(translatable("This page is not known. Open the link that you were given once more."))
    if not at.is_form(form, cookie):
        raise Forged(translatable("This answer came from a page that isn't valid any more. Open your link once more."))
    return at, sitting


@contextmanager
def _act(store: Store, code: str, cookie: str, form: str) -> Iterator[tuple[sa.Connection, At, sa.Row | None]]:
    """A step of a voter: the transaction, where it happens, and the sitting; None where voting is not open.

    Raises what `check_step` does, and `BusyError` where the step can't be done now and may be asked again: all of what
    follows does.
    """
    with _writing(store, code) as conn:
        at, sitting = _voter_at(conn, code, cookie, form)
        refuse_while_resting(conn, at.table.voting_id)
        is_here = at.state == "open" and sitting.voting_id == at.table.voting_id
        yield conn, at, sitting if is_here else None


def _newcomer_at(conn: sa.Connection, code: str, visit: str, form: str) -> At | None:
    """Where somebody begins; None for a link that leads nowhere. Raises `Forged` for a form of another page."""
    at = link_at(conn, code)
    if at is not None and not (visit and at.is_form(form, visit)):
        raise Forged(translatable("This page isn't valid any more. Open your link once more."))
    return at


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

    Raises `InputError` for no name, `WrongWord` where the page asks for another code word, `Forged` for a form. A typed
    name is no proof of who it is, so it leads to nobody's votes (`who_begins`). What comes twice from one browser is
    one voter. Who was stopped stays so under another name.
    """
    with _writing(store, code) as conn:
        at = _newcomer_at(conn, code, visit, form)
        if at is None:
            return View("nothing")
        refuse_while_resting(conn, at.table.voting_id)
        if at.state != "open":
            return make_view(at, at.state, visit)
        if not may_come(at, who):
            return make_view(at, "uninvited", visit)
        before = known_sitting(conn, at, code, who, sitting_of(conn, at, cookie) if cookie else None)
        if before is not None and (who.platform or who.token or is_shut_out(conn, at, before)):
            return shown(conn, at, carried_over(conn, at, before))
        check_word(at, who, word)
        begins = who_begins(conn, at, code, who, name, visit)
        sitting, is_new = sit_down(conn, at, *begins, address=hashed(at.address_salt, sender))
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


NOT_SAVED = translatable("Your last answer wasn’t saved.")
_SAID = {
    "saved": translatable("Saved."),
    "known": translatable("That one was answered already; your first answer stands. Undo takes it back."),
    "late": translatable("The time for that one was over, and somebody else has it now. Here is another one."),
    "undone": translatable("Your last answer is taken back."),
    "again": translatable("Your last answer is taken back."),
    "passed": "",
    "nothing done": translatable("There is no answer that can be taken back."),
}


def vote(
    store: Store, code: str, cookie: str, form: str, *, task: int, n: int, choice: str, seconds: float | None = None
) -> View:
    """Record an answer (see `page_votes.record`); the view that follows is shown once the answer is on the disk.

    Where it can't be recorded any more, what is said in the view is `NOT_SAVED`.
    """
    with _act(store, code, cookie, form) as (conn, at, sitting):
        if sitting is None:
            return make_view(at, at.state, cookie, said=NOT_SAVED)
        if sitting.state != "voting":
            return shown(conn, at, sitting, NOT_SAVED)
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


def undo(store: Store, code: str, cookie: str, form: str, *, task: int, n: int) -> View:
    """Take the answer at a place back, if it is the voter's last in the task, so that it is asked again."""
    with _act(store, code, cookie, form) as (conn, at, sitting):
        if sitting is None or sitting.state != "voting":
            return make_view(at, at.state, cookie) if sitting is None else shown(conn, at, sitting)
        said = take_back_last(conn, at.table, sitting, task, n)
        if said == "undone":
            row = sa.update(t.sitting).where(t.sitting.c.id == sitting.id)
            conn.execute(row.values(n_done=t.sitting.c.n_tasks - 1))
        return shown(conn, at, read_sitting(conn, sitting.id) or sitting, _SAID[said])


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


__all__ = [
    "ADDRESS_KEPT", "NOT_SAVED", "PORT", "TRAITS", "BusyError", "Forged", "IncompleteError", "InputError", "Language",
    "Place", "RunoffError", "Store", "View", "Who", "WrongWord", "announce", "answer_of", "asset", "beat", "begin",
    "check_newcomer", "check_step", "environment", "example_done", "explained", "finish", "glance", "kept_in",
    "language", "leave", "look", "more", "n_lines", "open_voters_store", "preferred", "shorten", "task_html", "tend",
    "tidy", "translatable", "undo", "vote", "who_of",
]  # fmt: skip
