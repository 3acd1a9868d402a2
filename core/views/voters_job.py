"""The figures of a ranking's voters as a job: of many votes they take a minute, and a reload finds them again."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..agreement import Agreement
from ..errors import StoreError
from ..jobs import Job, read_job, same_job
from ..spoken import to_say
from ..store import Store
from ..store.projects import get_project
from ..voter_quality import VoterQuality
from . import voters
from .evaluate_jobs import table_found, table_kept

KIND = "voter_figures"
VERSION = 1  # raised whenever the same parameters would give other figures, or another shape of them
LABEL = to_say("Measuring the voters")
CHANGED = "The votes or the project changed while the voters were measured. Ask again."


def params_of(area_id: int | None, stamp: int) -> dict[str, Any]:
    """What a job needs to measure the voters of a ranking of a project with this stamp."""
    return {"version": VERSION, "area_id": area_id, "stamp": stamp}


def known(store: Store, project_id: str, area_id: int | None, stamp: int) -> Job | None:
    """The newest job that was asked for just this, whatever became of it."""
    return same_job(store, project_id, KIND, params_of(area_id, stamp))


def carry_out(store: Store, project_id: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Measure, as a job does; the result as JSON. `StoreError` where the project isn't as it was, or is no longer."""
    _check_stamp(store, project_id, params)
    found = kept(voters.measured(store, project_id, params["area_id"]))
    _check_stamp(store, project_id, params)
    return json.loads(json.dumps(found, allow_nan=False))


def _check_stamp(store: Store, project_id: str, params: Mapping[str, Any]) -> None:
    if get_project(store, project_id).stamp != params["stamp"]:
        raise StoreError(CHANGED)


def kept(quality: VoterQuality) -> dict[str, Any]:
    """Figures as JSON; `found` is its inverse, as long as no bound of α is NaN (then it is None in JSON)."""
    alpha = None if quality.alpha is None else asdict(quality.alpha)
    if alpha is not None:
        alpha = {name: None if value != value else value for name, value in alpha.items()}
    return {
        "table": table_kept(quality.table),
        "reasons": dict(quality.reasons),
        "alpha": alpha,
        "no_alpha": quality.no_alpha,
    }


def found(told: Mapping[str, Any]) -> VoterQuality:
    """The figures of `kept`."""
    values: dict[str, Any] = {n: math.nan if v is None else v for n, v in (told["alpha"] or {}).items()}
    alpha = Agreement(**values) if values else None
    table = table_found(told["table"]).astype({"left_out": "bool"})
    return VoterQuality(table, dict(told["reasons"]), alpha, told["no_alpha"])


def load(store: Store, project_id: str, area_id: int | None, job_id: str) -> voters.VotersView:
    """The voters of a ranking by the figures of a job that is done."""
    return voters.load(store, project_id, area_id, quality=found(read_job(store, job_id).result or {}))
