"""When the voters of a voting page began, how many in a minute, and how many of one address; a span of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import pandas as pd
import sqlalchemy as sa

from ...store import Store
from ...store import schema as t

MANY_OF_ONE = 5  # so many of one address within a minute are pointed out


@dataclass(frozen=True)
class Arrivals:
    """The voters of a voting page in the order in which they began: id, voter, minute (UTC), address.

    Addresses are numbered in the order in which they come up; 0 is one that isn't known: the voter came over from an
    earlier ballot, or the address is forgotten.
    """

    voters: pd.DataFrame

    @property
    def minutes(self) -> pd.DataFrame:
        """A row for each minute in which somebody began, the newest first; a note where many have one address."""
        known = self.voters[self.voters["address"] > 0]
        of_one = known.groupby(["minute", "address"]).size().groupby("minute").max()
        found = self.voters.groupby("minute").size().rename("voters").to_frame()
        most = of_one.reindex(found.index, fill_value=0)
        told = f"{MANY_OF_ONE} or more of one address"
        notes = [told if n >= MANY_OF_ONE else "" for n in most]
        found["most of one address"], found["note"] = most, notes
        return found.sort_index(ascending=False).reset_index()

    @property
    def addresses(self) -> pd.DataFrame:
        """The addresses that several voters have, most first, with the minutes of the first and the last of them."""
        known = self.voters[self.voters["address"] > 0].groupby("address")["minute"]
        found = known.agg(["size", "min", "max"]).reset_index()
        found = found.set_axis(["address", "voters", "first began", "last began"], axis=1)
        return found[found["voters"] > 1].sort_values(["voters", "address"], ascending=[False, True])

    def between(self, first: datetime, last: datetime, address: int = 0) -> pd.DataFrame:
        """The voters who began from the minute `first` to the minute `last`, both whole; only those of an address."""
        minutes = self.voters["minute"]
        began = (minutes >= minute_of(first)) & (minutes <= minute_of(last))
        return self.voters[began & ((self.voters["address"] == address) | (address == 0))]


@dataclass(frozen=True)
class Span:
    """What goes with some voters: their answers that aren't withdrawn yet, and when the last of these came (UTC)."""

    session_ids: list[int]
    n_answers: int
    last: str | None


def minute_of(moment: datetime) -> str:
    """A minute as the tables name it.

    >>> minute_of(datetime(2026, 3, 1, 9, 5, 59))
    '2026-03-01 09:05'
    """
    return moment.strftime("%Y-%m-%d %H:%M")


def load(store: Store, voting_id: int) -> Arrivals:
    """The voters of a voting page, as they began."""
    s = t.sitting.c
    query = sa.select(s.id, t.voter.c.external_id, s.began_at, s.address).join(t.voter, t.voter.c.id == s.voter_id)
    with store.read() as conn:
        rows = conn.execute(query.where(s.voting_id == voting_id).order_by(s.id)).all()
    found = pd.DataFrame([tuple(row) for row in rows], columns=["id", "voter", "began", "hash"])
    numbers = {address: n for n, address in enumerate(found["hash"].dropna().unique(), 1)}
    minutes = [began[:16].replace("T", " ") for began in found["began"]]
    address = [numbers.get(one, 0) for one in found["hash"]]
    return Arrivals(found[["id", "voter"]].assign(minute=minutes, address=pd.Series(address, dtype=int)))


def span_of(store: Store, session_ids: Sequence[int]) -> Span:
    """What would go with the voters of some sessions; those who have nothing left and get no more are left out."""
    s, d, j = t.sitting.c, t.deal.c, t.judgement.c
    answered = sa.and_(j.assignment_id == d.assignment_id, j.question_id == d.question_id, j.status != "withdrawn")
    query = (
        sa.select(s.id, s.state, sa.func.count(j.id), sa.func.max(sa.case((j.id.is_not(None), d.answered_at))))
        .outerjoin(t.deal, sa.and_(d.sitting_id == s.id, d.assignment_id.is_not(None)))
        .outerjoin(t.judgement, answered)
        .where(s.id.between(min(session_ids, default=0), max(session_ids, default=0)))
        .group_by(s.id, s.state)
    )
    wanted = set(session_ids)
    with store.read() as conn:
        rows = [row for row in conn.execute(query) if row[0] in wanted and (row[2] or row[1] != "stopped")]
    return Span(
        [row[0] for row in rows], sum(row[2] for row in rows), max((row[3] or "" for row in rows), default="") or None
    )
