"""Which of several models can be told apart, in which groups they fall, and what it would take to tell two apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.special import ndtr, ndtri

from ..base.estimates import holm
from ..errors import InputError
from ..metrics import rounded_scores
from .token_intervals import TokenDraws

SIGNIFICANCE, POWER = 0.1, 0.8


@dataclass(frozen=True)
class PairwiseDifference:
    """What is known of the difference between two models.

    difference : the first's figure less the second's, over the items that both are taken over; corrected and error :
    the same without the bias of resampling, and its standard error; lower, upper : 90 % interval; first_better :
    Φ(corrected / error), the probability that the true difference is above 0 where the corrected one is taken as normal
    about it; p : two-sided, adjusted by Holm for all pairs of models; is_apart : p is at
    most 0.1.
    """

    first: str
    second: str
    difference: float
    corrected: float
    error: float
    lower: float
    upper: float
    first_better: float
    p: float = 1.0

    @property
    def is_apart(self) -> bool:
        return self.p <= SIGNIFICANCE


def two_sided(first_better: float) -> float:
    """The two-sided p-value of no difference, 2·min(P, 1 − P), where P is `first_better`."""
    return 2.0 * min(first_better, 1.0 - first_better)


def adjusted(told: Iterable[PairwiseDifference]) -> tuple[PairwiseDifference, ...]:
    """The same pairs with their p-values adjusted for each other."""
    pairs = list(told)
    p_values = rounded_scores(holm([two_sided(pair.first_better) for pair in pairs]), largest=1).tolist()
    return tuple(replace(pair, p=p) for pair, p in zip(pairs, p_values, strict=True))


def by_tokens(names: Sequence[str], draws: TokenDraws, figure: str = "rho_w") -> tuple[PairwiseDifference, ...]:
    """Every two models by resampled tokens; without those for which there is no interval."""
    found = []
    for one, other in combinations(range(len(names)), 2):
        bounds = draws.interval(figure, one, other)
        if bounds is None:
            continue
        gap = float(draws.estimates[figure][one] - draws.estimates[figure][other])
        found.append(
            PairwiseDifference(
                names[one], names[other], gap, bounds.corrected, bounds.error, bounds.lower, bounds.upper,
                first_better(bounds.corrected, bounds.error),
            )
        )  # fmt: skip
    return adjusted(found)


def first_better(corrected: float, error: float) -> float:
    """Φ(corrected / error): the probability that a difference is above 0, the corrected one taken as normal about it.

    0, ½ or 1 by its sign where there is no error.
    """
    return float(ndtr(corrected / error)) if error > 0 else (1 + float(np.sign(corrected))) / 2


def groups(names: Sequence[str], is_apart: Callable[[str, str], bool]) -> list[tuple[str, ...]]:
    """The largest sets of models no two of which are told apart, each in the order of `names`.

    A model may be in several: "not told apart" isn't transitive. Ordered by their first members, so that names sorted
    by a figure give the leaders' group first.

    >>> groups(["a", "b", "c"], lambda x, y: {x, y} == {"a", "c"})
    [('a', 'b'), ('b', 'c')]
    """
    together = {
        name: {other for other in names if other != name and not (is_apart(name, other) or is_apart(other, name))}
        for name in names
    }
    found: list[set[str]] = []

    def extend(chosen: set[str], possible: set[str], done: set[str]) -> None:  # Bron and Kerbosch (1973)
        if not possible and not done:
            found.append(chosen)
        for name in [each for each in names if each in possible]:
            extend(chosen | {name}, possible & together[name], done & together[name])
            possible, done = possible - {name}, done | {name}

    extend(set(), set(names), set())
    place = {name: number for number, name in enumerate(names)}
    return sorted((tuple(sorted(group, key=place.__getitem__)) for group in found), key=lambda g: [place[n] for n in g])


def times_needed(difference: float, error: float, *, power: float = POWER, significance: float = SIGNIFICANCE) -> float:
    """How many times as many votes, or tokens, would tell two models apart with a probability of `power`.

        f = ((q(1 − significance/2) + q(power)) · error / difference)²

    q the normal quantiles: the error shrinks with the root of what is resampled. Below 1 there are enough. Infinite
    for no difference. `significance` is two-sided, for these two models alone.
    Raises `InputError` for a power or significance outside (0, 1), or a negative error.

    >>> round(times_needed(0.05, 0.05), 2)
    6.18
    """
    if not (0 < power < 1 and 0 < significance < 1 and error >= 0):
        raise InputError(f"Power and significance are between 0 and 1, the error 0 or more: {power}, {significance}.")
    if difference == 0:
        return math.inf
    return float(((ndtri(1 - significance / 2) + ndtri(power)) * error / difference) ** 2)
