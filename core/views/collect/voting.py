"""What the owner sees of the voting page: links, pace, expected end, checks, and its voters as they began.

Totals stand for what voters told of themselves. Of voters it is shown when each began, how many did in a minute, and
how many have one address; those of a span can be looked at together.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pandas as pd
import segno
import sqlalchemy as sa

from ...ballots.checks import on_voting_page
from ...base.numbers_in_words import many, plural
from ...commands.figures.rehearsal import Rehearsal, Rehearsed
from ...plan.campaign_plan import ballot_quota
from ...questions.voting_settings import FEWEST_TOLD, TRAITS, VotingSettings
from ...store import Store
from ...store import schema as t
from ...store.ballots.ballot_rows import Ballot, ballots_of, open_ballot_of, pilot_of, rounds_of
from ...store.command import project_row
from ...store.projects.plans import PlanSettings, settings_for
from ...store.tokens.areas import items_of
from ...store.votes.checks import gold_of
from ...store.voting.owner_commands import VotingPageInfo, hashing_of, round_voting_settings, voting_of
from ...tabular.csv_writing import for_spreadsheets
from ..wording import moment as shown

VOTING = {"open": "Voting is **open**.", "paused": "Voting is **paused**.", "closed": "Voting is **closed**."}
MOST_TASKS = 1000  # per voter, of the page's settings
PACE_MINUTES, ACTIVE_MINUTES = 10, 5
LOCAL = ("localhost", "127.0.0.1", "::1")
PLATFORM_LINKS = {
    "Prolific": "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
    "CloudResearch Connect": "?participantId=${participantId}&assignmentId=${assignmentId}",
    "A crowd platform with MTurk's parameters": "?assignmentId=${assignmentId}&workerId=${workerId}",
}


@dataclass(frozen=True)
class VotingProgress:
    """How voting goes right now: votes that count of those wanted, voters, votes per minute, the expected end (UTC)."""

    votes: int
    wanted: int
    voters: int
    active: int
    finished: int
    pace: float
    expected_end: str | None

    @property
    def share(self) -> float:
        """The part of the wanted votes that are there, 0 to 1."""
        return min(self.votes / self.wanted, 1.0) if self.wanted else 0.0

    def said(self, noun: str = "vote") -> str:
        """The voters and their pace, as Markdown; empty before somebody comes. `noun` is what they give."""
        if not self.voters:
            return ""
        parts = [
            f"{many(self.voters, 'voter')} on the voting page, {self.active:,} in the last {ACTIVE_MINUTES} minutes",
            f"{self.finished:,} finished",
        ]
        if self.pace:
            parts.append(f"{self.pace:.1f} {noun}s per minute")
        if self.expected_end:
            parts.append(f"all in by about {shown(self.expected_end)} UTC at this pace")
        return f"{'; '.join(parts)}."


def load_live(store: Store, ballot_id: int) -> VotingProgress:
    """The state of a ballot's voting page. The pace is that of the last ten minutes; without one there is no end."""
    moment = datetime.now(UTC)
    q, d, s = t.question.c, t.deal.c, t.sitting.c
    with store.read() as conn:
        given = sa.func.sum(sa.case((q.n_votes < q.n_wanted, q.n_votes), else_=q.n_wanted))
        totals = sa.select(sa.func.coalesce(given, 0), sa.func.coalesce(sa.func.sum(q.n_wanted), 0))
        votes, wanted = conn.execute(totals.where(q.ballot_id == ballot_id, q.role == "main")).one()
        here = sa.select(t.voting.c.id).where(t.voting.c.ballot_id == ballot_id).scalar_subquery()
        since = _iso(moment - timedelta(minutes=ACTIVE_MINUTES))
        seen = sa.func.sum(sa.case((s.seen_at > since, 1), else_=0))
        ended = sa.func.sum(sa.case((s.state == "finished", 1), else_=0))
        counts = sa.select(sa.func.count(), sa.func.coalesce(seen, 0), sa.func.coalesce(ended, 0))
        voters, active, finished = conn.execute(counts.where(s.voting_id == here)).one()
        recent = sa.select(sa.func.count()).select_from(t.deal).join(t.sitting, s.id == d.sitting_id)
        recent = recent.where(s.voting_id == here, d.kind == "main")
        recent = recent.where(d.answered_at > _iso(moment - timedelta(minutes=PACE_MINUTES)))
        pace = conn.execute(recent).scalar_one() / PACE_MINUTES
    end = _iso(moment + timedelta(minutes=(wanted - votes) / pace)) if pace and votes < wanted else None
    return VotingProgress(int(votes), int(wanted), int(voters), int(active), int(finished), pace, end)


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds")


def standard_settings(plan: PlanSettings, ballot: Ballot) -> VotingSettings:
    """The settings by which a ballot's voting page opens unless the owner changes them: the plan's, with its quota."""
    quota = ballot_quota(ballot.number, ballot.n_comparisons, plan.n_voters, plan.task_size)
    tasks = min(quota.tasks_per_voter, MOST_TASKS)
    return VotingSettings(
        task_size=plan.task_size,
        ties_allowed=plan.ties_allowed,
        tasks_per_voter=tasks,
        **on_voting_page(plan.checks, tasks),
    )


def rehearsal_of(
    store: Store, project_id: str, area_id: int | None, code: str | None = None, *, n_voters: int, browser: bool = False
) -> Rehearsal:
    """The rehearsal of the voting page of an open ballot or round, by its settings as they are, or by those it would
    open with.

    Without a `code` it is of the ranking's open ballot, and where only a round is open, of that. Errors as of
    `open_ballot_of`.
    """
    with store.read() as conn:
        revision = int(project_row(conn, project_id).revision)
        ballots = [*ballots_of(conn, project_id, area_id), pilot_of(conn, project_id, area_id)]
        open_rounds = [one for one in rounds_of(conn, project_id, area_id) if one.is_open]
        if code is None and open_rounds and not any(one is not None and one.is_open for one in ballots):
            code = open_rounds[-1].code
        ballot = open_ballot_of(conn, project_id, area_id, code)
        voting = voting_of(conn, ballot.id)
        if voting is not None:
            settings = voting.settings
        elif ballot.is_round:
            settings = round_voting_settings(ballot)
        else:
            settings = standard_settings(settings_for(conn, ballot.id), ballot)
    return Rehearsal(project_id, revision, area_id, ballot.code, settings.stored(), n_voters, browser)


@dataclass(frozen=True)
class RehearsalView:
    """What a rehearsal found, for people: its outcome, what a task takes and pays, what is exported, and that the
    project is as it was, each in a sentence; and the screens that a voter sees, in order."""

    outcome: str
    pay: str
    exported: str
    untouched: str
    screens: pd.DataFrame


def rehearsal_view(rehearsed: Rehearsed) -> RehearsalView:
    """What is shown of a rehearsal beside its problems and its votes."""
    rows = [(screen.heading, screen.n_words, ", ".join(screen.buttons)) for screen in rehearsed.screens]
    return RehearsalView(
        _outcome(rehearsed),
        _pay(rehearsed),
        _exported(rehearsed),
        _untouched(rehearsed),
        pd.DataFrame(rows, columns=["screen", "words", "buttons"]),
    )


def _outcome(rehearsed: Rehearsed) -> str:
    n_refused = sum(post.is_fine for post in rehearsed.bad_posts)
    counts = (
        f"{many(rehearsed.n_voters, 'voter')} gave {many(rehearsed.n_sent, 'answer')}; {rehearsed.n_compared:,} stored "
        f"rows were compared with them; {n_refused} of {len(rehearsed.bad_posts)} bad requests were refused"
    )
    if rehearsed.is_fine:
        return f"{counts}. Nothing is lost, doubled or changed."
    n = len(rehearsed.problems)
    return f"{counts}. " + plural(n, "{n} thing isn't as it must be.", "{n} things aren't as they must be.")


def _pay(rehearsed: Rehearsed) -> str:
    takes = (
        f"A task of {many(rehearsed.n_asked, 'question')} takes {rehearsed.seconds_per_task:,.0f} s at the plan's "
        f"pace; reading what comes before the first one takes {rehearsed.seconds_first:,.0f} s more"
    )
    if not (rehearsed.reward and rehearsed.n_asked):
        return f"{takes}."
    return f"{takes}. A reward of {rehearsed.reward:,.2f} makes {rehearsed.wage:,.2f} per hour."


def _exported(rehearsed: Rehearsed) -> str:
    if not rehearsed.columns:
        return ""  # a problem says why
    filled = ""
    if rehearsed.n_filled:
        n = many(rehearsed.n_filled, "answer")
        filled = f"; these voters left questions open, so {n} of simulated people stand in it, too"
    return f"What is exported, as {rehearsed.exported_as}: {many(rehearsed.n_rows, 'row')}{filled}. Some of them:"


def _untouched(rehearsed: Rehearsed) -> str:
    revision, votes = rehearsed.after
    n = votes - rehearsed.before[1]
    came = f"; {many(n, 'answer')} came from people meanwhile" if n else ""
    return f"The project itself is untouched{came}: its revision is {revision:,}, its count of answers {votes:,}."


def settings_said(settings: VotingSettings) -> str:
    """What a voter is asked by these settings, in a sentence."""
    return (
        f"A voter gets {many(settings.tasks_per_voter, 'task')} of {many(settings.task_size, 'comparison')} at most; "
        f"each comparison gets {many(settings.votes_per_comparison, 'vote')}."
    )


@dataclass(frozen=True)
class VotingView:
    """The voting page of a ballot: its settings and state, the checks, and the voters (one row each).

    `hashes`: whether platforms' ids are stored as hashes, where that stays as somebody has begun to vote; else None.
    """

    voting: VotingPageInfo | None
    gold: pd.DataFrame
    voters: pd.DataFrame
    told: pd.DataFrame
    hashes: bool | None


def state_said(voting: VotingPageInfo) -> str:
    """Whether voting is open, in a sentence (Markdown)."""
    if voting.in_closing_pause:
        return "Voting **rests** while the ballot is being closed. If that is stopped, voting goes on."
    return VOTING[voting.state]


def load(store: Store, project_id: str, ballot: Ballot) -> VotingView:
    """All of it but the live figures."""
    with store.read() as conn:
        voting = voting_of(conn, ballot.id)
        gold = gold_of(conn, ballot.id)
        names = _names(conn, project_id) if gold else {}
        voters = _voters(conn, voting)
        told = _traits(conn, voting)
        hashes = hashing_of(conn, project_id, ballot.area_id, ballot.id)
    checks = [(g.question_id, names[g.more], names[g.less], g.n_right, g.n_wrong) for g in gold]
    frame = pd.DataFrame(checks, columns=["id", "right answer", "other pair", "answered right", "answered otherwise"])
    return VotingView(voting, frame, voters, told, hashes)


def _names(conn: sa.Connection, project_id: str) -> dict[int, str]:
    """The items by their positions, as two tokens."""
    items = items_of(conn, project_id)
    return dict(zip(items["item"].tolist(), (items["token_a"] + " – " + items["token_b"]).tolist(), strict=True))


def _voters(conn: sa.Connection, voting: VotingPageInfo | None) -> pd.DataFrame:
    s, v = t.sitting.c, t.voter.c
    columns = {
        "id": s.id, "voter": v.external_id, "platform": v.platform, "state": s.state, "tasks done": s.n_done,
        "checks right": s.gold_right, "checks wrong": s.gold_wrong, "counts": s.counts, "code": s.code,
        "last seen": s.seen_at, "began": s.began_at,
        "same address": sa.case((s.address.is_not(None), sa.func.count().over(partition_by=s.address))),
    }  # fmt: skip
    query = sa.select(*columns.values()).join(t.voter, v.id == s.voter_id)
    query = query.where(s.voting_id == (voting.id if voting else -1)).order_by(s.id)
    return pd.DataFrame(conn.execute(query).all(), columns=list(columns))


def _traits(conn: sa.Connection, voting: VotingPageInfo | None) -> pd.DataFrame:
    """What voters told of themselves: numbers under five are not shown."""
    trait = t.voter_trait.c
    query = sa.select(trait.trait, trait.value, trait.n).where(trait.voting_id == (voting.id if voting else -1))
    rows = [
        (TRAITS[name][0], value, str(n) if n >= FEWEST_TOLD else f"under {FEWEST_TOLD}")
        for name, value, n in conn.execute(query.order_by(trait.trait, trait.value))
    ]
    return pd.DataFrame(rows, columns=["question", "answer", "voters"])


def write_invitations(base: str, code: str, invitations: Sequence[tuple[str, str]]) -> bytes:
    """Personal links as a table: name, link. A name that a spreadsheet would take for a formula gets an apostrophe."""
    return for_spreadsheets(["name", "link"], ((name, f"{link(base, code)}?i={token}") for name, token in invitations))


def link(base: str, code: str) -> str:
    """The plain link of a voting page, at the address where its server is reached."""
    return f"{base.rstrip('/')}/v/{code}"


def is_local(base: str) -> bool:
    """Whether only this machine reaches an address.

    >>> is_local("http://localhost:8600"), is_local("https://vote.example.org")
    (True, False)
    """
    return urlsplit(base).hostname in LOCAL


def qr_code(address: str) -> str:
    """An address as a QR code: an SVG picture, dark on light with the margin that cameras need."""
    image = io.BytesIO()
    code = segno.make_qr(address, error="m")
    code.save(image, kind="svg", border=4, dark="#000", light="#fff", xmldecl=False, omitsize=True)
    return image.getvalue().decode()


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
        told = f"{MANY_OF_ONE} or more from one address"
        notes = [told if n >= MANY_OF_ONE else "" for n in most]
        found["most from one address"], found["note"] = most, notes
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


def load_arrivals(store: Store, voting_id: int) -> Arrivals:
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
