"""All that the server of the voting page may do with a workspace: look, begin, vote, undo, finish.

It opens the workspace, keeps it in order, and uses nothing else of the library.

A voter is known by a signed cookie that belongs to one session. Every vote is in the store, on the disk, before a view
says so. What a stranger sends never names a row: a code, a cookie and a place in the voter's own task is all there is.
It is looked at before a step takes its turn among the writers, and again then.

Tasks are shown, and forms read, by the templates of all platforms.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from ..base.templating import environment
from ..errors import BusyError, InputError, RunoffError
from ..i18n import Language, language, preferred, translatable
from ..questions import RoundSettings, round_kind, round_kinds
from ..questions.base import UNKNOWN
from ..questions.comparison_page import FIELDS, NOTIONS, Wording, fill, packaged, paragraphs_of, template
from ..questions.comparison_page import asset as template_asset
from ..questions.task_page import PageSettings, columns_of, settings_of_page, single_question
from ..questions.voting_settings import ADDRESS_KEPT, TRAITS
from ..store import Store, open_store
from ..store import schema as t
from ..store.dialects import VOTERS_DATABASE, is_postgresql, name_of
from ..store.engine import now
from ..store.voting.answers import IncompleteError, record, set_aside, stands, stop, take_back_last
from ..store.voting.housekeeping import do_housekeeping as _do_housekeeping
from ..store.voting.housekeeping import release_due
from ..store.voting.leases import CHANGE_SESSION, lease_task
from ..store.voting.owner_commands import hashed
from ..store.voting.visits import (  # fmt: skip
    LinkTarget,
    Visitor,
    WrongCodeWordError,
    asks_name,
    asks_word,
    begin_session,
    carried_over,
    check_word,
    is_shut_out,
    known_session,
    link_at,
    may_come,
    note_traits,
    read_session,
    refuse_in_closing_pause,
    session_of,
    who_begins,
    who_of,
)
from ..store.voting.voter_views import TaskPlace, VoterView, make_view, next_view, show
from .process import PORT, announce, beat, leave

__all__ = [
    "ADDRESS_KEPT",
    "BusyError",
    "ForgedFormError",
    "IncompleteError",
    "InputError",
    "Language",
    "NOT_SAVED",
    "PORT",
    "TaskPlace",
    "RunoffError",
    "Store",
    "TRAITS",
    "VoterView",
    "Visitor",
    "WrongCodeWordError",
    "announce",
    "answer_of",
    "asset",
    "beat",
    "begin",
    "check_newcomer",
    "check_step",
    "environment",
    "example_done",
    "explained",
    "finish",
    "glance",
    "kept_in",
    "language",
    "leave",
    "look",
    "more",
    "n_lines",
    "open_voters_store",
    "preferred",
    "shorten",
    "task_html",
    "do_housekeeping",
    "tidy",
    "together",
    "translatable",
    "undo",
    "vote",
    "who_of",
]


LARGE_JOURNAL = 4_000_000  # bytes; a thousand pages, after which SQLite by itself would begin to copy
SHORT_WAIT_MS = 100  # for looks that still read in the journal; the next time will do


def open_voters_store() -> Store:
    """The workspace, for a server whose votes must not wait.

    On PostgreSQL it comes by a role that may do no more than `postgresql.role_sql` says, where
    `RUNOFF_VOTING_DATABASE_URL` is set. SQLite copies its journal into the database every thousand
    pages, in whoever commits then, and all others wait for it; here `tidy` does that beside the votes.
    """
    if os.environ.get(VOTERS_DATABASE):
        from ..store.postgresql import open_by_role

        return open_by_role()
    store = open_store()
    if not is_postgresql(store.engine):
        store.engine.dispose()
        sa.event.listen(store.engine, "connect", lambda dbapi, _: dbapi.execute("PRAGMA wal_autocheckpoint=0"))
    return store


def n_lines(store: Store) -> int:
    """How many writers may be at work at once: on PostgreSQL those of different links, on SQLite one."""
    return 16 if is_postgresql(store.engine) else 1


def do_housekeeping(store: Store, given_up: set[int]) -> list[str]:
    """What the page does by itself (`housekeeping.do_housekeeping`); by the voters' role only leases whose time is over
    go back.

    `python -m core housekeeping` does the rest then, with the owner's role.
    """
    if os.environ.get(VOTERS_DATABASE):
        release_due(store)
        return []
    return _do_housekeeping(store, given_up)


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


_template = lru_cache(maxsize=100)(template)  # one page for all the votes of a ballot


def task_html(view: VoterView, texts: Mapping[str, str]) -> str:
    """The one question of the page, by the template of all platforms, with its texts filled in and escaped."""
    if view.round is not None:
        settings = _page_settings(view.round, view.notion)
        return fill(single_question(settings), {name: texts.get(name, "") for name in columns_of(settings, 1)})
    wording = view.wording or {}
    page = _template(
        n_comparisons=1,
        notion=view.notion,
        ties_allowed=view.settings.ties_allowed,
        wording=Wording(wording.get("question") or "", wording.get("instructions") or "", language=view.language.code),
        target="page",
    )
    return fill(page, {name: texts.get(name, "") for name in FIELDS})


def explained(view: VoterView) -> tuple[str, list[str]]:
    """The question and the paragraphs of the instructions, as plain texts."""
    if view.round is not None:
        settings = _page_settings(view.round, view.notion)
        return settings.asked, settings.paragraphs
    asked, standard = map(view.language.text, NOTIONS[view.notion])
    wording = view.wording or {}
    return wording.get("question") or asked, paragraphs_of(wording.get("instructions") or standard)


def _page_settings(found: RoundSettings, notion: str) -> PageSettings:
    """A round's settings as its page takes them; one question stands alone there, so nothing is sorted first."""
    stored = found.stored() | {"notion": notion, "sort_first": False, "gold": []}
    return settings_of_page(round_kind(found.scheme), stored)


def answer_of(fields: Mapping[str, str]) -> str:
    """The answer that a form's fields hold, as its kind of question writes it, "" where nothing is filled in.

    >>> answer_of({"best_1": "3", "worst_1": "1"}), answer_of({"unknown_1": "1", "order_1": "2 1"}), answer_of({})
    ('best=3;worst=1', 'unknown', '')
    """
    if fields.get("unknown_1", "").strip():
        return UNKNOWN
    written = (
        kind.written(*(fields.get(f"{name}_1", "").strip() for name in kind.fields)) for kind in round_kinds().values()
    )
    return next(filter(None, written), "")


def asset(name: str) -> str | None:
    """A file of the page: its style, or the script of a kind of question; None for any other name."""
    if name in ("template.css", "template.js"):
        return template_asset(name)
    if name == "scheme.css":
        return packaged("scheme.css")
    found = round_kinds().get(name.removesuffix(".js"))
    return found.script() if found is not None and name.endswith(".js") else None


class ForgedFormError(RunoffError):
    """A form without the token of the page that it must come from."""


WAIT_SECONDS = 3.0  # for the turn of a writer; whoever doesn't get it is told, and asks again


_shared: ContextVar[sa.Connection | None] = ContextVar("shared", default=None)  # of the steps that are done together


@contextmanager
def _writing(store: Store, code: str) -> Iterator[sa.Connection]:
    if (shared := _shared.get()) is not None:
        yield shared
        return
    link = t.voting_link.c
    of = sa.select(link.project_id).where(link.code == code).scalar_subquery()
    with store.write(of, wait=WAIT_SECONDS) as conn:
        yield conn


def together(store: Store, code: str, steps: Sequence[Callable[[], Any]]) -> list[Any]:
    """Do steps that write at one link in one transaction, so that they wait for the disk once.

    Returns what each gives, once all of it is on the disk, or its error. Where a step fails, nothing of them was done,
    and each is done by itself.
    """
    if len(steps) == 1:
        return [_outcome(steps[0])]
    try:
        with _writing(store, code) as conn:
            token = _shared.set(conn)
            try:
                found = [step() for step in steps]
            finally:
                _shared.reset(token)
        return found
    except BusyError as error:
        return [error] * len(steps)
    except Exception:  # noqa: BLE001  (of which step it is, each tells by itself)
        return [_outcome(step) for step in steps]


def _outcome(step: Callable[[], Any]) -> Any:
    try:
        return step()
    except Exception as error:  # noqa: BLE001  (raised where the step is waited for)
        return error


def look(store: Store, code: str, cookie: str = "", visit: str = "", who: Visitor | None = None) -> VoterView:
    """What somebody sees who comes to a link. `visit` is a random value of the browser's, for those without a cookie.

    Somebody who comes from a platform, or by a personal link, and was here before finds everything as it was left.
    """
    view = glance(store, code, cookie, visit, who)
    if view is not None:
        return view
    with _writing(store, code) as conn:
        found = _comer(conn, code, cookie, visit, who or Visitor())  # anew: the row's id may be another's by now
        return found if isinstance(found, VoterView) else next_view(conn, found[0], carried_over(conn, *found))


def glance(store: Store, code: str, cookie: str = "", visit: str = "", who: Visitor | None = None) -> VoterView | None:
    """What `look` shows, which waits for no writer; None for a voter who must be given something first."""
    with store.read() as conn:
        found = _comer(conn, code, cookie, visit, who or Visitor())
        if isinstance(found, VoterView):
            return found
        at, session = found
        return show(conn, at, session, writes=False) if session.voting_id == at.page.voting_id else None


def _comer(
    conn: sa.Connection, code: str, cookie: str, visit: str, who: Visitor
) -> VoterView | tuple[LinkTarget, sa.Row]:
    """Where somebody comes to and his or her session, perhaps of an earlier ballot; the view for all without one."""
    at = link_at(conn, code)
    if at is None:
        return VoterView("nothing")
    if at.state != "open":
        return make_view(at, at.state, visit)
    if who.preview:
        return make_view(at, "preview", visit)
    session = session_of(conn, at, cookie) if cookie else None
    session = known_session(conn, at, code, who, session)
    if session is None and not may_come(at, who):
        return make_view(at, "uninvited", visit)
    if session is None:
        return make_view(at, "entry", visit, asks_name=asks_name(at, who), asks_word=asks_word(at, who))
    return at, session


# What is done. A form is checked by reading before it waits for a writer's turn, and again when it has it.


def check_step(store: Store, code: str, cookie: str, form: str) -> None:
    """Raise `InputError` for a link or cookie that leads nowhere, `ForgedFormError` for a form of another page."""
    with store.read() as conn:
        _voter_at(conn, code, cookie, form)


def check_newcomer(store: Store, code: str, visit: str, form: str) -> bool:
    """Whether a link leads somewhere. Raises `ForgedFormError` for a form that isn't of its first page in this
    browser."""
    with store.read() as conn:
        return _newcomer_at(conn, code, visit, form) is not None


def _voter_at(conn: sa.Connection, code: str, cookie: str, form: str) -> tuple[LinkTarget, sa.Row]:
    """Where a step happens, and whose it is.

    Raises `InputError` for a link or cookie that leads nowhere, `ForgedFormError` for a form that isn't of this voter's
    page, such as that of an earlier ballot.
    """
    at = link_at(conn, code)
    session = session_of(conn, at, cookie) if at is not None else None
    if at is None or session is None:
        raise InputError(translatable("This page is not known. Open the link that you were given once more."))
    if not at.is_form(form, cookie):
        raise ForgedFormError(
            translatable("This answer came from a page that isn't valid any more. Open your link once more.")
        )
    return at, session


@contextmanager
def _act(store: Store, code: str, cookie: str, form: str) -> Iterator[tuple[sa.Connection, LinkTarget, sa.Row | None]]:
    """A step of a voter: the transaction, where it happens, and the session; None where voting is not open.

    Raises what `check_step` does, and `BusyError` where the step can't be done now and may be asked again: all of what
    follows does.
    """
    with _writing(store, code) as conn:
        at, session = _voter_at(conn, code, cookie, form)
        refuse_in_closing_pause(at)
        is_here = at.state == "open" and session.voting_id == at.page.voting_id
        yield conn, at, session if is_here else None


def _newcomer_at(conn: sa.Connection, code: str, visit: str, form: str) -> LinkTarget | None:
    """Where somebody begins; None for a link that leads nowhere. Raises `ForgedFormError` for a form of another
    page."""
    at = link_at(conn, code)
    if at is not None and not (visit and at.is_form(form, visit)):
        raise ForgedFormError(translatable("This page isn't valid any more. Open your link once more."))
    return at


def begin(
    store: Store,
    code: str,
    visit: str,
    form: str,
    who: Visitor,
    *,
    name: str = "",
    traits: Mapping[str, str] | None = None,
    word: str = "",
    cookie: str = "",
    sender: str = "",
) -> VoterView:
    """Somebody agreed to take part, from the network `sender`, in a browser that may bring a `cookie`.

    Raises `InputError` for no name, `WrongCodeWordError` where the page asks for another code word, `ForgedFormError`
    for a form. A typed name is no proof of who it is, so it leads to nobody's votes (`who_begins`). What comes twice
    from one browser is one voter. Who was stopped stays so under another name.
    """
    with _writing(store, code) as conn:
        at = _newcomer_at(conn, code, visit, form)
        if at is None:
            return VoterView("nothing")
        refuse_in_closing_pause(at)
        if at.state != "open":
            return make_view(at, at.state, visit)
        if not may_come(at, who):
            return make_view(at, "uninvited", visit)
        before = known_session(conn, at, code, who, session_of(conn, at, cookie) if cookie else None)
        if before is not None and (who.platform or who.token or is_shut_out(conn, at, before)):
            return next_view(conn, at, carried_over(conn, at, before))
        check_word(at, who, word)
        begins = who_begins(conn, at, code, who, name, visit)
        session, is_new = begin_session(conn, at, *begins, address=hashed(at.address_salt, sender))
        if is_new:
            note_traits(conn, at, traits or {})
        return next_view(conn, at, session)


def example_done(store: Store, code: str, cookie: str, form: str, number: int) -> VoterView:
    """The voter has worked through example `number` (from 0); one that is done already changes nothing."""
    with _act(store, code, cookie, form) as (conn, at, session):
        if session is None:
            return make_view(at, at.state, cookie)
        if number == session.n_examples < len(at.examples):
            conn.execute(CHANGE_SESSION, {"of": session.id, "n_examples": session.n_examples + 1, "seen_at": now()})
        return next_view(conn, at, read_session(conn, session.id) or session)


_COUNT_TASKS = CHANGE_SESSION.values(n_done=t.sitting.c.n_tasks - sa.bindparam("open"))
NOT_SAVED = translatable("Your last answer wasn’t saved.")
_SAID = {
    "saved": translatable("Saved."),
    "stored": translatable("Saved."),
    "known": translatable("That one was answered already; your first answer stands. Undo takes it back."),
    "late": translatable("The time for that one was over, and somebody else has it now. Here is another one."),
    "undone": translatable("Your last answer is taken back."),
    "again": translatable("Your last answer is taken back."),
    "passed": "",
    "nothing done": translatable("There is no answer that can be taken back."),
}


def vote(
    store: Store, code: str, cookie: str, form: str, *, task: int, n: int, choice: str, seconds: float | None = None
) -> VoterView:
    """Record an answer (see `answers.record`); the view that follows is shown once the answer is on the disk.

    Where it can't be recorded any more, what is said in the view is `NOT_SAVED`; nothing, where it is stored since it
    was first sent.
    """
    with _act(store, code, cookie, form) as (conn, at, session):
        if session is None or session.state != "voting":
            sent = session or session_of(conn, at, cookie)
            is_stored = sent is not None and stands(conn, at.page, sent.id, task, n, choice)
            said = "" if is_stored else NOT_SAVED
            return make_view(at, at.state, cookie, said=said) if session is None else next_view(conn, at, session, said)
        said = record(conn, at.page, session, task, n, choice, seconds)
        session = read_session(conn, session.id) or session
        settings = at.page.settings
        if said == "saved" and session.gold_wrong > settings.gold_allowed and session.counts:
            if settings.gold_action == "stop":
                stop(conn, session.id, "stopped")
            elif settings.gold_action == "set aside":
                set_aside(conn, at.page, session.id)
            session = read_session(conn, session.id) or session
        view = next_view(conn, at, session, _SAID[said])
        if view.kind == "between":
            conn.execute(_COUNT_TASKS, {"of": session.id, "open": 0})
        return view


def undo(store: Store, code: str, cookie: str, form: str, *, task: int, n: int) -> VoterView:
    """Take the answer at a place back, if it is the voter's last in the task, so that it is asked again."""
    with _act(store, code, cookie, form) as (conn, at, session):
        if session is None or session.state != "voting":
            return make_view(at, at.state, cookie) if session is None else next_view(conn, at, session)
        said = take_back_last(conn, at.page, session, task, n)
        if said == "undone":
            conn.execute(_COUNT_TASKS, {"of": session.id, "open": 1})
        return next_view(conn, at, read_session(conn, session.id) or session, _SAID[said])


def more(store: Store, code: str, cookie: str, form: str) -> VoterView:
    """Another task, once the last one is done and as long as the voter may have one."""
    with _act(store, code, cookie, form) as (conn, at, session):
        if session is None or session.state != "voting":
            return make_view(at, at.state, cookie) if session is None else next_view(conn, at, session)
        view = next_view(conn, at, session)
        if view.kind != "between" or not view.may_more:
            return view
        lease_task(conn, at.page, session)
        return next_view(conn, at, read_session(conn, session.id) or session)


def finish(store: Store, code: str, cookie: str, form: str) -> VoterView:
    """The end: thanks and the completion code, for somebody who has finished a task. Else all stays as it is."""
    with _act(store, code, cookie, form) as (conn, at, session):
        if session is None:
            return make_view(at, at.state, cookie)
        view = next_view(conn, at, session)
        if view.kind != "between":
            return view
        settings = at.page.settings
        own = secrets.token_hex(4).upper()
        code_shown = {"none": "", "shared": settings.code, "own": own}[settings.completion]
        stop(conn, session.id, "finished", code_shown or None)
        return next_view(conn, at, read_session(conn, session.id) or session)
