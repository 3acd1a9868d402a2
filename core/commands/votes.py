"""Commands on answers and voters: take votes in, take them back, decide what and who counts.

Result files are taken, and one is taken back; what counts is chosen; voters are left out or count again; assignments
are decided on. Each says what it changed, in sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from ..base.numbers_in_words import many, plural
from ..errors import RunoffError
from ..platforms import Mapping as ColumnMapping
from ..protocols.base import N_TOP
from ..store import Store
from ..store import schema as t
from ..store.ballots.ballot_rows import every_ballot_of
from ..store.stored_files import put_upload, read_upload
from ..store.votes.exclusions import ExclusionChange, exclude_voters, readmit_voters
from ..store.votes.intake import accept_upload
from ..store.votes.judgements import set_policy
from ..store.votes.payment import ReviewChange, review_assignments
from ..store.votes.uploads import Withdrawn, withdraw_upload
from ..store.voting.owner_commands import withdraw_voters
from ..votes.payment import Review
from ..votes.reasons import Move, Pair, Policy, UploadEffect
from .base import PER_SECOND, OfProject, R, scoring_seconds

SHOWN = 3  # items named of each kind of move


def top_sentence(effect: UploadEffect) -> str:
    """The moves in the top of the ranking, some of them by name; empty where there is no ranking.

    >>> top_sentence(UploadEffect(9, moves=(Move(("dog", "cat"), 5.0, 2.0), Move(("cow", "pig"), None, 9.5))))
    'Top 10: 1 moved: dog – cat 5 → 2; entered: cow – pig (now 9.5).'
    """
    if effect.ended:
        return "No item has a rank any more."
    if effect.ranking == "later":
        return "What it changes in the ranking shows when the ballot is closed."
    if effect.ranking == "none":
        return ""
    if effect.first is not None:
        return f"First ranking: {_name(effect.first)} leads."
    if not effect.moves:
        return f"The top {N_TOP} stays as it was."
    kinds: dict[str, list[Move]] = {"moved": [], "entered": [], "left": []}
    for move in effect.moves:
        kinds[move.kind].append(move)
    parts = []
    if kinds["moved"]:
        moves = [f"{_name(m.pair)} {_rank(m.before)} → {_rank(m.after)}" for m in kinds["moved"]]
        parts.append(plural(len(moves), "{n} moved: {items}", "{n} moved: {items}", items=_some(moves)))
    if kinds["entered"]:
        moves = [f"{_name(m.pair)} (now {_rank(m.after)})" for m in kinds["entered"]]
        parts.append(f"entered: {_some(moves)}")
    if kinds["left"]:
        moves = [f"{_name(m.pair)} (was {_rank(m.before)})" for m in kinds["left"]]
        parts.append(f"left: {_some(moves)}")
    return f"Top {N_TOP}: {'; '.join(parts)}."


def voters_text(effect: UploadEffect) -> str:
    """How many voters, and how many of them are new.

    >>> voters_text(UploadEffect(9, new_voters=1, known_voters=2)), voters_text(UploadEffect(9, new_voters=3))
    ('3 voters (1 of them new)', '3 voters, all new')
    """
    total = effect.new_voters + effect.known_voters
    if not effect.known_voters:
        return plural(total, "{n} voter, new", "{n} voters, all new")
    if not effect.new_voters:
        return plural(total, "{n} voter (known already)", "{n} voters (known already)")
    return f"{many(total, 'voter')} ({effect.new_voters:,} of them new)"


def votes_text(effect: UploadEffect) -> str:
    """By how many the counted votes grew or fell.

    >>> votes_text(UploadEffect(-1200)), votes_text(UploadEffect(0))
    ('1,200 fewer votes', 'as many votes as before')
    """
    if effect.votes == 0:
        return "as many votes as before"
    if effect.votes > 0:
        return plural(effect.votes, "{n} more vote", "{n} more votes")
    return plural(-effect.votes, "{n} fewer vote", "{n} fewer votes")


def _name(pair: Pair) -> str:
    return " – ".join(pair)


def _rank(rank: float | None) -> str:
    return "–" if rank is None else f"{rank:g}"


def _some(told: Sequence[str]) -> str:
    more = len(told) - SHOWN
    named = ", ".join(told[:SHOWN])
    return f"{named} and {more:,} more" if more > 0 else named


BYTES, WORKBOOK_BYTES = 2_000_000, 250_000  # of a result file that is read in a second; a workbook is packed
CLASSES = {
    "new": ("new votes", "will be counted"),
    "check": ("answers to checks", "will be kept; no score reads them"),
    "unknown": ("“I don't know a word here”", "will be logged; no vote"),
    "changed": ("changed since the last upload", "will be updated"),
    "rejected": ("rejected by the owner", "will be kept, not counted"),
    "repeat": ("repeats by the same voter", "will be kept, not counted"),
    "excluded": ("voters who are left out", "will be kept, not counted"),
    "asked": ("wait for what you say of their values", "left out until you say it"),
    "contradicts": ("differ from the stored answer", "nothing happens: withdraw the first upload to replace it"),
    "known": ("known already", "nothing happens"),
    "no_answer": ("no answer", "left out"),
    "other_ballot": ("unknown comparison (not of this ballot)", "left out"),
    "unreadable": ("unreadable", "left out"),
}


def taken_text(name: str, counts: dict[str, int], effect: UploadEffect, noun: str = "vote") -> str:
    """What an accepted upload changed, in a sentence; see `intake.Accepted`. noun : "answer" of a round."""
    new = counts.get("new", 0)
    if noun != "vote":
        return f"{name} is accepted: {many(new, f'new {noun}')}."
    votes, voters = many(new, "new vote"), voters_text(effect)
    parts = [f"{votes} of {voters}"] if new else []
    kinds = ("changed", "rejected", "repeat", "unknown")
    parts += [f"{counts[kind]:,} {CLASSES[kind][0]}" for kind in kinds if counts.get(kind)]
    sentence = f"{name} is accepted: {', '.join(parts)}."
    return f"{sentence} {top_sentence(effect)}".rstrip()


def withdrawn_text(name: str, n: int, effect: UploadEffect, noun: str = "vote") -> str:
    """What the withdrawal of an upload with n answers changed, in a sentence. noun : "answer" of a round.

    >>> withdrawn_text("a.csv", 2, UploadEffect(0), "answer"), withdrawn_text("a.csv", 1, UploadEffect(0), "answer")
    ('2 answers of a.csv count no more.', '1 answer of a.csv counts no more.')
    """
    answers = many(n, "answer")
    if noun != "vote":
        forms = "{answers} of {file} counts no more.", "{answers} of {file} count no more."
        return plural(n, *forms, answers=answers, file=name)
    sentence = plural(
        n,
        "{answers} of {file} counts no more: {votes}.",
        "{answers} of {file} count no more: {votes}.",
        answers=answers,
        file=name,
        votes=votes_text(effect),
    )
    return f"{sentence} {top_sentence(effect)}".rstrip()


@dataclass(frozen=True)
class SpooledFile:
    """A result file that lies in the workspace for a command (`put_upload`), and its size in bytes."""

    sha256: str
    name: str
    size: int

    @property
    def seconds(self) -> float:
        """How long reading it takes, roughly."""
        return self.size / (WORKBOOK_BYTES if self.name.lower().endswith(".xlsx") else BYTES)


def bring_file(store: Store, data: bytes, name: str) -> SpooledFile:
    """Lay a file down for a command; errors as of `put_upload`."""
    return SpooledFile(put_upload(store, data), name, len(data))


@dataclass(frozen=True)
class UploadOutcome:
    """What came of one file: the classes of its answers and what it changed, or why it wasn't taken."""

    name: str
    counts: dict[str, int]
    effect: UploadEffect
    problem: str = ""


@dataclass(frozen=True)
class TakeUploads(OfProject[tuple[UploadOutcome, ...]]):
    """Take the votes of files for a ballot one by one, each with how its columns are read (`Mapping.stored`).

    They are read against the store as it is, whatever the revision. Raises the last reason where none was taken.
    """

    name = "accept upload"
    doing = "Taking the votes"
    in_parts = True
    area_id: int | None
    code: str
    files: tuple[tuple[SpooledFile, dict | None], ...]
    noun: str = "vote"  # "answer" of a round

    def seconds(self, conn: sa.Connection) -> float:
        return sum(file.seconds for file, _ in self.files)

    def run(self, store: Store) -> tuple[UploadOutcome, ...]:
        done = []
        last: RunoffError | None = None
        for file, stored in self.files:
            mapping = None if stored is None else ColumnMapping.of(stored)
            try:
                data = read_upload(store, file.sha256, file.name)
                accepted = accept_upload(
                    store, self.project_id, data, file.name, self.area_id, mapping=mapping, code=self.code
                )
            except RunoffError as error:
                last = error
                done.append(UploadOutcome(file.name, {}, UploadEffect(0), str(error)))
            else:
                done.append(UploadOutcome(file.name, accepted.counts, accepted.effect))
        if last is not None and all(one.problem for one in done):
            raise last
        return tuple(done)

    def summary(self, result: tuple[UploadOutcome, ...]) -> str:
        return " ".join(
            f"{one.name}: {one.problem}" if one.problem else taken_text(one.name, one.counts, one.effect, self.noun)
            for one in result
        )


@dataclass(frozen=True)
class WithdrawUpload(OfProject[Withdrawn]):
    """Take an upload back; read against the store as it is."""

    name = "withdraw upload"
    doing = "Withdrawing the upload"
    upload_id: int
    filename: str
    noun: str = "vote"  # "answer" of a round

    def seconds(self, conn: sa.Connection) -> float:
        """By the answers of all uploads of its ballot: these are counted again."""
        u = t.upload.c
        ballot_id = sa.select(u.ballot_id).where(u.id == self.upload_id).scalar_subquery()
        counts = conn.execute(sa.select(u.counts).where(u.ballot_id == ballot_id, u.withdrawn_at.is_(None))).scalars()
        return sum(sum(of_one.values()) for of_one in counts) / PER_SECOND

    def run(self, store: Store) -> Withdrawn:
        return withdraw_upload(store, self.project_id, self.upload_id)

    def summary(self, result: Withdrawn) -> str:
        return withdrawn_text(self.filename, result.judgements, result.effect, self.noun)


@dataclass(frozen=True)
class SetPolicy(OfProject[int]):
    """Choose what counts of rejected answers and of repeats; how many answers changed."""

    name = "set policy"
    doing = "Counting answers anew"
    rejected: str
    repeats: str

    def seconds(self, conn: sa.Connection) -> float:
        ballots = every_ballot_of(conn, self.project_id)
        return sum(ballot.n_comparisons for ballot in ballots if ballot.is_open) / PER_SECOND

    def run(self, store: Store) -> int:
        policy = Policy(self.rejected, self.repeats)
        return set_policy(store, self.project_id, policy, expected_revision=self.revision)

    def summary(self, result: int) -> str:
        return f"Saved: {many(result, 'answer')} counted again."


@dataclass(frozen=True)
class _Rescores(OfProject[R]):
    """A command that scores closed ballots anew."""

    def seconds(self, conn: sa.Connection) -> float:
        return scoring_seconds(conn, self.project_id)


@dataclass(frozen=True)
class ExcludeVoters(_Rescores[ExclusionChange]):
    """Leave voters out, for a reason; `detail` is what spoke for it, by voter."""

    name = "exclude voters"
    doing = "Leaving voters out"
    voter_ids: tuple[int, ...]
    reason: str
    detail: dict[int, dict[str, Any]]

    def run(self, store: Store) -> ExclusionChange:
        return exclude_voters(
            store, self.project_id, self.voter_ids, self.reason, self.detail, expected_revision=self.revision
        )

    def summary(self, result: ExclusionChange) -> str:
        return _moved(result, "{voters} is left out: {answers}.", "{voters} are left out: {answers}.")


@dataclass(frozen=True)
class ReadmitVoters(_Rescores[ExclusionChange]):
    """Let voters count again."""

    name = "readmit voters"
    doing = "Letting voters count again"
    voter_ids: tuple[int, ...]

    def run(self, store: Store) -> ExclusionChange:
        return readmit_voters(store, self.project_id, self.voter_ids, expected_revision=self.revision)

    def summary(self, result: ExclusionChange) -> str:
        return _moved(result, "{voters} is readmitted: {answers}.", "{voters} are readmitted: {answers}.")


def _moved(moved: ExclusionChange, one: str, several: str) -> str:
    counts = {"voters": many(moved.voters, "voter"), "answers": many(moved.answers, "answer")}
    message = plural(moved.voters, one, several, **counts)
    return f"{message} {many(moved.rescored, 'closed ballot')} scored again." if moved.rescored else message


@dataclass(frozen=True)
class WithdrawVoters(OfProject[int]):
    """Take voters of a voting page out; how many answers."""

    name = "withdraw voters"
    doing = "Taking voters out"
    session_ids: tuple[int, ...]

    def seconds(self, conn: sa.Connection) -> float:
        """By the largest ballot of their voting pages: its tallies are written anew."""
        largest = (
            sa.select(sa.func.max(t.ballot.c.n_comparisons))
            .join(t.voting, t.voting.c.ballot_id == t.ballot.c.id)
            .join(t.sitting, t.sitting.c.voting_id == t.voting.c.id)
            .where(t.sitting.c.id.in_(self.session_ids[:1]))  # all are of one page
        )
        return (conn.execute(largest).scalar_one_or_none() or 0) / PER_SECOND

    def run(self, store: Store) -> int:
        return withdraw_voters(store, self.project_id, self.session_ids, expected_revision=self.revision)

    def summary(self, result: int) -> str:
        return f"{many(result, 'answer')} marked as withdrawn."


@dataclass(frozen=True)
class ReviewAssignments(OfProject[ReviewChange]):
    """Decide on assignments of a ballot by their ids; None takes a decision back."""

    name = "review assignments"
    doing = "Deciding on assignments"
    ballot_id: int
    decisions: Mapping[int, Review | None]

    def seconds(self, conn: sa.Connection) -> float:
        query = sa.select(t.ballot.c.n_comparisons).where(t.ballot.c.id == self.ballot_id)
        return (conn.execute(query).scalar_one_or_none() or 0) / PER_SECOND

    def run(self, store: Store) -> ReviewChange:
        return review_assignments(store, self.project_id, self.decisions, expected_revision=self.revision)

    def summary(self, result: ReviewChange) -> str:
        counts = {"out": many(result.out, "vote"), "back": many(result.back, "vote")}
        message = "{assignments} decided."
        if result.out and result.back:
            message = (
                "{assignments} decided; {out} left out; {back} came in. What they answered needs votes again: see the "
                "top-up."
            )
        elif result.out:
            message = "{assignments} decided; {out} left out. What they answered needs votes again: see the top-up."
        elif result.back:
            message = "{assignments} decided; {back} came in."
        return message.format(assignments=many(result.decided, "assignment"), **counts)
