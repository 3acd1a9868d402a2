"""How the columns of tables are shown: with their help, and figures with as many digits as they bear.

Shares in tables as whole per cents: of 3 answers in 7, “43 %” says all there is to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core.base import numbers_in_words


def named(about: Mapping[str, str]) -> dict[str, Any]:
    """The configuration of columns that have a help, by their names."""
    return {name: st.column_config.Column(help=text) for name, text in about.items()}


def figures(table: pd.DataFrame, about: Mapping[str, str]) -> dict[str, Any]:
    """As `named`, with ranks to one digit and other numbers to three."""
    return named(about) | {
        name: st.column_config.NumberColumn(
            help=about.get(name), format="%.1f" if name.startswith(("rank", "gap")) else "%.3f"
        )
        for name in table.columns
        if pd.api.types.is_float_dtype(table[name])
    }


def in_percent(table: pd.DataFrame, *names: str, digits: int = 0) -> pd.DataFrame:
    """The table with these columns of shares, 0 to 1, in per cent for so many digits; missing values stay missing."""
    shares = {
        name: pd.to_numeric(table[name]).to_numpy(dtype="float64", na_value=np.nan) for name in names if name in table
    }
    return table.assign(**{name: numbers_in_words.in_percent(share, digits) for name, share in shares.items()})


def share_column(label: str | None = None, *, digits: int = 0, help: str | None = None) -> Any:
    """How a column of `in_percent` is shown."""
    return st.column_config.NumberColumn(label, format=f"%.{digits}f %%", help=help)
