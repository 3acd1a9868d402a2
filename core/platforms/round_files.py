"""Files of work handed out to people: batches, task pages and tables to fill in, for rounds or for any texts.

A batch has one row per task; its columns are those that the task page of the kind of question names (`questions`):

    rating       task_id, item_id_1, token_a_1, token_b_1, item_id_2, …
    best-worst   task_id, tuple_1_item_id_1, tuple_1_token_a_1, tuple_1_token_b_1, tuple_1_item_id_2, …, tuple_2_…
    order        task_id, order_1_target, order_1_item_id_1, order_1_word_1, order_1_item_id_2, …, order_2_…

n counts the questions of a task, k the places in a question, both from 1. An item's id is its position in the project.

Texts that are no tokens of a project, to write for or in pairs to rate, have batches too; what comes back of the first
is read here, ratings by `answer_files` and `questions.rating.files`.

    writing   task_id, text_id_1, larger_1, wanted_1, anchor_1, text_id_2, …          field text_n
    rating    task_id, item_id_1, token_a_1, token_b_1, item_id_2, …                  field rating_n
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from ..errors import InputError
from ..i18n import STANDARD
from ..i18n import language as language_of
from ..questions import RoundKind
from ..questions.rating.scales import CLSS, RatingScale
from ..questions.task_page import settings_of_page, whole_page
from ..questions.writing import TextPair, WritingTask, WrittenText
from ..tables import SHOWN
from ..tabular import lacking, refuse_doubled, same_name
from ..tabular.csv_writing import for_spreadsheets
from ..votes.platform import PlatformFile
from ..votes.reading import batch_bytes, decode, encode
from .presets import open_results

MAX_TASK_SIZE = 50
_TRUE = frozenset({"1", "true", "on"})
_TEXT = re.compile(r"input\.text_id_([1-9][0-9]{0,3})")


def write_writing(
    tasks: Sequence[WritingTask],
    *,
    task_size: int,
    scale: RatingScale = CLSS,
    ascii_only: bool = False,
    language: str = STANDARD,
) -> bytes:
    """The batch of the writing page (`WritingPage`), `task_size` texts per row, in the order given.

    Texts are written by `reading.encode`; UTF-8, lines end in LF. The scale's standard texts are in
    `language`. Raises `InputError` for no text, or a size out of 1–50.
    """
    say = language_of(language).text
    cells = [
        [task.larger.text_id, task.larger.text, f"{task.wanted:g}", say(scale.describe(task.wanted))] for task in tasks
    ]
    return _batch(cells, ("text_id", "larger", "wanted", "anchor"), task_size, "w", ascii_only)


def write_text_pairs(pairs: Sequence[TextPair], *, task_size: int, ascii_only: bool = False) -> bytes:
    """The batch of the rating page for pairs of texts; an item's id is its place in `pairs`, from 0."""
    cells = [[str(at), pair.larger.text, pair.smaller.text] for at, pair in enumerate(pairs)]
    return _batch(cells, ("item_id", "token_a", "token_b"), task_size, "t", ascii_only)


def _batch(cells: list[list[str]], names: tuple[str, ...], size: int, code: str, ascii_only: bool) -> bytes:
    if not cells or not 1 <= size <= MAX_TASK_SIZE:
        raise InputError(
            f"A batch needs texts, and tasks of 1 to {MAX_TASK_SIZE}: {len(cells)} texts, {size} per task."
        )
    width = min(size, len(cells))
    header = ["task_id", *(f"{name}_{n}" for n in range(1, width + 1) for name in names)]
    rows = []
    for number, start in enumerate(range(0, len(cells), size), 1):
        row = [encode(value) for cell in cells[start : start + size] for value in cell]
        rows.append([f"{code}-{number:05d}", *row, *[""] * (width * len(names) - len(row))])
    return batch_bytes(header, rows, ascii_only=ascii_only)


def read_writing(data: bytes, filename: str) -> list[WrittenText]:
    """The answers of a result file of the writing page, for `writing.read_written`.

    Rejected assignments are left out. Raises `InputError` for another file.
    """
    table = open_results(data, filename)
    place = {same_name(name): at for at, name in enumerate(table.header)}
    numbers = sorted(int(match[1]) for name in place if (match := _TEXT.fullmatch(name)))
    needed = ["workerid", *(f"answer.text_{n}" for n in numbers[:1])]
    missing = [name for name in needed if name not in place]
    if missing or not numbers:
        hint = "A result file of the writing page has WorkerId, Input.text_id_1 and Answer.text_1."
        raise lacking(table, missing or ["answer.text_1"], then=hint)
    refuse_doubled(table)
    rows = table.texts(list(range(len(table.header))), max(place[name] for name in needed) + 1)
    cell = {name: rows.columns[at].tolist() for name, at in place.items()}
    blank = [""] * len(rows.numbers)
    answers = []
    for at, (writer, row) in enumerate(zip(cell["workerid"], rows.numbers, strict=True)):
        if cell.get("assignmentstatus", blank)[at].strip().casefold() == "rejected":
            continue
        for n in numbers:
            text_id = decode(cell[f"input.text_id_{n}"][at]).strip()
            is_unknown = cell.get(f"answer.unknown_{n}", blank)[at].strip().casefold() in _TRUE
            text = "" if is_unknown else cell.get(f"answer.text_{n}", blank)[at]
            if text_id:
                answers.append(WrittenText(text_id, text, writer.strip(), int(row)))
    return answers


def write_round(
    shown: pd.DataFrame, kind: RoundKind, *, only: Collection[int] | None = None, ascii_only: bool
) -> bytes:
    """Write a round's batch file.

    shown : `tables.SHOWN`; only : ids of the questions to publish (all by default): the cells of others are empty, and
    tasks without any are left out; ascii_only : other letters as character references, for Turkle's interface. Tokens
    are written by `reading.encode`; UTF-8, lines end in LF. Raises `InputError` where there is nothing to publish.
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
    about = "One row per task, with the questions that still need answers." if is_top_up else "One row per task."

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
            "One row per question, with what it shows: for colleagues, a form or a script. It comes back as it is.",
            csv,
            lambda: write_questions(shown(), only=only()),
        ),
    )
