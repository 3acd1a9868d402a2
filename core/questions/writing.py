"""Items made by writing: of a larger text people write a smaller one that should get a wanted rating.

So ratings cover their scale evenly. The ratings are wanted equally often in each level and genre; pairs of the lowest
one need nobody: the larger text is put beside a smaller one of its level and genre, from a pool or written for another
text. Raters then see all pairs in random order and without what was wanted, since their ratings decide.

Files for people who write by hand are in `writing_files`, those of task pages in `platforms.text_batches`.

Reference: Jurgens, Pilehvar, Navigli (2016), Cross Level Semantic Similarity, section 4.2, phase 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError, Issue
from .rating.scales import CLSS, RatingScale


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
class Answer:
    """What somebody wrote for a text, "" where nothing could be; the row of the file that says so."""

    text_id: str
    text: str
    writer: str = ""
    row: int | None = None


@dataclass(frozen=True)
class Smaller:
    """A smaller text of a genre and level; `source_id` is the larger text it was written for, "" in a pool."""

    text: str
    kind: tuple[str, str] = ("", "")
    source_id: str = ""
    writer: str = ""


@dataclass(frozen=True)
class TextPair:
    """A pair to rate, and what was wanted of it, which raters don't see."""

    larger: Text
    smaller: Smaller
    wanted: float

    @property
    def is_by_lot(self) -> bool:
        """Whether the two were put together without anybody's wanting it."""
        return self.smaller.source_id != self.larger.text_id


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
    tasks, aside, given = [], [], 0
    for group in _groups(texts).values():
        for at in rng.permutation(len(group)).tolist():
            wanted = turn[given % len(turn)]
            given += 1
            if wanted == scale.low:
                aside.append(group[at])
            else:
                tasks.append(WritingTask(group[at], wanted))
    return [tasks[at] for at in rng.permutation(len(tasks)).tolist()], aside


def _is_whole(text: Text) -> bool:
    return bool(text.text_id.strip()) and bool(text.text.strip())


def _groups(texts: Sequence[Text]) -> dict[tuple[str, str], list[Text]]:
    found: dict[tuple[str, str], list[Text]] = {}
    for text in texts:
        found.setdefault(text.kind, []).append(text)
    return found


def read_written(tasks: Sequence[WritingTask], answers: Sequence[Answer]) -> tuple[list[TextPair], list[Issue]]:
    """What came back as pairs.

    A text is left out, with an issue of its row, where its id is none of the tasks', where it says what the larger one
    says, or where the same writer wrote one already. Blanks are left out silently: that is an answer.
    """
    by_id = {task.larger.text_id: task for task in tasks}
    found, issues, seen = [], [], set()
    for answer in answers:
        text, task = " ".join(answer.text.split()), by_id.get(answer.text_id.strip())
        if task is None:
            issues.append(Issue("is no text of these tasks", row=answer.row, found=answer.text_id))
        elif not text:
            continue
        elif _key(text) == _key(task.larger.text):
            issues.append(Issue("repeats the larger text", row=answer.row, found=answer.text_id))
        elif answer.writer and (answer.writer, task.larger.text_id) in seen:
            already = f"{answer.writer} wrote a text for this one already"
            issues.append(Issue(already, row=answer.row, found=answer.text_id))
        else:
            seen.add((answer.writer, task.larger.text_id))
            smaller = Smaller(text, task.larger.kind, task.larger.text_id, answer.writer)
            found.append(TextPair(task.larger, smaller, task.wanted))
    return found, issues


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()


def pair_by_lot(
    aside: Sequence[Text], pool: Sequence[Smaller], *, scale: RatingScale = CLSS, rng: np.random.Generator
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
        mine = own.get(text.text_id, set())
        free = [at for at in by_kind.get(text.kind, []) if _key(pool[at].text) not in mine]
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
