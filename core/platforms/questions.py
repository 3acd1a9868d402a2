"""What goes out for a round: batches, task pages, and a table to fill in.

A batch has one row per task; its columns are those that the task page of the kind of question names (`questions`):

    rating       task_id, item_id_1, token_a_1, token_b_1, item_id_2, …
    best-worst   task_id, tuple_1_item_id_1, tuple_1_token_a_1, tuple_1_token_b_1, tuple_1_item_id_2, …, tuple_2_…
    order        task_id, order_1_target, order_1_item_id_1, order_1_word_1, order_1_item_id_2, …, order_2_…

n counts the questions of a task, k the places in a question, both from 1. An item's id is its position in the project.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import pandas as pd

from ..errors import InputError
from ..questions import RoundKind
from ..questions.task_page import settings_of_page, whole_page
from ..tables import SHOWN
from ..tabular.csv_writing import for_spreadsheets
from ..votes.platform import PlatformFile
from ..votes.text import batch_bytes, encode


def write_round(
    shown: pd.DataFrame, kind: RoundKind, *, only: Collection[int] | None = None, ascii_only: bool
) -> bytes:
    """Write a round's batch file.

    shown : `tables.SHOWN`; only : ids of the questions to publish (all by default): the cells of others are empty, and
    tasks without any are left out; ascii_only : other letters as character references, for Turkle's interface. Tokens
    are written by `text.encode`; UTF-8, lines end in LF. Raises `InputError` where there is nothing to publish.
    """
    SHOWN.check(shown)
    wanted = shown if only is None else shown[shown["question_id"].isin(list(only))]
    if wanted.empty:
        raise InputError("There is no question to publish: every one has the answers it wants.")
    n_questions, n_places = int(shown["n"].max()), int(shown["place"].max())
    columns = ["task_id"]
    for n in range(1, n_questions + 1):
        columns += [name for name, _ in kind.head(n, "")]
        columns += [name for place in range(1, n_places + 1) for name, _ in kind.cells(n, place, 0, "", "")]
    place_of = {name: at for at, name in enumerate(columns)}
    rows: dict[str, list[str]] = {}
    for _, task_id, n, place, item, token_a, token_b, _ in wanted[list(SHOWN.columns)].itertuples(index=False):
        row = rows.setdefault(task_id, [encode(task_id), *[""] * (len(columns) - 1)])
        for name, value in (*kind.head(n, token_a), *kind.cells(n, place, item, token_a, token_b)):
            row[place_of[name]] = encode(value)
    return batch_bytes(columns, rows.values(), ascii_only=ascii_only)


def write_questions(shown: pd.DataFrame, *, only: Collection[int] | None = None) -> bytes:
    """The questions as one table to be filled in: question_id, voter, answer, then what is shown.

    A row per question; `answer` as the kind of question writes it. UTF-8 with a byte order mark for spreadsheets; texts
    that a spreadsheet would take for a formula get an apostrophe.
    """
    SHOWN.check(shown)
    wanted = shown if only is None else shown[shown["question_id"].isin(list(only))]
    rows = []
    for (task_id, n), part in wanted.groupby(["task_id", "n"], sort=False):
        pairs = [f"{a} – {b}" for a, b in zip(part["token_a"], part["token_b"], strict=True)]
        texts = pairs if len(pairs) == 1 else [f"{place}: {pair}" for place, pair in enumerate(pairs, 1)]
        rows.append([f"{task_id}-{n}", "", "", "", "; ".join(texts)])
    return for_spreadsheets(["question_id", "voter", "answer", "seconds", "shown"], rows)


def round_files(
    code: str,
    kind: RoundKind,
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
    about = "One row per task, with the questions that want more answers." if is_top_up else "One row per task."

    def batch(*, ascii_only: bool) -> bytes:
        return write_round(shown(), kind, only=only(), ascii_only=ascii_only)

    def n_places() -> int:
        return int(shown()["n"].max())

    def page(target: str) -> bytes:
        # A page with more places than the batch has columns would show the names of variables.
        found = settings_of_page(kind, settings)
        return whole_page(found, task_size=min(widest, n_places()), target=target).encode("utf-8")

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
