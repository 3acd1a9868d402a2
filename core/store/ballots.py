"""The ballots of a project and what stands in them; `drawing` draws them, `closing` closes them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ..errors import StoreError
from . import schema as t
from .command import fetch_rows
from .comparisons import comparisons_of
from .engine import Store
from .rankings import belongs, ranking_of

LEVEL = 0.9
RESAMPLES = 1000


@dataclass(frozen=True)
class Ballot:
    """A ballot as pages see it."""

    id: int
    number: int
    code: str
    state: str
    protocol: str
    appearances: int
    seed: int
    n_items: int
    n_comparisons: int
    n_tied: int
    n_tied_kept: int
    slope: float | None
    interval_note: str | None
    drawn_at: str
    closed_at: str | None
    area_id: int | None = None  # the area that it ranks, where each has a ranking of its own

    @property
    def is_open(self) -> bool:
        return self.state == "open"


_COLUMNS = [t.ballot.c[name] for name in Ballot.__annotations__]


def ballots_of(conn: sa.Connection, project_id: str, area_id: int | None = None) -> list[Ballot]:
    """The ballots of one ranking by number."""
    query = sa.select(*_COLUMNS).where(t.ballot.c.project_id == project_id, belongs(t.ballot.c.area_id, area_id))
    return [Ballot(*row) for row in conn.execute(query.order_by(t.ballot.c.number))]


def every_ballot_of(conn: sa.Connection, project_id: str) -> list[Ballot]:
    """The ballots of all rankings, in the order they were drawn."""
    query = sa.select(*_COLUMNS).where(t.ballot.c.project_id == project_id).order_by(t.ballot.c.id)
    return [Ballot(*row) for row in conn.execute(query)]


def read_ballots(store: Store, project_id: str, area_id: int | None = None) -> list[Ballot]:
    """The ballots of one ranking by number."""
    with store.read() as conn:
        return ballots_of(conn, project_id, area_id)


def open_ballot_of(conn: sa.Connection, project_id: str, area_id: int | None = None) -> Ballot:
    """The open ballot of a ranking; `StoreError` if there is none."""
    ballots = [ballot for ballot in ballots_of(conn, project_id, area_id) if ballot.is_open]
    if not ballots:
        ranking_of(conn, project_id, area_id)
        raise StoreError("No ballot is open. Draw one on the Collect page first.")
    return ballots[0]


def ballot_seed(project_seed: int, plan_seed: int, number: int, place: int | None = None) -> int:
    """The seed of ballot `number`: follows from the project's, the plan's, and the place of its area, if it has one."""
    parts = [project_seed, plan_seed, number] + ([] if place is None else [place + 1])
    return int(np.random.SeedSequence(parts).generate_state(1)[0] >> 1)


def unanswered(store: Store, project_id: str, number: int, area_id: int | None = None) -> list[int]:
    """The question ids of a ranking's ballot `number` that have fewer votes than they want."""
    query = (
        sa.select(t.question.c.id)
        .join(t.ballot, t.ballot.c.id == t.question.c.ballot_id)
        .where(t.ballot.c.project_id == project_id, t.ballot.c.number == number, belongs(t.ballot.c.area_id, area_id))
        .where(t.question.c.n_votes < t.question.c.n_wanted)
        .order_by(t.question.c.id)
    )
    with store.read() as conn:
        return [row[0] for row in fetch_rows(conn, query)]


def read_comparisons(store: Store, project_id: str, number: int, area_id: int | None = None) -> pd.DataFrame:
    """The comparisons of a ranking's ballot `number` (schema COMPARISONS)."""
    with store.read() as conn:
        ballots = {ballot.number: ballot for ballot in ballots_of(conn, project_id, area_id)}
        if number not in ballots:
            raise StoreError(f"Ballot {number} isn't drawn yet.")
        return comparisons_of(conn, ballots[number].id, project_id)
