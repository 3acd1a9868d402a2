"""The assignments of a ballot to settle as a job, where the ballot is large: the table lies beside the result."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ..formats import parquet, table_of
from ..store import Store
from ..store.made_files import read_made
from ..store.settlement import read_assignments
from ..tables import ASSIGNMENTS
from .kept_figures import KeptFigures


def measured(store: Store, project_id: str, area_id: int | None, ballot_id: int) -> pd.DataFrame:
    """The assignments of a ballot (`tables.ASSIGNMENTS`); rankings have several ballots, so the area says nothing."""
    return read_assignments(store, ballot_id)


def kept(assignments: pd.DataFrame) -> dict[str, Any]:
    """What the result says beside the table."""
    return {"assignments": len(assignments)}


def found(told: Mapping[str, Any], path: Path) -> pd.DataFrame:
    """The table that a job kept; `StoreError` where it is gone."""
    return table_of(read_made(path), ASSIGNMENTS)


def file(assignments: pd.DataFrame) -> bytes:
    """The table as Parquet."""
    return parquet(assignments, ASSIGNMENTS)


FIGURES = KeptFigures("settlement", 1, "Reading the assignments", measured, kept, found, file)
