"""A campaign's record as the files of a published dataset, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...dataset.campaign_tables import FILES, PLAN_FILE, read_table, write_table
from ...errors import InputError
from ...tabular.json_texts import parse_json
from ...tabular.zips import MAX_JSON
from .records import Record

_NAMES = ("items", "ballot_items", "fit_scores", "comparisons", "tasks", "votes", "voters")  # in the order of FILES


def record_files(record: Record) -> dict[str, bytes]:
    """The files of a record by name; the same record gives the same bytes."""
    files = {
        name: write_table(getattr(record, part), schema)
        for part, (name, schema) in zip(_NAMES, FILES.items(), strict=True)
    }
    files[PLAN_FILE] = (json.dumps(record.plan, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode("utf-8")
    return files


def record_from(files: Mapping[str, bytes]) -> Record:
    """The record that these files hold; `InputError` naming a file that is missing or can't be read."""
    missing = [name for name in (*FILES, PLAN_FILE) if name not in files]
    if missing:
        raise InputError(f"The published dataset lacks {', '.join(missing)}, so its scores can't be recomputed.")
    tables = {
        part: read_table(files[name], schema, name) for part, (name, schema) in zip(_NAMES, FILES.items(), strict=True)
    }
    try:
        plan: Any = parse_json(files[PLAN_FILE].decode("utf-8"), most=MAX_JSON)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{PLAN_FILE} can't be read: {error}.") from error
    if not isinstance(plan, dict):
        raise InputError(f"{PLAN_FILE} must be one JSON object.")
    return Record(**tables, plan=plan)
