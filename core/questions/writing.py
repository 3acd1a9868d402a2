"""Items made by writing: people write smaller texts for larger ones, so that ratings cover all of their scale.

The ratings are wanted equally often in each level and genre; pairs of the lowest one need nobody: the larger text is
put beside a smaller one of its level and genre, from a pool or written for another text. Raters then see all pairs in
random order and without what was wanted, since their ratings decide.

The page on which people write stands here, with the look-up of all task pages by name; its batches are in
`platforms.round_files`. For work by hand there are files: texts in, a form to fill in, and the pairs for the raters.

    texts   text; optional text_id, genre, level
    form    text_id, larger, smaller, genre, level, wanted, meaning
    pairs   text_a, text_b, genre, level

The form is what was drawn: what came back from a task page is read beside it. Rows whose wanted rating is the lowest
are nobody's to write: they come with a smaller text of a pool, or blank, to be filled by lot from what others wrote.

Reference: Jurgens, Pilehvar, Navigli (2016), Cross Level Semantic Similarity, section 4.2, phase 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, Issue
from ..i18n import translatable
from ..tabular import column_numbers, lacking, open_table, places_of, same_name
from ..tabular.csv_writing import csv_text
from . import round_kinds
from .comparison_page import render
from .rating.kind import SORTING
from .rating.scales import CLSS, RatingScale
from .task_page import Page, PageSettings, Words, settings_of_page, whole_page

MAX_WRITTEN = 2000
_STEPS = translatable(
    "For each text write a {smaller} whose meaning is as close to it as the rating says. Write it in your own words; "
    "it doesn’t have to look like the text, and it must make sense by itself."
)
_QUESTION = translatable("Write a {smaller} that is as close as wanted")


class WritingPage(Page):
    """A text to write for each that is shown, as close to it as is wanted."""

    name = kind = "writing"
    scripts = ("scheme.js", "scheme_writing.js")
    question = Words(_QUESTION, _QUESTION)
    steps = Words(_STEPS, _STEPS)
    keys = translatable("<kbd>Tab</kbd> goes on to the next text")
    explains_notion = False

    def columns(self, n: int, rows: int) -> list[str]:
        return [f"larger_{n}", f"wanted_{n}", f"anchor_{n}"]

    def inside(self, settings: PageSettings, n: int) -> str:
        return render(self.kind, settings.language, settings=settings, n=n, max_written=MAX_WRITTEN)


def pages() -> dict[str, Page]:
    """All pages by name."""
    return {page.name: page for page in (*round_kinds().values(), SORTING, WritingPage())}


def page_settings(name: str, stored: Mapping[str, Any]) -> PageSettings:
    """Settings of the page of this name; see `task_page.settings_of_page`. Raises `InputError` for another name, too.

    >>> page_settings("rating", {"scale": "STSS"}).scheme, page_settings("rating", {"scale": "CLSS"}).scheme
    ('sort-then-rate', 'rating')
    """
    known = pages()
    if name not in known:
        raise InputError(f"There is no task page for the scheme {name!r}; there is {', '.join(known)}.")
    return settings_of_page(known[name], stored)


def task_page(name: str, stored: Mapping[str, Any], *, task_size: int, target: str = "turkle") -> str:
    """The page of this name for tasks of up to `task_size` items, tuples, targets or texts; see `task_page.whole_page`.

    >>> page = task_page("rating", {"scale": "CLSS"}, task_size=2)
    >>> "${token_b_2}" in page and 'name="rating_2" min="0" max="4" step="0.25"' in page and "<form" not in page
    True
    """
    return whole_page(page_settings(name, stored), task_size=task_size, target=target)


@dataclass(frozen=True)
class Text:
    """A larger text; its genre and level ("sentence to phrase", say) may be ""."""

    text_id: str
    text: str
    genre: str = ""
    level: str = ""

    @property
    def kind(self) -> tuple[str, str]:
        """Genre and level: only texts of one kind are paired by lot."""
        return self.genre, self.level


@dataclass(frozen=True)
class WritingTask:
    """A larger text with the rating that the smaller one is to come near."""

    larger: Text
    wanted: float


@dataclass(frozen=True)
class WrittenText:
    """What somebody wrote for a text, "" where nothing could be; the row of the file that says so."""

    text_id: str
    text: str
    writer: str = ""
    row: int | None = None


@dataclass(frozen=True)
class SmallerText:
    """A smaller text of a genre and level; `source_id` is the larger text it was written for, "" in a pool."""

    text: str
    kind: tuple[str, str] = ("", "")
    source_id: str = ""
    writer: str = ""


@dataclass(frozen=True)
class TextPair:
    """A pair to rate, and what was wanted of it, which raters don't see."""

    larger: Text
    smaller: SmallerText
    wanted: float


def wanted_ratings(scale: RatingScale = CLSS) -> list[float]:
    """The ratings that are written for, ascending: the anchors above the lowest; all values where there are none.

    >>> wanted_ratings()
    [1.0, 2.0, 3.0, 4.0]
    """
    values = sorted(anchor.value for anchor in scale.anchors) or list(scale.values)
    return [value for value in values if value > scale.low]


def draw_writing(
    texts: Sequence[Text], *, scale: RatingScale = CLSS, rng: np.random.Generator
) -> tuple[list[WritingTask], list[Text]]:
    """Say for each text which rating is wanted, or set it aside for the lowest one, which is made by lot.

    The ratings, the lowest among them, come equally often within one, over all texts and within each level and genre.
    Returns tasks in random order and the texts set aside. Raises `InputError` for texts that are empty, ids that are
    empty or come twice, or no text at all.
    """
    issues = [Issue("has no text or no id", row=row) for row, text in enumerate(texts, 1) if not _is_whole(text)]
    times = Counter(text.text_id for text in texts)
    issues += [Issue("this id comes twice", found=id_) for id_ in sorted(times) if times[id_] > 1]
    if issues or not texts:
        raise InputError("Smaller texts can't be asked for.", issues or [Issue("there is no larger text")])
    values = [scale.low, *wanted_ratings(scale)]
    turn = [values[at] for at in rng.permutation(len(values))]
    tasks, aside, n_given = [], [], 0
    for group in _groups(texts).values():
        for at in rng.permutation(len(group)).tolist():
            wanted = turn[n_given % len(turn)]
            n_given += 1
            if wanted == scale.low:
                aside.append(group[at])
            else:
                tasks.append(WritingTask(group[at], wanted))
    return [tasks[at] for at in rng.permutation(len(tasks)).tolist()], aside


def _is_whole(text: Text) -> bool:
    return bool(text.text_id.strip()) and bool(text.text.strip())


def _groups(texts: Sequence[Text]) -> dict[tuple[str, str], list[Text]]:
    groups: dict[tuple[str, str], list[Text]] = {}
    for text in texts:
        groups.setdefault(text.kind, []).append(text)
    return groups


def read_written(tasks: Sequence[WritingTask], answers: Sequence[WrittenText]) -> tuple[list[TextPair], list[Issue]]:
    """What came back as pairs.

    A text is left out, with an issue of its row, where its id is none of the tasks', where it says what the larger one
    says, or where the same writer wrote one already. Blanks are left out silently: that is an answer.
    """
    by_id = {task.larger.text_id: task for task in tasks}
    written, issues, answered = [], [], set()
    for answer in answers:
        text, task = " ".join(answer.text.split()), by_id.get(answer.text_id.strip())
        if task is None:
            issues.append(Issue("is no text of these tasks", row=answer.row, found=answer.text_id))
        elif not text:
            continue
        elif _key(text) == _key(task.larger.text):
            issues.append(Issue("repeats the larger text", row=answer.row, found=answer.text_id))
        elif answer.writer and (answer.writer, task.larger.text_id) in answered:
            already = f"{answer.writer} wrote a text for this one already"
            issues.append(Issue(already, row=answer.row, found=answer.text_id))
        else:
            answered.add((answer.writer, task.larger.text_id))
            smaller = SmallerText(text, task.larger.kind, task.larger.text_id, answer.writer)
            written.append(TextPair(task.larger, smaller, task.wanted))
    return written, issues


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()


def pair_by_lot(
    aside: Sequence[Text], pool: Sequence[SmallerText], *, scale: RatingScale = CLSS, rng: np.random.Generator
) -> tuple[list[TextPair], list[Text]]:
    """Give each text set aside a smaller one of its level and genre from the pool, with the lowest rating wanted.

    Never one that was written for the text itself, nor one with the same words as such a text. Smaller texts are used
    equally often as far as that allows. Returns pairs, in the order of `aside`, and the texts for which there is none.
    """
    own: dict[str, set[str]] = {}
    by_kind: dict[tuple[str, str], list[int]] = {}
    for at, one in enumerate(pool):
        own.setdefault(one.source_id, set()).add(_key(one.text))
        by_kind.setdefault(one.kind, []).append(at)
    used = [0] * len(pool)
    pairs, without = [], []
    for text in aside:
        own_texts = own.get(text.text_id, set())
        free = [at for at in by_kind.get(text.kind, []) if _key(pool[at].text) not in own_texts]
        if not free:
            without.append(text)
            continue
        least = min(used[at] for at in free)
        fresh = [at for at in free if used[at] == least]
        chosen = fresh[int(rng.integers(len(fresh)))]
        used[chosen] += 1
        pairs.append(TextPair(text, pool[chosen], scale.low))
    return pairs, without


def pairs_to_rate(pairs: Sequence[TextPair], *, rng: np.random.Generator) -> list[TextPair]:
    """The pairs in random order, so that nothing in it says what was wanted."""
    return [pairs[at] for at in rng.permutation(len(pairs)).tolist()]


FORM = ("text_id", "larger", "smaller", "genre", "level", "wanted", "meaning")
PAIRS = ("text_a", "text_b", "genre", "level")


@dataclass(frozen=True)
class ScoreForm:
    """A form that came back.

    tasks : rows to write for; answers : what stands in them, "" where they were left blank; lots : pairs of the lowest
    rating that are complete; aside : texts that still want one. notes : what else a reader should know.
    """

    tasks: tuple[WritingTask, ...]
    answers: tuple[WrittenText, ...]
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
    by_key: dict[tuple[str, ...], Text] = {}
    rows: dict[tuple[str, ...], int] = {}
    issues = []
    for row, text, text_id, genre, level in zip(numbers, *columns, strict=True):
        key = (text, genre, level)
        if text and key in by_key:
            issues.append(Issue(f"stands in row {rows[key]} already", row=row, found=text))
        elif text:
            rows[key] = row
            by_key[key] = Text(text_id or str(len(by_key) + 1), text, genre, level)
    if issues:
        raise InputError(f"{name} has texts more than once.", issues)
    if not by_key:
        raise InputError(f"{name} has no text.")
    return TextList(tuple(by_key.values()), notes)


def pool_of(texts: Sequence[Text]) -> list[SmallerText]:
    """Texts of a table as smaller texts that were written for none of the larger ones."""
    return [SmallerText(text.text, text.kind) for text in texts]


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


def read_form(data: bytes, name: str, *, scale: RatingScale = CLSS, encoding: str | None = None) -> ScoreForm:
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
    rows_of: dict[tuple[str, ...], int] = {}
    answers, lots, aside, issues = [], [], [], []
    rows = zip(numbers, *columns[:-1], ratings.values.tolist(), strict=True)
    for row, larger, smaller, text_id, genre, level, wanted in rows:
        if not larger:
            continue
        text = Text(text_id or f"row {row}", larger, genre, level)
        key = (larger, smaller, genre, level)
        if smaller and key in rows_of:
            issues.append(Issue(f"this pair stands in row {rows_of[key]} already", row=row, found=smaller))
        rows_of.setdefault(key, row)
        task = WritingTask(text, wanted)
        if tasks.get(text.text_id, task).larger.text != larger:
            issues.append(Issue("this id is another text's as well", row=row, found=text_id))
        if task.wanted != scale.low:
            tasks.setdefault(text.text_id, task)
            answers.append(WrittenText(text.text_id, smaller, row=row))
        elif smaller:
            lots.append(TextPair(text, SmallerText(smaller, text.kind), scale.low))
        else:
            aside.append(text)
    if issues:
        raise InputError(f"{name} contradicts itself.", issues)
    remarks = (*notes, *map(str, ratings.notes))
    return ScoreForm(tuple(tasks.values()), tuple(answers), tuple(lots), tuple(aside), remarks)


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
        raise lacking(table, missing)
    texts = table.texts(list(at.values()), max(at[title] for title in needed) + 1)
    if texts.unread:
        raise InputError(f"{name} has rows that can't be read.", texts.unread)
    tidy = {title: [" ".join(cell.split()) for cell in column] for title, column in zip(at, texts.lists, strict=True)}
    rows = texts.numbers.tolist()
    empty = [""] * len(rows)
    return [tidy.get(title, empty) for title in (*needed, *optional)], rows, tuple(map(str, texts.remarks))
