"""What is reported of a result file: the class and reason of each answer and row, and what an upload changed.

What counts of answers that could count or not is a choice of the owner (`Policy`), with a default that is stated.

Each row of a result file is in exactly one class, and each answer too: counted, shown, written as a file. A row holds
one answer or several (a task's comparisons). An answer's class is what `classify` found. A row's is that of its
weightiest answer, in the order of `CLASSES`; a row without any is `no_answer` where nothing is filled in, else
`unreadable`. So the classes' rows add up to the rows of the file; the classes' answers add up to the answers in it,
with one for each row that holds none.

An upload changes votes, voters, and the top of the ranking: `compare_tops` says what moved in it between two moments.
Effects are kept with the upload as plain JSON, with the items' own words, so that they say the same after an export and
after a corrected spelling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..errors import InputError, Issue
from ..tables import Bools, Ints, Objects
from ..tabular.csv_writing import table_for_spreadsheets
from .matching import first_of

REJECTED = {"leave out": "not counted", "count": "counted like the others"}
REPEATS = {"earliest": "the earliest counts", "latest": "the latest counts", "none": "none of them counts"}


@dataclass(frozen=True)
class Policy:
    """`rejected`: what becomes of answers whose assignment the owner rejected (one of `REJECTED`); `repeats`: which of
    a voter's several votes on one comparison counts (one of `REPEATS`).

    Votes of the same time are ordered by their assignment's id; a vote whose time is unknown counts only where no
    time is known. Whatever is chosen, every answer is kept, so that another choice can be made later.
    """

    rejected: str = "leave out"
    repeats: str = "earliest"

    def __post_init__(self) -> None:
        for name, value, choices in (("rejected", self.rejected, REJECTED), ("repeats", self.repeats, REPEATS)):
            if value not in choices:
                raise InputError(f"The policy for {name} is one of {', '.join(choices)}; found {value!r}.")

    @classmethod
    def of(cls, stored: Mapping[str, Any] | None) -> Policy:
        """The policy as a project keeps it; None and what is missing stand for the default."""
        known = {name: str(stored[name]) for name in ("rejected", "repeats") if stored and name in stored}
        return cls(**known)

    def stored(self) -> dict[str, Any]:
        """The policy as a project keeps it."""
        return asdict(self)

    @property
    def counts_rejected(self) -> bool:
        return self.rejected == "count"


DEFAULT = Policy()


CONTRADICTS = "contradicts"
# In the order of weight: what changes the store, what is there already, what is left out.
CLASSES = (
    "new",
    "check",
    "unknown",
    "changed",
    "rejected",
    "repeat",
    "excluded",
    "asked",
    CONTRADICTS,
    "known",
    "no_answer",
    "other_ballot",
    "unreadable",
)
COLUMNS = ("row", "class", "reason", "voter", "assignment_id", "task_id", "n",
           "left_a", "left_b", "right_a", "right_b", "choice")  # fmt: skip
_BLANK = "nothing is filled in"
# A spreadsheet, and whoever opens the file in one, should see the words, not run them.


def report_classes(rows: pd.DataFrame) -> pd.Series:
    """The class of each answer of `ClassifiedAnswers.rows`: its kind, but `contradicts` where the store keeps another
    answer of the same assignment."""
    stays = (rows["kind"] == "changed") & (rows["becomes"] == "")
    return rows["kind"].mask(stays, CONTRADICTS)


def count_answers(rows: pd.DataFrame, unread: Sequence[Issue], blank: npt.NDArray[np.int64]) -> dict[str, int]:
    """How many answers are in each class that occurs; a row without an answer counts as one."""
    counts = report_classes(rows).value_counts(sort=False)
    return _in_order({str(kind): int(n) for kind, n in counts.items()}, len(unread), len(blank))


def count_rows(rows: pd.DataFrame, unread: Sequence[Issue], blank: npt.NDArray[np.int64]) -> dict[str, int]:
    """How many rows of the file are in each class that occurs."""
    places = pd.Index(CLASSES).get_indexer(pd.Index(report_classes(rows)))
    weightiest = pd.Series(places).groupby(rows["row"].to_numpy(), sort=False).min()
    counts = {CLASSES[int(str(place))]: int(n) for place, n in weightiest.value_counts().items()}
    return _in_order(counts, len(unread), len(blank))


def _in_order(found: dict[str, int], n_unread: int, n_blank: int) -> dict[str, int]:
    found["unreadable"] = found.get("unreadable", 0) + n_unread
    found["no_answer"] = found.get("no_answer", 0) + n_blank
    return {name: found[name] for name in CLASSES if found.get(name)}


def report_table(
    rows: pd.DataFrame, unread: Sequence[Issue], blank: npt.NDArray[np.int64], name: str | None = None
) -> pd.DataFrame:
    """The answers of one class, or of all, one per row, with `COLUMNS`: the row of the file, class and reason first.

    Rows without an answer stand among them, with empty cells where nothing could be read; `n` is 0 there.
    """
    classes = report_classes(rows)
    own_rows = rows if name is None else rows[classes == name]
    table = own_rows.assign(**{"class": classes[own_rows.index]})[list(COLUMNS)]
    more = [(issue.row, "unreadable", issue.message) for issue in unread] if name in (None, "unreadable") else []
    more += [(int(row), "no_answer", _BLANK) for row in blank] if name in (None, "no_answer") else []
    if more:
        empty = pd.DataFrame(more, columns=["row", "class", "reason"]).assign(n=0)
        empty = empty.assign(**dict.fromkeys([c for c in COLUMNS if c not in empty], ""))
        table = pd.concat([table, empty[list(COLUMNS)]], ignore_index=True)
    return table.sort_values(["row", "n"], kind="stable", ignore_index=True)


def report_file(table: pd.DataFrame) -> bytes:
    """A table of `report_table` as CSV for people: UTF-8 with a byte order mark, an apostrophe before formulas."""
    return table_for_spreadsheets(table)


@dataclass(frozen=True)
class AnswerReasons:
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


class Counted(NamedTuple):
    """What counting made of some answers, as arrays of texts: their status before and now, what is decided of their
    assignments, and the assignment whose vote came first."""

    was: Objects
    becomes: Objects
    decision: Objects
    first_by: Objects


class _Answer(NamedTuple):
    kind: str
    was: str
    becomes: str
    decision: str
    first_by: str
    status: str
    note: str


def give_reasons(reasons: AnswerReasons, at: Ints, open_rows: pd.DataFrame, counted: Counted, policy: Policy) -> None:
    """Most votes are new, or known and counted, and need no reason: the others are told one by one."""
    kind = reasons.kind[at]
    needless = (kind == "new") & (counted.decision != "rejected") | (kind == "unknown")
    is_told = ~needless & ((kind != "known") | (counted.was == "rejected") | (reasons.becomes[at] != ""))
    columns = (kind, *counted, *(open_rows[name].to_numpy(dtype=object) for name in ("status", "note")))
    reasons.reason[at] = ""
    answers = (_Answer(*values) for values in zip(*(column[is_told] for column in columns), strict=True))
    reasons.reason[at[is_told]] = [_reason(answer, policy) for answer in answers]


def note_displaced(
    reasons: AnswerReasons, at: Ints, counting: pd.DataFrame, others: pd.DataFrame, policy: Policy
) -> None:
    """Say of the file's votes that count in place of another one in the store, which that is."""
    displaced = others[others["becomes"] == "repeat"]
    if displaced.empty or counting.empty:
        return
    place, _ = first_of(displaced, counting, ["voter", "question_id"], [])
    is_found = place >= 0
    when = "before" if policy.repeats == "earliest" else "after"
    text = "it was submitted {} the voter's vote in assignment {}, which counts no more"
    ids = displaced["assignment_id"].to_numpy(dtype=object)[place[is_found]]
    reasons.reason[at[is_found]] = [text.format(when, assignment) for assignment in ids]


def _reason(answer: _Answer, policy: Policy) -> str:
    because = f": {answer.note}" if answer.note else ""
    repeated = _repeated(answer.first_by, policy)
    if answer.kind == "changed":
        return _change(answer.was, answer.becomes, because, repeated)
    if answer.kind == "rejected":
        return f"rejected{because}"
    if answer.kind == "repeat":
        return repeated
    if answer.kind == "excluded":
        return "the voter is left out by the owner"
    if answer.kind == "new":
        return f"the assignment is rejected{because}, and counts by the policy of the project"
    if answer.was == "rejected" and answer.status == "submitted":
        return "it is rejected in the store and this file decides nothing; it comes back when a file says Approved"
    if answer.decision != "submitted" and answer.status == answer.decision:
        return f"the assignment is {answer.decision} now, which changes nothing in the count{because}"
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


Pair = tuple[str, str]
Top = Mapping[int, float]  # an item → its rank


@dataclass(frozen=True)
class Move:
    """An item whose rank in the top changed; a rank is None where the item was, or is, not in the top."""

    pair: Pair
    before: float | None
    after: float | None

    @property
    def kind(self) -> str:
        """entered, left or moved."""
        if self.before is None:
            return "entered"
        return "left" if self.after is None else "moved"


@dataclass(frozen=True)
class UploadEffect:
    """What one upload, or its withdrawal, changed.

    `votes` is by how many the counted votes grew (below 0: fell); of the voters whose votes it counts, `new_voters`
    had no answer in the project before, `known_voters` had. `moves` are those in the top, by their rank before or
    else after. Where there was no ranking at all before, there are none and `first` is its best item; where there is
    none any more, `ended` says so. `ranking` is "now" where there is one, "later" where it follows when the ballot is
    closed, and "none" where there is none.
    """

    votes: int
    new_voters: int = 0
    known_voters: int = 0
    moves: tuple[Move, ...] = ()
    first: Pair | None = None
    ended: bool = False
    ranking: str = "now"

    def stored(self) -> dict[str, Any]:
        """The effect as JSON."""
        return {
            "votes": self.votes,
            "new_voters": self.new_voters,
            "known_voters": self.known_voters,
            "moves": [[*move.pair, move.before, move.after] for move in self.moves],
            "first": list(self.first) if self.first else None,
            "ended": self.ended,
            "ranking": self.ranking,
        }

    @classmethod
    def from_stored(cls, stored: dict[str, Any] | None) -> UploadEffect | None:
        """The effect as it was kept; None where none was (uploads of an earlier version)."""
        if not stored:
            return None
        moves = tuple(Move((a, b), before, after) for a, b, before, after in stored["moves"])
        first = tuple(stored["first"]) if stored["first"] else None
        values = (stored["votes"], stored["new_voters"], stored["known_voters"], moves, first, stored["ended"])
        return cls(*values, stored.get("ranking", "now"))


def compare_tops(before: Top, after: Top) -> list[tuple[int, float | None, float | None]]:
    """The moves between two tops, as (item, rank before, rank after).

    First those who moved or left, by the rank before; then those who entered, by the rank after. A rank is None
    where the item was, or is, not in the top. Ties are told in the order of the items.

    >>> compare_tops({7: 1.0, 3: 2.0, 5: 3.0}, {3: 1.0, 9: 2.0, 5: 3.0})
    [(7, 1.0, None), (3, 2.0, 1.0), (9, None, 2.0)]
    """
    was = sorted((rank, item) for item, rank in before.items() if after.get(item) != rank)
    new = sorted((rank, item) for item, rank in after.items() if item not in before)
    return [(item, rank, after.get(item)) for rank, item in was] + [(item, None, rank) for rank, item in new]
