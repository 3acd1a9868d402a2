"""What an upload or its withdrawal changed, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from ..effects import N_TOP, Effect, Move, Pair
from ..spoken import say, say_many, written
from .words import many

SHOWN = 3  # items named of each kind of move


def top_sentence(effect: Effect) -> str:
    """The moves in the top of the ranking, some of them by name; empty where there is no ranking.

    >>> top_sentence(Effect(9, moves=(Move(("dog", "cat"), 5.0, 2.0), Move(("cow", "pig"), None, 9.5))))
    'Top 10: 1 moved: dog – cat 5 → 2; entered: cow – pig (now 9.5).'
    """
    if effect.ended:
        return say("No item has a rank any more.")
    if effect.ranking == "later":
        return say("What it changes in the ranking shows when the ballot is closed.")
    if effect.ranking == "none":
        return ""
    if effect.first is not None:
        return say("First ranking: {item} leads.", item=_name(effect.first))
    if not effect.moves:
        return say("The top {n} stays as it was.", n=N_TOP)
    kinds: dict[str, list[Move]] = {"moved": [], "entered": [], "left": []}
    for move in effect.moves:
        kinds[move.kind].append(move)
    parts = []
    if kinds["moved"]:
        told = [f"{_name(m.pair)} {_rank(m.before)} → {_rank(m.after)}" for m in kinds["moved"]]
        parts.append(say_many(len(told), "{n} moved: {items}", "{n} moved: {items}", items=_some(told)))
    if kinds["entered"]:
        told = [say("{item} (now {rank})", item=_name(m.pair), rank=_rank(m.after)) for m in kinds["entered"]]
        parts.append(say("entered: {items}", items=_some(told)))
    if kinds["left"]:
        told = [say("{item} (was {rank})", item=_name(m.pair), rank=_rank(m.before)) for m in kinds["left"]]
        parts.append(say("left: {items}", items=_some(told)))
    return say("Top {n}: {moves}.", n=N_TOP, moves="; ".join(parts))


def voters_said(effect: Effect) -> str:
    """How many voters, and how many of them are new.

    >>> voters_said(Effect(9, new_voters=1, known_voters=2)), voters_said(Effect(9, new_voters=3))
    ('3 voters (1 of them new)', '3 voters, all new')
    """
    total = effect.new_voters + effect.known_voters
    if not effect.known_voters:
        return say_many(total, "{n} voter, new", "{n} voters, all new")
    if not effect.new_voters:
        return say_many(total, "{n} voter (known already)", "{n} voters (known already)")
    return say("{voters} ({n:,} of them new)", voters=many(total, "voter"), n=effect.new_voters)


def votes_said(effect: Effect) -> str:
    """By how many the counted votes grew or fell.

    >>> votes_said(Effect(-1200)), votes_said(Effect(0))
    ('1,200 votes fewer', 'as many votes as before')
    """
    if effect.votes == 0:
        return say("as many votes as before")
    if effect.votes > 0:
        return say_many(effect.votes, "{n} vote more", "{n} votes more")
    return say_many(-effect.votes, "{n} vote fewer", "{n} votes fewer")


def _name(pair: Pair) -> str:
    return " – ".join(pair)


def _rank(rank: float | None) -> str:
    return "–" if rank is None else written(rank, "g")


def _some(told: Sequence[str]) -> str:
    more = len(told) - SHOWN
    named = ", ".join(told[:SHOWN])
    return say("{items} and {n:,} more", items=named, n=more) if more > 0 else named
