"""What is said of each answer of a file: its kind, what becomes of it, and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from .matching import first_of
from .policy import Policy

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Objects = npt.NDArray[np.object_]


@dataclass(frozen=True)
class Verdict:
    """Kind, reason and becomes of each answer of a file, as arrays of texts that are filled in step by step."""

    kind: Objects
    reason: Objects
    becomes: Objects

    def give(self, where: Bools | Ints, kind: str, reason: str | list[str]) -> None:
        """Give some answers a kind and a reason."""
        self.kind[where] = kind
        self.reason[where] = reason

    @property
    def open(self) -> Ints:
        """The places of the answers that have no kind so far."""
        return np.flatnonzero(self.kind == "")


def give_reasons(
    verdict: Verdict,
    at: Ints,
    open_rows: pd.DataFrame,
    was: Objects,
    becomes: Objects,
    decision: Objects,
    first_by: Objects,
    policy: Policy,
) -> None:
    """Most votes are new, or known and counted, and need no reason: the others are told one by one."""
    kind = verdict.kind[at]
    needless = (kind == "new") & (decision != "rejected") | (kind == "unknown")
    told = ~needless & ((kind != "known") | (was == "rejected") | (verdict.becomes[at] != ""))
    status, note = (open_rows[name].to_numpy(dtype=object) for name in ("status", "note"))
    columns = (kind, was, becomes, decision, status, note, first_by)
    verdict.reason[at] = ""
    verdict.reason[at[told]] = [
        _reason(policy, *values) for values in zip(*(column[told] for column in columns), strict=True)
    ]


def tell_displaced(verdict: Verdict, at: Ints, counting: pd.DataFrame, others: pd.DataFrame, policy: Policy) -> None:
    """Say of the file's votes that count in place of another one in the store, which that is."""
    displaced = others[others["becomes"] == "repeat"]
    if displaced.empty or counting.empty:
        return
    place, _ = first_of(displaced, counting, ["voter", "question_id"], [])
    there = place >= 0
    when = "before" if policy.repeats == "earliest" else "after"
    text = "it was submitted {} the voter's vote in assignment {}, which counts no more"
    ids = displaced["assignment_id"].to_numpy(dtype=object)[place[there]]
    verdict.reason[at[there]] = [text.format(when, assignment) for assignment in ids]


def _reason(
    policy: Policy, kind: str, was: str, becomes: str, decision: str, status: str, note: str, first: str
) -> str:
    because = f": {note}" if note else ""
    repeated = _repeated(first, policy)
    if kind == "changed":
        return _change(was, becomes, because, repeated)
    if kind == "rejected":
        return f"rejected{because}"
    if kind == "repeat":
        return repeated
    if kind == "excluded":
        return "the voter is left out by the owner"
    if kind == "new":
        return f"the assignment is rejected{because}, and counts by the policy of the project"
    if was == "rejected" and status == "submitted":
        return "it is rejected in the store and this file decides nothing; it comes back when a file says Approved"
    if decision != "submitted" and status == decision:
        return f"the assignment is {decision} now, which changes nothing in the count{because}"
    return "its time is known better now"


def _repeated(first: str, policy: Policy) -> str:
    if policy.repeats == "none":
        return "the voter has voted on this comparison several times, and by the policy none of these votes counts"
    if policy.repeats == "latest":
        return f"the voter's later vote on this comparison counts, in assignment {first}"
    return f"the voter has already voted on this comparison, in assignment {first}"


def _change(was: str, becomes: str, because: str, repeated: str) -> str:
    after = f"; {repeated}" if becomes == "repeat" else ""
    if becomes == "rejected":
        return f"the assignment is rejected now (it was {was}){because}"
    if was == "rejected":
        return f"the assignment was rejected and is accepted now{after}"
    if was == "withdrawn":
        return f"the vote was withdrawn and comes back with this file{after}"
    if becomes == "repeat":
        return f"it counted, and doesn't any more: {repeated}"
    return "the voter's earlier vote on this comparison was rejected, so this one counts now"
