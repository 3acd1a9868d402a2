"""While a ballot is closed, its voting page rests: no vote may come between the reading of the votes and the scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import sqlalchemy as sa

from . import schema as t
from .engine import Store, now
from .page_tallies import write_dealt
from .rankings import belongs, is_comparison

P = ParamSpec("P")
R = TypeVar("R")


def rests_voting(close: Callable[P, R]) -> Callable[P, R]:
    """Around a command that closes a ballot; it takes the store, the project's id and `area_id`.

    Voting is paused for it, closed once it is through, and as it was where it fails. What is kept for voters goes back.
    """

    @wraps(close)
    def closes(*args: P.args, **kwargs: P.kwargs) -> R:
        store, project_id, area_id = _asked(*args, **kwargs)
        resting = _set_states(store, project_id, area_id, "open", "paused")
        try:
            result = close(*args, **kwargs)
        except BaseException:
            _set_states(store, project_id, area_id, "paused", "open", resting)
            raise
        _end_voting(store, project_id, area_id)
        return result

    return closes


def _asked(*args: Any, **kwargs: Any) -> tuple[Store, str, int | None]:
    """Store, project and area of a command's arguments."""
    names = dict(zip(("store", "project_id"), args, strict=False)) | kwargs
    return names["store"], names["project_id"], names.get("area_id")


def _votings(project_id: str, area_id: int | None) -> sa.Select:
    """The ids of a ranking's voting pages with those of their ballots."""
    return (
        sa.select(t.voting.c.id, t.voting.c.ballot_id)
        .join(t.ballot, t.ballot.c.id == t.voting.c.ballot_id)
        .where(t.ballot.c.project_id == project_id, belongs(t.ballot.c.area_id, area_id), is_comparison())
    )


def _set_states(
    store: Store, project_id: str, area_id: int | None, before: str, after: str, only: Sequence[int] | None = None
) -> list[int]:
    """Move a ranking's voting pages (or `only` some) from one state to another; the ids of those moved."""
    with store.read() as conn:
        ids = [row.id for row in conn.execute(_votings(project_id, area_id).where(t.voting.c.state == before))]
    ids = [id_ for id_ in ids if only is None or id_ in only]
    if ids:
        with store.write(project_id) as conn:
            rows = sa.update(t.voting).where(t.voting.c.id.in_(ids), t.voting.c.state == before)
            conn.execute(rows.values(state=after))
    return ids


def _end_voting(store: Store, project_id: str, area_id: int | None) -> None:
    """Close the voting pages of ballots that are closed."""
    query = _votings(project_id, area_id).where(t.voting.c.state != "closed", t.ballot.c.state == "closed")
    with store.read() as conn:
        ended = conn.execute(query).all()
    if ended:
        with store.write(project_id) as conn:
            for voting_id, ballot_id in ended:
                row = sa.update(t.voting).where(t.voting.c.id == voting_id)
                conn.execute(row.values(state="closed", closed_at=now()))
                take_back(conn, voting_id, ballot_id)


def end_voting(conn: sa.Connection, ballot_id: int) -> None:
    """Close the voting page of a round that is being closed, in the same transaction; what voters hold goes back."""
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
    write_dealt(conn, ballot_id)
