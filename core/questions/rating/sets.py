"""A set of ratings as it was read: items, people, and each rating with the condition and the order it was given in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, Issue

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MOST_CELLS = 50_000_000  # people × items


@dataclass(frozen=True, eq=False)
class RatingSet:
    """Items with people's ratings, or, where a file has only those, with the mean of them.

    first, second : the two texts of each item, of any size; level, genre : of each, "" where the file has none.
    people : names; `person`, `item`, `rating`, `condition`, `order` have an entry per rating (positions, the rating,
    texts; "" where the file says nothing). Higher = more related.
    mean, sd : as the file gives them, NaN where it doesn't. issues : what was left out, row by row; notes : what else
    a reader should know.
    """

    name: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    level: tuple[str, ...]
    genre: tuple[str, ...]
    people: tuple[str, ...]
    person: Ints
    item: Ints
    rating: Floats
    condition: tuple[str, ...]
    order: tuple[str, ...]
    mean: Floats
    sd: Floats
    issues: tuple[Issue, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.first) < 2:
            raise InputError(f"{self.name} has ratings of {len(self.first)} items; two are needed.", self.issues)
        if len(self.people) * len(self.first) > MOST_CELLS:
            raise InputError(
                f"{self.name} has {len(self.people):,} people and {len(self.first):,} items, which is more than "
                f"{MOST_CELLS:,} cells. Split it, by level or genre for instance."
            )

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.first)

    @property
    def has_people(self) -> bool:
        """Whether it is known who rated what; else there are means only."""
        return bool(self.people)

    @property
    def items(self) -> tuple[str, ...]:
        """Each item as one text."""
        return tuple(f"{a} – {b}" for a, b in zip(self.first, self.second, strict=True))

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions that ratings were given in, in the order of the file; none where it names none."""
        return tuple(name for name in dict.fromkeys(self.condition) if name)

    @cached_property
    def table(self) -> Floats:
        """People × items, NaN where somebody didn't rate; a person's ratings in several conditions are averaged."""
        return self._table(np.ones(len(self.rating), dtype=bool))

    def under(self, condition: str) -> Floats:
        """The table of one condition: those people who rated in it × all items."""
        rows = np.array([name == condition for name in self.condition], dtype=bool)
        table = self._table(rows)
        return np.asarray(table[np.unique(self.person[rows])])

    def _table(self, rows: NDArray[np.bool_]) -> Floats:
        shape = len(self.people), self.n_items
        total, count = np.zeros(shape), np.zeros(shape)
        np.add.at(total, (self.person[rows], self.item[rows]), self.rating[rows])
        np.add.at(count, (self.person[rows], self.item[rows]), 1)
        return np.asarray(np.divide(total, count, out=np.full(shape, np.nan), where=count > 0))

    def ordered(self) -> dict[int, tuple[Floats, Floats]]:
        """Ratings of each item with its texts in order A and in order B; items without both are left out."""
        found: dict[int, tuple[list[float], list[float]]] = {}
        for position, value, order in zip(self.item.tolist(), self.rating.tolist(), self.order, strict=True):
            if order:
                found.setdefault(position, ([], []))[order == "B"].append(value)
        return {at: (np.array(a), np.array(b)) for at, (a, b) in sorted(found.items()) if a and b}
