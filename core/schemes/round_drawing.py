"""The questions of a round, drawn: which items each shows, in which order, and which task it is put into.

Everything follows from the items, the settings and the generator: the same give the same draw.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .best_worst import draw_tuples
from .collected import BEST_WORST, ORDER, RATING, RoundSettings

Ints = NDArray[np.int64]
BLUR = 0.1  # noise of the order along which tuples are drawn, of the scores' spread, more for each appearance


@dataclass(frozen=True, eq=False)
class DrawnRound:
    """Questions: item positions in the order shown; whether the tokens of a rated item change places, (n,);
    task 0… and place in it 0… of each, (n,)."""

    options: tuple[tuple[int, ...], ...]
    swapped: NDArray[np.bool_]
    task: Ints
    place: Ints

    @property
    def items(self) -> Ints:
        """The positions of all items that are shown, ascending."""
        return np.unique(np.concatenate([np.asarray(shown, dtype=np.int64) for shown in self.options]))


def draw_questions(
    items: Ints,
    settings: RoundSettings,
    *,
    rng: np.random.Generator,
    groups: Sequence[Sequence[int]] = (),
    scores: NDArray[np.float64] | None = None,
    met: Iterable[tuple[int, int]] = (),
) -> DrawnRound:
    """Draw a round of these items (positions, all different).

    Ratings: each item once, in random order. Best–worst: `draw_tuples`, along `scores` where there are any, so that
    near items meet; `met` met before. Orders: one question for each of `groups`, the item positions of a target's
    positives, shown in random order. Tasks differ in size by one at most. Raises `InputError` where nothing can be
    drawn.
    """
    if settings.scheme == RATING:
        if not len(items):
            raise InputError("There is no item to rate.")
        options: list[tuple[int, ...]] = [(int(item),) for item in rng.permutation(items)]
    elif settings.scheme == BEST_WORST:
        shown = draw_tuples(
            items,
            settings.appearances,
            size=settings.size,
            rng=rng,
            order=None if scores is None else _along(scores, settings.appearances, rng),
            met=met,
        )
        options = [tuple(row) for row in shown.tolist()]
    elif settings.scheme == ORDER:
        options = [tuple(int(item) for item in rng.permutation(np.asarray(group))) for group in groups]
    else:
        raise InputError(f"There is no scheme {settings.scheme!r}.")
    n = len(options)
    swapped = np.zeros(n, dtype=bool)
    if settings.scheme == RATING and settings.swaps:
        swapped[: n // 2] = True
        swapped = rng.permutation(swapped)
    parts = np.array_split(rng.permutation(n), -(-n // settings.task_size))
    task, place = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for number, part in enumerate(parts):
        task[part], place[part] = number, np.arange(len(part))
    return DrawnRound(tuple(options), swapped, task, place)


def _along(scores: NDArray[np.float64], appearances: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """A key for each appearance and item: the best first, with noise that grows, so that not the same ones meet."""
    blur = BLUR * float(np.std(scores)) * np.arange(1, appearances + 1)[:, None]
    return np.asarray(-scores + blur * rng.standard_normal((appearances, len(scores))))
