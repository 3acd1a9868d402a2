"""What a command is: its values, how long it takes, what it does and says, and how all this becomes JSON and back.

Values go to JSON by their types: dataclasses are objects, tuples lists, and a table its columns and rows. NaN is null:
it comes back as NaN where the type says `float`, and as None where it says `float | None`. Large tables and bytes don't
go through here (`figures`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar, get_type_hints

import numpy as np
import pandas as pd
import sqlalchemy as sa
from cattrs import Converter

from ..base.parallel import Progress
from ..protocols import protocol_of
from ..store import Store
from ..store.ballots.ballot_rows import Ballot, ballots_of
from ..store.projects.plans import rankings_of

_converter = Converter(unstruct_collection_overrides={tuple: list, frozenset: sorted})


def to_json(value: Any, type_: Any = None) -> Any:
    """A value as JSON without NaN; by its declared type where that is given."""
    return _converter.unstructure(value, type_)


def from_json(value: Any, type_: Any) -> Any:
    """The value of a type that `to_json` made JSON of."""
    return _converter.structure(value, type_)


def result_type(method: Any) -> Any:
    """The type of what a method is said to return."""
    return get_type_hints(method)["return"]


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and math.isnan(value) else value


def _table_to_json(table: pd.DataFrame) -> dict[str, Any]:
    """The columns, the rows, and which columns are floats.

    >>> from_json(to_json(pd.DataFrame({"a": ["x"], "b": [float("nan")]})), pd.DataFrame)["b"].dtype
    dtype('float64')
    """
    rows = [[_plain(value) for value in row] for row in table.itertuples(index=False, name=None)]
    floats = [str(name) for name in table.columns if pd.api.types.is_float_dtype(table[name])]
    return {"columns": [str(name) for name in table.columns], "rows": rows, "floats": floats}


def _table_from_json(kept: Mapping[str, Any], _: Any) -> pd.DataFrame:
    table = pd.DataFrame(kept["rows"], columns=kept["columns"])
    return table.astype(dict.fromkeys(kept["floats"], "float64"))


_converter.register_unstructure_hook(float, _plain)
_converter.register_unstructure_hook(int, _plain)
_converter.register_unstructure_hook(bool, _plain)
_converter.register_unstructure_hook_func(lambda of: isinstance(of, type) and issubclass(of, np.generic), _plain)
_converter.register_structure_hook(float, lambda value, _: math.nan if value is None else float(value))
_converter.register_structure_hook(type(None), lambda *_: None)
_converter.register_unstructure_hook(pd.DataFrame, _table_to_json)
_converter.register_structure_hook(pd.DataFrame, _table_from_json)


R = TypeVar("R")
PER_SECOND = 50_000  # comparisons that are drawn, or whose votes are counted again, in a second


@dataclass(frozen=True)
class Command(ABC, Generic[R]):
    """A command with all it needs, as the project stood at a revision; its fields and result pass through `to_json`.

    project_id : None for one of the workspace, on projects as such, which may come or go. revision : what it is checked
    against; None where it is read against the store as it is. name : the log's action, where there is one. doing : says
    what goes on. in_parts : several transactions, of which some may be done where it is stopped.
    """

    name: ClassVar[str]
    doing: ClassVar[str]
    in_parts: ClassVar[bool] = False

    project_id: str | None
    revision: int | None

    @abstractmethod
    def seconds(self, conn: sa.Connection) -> float:
        """How long it takes, roughly, on one quiet core: at once or as a job is decided by this alone."""

    @abstractmethod
    def run(self, store: Store) -> R:
        """Carry it out; errors as of the store's command. The type of what it returns is declared."""

    def run_with(self, store: Store, progress: Progress | None) -> R:
        """Carry it out, and tell how far it is, where it can tell."""
        return self.run(store)

    @abstractmethod
    def summary(self, result: R) -> str:
        """What it did, in sentences."""

    def opens(self, result: R) -> str | None:
        """The project that whoever asked for it wants to see then."""
        return None

    def meanwhile(self, conn: sa.Connection) -> str:
        """What else is to be known while it goes on, in sentences."""
        return ""

    def afterwards(self, conn: sa.Connection) -> str:
        """What else is to be known where it was stopped or ended early, in sentences."""
        return ""


@dataclass(frozen=True)
class OfProject(Command[R]):
    """A command of a project, checked against its revision."""

    project_id: str
    revision: int | None


@dataclass(frozen=True)
class OfWorkspace(Command[R]):
    """A command of the workspace."""

    project_id: None = field(default=None, init=False)
    revision: None = field(default=None, init=False)


def all_ballots(conn: sa.Connection, project_id: str) -> list[list[Ballot]]:
    """The ballots of each ranking of a project."""
    return [ballots_of(conn, project_id, ranking.area_id) for ranking in rankings_of(conn, project_id)]


def n_comparisons(conn: sa.Connection, project_id: str) -> int:
    """The comparisons of all ballots of a project."""
    return sum(ballot.n_comparisons for ballots in all_ballots(conn, project_id) for ballot in ballots)


def scoring_seconds(conn: sa.Connection, project_id: str) -> float:
    """How long scoring all ballots of a project anew takes, by the comparisons they have."""
    return sum(
        protocol_of(ballots[-1].protocol).seconds(sum(ballot.n_comparisons for ballot in ballots))
        for ballots in all_ballots(conn, project_id)
        if ballots
    )
