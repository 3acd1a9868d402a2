"""The file of a large project as a job: it lies beside the result."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..store import Store
from ..store.archive import export_project
from .kept_figures import KeptFigures


def measured(store: Store, project_id: str, area_id: int | None) -> bytes:
    """The project file."""
    return export_project(store, project_id)


def kept(data: bytes) -> dict[str, Any]:
    """What the result says beside the file: its size."""
    return {"size": len(data)}


def found(told: Mapping[str, Any], path: Path) -> Path:
    """Where the file lies that a job made."""
    return path


FIGURES = KeptFigures("project_file", 1, "Writing the project file", measured, kept, found, bytes)
