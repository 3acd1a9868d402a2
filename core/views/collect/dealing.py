"""How evenly a ballot's votes came from its voters, held against the plan's quota (§2.5: not only from the fastest)."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import sqlalchemy as sa

from ...base.percent import percent
from ...base.plurals import many
from ...plan.plan import Quota, quota
from ...store import Store
from ...store import schema as t
from ...store.command import fetch_rows
from ...store.projects.plans import PlanSettings
from ...store.votes.tallies import Progress


@dataclass(frozen=True)
class Dealing:
    """The votes of a ballot's busiest voter beside the quota, and the effective number of voters 1/Σp².

    `top_votes` and `effective` are None where there is no vote yet.
    """

    quota: Quota
    n_voters: int
    top_votes: int | None
    top_share: float | None
    effective: float | None

    @property
    def is_over(self) -> bool:
        """The busiest voter gave more votes than the quota allows."""
        return self.top_votes is not None and self.top_votes > self.quota.comparisons_per_voter

    def warning(self) -> str | None:
        """What a person should know before closing; None while everyone keeps the quota."""
        if not self.is_over:
            return None
        return (
            f"One voter gave {many(self.top_votes or 0, 'vote')}, {percent(self.top_share or 0)} of all; the quota is "
            f"{self.quota.comparisons_per_voter:,}, since the plan has {many(self.n_voters, 'voter')}. The votes "
            f"are as uneven as if {self.effective or 0:.1f} voters had given equally many. The scores lean "
            "towards the busiest voters."
        )


def dealing_of(progress: Progress, settings: PlanSettings, n_items: int, number: int) -> Dealing:
    """The dealing of ballot `number` (from 1) so far, of a project with so many items."""
    quotas = quota(settings.plan(n_items), settings.n_voters, settings.task_size)
    share = progress.top_share
    top = None if share is None else round(share * progress.votes)
    return Dealing(quotas[number - 1], settings.n_voters, top, share, progress.effective_voters)


def read_voters(store: Store, ballot_id: int, most: int) -> pd.DataFrame:
    """Who gave how much of a ballot, the busiest first: voter, platform, votes, share, unknown, over.

    `share` is of the ballot's votes, 0 to 1; `unknown` counts answers that a word isn't known; `over` says that there
    are more than `most` votes, the quota.
    """
    j, v = t.judgement.c, t.voter.c
    votes = sa.func.sum(sa.case((j.status == "counted", 1), else_=0))
    unknown = sa.func.sum(sa.case((j.status == "unknown", 1), else_=0))
    query = (
        sa.select(v.external_id, v.platform, votes, unknown)
        .join(t.assignment, t.assignment.c.voter_id == v.id)
        .join(t.judgement, j.assignment_id == t.assignment.c.id)
        .join(t.question, t.question.c.id == j.question_id)
        .where(t.assignment.c.ballot_id == ballot_id, j.status.in_(["counted", "unknown"]))
        .where(t.question.c.role == "main")
        .group_by(v.id)
        .order_by(votes.desc(), v.id)
    )
    with store.read() as conn:
        frame = pd.DataFrame(fetch_rows(conn, query), columns=["voter", "platform", "votes", "unknown"])
    frame = frame.astype({"voter": "str", "platform": "str", "votes": "int64", "unknown": "int64"})
    frame.insert(3, "share", frame["votes"] / max(int(frame["votes"].sum()), 1))
    return frame.assign(over=frame["votes"] > most)
