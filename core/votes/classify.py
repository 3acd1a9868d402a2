"""What each answer of a result file means for the open ballot, decided before anything is stored.

`classify` compares a file's answers with the ballot's comparisons (`matching`) and with what the store already has
(`counting`), and puts each answer into one of `KINDS`. It decides nothing that can't be decided: an answer that fits no
comparison, or two, is set apart with its reason. Answers to tasks that were published before a token's spelling was
corrected are still of the same comparison.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pandas as pd

from ..errors import InputError, Issue
from ..tables import ANSWERS, COMPARISONS, KNOWN, Bools, Ints, Objects
from .answers import TEXTS
from .counting import JUDGEMENT, NO_OTHERS, counts_from_one, judge
from .matching import Match, first_of, match, text_key
from .meanings import ASKED, SERVER_ASKED, is_code, waits_for
from .reasons import DEFAULT, AnswerReasons, Policy

__all__ = ["KINDS", "ClassifiedAnswers", "classify", "let_wait", "name_assignments", "text_key"]


KINDS = {
    "new": "a vote to take",
    "check": "an answer to a check question: taken, never counted in scores",
    "unknown": "the voter doesn't know a word: taken and logged, no vote",
    "changed": "already taken, but the file now says something else about it",
    "rejected": "the assignment was rejected: taken, not counted",
    "repeat": "the voter has another vote on the same comparison, which counts: taken, not counted",
    "excluded": "the owner left the voter out: taken, not counted",
    "known": "already taken, with the same answer",
    "asked": "nobody has said yet what its choice or its status means: left out until then",
    "no_answer": "the voter left the comparison unanswered",
    "other_ballot": "not a comparison of this ballot",
    "unreadable": "can't be read or can't be told apart",
}
_SIDES = {"left": "left", "first": "left", "right": "right", "second": "right"}
_CHOICES = ("left", "right", "tie", "unknown")
_SAME = ["voter", "question_id", "answer"]


@dataclass(frozen=True)
class ClassifiedAnswers:
    """The answers of a file, classified.

    `rows` has the columns of `tables.ANSWERS` and, in the same order of rows,
    `question_id` (Int64, <NA> where no comparison fits), `answer` (first, second, tie, unknown or ""), `kind` (one of
    `KINDS`), `reason` (a sentence, "" where there is nothing to add), and `becomes`: the status the judgement gets
    in the store once the file is accepted (counted, unknown, rejected, repeat), "" where the store stays as
    it is. `status` and `submitted_at` are what store and file together say of the assignment.

    `others` are judgements of the store that aren't in the file and change with it, as another vote of the same voter
    comes or goes: assignment_id, voter, question_id, becomes (counted or repeat).
    """

    rows: pd.DataFrame
    others: pd.DataFrame = field(default_factory=lambda: NO_OTHERS)

    def counts(self) -> dict[str, int]:
        """How many answers there are of each kind; every kind is named, also with 0."""
        counts = self.rows["kind"].value_counts()
        return {kind: int(counts.get(kind, 0)) for kind in KINDS}


@dataclass(frozen=True)
class CountingRules:
    """How a file's answers are taken.

    ties_allowed : by the plan, else a tie is `unreadable`. shows_texts : False for a file that has the comparisons' ids
    and not their texts. excluded : voters whose answers are of a kind of their own. server : what was said of the
    server that the file is from (`meanings.SERVERS`).
    """

    ties_allowed: bool = True
    shows_texts: bool = True
    policy: Policy = DEFAULT
    excluded: Collection[str] = ()
    server: str = ""


DEFAULT_RULES = CountingRules()


def classify(
    answers: pd.DataFrame,
    comparisons: pd.DataFrame,
    known: pd.DataFrame,
    rules: CountingRules = DEFAULT_RULES,
) -> ClassifiedAnswers:
    """Say of each answer what it means for the open ballot.

    An answer belongs to the comparison that `matching.match` finds. One assignment answers a comparison once, however
    often it is uploaded. One voter votes on a comparison once: which of several assignments counts, and whether
    rejected ones do, is the policy's; votes that were rejected or withdrawn don't stand in the way of others. A
    rejected assignment comes back only when a file says Approved, and an approved one stays so. So neither the order
    of the rows nor that of the files decides which votes count.

    Parameters: `answers` (`tables.ANSWERS`; an assignment whose id is "" gets one of its task and voter);
    `comparisons` (`tables.COMPARISONS`) of the open ballot; `known` (`tables.KNOWN`), the judgements in the store for
    this ballot; `rules`, by which they are taken.
    Raises `InputError` where a table is of another kind, or names a task's place or an assignment's answer twice.
    """
    ANSWERS.check(answers)
    _unique(COMPARISONS.check(comparisons), ["task_id", "n"], "comparisons")
    _unique(KNOWN.check(known), JUDGEMENT, "known judgements")
    rows = answers.reset_index(drop=True).copy()
    found = match(rows, comparisons, shows_texts=rules.shows_texts)
    question = np.append(comparisons["question_id"].to_numpy(), 0)[found.place]
    rows["question_id"] = pd.Series(question, dtype="Int64").mask(found.place < 0)
    choice = sides(rows["choice"])
    rows["answer"] = pd.Series(_answers(choice, found, comparisons), dtype="str")
    reasons = AnswerReasons(found.kind, found.reason, np.full(len(rows), "", dtype=object))
    _set_aside(reasons, rows, choice, rules.ties_allowed)
    name_assignments(rows, reasons.open, found.place, comparisons, known)
    if not rules.server:
        _ask_for_server(reasons, rows, found.place, comparisons, known)
    others = judge(rows, reasons, known, rules.policy, rules.excluded)
    _mark_checks(reasons, found.place, comparisons)
    for name in ("kind", "reason", "becomes"):
        rows[name] = pd.Series(getattr(reasons, name), dtype="str")
    return ClassifiedAnswers(rows, others)


def _unique(frame: pd.DataFrame, columns: list[str], name: str) -> None:
    doubled = frame[frame.duplicated(columns)]
    if len(doubled):
        issues = [
            Issue("is there twice", column=" and ".join(columns), found=" ".join(map(str, row)))
            for row in doubled[columns].itertuples(index=False)
        ]
        raise InputError(f"This table of {name} contradicts itself.", issues)


def sides(choice: pd.Series) -> Objects:
    """The choices with left for first and right for second; others as they are."""
    codes, different = pd.factorize(choice)
    sides_of = np.array([*(_SIDES.get(text, text) for text in different), ""], dtype=object)
    return sides_of[codes]


def _answers(choice: Objects, found: Match, comparisons: pd.DataFrame) -> Objects:
    """What was chosen in terms of the comparison: `first` stands on the right where the comparison is flipped."""
    answer = np.full(len(choice), "", dtype=object)
    is_matched = found.place >= 0
    flipped = found.is_turned.copy()
    flipped[is_matched] ^= comparisons["flipped"].to_numpy(dtype=bool)[found.place[is_matched]]
    is_left, is_right = choice == "left", choice == "right"
    answer[is_matched & (is_left & ~flipped | is_right & flipped)] = "first"
    answer[is_matched & (is_right & ~flipped | is_left & flipped)] = "second"
    for same in ("tie", "unknown"):
        answer[is_matched & (choice == same)] = same
    return answer


def let_wait(reasons: AnswerReasons, rows: pd.DataFrame, those: Bools, choice_codes: Sequence[str] = ()) -> None:
    """Of `those` answers set the ones apart that wait for what somebody must say: of a status, of a mark, and of a
    choice that is one of `choice_codes`."""
    for status, role in ASKED.items():
        at = np.flatnonzero(those & (rows["status"] == status).to_numpy())
        _wait(reasons, at, role, rows["note"].iloc[at])
    codes = those & (reasons.kind == "") & rows["choice"].isin(choice_codes).to_numpy()
    at = np.flatnonzero(codes)
    _wait(reasons, at, "choice", rows["choice"].iloc[at])


def _wait(reasons: AnswerReasons, at: Ints, role: str, values: pd.Series) -> None:
    """Set answers apart that hold these values, of which many are the same."""
    codes, different = values.factorize()
    reasons.kind[at] = "asked"
    reasons.reason[at] = np.array([*(waits_for(role, value) for value in different), ""], dtype=object)[codes]


def _set_aside(reasons: AnswerReasons, rows: pd.DataFrame, choice: Objects, ties_allowed: bool) -> None:
    """Answers of a comparison of the ballot that say nothing, or nothing that can be understood."""
    choices, matched = rows["choice"], reasons.kind == ""
    reasons.give(matched & (choice == ""), "no_answer", "")
    let_wait(reasons, rows, reasons.kind == "", [text for text in choices.unique() if is_code(text)])
    unread = (reasons.kind == "") & ~pd.Series(choice).isin(_CHOICES).to_numpy()
    text = "the choice is none of left, right, tie and unknown: "
    reasons.give(unread, "unreadable", [text + repr(found) for found in choices[unread]])
    if not ties_allowed:
        text = "a tie, which this plan doesn't allow: the answer came from another task page"
        reasons.give((reasons.kind == "") & (choice == "tie"), "unreadable", text)


def _ask_for_server(
    reasons: AnswerReasons, rows: pd.DataFrame, place: Ints, comparisons: pd.DataFrame, known: pd.DataFrame
) -> None:
    """Let answers wait whose assignment the store has of the same voter, but of another task or time: its id is a
    number, so it may be that of another server."""
    if known.empty:
        return
    at = reasons.open
    at = at[counts_from_one(rows["assignment_id"].iloc[at])]
    if not len(at):
        return
    first, _ = first_of(known, rows.iloc[at], ["assignment_id", "voter"], [])
    at, first = at[first >= 0], first[first >= 0]
    task = pd.factorize(comparisons["task_id"])[0]
    question = pd.Index(comparisons["question_id"]).get_indexer(pd.Index(known["question_id"].iloc[first]))
    is_other_task = (question >= 0) & (task[question] != task[place[at]])
    here, there = (
        column.to_numpy(dtype=object) for column in (rows["submitted_at"].iloc[at], known["submitted_at"].iloc[first])
    )
    is_other_time = (here != "") & (there != "") & (here != there)
    reasons.give(at[is_other_task | is_other_time], "asked", SERVER_ASKED)


def name_assignments(
    rows: pd.DataFrame, open_at: Ints, place: Ints, comparisons: pd.DataFrame, known: pd.DataFrame
) -> None:
    """Give assignments without an id the one that the store or the file has of the same voter, answer and time, else
    one made of their task, voter and time."""
    has_id = (rows["assignment_id"] != "").to_numpy()[open_at]
    at = open_at[~has_id]
    if not len(at):
        return
    those = rows[[*_SAME, "submitted_at"]].iloc[at]
    time = those["submitted_at"]
    names = pd.Series(comparisons["task_id"].array.take(place[at]), those.index) + "/" + those["voter"]
    if (time != "").any():
        names = names + ("@" + time).where(time != "", "")
    named = rows[[*_SAME, "submitted_at", "assignment_id"]].iloc[open_at[has_id]]
    whole = pd.concat([known[known["status"] != "withdrawn"][named.columns], named], ignore_index=True)
    if len(whole):
        whole = whole.sort_values("assignment_id", kind="stable", ignore_index=True)
        any_time, same_time = first_of(whole, those, _SAME, ["submitted_at"])
        # Where one of the two times is unknown, it is the same answer; two times are two answers.
        untimed = np.append(np.flatnonzero(whole["submitted_at"] == ""), -1)
        at_no_time = untimed[first_of(whole.iloc[untimed[:-1]], those, _SAME, [])[0]]
        ids = np.append(whole["assignment_id"].to_numpy(dtype=object), "")
        new_ids = names.to_numpy(dtype=object)
        for places in (np.where((time == "").to_numpy(), any_time, -1), at_no_time, same_time):
            new_ids = np.where(places >= 0, ids[places], new_ids)
        names = pd.Series(new_ids, those.index, dtype="str")
    if len(at) == len(rows):
        rows["assignment_id"] = names
    else:
        rows.loc[at, "assignment_id"] = names


def _mark_checks(reasons: AnswerReasons, place: Ints, comparisons: pd.DataFrame) -> None:
    """New answers to check questions are `check`: they are kept like votes, and no score reads them."""
    if "role" not in comparisons.columns:
        return
    is_check = np.append((comparisons["role"] != "main").to_numpy(), False)[place]
    reasons.kind[is_check & (reasons.kind == "new")] = "check"


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
