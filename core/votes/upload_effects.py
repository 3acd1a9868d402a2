"""What an upload changed: votes, voters, and moves in the top of the ranking.

`compare_tops` says what moved between the top of a ranking at two moments. Effects are kept with the upload as plain
JSON, with the items' own words, so that they say the same after an export and after a corrected spelling.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

N_TOP = 10

Pair = tuple[str, str]
Top = Mapping[int, float]  # an item → its rank


@dataclass(frozen=True)
class Move:
    """An item whose rank in the top changed; a rank is None where the item was, or is, not in the top."""

    pair: Pair
    before: float | None
    after: float | None

    @property
    def kind(self) -> str:
        """entered, left or moved."""
        if self.before is None:
            return "entered"
        return "left" if self.after is None else "moved"


@dataclass(frozen=True)
class UploadEffect:
    """What one upload, or its withdrawal, changed.

    `votes` is by how many the counted votes grew (below 0: fell); of the voters whose votes it counts, `new_voters`
    had no answer in the project before, `known_voters` had. `moves` are those in the top, by their rank before or
    else after. Where there was no ranking at all before, there are none and `first` is its best item; where there is
    none any more, `ended` says so. `ranking` is "now" where there is one, "later" where it follows when the ballot is
    closed, and "none" where there is none.
    """

    votes: int
    new_voters: int = 0
    known_voters: int = 0
    moves: tuple[Move, ...] = ()
    first: Pair | None = None
    ended: bool = False
    ranking: str = "now"

    def stored(self) -> dict[str, Any]:
        """The effect as JSON."""
        return {
            "votes": self.votes,
            "new_voters": self.new_voters,
            "known_voters": self.known_voters,
            "moves": [[*move.pair, move.before, move.after] for move in self.moves],
            "first": list(self.first) if self.first else None,
            "ended": self.ended,
            "ranking": self.ranking,
        }

    @classmethod
    def from_stored(cls, stored: dict[str, Any] | None) -> UploadEffect | None:
        """The effect as it was kept; None where none was (uploads of an earlier version)."""
        if not stored:
            return None
        moves = tuple(Move((a, b), before, after) for a, b, before, after in stored["moves"])
        first = tuple(stored["first"]) if stored["first"] else None
        told = (stored["votes"], stored["new_voters"], stored["known_voters"], moves, first, stored["ended"])
        return cls(*told, stored.get("ranking", "now"))


def compare_tops(before: Top, after: Top) -> list[tuple[int, float | None, float | None]]:
    """The moves between two tops, as (item, rank before, rank after).

    First those who moved or left, by the rank before; then those who entered, by the rank after. A rank is None
    where the item was, or is, not in the top. Ties are told in the order of the items.

    >>> compare_tops({7: 1.0, 3: 2.0, 5: 3.0}, {3: 1.0, 9: 2.0, 5: 3.0})
    [(7, 1.0, None), (3, 2.0, 1.0), (9, None, 2.0)]
    """
    was = sorted((rank, item) for item, rank in before.items() if after.get(item) != rank)
    new = sorted((rank, item) for item, rank in after.items() if item not in before)
    return [(item, rank, after.get(item)) for rank, item in was] + [(item, None, rank) for rank, item in new]
