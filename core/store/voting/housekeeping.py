"""What the voting page does by itself: old leases go back, a ballot that has its votes closes, and the next opens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sqlalchemy as sa

from ...errors import BusyError, RunoffError, StaleError
from ...questions.voting_settings import VotingSettings
from .. import schema as t
from ..ballots.ballot_rows import read_ballots
from ..ballots.closing import close_ballot
from ..ballots.drawing import draw_next_ballot
from ..engine import Store, now
from ..projects.plans import in_campaign
from .closing_pause import resume_voting
from .leases import is_complete, release_expired
from .owner_commands import open_voting


def do_housekeeping(store: Store, given_up: set[int]) -> list[str]:
    """Release leases whose time is over, and bring adaptive ballots on that have their votes; what was done, in words.

    Voting that is paused for a process that is gone goes on before. That and bringing on take the owner's role, which
    has more rights than `postgresql.role_sql` gives to a voters' server.
    `given_up` holds the voting pages whose ballot could not be closed or followed; they are left to the owner, and
    what is new is added. A project that changed between the look and the closing is looked at again the next time.
    """
    release_due(store)
    resume_voting(store)
    done = []
    for page in _complete(store, given_up):
        try:
            for message in _advance(store, page):
                done.append(message)
        except RunoffError as error:
            if not isinstance(error, BusyError):  # another program holds the database: the next time will do
                given_up.add(page.voting_id)
            done.append(f"{page.project_id}: after ballot {page.number}: {error}")
    return done


@dataclass(frozen=True)
class _CompletePage:
    """The open page of an adaptive ballot that lacks no vote, as it was read."""

    voting_id: int
    project_id: str
    revision: int
    area_id: int | None
    code: str
    number: int
    settings: VotingSettings


def _advance(store: Store, page: _CompletePage) -> Iterator[str]:
    """Close the ballot of a page, draw the next and open it; what was done, in words."""
    project_id, area_id = page.project_id, page.area_id
    try:
        close_ballot(store, project_id, area_id=area_id, code=page.code, expected_revision=page.revision)
    except StaleError:
        return
    yield f"{project_id}: ballot {page.number} has its votes and is closed."
    number = draw_next_ballot(store, project_id, area_id=area_id)
    codes = {ballot.number: ballot.code for ballot in read_ballots(store, project_id, area_id)}
    open_voting(store, project_id, page.settings, area_id=area_id, code=codes.get(number, ""))
    yield f"{project_id}: ballot {number} is open to voters."


def release_due(store: Store) -> None:
    """Release all leases whose time is over, page by page."""
    d, s = t.deal.c, t.sitting.c
    query = (
        sa.select(s.voting_id, t.ballot.c.project_id)
        .join(t.sitting, s.id == d.sitting_id)
        .join(t.voting, t.voting.c.id == s.voting_id)
        .join(t.ballot, t.ballot.c.id == t.voting.c.ballot_id)
        .where(d.state == "open", d.expires_at < now())
        .distinct()
    )
    with store.read() as conn:
        due = conn.execute(query).all()
    for voting_id, project_id in due:
        with store.write(project_id) as conn:
            while release_expired(conn, voting_id):
                pass


def _complete(store: Store, given_up: set[int]) -> list[_CompletePage]:
    """The open pages of adaptive ballots that lack nothing."""
    v, b, q, p = t.voting.c, t.ballot.c, t.question.c, t.project.c
    query = (
        sa.select(v.id, v.settings, b.id.label("ballot_id"), b.project_id, p.revision, b.area_id, b.code, b.ordinal)
        .join(t.ballot, b.id == v.ballot_id)
        .join(t.project, p.id == b.project_id)
        .where(v.state == "open", b.state == "open", in_campaign())  # after a pilot, a person plans
    )
    with store.read() as conn:
        pages = [(row, VotingSettings.of(row.settings)) for row in conn.execute(query)]
        return [
            _CompletePage(row.id, row.project_id, row.revision, row.area_id, row.code, row.ordinal, settings)
            for row, settings in pages
            if settings.adaptive
            and row.id not in given_up
            and is_complete(conn, row.ballot_id, settings.votes_per_comparison)
            and conn.execute(sa.select(q.id).where(q.ballot_id == row.ballot_id, q.n_votes > 0).limit(1)).first()
        ]
