"""Trying a ballot oneself: some of its comparisons, shown as voters will see them, and how long they took.

Nothing of it is counted or kept: a trial says what a vote costs a voter, not what the voter thinks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np
import pandas as pd

N_TRIAL = 20
LONGEST = 3600.0  # seconds; whoever was away for longer was not voting


def trial_order(n_tasks: int, *, n_comparisons: int = N_TRIAL, rng: np.random.Generator) -> list[int]:
    """The tasks of a trial, positions 0…n_tasks−1 in the order in which they are shown: enough for any size of task.

    >>> sorted(trial_order(3, rng=np.random.default_rng(1)))
    [0, 1, 2]
    """
    return rng.permutation(n_tasks)[:n_comparisons].tolist()


def cut_to(comparisons: pd.DataFrame, n_comparisons: int = N_TRIAL) -> list[pd.DataFrame]:
    """The first tasks of a table of comparisons (in order of appearance) up to so many comparisons, each in its order.

    Tasks are whole, as voters get them, but for the last one, which is cut short.
    """
    tasks: list[pd.DataFrame] = []
    left = n_comparisons
    for _, task in comparisons.groupby("task_id", sort=False):
        if left <= 0:
            break
        tasks.append(task.sort_values("n", kind="stable").head(left))
        left -= len(tasks[-1])
    return tasks


@dataclass(frozen=True)
class Pace:
    """How a trial went: `n` answers, of which kinds, and the `median` and `mean` seconds of one, reading included."""

    n: int
    median: float
    mean: float
    n_ties: int
    n_unknown: int
    n_left: int
    n_right: int

    def hours(self, n_comparisons: int) -> float:
        """Person-hours that so many comparisons take at the mean pace: C = t̄ · n (Eq. 10)."""
        return self.mean * n_comparisons / 3600


def pace(choices: Sequence[object], seconds: Sequence[object]) -> Pace | None:
    """What a trial's answers come to; None where there is not one usable answer.

    `choices` are left, right, tie or unknown, `seconds` the time each took, in order. A browser sent
    them, so what is neither is left out, and so are times of more than an hour.

    >>> pace(["left", "tie", "right"], [4.0, 2.0, 9.0])
    Pace(n=3, median=4.0, mean=5.0, n_ties=1, n_unknown=0, n_left=1, n_right=1)
    """
    kept = [
        (choice, float(taken))
        for choice, taken in zip(choices, seconds, strict=False)
        if choice in ("left", "right", "tie", "unknown")
        and isinstance(taken, int | float)
        and math.isfinite(taken)
        and 0 <= taken <= LONGEST
    ]
    if not kept:
        return None
    times = [taken for _, taken in kept]
    counts = {value: sum(choice == value for choice, _ in kept) for value in ("tie", "unknown", "left", "right")}
    return Pace(len(kept), median(times), fmean(times), *counts.values())
