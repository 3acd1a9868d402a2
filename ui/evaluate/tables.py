"""The figures of the Evaluate page: a chart and a table with both intervals, floor and top, and tables of parts."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.base.durable import file_stem, slug
from core.base.plurals import many
from core.charts import evaluation
from core.commands.figures.evaluated import FIGURES
from core.commands.figures.evaluation import Scale
from core.evaluation import Comparison
from core.evaluation.intervals import number_of_resamples
from core.tabular.csv_writing import table_for_spreadsheets
from core.views.evaluate import scale as evaluate_scale
from core.views.evaluate import tokens as evaluate_tokens
from core.views.evaluate.evaluate import BOUNDS, IntervalsView
from core.views.evaluate.scale import SHARE
from core.views.evaluate.tokens import TokensView
from ui.evaluate import jobs
from ui.evaluate.jobs import Visit
from ui.shared import chart_files, choosers, frame

MANY = 1000  # resamples on request
KINDS_OF = {evaluation.VOTES: "votes", evaluation.TOKENS: "tokens"}  # of intervals, by the chart's words
WITH_TOP = [label for _, label in FIGURES[:2]]
HELP = {
    "ρ_w": "Spearman's ρ with more weight on top ranks (Eq. 8). 1 is full agreement.",
    "τ_w": "Kendall's τ with more weight on top ranks (Eq. 8). It counts pairs of items in the right order.",
    "ρ": "Spearman's rank correlation: all ranks weigh the same.",
    "τ": "Kendall's rank correlation (tau-b): all ranks weigh the same.",
    "Pearson": "The correlation of the scores themselves, which depends on their scales.",
    "top k": "Precision: the share of people's k highest items that are among the embedding's k highest.",
}
SHARE_HELP = (
    "Where {name} stands from chance (0: the mean of random rankings of so many items with these ties) to the best "
    "that these votes allow (1: a model with the true ranking), ({name} − chance)/(ceiling − chance). It isn't cut: "
    "below 0 is worse than chance. The figure is as measured, and the ceiling that of all items."
)
WHAT_INTERVALS_ARE = (
    "*Other voters*: 90 % intervals of the figure that votes without noise would give; voters resampled {n:,} times, "
    "items fixed. Noise takes away from a figure: the interval is about “corrected”, the figure without it, and may "
    "begin above the one that was measured. Those of ρ and τ are wide, as ballots ask least "
    "about the bottom of the ranking. In simulations of up to 300 items 89 to 92 % of them held, by "
    "figure. τ_w of an area has none in larger rankings, top k has one for k = 20 only, and Pearson none, as votes "
    "don't tell the scale it hangs on."
)
WHAT_TOKENS_ARE = (
    "*Other words*: 90 % intervals of what {n:,} other tokens of these kinds would give, scores taken as they are, "
    "about the figure without the bias that resampling shows. In simulations 90 to 92 % of them held, by figure, in "
    "single cases 82 to 98 %; fewer than 15 tokens have none."
)


def votes_intervals(visit: Visit) -> IntervalsView | None:
    """Intervals over votes, by a job that begins by itself unless votes are many; None until they are there."""
    if _is_short(visit) and st.session_state.get(f"more-{visit.project.id}", False):
        again = f"Resample {MANY:,} times"
        found: IntervalsView | None = jobs.figure("votes", again, visit.view, visit.project, MANY)
        if found is not None:
            return found
    about = "Resamples the voters: a minute for 400,000 votes."
    few: IntervalsView | None = visit.figure("votes", "Compute intervals over votes", help=about)
    return few


def _is_short(visit: Visit) -> bool:
    """Whether intervals over votes come without being asked for, so that more resamples aren't too many."""
    return "votes" not in visit.shared.on_request


def token_intervals(visit: Visit) -> TokensView | None:
    """Intervals over tokens, by a job that begins by itself unless items are many; None until they are there."""
    about = "Some seconds an embedding for a few thousand items."
    found: TokensView | None = visit.figure("tokens", "Compute intervals over tokens", help=about)
    return found


def show(visit: Visit, found: IntervalsView | None, tokens: TokensView | None) -> None:
    """All figures, each with its intervals where there are any.

    What a job is about to bring has its place already, so that nothing moves when it comes.
    """
    view = visit.view
    with_votes = found.view if found else view
    scale = scale_of(visit)
    with_votes, no_share = evaluate_scale.with_shares(with_votes, scale[1])
    if view.compared is not None:
        _chart(visit, found, tokens, view.compared, scale)
    if len(with_votes.common):  # what compares stands first
        st.subheader("Over the items that all cover")
        _table(with_votes.common.drop(columns=["area", "covered", "coverage"]), "Over their common items")
        st.subheader("Each over its own items")
        st.caption("The embeddings cover different items, so these figures don't compare directly.")
    _table(with_votes.overall.drop(columns="area"), "Embeddings over all areas")
    _intervals_said(visit, found, tokens)
    _floor_and_top(*scale, is_coming=visit.is_coming("floor") or visit.is_coming("top"))
    if len(view.without_proposed):
        st.subheader("Without the tokens that an embedding proposed")
        st.caption("The items that hold such a token are left out for all embeddings, so these figures are fairer.")
        _table(view.without_proposed.drop(columns="area"), "Embeddings without proposed tokens")
    st.subheader("By area")
    _table(
        evaluate_tokens.by_area(view, found.compared if found else None, tokens.compared if tokens else None),
        "Embeddings by area",
    )
    for reason in (*view.undefined, *no_share):
        st.caption(f"Blank: {frame.plain(reason)}")
    st.download_button(
        "Download this table (CSV)", table_for_spreadsheets(with_votes.table), "evaluation.csv", "text/csv",
        on_click="ignore", icon=":material/download:",
    )  # fmt: skip


def scale_of(visit: Visit) -> tuple[Scale, Scale]:
    """The floor and the top; empty until they are there."""
    nothing = Scale(pd.DataFrame(), pd.DataFrame())
    about = "Random rankings and spellings: half a minute for 100,000 items."
    floor = visit.figure("floor", "Compute the floor", help=about)
    about = "Halves of the voters, and a perfect model: a second for 20,000 votes."
    top = visit.figure("top", "Compute the top", help=about)
    return floor or nothing, top or nothing


def _chart(
    visit: Visit,
    found: IntervalsView | None,
    tokens: TokensView | None,
    compared: Comparison,
    scale: tuple[Scale, Scale],
) -> None:
    view, project = visit.view, visit.project
    figure = choosers.segmented_control(
        "Figure", {label: label for _, label in FIGURES}, "ρ_w", key=f"figure-{project.id}",
        help="\n\n".join(f"**{name}**: {text}" for name, text in HELP.items()),
    )  # fmt: skip
    by_votes = found.compared if found else None
    table = evaluate_tokens.figures_table(
        evaluate_tokens.joined(by_votes, tokens.compared if tokens else None, compared)
    )
    shown = table[table["figure"] == figure]
    floor, top = scale
    stem = f"{file_stem(view.dataset.attrs)}-{slug(figure)}"
    coming = [kind for kind, name in KINDS_OF.items() if visit.is_coming(name)]
    chart = evaluation.figures_by_model(shown, figure, floor.band(figure), top.top, coming)
    chart_files.show(chart, table, name=f"{stem}-by-model", alt="Figures of the embeddings")
    said = ""
    if coming or shown[["corrected", "token corrected"]].notna().any(axis=None):
        said = (
            "Grey dots: as measured. On each interval: the figure that it is about, without the bias that resampling "
            "shows. "
        )
    said += "Shaded: nine of ten random rankings. " if floor.band(figure) or visit.is_coming("floor") else ""
    has_top = figure in top.top if len(top.top) else visit.is_coming("top") and figure in WITH_TOP
    if has_top:
        said += "Dashed: what votes like these would give a perfect model, and half of the voters against the other. "
    st.caption(said)


def _floor_and_top(floor: Scale, top: Scale, *, is_coming: bool) -> None:
    """What the lowest and the highest of the chart mean, in a table of their own."""
    if not len(floor.floor) and not len(top.top) and not is_coming:
        return
    with st.expander("Floor and top: random rankings, spellings, the votes themselves"):
        labels = [label for _, label in FIGURES]
        parts = [part.reindex(columns=["model", *labels]) for part in (top.top, floor.floor) if len(part)]
        if parts:
            rows = pd.concat(parts).dropna(axis="columns", how="all")
            st.dataframe(rows, hide_index=True, column_config=_config(), alt="Floor and top")
        if is_coming:
            st.caption("They are being computed.")
        st.caption(
            "An embedding that isn't above the spellings has shown no knowledge of meaning. None can be expected "
            "above the perfect model, which falls short of 1 by the noise of the votes alone."
        )
        for problem in (*floor.problems, *top.problems):
            st.caption(frame.plain(problem))


def _table(table: pd.DataFrame, alt: str) -> None:
    """The best by ρ_w first, but in a table of areas."""
    shown = table.dropna(axis="columns", how="all") if len(table) else table
    if "area" not in shown and "ρ_w" in shown:
        shown = shown.sort_values("ρ_w", ascending=False, kind="stable")
    counts = [name for name in ("items", "covered") if name in shown]  # last: a phone shows the first columns only
    first = [name for name in ("embedding", "area", "coverage") if name in shown]
    order = [*first, *(name for name in shown.columns if name not in (*first, *counts)), *counts]
    st.dataframe(shown, hide_index=True, column_order=order, column_config=_config(), alt=alt)


def _intervals_said(visit: Visit, found: IntervalsView | None, tokens: TokensView | None) -> None:
    """What either interval means; of those that are being computed it is known before they are there."""
    n_votes = visit.view.dataset.attrs["votes"]
    said = [f"By {many(n_votes, 'vote')}."]
    if found is not None and found.problem:
        said.append(frame.plain(found.problem))
    elif (found is not None and found.resamples) or visit.is_coming("votes"):
        said.append(WHAT_INTERVALS_ARE.format(n=found.resamples if found else number_of_resamples(n_votes)))
    elif found is None:
        said.append("Intervals are computed when you ask for them.")
    if tokens is not None and tokens.problem:
        said.append(frame.plain(tokens.problem))
    elif (tokens is not None and tokens.n_tokens) or visit.is_coming("tokens"):
        said.append(WHAT_TOKENS_ARE.format(n=tokens.n_tokens if tokens else evaluate_tokens.n_tokens(visit.view)))
    st.caption(" ".join(said))
    if ((found and found.resamples) or visit.is_coming("votes")) and _is_short(visit):
        about = "Steadier bounds, half a minute or more."
        key = f"more-{visit.project.id}"
        st.toggle(f"Resample {MANY:,} times", key=key, help=about, disabled=visit.is_coming("votes"))


def _config() -> dict:
    config = {name: st.column_config.NumberColumn(format="%.3f", help=HELP[name]) for _, name in FIGURES}
    for bound in BOUNDS:
        name, end = bound.rsplit(" ", 1)
        help_ = (
            f"{name} with the noise of the votes taken out: what its interval is about."
            if end == "corrected"
            else f"The {end} bound of the 90 % interval over votes, about {name} with their noise taken out."
        )
        config[bound] = st.column_config.NumberColumn(format="%.3f", help=help_)
    for _, name in FIGURES[:2]:
        config[f"{name} {SHARE}"] = st.column_config.NumberColumn(format="%.2f", help=SHARE_HELP.format(name=name))
    config["coverage"] = st.column_config.ProgressColumn(
        format="percent",
        width="small",
        min_value=0,
        max_value=1,
        help="Share of the items both of whose tokens the embedding has.",
    )
    return config
