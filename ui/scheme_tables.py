"""Tables and downloads that the tabs of the other schemes share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core.errors import Issue
from core.spoken import say, say_many, speaking, to_say
from core.views.rating_sets import as_csv
from ui import frame

# Columns of these tables: files have these names, pages show what the catalogue has for them.
COLUMNS = (
    *(to_say("item"), to_say("count"), to_say("θ, lower"), to_say("θ, upper"), to_say("count, lower")),
    *(to_say("count, upper"), to_say("shown"), to_say("best"), to_say("worst"), to_say("first"), to_say("second")),
    *(to_say("mean"), to_say("SD"), to_say("apart"), to_say("items"), to_say("90 % interval"), to_say("level")),
    *(to_say("noise, first"), to_say("noise, second"), to_say("p (noise)"), to_say("difference"), to_say("effect")),
    *(to_say("place"), to_say("model"), to_say("genre"), to_say("covered"), to_say("person"), to_say("near enough")),
    *(to_say("gold pairs"), to_say("not rated"), to_say("passed"), to_say("lower quartile"), to_say("median")),
    *(to_say("upper quartile"), to_say("why undefined"), to_say("rank"), to_say("score"), to_say("lower")),
    *(to_say("upper"), to_say("answers"), to_say("token_a"), to_say("token_b"), to_say("area"), to_say("agreement")),
    *(to_say("scheme"), to_say("judgements"), to_say("hours"), to_say("panels"), to_say("gap"), to_say("rank, first")),
    *(to_say("rank, second"), to_say("score, first"), to_say("score, second"), to_say("figure"), to_say("value")),
    *(to_say("what counts"), to_say("only in"), to_say("targets"), to_say("target"), to_say("preferred")),
    *(to_say("other"), to_say("kind"), to_say("cos, preferred"), to_say("cos, other"), to_say("voter")),
    *(to_say("ρ with others"), to_say("others"), to_say("proposed"), to_say("positives"), to_say("distractors")),
    *(to_say("randoms"), to_say("missing"), to_say("people"), to_say("row"), to_say("column"), to_say("what")),
    *(to_say("found"), to_say("line"), to_say("file"), to_say("rows"), to_say("new answers"), to_say("taken (UTC)")),
    *(to_say("state"), to_say("p (t)"), to_say("p (Mann–Whitney)")),
)


def named(columns: Iterable[str], about: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The configuration that shows columns by their names in the language of whoever looks, with their help."""
    return {name: st.column_config.Column(say(name), help=_help(about, name)) for name in columns}


def figures(table: pd.DataFrame, about: Mapping[str, str] | None = None) -> dict[str, Any]:
    """As `named`, with ranks to one digit and other numbers to three."""
    return named(table.columns, about) | {
        name: st.column_config.NumberColumn(
            say(name), help=_help(about, name), format="%.1f" if name.startswith(("rank", "gap")) else "%.3f"
        )
        for name in table.columns
        if pd.api.types.is_float_dtype(table[name])
    }


def _help(about: Mapping[str, str] | None, name: str) -> str | None:
    return say(about[name]) if about and name in about else None


def show_table(table: pd.DataFrame, about: Mapping[str, str], alt: str, *, height: int | None = None) -> None:
    """A table with help for its columns, ranks to one digit, other numbers to three; reasons where there are any."""
    shown = table.drop(columns="why undefined") if _no_reason(table) else table
    high = height or min(400, 38 + 35 * max(len(shown), 1))
    st.dataframe(shown, hide_index=True, column_config=figures(shown, about), placeholder="–", height=high, alt=alt)


def _no_reason(table: pd.DataFrame) -> bool:
    return "why undefined" in table and not table["why undefined"].astype(bool).any()


def download(label: str, make: Callable[[], pd.DataFrame], name: str) -> None:
    """A button that saves a table as a CSV a spreadsheet can open safely, made in English whoever looks."""

    def file() -> bytes:
        with speaking("en"):
            return as_csv(make())

    st.download_button(
        label, file, name, "text/csv", icon=":material/download:", on_click="ignore", key=f"download-{name}"
    )


def show_issues(issues: Iterable[Issue], notes: Iterable[str] = ()) -> None:
    """What a reader of files left out, row by row, and what else it has to say."""
    for note in notes:
        st.caption(frame.plain(say(note)))
    rows = [{"row": i.row, "column": i.column, "what": i.message, "found": i.found} for i in issues]
    if rows:
        with st.expander(say_many(len(rows), "{n} row or cell to look at", "{n} rows or cells to look at")):
            st.dataframe(
                rows,
                hide_index=True,
                column_config=named(rows[0]),
                alt=say("Rows and cells that weren't taken as they are"),
            )
