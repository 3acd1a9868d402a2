"""A chart on a page, with its files: picture for papers (SVG, PNG) and the table behind it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.charts.campaign_charts import Chart
from core.charts.files import COLUMN, to_png, to_svg
from core.tabular.csv_writing import table_for_spreadsheets

_KEEP = 64  # charts that stay drawn, for all visitors
DrawnChart = partial[Chart]  # the function that draws a chart, with its values


def show(chart: DrawnChart, table: pd.DataFrame, *, name: str, alt: str) -> None:
    """Draw a chart and offer it as files called `name`; `table` holds its figures, `alt` says what it shows.

    It is drawn when it is new: a chart of the same values stays as it was drawn before, as drawing one takes longer
    than all else of a run. The files are made when they are asked for, in light colours whatever the theme.
    """
    draw(chart, alt=alt)
    save(chart, table, name=name)


def draw(chart: DrawnChart, *, alt: str) -> None:
    """A chart without its files, which `save` offers elsewhere on the page."""
    name = f"{chart.func.__module__}.{chart.func.__qualname__}"
    _draw(name, chart.args, chart.keywords, alt, chart)


@st.cache_data(show_spinner=False, max_entries=_KEEP)
def _draw(name: str, args: tuple[Any, ...], keywords: dict[str, Any], alt: str, _chart: DrawnChart) -> None:
    """Streamlit keeps what a cached function puts onto the page, and puts it there again."""
    st.altair_chart(_chart(), alt=alt)


def save(chart: DrawnChart, table: pd.DataFrame, *, name: str) -> None:
    """The files of a chart that is drawn by `draw`."""
    narrow = "As wide as one of a paper's two columns, 3⅓ inches, with smaller letters."
    files = (
        ("SVG", _file(to_svg, chart), "svg", "image/svg+xml", "For papers: sharp at any size. 6.5 inches wide."),
        ("PNG", _file(to_png, chart), "png", "image/png", "300 dots per inch. 6.5 inches wide."),
        ("SVG, one column", _file(to_svg, chart, width=COLUMN), "column.svg", "image/svg+xml", narrow),
        ("PNG, one column", _file(to_png, chart, width=COLUMN), "column.png", "image/png", narrow),
        ("CSV", partial(table_for_spreadsheets, table), "csv", "text/csv", "The figures behind the chart."),
    )
    with (
        st.popover("Save this chart", icon=":material/download:", type="tertiary", key=f"save-{name}"),
        st.container(horizontal=True),
    ):
        for label, make, ending, mime, about in files:
            st.download_button(
                label, make, f"{name}.{ending}", mime, key=f"{name}-{ending}", on_click="ignore", help=about
            )


def _file(make: Callable[..., bytes], chart: DrawnChart, **how: int) -> Callable[[], bytes]:
    """A function that makes a file of a chart."""
    return lambda: make(chart(), **how)
