"""How evenly a ballot's votes came from its voters, held against the plan's quota (§2.5: not only from the fastest)."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import sqlalchemy as sa

from ...base.numbers_in_words import many, percent
from ...plan.campaign_plan import Quota, ballot_quota
from ...store import Store
from ...store import schema as t
from ...store.command import fetch_rows
from ...store.projects.plans import PlanSettings
from ...store.votes.tallies import Progress
from ...store.voting.owner_commands import VotingPageInfo


@dataclass(frozen=True)
class Workload:
    """The votes of a ballot's busiest voter beside the quota, and the effective number of voters 1/Σp².

    `by_page`: the quota is the limit that the voting page keeps, else the plan's for its `n_voters`. `top_votes` and
    `effective` are None where there is no vote yet.
    """

    quota: Quota
    n_voters: int
    top_votes: int | None
    top_share: float | None
    effective: float | None
    by_page: bool = False

    @property
    def why(self) -> str:
        """Why the quota is what it is, as part of a sentence."""
        return "the limit of the voting page" if self.by_page else f"for the plan's {many(self.n_voters, 'voter')}"

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
            f"{self.quota.comparisons_per_voter:,}, {self.why}. The votes are as uneven as if "
            f"{self.effective or 0:.1f} voters had given equally many. The scores lean towards the busiest voters."
        )


def workload_of(
    progress: Progress, settings: PlanSettings, n_comparisons: int, number: int, voting: VotingPageInfo | None = None
) -> Workload:
    """The dealing so far of ballot `number` (from 1), of so many comparisons; `voting` is its page, if it has one."""
    of: dict[str, int] = {"n_voters": settings.n_voters, "task_size": settings.task_size}
    if voting is not None:
        kept = voting.settings
        of |= {"task_size": kept.task_size, "tasks": kept.tasks_per_voter}
    share = progress.top_share
    top = None if share is None else round(share * progress.votes)
    found = ballot_quota(number, n_comparisons, **of)
    return Workload(found, settings.n_voters, top, share, progress.effective_voters, voting is not None)


def read_voters(store: Store, ballot_id: int, most: int) -> pd.DataFrame:
    """Who gave how much of a ballot, the busiest first: voter, platform, votes, share, unknown, flags.

    `share` is of the ballot's votes, 0 to 1; `unknown` counts answers that a word isn't known; `flags` say what to look
    at: more than `most` votes, the quota, and what the voting page knows of a voter ("" where there is nothing).
    """
    j, v = t.judgement.c, t.voter.c
    votes = sa.func.sum(sa.case((j.status == "counted", 1), else_=0))
    unknown = sa.func.sum(sa.case((j.status == "unknown", 1), else_=0))
    query = (
        sa.select(v.id, v.external_id, v.platform, votes, unknown)
        .join(t.assignment, t.assignment.c.voter_id == v.id)
        .join(t.judgement, j.assignment_id == t.assignment.c.id)
        .join(t.question, t.question.c.id == j.question_id)
        .where(t.assignment.c.ballot_id == ballot_id, j.status.in_(["counted", "unknown"]))
        .where(t.question.c.role == "main")
        .group_by(v.id)
        .order_by(votes.desc(), v.id)
    )
    with store.read() as conn:
        frame = pd.DataFrame(fetch_rows(conn, query), columns=["id", "voter", "platform", "votes", "unknown"])
        on_page = _flags_of_page(conn, ballot_id)
    frame = frame.astype({"voter": "str", "platform": "str", "votes": "int64", "unknown": "int64"})
    over = [["over the quota"] if n > most else [] for n in frame["votes"]]
    flags = ["; ".join(one + on_page.get(id_, [])) for id_, one in zip(frame.pop("id"), over, strict=True)]
    frame.insert(3, "share", frame["votes"] / max(int(frame["votes"].sum()), 1))
    return frame.assign(flags=pd.Series(flags, dtype="str"))


def _flags_of_page(conn: sa.Connection, ballot_id: int) -> dict[int, list[str]]:
    """What the voting page of a ballot knows of its voters that is worth a look, by their ids."""
    s = t.sitting.c
    same = sa.case((s.address.is_not(None), sa.func.count().over(partition_by=s.address)), else_=1)
    query = sa.select(s.voter_id, s.gold_wrong, s.gold_right, s.counts, same)
    query = query.join(t.voting, t.voting.c.id == s.voting_id).where(t.voting.c.ballot_id == ballot_id)
    found: dict[int, list[str]] = {}
    for voter_id, wrong, right, counts, n_same in conn.execute(query):
        flags = [f"{wrong} of {wrong + right} known answers wrong"] if wrong else []
        flags += [] if counts else ["set aside"]
        flags += [f"one of {n_same} from one address"] if n_same > 1 else []
        found[voter_id] = flags
    return found
