"""The tasks of a drawn ballot as voters will see them, without reading those that nobody looks at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...ballots.trial import N_TRIAL, cut_to, trial_order
from ...questions.comparison_page import FIELDS, render_preview, suffixes, template
from ...store import Store
from ...store.ballots.ballot_rows import Ballot
from ...store.ballots.comparisons import count_tasks, read_tasks, widest_task
from ...store.projects.plans import PlanSettings


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
        for (_, shown), suffix in zip(task.iterrows(), suffixes(self.widest), strict=False):
            row |= {f"{name}{suffix}": shown[name] for name in FIELDS}
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
