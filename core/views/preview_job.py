"""What leaving voters out would change as a job, where there are many votes to score anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..store import Store
from ..store.without_voters import Counted
from . import voter_preview
from .kept_figures import KeptFigures, table_found, table_kept
from .voter_preview import Preview


def measured(store: Store, project_id: str, area_id: int | None, *voter_ids: int) -> Preview:
    """The preview of leaving out these voters."""
    return voter_preview.load(store, project_id, area_id, voter_ids)


def kept(preview: Preview) -> dict[str, Any]:
    """A preview as JSON; `found` is its inverse."""
    values = {name: getattr(preview, name) for name in ("voters", "n_top", "changes", "problem")}
    counts = {"before": asdict(preview.before), "after": asdict(preview.after)}
    return {
        **values,
        **counts,
        "models": table_kept(preview.models),
        "otherwise": [list(row) for row in preview.otherwise],
    }


def found(told: Mapping[str, Any]) -> Preview:
    """The preview of `kept`."""
    made = {
        "before": Counted(**told["before"]),
        "after": Counted(**told["after"]),
        "models": table_found(told["models"]),
        "otherwise": tuple((number, n) for number, n in told["otherwise"]),
    }
    return Preview(**{**told, **made})


FIGURES = KeptFigures("voter_preview", 2, "Scoring without them", measured, kept, found)


def load(store: Store, project_id: str, area_id: int | None, job_id: str) -> Preview:
    """The preview that a job which is done has found."""
    return FIGURES.of_job(store, job_id)
