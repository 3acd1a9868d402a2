"""The tasks of a drawn ballot as voters will see them, and a trial in which the owner answers some of them.

Tasks that nobody looks at aren't read. Nothing of a trial is counted or kept: by the time its comparisons took it says
what a vote costs a voter, not what the voter thinks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np
import pandas as pd

from ...questions.comparison_page import FIELDS, render_preview, suffixes, template
from ...store import Store
from ...store.ballots.ballot_rows import Ballot
from ...store.ballots.comparisons import count_tasks, read_tasks, widest_task
from ...store.projects.plans import PlanSettings

N_TRIAL = 20
LONGEST = 3600.0  # seconds; whoever was away for longer was not voting


def trial_order(n_tasks: int, *, n_comparisons: int = N_TRIAL, rng: np.random.Generator) -> list[int]:
    """The tasks of a trial, positions 0…n_tasks−1 in the order in which they are shown: enough for any size of task.

    >>> sorted(trial_order(3, rng=np.random.default_rng(1)))
    [0, 1, 2]
    """
    return rng.permutation(n_tasks)[:n_comparisons].tolist()


def cut_to(comparisons: pd.DataFrame) -> list[pd.DataFrame]:
    """The first tasks of a table of comparisons (in order of appearance) up to `N_TRIAL` comparisons, each in order.

    Tasks are whole, as voters get them, but for the last one, which is cut short.
    """
    tasks: list[pd.DataFrame] = []
    left = N_TRIAL
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
    usable = [
        (choice, float(duration))
        for choice, duration in zip(choices, seconds, strict=False)
        if choice in ("left", "right", "tie", "unknown")
        and isinstance(duration, int | float)
        and math.isfinite(duration)
        and 0 <= duration <= LONGEST
    ]
    if not usable:
        return None
    times = [duration for _, duration in usable]
    counts = {value: sum(choice == value for choice, _ in usable) for value in ("tie", "unknown", "left", "right")}
    return Pace(len(usable), median(times), fmean(times), *counts.values())


@dataclass(frozen=True)
class TaskPages:
    """A ballot's task page: the number of tasks, and the comparisons of the widest, which the page has room for."""

    n_tasks: int
    widest: int
    notion: str
    settings: PlanSettings

    def page(self, target: str = "turkle") -> str:
        """The page as a template for `target` (turkle or mturk)."""
        return template(
            n_comparisons=self.widest,
            notion=self.notion,
            ties_allowed=self.settings.ties_allowed,
            wording=self.settings.wording,
            target=target,
        )

    def filled(self, task: pd.DataFrame, *, scheme: str | None = None) -> str:
        """The page with one task (a table of its comparisons) in it, as a whole document."""
        row = {"task_id": str(task["task_id"].iloc[0])}
        for (_, comparison), suffix in zip(task.iterrows(), suffixes(self.widest), strict=False):
            row |= {f"{name}{suffix}": comparison[name] for name in FIELDS}
        return render_preview(self.page(), row, scheme=scheme, language=self.settings.wording.language)


def load(store: Store, ballot: Ballot, settings: PlanSettings, notion: str) -> TaskPages:
    """The task page of a ballot, with room for the widest task. Without checks all have equally many within one."""
    n_tasks = count_tasks(store, ballot.id)
    widest = widest_task(store, ballot.id, without_checks=-(-ballot.n_comparisons // n_tasks))
    return TaskPages(n_tasks, widest, notion, settings)


def one_task(
    store: Store, project_id: str, ballot: Ballot, pages: TaskPages, number: int, *, scheme: str | None = None
) -> str:
    """Task `number` (from 1) of a ballot as a whole document."""
    return pages.filled(read_tasks(store, project_id, ballot.id, [number - 1]), scheme=scheme)


def trial(store: Store, project_id: str, ballot: Ballot, pages: TaskPages, *, turn: int = 0) -> list[str]:
    """The tasks of a trial of the ballot as whole documents; the ballot's seed and `turn` (from 0) choose them.

    They hold 20 comparisons in all, or the whole ballot where it is smaller.
    """
    order = trial_order(pages.n_tasks, n_comparisons=N_TRIAL, rng=np.random.default_rng([ballot.seed, 4, turn]))
    comparisons = read_tasks(store, project_id, ballot.id, order)
    return [pages.filled(task) for task in cut_to(comparisons)]
