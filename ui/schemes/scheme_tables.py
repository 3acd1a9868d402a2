"""Tables and downloads that the tabs of the other schemes share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import pandas as pd
import streamlit as st

from core.base.numbers_in_words import plural
from core.errors import Issue
from core.questions.best_worst.files import Named, NamedError
from core.views.schemes.rating_sets import as_csv
from ui.shared import choosers, frame
from ui.shared.tables import figures

R = TypeVar("R")


def show_table(table: pd.DataFrame, about: Mapping[str, str], alt: str, *, height: int | None = None) -> None:
    """A table with help for its columns, ranks to one digit, other numbers to three; reasons where there are any."""
    shown = table.drop(columns="why undefined") if _no_reason(table) else table
    high = height or min(400, 38 + 35 * max(len(shown), 1))
    st.dataframe(shown, hide_index=True, column_config=figures(shown, about), placeholder="–", height=high, alt=alt)


def _no_reason(table: pd.DataFrame) -> bool:
    return "why undefined" in table and not table["why undefined"].astype(bool).any()


def download(label: str, make: Callable[[], pd.DataFrame], name: str) -> None:
    """A button that saves a table as a CSV that a spreadsheet can open safely."""

    def file() -> bytes:
        return as_csv(make())

    st.download_button(
        label, file, name, "text/csv", icon=":material/download:", on_click="ignore", key=f"download-{name}"
    )


def show_issues(issues: Iterable[Issue], notes: Iterable[str] = ()) -> None:
    """What a reader of files left out, row by row, and what else it has to say."""
    for note in notes:
        st.caption(frame.plain(note))
    rows = [{"row": i.row, "column": i.column, "what": i.message, "found": i.found} for i in issues]
    if rows:
        with st.expander(plural(len(rows), "{n} row or cell to look at", "{n} rows or cells to look at")):
            st.dataframe(rows, hide_index=True, alt="Rows and cells that weren't taken as they are")


def read_asking(read: Callable[[bytes, str, Named | None], R], data: bytes, name: str, key: str) -> R | None:
    """What `read` makes of a file; None while a person is asked what its best and worst name."""
    try:
        return read(data, name, None)
    except NamedError as error:
        named = _ask_named(error, key)
        return None if named is None else read(data, name, named)


def _ask_named(error: NamedError, key: str) -> Named | None:
    """What best and worst of a file name, asked with the reader's question; None until a person has said."""
    st.warning(frame.plain(str(error)))
    words: dict[Named, str] = {"items": "items", "places": "places, 1 the first"}
    return choosers.radio("Best and worst are", words, None, key=f"named-{key}", horizontal=True)
