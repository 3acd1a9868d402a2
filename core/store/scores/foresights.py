"""What a closed ballot keeps of the worth of another one, and of who is tied for first; see
`core/trust/foresight.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from ...errors import DisconnectedError, InputError, NotConvergedError
from ...scores import BallotVotes
from ...scores.fit import FittedVotes, fit_votes
from ...trust.foresight import Foresight, foresee
from .. import schema as t
from ..ballots.ballots import Ballot
from ..projects.plans import settings_of
from ..tokens.areas import n_items_of

MOST_VOTES = 200_000  # of which closing simulates another ballot: some ten seconds


@dataclass(frozen=True)
class NextBallot:
    """How many items the ballot after one would have, and in how many comparisons each."""

    n_items: int
    appearances: int


def next_after(conn: sa.Connection, project_id: str, ballot: Ballot) -> NextBallot:
    """The ballot after this one by the plan; after the last, one more like it."""
    found = settings_of(conn, project_id, ballot.area_id)
    if found is None or ballot.is_pilot or ballot.number >= found[1].n_ballots:
        return NextBallot(ballot.n_items, ballot.appearances)
    plan = found[1].plan(n_items_of(conn, project_id, ballot.area_id))
    return NextBallot(plan.sizes[ballot.number], plan.appearances_by_ballot[ballot.number])


def foresight_of(
    votes: Sequence[BallotVotes], ballot: Ballot, coming: NextBallot, fitted: FittedVotes | None = None
) -> dict[str, Any] | None:
    """The foresight to be stored with a ballot at closing; None above `MOST_VOTES`, or where votes can't be fitted."""
    if sum(len(held.first) for held in votes) > MOST_VOTES:
        return None
    try:
        return foresee(
            votes,
            ballot.protocol,
            fitted if fitted is not None else fit_votes(votes),
            n_keep=coming.n_items,
            appearances=coming.appearances,
            rng=np.random.default_rng([ballot.seed, 3]),
        ).stored()
    except (DisconnectedError, InputError, NotConvergedError):
        return None


def closed_fit_of(conn: sa.Connection, ballot_id: int) -> dict[str, Any]:
    """What closing stored of the fit, empty where it stored nothing."""
    return conn.execute(sa.select(t.ballot.c.fit).where(t.ballot.c.id == ballot_id)).scalar_one_or_none() or {}


def stored_foresight(conn: sa.Connection, ballot_id: int) -> Foresight | None:
    """The foresight stored with a closed ballot; None where there is none."""
    return Foresight.of(closed_fit_of(conn, ballot_id).get("another"))
