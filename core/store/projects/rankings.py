"""One ranking over all areas of a project, or one for each: then plans, ballots and scores belong to an area.

`area_id` is None for the ranking over all areas, here and in every look-up and command that takes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from ...errors import StoreError
from .. import schema as t
from ..command import command, project_row
from ..engine import Store
from ..schema.ballots import CAMPAIGN, ROUND
from ..tokens.areas import refuse_after_draw

PILOT = 0  # the number of a pilot; the campaign's ballots have 1, 2, …, and rounds 1, 2, … of their own


@dataclass(frozen=True)
class Ranking:
    """A ranking of its own: of one area (with its id, name and place among the areas), or of all of them."""

    area_id: int | None = None
    area: str = ""
    position: int | None = None


def rankings_of(conn: sa.Connection, project_id: str) -> list[Ranking]:
    """The project's rankings: one over all areas, or one an area in the order of the areas."""
    if project_row(conn, project_id).ranking == "all":
        return [Ranking()]
    query = sa.select(t.area.c.id, t.area.c.name, t.area.c.position).where(t.area.c.project_id == project_id)
    return [Ranking(*row) for row in conn.execute(query.order_by(t.area.c.position))]


def read_rankings(store: Store, project_id: str) -> list[Ranking]:
    """The project's rankings; see `rankings_of`."""
    with store.read() as conn:
        return rankings_of(conn, project_id)


def ranking_of(conn: sa.Connection, project_id: str, area_id: int | None) -> Ranking:
    """The ranking of an area (or of all); `StoreError` if the project has no such one."""
    found = {ranking.area_id: ranking for ranking in rankings_of(conn, project_id)}
    if area_id not in found:
        raise StoreError(
            "Each area of this project has a ranking of its own: choose one of its areas."
            if area_id is None
            else "This project has no ranking of that area. Choose another area on the page."
        )
    return found[area_id]


def belongs(column: sa.ColumnElement[int], area_id: int | None) -> sa.ColumnElement[bool]:
    """Whether a plan or ballot is one of the ranking."""
    return column.is_(None) if area_id is None else column == area_id


def is_comparison() -> sa.ColumnElement[bool]:
    """Whether a row of `ballot` asks comparisons: a ballot of the campaign or a pilot, no round of another kind.

    Whatever speaks of a ranking's ballots asks for this; the look-ups of `ballots` do.
    """
    return t.ballot.c.purpose != ROUND


def in_campaign() -> sa.ColumnElement[bool]:
    """Whether a row of `ballot` is of the campaign: no pilot and no round."""
    return t.ballot.c.purpose == CAMPAIGN


def set_ranking(store: Store, project_id: str, ranking: str, *, expected_revision: int | None = None) -> None:
    """Rank all items together ("all") or each area for itself ("area"); fixed once a ballot is drawn.

    The plans made for the other way are kept, and are there again after a change back.
    """
    if ranking not in ("all", "area"):
        raise StoreError(f"A project has one ranking over all areas or one per area, not {ranking!r}.")
    with command(store, project_id, "set ranking", expected_revision=expected_revision) as change:
        refuse_after_draw(change.conn, project_id, "How areas are ranked")
        change.detail = {"ranking": ranking}
        change.conn.execute(sa.update(t.project).where(t.project.c.id == project_id).values(ranking=ranking))


def ballot_named(
    conn: sa.Connection, project_id: str, area_id: int | None, number: int, purpose: str
) -> dict[str, Any]:
    """How the log names a ballot or a round: by its number, and its area where each has a ranking of its own."""
    area = ranking_of(conn, project_id, area_id).area
    return ({"area": area} if area else {}) | {"round" if purpose == ROUND else "ballot": number}
