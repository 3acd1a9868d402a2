"""Result files of rounds: ratings, best–worst choices and orders, and what each of their answers means.

On a platform each row is an assignment; beside `Input.*`, which repeat the batch file (`round_files`), stand

    Answer.rating_n = 3.25     Answer.best_n = 3, Answer.worst_n = 1     Answer.order_n = 3 1 2     Answer.unknown_n = 1

also as a crowd-form writes them (`Answer.best_1.3 = true`, or JSON in `Answer.taskAnswers`). A table of one's own has
`question_id, voter, answer` and perhaps `seconds, submitted_at`, a row per answer.

Answers get the classes that `classify.classify` gives to comparisons.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..errors import InputError, Issue
from ..questions import RoundKind, RoundSettings
from ..questions.base import UNKNOWN
from ..questions.rating.kind import RATING_PAGE, read_qualification
from ..questions.rating.scales import Qualified
from ..questions.task_page import MOST_ROWS, settings_of_page
from ..tables import ANSWERS, KNOWN, SHOWN, Ints
from ..tabular import SourceTable, lacking, places_of, refuse_doubled, same_name
from ..votes.answers import TEXTS, joined
from ..votes.classify import ClassifiedAnswers, let_wait, name_assignments
from ..votes.counting import judge
from ..votes.matching import text_key
from ..votes.meanings import NO_MEANINGS, ValueMeanings
from ..votes.platform import ResultFile
from ..votes.reading import (
    damaged_voters,
    decoded,
    forget_damaged,
    numbers,
    result_file,
    row_issues,
    stripped,
    to_utc,
    unread_times,
    whole,
)
from ..votes.reasons import DEFAULT, AnswerReasons, Policy
from .mturk import decided
from .plain import plain_answers, split_ids
from .presets import open_results

_NO = frozenset({"", "0", "false", "off"})
_READ = ("assignmentid", "workerid", "assignmentstatus", "approve", "reject", "requesterfeedback", "submittime",
         "worktimeinseconds")  # fmt: skip
_DECISIONS = ("assignmentstatus", "approve", "reject", "requesterfeedback")


def read_round_results(data: bytes, filename: str, kind: RoundKind, said: ValueMeanings = NO_MEANINGS) -> ResultFile:
    """Read a result file of a round that asks questions of this kind.

    Its `answers` (`tables.ANSWERS`) have in `choice` the answer as it was given, in the kind's own form; in `left_a`
    and `left_b` the tokens where a question shows one item, and in `right_a` the ids of the items with spaces between,
    where the file shows them. Raises `InputError` for a file of another kind.
    """
    table = open_results(data, filename)
    columns = set(map(same_name, table.header))
    if {"question_id", "answer"} <= columns:
        return _read_plain(table, said)
    if {"assignmentid", "workerid"} <= columns:
        return _read_platform(table, kind, said)
    raise InputError(
        f"{table.name} isn't a result file of {kind.about.label}: it has neither the columns AssignmentId and WorkerId "
        "of a platform, nor question_id, voter and answer."
    )


def _read_plain(table: SourceTable, said: ValueMeanings) -> ResultFile:
    places = places_of(table, ("question_id", "voter", "answer", "seconds", "submitted_at"))
    if "voter" not in places:
        raise lacking(table, ["voter"])
    rows = table.texts(list(places.values()), max(places[name] for name in ("question_id", "voter", "answer")) + 1)
    cell = dict(zip(places, rows.columns, strict=True))
    question, voter, answer = (cell[name].str.strip() for name in ("question_id", "voter", "answer"))
    task, n = split_ids(question)
    is_filled = (answer != "").to_numpy()
    unread = []
    for at in np.flatnonzero(is_filled & ((n == 0) | (voter == "").to_numpy())).tolist():
        what, column = ("no id of a question", "question_id") if n[at] == 0 else ("no voter", "voter")
        unread.append(Issue(what, row=int(rows.numbers[at]), column=column, found=question.iloc[at]))
    unread += [] if said.former else damaged_voters(rows.numbers, voter, "voter")
    frame, notices = plain_answers(rows.numbers, cell, task, n, answer)
    is_answer = is_filled & (n > 0) & (voter != "").to_numpy()
    answers = _typed(frame[is_answer].reset_index(drop=True))
    return result_file("plain", rows, answers, unread, notices, shows_texts=False)


def _read_platform(table: SourceTable, kind: RoundKind, said: ValueMeanings) -> ResultFile:
    names = list(map(same_name, table.header))
    place = {name: at for at, name in enumerate(names)}
    if "input.task_id" not in place:
        raise lacking(table, ["Input.task_id"], then="Without it nothing says which questions were answered.")
    pattern = _pattern(kind)
    fields = {at: match for at, name in enumerate(names) if (match := _field(pattern, name))}
    if not fields and "answer.taskanswers" not in place:
        raise lacking(table, [f"Answer.{name}_1" for name in kind.fields], then=f"It holds no {kind.about.label}.")
    used = {at for at, name in enumerate(names) if name in _READ or name.startswith(("input.", "answer."))}
    refuse_doubled(table, sorted(used))
    last = max([*fields, place.get("answer.taskanswers", 0), place["assignmentid"], place["workerid"]])
    rows = table.texts(list(range(len(names))), last + 1)
    cell = [column.to_numpy(dtype=object).tolist() for column in rows.columns]
    is_turkle = "turkle.username" in place or "assignmentstatus" not in place
    length = len(rows.numbers)
    empty = pd.Series([""] * length, dtype="str")
    decisions = [rows.columns[place[name]] if name in place else empty for name in _DECISIONS]
    undecided = (["submitted"] * length, [""] * length, list[Issue]())
    statuses, notes, contradictions = undecided if is_turkle else decided(decisions, rows.numbers, said)
    frame = pd.DataFrame(
        {
            "row": rows.numbers,
            "assignment_id": stripped(cell[place["assignmentid"]]),
            "voter": stripped(cell[place["workerid"]]),
            "status": pd.Series(statuses, dtype="str"),
            "note": pd.Series(notes, dtype="str"),
            "seconds": numbers(cell[place["worktimeinseconds"]]) if "worktimeinseconds" in place else np.nan,
        }
    )
    submitted = cell[place["submittime"]] if "submittime" in place else [""] * length
    times, _ = to_utc(submitted)
    frame["submitted_at"] = pd.Series(times, dtype="str")
    unread, notices = row_issues(frame)
    notices += [*contradictions, *unread_times(submitted, times, "SubmitTime")]
    frame["task_id"] = decoded(cell[place["input.task_id"]]).astype("str").str.strip()
    forget_damaged(frame, "task_id", "Input.task_id", notices)
    packed = cell[place["answer.taskanswers"]] if "answer.taskanswers" in place else None
    given = _given(pattern, fields, cell, packed, length)
    answers = _spread(frame, given, {name: cell[at] for name, at in place.items() if name.startswith("input.")}, kind)
    return result_file("turkle" if is_turkle else "mturk", rows, answers, unread, notices)


def _pattern(kind: RoundKind) -> re.Pattern[str]:
    """The names of the fields of a question: of one of its options, or with its number, as platforms write them."""
    return re.compile(rf"({'|'.join(kind.fields)}|unknown)(?:_([1-9][0-9]{{0,3}}))?(?:\.label|\.(.+?))?(?:\.on)?")


def _field(pattern: re.Pattern[str], name: str) -> re.Match[str] | None:
    return pattern.fullmatch(name.removeprefix("answer.")) if name.startswith("answer.") else None


def _given(
    pattern: re.Pattern[str],
    fields: Mapping[int, re.Match[str]],
    cell: list[list[str]],
    packed: list[str] | None,
    length: int,
) -> dict[tuple[str, int], list[str]]:
    """What stands in each field (name and number), row by row, put together from its options where it has several."""
    answers: dict[tuple[str, int], list[str]] = {}
    options: dict[tuple[str, int], dict[str, list[str]]] = {}
    for at, match in fields.items():
        key = (match[1], int(match[2] or 1))
        if match[3] is None:
            answers[key] = [whole(value.strip()) for value in cell[at]]
        else:
            options.setdefault(key, {})[match[3]] = cell[at]
    for key, parts in options.items():
        answers.setdefault(key, joined(parts, length))
    for row, text in enumerate(packed or ()):
        for name, value in _unpacked(text).items():
            packed_field = pattern.fullmatch(name)
            if packed_field is not None:
                key = (packed_field[1], int(packed_field[2] or 1))
                answers.setdefault(key, [""] * length)[row] = _answer_text(value)
    return answers


def _unpacked(text: str) -> Mapping[str, Any]:
    """The fields of a crowd-form's JSON; none where it can't be read."""
    try:
        read = json.loads(text) if text.strip() else []
    except (ValueError, RecursionError):
        return {}
    first = read[0] if isinstance(read, list) and read else read
    return first if isinstance(first, Mapping) else {}


def _answer_text(value: Any) -> str:
    """A field's value in JSON: itself, or of several options the one that is true."""
    if isinstance(value, Mapping):
        return "+".join(str(name) for name, is_on in value.items() if is_on is True)
    return "" if value is None or value is False else "1" if value is True else str(value).strip()


def _spread(
    frame: pd.DataFrame, given: Mapping[tuple[str, int], list[str]], inputs: Mapping[str, list[str]], kind: RoundKind
) -> pd.DataFrame:
    """One row per answer: the questions of each task below each other; those it doesn't have are left out."""
    blank = [""] * len(frame)
    parts = []
    for n in sorted({number for _, number in given}):
        part = frame.assign(n=n, **dict.fromkeys(TEXTS, ""))
        told = [given.get((name, n), blank) for name in kind.fields]
        unknown = given.get(("unknown", n), blank)
        part["choice"] = [_choice(kind, mark, *values) for mark, *values in zip(unknown, *told, strict=True)]
        most = kind.n_shown()[1] or MOST_ROWS
        cells = [[name for name, _ in kind.cells(n, place, 0, "", "")] for place in range(1, most + 1)]
        ids = [inputs.get(f"input.{names[0]}") for names in cells]
        shown = zip(*(column for column in ids if column), strict=True)
        listed = [" ".join(whole(cell.strip()) for cell in row if cell.strip()) for row in shown]
        part["right_a"] = listed or blank
        if most == 1:
            for name, column in zip(("left_a", "left_b"), cells[0][1:], strict=True):
                part[name] = list(decoded(inputs.get(f"input.{column}", blank)))
        parts.append(part[(part["choice"] != "") | (part["right_a"] != "")])
    answers = pd.concat(parts, ignore_index=True) if parts else frame.head(0).assign(n=0, choice="")
    answers["seconds"] = answers["seconds"] / answers.groupby("row")["row"].transform("size")
    return _typed(answers.sort_values(["row", "n"], kind="stable", ignore_index=True))


def _choice(kind: RoundKind, unknown: str, *values: str) -> str:
    """The answer of one question in the form of the kind of question, "" where nothing is filled in."""
    if unknown.strip().lower() not in _NO:
        return UNKNOWN
    return kind.written(*values)


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    missing = {name: "" for name, kind in ANSWERS.columns.items() if kind == "text" and name not in frame}
    kinds = {"text": "str", "int": "int64", "float": "float64"}
    return frame.assign(**missing).astype({name: kinds[kind] for name, kind in ANSWERS.columns.items()})


def read_gold(data: bytes, filename: str, stored: Mapping[str, Any]) -> list[Qualified]:
    """How each person did, in the order of the file; of a person's several assignments the first counts.

    stored : the settings that the page was made with, gold pairs among them; those of a page that shows them once tell
    it of every task. Raises `InputError` for settings without gold pairs, or a file without their columns.
    """
    n_gold = len(settings_of_page(RATING_PAGE, stored).gold)
    table = open_results(data, filename)
    wanted = ["WorkerId", *(f"Answer.gold_{n}" for n in range(1, n_gold + 1))]
    place = places_of(table, wanted)
    if not n_gold:
        raise InputError(f"{filename} says nothing of the gold pairs: the page was made without any.")
    if missing := [name for name in wanted if name not in place]:
        raise lacking(table, missing, then="It says nothing of the gold pairs.")
    rows = table.texts([place[name] for name in wanted], max(place[name] for name in wanted) + 1)
    people: dict[str, Qualified] = {}
    for voter, *given in zip(*(column.tolist() for column in rows.columns), strict=True):
        fields = {f"gold_{n}": text for n, text in enumerate(given, 1)}
        if voter.strip() and voter.strip() not in people:
            n_left_out = sum(not text.strip() for text in given)
            people[voter.strip()] = Qualified(voter.strip(), read_qualification(fields, stored), n_left_out)
    return list(people.values())


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
            message = (
                f"this round has no question {n} in a task {task!r}"
                if task
                else "no item of this round has these texts"
            )
            reasons.give(np.array([row]), "other_ballot", message)
            continue
        id_ = ids[at]
        tokens = {text_key(one), text_key(other)}
        own_texts = {text_key(str(first.at[id_, name])) for name in ("token_a", "token_b")}
        # Ids go before words: a spelling may have been corrected since the task was published.
        if items != listed[id_] if items else bool(one and other) and tokens != own_texts:
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
    answers = np.full(len(rows), "", dtype=object)
    choices, sizes = rows["choice"].tolist(), n_shown.to_dict()
    memo: dict[tuple[str, int], tuple[str, str]] = {}
    for row in reasons.open.tolist():
        key = (choices[row], sizes[int(question[row])])
        if key not in memo:
            memo[key] = _understood(kind, settings, *key)
        answers[row], reason = memo[key]
        if not key[0]:
            reasons.give(np.array([row]), "no_answer", "")
        elif reason:
            reasons.give(np.array([row]), "unreadable", reason)
    return answers


def _understood(kind: RoundKind, settings: RoundSettings, given: str, n_shown: int) -> tuple[str, str]:
    if not given:
        return "", ""
    try:
        return kind.answer(settings, given, n_shown), ""
    except InputError as error:
        return "", str(error)
