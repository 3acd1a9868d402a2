"""What crosses from module to module: arrays by what they hold, and the schema of every DataFrame.

A schema names its columns with the kind of each; `check` raises `InputError` naming every column
that is missing or of another kind. Kinds: "text" (strings, never NaN), "int" (no missing),
"int?" (nullable Int64), "float" (NaN allowed), "bool".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .errors import InputError, Issue

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Objects = NDArray[np.object_]
# Of each vote first and second item, outcome (1 first, 0 second, .5 tie) and voter: four of shape (n_votes,).
VoteColumns = tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike]


@dataclass(frozen=True)
class Schema:
    """A named list of columns; see the module's docstring for the kinds."""

    name: str
    columns: Mapping[str, str]
    optional: frozenset[str] = frozenset()

    def check(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return `frame` unchanged if every column is there and of its kind.

        Raises `InputError` with one issue a faulty column.
        """
        issues = []
        for column, kind in self.columns.items():
            if column not in frame.columns:
                if column not in self.optional:
                    issues.append(Issue("column is missing", column=column))
            elif not _is_kind(frame[column], kind):
                issues.append(Issue(f"must be {kind}", column=column, found=str(frame[column].dtype)))
        if issues:
            raise InputError(f"This is not a table of {self.name}.", issues)
        return frame

    def empty(self) -> pd.DataFrame:
        """A table of this schema without rows."""
        return pd.DataFrame({column: pd.Series([], dtype=_DTYPES[kind]) for column, kind in self.columns.items()})


_DTYPES = {"text": "str", "int": "int64", "int?": "Int64", "float": "float64", "bool": "bool"}


def _is_kind(column: pd.Series, kind: str) -> bool:
    types = pd.api.types
    if kind == "text":
        return bool((types.is_string_dtype(column.dtype) or len(column) == 0) and not column.isna().any())
    if kind == "int":
        return types.is_integer_dtype(column.dtype) and not column.isna().any()
    if kind == "int?":
        return types.is_integer_dtype(column.dtype)
    if kind == "float":
        return types.is_float_dtype(column.dtype) or types.is_integer_dtype(column.dtype)
    return types.is_bool_dtype(column.dtype)


# An item: an unordered pair of tokens of one area. `item` is its position 0…N−1 in the project.
ITEMS = Schema("items", {"item": "int", "area": "text", "token_a": "text", "token_b": "text"})

# A comparison as it stands in a task: what is stored (first, second) and what a voter sees (left, right).
# `n` counts the comparisons of a task from 1; `flipped` means that `first` is shown on the right. `role` is main, or
# check for questions that no score reads.
COMPARISONS = Schema(
    "comparisons",
    {
        "question_id": "int",
        "task_id": "text",
        "n": "int",
        "first": "int",
        "second": "int",
        "flipped": "bool",
        "left_a": "text",
        "left_b": "text",
        "right_a": "text",
        "right_b": "text",
        "area_left": "text",
        "area_right": "text",
        "role": "text",
    },
    optional=frozenset({"role"}),
)

# What a round of another kind shows: a row for each item of a question, at its `place` from 1. `n` counts the
# questions of a task from 1; token_a and token_b are in the order shown, of an order the target first.
SHOWN = Schema(
    "questions of a round",
    {
        "question_id": "int",
        "task_id": "text",
        "n": "int",
        "place": "int",
        "item": "int",
        "token_a": "text",
        "token_b": "text",
        "area": "text",
    },
)

# What a result file says, one row per answer field. `row` is the file's row (header = 1); `choice` is
# left, right, tie, unknown, "" (no answer), or whatever else was found; `status` is submitted, approved
# or rejected; `assignment_id`, `task_id` and the texts are "" where the file lacks them; `seconds` is a comparison's
# share.
ANSWERS = Schema(
    "answers",
    {
        "row": "int",
        "assignment_id": "text",
        "voter": "text",
        "task_id": "text",
        "n": "int",
        "left_a": "text",
        "left_b": "text",
        "right_a": "text",
        "right_b": "text",
        "choice": "text",
        "status": "text",
        "note": "text",
        "seconds": "float",
        "submitted_at": "text",
    },
)

# Judgements of a ballot that are in the store already. `status` is counted, unknown, rejected, repeat, excluded or
# withdrawn; `submitted_at` is "" where no file told; `decision` is submitted, approved or rejected, as the files say,
# and `review` what the owner decided, which goes before it: approved, rejected or "".
KNOWN = Schema(
    "known judgements",
    {
        "assignment_id": "text",
        "voter": "text",
        "question_id": "int",
        "answer": "text",
        "status": "text",
        "submitted_at": "text",
        "decision": "text",
        "review": "text",
    },
    optional=frozenset({"decision", "review"}),
)

# The finished assignments of a ballot, to be decided on and paid. `assignment` is its id in the store, `assignment_id`
# the platform's; `status` is what the platform says (submitted, approved, rejected), `review` what the owner decided
# (approve, reject or "") with `reason`; `n_asked` is 0 where the size of the task isn't known; `seconds` are those told
# for the whole assignment, NaN where none were.
ASSIGNMENTS = Schema(
    "assignments",
    {
        "assignment": "int",
        "voter": "text",
        "platform": "text",
        "assignment_id": "text",
        "task_id": "text",
        "status": "text",
        "review": "text",
        "reason": "text",
        "n_asked": "int",
        "n_answered": "int",
        "n_votes": "int",
        "checks_right": "int",
        "checks_wrong": "int",
        "seconds": "float",
    },
)

# Answers of voters that weren't withdrawn, for figures of each voter. `comparison` is the same for all answers to the
# same comparison, checks that repeat it among them; `first` and `second` are items by position;
# `answer` is 1 first, 0 second, .5 tie, NaN "I don't know a word here"; `left` 1 where the item on the left was
# chosen, 0 the right, NaN for others and where the sides aren't known; `main` a comparison that is scored, else a
# check; `gold` the right answer of a check that has one.
VOTER_ANSWERS = Schema(
    "answers of voters",
    {
        "voter_id": "int",
        "comparison": "int",
        "first": "int",
        "second": "int",
        "answer": "float",
        "left": "float",
        "seconds": "float",
        "status": "text",
        "main": "bool",
        "gold": "float",
    },
)

# A finished (or provisional) dataset, as published. Higher score = more related; rank 1 is the top, ties share
# their average rank; lower and upper bound the score's 90% interval, NaN until one is computed.
# What a language model answered to a ballot's comparisons, in order of asking: of each comparison and order the last
# that came. `first` and `second` are the comparison's items; value is 1 first, 0 second, .5 tie, NaN for no vote, and
# then `reason` isn't empty; `flipped` where the second item was A.
MODEL_ANSWERS = Schema(
    "answers of a language model",
    {
        "question_id": "int",
        "first": "int",
        "second": "int",
        "flipped": "bool",
        "attempt": "int",
        "prompt": "text",
        "raw": "text",
        "answer": "text",
        "value": "float",
        "reason": "text",
        "revision": "text",
        "fingerprint": "text",
        "prompt_tokens": "float",
        "answer_tokens": "float",
        "seconds": "float",
        "at": "text",
    },
)

DATASET = Schema(
    "dataset",
    {
        "area": "text",
        "token_a": "text",
        "token_b": "text",
        "score": "float",
        "rank": "float",
        "lower": "float",
        "upper": "float",
        "votes": "int",
        "ballots": "int",
        "rank_lower": "float",
        "rank_upper": "float",
    },
    optional=frozenset({"rank", "lower", "upper", "votes", "ballots", "rank_lower", "rank_upper"}),
)

# How an item did in a ballot: votes won, tied and lost, answers "I don't know a word here", and once the ballot is
# closed x (Eq. 1), y (Eq. 6), the mean of its y's so far (Eq. 5) and that mean's 90% interval.
BALLOT_SCORES = Schema(
    "ballot scores",
    {
        "ballot": "int",
        "item": "int",
        "wins": "int",
        "ties": "int",
        "losses": "int",
        "unknowns": "int",
        "x": "float",
        "y": "float",
        "mean": "float",
        "lower": "float",
        "upper": "float",
    },
)
