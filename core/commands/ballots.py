"""Commands that move a collection on: draw, close, reopen, discard, open the voting page, simulated voters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from ..base.numbers_in_words import many
from ..protocols import protocol_of
from ..questions import RoundSettings, round_kind
from ..questions.voting_settings import VotingSettings
from ..store import Store
from ..store.ballots.ballot_rows import Ballot, ballots_of, called, every_ballot_of, sentence_start
from ..store.ballots.closing import close_ballot, reopen_ballot
from ..store.ballots.drawing import discard_ballot, draw_next_ballot, draw_round, draw_waiting
from ..store.ballots.simulated import simulate_votes
from ..store.projects.plans import rankings_of, settings_of
from ..store.schema.ballots import ROUND, TRIAL
from ..store.tokens.areas import n_items_of
from ..store.votes.tallies import progress_of
from ..store.voting.owner_commands import open_voting, voting_of
from .base import PER_SECOND, OfProject, R

FITS = 10_000  # votes that a protocol which fits all of them reads and fits in a second, before it draws


def _drawing_seconds(conn: sa.Connection, project_id: str, area_id: int | None) -> float:
    """How long drawing a ranking's next ballot takes; 0 where there is none to draw."""
    found, ballots = settings_of(conn, project_id, area_id), ballots_of(conn, project_id, area_id)
    if found is None or len(ballots) >= found[1].n_ballots:
        return 0.0
    coming = found[1].plan(n_items_of(conn, project_id, area_id)).comparisons[len(ballots)]
    fitted = sum(ballot.n_comparisons for ballot in ballots if protocol_of(ballot.protocol).about.whole_field)
    return coming / PER_SECOND + fitted / FITS


@dataclass(frozen=True)
class DrawBallot(OfProject[int]):
    """Draw a ranking's next ballot; its number."""

    name = "draw ballot"
    doing = "Drawing the ballot"
    area_id: int | None

    def seconds(self, conn: sa.Connection) -> float:
        return _drawing_seconds(conn, self.project_id, self.area_id)

    def run(self, store: Store) -> int:
        return draw_next_ballot(store, self.project_id, area_id=self.area_id, expected_revision=self.revision)

    def summary(self, result: int) -> str:
        return f"Ballot {result} is drawn. Next: give it to voters."


@dataclass(frozen=True)
class DrawWaiting(OfProject[int]):
    """Draw the next ballot of every area that waits for it; how many."""

    name = "draw ballots"
    doing = "Drawing the ballots"
    in_parts = True

    def seconds(self, conn: sa.Connection) -> float:
        rankings = rankings_of(conn, self.project_id)
        return sum(_drawing_seconds(conn, self.project_id, ranking.area_id) for ranking in rankings)

    def run(self, store: Store) -> int:
        return draw_waiting(store, self.project_id, expected_revision=self.revision)

    def summary(self, result: int) -> str:
        return f"{result} ballots are drawn. Choose an area for its batch."


@dataclass(frozen=True)
class DrawRound(OfProject[int]):
    """Draw a round of a ranking by its settings (`RoundSettings.stored`), of what leads in the round `after`; its
    number."""

    name = "draw round"
    doing = "Drawing the round"
    area_id: int | None
    settings: Mapping[str, Any]
    after: int | None = None

    def seconds(self, conn: sa.Connection) -> float:
        """By the places of its questions."""
        settings, n_items = RoundSettings.of(self.settings), n_items_of(conn, self.project_id, self.area_id)
        return round_kind(settings.scheme).n_questions(settings, n_items) * settings.size / PER_SECOND

    def run(self, store: Store) -> int:
        settings = RoundSettings.of(self.settings)
        return draw_round(
            store, self.project_id, settings, area_id=self.area_id, after=self.after, expected_revision=self.revision
        )

    def summary(self, result: int) -> str:
        return f"Round {result} is drawn. Next: give it to people."


@dataclass(frozen=True)
class OfBallot(OfProject[R]):
    """A command of one ballot or round of a ranking: the one of a code; sentences call it by purpose and number."""

    area_id: int | None
    code: str
    number: int
    purpose: str

    @classmethod
    def of(cls, project_id: str, revision: int, ballot: Ballot, **more: Any) -> Any:
        """The command for a ballot."""
        return cls(project_id, revision, ballot.area_id, ballot.code, ballot.number, ballot.purpose, **more)

    def ballot(self, conn: sa.Connection) -> Ballot | None:
        """The ballot; None where it is gone."""
        return next((ballot for ballot in every_ballot_of(conn, self.project_id) if ballot.code == self.code), None)

    @property
    def called(self) -> str:
        """How a sentence about it begins."""
        return sentence_start(called(self.number, self.purpose))

    @property
    def is_round(self) -> bool:
        """Whether it is a round."""
        return self.purpose == ROUND

    def seconds(self, conn: sa.Connection) -> float:
        ballot = self.ballot(conn)
        return ballot.n_comparisons / PER_SECOND if ballot else 0.0


@dataclass(frozen=True)
class CloseBallot(OfBallot[None]):
    """Close a ballot and compute its scores; its voting page is paused meanwhile."""

    name = "close ballot"
    doing = "Closing the ballot"

    def seconds(self, conn: sa.Connection) -> float:
        """By the votes that its scores are made from; a pilot has none."""
        ballot = self.ballot(conn)
        if ballot is None or ballot.is_pilot:
            return 0.0
        if ballot.is_round:
            return ballot.asks.seconds(progress_of(conn, ballot.id).votes)
        protocol = protocol_of(ballot.protocol)
        scored = ballots_of(conn, self.project_id, self.area_id) if protocol.about.whole_field else [ballot]
        return protocol.seconds(sum(progress_of(conn, each.id).votes for each in scored))

    def run(self, store: Store) -> None:
        close_ballot(store, self.project_id, area_id=self.area_id, code=self.code, expected_revision=self.revision)

    def summary(self, result: None) -> str:
        if self.purpose == TRIAL:
            return "The pilot is closed: its figures stand below."
        if self.is_round:
            return f"{self.called} is closed: what it says stands below."
        return f"Ballot {self.number} is closed and its scores are computed."

    def meanwhile(self, conn: sa.Connection) -> str:
        ballot = self.ballot(conn)
        voting = voting_of(conn, ballot.id) if ballot else None
        rests = "Voting rests meanwhile. " if voting is not None and voting.in_closing_pause else ""
        return f"{rests}Any change to the project stops it."

    def afterwards(self, conn: sa.Connection) -> str:
        ballot = self.ballot(conn)
        voting = voting_of(conn, ballot.id) if ballot else None
        if voting is None or voting.state == "closed":
            return ""
        return "Voting goes on." if voting.state == "open" else "Voting is still paused."


@dataclass(frozen=True)
class ReopenBallot(OfBallot[None]):
    """Open the newest ballot again."""

    name = "reopen ballot"
    doing = "Reopening the ballot"

    def run(self, store: Store) -> None:
        reopen_ballot(store, self.project_id, area_id=self.area_id, code=self.code, expected_revision=self.revision)

    def summary(self, result: None) -> str:
        return f"{self.called} is open again."


@dataclass(frozen=True)
class DiscardBallot(OfBallot[None]):
    """Take a draw back."""

    name = "discard ballot"
    doing = "Discarding the draw"

    def run(self, store: Store) -> None:
        discard_ballot(store, self.project_id, area_id=self.area_id, code=self.code, expected_revision=self.revision)

    def summary(self, result: None) -> str:
        return f"{self.called} is discarded."


@dataclass(frozen=True)
class SimulateVotes(OfBallot[int]):
    """Let simulated voters answer what a ballot lacks; how many votes."""

    name = "simulate votes"
    doing = "Letting simulated voters answer"

    def run(self, store: Store) -> int:
        return simulate_votes(
            store, self.project_id, area_id=self.area_id, code=self.code, expected_revision=self.revision
        )

    def summary(self, result: int) -> str:
        if self.is_round:
            return f"{many(result, 'answer')} of simulated people. They are permanently marked as such."
        return f"Simulated voters gave {result:,} votes, marked as simulated."


@dataclass(frozen=True)
class OpenVoting(OfBallot[str]):
    """Open a ballot's voting page, or change its settings (`VotingSettings.stored`)."""

    name = "open voting"
    doing = "Opening the voting page"
    settings: Mapping[str, Any]

    def run(self, store: Store) -> str:
        # Not `VotingSettings.of`, which leaves out silently what it doesn't take.
        settings = VotingSettings(**{**self.settings, "ask": tuple(self.settings["ask"])})
        return open_voting(
            store, self.project_id, settings, area_id=self.area_id, code=self.code, expected_revision=self.revision
        )

    def summary(self, result: str) -> str:
        return "Voting is open."
