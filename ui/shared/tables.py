"""Tables as pages show them: columns with their help, figures with as many digits as they bear, and a download.

What readers of files left out or ask is shown so too. Shares stand as whole per cents: of 3 answers in 7, “43%” says
all there is to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import streamlit as st

from core.base import numbers_in_words
from core.base.numbers_in_words import plural
from core.errors import Issue
from core.questions.best_worst.files import Named, NamedError
from core.questions.order.groups import GroupComparison
from core.questions.order.kind import write_groups
from core.views.kinds.rating_sets import as_csv
from ui.shared import choosers, frame

R = TypeVar("R")


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


def show_table(table: pd.DataFrame, about: Mapping[str, str], alt: str, *, height: int | None = None) -> None:
    """A table with help for its columns, ranks to one digit, other numbers to three; reasons where there are any."""
    visible = table.drop(columns="why undefined") if _no_reason(table) else table
    high = height or min(400, 38 + 35 * max(len(visible), 1))
    st.dataframe(visible, hide_index=True, column_config=figures(visible, about), placeholder="–", height=high, alt=alt)


def _no_reason(table: pd.DataFrame) -> bool:
    return "why undefined" in table and not table["why undefined"].astype(bool).any()


def download(label: str, make: Callable[[], pd.DataFrame], name: str) -> None:
    """A button that saves a table as a CSV that a spreadsheet can open safely."""

    def file() -> bytes:
        return as_csv(make())

    st.download_button(
        label, file, name, "text/csv", icon=":material/download:", on_click="ignore", key=f"download-{name}"
    )


def download_groups(groups: Iterable[GroupComparison], name: str, about: str) -> None:
    """A button that saves groups in the authors' format; `about` is a sentence about them."""
    st.download_button(
        "Download the groups (text)", write_groups(groups).encode("utf-8"), f"{name}.txt", "text/plain",
        icon=":material/download:", on_click="ignore", key=f"download-{name}",
        help=f"{about} *Files of groups and orders* on the Scores page and the command `groups` take this file.",
    )  # fmt: skip


def show_issues(issues: Iterable[Issue], notes: Iterable[str] = ()) -> None:
    """The rows that a reader of files left out, with their reasons, and its notes on the file."""
    for note in notes:
        st.caption(frame.plain(note))
    rows = [{"row": i.row, "column": i.column, "what": i.message, "found": i.found} for i in issues]
    if rows:
        with st.expander(plural(len(rows), "{n} row or cell to look at", "{n} rows or cells to look at")):
            st.dataframe(rows, hide_index=True, alt="Rows and cells that weren't taken as they are")


def read_asking(read: Callable[[bytes, str, Named | None], R], data: bytes, name: str, key: str) -> R | None:
    """The file as `read` reads it; None while a person is asked what its columns best and worst hold."""
    try:
        return read(data, name, None)
    except NamedError as error:
        named = _ask_named(error, key)
        return None if named is None else read(data, name, named)


def _ask_named(error: NamedError, key: str) -> Named | None:
    """What the columns best and worst hold, as a person chooses; None until they have chosen."""
    st.warning(frame.plain(str(error)))
    words: dict[Named, str] = {"items": "items", "places": "places, 1 the first"}
    return choosers.radio("Best and worst are", words, None, key=f"named-{key}", horizontal=True)


def in_percent(table: pd.DataFrame, *names: str, digits: int = 0) -> pd.DataFrame:
    """The table with these columns of shares, 0 to 1, in per cent for so many digits; missing values stay missing."""
    shares = {
        name: pd.to_numeric(table[name]).to_numpy(dtype="float64", na_value=np.nan) for name in names if name in table
    }
    return table.assign(**{name: numbers_in_words.in_percent(share, digits) for name, share in shares.items()})


def share_column(label: str | None = None, *, digits: int = 0, help: str | None = None) -> Any:
    """How a column of `in_percent` is shown."""
    return st.column_config.NumberColumn(label, format=f"%.{digits}f%%", help=help)
