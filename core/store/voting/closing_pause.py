"""The pause of a voting page while its ballot is closed: no vote may come between reading the votes and the scores.

The page is paused with a note in its settings (`CLOSING`) of the process that closes the ballot. So a pause of
the owner's stays one, and where the process ends without a word, voting goes on by `resume_voting`.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import sqlalchemy as sa

from ...base.processes import is_alive
from ...errors import RunoffError
from .. import schema as t
from ..engine import Store, now
from ..projects.plans import belongs, is_comparison
from .leases import write_lease_counts

P = ParamSpec("P")
R = TypeVar("R")

CLOSING = "rests"  # in the settings of a page in its closing pause: who closes its ballot, and the last sign of life
BEAT_SECONDS = 20.0
SILENT_SECONDS = 120.0  # after which a process of another machine is taken for dead
_THIS_PROCESS = secrets.token_hex(8)  # tells a process from an earlier one of the same id


def with_closing_pause(close: Callable[P, R]) -> Callable[P, R]:
    """Around a command that closes a ballot; it takes the store, the project's id, `area_id` and the ballot's `code`.

    Voting is paused for it, closed once it is through, and as it was where it fails. What is kept for voters goes back.
    """

    @wraps(close)
    def closes(*args: P.args, **kwargs: P.kwargs) -> R:
        store, project_id, area_id, code = _arguments(*args, **kwargs)
        who = secrets.token_hex(8)
        try:
            with _beating(store, project_id, _pause(store, project_id, area_id, code, who), who):
                result = close(*args, **kwargs)
        except BaseException:
            _resume(store, lambda note: note.get("who") == who)
            raise
        _close_pages_of_closed_ballots(store, project_id, area_id)
        return result

    return closes


def in_closing_pause(settings: Mapping[str, Any]) -> bool:
    """Whether a paused voting page, by its settings as they are stored, is only paused while its ballot is closed."""
    return CLOSING in settings


def resume_voting(store: Store, ended: Collection[int] = ()) -> int:
    """Let voting go on where it is paused for a process that is gone, such as those of the ids `ended`; how many pages.

    Called at start, by whoever watches a closing, and by the server of the voting page.
    """
    return _resume(store, lambda note: _is_gone(note, ended))


def _is_gone(note: Mapping[str, Any], ended: Collection[int]) -> bool:
    """Whether the process that wrote a note no longer runs."""
    if note.get("machine") != socket.gethostname():
        try:
            seen_at = datetime.fromisoformat(str(note.get("seen_at")))
            return abs((datetime.now(UTC) - seen_at).total_seconds()) > SILENT_SECONDS
        except (TypeError, ValueError):
            return True
    pid = note.get("pid")
    if not isinstance(pid, int) or pid <= 0 or pid in ended:
        return True
    return note.get("process") != _THIS_PROCESS if pid == os.getpid() else not is_alive(pid)


def _arguments(*args: Any, **kwargs: Any) -> tuple[Store, str, int | None, str | None]:
    """Store, project, area and the ballot's code of a command's arguments."""
    names = dict(zip(("store", "project_id"), args, strict=False)) | kwargs
    return names["store"], names["project_id"], names.get("area_id"), names.get("code")


def _votings(project_id: str, area_id: int | None) -> sa.Select:
    """The ids of a ranking's voting pages with those of their ballots, and their settings."""
    return (
        sa.select(t.voting.c.id, t.voting.c.ballot_id, t.voting.c.settings)
        .join(t.ballot, t.ballot.c.id == t.voting.c.ballot_id)
        .where(t.ballot.c.project_id == project_id, belongs(t.ballot.c.area_id, area_id), is_comparison())
    )


def _pause(store: Store, project_id: str, area_id: int | None, code: str | None, who: str) -> list[int]:
    """Pause a ranking's open voting pages, or that of the ballot named, with a note; the ids of those pages."""
    is_open = _votings(project_id, area_id).where(t.voting.c.state == "open")
    if code is not None:
        is_open = is_open.where(t.ballot.c.code == code)
    with store.read() as conn:
        if not conn.execute(is_open).all():
            return []
    with store.write(project_id) as conn:
        rows = conn.execute(is_open).all()
        note = {
            "who": who,
            "process": _THIS_PROCESS,
            "pid": os.getpid(),
            "machine": socket.gethostname(),
            "seen_at": now(),
        }
        for row in rows:
            _write(conn, row.id, state="paused", settings=row.settings | {CLOSING: note})
    return [row.id for row in rows]


def _write(conn: sa.Connection, voting_id: int, **values: Any) -> None:
    conn.execute(sa.update(t.voting).where(t.voting.c.id == voting_id).values(values))


def _paused_pages(conn: sa.Connection) -> Iterator[tuple[sa.Row, Mapping[str, Any]]]:
    """The paused voting pages of all projects with a note, and the note."""
    v = t.voting.c
    b = t.ballot.c
    query = sa.select(v.id, v.ballot_id, v.settings, b.project_id, b.state).join(t.ballot, b.id == v.ballot_id)
    for row in conn.execute(query.where(v.state == "paused")).all():
        if in_closing_pause(row.settings):
            note = row.settings[CLOSING]
            yield row, note if isinstance(note, dict) else {}


def _resume(store: Store, is_meant: Callable[[Mapping[str, Any]], bool]) -> int:
    """Open the pages in a closing pause whose note is meant, without the note; how many.

    Where the ballot came to be closed before its process ended, close its page.
    """
    with store.read() as conn:
        projects = {row.project_id for row, note in _paused_pages(conn) if is_meant(note)}
    n = 0
    for project_id in sorted(projects):
        with store.write(project_id) as conn:
            for row, note in _paused_pages(conn):
                if row.project_id != project_id or not is_meant(note):
                    continue
                settings, n = without_note(row.settings), n + 1
                if row.state == "open":
                    _write(conn, row.id, state="open", settings=settings)
                else:
                    _write(conn, row.id, state="closed", closed_at=now(), settings=settings)
                    take_back(conn, row.id, row.ballot_id)
    return n


def without_note(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Stored settings of a voting page less the note of its closing pause."""
    return {name: value for name, value in settings.items() if name != CLOSING}


@contextmanager
def _beating(store: Store, project_id: str, resting: list[int], who: str) -> Iterator[None]:
    """Write a sign of life into the notes every few seconds, for servers on other machines."""
    is_over = threading.Event()

    def beat() -> None:
        while not is_over.wait(BEAT_SECONDS):
            with suppress(RunoffError), store.write(project_id) as conn:  # a busy database: the next beat will do
                for row, note in _paused_pages(conn):
                    if note.get("who") == who:
                        _write(conn, row.id, settings=row.settings | {CLOSING: dict(note) | {"seen_at": now()}})

    thread = threading.Thread(target=beat, daemon=True)
    if resting:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        if resting:
            thread.join()


def _close_pages_of_closed_ballots(store: Store, project_id: str, area_id: int | None) -> None:
    """Close the voting pages of ballots that are closed."""
    query = _votings(project_id, area_id).where(t.voting.c.state != "closed", t.ballot.c.state == "closed")
    with store.read() as conn:
        ended = conn.execute(query).all()
    if ended:
        with store.write(project_id) as conn:
            for row in ended:
                _write(conn, row.id, state="closed", closed_at=now(), settings=without_note(row.settings))
                take_back(conn, row.id, row.ballot_id)


def close_page(conn: sa.Connection, ballot_id: int) -> None:
    """Close the voting page of a round that is being closed, in the same transaction; its leases are released."""
    v = t.voting.c
    voting_id = conn.execute(sa.select(v.id).where(v.ballot_id == ballot_id, v.state != "closed")).scalar_one_or_none()
    if voting_id is not None:
        conn.execute(sa.update(t.voting).where(v.id == voting_id).values(state="closed", closed_at=now()))
        take_back(conn, voting_id, ballot_id)


def take_back(conn: sa.Connection, voting_id: int, ballot_id: int) -> None:
    """End all leases of a voting page."""
    sittings = sa.select(t.sitting.c.id).where(t.sitting.c.voting_id == voting_id)
    leases = sa.update(t.deal).where(t.deal.c.sitting_id.in_(sittings), t.deal.c.state == "open")
    conn.execute(leases.values(state="released"))
    write_lease_counts(conn, ballot_id)
