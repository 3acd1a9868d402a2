"""The batch file: the tasks of a ballot as the CSV that Turkle and Mechanical Turk take."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from ..errors import InputError, Issue
from ..tables import COMPARISONS
from ..votes.text import batch_bytes, encode

# The columns of one comparison, in the order of the file; `_n` is added where a task holds several.
FIELDS = ("left_a", "left_b", "right_a", "right_b", "area_left", "area_right")


def write_batch(tasks: pd.DataFrame, *, only: Collection[int] | None = None, ascii_only: bool = False) -> bytes:
    """Write the tasks of a ballot, one row per task: `task_id`, then `left_a_n, …, area_right_n` for n = 1, 2, ….

    The numbers are left off when every task holds one comparison. A task with fewer comparisons than the
    widest ends in empty cells, which the template removes. Tokens are written by `text.encode`. UTF-8 without a
    byte order mark (Turkle refuses one), lines end in LF (both platforms read it), rows in order of first appearance.

    Parameters: `tasks`, a table of comparisons (`tables.COMPARISONS`), in any order; `only`, the question ids to
    publish (all by default): the cells of other comparisons are empty, so that numbers keep their meaning, and
    tasks without any are left out; `ascii_only` writes all other letters as character references too, which pages
    show alike: Turkle's interface cuts result files that hold letters outside ASCII.
    Raises `InputError` when there is no comparison, or when a task's comparisons aren't numbered 1, 2, … without gaps.

    >>> row = {"question_id": 7, "task_id": "t1", "n": 1, "first": 0, "second": 1, "flipped": False,
    ...        "left_a": "ship", "left_b": "boat", "right_a": "pay", "right_b": "R&D",
    ...        "area_left": "sea", "area_right": "job"}
    >>> print(write_batch(pd.DataFrame([row])).decode(), end="")
    task_id,left_a,left_b,right_a,right_b,area_left,area_right
    t1,ship,boat,pay,R&amp;D,sea,job
    """
    COMPARISONS.check(tasks)
    if tasks.empty:
        raise InputError("There is no comparison to publish: the ballot has no tasks. Draw the ballot first.")
    numbers = tasks.groupby("task_id", sort=False)["n"].agg(["min", "max", "count", "nunique"])
    is_gapless = (numbers["min"] == 1) & (numbers["max"] == numbers["count"]) & (numbers["nunique"] == numbers["count"])
    if not is_gapless.all():
        text = "comparisons must be numbered 1, 2, … without gaps"
        issues = [Issue(text, column="n", found=str(task)) for task in numbers.index[~is_gapless]]
        raise InputError("These tasks can't be published.", issues)
    width = int(numbers["max"].max())
    header = ["task_id", *(field + suffix for suffix in suffixes(width) for field in FIELDS)]
    ordered = tasks.sort_values("n", kind="stable")
    cells: dict[str, list[str]] = {task: [] for task in numbers.index}
    blank = [""] * len(FIELDS)
    wanted = None if only is None else frozenset(only)
    for question, task_id, *values in ordered[["question_id", "task_id", *FIELDS]].itertuples(index=False, name=None):
        cells[task_id].extend(map(encode, values) if wanted is None or question in wanted else blank)
    n_cells = width * len(FIELDS)
    rows = ([encode(task), *row, *[""] * (n_cells - len(row))] for task, row in cells.items() if any(row))
    return batch_bytes(header, rows, ascii_only=ascii_only)


def suffixes(n_comparisons: int) -> list[str]:
    """The endings of a task's variables: `_1`, `_2`, …, or none at all when a task holds one comparison."""
    return [""] if n_comparisons == 1 else [f"_{n}" for n in range(1, n_comparisons + 1)]
