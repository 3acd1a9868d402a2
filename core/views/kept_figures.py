"""Figures of a ranking's votes that a job makes and keeps where there are many: a reload, or another tab, finds them.

What is kept is JSON; a table or file too large for that lies beside it (`made_files`). It is of the project as it
stood: jobs are found by its revision, which every command raises, and one that ends on another revision than it began
with has failed. Votes that come in on the voting page raise no revision: where voting goes on, figures are of the votes
there were, and say so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

import pandas as pd

from ..agreement import Agreement
from ..figures import of_one_state
from ..jobs import Job, read_job
from ..store import Store
from ..store.made_files import keep_made, made_path
from ..store.projects import Project, get_project

Found = TypeVar("Found")


@dataclass(frozen=True)
class KeptFigures(Generic[Found]):
    """What a kind of job finds of the votes of a ranking.

    kind : of `jobs.KINDS`; version : raised whenever the same parameters would give other figures, or another shape of
    them; label : what a page says is going on; `measured(store, project_id, area_id, *extra)` reads the votes in
    one look at the store, `extra` is what else is asked for; `kept` makes JSON of what it finds, without NaN, `found`
    is its inverse. Where `file` makes bytes of what is found, they are kept beside it, and `found` is given their path
    too: what it gives may read them when they are wanted.
    """

    kind: str
    version: int
    label: str
    measured: Callable[..., Any]
    kept: Callable[[Any], dict[str, Any]]
    found: Callable[..., Found]
    file: Callable[[Any], bytes] | None = None

    def params_of(self, area_id: int | None, revision: int, *extra: int) -> dict[str, Any]:
        """What a job needs to measure a ranking of a project at this revision."""
        return {"version": self.version, "area_id": area_id, "revision": revision, "extra": list(extra)}

    def carry_out(
        self, store: Store, project_id: str, params: Mapping[str, Any], job_id: str | None = None
    ) -> dict[str, Any]:
        """Measure, as this job does; errors as of `of_one_state` and `keep_made`. Without a job no file is kept."""
        pulse = get_project(store, project_id).pulse

        def measured() -> dict[str, Any]:
            found = self.measured(store, project_id, params["area_id"], *params["extra"])
            if self.file is not None and job_id is not None:
                keep_made(store, job_id, self.file(found))
            return {"found": self.kept(found)}

        return {"pulse": pulse, **of_one_state(store, project_id, params["revision"], measured)}

    def of_job(self, store: Store, job_id: str) -> Found:
        """What a job that is done has found."""
        told = (read_job(store, job_id).result or {})["found"]
        return self.found(told) if self.file is None else self.found(told, made_path(store, job_id))

    def is_there(self, store: Store, job: Job) -> bool:
        """Whether what a job that is done has found is still there: files go after a day."""
        return self.file is None or made_path(store, job.id).is_file()

    @staticmethod
    def votes_since(project: Project, job: Job) -> int:
        """How many votes were given or taken back on the voting page since a job that is done began."""
        return project.pulse - int((job.result or {})["pulse"])


def table_kept(table: pd.DataFrame) -> dict[str, Any]:
    """A table as JSON, None for NaN; `table_found` is its inverse.

    >>> table_found(table_kept(pd.DataFrame({"a": ["x"], "b": [float("nan")]})))["b"].dtype
    dtype('float64')
    """
    rows = [[_plain(value) for value in row] for row in table.itertuples(index=False, name=None)]
    numeric = [str(name) for name in table.columns if pd.api.types.is_float_dtype(table[name])]
    return {"columns": [str(name) for name in table.columns], "rows": rows, "floats": numeric}


def table_found(kept: Mapping[str, Any]) -> pd.DataFrame:
    """The table of `table_kept`."""
    table = pd.DataFrame(kept["rows"], columns=kept["columns"])
    return table.astype(dict.fromkeys(kept["floats"], "float64"))


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and math.isnan(value) else value


def agreement_kept(found: Agreement | None) -> dict[str, Any] | None:
    """Krippendorff's α as JSON, None for a bound that is NaN; `agreement_found` is its inverse."""
    return None if found is None else {name: _plain(value) for name, value in asdict(found).items()}


def agreement_found(kept: Mapping[str, Any] | None) -> Agreement | None:
    """The agreement of `agreement_kept`."""
    if kept is None:
        return None
    values: dict[str, Any] = {name: math.nan if value is None else value for name, value in kept.items()}
    return Agreement(**values)
