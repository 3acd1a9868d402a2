"""What each answer of a round's result file means: as `intake.classify` says it of comparisons, in the same classes."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..base.arrays import Ints
from ..errors import InputError
from ..tables import ANSWERS, KNOWN, SHOWN
from ..votes.classify import ClassifiedAnswers, let_wait, name_assignments
from ..votes.counting import judge
from ..votes.matching import text_key
from ..votes.reasons import DEFAULT, AnswerReasons, Policy
from .base import RoundKind, RoundSettings


def classify_answers(
    answers: pd.DataFrame,
    shown: pd.DataFrame,
    known: pd.DataFrame,
    settings: RoundSettings,
    kind: RoundKind,
    *,
    policy: Policy = DEFAULT,
    excluded: Collection[str] = (),
) -> ClassifiedAnswers:
    """Say of each answer what it means for an open round.

    An answer belongs to the question that its task and number name; where the file shows items, they must be those of
    the question. What counts of repeats and of rejected assignments is decided as for votes (`counting.judge`).

    Parameters: `answers` (`tables.ANSWERS`, as `platforms.answer_files` reads them), `shown` (`tables.SHOWN`) of the
    round, `known` (`tables.KNOWN`), the judgements in the store. Returns a `intake.ClassifiedAnswers`; its `answer` is
    as the store holds it.
    """
    ANSWERS.check(answers)
    SHOWN.check(shown)
    KNOWN.check(known)
    rows = answers.reset_index(drop=True).copy()
    questions = shown.drop_duplicates("question_id")[["question_id", "task_id", "n"]].reset_index(drop=True)
    at = pd.MultiIndex.from_frame(questions[["task_id", "n"]])
    place = np.asarray(at.get_indexer(pd.MultiIndex.from_frame(rows[["task_id", "n"]])), dtype=np.int64)
    empty = np.full(len(rows), "", dtype=object)
    reasons = AnswerReasons(empty, empty.copy(), empty.copy())
    _hold_against_items(reasons, rows, place, questions, shown)
    place = np.where(reasons.kind == "", place, -1)
    question = np.append(questions["question_id"].to_numpy(), 0)[place]
    rows["question_id"] = pd.Series(question, dtype="Int64").mask(place < 0)
    let_wait(reasons, rows, (reasons.kind == "") & (rows["choice"] != "").to_numpy())
    n_shown = shown.groupby("question_id").size()
    rows["answer"] = pd.Series(_read(reasons, rows, question, n_shown, settings, kind), dtype="str")
    name_assignments(rows, reasons.open, place, questions, known)
    others = judge(rows, reasons, known, policy, excluded)
    for name in ("kind", "reason", "becomes"):
        rows[name] = pd.Series(getattr(reasons, name), dtype="str")
    return ClassifiedAnswers(rows, others)


def _hold_against_items(
    reasons: AnswerReasons, rows: pd.DataFrame, place: Ints, questions: pd.DataFrame, shown: pd.DataFrame
) -> None:
    """Answers to questions that the round doesn't have, or of which the file shows other items."""
    by_question = shown.assign(item=shown["item"].astype("str")).groupby("question_id", sort=False)["item"]
    listed = {int(str(id_)): " ".join(items) for id_, items in by_question}
    first = shown.drop_duplicates("question_id").set_index("question_id")
    ids = questions["question_id"].tolist()
    for row, (at, task, n, one, other, items) in enumerate(
        zip(place.tolist(), rows["task_id"], rows["n"], rows["left_a"], rows["left_b"], rows["right_a"], strict=True)
    ):
        if at < 0:
            told = (
                f"this round has no question {n} in a task {task!r}"
                if task
                else "no item of this round has these texts"
            )
            reasons.give(np.array([row]), "other_ballot", told)
            continue
        id_ = ids[at]
        tokens = {text_key(one), text_key(other)}
        mine = {text_key(str(first.at[id_, name])) for name in ("token_a", "token_b")}
        # Ids go before words: a spelling may have been corrected since the task was published.
        if items != listed[id_] if items else bool(one and other) and tokens != mine:
            reason = "the task is of this round, but the file shows other items in it"
            reasons.give(np.array([row]), "other_ballot", reason)


def _read(
    reasons: AnswerReasons,
    rows: pd.DataFrame,
    question: Ints,
    n_shown: pd.Series,
    settings: RoundSettings,
    kind: RoundKind,
) -> npt.NDArray[np.object_]:
    """The answers as the store holds them; what says nothing, or can't be understood, gets its kind."""
    found = np.full(len(rows), "", dtype=object)
    choices, sizes = rows["choice"].tolist(), n_shown.to_dict()
    memo: dict[tuple[str, int], tuple[str, str]] = {}
    for row in reasons.open.tolist():
        key = (choices[row], sizes[int(question[row])])
        if key not in memo:
            memo[key] = _told(kind, settings, *key)
        found[row], reason = memo[key]
        if not key[0]:
            reasons.give(np.array([row]), "no_answer", "")
        elif reason:
            reasons.give(np.array([row]), "unreadable", reason)
    return found


def _told(kind: RoundKind, settings: RoundSettings, given: str, n_shown: int) -> tuple[str, str]:
    if not given:
        return "", ""
    try:
        return kind.answer(settings, given, n_shown), ""
    except InputError as error:
        return "", str(error)
