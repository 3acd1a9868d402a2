"""Shares in tables as whole per cents: of 3 answers in 7, “43 %” says all there is to say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core.base import numbers_in_words


def in_percent(table: pd.DataFrame, *names: str, digits: int = 0) -> pd.DataFrame:
    """The table with these columns of shares, 0 to 1, in per cent for so many digits; missing values stay missing."""
    shares = {
        name: pd.to_numeric(table[name]).to_numpy(dtype="float64", na_value=np.nan) for name in names if name in table
    }
    return table.assign(**{name: numbers_in_words.in_percent(share, digits) for name, share in shares.items()})


def share_column(label: str | None = None, *, digits: int = 0, help: str | None = None) -> Any:
    """How a column of `in_percent` is shown."""
    return st.column_config.NumberColumn(label, format=f"%.{digits}f %%", help=help)
