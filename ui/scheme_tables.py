"""Tables and downloads that the tabs of the other schemes share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

import pandas as pd
import streamlit as st

from core.errors import Issue
from core.views.rating_sets import as_csv
from ui import frame


def show_table(table: pd.DataFrame, about: Mapping[str, str], alt: str, *, height: int | None = None) -> None:
    """A table with help for its columns, ranks to one digit, other numbers to three; reasons where there are any."""
    shown = table.drop(columns="why undefined") if _no_reason(table) else table
    config = {
        name: st.column_config.NumberColumn(
            help=about.get(name), format="%.1f" if name.startswith(("rank", "gap")) else "%.3f"
        )
        if pd.api.types.is_float_dtype(shown[name])
        else st.column_config.Column(help=about.get(name))
        for name in shown.columns
    }
    high = height or min(400, 38 + 35 * max(len(shown), 1))
    st.dataframe(shown, hide_index=True, column_config=config, placeholder="–", height=high, alt=alt)


def _no_reason(table: pd.DataFrame) -> bool:
    return "why undefined" in table and not table["why undefined"].astype(bool).any()


def download(label: str, table: pd.DataFrame, name: str) -> None:
    """A button that saves a table as a CSV a spreadsheet can open safely."""
    st.download_button(
        label, partial(as_csv, table), name, "text/csv", icon=":material/download:", on_click="ignore",
        key=f"download-{name}",
    )  # fmt: skip


def show_issues(issues: Iterable[Issue], notes: Iterable[str] = ()) -> None:
    """What a reader of files left out, row by row, and what else it has to say."""
    for note in notes:
        st.caption(frame.plain(note))
    rows = [{"row": i.row, "column": i.column, "what": i.message, "found": i.found} for i in issues]
    if rows:
        label = "1 row or cell to look at" if len(rows) == 1 else f"{len(rows):,} rows or cells to look at"
        with st.expander(label):
            st.dataframe(rows, hide_index=True, alt="Rows and cells that weren't taken as they are")
