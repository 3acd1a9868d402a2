"""The figures of the Evaluate page: the leaderboard with its chart, the same by area, and all figures in tables."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.base.durable import file_stem, slug
from core.base.numbers_in_words import many, with_decimals
from core.charts import evaluation
from core.commands.figures.evaluation import CEILING, HALVES, Scale
from core.commands.figures.evaluation_inputs import FIGURES
from core.evaluation import ModelComparison
from core.tabular.csv_writing import table_for_spreadsheets
from core.views.evaluate import leaderboard
from core.views.evaluate import leaderboard as evaluate_scale
from core.views.evaluate import token_intervals as evaluate_tokens
from core.views.evaluate.evaluate_page import EvaluateView, IntervalsView
from core.views.evaluate.leaderboard import breakable
from core.views.evaluate.token_intervals import TokenIntervalsView
from ui.evaluate import jobs
from ui.evaluate.jobs import Visit
from ui.evaluate.settings import MANY, Settings
from ui.shared import chart_files, frame

KINDS_OF = {evaluation.VOTES: "votes", evaluation.TOKENS: "tokens"}  # of intervals, by the chart's words
WITH_TOP = [label for _, label in FIGURES[:2]]
YARDSTICKS = {HALVES: "half of the voters", CEILING: "perfect model"}  # as a chart has room for
MOST_ROWS = 100  # of a table whose cells wrap: a longer one scrolls
NAMES = ("embedding", "better", "than", "area", "items", "model", "item", "hubs")  # columns of what people typed


def votes_intervals(visit: Visit, settings: Settings) -> IntervalsView | None:
    """Intervals over votes, by a job that begins by itself unless votes are many; None until they are there."""
    if settings.has_more and "votes" not in visit.shared.on_request:
        again = f"Resample {MANY:,} times"
        resampled: IntervalsView | None = jobs.figure("votes", again, visit.view, visit.project, MANY)
        if resampled is not None:
            return resampled
    about = "Resamples the voters: a minute for 400,000 votes."
    few: IntervalsView | None = visit.figure("votes", "Compute intervals over votes", help=about)
    return few


def token_intervals(visit: Visit) -> TokenIntervalsView | None:
    """Intervals over tokens, by a job that begins by itself unless items are many; None until they are there."""
    about = "A few seconds per embedding for a few thousand items."
    intervals: TokenIntervalsView | None = visit.figure("tokens", "Compute intervals over tokens", help=about)
    return intervals


def scale_of(visit: Visit) -> tuple[Scale, Scale]:
    """The floor and the top; empty until they are there."""
    nothing = Scale(pd.DataFrame(), pd.DataFrame())
    about = "Random rankings and spellings: half a minute for 100,000 items."
    floor = visit.figure("floor", "Compute the floor", help=about)
    about = "Halves of the voters, and a perfect model: a second for 20,000 votes."
    top = visit.figure("top", "Compute the top", help=about)
    return floor or nothing, top or nothing


def of_cells(table: pd.DataFrame, alt: str) -> None:
    """A table of words whose cells wrap, so that it is as wide as the page; a long one scrolls instead.

    Columns of `NAMES` hold what people typed; the others may hold Markdown.
    """
    if len(table) > MOST_ROWS:
        st.dataframe(table.replace(r"\*\*", "", regex=True), hide_index=True, alt=alt)
        return
    named = {name: [frame.plain(breakable(text)) for text in table[name]] for name in NAMES if name in table}
    st.table(table.assign(**named), border="horizontal", hide_index=True, alt=alt)


def show(
    visit: Visit,
    settings: Settings,
    intervals: IntervalsView | None,
    tokens: TokenIntervalsView | None,
    scale: tuple[Scale, Scale],
) -> None:
    """The chart of the chosen figure, the leaderboard, and what is to be known of either.

    What a job is about to bring has its place already, so that nothing moves when it comes.
    """
    view, label = visit.view, settings.figure
    with_votes = intervals.view if intervals else view
    with_shares, no_share = evaluate_scale.with_shares(with_votes, scale[1])
    chart, table = None, pd.DataFrame()
    if view.compared is not None:
        chart, table = _chart(visit, intervals, tokens, view.compared, scale, label)
        chart_files.draw(chart, alt="Figures of the embeddings")
        if len(view.evaluations) > evaluation.MOST_MODELS:
            st.caption(
                f"The chart shows the first {evaluation.MOST_MODELS} of {many(len(view.evaluations), 'embedding')}, "
                "the table all of them."
            )
    _leaderboard(visit, label, intervals, with_votes, with_shares, is_top_coming=visit.is_coming("top"))
    if chart is not None:
        is_drawn = {"votes": "bars", "tokens": "bars", "floor": "floor"} | ({"top": "top"} if label in WITH_TOP else {})
        coming = {sign for figure, sign in is_drawn.items() if visit.is_coming(figure)}
        plotted, named, floor, top = chart.args[:4]
        st.caption(evaluation.signs_said(plotted, named, floor, top, coming))
    for problem in (intervals.problem if intervals else "", tokens.problem if tokens else ""):
        if problem:
            st.caption(frame.plain(problem))
    _blanks(view, [label], by_area=False)
    for reason in no_share if label in WITH_TOP else ():
        st.caption(frame.plain(reason))
    with st.container(horizontal=True, vertical_alignment="center"):
        if chart is not None:
            stem = f"{file_stem(view.dataset.attrs)}-{slug(label)}"
            chart_files.save(chart, table, name=f"{stem}-by-model")
        st.download_button(
            "Download all figures (CSV)", lambda: table_for_spreadsheets(with_shares.table), "evaluation.csv",
            "text/csv", on_click="ignore", icon=":material/download:", type="tertiary",
        )  # fmt: skip


def _blanks(view: EvaluateView, labels: Collection[str], *, by_area: bool) -> None:
    """Why figures of the table above are blank."""
    for reason in view.blanks(labels, by_area=by_area):
        st.caption(f"Blank: {frame.plain(reason)}")


def _leaderboard(
    visit: Visit,
    label: str,
    intervals: IntervalsView | None,
    with_votes: EvaluateView,
    with_shares: EvaluateView,
    *,
    is_top_coming: bool,
) -> None:
    differences = evaluate_tokens.by_votes(intervals.differences, dict(_KEYS)[label]) if intervals else ()
    table = leaderboard.leaderboard(
        with_votes, label, differences, shares=with_shares, is_coming=visit.is_coming("votes") and label != "Pearson"
    )
    if is_top_coming and label in WITH_TOP and leaderboard.POSSIBLE not in table:
        table.insert(3, leaderboard.POSSIBLE, leaderboard.TO_COME_SHORT)
    of_cells(table, "Leaderboard")


_KEYS = [(label, key) for key, label in FIGURES]


def _chart(
    visit: Visit,
    intervals: IntervalsView | None,
    tokens: TokenIntervalsView | None,
    compared: ModelComparison,
    scale: tuple[Scale, Scale],
    figure: str,
) -> tuple[chart_files.DrawnChart, pd.DataFrame]:
    """The chart of a figure of all embeddings, and the table behind it."""
    by_votes = intervals.compared if intervals else None
    joined = evaluate_tokens.joined(by_votes, tokens.compared if tokens else None, compared)
    table = evaluate_tokens.figures_table(joined)
    floor, top = scale
    coming = [kind for kind, name in KINDS_OF.items() if visit.is_coming(name)]
    yardsticks = top.top.replace({"model": YARDSTICKS}) if len(top.top) else top.top
    rows = table[table["figure"] == figure]
    named = visit.view.named(figure)
    band = floor.band(figure)
    return partial(evaluation.figures_by_model, rows, figure, band, yardsticks, coming, title=named), table


def by_area(
    visit: Visit, settings: Settings, intervals: IntervalsView | None, tokens: TokenIntervalsView | None
) -> None:
    """The chosen figure in every area."""
    coming = [unit for unit in ("votes", "tokens") if visit.is_coming(unit)]
    compared = (each.compared if each else None for each in (intervals, tokens))
    table = leaderboard.by_area(visit.view, settings.figure, *compared, coming=coming)
    of_cells(table, "Embeddings by area")
    of_bounds = " Intervals: 90%." if any(leaderboard.WITH_INTERVAL in name for name in table.columns) else ""
    st.caption(
        "Each embedding over its own items of the area, so figures of unlike coverage don't compare directly."
        + of_bounds
    )
    _blanks(visit.view, [settings.figure], by_area=True)


def everything(visit: Visit, scale: tuple[Scale, Scale]) -> None:
    """All figures as they were measured, the floor and the top."""
    view = visit.view
    if len(view.common):  # what compares stands first
        st.markdown(f"##### Over the {many(int(view.common['items'].iloc[0]), 'item')} that all cover")
        _table(view, view.common.drop(columns=["area", "covered", "coverage"]), "Over their common items")
        st.markdown("##### Each over its own items")
        st.caption("The embeddings cover different items, so these figures don't compare directly.")
    _table(view, view.overall.drop(columns="area"), "Embeddings over all areas")
    if len(view.without_proposed):
        st.markdown("##### Without the tokens that an embedding proposed")
        st.caption("The items that hold such a token are left out for all embeddings, so these figures are fairer.")
        _table(view, view.without_proposed.drop(columns="area"), "Embeddings without proposed tokens")
    st.caption("As measured. The file “Download all figures” has the intervals and the areas too.")
    _blanks(view, list(dict(_KEYS)), by_area=False)
    _floor_and_top(view, *scale, is_coming=visit.is_coming("floor") or visit.is_coming("top"))


def _floor_and_top(view: EvaluateView, floor: Scale, top: Scale, *, is_coming: bool) -> None:
    """What the lowest and the highest of the chart mean, in a table of their own."""
    if not len(floor.floor) and not len(top.top) and not is_coming:
        return
    st.markdown("##### Floor and top: random rankings, spellings, the votes themselves")
    parts = [part.reindex(columns=["model", *dict(_KEYS)]) for part in (top.top, floor.floor) if len(part)]
    if parts:
        rows = pd.concat(parts).dropna(axis="columns", how="all")
        _table(view, rows, "Floor and top")
    if is_coming:
        st.caption("They are being computed.")
    st.caption(
        "An embedding that isn't above the spellings has shown no knowledge of meaning. None can be expected "
        "above the perfect model, which falls short of 1 by the noise of the votes alone."
    )
    for problem in (*floor.problems, *top.problems):
        st.caption(frame.plain(problem))


def _table(view: EvaluateView, table: pd.DataFrame, alt: str) -> None:
    """Numbers, the best by ρ_w first; the yardsticks stay in their order. What is covered stands where it differs."""
    rows = table.dropna(axis="columns", how="all") if len(table) else table
    if "model" not in rows and "ρ_w" in rows:
        rows = rows.sort_values("ρ_w", ascending=False, kind="stable")
    cells: dict[str, Any] = {name: rows[name] for name in ("embedding", "model") if name in rows}
    cells |= {view.named(name): rows[name].map(with_decimals) for name in dict(_KEYS) if name in rows}
    if "covered" in rows and (rows["covered"] < rows["items"]).any():
        counts = zip(rows["covered"], rows["items"], strict=True)
        cells["covered"] = [f"{covered:,} of {items:,}" for covered, items in counts]
    of_cells(pd.DataFrame(cells), alt)
