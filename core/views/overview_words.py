"""What stands beside each step of a project's way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..plurals import many, plural
from ..voter_count import VoterCount

if TYPE_CHECKING:
    from .overview import Standing


def planned(standings: list[Standing]) -> str:
    plans = [standing.n_planned for standing in standings if standing.n_planned]
    if not plans:
        return "not saved yet"
    if len(standings) == 1:
        return many(plans[0], "ballot")
    areas = many(len(standings), "area")
    return f"{len(plans)} of {areas} planned"


def collected(standings: list[Standing]) -> str:
    if len(standings) == 1 and (standings[0].ballots or standings[0].pilot_is_open):
        return standings[0].said
    if not any(standing.ballots for standing in standings):
        return "no ballot drawn"
    n_open = sum(s.is_open for s in standings)
    opened = plural(n_open, "{n} ballot open", "{n} ballots open")
    return f"{opened}; {areas_finished(standings)}"


def areas_finished(standings: Sequence[Standing]) -> str:
    areas = many(len(standings), "area")
    return f"{sum(standing.is_final for standing in standings)} of {areas} finished"


def voted(voters: VoterCount) -> str:
    return voters.said if voters.total or voters.left_out else "nobody voted yet"


def scored(n_closed: int, standings: list[Standing]) -> str:
    if n_closed:
        return plural(n_closed, "from {n} closed ballot", "from {n} closed ballots")
    return "provisional, from the open ballot" if any(s.ballots for s in standings) else "none yet"
