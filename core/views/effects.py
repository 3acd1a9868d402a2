"""What an upload or its withdrawal changed, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from ..effects import N_TOP, Effect, Move, Pair
from .words import many

SHOWN = 3  # items named of each kind of move


def top_sentence(effect: Effect) -> str:
    """The moves in the top of the ranking, some of them by name.

    >>> top_sentence(Effect(9, moves=(Move(("dog", "cat"), 5.0, 2.0), Move(("cow", "pig"), None, 9.5))))
    'Top 10: 1 moved: dog – cat 5 → 2; entered: cow – pig (now 9.5).'
    """
    if effect.ended:
        return "No item has a rank any more."
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
        parts.append(f"{len(told)} moved: {_some(told)}")
    if kinds["entered"]:
        parts.append("entered: " + _some([f"{_name(m.pair)} (now {_rank(m.after)})" for m in kinds["entered"]]))
    if kinds["left"]:
        parts.append("left: " + _some([f"{_name(m.pair)} (was {_rank(m.before)})" for m in kinds["left"]]))
    return f"Top {N_TOP}: {'; '.join(parts)}."


def voters_said(effect: Effect) -> str:
    """How many voters, and how many of them are new.

    >>> voters_said(Effect(9, new_voters=1, known_voters=2)), voters_said(Effect(9, new_voters=3))
    ('3 voters (1 of them new)', '3 voters, all new')
    """
    total = effect.new_voters + effect.known_voters
    if not effect.known_voters:
        return f"{many(total, 'voter')}, {'all new' if total > 1 else 'new'}"
    known = "known already" if not effect.new_voters else f"{effect.new_voters:,} of them new"
    return f"{many(total, 'voter')} ({known})"


def votes_said(effect: Effect) -> str:
    """By how many the counted votes grew or fell.

    >>> votes_said(Effect(-1200)), votes_said(Effect(0))
    ('1,200 votes fewer', 'as many votes as before')
    """
    if effect.votes == 0:
        return "as many votes as before"
    return f"{many(abs(effect.votes), 'vote')} {'more' if effect.votes > 0 else 'fewer'}"


def _name(pair: Pair) -> str:
    return " – ".join(pair)


def _rank(rank: float | None) -> str:
    return "–" if rank is None else f"{rank:g}"


def _some(told: Sequence[str]) -> str:
    more = len(told) - SHOWN
    return ", ".join(told[:SHOWN]) + (f" and {more} more" if more > 0 else "")
