"""Pairs of texts of different size, made for a rating: people write the smaller text, the lowest rating is made by lot.

A larger text and a wanted rating are shown, and somebody writes a smaller text as close as that. Wanted ratings are
spread evenly, so that pairs over the whole scale come out; pairs of the lowest one need nobody: the larger text is put
beside a smaller text that was written for another one of its level and genre. All pairs are then rated by others, who
don't see what was wanted.

Reference: Jurgens, Pilehvar, Navigli (2016), Cross Level Semantic Similarity, section 4.2 (phase 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError, Issue
from .scales import CLSS, RatingScale


@dataclass(frozen=True)
class LargerText:
    """A text for which a smaller one is wanted; `level` ("sentence to phrase", say) and `genre` may be ""."""

    text_id: str
    text: str
    level: str = ""
    genre: str = ""


@dataclass(frozen=True)
class WritingTask:
    """A larger text with the rating that the smaller one is to come near."""

    larger: LargerText
    wanted: float


@dataclass(frozen=True)
class Written:
    """A smaller text that somebody wrote for a task."""

    task: WritingTask
    text: str
    writer: str = ""


@dataclass(frozen=True)
class TextPair:
    """A pair to rate: the larger text, the smaller one, and what was wanted of it, which raters don't see.

    writer : of the smaller text; source_id : the larger text it was written for, another one than `text_id` in a pair
    that was made by lot.
    """

    text_id: str
    first: str
    second: str
    level: str
    genre: str
    wanted: float
    writer: str = ""
    source_id: str = ""

    @property
    def is_by_lot(self) -> bool:
        """Whether the two were put together without anybody's wanting it."""
        return self.source_id != self.text_id


def wanted_ratings(scale: RatingScale = CLSS) -> list[float]:
    """The ratings that are written for, ascending: the anchors above the lowest; all values where there are none.

    >>> wanted_ratings()
    [1.0, 2.0, 3.0, 4.0]
    """
    values = sorted(anchor.value for anchor in scale.anchors) or list(scale.values)
    return [value for value in values if value > scale.low]


def draw_writing(
    texts: Sequence[LargerText], *, scale: RatingScale = CLSS, rng: np.random.Generator
) -> tuple[list[WritingTask], list[LargerText]]:
    """Say for each text which rating is wanted, or set it aside for the lowest one, which is made by lot.

    The ratings, the lowest among them, come equally often within one, over all texts and within each level and genre.
    Returns tasks in random order and the texts set aside. Raises `InputError` for texts that are empty, ids that are
    empty or come twice, or no text at all.
    """
    issues = [Issue("has no text or no id", row=row) for row, text in enumerate(texts, 1) if not _is_whole(text)]
    ids = [text.text_id for text in texts]
    issues += [Issue("this id comes twice", found=id_) for id_ in sorted({id_ for id_ in ids if ids.count(id_) > 1})]
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


def _is_whole(text: LargerText) -> bool:
    return bool(text.text_id.strip()) and bool(text.text.strip())


def _groups(texts: Sequence[LargerText]) -> dict[tuple[str, str], list[LargerText]]:
    found: dict[tuple[str, str], list[LargerText]] = {}
    for text in texts:
        found.setdefault((text.level, text.genre), []).append(text)
    return found


def read_written(
    tasks: Sequence[WritingTask], answers: Sequence[tuple[str, str, str]]
) -> tuple[list[Written], list[Issue]]:
    """What came back: `answers` are (text_id, writer, text), "" where the writer left it blank.

    A text is left out, with an issue of its row (from 1), where its id is none of the tasks', where it says what the
    larger one says, or where the same writer wrote one already. Blanks are left out silently: that is an answer.
    """
    by_id = {task.larger.text_id: task for task in tasks}
    found, issues, seen = [], [], set()
    for row, (text_id, writer, given) in enumerate(answers, 1):
        text, task = " ".join(given.split()), by_id.get(text_id.strip())
        if task is None:
            issues.append(Issue("is no text of these tasks", row=row, found=text_id))
        elif not text:
            continue
        elif _key(text) == _key(task.larger.text):
            issues.append(Issue("repeats the larger text", row=row, found=text_id))
        elif (writer, text_id) in seen:
            issues.append(Issue(f"{writer} wrote a text for this one already", row=row, found=text_id))
        else:
            seen.add((writer, text_id))
            found.append(Written(task, text, writer))
    return found, issues


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()


def pair_by_lot(
    aside: Sequence[LargerText], written: Sequence[Written], *, rng: np.random.Generator
) -> tuple[list[tuple[LargerText, Written]], list[LargerText]]:
    """Give each text set aside a smaller one that was written for another text of its level and genre.

    Never one that was written for the text itself, nor one with the same words as such a text. Smaller texts are used
    equally often as far as that allows. Returns pairs, in the order of `aside`, and the texts for which there is none.
    """
    own: dict[str, set[str]] = {}
    pool: dict[tuple[str, str], list[Written]] = {}
    for one in written:
        own.setdefault(one.task.larger.text_id, set()).add(_key(one.text))
        pool.setdefault((one.task.larger.level, one.task.larger.genre), []).append(one)
    used: dict[int, int] = {}
    pairs, without = [], []
    for text in aside:
        mine = own.get(text.text_id, set())
        free = [
            one
            for one in pool.get((text.level, text.genre), [])
            if one.task.larger.text_id != text.text_id and _key(one.text) not in mine
        ]
        if not free:
            without.append(text)
            continue
        least = min(used.get(id(one), 0) for one in free)
        fresh = [one for one in free if used.get(id(one), 0) == least]
        chosen = fresh[int(rng.integers(len(fresh)))]
        used[id(chosen)] = least + 1
        pairs.append((text, chosen))
    return pairs, without


def pairs_to_rate(
    written: Sequence[Written],
    by_lot: Sequence[tuple[LargerText, Written]] = (),
    *,
    scale: RatingScale = CLSS,
    rng: np.random.Generator,
) -> list[TextPair]:
    """All pairs in random order, so that nothing in it says what was wanted."""
    pairs = [_pair(one.task.larger, one, one.task.wanted) for one in written]
    pairs += [_pair(larger, one, scale.low) for larger, one in by_lot]
    return [pairs[at] for at in rng.permutation(len(pairs)).tolist()]


def _pair(larger: LargerText, one: Written, wanted: float) -> TextPair:
    source = one.task.larger.text_id
    return TextPair(larger.text_id, larger.text, one.text, larger.level, larger.genre, wanted, one.writer, source)


def counts_of(pairs: Sequence[TextPair]) -> Mapping[float, int]:
    """How many pairs there are of each wanted rating, ascending."""
    found: dict[float, int] = {}
    for pair in pairs:
        found[pair.wanted] = found.get(pair.wanted, 0) + 1
    return dict(sorted(found.items()))
