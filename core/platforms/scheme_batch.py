"""The batch file of a round: one row a task, as the task pages of `scheme_templates` name its columns.

    rating       task_id, item_id_1, token_a_1, token_b_1, item_id_2, …
    best-worst   task_id, tuple_1_item_id_1, tuple_1_token_a_1, tuple_1_token_b_1, tuple_1_item_id_2, …, tuple_2_…
    order        task_id, order_1_target, order_1_item_id_1, order_1_word_1, order_1_item_id_2, …, order_2_…

n counts the questions of a task, k the places in a question, both from 1. An item's id is its position in the project.
"""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from ..csv_writing import for_spreadsheets
from ..errors import InputError
from ..schemes.collected import BEST_WORST, ORDER, RATING
from ..tables import SHOWN
from .text import batch_bytes, encode


def write_round(shown: pd.DataFrame, scheme: str, *, only: Collection[int] | None = None, ascii_only: bool) -> bytes:
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
        columns += _columns(scheme, n, n_places)
    place_of = {name: at for at, name in enumerate(columns)}
    rows: dict[str, list[str]] = {}
    for _, task_id, n, place, item, token_a, token_b, _ in wanted[list(SHOWN.columns)].itertuples(index=False):
        row = rows.setdefault(task_id, [encode(task_id), *[""] * (len(columns) - 1)])
        for name, value in _cells(scheme, n, place, item, token_a, token_b):
            row[place_of[name]] = encode(value)
    return batch_bytes(columns, rows.values(), ascii_only=ascii_only)


def id_column(scheme: str, n: int, place: int) -> str:
    """The column that holds the id of the item at a place of question n."""
    return {RATING: f"item_id_{n}", BEST_WORST: f"tuple_{n}_item_id_{place}", ORDER: f"order_{n}_item_id_{place}"}[
        scheme
    ]


def _columns(scheme: str, n: int, n_places: int) -> list[str]:
    first = [f"order_{n}_target"] if scheme == ORDER else []
    return first + [name for place in range(1, n_places + 1) for name, _ in _own(scheme, n, place, 0, "", "")]


def _cells(scheme: str, n: int, place: int, item: int, token_a: str, token_b: str) -> list[tuple[str, str]]:
    first = [(f"order_{n}_target", token_a)] if scheme == ORDER else []
    return first + _own(scheme, n, place, item, token_a, token_b)


def _own(scheme: str, n: int, place: int, item: int, token_a: str, token_b: str) -> list[tuple[str, str]]:
    """The columns of one item with their values."""
    named = [(id_column(scheme, n, place), str(item))]
    if scheme == RATING:
        return [*named, (f"token_a_{n}", token_a), (f"token_b_{n}", token_b)]
    if scheme == BEST_WORST:
        return [*named, (f"tuple_{n}_token_a_{place}", token_a), (f"tuple_{n}_token_b_{place}", token_b)]
    return [*named, (f"order_{n}_word_{place}", token_b)]


def write_questions(shown: pd.DataFrame, *, only: Collection[int] | None = None) -> bytes:
    """The questions as one table to be filled in: question_id, voter, answer, then what is shown.

    A row a question; `answer` as `schemes.collected` writes it. UTF-8 with a byte order mark, for spreadsheets; texts
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
