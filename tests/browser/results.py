"""What people send back: result files in Turkle's format, and the paper's scores worked out from such files by hand."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Sequence
from statistics import fmean

Pair = frozenset[str]


def as_turkle(results: bytes) -> bytes:
    """A result file of `campaigns.answer_batch` as Turkle's admin site would have written it."""
    rows = list(csv.DictReader(io.StringIO(results.decode("utf-8"))))
    columns = sorted(name for name in rows[0] if name.startswith("Input."))
    answers = sorted(name for name in rows[0] if name.startswith("Answer."))
    fixed = [
        "HITId",
        "HITTypeId",
        "Title",
        "CreationTime",
        "MaxAssignments",
        "AssignmentDurationInSeconds",
        "AssignmentId",
        "WorkerId",
        "AcceptTime",
        "SubmitTime",
        "WorkTimeInSeconds",
    ]
    workers = {name: number for number, name in enumerate(dict.fromkeys(row["WorkerId"] for row in rows), 2)}
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow([*fixed, *columns, *answers, "Turkle.Username"])
    made, accepted, submitted = (f"Sat Nov 28 00:{minute}:56 UTC 2026" for minute in (51, 52, 53))
    for number, row in enumerate(rows, 1):
        about = [number, 1, "Pairs", made, 1, 86400, number, workers[row["WorkerId"]], accepted, submitted, 60]
        writer.writerow([*about, *(row[name] for name in (*columns, *answers)), row["WorkerId"]])
    return out.getvalue().encode("utf-8")


def votes_of(results: bytes) -> list[tuple[Pair, Pair, float]]:
    """The votes in a result file of either format: left pair, right pair, points of the left one (1, ½ or 0)."""
    votes = []
    for row in csv.DictReader(io.StringIO(results.decode("utf-8"))):
        for name, choice in row.items():
            if not (name or "").startswith("Answer.choice") or choice not in ("left", "right", "tie"):
                continue
            ending = name.removeprefix("Answer.choice")
            left, right = (
                frozenset(html.unescape(row[f"Input.{side}_{token}{ending}"]) for token in "ab")
                for side in ("left", "right")
            )
            votes.append((left, right, {"left": 1.0, "tie": 0.5, "right": 0.0}[choice]))
    return votes


def paper_scores(files_by_ballot: Sequence[Sequence[bytes]]) -> tuple[dict[Pair, float], list[float]]:
    """ȳ of every item after its last ballot, and b̂ of every ballot from the second on: Eqs. 1, 5 and 6 of the paper.

    Written apart from `core.scores`, in plain Python, to check what the pages give out.
    """
    scaled: dict[Pair, list[float]] = {}
    slopes = []
    for files in files_by_ballot:
        points: dict[Pair, list[float]] = {}
        for left, right, outcome in (vote for file in files for vote in votes_of(file)):
            points.setdefault(left, []).append(outcome)
            points.setdefault(right, []).append(1 - outcome)
        x = {item: fmean(won) for item, won in points.items()}
        if not scaled:
            scaled = {item: [value] for item, value in x.items()}
            continue
        before = {item: fmean(scaled[item]) for item in x}
        slope = sum((1 - x[i]) * (1 - before[i]) for i in x) / sum((1 - x[i]) ** 2 for i in x)
        slopes.append(slope)
        for item, value in x.items():
            scaled[item].append(1 - slope + slope * value)
    return {item: fmean(values) for item, values in scaled.items()}, slopes
