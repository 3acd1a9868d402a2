"""What the collect page shows: the ballots in a row, how far the open one is, ways to collect votes, and payment.

For the open ballot it says what each way to collect votes is called, which one is in use, the ballot as it goes out,
its uploads, and what may be done. How evenly the votes came from its voters is held against the plan's quota (§2.5: not
only from the fastest). The payment of voters has assignments with proposals, payments, and the files that can be
reviewed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pandas as pd
import sqlalchemy as sa

from ...base.numbers_in_words import many, percent
from ...errors import StoreError
from ...plan import Plan
from ...plan.campaign_plan import Quota, ballot_quota
from ...store import Store
from ...store import schema as t
from ...store.ballots.ballot_rows import (
    Ballot,
    ballots_of,
    called,
    every_ballot_of,
    pilot_of,
    read_comparisons,
    sentence_start,
    unanswered,
)
from ...store.command import fetch_rows
from ...store.projects.plans import PlanSettings, settings_for, settings_of
from ...store.schema.ballots import CAMPAIGN
from ...store.stored_files import read_blob
from ...store.tokens.areas import n_items_of
from ...store.votes.payment import assignments_of
from ...store.votes.publications import publications_of
from ...store.votes.tallies import Progress, progress_of
from ...store.votes.uploads import Upload, uploads_of
from ...store.voting.owner_commands import VotingPageInfo, read_voting, voting_of
from ...votes.payment import Review, Rules, payments, propose, write_review
from ...votes.platform import Outgoing
from .tasks import TaskPages

MOST = 0.8  # of the comparisons have a vote: from then on it is time to think of closing


@dataclass(frozen=True)
class Stage:
    """One ballot of the plan, still to come; one that is drawn is a `DrawnStage`."""

    number: int
    n_items: int
    n_comparisons: int

    @property
    def state(self) -> str:
        """planned, open or closed."""
        return "planned"

    @property
    def called(self) -> str:
        """What sentences call it: "ballot 2"."""
        return called(self.number, CAMPAIGN)

    @property
    def title(self) -> str:
        """Its heading."""
        name = sentence_start(self.called).removeprefix("The ").capitalize()
        return f"{name}: {self.n_comparisons:,} comparisons of {self.n_items:,} items"


@dataclass(frozen=True)
class DrawnStage(Stage):
    """A ballot that was drawn: its row, and how far it has come."""

    ballot: Ballot
    progress: Progress

    @property
    def state(self) -> str:
        return self.ballot.state

    @property
    def called(self) -> str:
        """What sentences call it: "ballot 2", "the pilot"."""
        return self.ballot.called


@dataclass(frozen=True)
class CollectView:
    """The stages of the campaign, the uploads, and of the open ballot: its voting page, warnings before closing, who
    voted how much.

    `settings` are those that the open ballot was drawn by, else the plan's. `pilot` is the pilot, if one was drawn.
    """

    settings: PlanSettings | None
    plan: Plan | None
    stages: tuple[Stage, ...]
    uploads: tuple[Upload, ...]
    warnings: tuple[str, ...]
    workload: Workload | None = None
    pilot: DrawnStage | None = None
    voting: VotingPageInfo | None = None

    @property
    def is_simulated(self) -> bool:
        """Simulated voters gave some of the votes."""
        return any(drawn.progress.simulated for drawn in self.drawn)

    @property
    def may_close(self) -> bool:
        """Most of the open ballot's comparisons have a vote."""
        return self.open_stage is not None and self.open_stage.progress.share >= MOST

    @property
    def drawn(self) -> tuple[DrawnStage, ...]:
        """The ballots of the plan that were drawn, the pilot apart."""
        return tuple(stage for stage in self.stages if isinstance(stage, DrawnStage))

    @property
    def open_stage(self) -> DrawnStage | None:
        """The open ballot, or the open pilot where no ballot is open."""
        of_ballot = next((stage for stage in self.drawn if stage.state == "open"), None)
        return self.pilot if of_ballot is None and self.pilot and self.pilot.state == "open" else of_ballot

    @property
    def headline(self) -> str:
        """Where the campaign stands, in a sentence or two."""
        stage = self.open_stage
        if stage is not None:
            return self.open_said(stage, stage.progress.answered, stage.progress.wanted)
        if self.next_number is None:
            votes = sum(drawn.progress.votes for drawn in self.drawn)
            return f"**All ballots are closed: the plan is complete, with {many(votes, 'vote')}.**"
        if self.next_number == 1 and self.pilot:
            return "**No ballot is drawn yet.** Drawing it fixes the plan."
        if self.next_number == 1:
            return "**No ballot is drawn yet.** Drawing it fixes the token lists and the plan."
        last = self.next_number - 1
        return f"**Ballot {last} of {len(self.stages)} is closed.** The next one keeps the best of its items."

    def open_said(self, stage: DrawnStage, answered: int, wanted: int) -> str:
        """Where the open ballot stands when so many of the wanted votes are there."""
        ballot_text = "The pilot" if stage.ballot.is_pilot else f"Ballot {stage.number} of {len(self.stages)}"
        return f"**{ballot_text} is open: {answered:,} of {wanted:,} comparisons have a vote.**"

    @property
    def last_closed(self) -> DrawnStage | None:
        return next((stage for stage in reversed(self.drawn) if stage.state == "closed"), None)

    @property
    def next_number(self) -> int | None:
        """The ballot that can be drawn now; None where one is open or all are drawn."""
        if self.open_stage is not None:
            return None
        return next((stage.number for stage in self.stages if stage.state == "planned"), None)


def load(store: Store, project_id: str, area_id: int | None = None) -> CollectView:
    """The collect view of a ranking."""
    with store.read() as conn:
        saved_plan = settings_of(conn, project_id, area_id)
        drawn = {ballot.number: _drawn_stage(conn, ballot) for ballot in ballots_of(conn, project_id, area_id)}
        n_items = n_items_of(conn, project_id, area_id)
        of_number_0 = pilot_of(conn, project_id, area_id)
        pilot = None if of_number_0 is None else _drawn_stage(conn, of_number_0)
        of_pilot = settings_for(conn, pilot.ballot.id) if pilot is not None else None
        uploads = tuple(uploads_of(conn, project_id, area_id))
    if saved_plan is None or n_items < 2:
        return CollectView(saved_plan[1] if saved_plan else None, None, (), (), ())
    settings = saved_plan[1]
    plan = settings.plan(n_items)
    stages = tuple(
        drawn.get(number) or Stage(number, size, comparisons)
        for number, (size, comparisons) in enumerate(zip(plan.sizes, plan.comparisons, strict=True), start=1)
    )
    view = CollectView(settings, plan, stages, uploads, (), pilot=pilot)
    of_open = view.open_stage
    if of_open is None:
        return view
    view = replace(view, voting=read_voting(store, of_open.ballot.id))
    if of_open is pilot:
        return replace(view, settings=of_pilot, warnings=closing_warnings(of_open.progress, None))
    workload = workload_of(of_open.progress, settings, of_open.n_comparisons, of_open.number, view.voting)
    return replace(view, warnings=closing_warnings(of_open.progress, workload), workload=workload)


def _drawn_stage(conn: sa.Connection, ballot: Ballot) -> DrawnStage:
    """A drawn ballot is as large as it was drawn: one of an archive needn't follow a plan."""
    return DrawnStage(ballot.number, ballot.n_items, ballot.n_comparisons, ballot, progress_of(conn, ballot.id))


def closing_warnings(progress: Progress, workload: Workload | None) -> tuple[str, ...]:
    """What a person should know before closing a ballot in this state; a pilot has no `workload`, and scores no
    item."""
    warnings = []
    if not progress.is_complete:
        n = progress.wanted - progress.answered
        warnings.append(f"{n:,} of {progress.wanted:,} comparisons have no vote.")
    if workload is None:
        return tuple(warnings)
    if progress.short_items:
        warnings.append(f"{many(progress.short_items, 'item')} with fewer votes than planned.")
    if progress.unvoted_items:
        warnings.append(f"{many(progress.unvoted_items, 'item')} with no vote at all.")
    if uneven := workload.warning():
        warnings.append(uneven)
    return tuple(warnings)


def uncounted_said(progress: Progress) -> str:
    """How many answers are stored and not counted, by reason, in a sentence; empty where all count."""
    uncounted = (
        (progress.unknown, "answers “I don't know a word here”"),
        (progress.rejected, "rejected"),
        (progress.repeats, "repeats of a voter"),
        (progress.withdrawn, "withdrawn"),
        (progress.excluded, "of voters who are left out"),
    )
    counts = ", ".join(f"{n:,} {reason}" for n, reason in uncounted if n)
    return f"Kept, not counted: {counts}." if counts else ""


def voters_said(progress: Progress) -> str:
    """Who voted, and how evenly, in a sentence; empty before the first vote.

    They weigh as much as 1/Σp² voters with equal shares p of the votes. Items short of votes are told from `MOST` on:
    before, some always are.
    """
    if not progress.voters:
        return ""
    parts = [many(progress.voters, "voter")]
    if progress.top_share is not None and progress.voters > 1:
        effective = f"{progress.effective_voters or 0:.1f}".removesuffix(".0")
        weigh = "" if effective == str(progress.voters) else f", who weigh as much as {effective} with equal shares"
        parts = [f"{parts[0]}{weigh}: the busiest gave {percent(progress.top_share)} of the votes"]
    if progress.simulated:
        share = "all" if progress.simulated == progress.votes else f"{progress.simulated:,} of"
        parts.append(f"{share} {many(progress.votes, 'vote')} by simulated voters")
    elif progress.votes > progress.answered:
        parts.append(f"{many(progress.votes, 'vote')} in all")
    if progress.short_items and progress.share >= MOST:
        parts.append(f"{many(progress.short_items, 'item')} short of votes")
    if progress.seconds is not None:
        parts.append(f"{progress.seconds:.1f} s per comparison")
    return f"{'; '.join(parts)}."


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
    """How evenly the votes of ballot `number` (from 1) are spread; `voting` is its voting page, if it has one."""
    quota_terms: dict[str, int] = {"n_voters": settings.n_voters, "task_size": settings.task_size}
    if voting is not None:
        page_settings = voting.settings
        quota_terms |= {"task_size": page_settings.task_size, "tasks": page_settings.tasks_per_voter}
    share = progress.top_share
    top = None if share is None else round(share * progress.votes)
    quota = ballot_quota(number, n_comparisons, **quota_terms)
    return Workload(quota, settings.n_voters, top, share, progress.effective_voters, voting is not None)


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
    flags_of_voter: dict[int, list[str]] = {}
    for voter_id, wrong, right, counts, n_same in conn.execute(query):
        flags = [f"{wrong} of {wrong + right} known answers wrong"] if wrong else []
        flags += [] if counts else ["set aside"]
        flags += [f"one of {n_same} from one address"] if n_same > 1 else []
        flags_of_voter[voter_id] = flags
    return flags_of_voter


WAYS = {
    "page": ("Voting page", "People open a link to Runoff's own page; each vote is stored at once."),
    "turkle": ("Turkle", "A free crowdsourcing server of your own; Runoff can publish there and fetch the votes."),
    "labelstudio": ("Label Studio", "An annotation tool; tasks go there as a file and an export comes back."),
    "prolific": ("Prolific", "Paid participants from Prolific, who vote on Runoff's own page."),
    "colleagues": ("Files for colleagues", "Tables to fill in, or a page in a file that needs no server."),
    "mturk": (
        "Mechanical Turk's format",
        "For programs that take Mechanical Turk's files; Turk itself closed on 30 September 2026.",
    ),
}
_OF_UPLOADS = {"turkle": "turkle", "mturk": "mturk", "labelstudio": "labelstudio", "plain": "colleagues"}


def way_in_use(store: Store, ballot: Ballot, uploads: Sequence[Upload]) -> str:
    """How the votes of this ballot, else of the last one, were collected; the voting page where there are none."""
    with store.read() as conn:
        if voting_of(conn, ballot.id) is not None:
            return "page"
        if publications_of(conn, ballot.id):
            return "turkle"
    return next((_OF_UPLOADS[upload.platform] for upload in uploads if upload.platform in _OF_UPLOADS), "page")


def outgoing(store: Store, project_id: str, ballot: Ballot, pages: TaskPages, *, missing: bool = False) -> Outgoing:
    """The ballot for a platform; with `missing` only the comparisons that want votes. Nothing is read yet."""
    this = (store, project_id, ballot.number, ballot.area_id)
    return Outgoing(
        code=ballot.code,
        widest=pages.widest,
        notion=pages.notion,
        ties_allowed=pages.settings.ties_allowed,
        comparisons=lambda: read_comparisons(*this),
        only=(lambda: unanswered(*this)) if missing else (lambda: None),
        is_top_up=missing,
        wording=pages.settings.wording,
    )


MTURK = "mturk"


@dataclass(frozen=True)
class PaymentView:
    """`assignments` (`tables.ASSIGNMENTS` with `proposal`, the reason to reject, or ""), `payments`, and the uploads
    (id, file's name) for which a review file can be written. What follows from them is found once for each view."""

    assignments: pd.DataFrame
    payments: pd.DataFrame
    uploads: tuple[tuple[int, str], ...]

    @cached_property
    def table(self) -> pd.DataFrame:
        """The assignments for people."""
        frame = self.assignments
        checks = frame["checks_right"] + frame["checks_wrong"]
        each = frame["seconds"] / frame["n_answered"].where(frame["n_answered"] > 0)
        columns = {
            "voter": frame["voter"],
            "assignment": frame["assignment_id"],
            "task": frame["task_id"],
            "answered": _shares(frame["n_answered"], frame["n_asked"], str),
            "checks right": _shares(frame["checks_right"], checks, lambda _: ""),
            "seconds each": each.round(1),
            "against it": frame["proposal"],
            "decision": frame["review"].map(_DECISIONS),
            "reason": frame["reason"],
            "platform says": frame["status"],
        }
        return pd.DataFrame(columns)

    @cached_property
    def undecided(self) -> pd.DataFrame:
        return self.assignments[self.assignments["review"] == ""]

    @cached_property
    def fine(self) -> list[int]:
        """Undecided assignments against which nothing speaks."""
        return self.undecided.loc[self.undecided["proposal"] == "", "assignment"].tolist()

    @cached_property
    def doubtful(self) -> dict[int, str]:
        """Undecided assignments that are proposed for rejection, with the reason."""
        rows = self.undecided[self.undecided["proposal"] != ""]
        return dict(zip(rows["assignment"].tolist(), rows["proposal"].tolist(), strict=True))

    @cached_property
    def headline(self) -> str:
        """How far it is, in a sentence."""
        reviews = self.assignments["review"].value_counts()
        n = {name: int(reviews.get(name, 0)) for name in ("approve", "reject", "")}
        decided = (
            f"{many(len(self.assignments), 'assignment')} of {many(len(self.payments), 'voter')}: "
            f"{n['approve']:,} approved, {n['reject']:,} rejected, {n['']:,} undecided"
        )
        if not self.doubtful:
            return f"{decided}."
        return f"{decided}, {len(self.doubtful):,} of these with something against them."


def _shares(n: pd.Series, of: pd.Series, alone: Callable[[int], str]) -> list[str]:
    """“n of of” for each row, `alone(n)` where `of` is 0; there are many rows and few different ones."""
    pairs = list(zip(n.tolist(), of.tolist(), strict=True))
    text_of = {pair: f"{pair[0]} of {pair[1]}" if pair[1] else alone(pair[0]) for pair in set(pairs)}
    return [text_of[pair] for pair in pairs]


_DECISIONS = {"approve": "approved", "reject": "rejected", "": ""}


def load_payment(
    store: Store, project_id: str, ballot_id: int, rules: Rules, *, assignments: pd.DataFrame | None = None
) -> PaymentView:
    """The payment of a ballot. A project's other ballots are paid for themselves.

    assignments : those of the ballot, where they have been read already.
    """
    with store.read() as conn:
        frame = assignments_of(conn, ballot_id) if assignments is None else assignments
        ballot = next(one for one in every_ballot_of(conn, project_id) if one.id == ballot_id)
        terms = ballot.settings if ballot.is_round else settings_for(conn, ballot_id)
        u = t.upload.c
        query = sa.select(u.id, u.filename).where(
            u.ballot_id == ballot_id, u.platform == MTURK, u.withdrawn_at.is_(None)
        )
        uploads = tuple((int(id_), str(name)) for id_, name in conn.execute(query.order_by(u.id)))
    frame = frame.assign(proposal=propose(frame, rules))
    due = payments(frame, reward=terms.reward, task_size=terms.task_size)
    return PaymentView(frame, due, uploads)


def review_file(store: Store, upload_id: int, view: PaymentView) -> bytes:
    """The stored file of an upload with the decisions in it; see `payment.write_review`."""
    with store.read() as conn:
        row = conn.execute(sa.select(t.upload).where(t.upload.c.id == upload_id)).one_or_none()
    if row is None:
        raise StoreError("This upload no longer exists.")
    data = read_blob(store, row.sha256, f"The kept copy of {row.filename}")
    decided = view.assignments[(view.assignments["platform"] == MTURK) & (view.assignments["review"] != "")]
    columns = (decided[name].tolist() for name in ("assignment_id", "review", "reason"))
    reviews = {id_: Review(review, reason) for id_, review, reason in zip(*columns, strict=True)}
    return write_review(data, row.filename, reviews)
