"""Batch files of texts that are no tokens of a project: texts to write for, and pairs of texts to rate; and what comes
back of the first (ratings are read by `scheme_results` and `schemes.rating_files`).

    writing   task_id, text_id_1, larger_1, wanted_1, anchor_1, text_id_2, …          field text_n
    rating    task_id, item_id_1, token_a_1, token_b_1, item_id_2, …                  field rating_n
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import InputError, Issue
from ..i18n import STANDARD
from ..i18n import language as language_of
from ..questions.rating.scales import CLSS, RatingScale
from ..questions.writing import Answer, TextPair, WritingTask
from ..tabular import refuse_doubled, same_name
from ..votes.text import batch_bytes, decode, encode
from .result_tables import open_results

MAX_TASK_SIZE = 50
_TRUE = frozenset({"1", "true", "on"})
_TEXT = re.compile(r"input\.text_id_([1-9]\d{0,3})")


def write_writing(
    tasks: Sequence[WritingTask],
    *,
    task_size: int,
    scale: RatingScale = CLSS,
    ascii_only: bool = False,
    language: str = STANDARD,
) -> bytes:
    """The batch of the writing page (`scheme_templates`), `task_size` texts per row, in the order given.

    Texts are written by `text.encode`; UTF-8, lines end in LF. The scale's standard texts are in
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


def read_writing(data: bytes, filename: str) -> list[Answer]:
    """The answers of a result file of the writing page, for `schemes.writing.read_written`.

    Rejected assignments are left out. Raises `InputError` for another file.
    """
    table = open_results(data, filename)
    place = {same_name(name): at for at, name in enumerate(table.header)}
    numbers = sorted(int(match[1]) for name in place if (match := _TEXT.fullmatch(name)))
    needed = ["workerid", *(f"answer.text_{n}" for n in numbers[:1])]
    missing = [Issue("column is missing", column=name) for name in needed if name not in place]
    if missing or not numbers:
        raise InputError(
            f"{filename} is no result file of the writing page: it needs the columns WorkerId, Input.text_id_1 and "
            "Answer.text_1.", missing,
        )  # fmt: skip
    refuse_doubled(table)
    rows = table.texts(list(range(len(table.header))), max(place[name] for name in needed) + 1)
    cell = {name: rows.columns[at].tolist() for name, at in place.items()}
    blank = [""] * len(rows.numbers)
    found = []
    for at, (writer, row) in enumerate(zip(cell["workerid"], rows.numbers, strict=True)):
        if cell.get("assignmentstatus", blank)[at].strip().casefold() == "rejected":
            continue
        for n in numbers:
            text_id = decode(cell[f"input.text_id_{n}"][at]).strip()
            is_unknown = cell.get(f"answer.unknown_{n}", blank)[at].strip().casefold() in _TRUE
            text = "" if is_unknown else cell.get(f"answer.text_{n}", blank)[at]
            if text_id:
                found.append(Answer(text_id, text, writer.strip(), int(row)))
    return found
