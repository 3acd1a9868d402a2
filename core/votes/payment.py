"""Paying voters: which assignments to approve or reject, and what each voter is paid.

Proposals follow from facts; the owner decides. A rejection takes an assignment's votes out, so that its comparisons
are asked again; it can be taken back.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pandas as pd

from ..errors import InputError, Issue
from ..plan.campaign_plan import cents
from ..tables import ASSIGNMENTS
from ..tabular import is_blank, lacking, open_csv, places_of, records, same_name
from ..tabular.csv_writing import FORMULA, for_spreadsheets
from ..tabular.workbook_reading import write_workbook

MAX_REASON = 500
FEWEST_FOR_SPEED = 5  # with fewer assignments there is no usual speed
# What spreadsheets take for a formula. A platform's file must hold a reason as it is, so it can't begin like this.
PAYMENTS = (
    "voter", "platform", "assignments", "approved", "rejected", "undecided", "comparisons", "votes counted",
    "minutes", "reward due", "per hour",
)  # fmt: skip

_COUNTED = {"approved": "approve", "rejected": "reject", "undecided": ""}


@dataclass(frozen=True)
class Review:
    """A decision on an assignment: approve, or reject with the reason that the voter is told."""

    decision: str
    reason: str = ""


@dataclass(frozen=True)
class Rules:
    """When to propose a rejection: fewer than `gold_share` of the checks right, less than `fast` of the usual time a
    comparison (the median over assignments), or not everything answered."""

    gold_share: float = 0.5
    fast: float = 1 / 3
    unfinished: bool = True


def check_review(review: Review) -> Review:
    """The review with its reason tidied up; `InputError` for another decision, or a reason that can't be told.

    >>> check_review(Review("reject", "  only half  was answered ")).reason
    'only half was answered'
    """
    reason = " ".join(review.reason.split())
    if review.decision not in ("approve", "reject"):
        raise InputError(f"An assignment is approved or rejected, not {review.decision!r}.")
    if review.decision == "approve":
        return Review("approve")
    if not reason:
        raise InputError("Give a reason: whoever did the work is told why it is rejected.")
    if len(reason) > MAX_REASON:
        raise InputError(f"The reason has {len(reason)} letters; {MAX_REASON} are the most.")
    if reason.startswith(FORMULA):
        raise InputError(
            "The reason begins with a sign that a spreadsheet takes for a formula. Begin it with a word.",
            [Issue("begins like a formula", column="reason", found=reason[:20])],
        )
    return Review("reject", reason)


def propose(assignments: pd.DataFrame, rules: Rules | None = None) -> pd.Series:
    """The reason to reject each assignment (`tables.ASSIGNMENTS`), "" where nothing speaks against approving it.

    Parts that can't be judged speak for the voter: no checks, no time told, a task whose size isn't known.
    """
    rules = rules or Rules()
    frame = ASSIGNMENTS.check(assignments)
    checks = frame["checks_right"] + frame["checks_wrong"]
    each = frame["seconds"] / frame["n_answered"].where(frame["n_answered"] > 0)
    usual = float(each.median()) if each.notna().sum() >= FEWEST_FOR_SPEED else np.nan
    fast = each < rules.fast * usual
    wrong = (checks > 0) & (frame["checks_right"] < rules.gold_share * checks)
    short = (frame["n_answered"] < frame["n_asked"]) & rules.unfinished
    reasons = np.full(len(frame), "", dtype=object)
    # The first of these that holds is told.
    reasons[fast] = [f"answered in {s:.1f} s per comparison, where {usual:.1f} s are usual" for s in each[fast]]
    for where, n, of, text in (
        (wrong, frame["checks_wrong"], checks, "{} of {} check comparisons were answered wrong"),
        (short, frame["n_answered"], frame["n_asked"], "only {} of {} comparisons were answered"),
    ):
        reasons[where] = [text.format(*pair) for pair in zip(n[where], of[where], strict=True)]
    return pd.Series(reasons, index=frame.index, dtype="str")


def payments(assignments: pd.DataFrame, *, reward: float, task_size: int) -> pd.DataFrame:
    """What each voter is due, in the columns `PAYMENTS`, by name.

    An assignment that isn't rejected pays `reward`; on Label Studio, where it is a single comparison, its share of a
    task of `task_size`. "per hour" is the wage reached: what is due over the time told, NaN where none was.
    """
    frame = ASSIGNMENTS.check(assignments)
    reviews = frame["review"]
    parts = frame[["voter", "platform", "n_answered", "n_votes"]].assign(
        n=1,
        **{name: (reviews == decision).astype("int64") for name, decision in _COUNTED.items()},
        n_paid=frame["n_answered"].where(reviews != "reject", 0),
    )
    keys = ["voter", "platform"]
    sums = parts.groupby(keys, sort=True).sum()
    seconds = frame.groupby(keys, sort=True)["seconds"].sum(min_count=1)
    counts = zip(*(sums[name].tolist() for name in sums.columns), strict=True)
    rows = []
    for (voter, platform), n_seconds, row in zip(sums.index, seconds.tolist(), counts, strict=True):
        of = dict(zip(sums.columns, row, strict=True))
        units = Decimal(of["n"] - of["rejected"])
        if platform == "labelstudio":
            units = Decimal(of["n_paid"]) / Decimal(task_size)
        due, minutes = float(cents(units * Decimal(str(reward)))), n_seconds / 60
        rows.append(
            (
                *(voter, platform, of["n"], of["approved"], of["rejected"], of["undecided"]),
                *(of["n_answered"], of["n_votes"], round(minutes, 2), due),
                round(due / minutes * 60, 2) if minutes > 0 else np.nan,
            )
        )
    return pd.DataFrame(rows, columns=list(PAYMENTS))


def write_payments(table: pd.DataFrame, *, excel: bool = False) -> bytes:
    """The payment table as CSV (with a byte order mark; texts like formulas get an apostrophe) or as a workbook."""
    rows = [[None if value != value else value for value in row] for row in table.itertuples(index=False, name=None)]
    if excel:
        return write_workbook("Payments", list(table.columns), rows)
    return for_spreadsheets(table.columns, rows)


def write_review(data: bytes, filename: str, reviews: Mapping[str, Review]) -> bytes:
    """Mechanical Turk's review file: the uploaded result file with the decisions in its last two columns.

    `reviews` maps assignment ids to decisions. An X stands in Approve, or the reason in Reject; taking a rejection
    back is an X in Approve with Reject cleared. All other cells, and rows without a decision, are as they were. The
    columns are added where the file lacks them. UTF-8, all fields quoted, as the platform writes it.
    Raises `InputError` for a file without AssignmentId.
    """
    file = open_csv(data, filename)
    header = list(file.header)
    names = [same_name(name) for name in header]
    if "assignmentid" not in places_of(file, ("assignmentid", "approve", "reject")):
        raise lacking(file, ["AssignmentId"], then="Without it no decision can be written into the file.")
    for name in ("Approve", "Reject"):
        if name.casefold() not in names:
            header.append(name)
            names.append(name.casefold())
    key, approve, reject = (names.index(name) for name in ("assignmentid", "approve", "reject"))
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(header)
    for record in records(file.decoded.text, file.dialect):
        if isinstance(record, csv.Error) or is_blank(record):
            continue
        row = [*record, *[""] * (len(header) - len(record))]
        review = reviews.get(row[key].strip())
        if review is not None:
            row[approve], row[reject] = ("X", "") if review.decision == "approve" else ("", review.reason)
        writer.writerow(row)
    return out.getvalue().encode("utf-8")


def id_list(ids: list[str]) -> bytes:
    """Ids to paste, one per line."""
    return "".join(f"{one}\n" for one in ids).encode("utf-8")
