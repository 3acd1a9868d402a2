"""What a command is: its values, how long it takes, what it does and says."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

import sqlalchemy as sa

from ..protocols import protocol_of
from ..store import Store
from ..store.ballots.ballots import Ballot, ballots_of
from ..store.projects.rankings import rankings_of

R = TypeVar("R")
PER_SECOND = 50_000  # comparisons that are drawn, or whose votes are counted anew, in a second


@dataclass(frozen=True)
class Command(ABC, Generic[R]):
    """A command with all it needs, as the project stood at a revision; its fields and result go through `codec`.

    project_id : None for one of the workspace, on projects as such, which may come or go. revision : what it is checked
    against; None where it is read against the store as it is. name : the log's action, where there is one. doing : says
    what goes on. in_parts : several transactions, of which some may be done where it is stopped.
    """

    name: ClassVar[str]
    doing: ClassVar[str]
    in_parts: ClassVar[bool] = False

    project_id: str | None
    revision: int | None

    @abstractmethod
    def seconds(self, conn: sa.Connection) -> float:
        """How long it takes, roughly, on one quiet core: at once or as a job is decided by this alone."""

    @abstractmethod
    def run(self, store: Store) -> R:
        """Carry it out; errors as of the store's command. The type of what it returns is declared."""

    @abstractmethod
    def said(self, result: R) -> str:
        """What it did, in sentences."""

    def opens(self, result: R) -> str | None:
        """The project that whoever asked for it wants to see then."""
        return None

    def meanwhile(self, conn: sa.Connection) -> str:
        """What else is to be known while it goes on, in sentences."""
        return ""

    def afterwards(self, conn: sa.Connection) -> str:
        """What else is to be known where it was stopped or ended early, in sentences."""
        return ""


@dataclass(frozen=True)
class OfProject(Command[R]):
    """A command of a project, checked against its revision."""

    project_id: str
    revision: int | None


@dataclass(frozen=True)
class OfWorkspace(Command[R]):
    """A command of the workspace."""

    project_id: None = field(default=None, init=False)
    revision: None = field(default=None, init=False)


def all_ballots(conn: sa.Connection, project_id: str) -> list[list[Ballot]]:
    """The ballots of each ranking of a project."""
    return [ballots_of(conn, project_id, ranking.area_id) for ranking in rankings_of(conn, project_id)]


def n_comparisons(conn: sa.Connection, project_id: str) -> int:
    """The comparisons of all ballots of a project."""
    return sum(ballot.n_comparisons for ballots in all_ballots(conn, project_id) for ballot in ballots)


def scoring_seconds(conn: sa.Connection, project_id: str) -> float:
    """How long scoring all ballots of a project anew takes, by the comparisons they have."""
    return sum(
        protocol_of(ballots[-1].protocol).seconds(sum(ballot.n_comparisons for ballot in ballots))
        for ballots in all_ballots(conn, project_id)
        if ballots
    )
