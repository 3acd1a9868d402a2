"""Which of the answers that fit a comparison count, given what the store has and the project's policy.

An assignment is decided on at most once in each direction: submitted, then rejected, then approved after all. Of what
several files say of it the furthest holds, and the earliest time that any file tells, so that neither the order of the
rows nor that of the files decides which votes count.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields

import numpy as np
import pandas as pd

from ..tables import Bools, Ints, Objects
from .matching import combined, first_of
from .reasons import AnswerReasons, Counted, Policy, give_reasons, note_displaced

JUDGEMENT = ["assignment_id", "voter", "question_id"]
STANDING = ("counted", "repeat")  # votes among which one counts
_DECISIONS = {"": 0, "submitted": 0, "rejected": 1, "approved": 2}
_NAMES = np.array(["submitted", "rejected", "approved"], dtype=object)
_LATE = "\uffff"
_COUNT = "(?:[^:]{1,9}:)?[0-9]{1,12}"  # a number, perhaps behind the name of its server
ELSEWHERE = (
    "the store has this assignment id under another voter; as ids that are plain numbers are unique on one server "
    "only, this is another server's assignment"
)
_TEXTS = {"assignment_id": "str", "voter": "str"}
NO_OTHERS = pd.DataFrame(columns=[*JUDGEMENT, "becomes"]).astype(_TEXTS | {"question_id": "int64", "becomes": "str"})


def judge(
    rows: pd.DataFrame, reasons: AnswerReasons, known: pd.DataFrame, policy: Policy, excluded: Collection[str]
) -> pd.DataFrame:
    """Decide on all answers that fit a comparison (those that have no kind so far).

    `rows` gets the status and the time that store and file together say of each assignment. `excluded` are voters whom
    the owner left out: what their answers are otherwise decides, and the store excludes them afterwards. Returns the
    judgements outside the file that change, as `ClassifiedAnswers.others`.
    """
    known = known.assign(**{name: "" for name in ("decision", "review") if name not in known.columns})
    _merge_copies(rows, reasons)
    at = reasons.open
    stored = _stored(rows.iloc[at], known)
    text = "the store has this assignment id under another voter"
    reasons.give(at[stored.is_anothers], "unreadable", text)
    is_there = ~np.isin(stored.was, ("", "withdrawn"))
    differs = ~stored.is_anothers & is_there & (stored.answer != rows["answer"].to_numpy(dtype=object)[at])
    before, after = stored.answer[differs], rows["answer"].to_numpy(dtype=object)[at[differs]]
    text = "the answer was {} and is {} in this file; the stored one stays (withdraw its upload to replace it)"
    reasons.give(at[differs], "changed", [text.format(*both) for both in zip(before, after, strict=True)])
    rest = ~stored.is_anothers & ~differs
    others = _decide(rows, reasons, at[rest], stored.only(rest), known, policy, excluded)
    elsewhere = at[stored.is_elsewhere & (reasons.reason[at] == "")]
    reasons.reason[elsewhere] = ELSEWHERE
    return others


@dataclass(frozen=True)
class _Stored:
    """What the store has of each answer: its status ("" where nothing), answer, time, what files and what the owner
    decided ("" where nothing); whether it has the assignment under another voter, and whether it has another server's
    assignment of that id."""

    was: Objects
    answer: Objects
    time: Objects
    decision: Objects
    review: Objects
    is_anothers: Bools
    is_elsewhere: Bools

    def only(self, those: Bools) -> _Stored:
        return _Stored(*(getattr(self, f.name)[those] for f in fields(self)))


def _stored(open_rows: pd.DataFrame, known: pd.DataFrame) -> _Stored:
    n = len(open_rows)
    if known.empty:
        nothing = np.full(n, "", dtype=object)
        return _Stored(nothing, nothing, nothing, nothing, nothing, np.zeros(n, dtype=bool), np.zeros(n, dtype=bool))
    same, by_voter = first_of(known, open_rows, ["assignment_id", "question_id"], ["voter"])
    names = ("status", "answer", "submitted_at", "decision", "review")
    was, answer, time, decision, review = (
        np.append(known[name].to_numpy(dtype=object), "")[by_voter] for name in names
    )
    is_anothers = (by_voter < 0) & (same >= 0)
    is_local = counts_from_one(open_rows["assignment_id"])
    return _Stored(was, answer, time, decision, review, is_anothers & ~is_local, is_anothers & is_local)


def counts_from_one(assignments: pd.Series) -> Bools:
    """Which ids of assignments are plain numbers: these count from 1 on each server (Turkle, Label Studio), so that the
    same id under another voter is another server's assignment. Mechanical Turk's and the like are unique everywhere."""
    return assignments.str.fullmatch(_COUNT).to_numpy(dtype=bool)


def _merge_copies(rows: pd.DataFrame, reasons: AnswerReasons) -> None:
    """Of an assignment that is in the file several times keep one, with the furthest decision and the earliest time."""
    at, keys = reasons.open, ["assignment_id", "question_id"]
    group = combined([pd.factorize(rows[key].iloc[at])[0] for key in keys])
    several = at[np.bincount(group, minlength=1)[group] > 1] if len(at) else at
    if not len(several):
        return
    copies = rows.iloc[several]
    keys = [*keys, "server"]
    copies = copies.assign(server=copies["voter"].where(counts_from_one(copies["assignment_id"]), ""))
    groups = copies.groupby(keys, sort=False)
    for column, what in (("answer", "answers this comparison in two ways"), ("voter", "belongs to two voters")):
        differ = groups[column].transform("nunique") > 1
        text = f"the file has this assignment several times, and it {what}"
        reasons.give(differ.index[differ].to_numpy(), "unreadable", text)
        copies = copies[~differ.reindex(copies.index)]
    rank = -copies["status"].map(_DECISIONS).to_numpy(dtype=int)
    order = copies.assign(rank=rank, time=copies["submitted_at"].replace("", _LATE))
    order = order.sort_values(["rank", "time", "row"], kind="stable")
    groups = order.groupby(keys, sort=False)
    first_row, earliest = groups["row"].transform("first"), groups["time"].transform("min").replace(_LATE, "")
    rows.loc[order.index, "submitted_at"] = earliest
    extra = order.index[order.duplicated(keys)]
    text = "the same assignment is in row {} of this file"
    reasons.give(extra.to_numpy(), "known", [text.format(row) for row in first_row[extra]])


def _decide(
    rows: pd.DataFrame,
    reasons: AnswerReasons,
    at: Ints,
    stored: _Stored,
    known: pd.DataFrame,
    policy: Policy,
    excluded: Collection[str],
) -> pd.DataFrame:
    """Kind and status of the answers at these places, given what the store says of them; `ClassifiedAnswers.others`."""
    open_rows = rows.iloc[at]
    fresh = np.isin(stored.was, ("", "withdrawn"))
    told, time, told_more = _told(open_rows, stored, fresh)
    decision = np.where(stored.review == "", told, stored.review).astype(object)
    is_vote = (open_rows["answer"] != "unknown").to_numpy()
    is_rejected = (decision == "rejected") & (not policy.counts_rejected)
    becomes = np.where(is_rejected, "rejected", "unknown").astype(object)
    votes = np.flatnonzero(is_vote & ~is_rejected)
    voting = open_rows[JUDGEMENT].iloc[votes].assign(submitted_at=time[votes]).astype({"submitted_at": "str"})
    first, others = elect(voting, open_rows, known, policy)
    is_first = first == voting["assignment_id"].to_numpy(dtype=object)
    becomes[votes] = np.where(is_first, "counted", "repeat")
    is_new = stored.was == ""
    kind = np.where(is_new, np.where(becomes == "counted", "new", becomes), "known")
    if excluded:
        kind[np.isin(kind, ("new", "unknown")) & open_rows["voter"].isin(list(excluded)).to_numpy()] = "excluded"
    kind[~is_new & (becomes != stored.was)] = "changed"
    reasons.kind[at] = kind
    reasons.becomes[at] = np.where((kind != "known") | told_more, becomes, "")
    if not fresh.all():
        rows.loc[at, "status"], rows.loc[at, "submitted_at"] = told, time
    first_by = np.full(len(at), "", dtype=object)
    first_by[votes] = first
    give_reasons(reasons, at, open_rows, Counted(stored.was, becomes, decision, first_by), policy)
    note_displaced(reasons, at[votes[is_first]], voting[is_first], others, policy)
    return others


def _told(open_rows: pd.DataFrame, stored: _Stored, fresh: Bools) -> tuple[Objects, Objects, Bools]:
    """What files decided on each assignment and its time by store and file together, and where that is more than
    stored. The owner's decision isn't theirs: it can be taken back."""
    status, when = (open_rows[name].to_numpy(dtype=object) for name in ("status", "submitted_at"))
    if fresh.all():
        return status, when, np.zeros(len(status), dtype=bool)
    here = pd.Series(status).map(_DECISIONS).fillna(0).to_numpy(dtype=int)
    decision = pd.Series(stored.decision).map(_DECISIONS).fillna(0).to_numpy(dtype=int)
    is_files = (stored.was == "rejected") & (decision == 0) & (stored.review == "")
    decision = np.where(fresh, 0, np.where(is_files, 1, decision))
    decided = np.maximum(here, decision)
    stored_time = np.where(fresh, "", stored.time).astype(object)
    time = np.minimum(np.where(stored_time == "", _LATE, stored_time), np.where(when == "", _LATE, when)).astype(object)
    time[time == _LATE] = ""
    is_tracked = stored.decision != ""
    more = ~fresh & (((decided > decision) & is_tracked) | (time != stored_time))
    return _NAMES[decided], time, more.astype(bool)


def elect(
    voting: pd.DataFrame, open_rows: pd.DataFrame, known: pd.DataFrame, policy: Policy
) -> tuple[Objects, pd.DataFrame]:
    """Of each voter's votes on a comparison the one that counts by the policy (see `Policy`).

    `voting` are those of the file that may count, `open_rows` all of the file. Returns for each of `voting` the
    assignment that counts ("" for none), and the stored votes outside the file whose status changes.
    """
    stored = known[known["status"].isin(STANDING) & (known["answer"] != "unknown")]
    if len(stored):
        in_file, this_one = first_of(open_rows, stored, ["voter", "question_id"], ["assignment_id"])
        stored = stored[(in_file >= 0) & (this_one < 0)]
    columns = [*JUDGEMENT, "submitted_at"]
    voting = voting.astype({"question_id": "int64"})[columns]
    pool = pd.concat([voting, stored[columns]], ignore_index=True) if len(stored) else voting
    first = elected(pool, policy).to_numpy(dtype=object)
    is_first = first[len(voting) :] == stored["assignment_id"].to_numpy(dtype=object)
    becomes = np.where(is_first, "counted", "repeat").astype(object)
    changes = becomes != stored["status"].to_numpy(dtype=object)
    others = stored[JUDGEMENT].assign(becomes=becomes)[changes].reset_index(drop=True)
    return first[: len(voting)], others.astype({"becomes": "str"})


def elected(pool: pd.DataFrame, policy: Policy) -> pd.Series:
    """For each vote of `pool` the assignment that counts of all those of its voter on its comparison, "" for none.

    `pool` has the columns assignment_id, voter, question_id and submitted_at ("" where unknown), one row per vote.
    """
    keys = ["voter", "question_id"]
    group = combined([pd.factorize(pool[key])[0] for key in keys]) if len(pool) else np.zeros(0, dtype=np.int64)
    assignment = pool["assignment_id"].reset_index(drop=True)
    n_each = np.bincount(group, minlength=1)[group]
    first = assignment.copy()
    several = np.flatnonzero(n_each > 1)
    if not len(several):
        return first
    if policy.repeats == "none":
        first.iloc[several] = ""
        return first
    some = pool.iloc[several].assign(group=group[several])
    is_unknown = (some["submitted_at"] == "").to_numpy()
    earliest = policy.repeats == "earliest"
    ordered = some.assign(is_unknown=is_unknown).set_axis(several)
    ordered = ordered.sort_values(
        ["is_unknown", "submitted_at", "assignment_id"], ascending=[True, earliest, earliest], kind="stable"
    )
    winner = ordered.groupby("group", sort=False)["assignment_id"].transform("first")
    first.loc[winner.index] = winner
    return first
