"""Answers to tasks that were published before a token's spelling was corrected: still of the same comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import pandas as pd

from ..tables import ANSWERS, COMPARISONS
from .answers import TEXTS
from .classify import text_key

Texts = tuple[str, ...]


def as_spelled_now(
    answers: pd.DataFrame, comparisons: pd.DataFrame, former: Mapping[tuple[str, str], Sequence[str]]
) -> pd.DataFrame:
    """The answers of a file with the tokens spelled as the ballot spells them now.

    A row with a task id gets the present spelling where it shows a former one in that very place; a row without one
    where its four texts then fit one comparison only, and fit none as they are.

    Parameters: `answers` (`tables.ANSWERS`), `comparisons` (`tables.COMPARISONS`), `former`: by (area, token) the
    spellings it had before. Returns a table of the same rows in the same order.
    """
    ANSWERS.check(answers)
    COMPARISONS.check(comparisons)
    if not former:
        return answers
    by_task, by_texts = _published(comparisons, former)
    old = {text_key(text) for spellings in former.values() for text in spellings}
    keys = {text: text_key(text) for column in TEXTS for text in answers[column].unique()}
    columns = {column: answers[column].tolist() for column in TEXTS}
    for at, row in enumerate(answers[["task_id", "n", *TEXTS]].itertuples(index=False, name=None)):
        shown = tuple(keys[text] for text in row[2:])
        if not old.intersection(shown):
            continue
        task = row[0].strip()
        now = by_task.get((task, int(row[1]), shown)) if task else by_texts.get(shown)
        if now is not None:
            for column, text in zip(TEXTS, now, strict=True):
                columns[column][at] = text
    return answers.assign(**{name: pd.Series(texts, answers.index, dtype="str") for name, texts in columns.items()})


def _published(
    comparisons: pd.DataFrame, former: Mapping[tuple[str, str], Sequence[str]]
) -> tuple[dict[tuple[str, int, Texts], Texts], dict[Texts, Texts | None]]:
    """The present texts by task, number and texts as once published; and by those texts alone, None in doubt."""
    by_task: dict[tuple[str, int, Texts], Texts] = {}
    by_texts: dict[Texts, Texts | None] = {}
    for task, n, now, published in _each(comparisons, former):
        by_task[task, n, published] = now
        by_texts[published] = now if by_texts.get(published, now) == now else None
    for texts in comparisons[list(TEXTS)].itertuples(index=False, name=None):
        by_texts.pop(tuple(map(text_key, texts)), None)  # what a comparison shows now is that comparison
    return by_task, by_texts


def _each(
    comparisons: pd.DataFrame, former: Mapping[tuple[str, str], Sequence[str]]
) -> Iterator[tuple[str, int, Texts, Texts]]:
    areas = [f"area_{text.split('_')[0]}" for text in TEXTS]
    columns = comparisons[["task_id", "n", *TEXTS, *areas]].itertuples(index=False, name=None)
    for task, n, *cells in columns:
        now, of = tuple(cells[: len(TEXTS)]), cells[len(TEXTS) :]
        spelled = [(text, *former.get((area, text), ())) for area, text in zip(of, now, strict=True)]
        if all(len(options) == 1 for options in spelled):
            continue
        for published in product(*spelled):
            if published != now:
                yield task, int(n), now, tuple(map(text_key, published))
