"""A chart on a page, with its files: picture for papers (SVG, PNG) and the table behind it."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from core.charts.campaign_charts import Chart
from core.charts.files import COLUMN, to_png, to_svg
from core.tabular.csv_writing import table_for_spreadsheets


def show(chart: Chart, table: pd.DataFrame, *, name: str, alt: str) -> None:
    """Draw a chart and offer it as files called `name`; `table` holds its figures, `alt` says what it shows.

    The files are made when they are asked for, in light colours whatever the theme.
    """
    draw(chart, alt=alt)
    save(chart, table, name=name)


def draw(chart: Chart, *, alt: str) -> None:
    """A chart without its files, which `save` offers elsewhere on the page."""
    st.altair_chart(chart, alt=alt)


def save(chart: Chart, table: pd.DataFrame, *, name: str) -> None:
    """The files of a chart that is drawn by `draw`."""
    narrow = "As wide as one of a paper's two columns, 3⅓ inches, with smaller letters."
    files = (
        ("SVG", partial(to_svg, chart), "svg", "image/svg+xml", "For papers: sharp at any size. 6.5 inches wide."),
        ("PNG", partial(to_png, chart), "png", "image/png", "300 dots per inch. 6.5 inches wide."),
        ("SVG, one column", partial(to_svg, chart, width=COLUMN), "column.svg", "image/svg+xml", narrow),
        ("PNG, one column", partial(to_png, chart, width=COLUMN), "column.png", "image/png", narrow),
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
