"""What goes out for a round: batches, task pages, and a table to fill in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import pandas as pd

from .base import PlatformFile
from .scheme_batch import write_questions, write_round
from .scheme_templates import scheme_template


def round_files(
    code: str,
    scheme: str,
    settings: Mapping[str, Any],
    *,
    shown: Callable[[], pd.DataFrame],
    widest: int,
    only: Callable[[], Collection[int] | None] = lambda: None,
    is_top_up: bool = False,
) -> tuple[PlatformFile, ...]:
    """The files of a round; nothing is read or written before one is asked for.

    code : begins the files' names; settings : as JSON holds them, with the notion; shown : reads `tables.SHOWN`;
    widest : the most questions a task may have; only : ids of the questions to ask for, those of a top-up.
    """
    part = f"{code}-top-up" if is_top_up else code
    about = "One row a task, with the questions that want more answers." if is_top_up else "One row a task."

    def batch(*, ascii_only: bool) -> bytes:
        return write_round(shown(), scheme, only=only(), ascii_only=ascii_only)

    def n_places() -> int:
        return int(shown()["n"].max())

    def page(target: str) -> bytes:
        # A page with more places than the batch has columns would show the names of variables.
        return scheme_template(scheme, settings, task_size=min(widest, n_places()), target=target).encode("utf-8")

    csv, html = "text/csv", "text/html"
    return (
        PlatformFile(f"{part}.csv", "Batch (CSV)", about, csv, lambda: batch(ascii_only=True)),
        PlatformFile(
            f"{code}-page.html",
            "Task page for Turkle (HTML)",
            "What people see and answer. Turkle adds the form and the Submit button.",
            html,
            lambda: page("turkle"),
        ),
        PlatformFile(
            f"{code}-crowd-form.html",
            "Task page, crowd-form (HTML)",
            "The same page for programs in Mechanical Turk's manner that add no form themselves.",
            html,
            lambda: page("mturk"),
        ),
        PlatformFile(
            f"{part}-table.csv",
            "Table to fill in (CSV)",
            "A row a question with what it shows: for colleagues, a form or a script. It comes back as it is.",
            csv,
            lambda: write_questions(shown(), only=only()),
        ),
    )
