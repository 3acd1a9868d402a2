"""What an upload or its withdrawal changed, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from ..base.plurals import many, plural
from ..votes.effects import N_TOP, Effect, Move, Pair

SHOWN = 3  # items named of each kind of move


def top_sentence(effect: Effect) -> str:
    """The moves in the top of the ranking, some of them by name; empty where there is no ranking.

    >>> top_sentence(Effect(9, moves=(Move(("dog", "cat"), 5.0, 2.0), Move(("cow", "pig"), None, 9.5))))
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
        told = [f"{_name(m.pair)} {_rank(m.before)} → {_rank(m.after)}" for m in kinds["moved"]]
        parts.append(plural(len(told), "{n} moved: {items}", "{n} moved: {items}", items=_some(told)))
    if kinds["entered"]:
        told = [f"{_name(m.pair)} (now {_rank(m.after)})" for m in kinds["entered"]]
        parts.append(f"entered: {_some(told)}")
    if kinds["left"]:
        told = [f"{_name(m.pair)} (was {_rank(m.before)})" for m in kinds["left"]]
        parts.append(f"left: {_some(told)}")
    return f"Top {N_TOP}: {'; '.join(parts)}."


def voters_said(effect: Effect) -> str:
    """How many voters, and how many of them are new.

    >>> voters_said(Effect(9, new_voters=1, known_voters=2)), voters_said(Effect(9, new_voters=3))
    ('3 voters (1 of them new)', '3 voters, all new')
    """
    total = effect.new_voters + effect.known_voters
    if not effect.known_voters:
        return plural(total, "{n} voter, new", "{n} voters, all new")
    if not effect.new_voters:
        return plural(total, "{n} voter (known already)", "{n} voters (known already)")
    return f"{many(total, 'voter')} ({effect.new_voters:,} of them new)"


def votes_said(effect: Effect) -> str:
    """By how many the counted votes grew or fell.

    >>> votes_said(Effect(-1200)), votes_said(Effect(0))
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
