"""Votes, checked: what each answer of a result file means for the open ballot, before anything is stored.

`classify` compares a file's answers with the ballot's comparisons and with what the store already has, and puts each
answer into one of `KINDS`. It decides nothing that can't be decided: an answer that fits no comparison, or two, is
set apart with its reason.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from .errors import InputError, Issue
from .platforms.answers import TEXTS
from .platforms.text import decode
from .tables import ANSWERS, COMPARISONS, KNOWN

KINDS = {
    "new": "a vote to take",
    "unknown": "the voter doesn't know a word: taken and logged, no vote",
    "known": "already taken, with the same answer",
    "changed": "already taken, but the file now says something else about it",
    "rejected": "the assignment was rejected: taken, not counted",
    "repeat": "the voter has an earlier vote on the same comparison: taken, not counted",
    "no_answer": "the voter left the comparison unanswered",
    "other_ballot": "not a comparison of this ballot",
    "unreadable": "can't be read or can't be told apart",
}
_JUDGEMENT = ["assignment_id", "voter", "question_id"]
_DECISION_ORDER = {"approved": 0, "rejected": 1, "submitted": 2}
_CHOICES = ("left", "right", "tie", "unknown")
_LATE = "\uffff"

_TEXTS = {"assignment_id": "str", "voter": "str"}
NO_OTHERS = pd.DataFrame(columns=[*_JUDGEMENT, "becomes"]).astype(_TEXTS | {"question_id": "int64", "becomes": "str"})

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Objects = npt.NDArray[np.object_]


@dataclass(frozen=True)
class Preview:
    """The answers of a file, classified.

    `rows` has the columns of `tables.ANSWERS` and, in the same order of rows,
    `question_id` (Int64, <NA> where no comparison fits), `answer` (first, second, tie, unknown or ""), `kind` (one of
    `KINDS`), `reason` (a sentence, "" where there is nothing to add), and `becomes`: the status the judgement gets
    in the store once the file is accepted (counted, unknown, rejected, repeat), "" where the store stays as it is.

    `others` are judgements of the store that aren't in the file and change with it, as another vote of the same voter
    comes or goes: assignment_id, voter, question_id, becomes (counted or repeat).
    """

    rows: pd.DataFrame
    others: pd.DataFrame = field(default_factory=lambda: NO_OTHERS)

    def counts(self) -> dict[str, int]:
        """How many answers there are of each kind; every kind is named, also with 0."""
        found = self.rows["kind"].value_counts()
        return {kind: int(found.get(kind, 0)) for kind in KINDS}


def classify(
    answers: pd.DataFrame,
    comparisons: pd.DataFrame,
    known: pd.DataFrame,
    *,
    ties_allowed: bool = True,
    shows_texts: bool = True,
) -> Preview:
    """Say of each answer what it means for the open ballot.

    An answer belongs to the comparison with its task id and number, if the four texts agree too (see `text_key`); in
    a file without task ids the texts alone decide, in the order shown, and texts that stand for two comparisons are
    `unreadable`. One assignment answers a comparison once, however often it is uploaded. One voter votes on a
    comparison once: of several assignments the earliest submitted counts, then the one with the lowest id, whether it
    comes from this file or is in the store. Votes that were rejected or withdrawn don't stand in the way of others. A
    rejected vote in the store comes back only when a file says Approved. So neither the order of the rows nor that of
    the files decides which votes count.

    Parameters: `answers` (`tables.ANSWERS`); `comparisons` (`tables.COMPARISONS`) of the open ballot; `known`
    (`tables.KNOWN`), the judgements in the store for this ballot; `ties_allowed` by the plan, else a tie is
    `unreadable`; `shows_texts` is False for a file that has the comparisons' ids and not their texts.
    Raises `InputError` where a table is of another kind, or names a task's place or an assignment's answer twice.
    """
    ANSWERS.check(answers)
    _unique(COMPARISONS.check(comparisons), ["task_id", "n"], "comparisons")
    _unique(KNOWN.check(known), _JUDGEMENT, "known judgements")
    rows = answers.reset_index(drop=True).copy()
    place, kind, reason = _match(rows, comparisons, shows_texts)
    question = np.append(comparisons["question_id"].to_numpy(), 0)[place]
    rows["question_id"] = pd.Series(question, dtype="Int64").mask(place < 0)
    rows["answer"] = _answers(rows["choice"], place, comparisons)
    rows["kind"], rows["reason"], rows["becomes"] = kind, reason, ""
    choice = rows["choice"].to_numpy(dtype=object)
    matched = kind == ""
    _set(rows, matched & (choice == ""), "no_answer", "")
    unread = matched & (choice != "") & ~np.isin(choice, _CHOICES)
    text = "the choice is none of left, right, tie and unknown: "
    _set(rows, unread, "unreadable", [text + repr(found) for found in choice[unread]])
    if not ties_allowed:
        text = "a tie, which this plan doesn't allow: the answer came from another task page"
        _set(rows, (rows["kind"] == "") & (choice == "tie"), "unreadable", text)
    others = _judge(rows, known)
    return Preview(rows.astype({"answer": "str", "kind": "str", "reason": "str", "becomes": "str"}), others)


def _unique(frame: pd.DataFrame, columns: list[str], name: str) -> None:
    doubled = frame[frame.duplicated(columns)]
    if len(doubled):
        issues = [
            Issue("is there twice", column=" and ".join(columns), found=" ".join(map(str, row)))
            for row in doubled[columns].itertuples(index=False)
        ]
        raise InputError(f"This table of {name} contradicts itself.", issues)


def _set(rows: pd.DataFrame, where: Bools | pd.Series | pd.Index, kind: str, reason: str | list[str]) -> None:
    rows.loc[where, "kind"] = kind
    rows.loc[where, "reason"] = reason


# Matching


def _match(rows: pd.DataFrame, comparisons: pd.DataFrame, shows_texts: bool) -> tuple[Ints, Objects, Objects]:
    """For each answer the position of its comparison or −1, and kind and reason where there is none."""
    n = len(rows)
    texts = _codes([frame[text] for text in TEXTS for frame in (rows, comparisons)], text_key)
    shown = _combined([np.concatenate(texts[2 * at : 2 * at + 2]) for at in range(4)])
    tasks = _codes([rows["task_id"], comparisons["task_id"]], str.strip)
    places = _combined([np.concatenate(tasks), np.concatenate([rows["n"].to_numpy(), comparisons["n"].to_numpy()])])
    kind, reason = np.full(n, "", dtype=object), np.full(n, "", dtype=object)
    has_task = rows["task_id"].str.strip().to_numpy(dtype=object) != ""
    by_task = pd.Index(places[n:]).get_indexer(pd.Index(places[:n]))
    by_text, is_ambiguous = _by_text(shown[:n], shown[n:], comparisons["question_id"].to_numpy())
    place = np.where(has_task, by_task, by_text)
    strange = has_task & (by_task < 0)
    kind[strange] = "other_ballot"
    reason[strange] = [
        f"this ballot has no comparison {number} in a task {task!r}"
        for number, task in rows.loc[strange, ["n", "task_id"]].itertuples(index=False, name=None)
    ]
    differ = has_task & (by_task >= 0)
    differ &= shows_texts  # a plain table of votes has the ids only
    differ[differ] = shown[:n][differ] != shown[n:][by_task[differ]]
    kind[differ], reason[differ] = "other_ballot", "the task is of this ballot, but the file shows other words in it"
    absent = ~has_task & (by_text < 0)
    kind[absent], reason[absent] = "other_ballot", "no comparison of this ballot shows these words in this order"
    doubtful = ~has_task & is_ambiguous
    kind[doubtful] = "unreadable"
    reason[doubtful] = "the ballot shows these words in two comparisons, and the file has no task_id to tell them apart"
    return np.where(kind == "", place, -1), kind, reason


def _by_text(shown: Ints, ballot: Ints, question: Ints) -> tuple[Ints, Bools]:
    first = pd.DataFrame({"shown": ballot, "question": question})
    several = first.groupby("shown")["question"].nunique()
    unique = first.drop_duplicates("shown")
    at = pd.Index(unique["shown"]).get_indexer(pd.Index(shown))
    place = np.where(at >= 0, unique.index.to_numpy()[at], -1) if len(unique) else at
    return place, np.isin(shown, several.index[several > 1].to_numpy())


def text_key(text: str) -> str:
    """What two texts must share to be the same to a reader: NFC, character references undone, white space evened out.

    >>> text_key("  cafe\\u0301  au lait ") == text_key("caf&eacute; au lait")
    True
    """
    return " ".join(unicodedata.normalize("NFC", decode(text)).split())


def _codes(columns: list[pd.Series], key: Callable[[str], str]) -> list[Ints]:
    """Number the texts of several columns, the same number for the same key; the key is computed once a text."""
    codes, uniques = pd.factorize(pd.concat(columns, ignore_index=True))
    keys, _ = pd.factorize(pd.Series([key(text) for text in uniques], dtype="str"))
    merged = keys[codes] if len(codes) else codes
    return np.split(merged, np.cumsum([len(column) for column in columns])[:-1])


def _combined(codes: list[Ints]) -> Ints:
    """One number for each combination of numbers. Renumbering after each step keeps the product inside 64 bits."""
    combined = codes[0].astype(np.int64)
    for code in codes[1:]:
        combined, _ = pd.factorize(combined * (int(code.max(initial=0)) + 1) + code)
    return combined


def _answers(choice: pd.Series, place: Ints, comparisons: pd.DataFrame) -> Objects:
    """What was chosen in terms of the comparison: `first` stands on the right where the comparison is flipped."""
    text = choice.to_numpy(dtype=object)
    answer = np.full(len(text), "", dtype=object)
    found = place >= 0
    flipped = np.zeros(len(text), dtype=bool)
    flipped[found] = comparisons["flipped"].to_numpy()[place[found]]
    answer[found & ((text == "left") & ~flipped | (text == "right") & flipped)] = "first"
    answer[found & ((text == "right") & ~flipped | (text == "left") & flipped)] = "second"
    for same in ("tie", "unknown"):
        answer[found & (text == same)] = same
    return answer


# Judging


def _judge(rows: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """Fill kind, reason and becomes of all answers that fit a comparison; returns `Preview.others`."""
    _merge_copies(rows)
    open_rows = rows[rows["kind"] == ""]
    old = known.rename(columns={name: f"known_{name}" for name in ("answer", "status", "submitted_at")})
    old["question_id"] = old["question_id"].astype("Int64")
    stored = open_rows[_JUDGEMENT].merge(old, how="left", on=_JUDGEMENT)
    stored.index = open_rows.index
    was = stored["known_status"].astype("str").fillna("")
    # Turkle counts assignments from 1, so two of its servers give the same ids to different people.
    taken = pd.MultiIndex.from_frame(old[["assignment_id", "question_id"]])
    other_voter = (was == "") & pd.MultiIndex.from_frame(open_rows[["assignment_id", "question_id"]]).isin(taken)
    _set(rows, other_voter[other_voter].index, "unreadable", "the store has this assignment id under another voter")
    other_answer = ~other_voter & ~was.isin(["", "withdrawn"]) & (stored["known_answer"] != open_rows["answer"])
    before, after = stored.loc[other_answer, "known_answer"], open_rows.loc[other_answer, "answer"]
    text = "the answer was {} and is {} in this file; the stored one stays (withdraw its upload to replace it)"
    reasons = [text.format(*both) for both in zip(before, after, strict=True)]
    _set(rows, other_answer[other_answer].index, "changed", reasons)
    rest = ~other_voter & ~other_answer
    # The time that the store has decides, so that a file saved again by a spreadsheet changes nothing.
    time = stored["known_submitted_at"].where(~was.isin(["", "withdrawn"]), open_rows["submitted_at"])
    return _decide(rows, open_rows.assign(submitted_at=time)[rest], was[rest], known)


def _merge_copies(rows: pd.DataFrame) -> None:
    """Of an assignment that is in the file several times keep one; the decision (approved, rejected) wins over none."""
    open_rows = rows[rows["kind"] == ""]
    keys = ["assignment_id", "question_id"]
    copies = open_rows[open_rows.duplicated(keys, keep=False)]
    if copies.empty:
        return
    groups = copies.groupby(keys, sort=False)
    for column, what in (("answer", "answers this comparison in two ways"), ("voter", "belongs to two voters")):
        differ = groups[column].transform("nunique") > 1
        _set(rows, differ[differ].index, "unreadable", f"the file has this assignment several times, and it {what}")
        copies = copies[~differ.reindex(copies.index)]
    order = copies.assign(rank=copies["status"].map(_DECISION_ORDER), time=copies["submitted_at"].replace("", _LATE))
    order = order.sort_values(["rank", "time", "row"], kind="stable")
    kept = order.groupby(keys, sort=False)["row"].transform("first")
    extra = order[order.duplicated(keys)].index
    _set(rows, extra, "known", [f"the same assignment is in row {row} of this file" for row in kept[extra]])


def _decide(rows: pd.DataFrame, open_rows: pd.DataFrame, was: pd.Series, known: pd.DataFrame) -> pd.DataFrame:
    """Kind and status of each answer, given what the store says of the same assignment ("" where nothing).

    Returns the judgements outside the file that change, as `Preview.others`.
    """
    is_rejected, is_approved = open_rows["status"] == "rejected", open_rows["status"] == "approved"
    fresh = was.isin(["", "withdrawn"])
    becomes = was.where(~fresh, "")
    becomes = becomes.mask(is_rejected, "rejected")
    is_back = (fresh & ~is_rejected) | ((was == "rejected") & is_approved)
    is_vote = open_rows["answer"] != "unknown"
    becomes = becomes.mask(is_back & ~is_vote, "unknown")
    competing = is_vote & (is_back | (was.isin(["counted", "repeat"]) & ~is_rejected))
    first_by, others = _elect(open_rows, competing, known)
    is_first = first_by == open_rows.loc[first_by.index, "assignment_id"]
    becomes.loc[first_by.index] = np.where(is_first, "counted", "repeat")
    kind = becomes.replace("counted", "new").where(was == "", "known")
    kind = kind.mask((was != "") & (becomes != was), "changed")
    rows.loc[open_rows.index, "kind"] = kind
    rows.loc[open_rows.index, "becomes"] = becomes.where(kind != "known", "")
    # Most votes are new, or known and counted, and need no reason: the others are told one by one.
    told = (kind != "new") & (kind != "unknown") & ((kind != "known") | (was == "rejected"))
    first = first_by.reindex(told.index[told]).fillna("")
    columns = (kind, was, becomes, open_rows["status"], open_rows["note"])
    reasons = [_reason(*values) for values in zip(*(column[told] for column in columns), first, strict=True)]
    rows.loc[open_rows.index, "reason"] = ""
    rows.loc[told.index[told], "reason"] = reasons
    _tell_displaced(rows, open_rows[competing][is_first], others)
    return others


def _elect(open_rows: pd.DataFrame, competing: pd.Series, known: pd.DataFrame) -> tuple[pd.Series, pd.DataFrame]:
    """Of each voter's votes on a comparison the one that counts: the earliest, then the lowest assignment id.

    Returns for each competing row of the file the assignment that counts, and the stored votes outside the file
    whose status changes.
    """
    keys = ["voter", "question_id"]
    here = open_rows.astype({"question_id": "int64"})
    stored = known[known["status"].isin(["counted", "repeat"]) & (known["answer"] != "unknown")]
    stored = stored[_is_among(stored, here, keys)]
    stored = stored[~_is_among(stored, here, _JUDGEMENT)]
    columns = [*_JUDGEMENT, "submitted_at"]
    voting = here[competing]
    pool = pd.concat([voting[columns], stored[columns]], ignore_index=True)
    pool["time"] = pool["submitted_at"].replace("", _LATE)
    pool = pool.sort_values(["time", "assignment_id"], kind="stable")
    first = pool.groupby(keys, sort=False)["assignment_id"].transform("first").sort_index()
    of_store = first.iloc[len(voting) :].to_numpy()
    becomes = np.where(of_store == stored["assignment_id"].to_numpy(), "counted", "repeat")
    others = stored[_JUDGEMENT].assign(becomes=becomes)[becomes != stored["status"].to_numpy()]
    return first.iloc[: len(voting)].set_axis(voting.index), others.reset_index(drop=True)


def _is_among(frame: pd.DataFrame, others: pd.DataFrame, keys: list[str]) -> Bools:
    """Which rows of `frame` have a key that occurs in `others`; numbers are compared, as texts are slow."""
    codes = []
    for key in keys:
        code, _ = pd.factorize(pd.concat([frame[key], others[key]], ignore_index=True))
        codes.append(code)
    combined = _combined(codes)
    return np.isin(combined[: len(frame)], combined[len(frame) :])


def _tell_displaced(rows: pd.DataFrame, elected: pd.DataFrame, others: pd.DataFrame) -> None:
    """Say of the file's votes that count in place of a later one in the store, which that is."""
    displaced = others[others["becomes"] == "repeat"]
    if displaced.empty:
        return
    keys = ["voter", "question_id"]
    later = displaced.drop_duplicates(keys).set_index(keys)["assignment_id"]
    places = pd.MultiIndex.from_frame(elected[keys].astype({"question_id": "int64"}))
    found = pd.Series(later.reindex(places).to_numpy(), index=elected.index).dropna()
    text = "it was submitted before the voter's vote in assignment {}, which counts no more"
    rows.loc[found.index, "reason"] = [text.format(assignment) for assignment in found]


def _reason(kind: str, was: str, becomes: str, status: str, note: str, first: str) -> str:
    because = f": {note}" if note else ""
    earlier = f"the voter has already voted on this comparison, in assignment {first}"
    if kind == "changed":
        after = f"; {earlier}" if becomes == "repeat" else ""
        if becomes == "rejected":
            return f"the assignment is rejected now (it was {was}){because}"
        if was == "rejected":
            return f"the assignment was rejected and is accepted now{after}"
        if was == "withdrawn":
            return f"the vote was withdrawn and comes back with this file{after}"
        if becomes == "repeat":
            return f"it counted, and doesn't any more: {earlier}"
        return "the voter's earlier vote on this comparison was rejected, so this one counts now"
    if kind == "rejected":
        return f"rejected{because}"
    if kind == "repeat":
        return earlier
    if kind == "known" and was == "rejected" and status == "submitted":
        return "it is rejected in the store and this file decides nothing; it comes back when a file says Approved"
    return ""
