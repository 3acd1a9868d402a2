"""The owner's commands for the voting page: open it for a ballot, pause, close, links, invitations, checks.

What is kept of where its sessions began, and of the ids of platforms, is here too.

Where a session began is a salted hash of the sender's network, kept while its ballot is open. It tells the owner which
voters came from one address, and nobody which address that was once the ballot is closed.

Ids of platforms are stored as they are or hashed; once somebody has begun to vote, that stays.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from ...errors import InputError, Issue, StoreError
from ...questions.voting_settings import CONSENT, VotingSettings, check_voting
from .. import schema as t
from ..ballots.ballot_rows import Ballot, called, open_ballot_of
from ..command import Change, command, insert_one
from ..engine import Store, now
from ..projects.plans import ballot_named, belongs
from ..votes.tallies import write_tallies
from .closing_pause import in_closing_pause, take_back
from .leases import write_lease_counts


def new_salt() -> str:
    """A random salt for the addresses of one voting page."""
    return secrets.token_hex(32)


def salt_or_new() -> sa.ColumnElement[str]:
    """The salt of a page that is opened again; a new one where it has none: of a reopened ballot, a copy, or older."""
    return sa.func.coalesce(t.voting.c.address_salt, new_salt())


def hashed(salt: str | None, sender: str) -> str | None:
    """The hash of a sender's network that is stored; None where the page stores none, or the sender isn't known.

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


def seal(secret: str, *parts: Any) -> str:
    """What nobody can make up who doesn't have the secret, the same each time."""
    text = "|".join(map(str, parts)).encode("utf-8", "replace")
    return hmac.new(bytes.fromhex(secret), text, hashlib.sha256).hexdigest()


def hashed_id(voter_secret: str, platform: str, external_id: str) -> str:
    """What is stored in place of a platform's id, where ids are hashed."""
    return "h-" + seal(voter_secret, "voter", platform, external_id)[:32]


def hashing_of(conn: sa.Connection, project_id: str, area_id: int | None, ballot_id: int) -> bool | None:
    """Whether a ranking's voters are known by hashes of platforms' ids; None before anybody has begun to vote in it.

    Where an older Runoff let that be changed, a ballot's own voters count, then the newest.
    """
    v, b = t.voting.c, t.ballot.c
    query = (
        sa.select(v.settings)
        .join(t.ballot, b.id == v.ballot_id)
        .where(b.project_id == project_id, belongs(b.area_id, area_id))
        .where(sa.exists().where(t.sitting.c.voting_id == v.id))
        .order_by(sa.case((b.id == ballot_id, 0), else_=1), v.id.desc())
    )
    settings = conn.execute(query.limit(1)).scalar_one_or_none()
    return None if settings is None else VotingSettings.of(settings).hash_ids


def refuse_other_hashing(
    conn: sa.Connection, project_id: str, area_id: int | None, ballot_id: int, settings: VotingSettings
) -> None:
    """Raise `StoreError` for settings by which those who have begun to vote wouldn't be recognised."""
    if hashing_of(conn, project_id, area_id, ballot_id) in (None, settings.hash_ids):
        return
    stored = "as they are" if settings.hash_ids else "as hashes"
    raise StoreError(
        f"People have begun to vote here, and platforms' ids are stored {stored}. Leave that as it is: the other way, "
        "all of them could vote again."
    )


MAX_NAME = 80
PART = 500  # voters in one statement


@dataclass(frozen=True)
class VotingPageInfo:
    """The voting page of a ballot as the owner sees it; `in_closing_pause` where it is paused while its ballot is
    closed."""

    id: int
    ballot_id: int
    state: str
    settings: VotingSettings
    opened_at: str
    closed_at: str | None
    in_closing_pause: bool = False


def voting_of(conn: sa.Connection, ballot_id: int) -> VotingPageInfo | None:
    """The voting page of a ballot, or None where it was never opened."""
    row = conn.execute(sa.select(t.voting).where(t.voting.c.ballot_id == ballot_id)).one_or_none()
    if row is None:
        return None
    settings = VotingSettings.of(row.settings)
    rests = row.state == "paused" and in_closing_pause(row.settings)
    return VotingPageInfo(row.id, row.ballot_id, row.state, settings, row.opened_at, row.closed_at, rests)


def read_voting(store: Store, ballot_id: int) -> VotingPageInfo | None:
    """The voting page of a ballot; see `voting_of`."""
    with store.read() as conn:
        return voting_of(conn, ballot_id)


def open_voting(
    store: Store,
    project_id: str,
    settings: VotingSettings,
    *,
    area_id: int | None = None,
    code: str | None = None,
    expected_revision: int | None = None,
) -> str:
    """Open the voting page of the ranking's open ballot, or change its settings; returns the code of its link.

    Each comparison then wants `votes_per_comparison` votes; of a round each question keeps wanting as many answers as
    the round has raters, and the settings are brought to what a round asks (`round_voting_settings`). `code` is that of
    the ballot or round which is meant (`ballot_rows.open_ballot_of`). A ranking has one link, so one page is open at a
    time. Raises `InputError` for settings that make no sense, `StoreError` if no ballot is open, or another page is.
    """
    check_voting(settings)
    with command(store, project_id, "open voting", expected_revision=expected_revision) as change:
        conn = change.conn
        ballot = open_ballot_of(conn, project_id, area_id, code)
        if ballot.is_round:
            settings = round_voting_settings(ballot, settings)
        open_page(conn, project_id, area_id, ballot.id, settings)
        if not ballot.is_round:
            _set_votes_wanted(conn, ballot.id, settings.votes_per_comparison)
        write_lease_counts(conn, ballot.id)
        change.detail = ballot_named(conn, project_id, area_id, ballot.number, ballot.purpose) | {
            "settings": settings.told()
        }
        return link_row(conn, project_id, area_id).code


def _set_votes_wanted(conn: sa.Connection, ballot_id: int, n: int) -> None:
    """Set how many votes each comparison of a ballot wants."""
    q = t.question.c
    rows = sa.update(t.question).where(q.ballot_id == ballot_id, q.role == "main", q.n_wanted != n)
    conn.execute(rows.values(n_wanted=n))
    conn.execute(sa.update(t.ballot).where(t.ballot.c.id == ballot_id).values(progress=sa.null()))


def open_page(
    conn: sa.Connection, project_id: str, area_id: int | None, ballot_id: int, settings: VotingSettings
) -> None:
    """Open the voting page of a ballot or round, again with other settings; `StoreError` while another one is open.

    Also for another way of storing platforms' ids than that by which the ranking's voters are known.
    """
    refuse_second_page(conn, project_id, area_id, ballot_id)
    refuse_other_hashing(conn, project_id, area_id, ballot_id, settings)
    voting = voting_of(conn, ballot_id)
    values = {"state": "open", "settings": settings.stored(), "closed_at": None}
    if voting is None:
        insert_one(conn, t.voting, ballot_id=ballot_id, opened_at=now(), address_salt=new_salt(), **values)
    else:
        row = sa.update(t.voting).where(t.voting.c.id == voting.id)
        conn.execute(row.values(**values, address_salt=salt_or_new()))


def set_voting_state(
    store: Store,
    project_id: str,
    state: str,
    *,
    area_id: int | None = None,
    code: str | None = None,
    expected_revision: int | None = None,
) -> None:
    """Pause, resume (open) or close the voting page of the open ballot. Paused, it keeps everybody's place.

    Closed, it takes back what voters hold; opening it again is `open_voting`. `code` is that of the ballot or round
    which is meant (`ballot_rows.open_ballot_of`).
    """
    with command(store, project_id, f"voting {state}", expected_revision=expected_revision) as change:
        conn = change.conn
        ballot = open_ballot_of(conn, project_id, area_id, code)
        change_state(conn, project_id, area_id, ballot.id, state, "round" if ballot.is_round else "ballot")
        change.detail = ballot_named(conn, project_id, area_id, ballot.number, ballot.purpose)


def change_state(
    conn: sa.Connection, project_id: str, area_id: int | None, ballot_id: int, state: str, what: str
) -> None:
    """Give the voting page of a ballot or round (`what`) another state; closed, it takes back what voters hold."""
    voting = voting_of(conn, ballot_id)
    if voting is None:
        raise StoreError(f"Voting was never opened for this {what}.")
    values: dict[str, Any] = {
        "state": state,
        "closed_at": now() if state == "closed" else None,
        "settings": voting.settings.stored(),
    }
    if state == "open":
        refuse_second_page(conn, project_id, area_id, ballot_id)
        values["address_salt"] = salt_or_new()
    conn.execute(sa.update(t.voting).where(t.voting.c.id == voting.id).values(values))
    if state == "closed":
        take_back(conn, voting.id, ballot_id)


def refuse_second_page(conn: sa.Connection, project_id: str, area_id: int | None, ballot_id: int) -> None:
    """`StoreError` while the ranking's link leads to the open voting page of another ballot or round."""
    b = t.ballot.c
    query = (
        sa.select(b.ordinal, b.purpose)
        .join(t.voting, t.voting.c.ballot_id == b.id)
        .where(b.project_id == project_id, belongs(b.area_id, area_id), b.id != ballot_id)
        .where(t.voting.c.state == "open", b.state == "open")
    )
    other = conn.execute(query.limit(1)).one_or_none()
    if other is not None:
        raise StoreError(
            f"The voting page is open for {called(*other)}, and there is one link. Pause or close it first."
        )


ROUND_CONSENT = (
    "You will be asked how closely words, or other texts, are connected. Taking part is voluntary, and you can stop at "
    "any time. Your answers are stored under the name or id that you came with, and are used for research."
)


def round_voting_settings(ballot: Ballot, settings: VotingSettings | None = None) -> VotingSettings:
    """Settings for the voting page of a round: what rounds don't have is off, the sizes are the round's.

    No checks, repeats, examples or ties; each question wants as many answers as the round has raters.
    """
    base = settings or VotingSettings(task_size=ballot.settings.task_size)
    plain = replace(base, ties_allowed=False, n_gold=0, n_repeats=0, adaptive=False, examples=False)
    return replace(plain, consent=ROUND_CONSENT) if plain.consent == CONSENT else plain


# Links


def link_row(conn: sa.Connection, project_id: str, area_id: int | None) -> sa.Row:
    """The link of a ranking's voting page, made where there is none."""
    link = t.voting_link
    query = sa.select(link).where(link.c.project_id == project_id, belongs(link.c.area_id, area_id))
    row = conn.execute(query).one_or_none()
    if row is None:
        other = sa.select(link.c.voter_secret).where(link.c.project_id == project_id).order_by(link.c.id).limit(1)
        hashed_by = conn.execute(other).scalar() or secrets.token_hex(32)  # one voter is one in all areas
        values = {"project_id": project_id, "area_id": area_id, "code": new_code(), "secret": secrets.token_hex(32)}
        conn.execute(sa.insert(link).values(values | {"voter_secret": hashed_by}))
        row = conn.execute(query).one()
    return row


def new_code() -> str:
    """A code that nobody guesses: 96 random bits in 16 characters."""
    return secrets.token_urlsafe(12)


def read_link(store: Store, project_id: str, area_id: int | None = None) -> str | None:
    """The code of a ranking's link; None where voting was never opened here."""
    link = t.voting_link.c
    query = sa.select(link.code).where(link.project_id == project_id, belongs(link.area_id, area_id))
    with store.read() as conn:
        return conn.execute(query).scalar_one_or_none()


def renew_link(
    store: Store, project_id: str, *, area_id: int | None = None, expected_revision: int | None = None
) -> str:
    """Give the ranking's voting page another link; the old one, and all personal ones, lead nowhere from now on.

    Nor do cookies and forms of the old one. Platforms' ids stay hashed as they were, so that nobody votes again.
    """
    with command(store, project_id, "renew voting link", expected_revision=expected_revision) as change:
        row, code = link_row(change.conn, project_id, area_id), new_code()
        renewed = {"code": code, "secret": secrets.token_hex(32)}
        change.conn.execute(sa.update(t.voting_link).where(t.voting_link.c.id == row.id).values(renewed))
        change.conn.execute(sa.delete(t.invitation).where(t.invitation.c.voting_link_id == row.id))
        return code


def invite(
    store: Store,
    project_id: str,
    names: Iterable[str],
    *,
    area_id: int | None = None,
    expected_revision: int | None = None,
) -> int:
    """Make a personal link for each name that has none; returns how many are new. `InputError` for names too long."""
    distinct = list(dict.fromkeys(" ".join(name.split()) for name in names if name.strip()))
    issues = [
        Issue(f"is longer than {MAX_NAME} characters", found=name[:100]) for name in distinct if len(name) > MAX_NAME
    ]
    if issues or not distinct:
        raise InputError("These names can't be invited." if issues else "There is no name. Type one per line.", issues)
    with command(store, project_id, "invite voters", expected_revision=expected_revision) as change:
        link = link_row(change.conn, project_id, area_id)
        i = t.invitation.c
        known = set(change.conn.execute(sa.select(i.name).where(i.voting_link_id == link.id)).scalars())
        new = [name for name in distinct if name not in known]
        rows = [{"voting_link_id": link.id, "name": name, "token": secrets.token_urlsafe(16)} for name in new]
        if rows:
            change.conn.execute(sa.insert(t.invitation), rows)
        change.detail = {"new": len(new)}
        return len(new)


def read_invitations(store: Store, project_id: str, area_id: int | None = None) -> list[tuple[str, str]]:
    """The names that were invited, each with the token of its personal link."""
    link, i = t.voting_link.c, t.invitation.c
    query = (
        sa.select(i.name, i.token)
        .join(t.voting_link, link.id == i.voting_link_id)
        .where(link.project_id == project_id, belongs(link.area_id, area_id))
        .order_by(i.id)
    )
    with store.read() as conn:
        return [(name, token) for name, token in conn.execute(query)]


def withdraw_voter(store: Store, project_id: str, session_id: int, *, expected_revision: int | None = None) -> int:
    """Take all votes of one voter out; see `withdraw_voters`."""
    return withdraw_voters(store, project_id, [session_id], expected_revision=expected_revision)


def withdraw_voters(
    store: Store, project_id: str, session_ids: Sequence[int], *, expected_revision: int | None = None
) -> int:
    """Take all votes of voters on an open ballot's voting page out of the count (consent taken back, or made up).

    They stay in the store, marked; the voters get no more. Returns how many. `StoreError` once the ballot is closed.
    """
    ids = list(dict.fromkeys(session_ids))
    action = "withdraw voter" if len(ids) == 1 else "withdraw voters"
    with command(store, project_id, action, expected_revision=expected_revision) as change:
        parts = [ids[start : start + PART] for start in range(0, len(ids), PART)]
        ballots = {ballot_id for part in parts for ballot_id in _ballots_of(change, part)}
        n = sum(_withdraw(change.conn, part) for part in parts)
        for ballot_id in ballots:
            write_tallies(change.conn, ballot_id)
        change.detail = {"sitting": ids[0]} if len(ids) == 1 else {"voters": len(ids), "sittings": ids}
        change.detail |= {"judgements": n}
        return n


def _withdraw(conn: sa.Connection, session_ids: Sequence[int]) -> int:
    """Mark voters' judgements as withdrawn, take back what they hold, and end their sessions."""
    d, j = t.deal.c, t.judgement.c
    theirs = d.sitting_id.in_(session_ids)
    answered = sa.select(d.assignment_id).where(theirs, d.assignment_id.is_not(None))
    judged = sa.update(t.judgement).where(j.assignment_id.in_(answered), j.status != "withdrawn")
    n = conn.execute(judged.values(status="withdrawn")).rowcount
    conn.execute(sa.update(t.deal).where(theirs, d.state == "open").values(state="released"))
    rows = sa.update(t.sitting).where(t.sitting.c.id.in_(session_ids))
    conn.execute(rows.values(state="stopped", finished_at=now()))
    return int(n)


def _ballots_of(change: Change, session_ids: Sequence[int]) -> set[int]:
    """The ballots of some sessions; `StoreError` where one isn't of this project, or its ballot is closed."""
    query = (
        sa.select(t.voting.c.ballot_id, t.ballot.c.state)
        .join(t.sitting, t.sitting.c.voting_id == t.voting.c.id)
        .join(t.ballot, t.ballot.c.id == t.voting.c.ballot_id)
        .where(t.sitting.c.id.in_(session_ids), t.ballot.c.project_id == change.project_id)
    )
    rows = change.conn.execute(query).all()
    if len(rows) < len(session_ids):
        raise StoreError("There is no such voter in this project.")
    if any(row.state != "open" for row in rows):
        raise StoreError("The ballot is closed, so its votes can't be withdrawn. Reopen it first.")
    return {row.ballot_id for row in rows}
