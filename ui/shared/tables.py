"""How the columns of tables are shown: with their help, and figures with as many digits as they bear."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st


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
