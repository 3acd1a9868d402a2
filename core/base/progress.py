"""How far some work is, told by it while it goes on, also where it is one of several parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Progress = Callable[[float, float], None]  # how much is done, of how much


def split(progress: Progress | None, weights: Sequence[float]) -> list[Progress | None]:
    """A `Progress` for each part of some work, by how long the parts take; None for all where nobody asks.

    The whole counts to the sum of the weights. A part that has nothing to do is over at once.

    >>> told = []
    >>> first, second = split(lambda done, total: told.append((done, total)), [1.0, 3.0])
    >>> first(1, 2), second(1, 2), second(2, 2)
    (None, None, None)
    >>> told
    [(0.5, 4.0), (2.5, 4.0), (4.0, 4.0)]
    """
    if progress is None:
        return [None for _ in weights]
    total = float(sum(weights))
    starts = [float(sum(weights[:place])) for place in range(len(weights))]
    return [_part(progress, start, weight, total) for start, weight in zip(starts, weights, strict=True)]


def _part(progress: Progress, start: float, weight: float, total: float) -> Progress:
    return lambda done, of: progress(start + weight * (min(done / of, 1.0) if of else 1.0), total)
