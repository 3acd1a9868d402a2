"""Label Studio's exports: its JSON, and the rows that JSON_MIN and CSV have of it.

The full JSON holds tasks with annotations, each with the results of the controls; the other two hold a row an
annotation: the task's data, `id`, a column a control, `annotator`, `annotation_id`, `created_at`, `updated_at`,
`lead_time`. Annotations that were skipped (`was_cancelled`) have no answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

OWN = frozenset({"annotation_id", "annotator", "created_at", "id", "lead_time", "updated_at", "was_cancelled"})


def is_export(records: Sequence[Any]) -> bool:
    """Whether these are the tasks of a full JSON export."""
    return bool(records) and all(isinstance(task, Mapping) and "annotations" in task for task in records)


def has_answers(tasks: Sequence[Mapping[str, Any]]) -> bool:
    """Whether any annotation of a full export says anything, in whatever control."""
    lists = [task["annotations"] for task in tasks if isinstance(task["annotations"], list)]
    return any(isinstance(each, Mapping) and each.get("result") for annotations in lists for each in annotations)


def is_min(header: Sequence[str]) -> bool:
    """Whether these are the columns of JSON_MIN or CSV."""
    return {"annotation_id", "annotator"} <= {name.strip().casefold() for name in header}


def rows_of(tasks: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The annotations of a full export as JSON_MIN has them, with `was_cancelled`.

    >>> list(rows_of([{"id": 1, "data": {"text1": "a"}, "annotations": [{"id": 10, "completed_by": {"id": 1, "email":
    ... "w"}, "result": [{"from_name": "pw", "value": {"selected": "left"}}]}]}]))[0]["pw"]
    'left'
    """
    for task in tasks:
        data = task.get("data")
        annotations = task.get("annotations")
        for annotation in annotations if isinstance(annotations, list) else []:
            if not isinstance(annotation, Mapping):
                continue
            row: dict[str, Any] = dict(data) if isinstance(data, Mapping) else {}
            row |= {"id": task.get("id"), "annotation_id": annotation.get("id")}
            row["annotator"] = _annotator(annotation.get("completed_by"))
            row |= {name: annotation.get(name) for name in ("created_at", "updated_at", "lead_time")}
            row["was_cancelled"] = annotation.get("was_cancelled", False)
            row["was_cancelled"] = bool(row["was_cancelled"] or annotation.get("skipped"))
            if not row["was_cancelled"]:
                row |= _answers(annotation.get("result"))
            yield row


def _annotator(completed_by: Any) -> Any:
    if isinstance(completed_by, Mapping):
        return completed_by.get("email") or completed_by.get("id")
    return completed_by


def _answers(results: Any) -> dict[str, Any]:
    """What the controls hold, by their names: the side of a pairwise one, the choice of choices."""
    found: dict[str, Any] = {}
    for result in results if isinstance(results, Sequence) else []:
        if not isinstance(result, Mapping) or not isinstance(result.get("value"), Mapping):
            continue
        value = result["value"]
        chosen = value.get("selected", value.get("choices"))
        if chosen is not None:
            name = str(result.get("from_name", "choice"))
            value = chosen[0] if isinstance(chosen, list) and len(chosen) == 1 else chosen
            found[name] = value if found.get(name, value) == value else f"{found[name]}+{value}"
    return found
