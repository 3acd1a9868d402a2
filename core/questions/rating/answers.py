"""A rating set that exists already, as answers to a round of ratings: its items are found by their texts."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...errors import InputError, Issue
from ...tables import ANSWERS
from ...tabular import Table
from ...votes.matching import text_key
from ...votes.platform import ResultFile
from .columns import has_texts
from .sets import RatingSet

COUNTED = "rows are counted as ratings are: the first rating of the file is 2, as below a header of a row per rating"
ONLY_MEANS = "has means only: who rated what isn't in it, so there is no answer to take."


def is_rating_set(table: Table) -> bool:
    """Whether a file is one of `rating.files`, and no result file of a round: it has two texts and no question's id."""
    columns = {name.strip().casefold() for name in table.header}
    return not columns & {"question_id", "assignmentid"} and has_texts(table.header)


def rating_set_answers(ratings: RatingSet, shown: pd.DataFrame) -> ResultFile:
    """The ratings of people as answers to the questions of a round (`tables.SHOWN`), a row per rating.

    An item is the pair of its two texts in any order; of pairs that stand in two areas the first. Ratings of items that
    the round doesn't have get no task. Assignments are made of voter and task, as for a plain table. Raises
    `InputError` for a file of means.
    """
    if not ratings.has_people:
        raise InputError(f"{ratings.name} {ONLY_MEANS}")
    places: dict[frozenset[str], tuple[str, int]] = {}
    for task, n, a, b in shown[["task_id", "n", "token_a", "token_b"]].itertuples(index=False, name=None):
        places.setdefault(frozenset((text_key(a), text_key(b))), (task, n))
    pairs = zip(ratings.first, ratings.second, strict=True)
    of_item = [places.get(frozenset((text_key(a), text_key(b))), ("", 1)) for a, b in pairs]
    items = ratings.item.tolist()
    n = len(items)
    frame = pd.DataFrame(
        {
            "row": np.arange(2, n + 2),
            "voter": [ratings.people[person] for person in ratings.person.tolist()],
            "task_id": [of_item[item][0] for item in items],
            "n": [of_item[item][1] for item in items],
            "left_a": [ratings.first[item] for item in items],
            "left_b": [ratings.second[item] for item in items],
            "choice": [f"{value:g}" for value in ratings.rating.tolist()],
            "status": "submitted",
            "seconds": np.nan,
        }
    )
    texts = {name: "" for name, kind in ANSWERS.columns.items() if kind == "text" and name not in frame}
    kinds = {"text": "str", "int": "int64", "float": "float64"}
    answers = frame.assign(**texts).astype({name: kinds[kind] for name, kind in ANSWERS.columns.items()})
    notes = [Issue(COUNTED), *(Issue(note) for note in ratings.notes), *ratings.issues]
    return ResultFile("plain", ANSWERS.check(answers[list(ANSWERS.columns)]), n, (), tuple(notes))
