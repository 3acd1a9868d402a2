"""Visitors of the voting page: where a link leads, how a browser is recognised, and who is asked for a code word.

A browser is known again by a cookie that names a session by a nonce that no other session ever has.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from ...errors import BusyError, InputError
from ...i18n import STANDARD, Language, language, translatable
from ...questions.base import RoundSettings
from ...questions.voting_settings import TRAITS, VotingSettings
from .. import schema as t
from ..command import insert_one
from ..engine import now
from ..projects.plans import is_comparison
from .answers import stop
from .closing_pause import in_closing_pause
from .leases import VotingPage
from .owner_commands import MAX_NAME, hashed_id, seal

MAX_ID = 100
NONCE = 32  # hexadecimal digits: 128 bits
# Parameters by which platforms say who comes, and what the platform is called.
PLATFORMS = {"PROLIFIC_PID": "prolific", "workerId": "mturk", "participantId": "connect"}
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"  # Mechanical Turk's, for somebody who only looks at a task


@dataclass(frozen=True)
class Visitor:
    """A visitor: known by a platform's parameters, by a personal link (its token), or not yet."""

    platform: str = ""
    external_id: str = ""
    token: str = ""
    preview: bool = False


@dataclass(frozen=True)
class LinkTarget:
    """A link with the newest voting page it leads to."""

    secret: str
    voter_secret: str
    project_id: str
    notion: str
    wording: Mapping[str, Any]
    state: str
    opened_at: str
    page: VotingPage
    address_salt: str | None = None  # hashes where its voters begin
    rests: bool = False  # in its closing pause

    @property
    def examples(self) -> list[Mapping[str, Any]]:
        has_some = self.page.settings.examples and self.page.round is None
        return list(self.wording.get("examples", ())) if has_some else []

    @property
    def language(self) -> Language:
        """The language of the texts that aren't the owner's."""
        return language(self.wording.get("language", STANDARD))

    def sign(self, *parts: Any) -> str:
        return seal(self.secret, *parts)

    def form(self, whose: str) -> str:
        """The token of a form: for one browser, and for this voting page alone (ids of ballots come again)."""
        return self.sign("form", self.page.ballot_id, self.opened_at, whose)

    def is_form(self, form: str, whose: str) -> bool:
        """Whether the form that was sent belongs to this page."""
        return is_same(form, self.form(whose))


def is_same(sent: str, right: str) -> bool:
    """Whether the token `sent` equals `right`, compared in constant time."""
    return hmac.compare_digest(sent.encode("utf-8", "replace"), right.encode("utf-8", "replace"))


_LINK, _BALLOT, _VOTING = t.voting_link.c, t.ballot.c, t.voting.c
_SAME_AREA = sa.or_(_BALLOT.area_id == _LINK.area_id, sa.and_(_BALLOT.area_id.is_(None), _LINK.area_id.is_(None)))
_WHERE_A_LINK_LEADS = (
    sa.select(
        _LINK.secret, _LINK.voter_secret, t.project.c.id, t.project.c.notion, t.plan.c.wording, t.project.c.archived_at,
        _VOTING.state, _VOTING.opened_at, _VOTING.id.label("voting_id"), _VOTING.settings, _VOTING.address_salt,
        _BALLOT.id.label("ballot_id"), _BALLOT.area_id, _BALLOT.state.label("ballot_state"), _BALLOT.kind,
        _BALLOT.settings.label("round"),
    )
    .join(t.project, t.project.c.id == _LINK.project_id)
    .join(t.ballot, sa.and_(_BALLOT.project_id == _LINK.project_id, _SAME_AREA))
    .outerjoin(t.plan, t.plan.c.id == _BALLOT.plan_id)  # a round has none
    .join(t.voting, _VOTING.ballot_id == _BALLOT.id)
    .where(_LINK.code == sa.bindparam("code"))
    .order_by(sa.case((_VOTING.state == "open", 0), else_=1), _VOTING.id.desc())
    .limit(1)
)  # fmt: skip


def link_at(conn: sa.Connection, code: str) -> LinkTarget | None:
    """Where a link leads: the voting page of its ranking that is open (one is, at a time), else the newest."""
    if not code.isprintable():
        return None
    row = conn.execute(_WHERE_A_LINK_LEADS, {"code": code}).one_or_none()
    if row is None:
        return None
    is_open = row.ballot_state == "open" and row.archived_at is None
    other = None if row.round is None else RoundSettings.of({**row.round, "scheme": row.kind})
    page = VotingPage(row.voting_id, row.ballot_id, VotingSettings.of(row.settings), other)
    state = row.state if is_open else "closed"
    if state == "closed" and row.archived_at is None and _has_more_to_come(conn, row):
        state = "next"
    wording = row.wording
    if other is not None:
        wording = {"question": other.question, "instructions": other.instructions, "language": other.language}
    rests = row.state == "paused" and in_closing_pause(row.settings)
    target = (row.notion, wording, state, row.opened_at, page, row.address_salt, rests)
    return LinkTarget(row.secret, row.voter_secret, row.id, *target)


def refuse_in_closing_pause(at: LinkTarget) -> None:
    """Raise `BusyError` where a voting page is in its closing pause: a voter's step may be asked again once its ballot
    is closed."""
    if at.rests:
        raise BusyError("The ballot is being closed. Try again in a moment.")


def _has_more_to_come(conn: sa.Connection, row: sa.Row) -> bool:
    """Whether the plan has a ballot after the voting page that a link leads to, whose own page isn't there yet."""
    same_area = _BALLOT.area_id.is_(None) if row.area_id is None else _BALLOT.area_id == row.area_id
    newest = conn.execute(
        sa.select(_BALLOT.id, _BALLOT.ordinal, _BALLOT.state, t.plan.c.n_ballots)
        .join(t.plan, t.plan.c.id == _BALLOT.plan_id)
        .where(_BALLOT.project_id == row.id, same_area, is_comparison())
        .order_by(_BALLOT.ordinal.desc())
        .limit(1)
    ).one_or_none()
    if newest is None:  # rounds of other kinds alone, which no plan numbers
        return False
    return newest.ordinal < newest.n_ballots or (newest.state == "open" and newest.id != row.ballot_id)


def _pages_of_link() -> sa.Select:
    """The ids of all voting pages of the link that leads to `ballot`."""
    here, other = t.ballot.alias("here"), t.ballot.alias("other")
    same_area = sa.or_(other.c.area_id == here.c.area_id, sa.and_(other.c.area_id.is_(None), here.c.area_id.is_(None)))
    return (
        sa.select(t.voting.c.id)
        .join(other, other.c.id == t.voting.c.ballot_id)
        .join(here, sa.and_(here.c.project_id == other.c.project_id, same_area))
        .where(here.c.id == sa.bindparam("ballot"))
    )


# Statements of each visit, built once (see `leases`).
_SESSION, _VOTER = t.sitting.c, t.voter.c
_IS_OF_LINK = _SESSION.voting_id.in_(_pages_of_link())
_SESSION_BY_ID = sa.select(t.sitting).where(_SESSION.id == sa.bindparam("id"))
_SESSION_BY_NONCE = sa.select(t.sitting).where(_SESSION.nonce == sa.bindparam("nonce"))
_SESSION_OF_VOTER = sa.select(t.sitting).where(
    _SESSION.voting_id == sa.bindparam("voting"), _SESSION.voter_id == sa.bindparam("voter")
)
_LAST_STATE = (
    sa.select(_SESSION.state)
    .where(_SESSION.voter_id == sa.bindparam("voter"), _IS_OF_LINK)
    .order_by(_SESSION.id.desc())
    .limit(1)
)
_VOTER_BY_NAME = sa.select(_VOTER.id).where(
    _VOTER.project_id == sa.bindparam("project"),
    _VOTER.platform == sa.bindparam("platform"),
    _VOTER.external_id == sa.bindparam("name"),
)


def read_session(conn: sa.Connection, session_id: int) -> sa.Row | None:
    return conn.execute(_SESSION_BY_ID, {"id": session_id}).one_or_none()


def who_of(parameters: Mapping[str, str]) -> Visitor:
    """The visitor, by the parameters in the address."""
    if parameters.get("i"):
        return Visitor(token=_printable(parameters["i"][:MAX_ID]))
    if parameters.get("assignmentId") == PREVIEW:
        return Visitor(preview=True)
    for name, platform in PLATFORMS.items():
        value = parameters.get(name, "").strip()
        if value and len(value) <= MAX_ID and value.isprintable() and "{{" not in value:
            return Visitor(platform, value)
    return Visitor()


def _printable(text: str) -> str:
    return text if text.isprintable() else "?"


def _checked_name(text: str, spoken: Language) -> str:
    """The name with its spaces tidied; `InputError` where there is none, or it is too long or unprintable."""
    name = " ".join(text.split())
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise InputError(spoken.text("Please type a name of at most {most} letters.", most=MAX_NAME))
    return name


def person(conn: sa.Connection, at: LinkTarget, code: str, who: Visitor, name: str) -> tuple[str, str]:
    """Platform and id under which the store knows somebody who begins."""
    if who.token:
        i = t.invitation.c
        query = sa.select(i.name).join(t.voting_link, t.voting_link.c.id == i.voting_link_id)
        invited = conn.execute(query.where(i.token == who.token, t.voting_link.c.code == code)).scalar_one_or_none()
        if invited is None:
            raise InputError(translatable("This personal link isn't valid any more. Ask for a new one."))
        return "invited", invited
    if who.platform:
        if at.page.settings.hash_ids:
            return who.platform, hashed_id(at.voter_secret, who.platform, who.external_id)
        return who.platform, who.external_id
    if at.page.settings.identify == "none":
        return "runoff", f"anonymous-{secrets.token_hex(8)}"
    return "runoff", _checked_name(name, at.language)


def new_nonce() -> str:
    return secrets.token_hex(NONCE // 2)


def voter_id(conn: sa.Connection, project_id: str, platform: str, external_id: str) -> int:
    parameters = {"project": project_id, "platform": platform, "name": external_id}
    known = conn.execute(_VOTER_BY_NAME, parameters).scalar_one_or_none()
    if known is not None:
        return int(known)
    values = {"project_id": project_id, "platform": platform, "external_id": external_id, "kind": "person"}
    return insert_one(conn, t.voter, **values)


def who_begins(conn: sa.Connection, at: LinkTarget, code: str, who: Visitor, name: str, visit: str) -> tuple[int, str]:
    """The voter who begins, and the nonce of the session that begins.

    A typed name proves nothing: it leads to no voter who is there. Who types one that is taken is a voter of that name
    and a number, and learns nothing. Only the same name from the same browser, a press that came twice, is the same
    voter; so the nonce follows from both there. A platform's id and a personal link are a voter's own.
    """
    platform, external_id = person(conn, at, code, who, name)
    if platform != "runoff":
        return voter_id(conn, at.project_id, platform, external_id), new_nonce()
    nonce = at.sign("begun", at.page.ballot_id, at.opened_at, visit, " ".join(name.split()))[:NONCE]
    begun = conn.execute(_SESSION_BY_NONCE, {"nonce": nonce}).one_or_none()
    if begun is not None:
        return begun.voter_id, nonce
    return voter_id(conn, at.project_id, platform, _free_name(conn, at.project_id, external_id)), nonce


def _free_name(conn: sa.Connection, project_id: str, name: str) -> str:
    """The name, or where somebody has begun or answered under it in any ballot, “… (2)”, “… (3)”."""
    if conn.execute(_VOTER_BY_NAME, {"project": project_id, "platform": "runoff", "name": name}).first() is None:
        return name
    v, a = t.voter.c, t.assignment.c
    ballots = sa.select(t.ballot.c.id).where(t.ballot.c.project_id == project_id)
    answered = sa.select(a.id).where(a.ballot_id.in_(ballots), a.voter_id == v.id).exists()
    names_used = sa.select(v.external_id).where(v.project_id == project_id, v.platform == "runoff")
    names_used = names_used.where(sa.or_(sa.exists().where(t.sitting.c.voter_id == v.id), answered))
    if conn.execute(names_used.where(v.external_id == name)).first() is None:
        return name
    taken = set(conn.execute(names_used.where(v.external_id.startswith(f"{name} (", autoescape=True))).scalars())
    n = 2
    while f"{name} ({n})" in taken:
        n += 1
    return f"{name} ({n})"


def may_come(at: LinkTarget, who: Visitor) -> bool:
    """Whether somebody who isn't known yet may begin: by the plain link, unless the owner wants more than that."""
    known_by = {"invited": who.token, "id": who.token or who.platform}
    return bool(known_by.get(at.page.settings.identify, True))


def begin_session(
    conn: sa.Connection, at: LinkTarget, voter_id: int, nonce: str, n_examples: int = 0, *, address: str | None = None
) -> tuple[sa.Row, bool]:
    """The voter's session at this ballot, and whether it is new; who was stopped at the one before stays so."""
    parameters = {"voting": at.page.voting_id, "voter": voter_id}
    session = conn.execute(_SESSION_OF_VOTER, parameters).one_or_none()
    if session is not None:
        return session, False
    values = {"voter_id": voter_id, "state": "voting", "n_examples": n_examples, "began_at": now(), "seen_at": now()}
    was_stopped = _last_state(conn, at, voter_id) == "stopped"
    values |= {"voting_id": at.page.voting_id, "nonce": nonce, "address": address}
    session_id = insert_one(conn, t.sitting, **values)
    if was_stopped:
        stop(conn, session_id, "stopped")
    return conn.execute(_SESSION_OF_VOTER, parameters).one(), True


def _last_state(conn: sa.Connection, at: LinkTarget, voter_id: int) -> str | None:
    """The state of the voter's newest session at any ballot of the ranking; None for somebody new."""
    return conn.execute(_LAST_STATE, {"voter": voter_id, "ballot": at.page.ballot_id}).scalar()


def note_traits(conn: sa.Connection, at: LinkTarget, traits: Mapping[str, str]) -> None:
    """Count the traits that a voter gave; values that aren't on the list are ignored."""
    v = t.voter_trait.c
    for name in at.page.settings.ask:
        value = traits.get(name, "")
        value = value if value in TRAITS[name][1] else "not told"
        here = (v.voting_id == at.page.voting_id, v.trait == name, v.value == value)
        if conn.execute(sa.update(t.voter_trait).where(*here).values(n=v.n + 1)).rowcount == 0:
            row = {"voting_id": at.page.voting_id, "trait": name, "value": value, "n": 1}
            conn.execute(sa.insert(t.voter_trait).values(row))


def asks_name(at: LinkTarget, who: Visitor) -> bool:
    return not (who.platform or who.token) and at.page.settings.identify == "name"


def known_session(
    conn: sa.Connection, at: LinkTarget, code: str, who: Visitor, session: sa.Row | None
) -> sa.Row | None:
    """The session of a visitor: a platform's id or a personal link takes precedence over the browser's cookie.

    But no id that is new here helps somebody who was stopped: it can be made up.
    """
    if not (who.platform or who.token):
        return session
    platform, external_id = person(conn, at, code, who, "")
    s, v = t.sitting.c, t.voter.c
    query = (
        sa.select(t.sitting)
        .join(t.voter, v.id == s.voter_id)
        .where(v.project_id == at.project_id, v.platform == platform, v.external_id == external_id)
        .where(s.voting_id == at.page.voting_id)
    )
    claimed = conn.execute(query).one_or_none()
    keeps_out = claimed is None and not who.token and session is not None and is_shut_out(conn, at, session)
    return session if keeps_out else claimed


def is_shut_out(conn: sa.Connection, at: LinkTarget, session: sa.Row) -> bool:
    """Whether the voter of a session was stopped, there or later at this link."""
    return session.state == "stopped" or _last_state(conn, at, session.voter_id) == "stopped"


def carried_over(conn: sa.Connection, at: LinkTarget, session: sa.Row) -> sa.Row:
    """The session at this ballot of somebody with a session at an earlier one."""
    if session.voting_id == at.page.voting_id:
        return read_session(conn, session.id) or session
    return begin_session(conn, at, session.voter_id, new_nonce(), session.n_examples)[0]


_OLD_COOKIE = re.compile("[0-9]{1,15}")  # what an older Runoff's names: the row of the session


def cookie_of(at: LinkTarget, nonce: str) -> str:
    return f"{nonce}.{at.sign('sitting', nonce)}"


def session_of(conn: sa.Connection, at: LinkTarget, cookie: str) -> sa.Row | None:
    """The session a cookie belongs to, perhaps at an earlier ballot of the link; None for one that isn't ours."""
    nonce, _, _ = cookie.partition(".")
    if not is_same(cookie, cookie_of(at, nonce)):
        return None
    if _OLD_COOKIE.fullmatch(nonce):
        query = sa.select(t.sitting).where(_is_from_before(at, int(nonce)))
        return conn.execute(query, {"ballot": at.page.ballot_id}).one_or_none()
    return conn.execute(_SESSION_BY_NONCE, {"nonce": nonce}).one_or_none()


def _is_from_before(at: LinkTarget, session_id: int) -> sa.ColumnElement[bool]:
    """The condition on `sitting` for the row that a cookie of an older Runoff names, so that an update ends no session.

    Rows had no nonce then. SQLite gives ids out again: a row that has got another nonce than `with_nonce` gives isn't
    meant, nor one that came into another project of the workspace as a copy.
    """
    s = t.sitting.c
    same_row = sa.and_(s.id == session_id, s.nonce.is_(None), _IS_OF_LINK)
    return sa.or_(s.nonce == _nonce_for_old(at, session_id), same_row)


def _nonce_for_old(at: LinkTarget, session_id: int) -> str:
    """The nonce of a session that began without one, signed with the link's secret."""
    return at.sign("nonce", session_id)[:NONCE]


def with_nonce(conn: sa.Connection, at: LinkTarget, session: sa.Row) -> sa.Row:
    """A session with its nonce; one from before, or of an imported project, gets it now.

    An old cookie leads to this nonce, whether the answer that brings the new cookie arrives or not.
    """
    if session.nonce is not None:
        return session
    s = t.sitting.c
    conn.execute(sa.update(t.sitting).where(s.id == session.id).values(nonce=_nonce_for_old(at, session.id)))
    return conn.execute(sa.select(t.sitting).where(s.id == session.id)).one()


class WrongCodeWordError(InputError):
    """Somebody begins without the code word of the page."""


def asks_word(at: LinkTarget, who: Visitor) -> bool:
    """Whether a visitor must give the page's code word: a platform's id can be made up, a personal link can't."""
    return not who.token and at.page.settings.asks_word


def check_word(at: LinkTarget, who: Visitor, typed: str) -> None:
    """Raise `WrongCodeWordError` for somebody who must know the code word and typed another."""
    if asks_word(at, who) and not at.page.settings.is_word(typed):
        raise WrongCodeWordError(translatable("This isn't the code word. Type it as it was given to you."))
