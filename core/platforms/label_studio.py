"""Label Studio: the labelling interface and the tasks go out, exports as JSON, JSON-MIN or CSV come back.

A task there is one comparison. Its pairs are two texts, `left` and `right`, between which `<Pairwise>` chooses; “equal”
and “I don't know a word here” are a choice of their own below them. The data of a task keeps the comparison's id and
the four tokens, so that a vote is known again whatever the task's number there.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import quoteattr

import pandas as pd

from ..errors import InputError, Issue
from ..tables import ANSWERS
from .base import Outgoing, PlatformFile, ResultFile
from .batch import FIELDS
from .csvfiles import CsvFile
from .plain import comparison_ids
from .template import NOTIONS, TIE, UNKNOWN
from .times import to_utc

CHOICE, OTHER = "choice", "other"  # the names of the two controls
_NEEDED = ("comparison_id", "annotation_id", "annotator")
_WANTED = (*_NEEDED, CHOICE, OTHER, "left_a", "left_b", "right_a", "right_b", "created_at", "lead_time")
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # what XML can't hold


@dataclass(frozen=True)
class LabelStudio:
    """A project of Label Studio with the labelling interface that Runoff writes."""

    name: str = "labelstudio"
    label: str = "Label Studio"
    download_hint: str = "In Label Studio, the right file is Export › JSON (or JSON-MIN, or CSV) of Runoff's tasks."
    steps: tuple[str, ...] = (
        "Make a project in Label Studio; under Settings › Labeling Interface › Code, paste the labelling interface.",
        "Import the tasks (JSON). Each is one comparison.",
        "Set how many annotators a task gets, or let one person annotate all.",
        "Export as JSON, JSON-MIN or CSV and upload the file under 2.",
    )
    publishes: bool = False

    def files(self, ballot: Outgoing) -> tuple[PlatformFile, ...]:
        """The labelling interface and the tasks."""
        tasks = "Tasks of the comparisons without a vote (JSON)" if ballot.is_top_up else "Tasks (JSON)"
        return (
            PlatformFile(
                f"{ballot.code}-label-studio.xml",
                "Labelling interface (XML)",
                "What annotators see: the question, the two pairs, and below them equal and “I don’t know”.",
                "application/xml",
                lambda: write_config(ballot).encode("utf-8"),
            ),
            PlatformFile(
                f"{ballot.part}-label-studio.json",
                tasks,
                "One comparison a task. The sides are as drawn: left and right are recorded.",
                "application/json",
                lambda: write_tasks(ballot.asked()),
            ),
        )

    def recognises(self, columns: Collection[str]) -> bool:
        """A CSV export of tasks that Runoff made."""
        return set(_NEEDED) <= set(columns)

    def read_results(self, file: CsvFile) -> ResultFile:
        """Read a CSV export. Raises `InputError` where its tasks are not Runoff's."""
        names = [name.strip().casefold() for name in file.header]
        _refuse_foreign(names, file.name)
        wanted = [names.index(name) for name in _WANTED if name in names]
        rows = file.read(wanted, len(names))
        there = [names[at] for at in wanted]
        records = [dict(zip(there, values, strict=True)) for values in zip(*rows.columns, strict=True)]
        return _result(rows.numbers, records, rows.n_rows, rows.n_unreadable, rows.issues)


def write_config(ballot: Outgoing) -> str:
    """The labelling interface: the wording, the examples, the two pairs, and the answers that choose neither."""
    question, explained = NOTIONS[ballot.notion]
    paragraphs = re.split(r"\n\s*\n", ballot.instructions or explained)
    choices = [("tie", TIE[ballot.notion])] if ballot.ties_allowed else []
    options = "".join(
        f"    <Choice value={_attribute(text)} alias={_attribute(value)}/>\n"
        for value, text in [*choices, ("unknown", UNKNOWN)]
    )
    told = [" ".join(part.split()) for part in paragraphs if part.strip()]
    for example in ballot.examples:
        pairs = " | ".join(" – ".join(pair) for pair in (example.left, example.right))
        answer = {"left": " – ".join(example.left), "right": " – ".join(example.right)}
        told.append(f"Example: {pairs}. Answer: {answer.get(example.answer, 'both equally')}. {example.why}".strip())
    headers = "".join(f'  <Header size="5" value={_attribute(text)}/>\n' for text in told)
    return (
        "<View>\n"
        f"  <Header value={_attribute(ballot.question or question)}/>\n{headers}"
        f'  <Pairwise name="{CHOICE}" toName="left,right"/>\n'
        '  <Text name="left" value="$left"/>\n  <Text name="right" value="$right"/>\n'
        f'  <Choices name="{OTHER}" toName="left" choice="single-radio" showInLine="true">\n{options}  </Choices>\n'
        "</View>\n"
    )


def write_tasks(comparisons: pd.DataFrame) -> bytes:
    """The tasks for Label Studio's import, one comparison each (`comparisons` is a table of schema COMPARISONS).

    UTF-8; texts stand as they are, since Label Studio shows them as texts. Raises `InputError` for no comparison.
    """
    if comparisons.empty:
        raise InputError("There is no comparison to ask for: each has its votes.")
    frame = comparisons[list(FIELDS)].assign(comparison_id=comparison_ids(comparisons))
    for side in ("left", "right"):
        frame[side] = frame[f"{side}_a"] + " – " + frame[f"{side}_b"]
    order = ["comparison_id", "left", "right", *FIELDS]
    tasks = [{"data": record} for record in frame[order].to_dict("records")]
    return (json.dumps(tasks, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


def _attribute(text: str) -> str:
    """A text as an XML attribute; `$` would begin a variable of the task's data."""
    return quoteattr(_UNPRINTABLE.sub("\ufffd", text).replace("$", "\uff04"))


def is_json(data: bytes) -> bool:
    """Whether a file is JSON by how it begins."""
    start = data[:200].removeprefix(b"\xef\xbb\xbf").lstrip()
    return start.startswith(b"{") or bool(re.match(rb"\[\s*(?:\{|\]|$)", start))


def read_json(data: bytes, name: str) -> ResultFile:
    """Read an export as JSON (tasks with annotations) or JSON-MIN (one record an annotation).

    A skipped task is an answer not given; a task without annotations is none. Rows are counted as annotations.
    Raises `InputError` for JSON of another kind, damaged JSON, or tasks that are not Runoff's.
    """
    try:
        parsed = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{name} can't be read as JSON ({error}): it is cut or was changed. Export it from Label Studio again."
        ) from error
    tasks = parsed if isinstance(parsed, list) else [parsed]
    records = [record for task in tasks if isinstance(task, dict) for record in _annotations(task)]
    if not records and not any(isinstance(task, dict) and "data" in task for task in tasks):
        raise InputError(f"{name} is JSON, but not an export of Label Studio. {LABEL_STUDIO.download_hint}")
    if records:
        _refuse_foreign({key for record in records for key in record}, name)
    return _result(range(1, len(records) + 1), records, len(records), 0, ())


def _annotations(task: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The annotations of a task as records of JSON-MIN's kind."""
    given = task.get("annotations", task.get("completions"))
    if not isinstance(given, list):
        if "annotation_id" in task and task["annotation_id"] is not None:
            yield dict(task)
        return
    held = task.get("data")
    told = held if isinstance(held, dict) else {}
    for annotation in given:
        if not isinstance(annotation, dict):
            continue
        by = annotation.get("completed_by")
        annotator = by.get("email") or by.get("id") if isinstance(by, dict) else by
        record = dict(told) | {"annotation_id": annotation.get("id"), "annotator": annotator}
        record |= {name: annotation.get(name) for name in ("created_at", "lead_time")}
        if not (annotation.get("was_cancelled") or annotation.get("skipped")):
            for result in annotation.get("result") or []:
                if isinstance(result, dict):
                    record.setdefault(str(result.get("from_name")), []).append(result.get("value"))
        yield record


def _refuse_foreign(names: Collection[str], filename: str) -> None:
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise InputError(
            f"{filename} is a Label Studio export of tasks that Runoff didn't make: it lacks {', '.join(missing)}. "
            "Import Runoff's tasks (JSON) there, and export them with their data.",
            [Issue("is missing", column=name) for name in missing],
        )


def _result(
    numbers: Collection[int], records: list[dict[str, Any]], n_rows: int, n_unreadable: int, issues: tuple[Issue, ...]
) -> ResultFile:
    told = list(issues)
    times, n_unread = to_utc([_text(record.get("created_at")) for record in records])
    if n_unread:
        told.append(Issue(f"{n_unread} times could not be read and were left out", column="created_at"))
    rows, n_bad = [], 0
    for number, record, time in zip(numbers, records, times, strict=True):
        task, _, place = _text(record.get("comparison_id")).strip().rpartition("-")
        voter, assignment = _text(record.get("annotator")).strip(), _text(record.get("annotation_id")).strip()
        if not (task and place.isascii() and place.isdigit() and int(place[:9]) > 0 and voter and assignment):
            n_bad += 1
            lacks = "comparison_id" if not task else "annotator" if not voter else "annotation_id"
            told.append(Issue("says not whose vote on what it is", row=number, column=lacks))
            continue
        texts = [_text(record.get(name)) for name in ("left_a", "left_b", "right_a", "right_b")]
        values = (assignment.removesuffix(".0"), voter, task, int(place[:9]), *texts, _choice(record))
        rows.append((number, *values, "submitted", "", _seconds(record.get("lead_time")), time))
    kinds = {"int": "int64", "float": "float64", "text": "str"}
    frame = pd.DataFrame(rows, columns=list(ANSWERS.columns))
    frame = frame.astype({name: kinds[kind] for name, kind in ANSWERS.columns.items()})
    return ResultFile(LABEL_STUDIO.name, ANSWERS.check(frame), n_rows, n_unreadable + n_bad, tuple(told))


def _choice(record: Mapping[str, Any]) -> str:
    """What was chosen; several answers that contradict each other are joined by +, which is no choice."""
    chosen = dict.fromkeys(value for name in (CHOICE, OTHER) for value in _values(record.get(name)))
    return "+".join(_MEANS.get(value, value.lower()) for value in chosen)


def _values(cell: Any) -> Iterator[str]:
    """The answers in a cell: a text, JSON in a text, or nested lists and mappings of them."""
    if isinstance(cell, str):
        if cell.lstrip().startswith(("[", "{")):
            try:
                yield from _values(json.loads(cell))
            except (ValueError, RecursionError):
                yield cell.strip()
        elif cell.strip():
            yield cell.strip()
    elif isinstance(cell, Mapping):
        for name in ("selected", "choices"):
            yield from _values(cell.get(name))
    elif isinstance(cell, list):
        for inner in cell:
            yield from _values(inner)


def _text(value: Any) -> str:
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else str(value)


def _seconds(value: Any) -> float:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        return math.nan
    return seconds if math.isfinite(seconds) and seconds >= 0 else math.nan


_MEANS = dict.fromkeys(TIE.values(), "tie") | {UNKNOWN: "unknown"}
LABEL_STUDIO = LabelStudio()
