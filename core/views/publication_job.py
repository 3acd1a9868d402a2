"""The dataset's zip as a job, where there are many votes: the file lies beside the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..publishing import Publication, publish
from ..store import Store
from ..store.made_files import read_made
from .kept_figures import KeptFigures

MANY = 20_000  # votes whose files are made in a second or two


@dataclass(frozen=True)
class MadePublication:
    """A published zip that a job made: where it lies, its size in bytes, what it is called, formats left out."""

    path: Path
    size: int
    filename: str
    left_out: dict[str, str]

    def read(self) -> bytes:
        """The zip; `StoreError` where it is gone."""
        return read_made(self.path)


def measured(store: Store, project_id: str, area_id: int | None) -> Publication:
    """The dataset of a project is of all its rankings, so there is no area to it."""
    return publish(store, project_id)


def kept(made: Publication) -> dict[str, Any]:
    """What the result says beside the zip."""
    return {"size": made.size, "filename": made.filename, "left_out": made.left_out}


def found(told: Mapping[str, Any], path: Path) -> MadePublication:
    """The zip that a job made."""
    return MadePublication(path, **told)


def file(made: Publication) -> bytes:
    """The zip."""
    return made.data


FIGURES = KeptFigures("publication", 1, "Making the dataset's files", measured, kept, found, file)
