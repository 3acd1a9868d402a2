"""Shares in tables as whole per cents: of 3 answers in 7, “43 %” says all there is to say."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st


def in_percent(table: pd.DataFrame, *names: str) -> pd.DataFrame:
    """The table with these columns of shares, 0 to 1, times a hundred; missing ones stay missing."""
    return table.assign(**{name: 100 * pd.to_numeric(table[name]) for name in names if name in table})


def share_column(label: str | None = None, *, digits: int = 0, help: str | None = None) -> Any:
    """How a column of `in_percent` is shown."""
    return st.column_config.NumberColumn(label, format=f"%.{digits}f %%", help=help)
