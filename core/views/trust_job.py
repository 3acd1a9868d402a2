"""How far scores can be trusted, as a job, where there are many votes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..store import Store
from ..trust import Line
from . import trust
from .kept_figures import KeptFigures


def kept(lines: tuple[Line, ...]) -> dict[str, Any]:
    """Lines as JSON; `found` is its inverse."""
    return {"lines": [dict(vars(line)) for line in lines]}


def found(told: Mapping[str, Any]) -> tuple[Line, ...]:
    """The lines of `kept`."""
    return tuple(Line(**line) for line in told["lines"])


FIGURES = KeptFigures("trust_lines", 3, "Checking the scores", trust.measured, kept, found)


def load(store: Store, project_id: str, area_id: int | None, job_id: str) -> trust.TrustView:
    """The view by the lines that a job which is done has found."""
    return trust.load(store, project_id, area_id, lines=FIGURES.of_job(store, job_id))
