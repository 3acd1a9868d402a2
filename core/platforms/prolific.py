"""Prolific: people come from there, votes don't. They vote on Runoff's own page, which ends with a completion code.

`prolific_export_<study>.csv` lists submissions. What it says is held against the voting page, and each submission is
one of `CASES`; approvals and rejections go out as lists of ids to paste.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import pandas as pd

from ..errors import InputError, Issue
from ..tabular import SourceTable, lacking, open_table, places_of, same_name, trimmed
from ..votes.meanings import ValueMeanings
from ..votes.platform import Outgoing, PlatformFile, ResultFile
from ..votes.reading import to_utc, unread_times

_COLUMNS = {
    "submission": "submission id",
    "participant": "participant id",
    "status": "status",
    "started_at": "started at",
    "completed_at": "completed at",
    "seconds": "time taken",
    "code": "completion code",
}
_NEEDED = ("participant", "status")
REVOKED = "CONSENT_REVOKED"
WAITING = frozenset({"AWAITING REVIEW", "AWAITING_REVIEW", "PARTIALLY APPROVED"})
LEFT = frozenset({"RETURNED", "TIMED-OUT", "TIMED OUT", "TIMED_OUT"})
DECIDED = frozenset({"APPROVED", "REJECTED", "SCREENED OUT", "SCREENED-OUT"})

# What a submission can be, what to propose for it, and why.
CASES = {
    "finished": ("approve", "finished here, and the code is right"),
    "other code": ("approve", "finished here under this id; the code is another one or missing"),
    "unfinished": ("reject", "not finished here"),
    "set aside": ("reject", "too many checks wrong"),
    "no votes": ("reject", "nobody voted here under this id"),
    "left": ("", "returned or timed out: nothing is paid"),
    "left with votes": ("withdraw", "returned or timed out, but voted here: say whether the votes may stay"),
    "consent revoked": ("withdraw", "withdrew consent: the votes must go"),
    "decided": ("", "decided on Prolific already"),
    "under way": ("", "not submitted yet"),
}


@dataclass(frozen=True)
class Prolific:
    """Prolific's part: people and payment. Its file of submissions holds no votes."""

    name: str = "prolific"
    label: str = "Prolific"
    download_hint: str = "Prolific's export lists people and no votes: upload it in the Prolific box, not here."
    steps: tuple[str, ...] = (
        (
            "Open the voting page with a completion code of its own for each voter or one for all, and the address "
            "to go back to."
        ),
        "On Prolific make a study with the link below as its address, and “I’ll use URL parameters” chosen.",
        "When submissions wait for review, export them there (prolific_export_….csv) and check them below.",
        "Paste the lists into Bulk approve, and reject the others one by one with their reason.",
    )

    def files(self, ballot: Outgoing) -> tuple[PlatformFile, ...]:
        """None: people vote on the voting page."""
        return ()

    def recognises(self, columns: Collection[str]) -> bool:
        """The list of submissions."""
        return "participant id" in columns

    def read(self, file: SourceTable, said: ValueMeanings) -> ResultFile:
        """Raises `InputError`: there are no votes in it."""
        raise InputError(
            f"{file.name} is Prolific's list of submissions, which has no votes in it. Upload the votes given on your "
            "own page, not the list of people; check the list under Prolific."
        )


@dataclass(frozen=True)
class Submissions:
    """The rows of an export: row, submission, participant, status (upper case), started_at, completed_at, seconds,
    code, revoked (some cell of the row says that consent was taken back); and what was odd."""

    rows: pd.DataFrame
    n_rows: int
    issues: tuple[Issue, ...]


def read_submissions(data: bytes, filename: str) -> Submissions:
    """Read Prolific's export of a study. Raises `InputError` for a file of another kind.

    >>> read_submissions(b"Participant id,Status\\nabc,returned\\n", "x.csv").rows["status"].tolist()
    ['RETURNED']
    """
    file = open_table(data, filename, fits=(lambda header: _COLUMNS["participant"] in map(same_name, header),))
    places = places_of(file, _COLUMNS.values())
    missing = [_COLUMNS[name] for name in _NEEDED if _COLUMNS[name] not in places]
    if missing:
        hint = "On Prolific, open the study and choose More › Export data › demographic data."
        raise lacking(file, missing, then=hint)
    rows = file.texts(range(len(file.header)), max(places[_COLUMNS[name]] for name in _NEEDED) + 1)
    columns = rows.lists
    empty = [""] * len(rows.numbers)
    cell = {
        name: [trimmed(value) for value in columns[places[column]]] if column in places else empty
        for name, column in _COLUMNS.items()
    }
    issues = list(rows.issues)
    for name in ("started_at", "completed_at"):
        given = cell[name]
        cell[name], _ = to_utc(given)
        issues += unread_times(given, cell[name], _COLUMNS[name])
    frame = pd.DataFrame({"row": rows.numbers, **cell})
    frame = frame.astype({"row": "int64"} | {name: "str" for name in _COLUMNS if name != "seconds"})
    frame["status"] = frame["status"].str.upper()
    frame["seconds"] = [float(text) if text.isdecimal() and len(text) < 10 else math.nan for text in cell["seconds"]]
    revoked = [any(value.strip() == REVOKED for value in values) for values in zip(*columns, strict=True)]
    frame["revoked"] = pd.Series(revoked, dtype="bool")
    for row in frame.loc[frame["participant"] == "", "row"]:
        issues.append(Issue("no participant's id", row=row, column="Participant id"))
    return Submissions(frame[frame["participant"] != ""].reset_index(drop=True), rows.n_rows, tuple(issues))


def case_of(
    status: str, *, revoked: bool, known: bool, finished: bool, set_aside: bool, n_votes: int, code_right: bool
) -> str:
    """Which of `CASES` a submission is: its status there, and how its participant stands here.

    >>> stands = {"known": True, "finished": True, "set_aside": False, "n_votes": 9, "code_right": True}
    >>> case_of("AWAITING REVIEW", revoked=False, **stands), case_of("RETURNED", revoked=False, **stands)
    ('finished', 'left with votes')
    """
    if revoked:
        return "consent revoked"
    if status in LEFT:
        return "left with votes" if n_votes else "left"
    if status in DECIDED:
        return "decided"
    if status not in WAITING:
        return "under way"
    if not known:
        return "no votes"
    if set_aside:
        return "set aside"
    if not finished:
        return "unfinished" if n_votes else "no votes"
    return "finished" if code_right else "other code"


PROLIFIC = Prolific()
