"""What a check of a workspace looks at, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sqlalchemy as sa

from .. import schema as t
from ..command import fetch_rows
from ..engine import Store
from ..schema.ballots import ROUND


@dataclass(frozen=True)
class Found:
    """One break of a rule: where in the workspace, and what was found there."""

    where: str
    what: str


@dataclass(frozen=True)
class Look:
    """A workspace and one state of its database."""

    store: Store
    conn: sa.Connection

    def rows(self, query: sa.Select[Any]) -> list[tuple[Any, ...]]:
        """The rows of a query as plain tuples."""
        return fetch_rows(self.conn, query)

    @cached_property
    def projects(self) -> dict[str, str]:
        """What a project is called, by its id."""
        return {id_: f"project {name} ({id_})" for id_, name in self.rows(sa.select(t.project.c.id, t.project.c.name))}

    @cached_property
    def ballots(self) -> dict[int, str]:
        """What a ballot is called, by its id."""
        b = t.ballot.c
        query = sa.select(b.id, b.project_id, b.ordinal, b.purpose, t.area.c.name).outerjoin(
            t.area, t.area.c.id == b.area_id
        )
        return {
            id_: f"{self.project(project)}, {f'round {number}' if purpose == ROUND else f'ballot {number}'}"
            + (f" of {area}" if area is not None else "")
            for id_, project, number, purpose, area in self.rows(query)
        }

    def project(self, project_id: str) -> str:
        """What a project is called, also one that is gone."""
        return self.projects.get(project_id, f"project {project_id}, which is gone")

    def ballot(self, ballot_id: int) -> str:
        """What a ballot is called, also one that is gone."""
        return self.ballots.get(ballot_id, f"ballot with the id {ballot_id}, which is gone")
