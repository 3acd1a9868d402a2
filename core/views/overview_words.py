"""What stands beside each step of a project's way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..spoken import say, say_many
from .words import many

if TYPE_CHECKING:
    from .overview import Standing


def planned(standings: list[Standing]) -> str:
    plans = [standing.n_planned for standing in standings if standing.n_planned]
    if not plans:
        return say("not saved yet")
    if len(standings) == 1:
        return many(plans[0], "ballot")
    areas = many(len(standings), "area")
    return say("{n} of {areas} planned", n=len(plans), areas=areas)


def collected(standings: list[Standing]) -> str:
    if len(standings) == 1 and (standings[0].ballots or standings[0].pilot_is_open):
        return standings[0].said
    if not any(standing.ballots for standing in standings):
        return say("no ballot drawn")
    n_open = sum(s.is_open for s in standings)
    opened = say_many(n_open, "{n} ballot open", "{n} ballots open")
    return f"{opened}; {areas_finished(standings)}"


def areas_finished(standings: Sequence[Standing]) -> str:
    areas = many(len(standings), "area")
    return say("{n} of {areas} finished", n=sum(standing.is_final for standing in standings), areas=areas)


def voted(n_voters: int, n_left_out: int) -> str:
    if not n_voters:
        return say("nobody voted yet")
    voters = many(n_voters, "voter")
    return say("{voters}, {n:,} left out", voters=voters, n=n_left_out) if n_left_out else voters


def scored(n_closed: int, standings: list[Standing]) -> str:
    if n_closed:
        return say_many(n_closed, "from {n} closed ballot", "from {n} closed ballots")
    return say("provisional, from the open ballot") if any(s.ballots for s in standings) else say("none yet")
