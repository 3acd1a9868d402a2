"""What the voting page does by itself: old leases go back, a ballot that has its votes closes, and the next opens."""

from __future__ import annotations

import sqlalchemy as sa

from ..errors import BusyError, RunoffError
from ..voting_settings import VotingSettings
from . import schema as t
from .ballots import PILOT
from .closing import close_ballot
from .drawing import draw_next_ballot
from .engine import Store, now
from .page_dealing import is_complete, release_expired
from .voting import open_voting
from .voting_rest import wake_voting


def tend(store: Store, given_up: set[int]) -> list[str]:
    """Release leases whose time is over, and bring adaptive ballots on that have their votes; what was done, in words.

    Voting that rests for a process that is gone goes on before. That and bringing on take the owner's role (see
    `voters_role`).
    `given_up` holds the voting pages whose ballot could not be closed or followed; they are left to the owner, and
    what is new is added.
    """
    release_due(store)
    wake_voting(store)
    done = []
    for voting_id, project_id, area_id, number, settings in _complete(store, given_up):
        try:
            close_ballot(store, project_id, area_id=area_id)
            done.append(f"{project_id}: ballot {number} has its votes and is closed.")
            next_number = draw_next_ballot(store, project_id, area_id=area_id)
            open_voting(store, project_id, settings, area_id=area_id)
            done.append(f"{project_id}: ballot {next_number} is open to voters.")
        except RunoffError as error:
            if not isinstance(error, BusyError):  # another program holds the database: the next time will do
                given_up.add(voting_id)
            done.append(f"{project_id}: after ballot {number}: {error}")
    return done


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


def _complete(store: Store, given_up: set[int]) -> list[tuple[int, str, int | None, int, VotingSettings]]:
    """The open pages of adaptive ballots that lack nothing."""
    v, b, q = t.voting.c, t.ballot.c, t.question.c
    query = (
        sa.select(v.id, v.settings, b.id.label("ballot_id"), b.project_id, b.area_id, b.number)
        .join(t.ballot, b.id == v.ballot_id)
        .where(v.state == "open", b.state == "open", b.number > PILOT)  # after a pilot, a person plans
    )
    with store.read() as conn:
        pages = [(row, VotingSettings.of(row.settings)) for row in conn.execute(query)]
        return [
            (row.id, row.project_id, row.area_id, row.number, settings)
            for row, settings in pages
            if settings.adaptive
            and row.id not in given_up
            and is_complete(conn, row.ballot_id, settings.votes_per_comparison)
            and conn.execute(sa.select(q.id).where(q.ballot_id == row.ballot_id, q.n_votes > 0).limit(1)).first()
        ]
