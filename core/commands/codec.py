"""Commands, their results and figures as JSON, and back: by their types.

Dataclasses are objects, tuples lists, and a table its columns and rows. NaN is null: it comes back as NaN where the
type says `float`, and as None where it says `float | None`. Large tables and bytes don't go through here (`figures`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, get_type_hints

import numpy as np
import pandas as pd
from cattrs import Converter

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
