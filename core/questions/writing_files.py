"""The files of items made by writing, for work by hand: texts in, a form to fill in, and the pairs for the raters.

    texts   text; optional text_id, genre, level
    form    text_id, larger, smaller, genre, level, wanted, meaning
    pairs   text_a, text_b, genre, level

The form is what was drawn: what came back from a task page is read beside it. Rows whose wanted rating is the lowest
are nobody's to write: they come with a smaller text of a pool, or blank, to be filled by lot from what others wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import InputError, Issue
from ..tabular import column_numbers, open_table, places_of, same_name, shown_header
from ..tabular.csv_writing import csv_text
from .rating.scales import CLSS, RatingScale
from .writing import Answer, Smaller, Text, TextPair, WritingTask

FORM = ("text_id", "larger", "smaller", "genre", "level", "wanted", "meaning")
PAIRS = ("text_a", "text_b", "genre", "level")


@dataclass(frozen=True)
class Form:
    """A form that came back.

    tasks : rows to write for; answers : what stands in them, "" where they were left blank; lots : pairs of the lowest
    rating that are complete; aside : texts that still want one. notes : what else a reader should know.
    """

    tasks: tuple[WritingTask, ...]
    answers: tuple[Answer, ...]
    lots: tuple[TextPair, ...]
    aside: tuple[Text, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TextList:
    """Texts in the table's order, and what else a reader should know."""

    texts: tuple[Text, ...]
    notes: tuple[str, ...] = ()


def read_texts(data: bytes, name: str, *, encoding: str | None = None) -> TextList:
    """Texts of a CSV, TSV or Excel file; their ids are the table's, else their numbers.

    Raises `InputError` without a column text or with two, for a text that stands twice, and for none.
    """
    columns, numbers, notes = _columns(data, name, ("text",), ("text_id", "genre", "level"), encoding)
    found: dict[tuple[str, ...], Text] = {}
    rows: dict[tuple[str, ...], int] = {}
    issues = []
    for row, text, text_id, genre, level in zip(numbers, *columns, strict=True):
        key = (text, genre, level)
        if text and key in found:
            issues.append(Issue(f"stands in row {rows[key]} already", row=row, found=text))
        elif text:
            rows[key] = row
            found[key] = Text(text_id or str(len(found) + 1), text, genre, level)
    if issues:
        raise InputError(f"{name} has texts more than once.", issues)
    if not found:
        raise InputError(f"{name} has no text.")
    return TextList(tuple(found.values()), notes)


def pool_of(texts: Sequence[Text]) -> list[Smaller]:
    """Texts of a table as smaller texts that were written for none of the larger ones."""
    return [Smaller(text.text, text.kind) for text in texts]


def write_form(
    tasks: Sequence[WritingTask],
    lots: Sequence[TextPair] = (),
    without: Sequence[Text] = (),
    *,
    scale: RatingScale = CLSS,
) -> bytes:
    """The form: rows to be filled in, then the pairs made by lot, then texts that are set aside and have none yet."""
    rows = [(task.larger, "", task.wanted) for task in tasks]
    rows += [(pair.larger, pair.smaller.text, pair.wanted) for pair in lots]
    rows += [(text, "", scale.low) for text in without]
    cells = [
        (text.text_id, text.text, smaller, text.genre, text.level, f"{wanted:g}", scale.describe(wanted))
        for text, smaller, wanted in rows
    ]
    return csv_text(FORM, cells).encode("utf-8")


def read_form(data: bytes, name: str, *, scale: RatingScale = CLSS, encoding: str | None = None) -> Form:
    """A form as it came back; columns other than larger and smaller may be missing, then nothing is by lot.

    Raises `InputError` for a table that isn't the form, a pair that stands twice, an id of two texts, and a wanted
    rating that is no number.
    """
    optional = ("text_id", "genre", "level", "wanted")
    columns, numbers, notes = _columns(data, name, ("larger", "smaller"), optional, encoding)
    ratings = column_numbers(columns[-1], numbers, "wanted")
    if ratings.bad:
        raise InputError(f"{name} has wanted ratings that are no numbers.", ratings.bad)
    tasks: dict[str, WritingTask] = {}
    seen: dict[tuple[str, ...], int] = {}
    answers, lots, aside, issues = [], [], [], []
    rows = zip(numbers, *columns[:-1], ratings.values.tolist(), strict=True)
    for row, larger, smaller, text_id, genre, level, wanted in rows:
        if not larger:
            continue
        text = Text(text_id or f"row {row}", larger, genre, level)
        key = (larger, smaller, genre, level)
        if smaller and key in seen:
            issues.append(Issue(f"this pair stands in row {seen[key]} already", row=row, found=smaller))
        seen.setdefault(key, row)
        task = WritingTask(text, wanted)
        if tasks.get(text.text_id, task).larger.text != larger:
            issues.append(Issue("this id is another text's as well", row=row, found=text_id))
        if task.wanted != scale.low:
            tasks.setdefault(text.text_id, task)
            answers.append(Answer(text.text_id, smaller, row=row))
        elif smaller:
            lots.append(TextPair(text, Smaller(smaller, text.kind), scale.low))
        else:
            aside.append(text)
    if issues:
        raise InputError(f"{name} contradicts itself.", issues)
    told = (*notes, *map(str, ratings.notes))
    return Form(tuple(tasks.values()), tuple(answers), tuple(lots), tuple(aside), told)


def write_pairs(pairs: Sequence[TextPair]) -> bytes:
    """The pairs for the raters, in the order given and without what was wanted."""
    cells = [(pair.larger.text, pair.smaller.text, pair.larger.genre, pair.larger.level) for pair in pairs]
    return csv_text(PAIRS, cells).encode("utf-8")


def _columns(
    data: bytes, name: str, needed: Sequence[str], optional: Sequence[str], encoding: str | None
) -> tuple[list[list[str]], list[int], tuple[str, ...]]:
    """The named columns, white space tidied, the rows' numbers, and notes; optional columns that are missing are
    empty."""
    table = open_table(data, name, encoding=encoding, fits=(lambda header: set(needed) <= set(map(same_name, header)),))
    at = places_of(table, (*needed, *optional))
    missing = [title for title in needed if title not in at]
    if missing:
        raise InputError(f"{name} lacks {', '.join(missing)}. Its columns are {shown_header(table)}.")
    texts = table.texts(list(at.values()), max(at[title] for title in needed) + 1)
    if texts.unread:
        raise InputError(f"{name} has rows that can't be read.", texts.unread)
    tidy = {title: [" ".join(cell.split()) for cell in column] for title, column in zip(at, texts.lists, strict=True)}
    rows = texts.numbers.tolist()
    empty = [""] * len(rows)
    return [tidy.get(title, empty) for title in (*needed, *optional)], rows, tuple(map(str, texts.remarks))
