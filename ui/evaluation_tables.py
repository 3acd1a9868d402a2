"""The tables of the Evaluate page: figures with their intervals, embeddings against each other, disagreements."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core import charts
from core.store.projects import Project
from core.views.evaluate import FIGURES, EvaluateView, IntervalsView
from core.views.scores import file_stem, pair_label
from core.views.words import many, slug
from ui import cache, chart_files, frame

QUICK = 25_000  # votes whose voters are resampled without being asked to
MANY = 1000  # resamples on request
HELP = {
    "ρ_w": "Spearman's ρ with more weight on top ranks (Eq. 8). 1 is full agreement.",
    "τ_w": "Kendall's τ with more weight on top ranks (Eq. 8). It counts pairs of items in the right order.",
    "ρ": "Spearman's rank correlation: all ranks weigh the same.",
    "τ": "Kendall's rank correlation (tau-b): all ranks weigh the same.",
}
WHAT_INTERVALS_ARE = (
    "lower and upper: 90 % intervals of the figure that votes without noise would give; voters resampled {n:,} times, "
    "items fixed. Noise takes away from a figure, so the interval may begin above it."
)


def show(view: EvaluateView, project: Project) -> None:
    """All figures, each with its interval where there is one."""
    found = _intervals(view, project)
    view = found.view if found else view
    _overall(view, found)
    config = _config()
    if len(view.common):
        st.subheader("Over the items that all cover")
        st.caption("The embeddings cover different items, so only these figures compare directly.")
        shown = view.common.drop(columns=["area", "covered", "coverage"])
        st.dataframe(_shown(shown), hide_index=True, column_config=config, alt="Embeddings over their common items")
    if found and len(found.differences):
        _differences(found)
    if len(view.without_proposed):
        st.subheader("Without the tokens that an embedding proposed")
        st.caption("The items that hold such a token are left out for all embeddings, so these figures are fairer.")
        shown = view.without_proposed.drop(columns="area")
        st.dataframe(_shown(shown), hide_index=True, column_config=config, alt="Embeddings without proposed tokens")
    st.subheader("By area")
    st.dataframe(_shown(view.by_area), hide_index=True, column_config=config, alt="Embeddings by area")
    for reason in view.undefined:
        st.caption("Blank: " + frame.plain(reason))
    st.download_button(
        "Download this table (CSV)", view.table.to_csv(index=False), "evaluation.csv", "text/csv", on_click="ignore"
    )


def _intervals(view: EvaluateView, project: Project) -> IntervalsView | None:
    """The intervals: at once where votes are few, on demand where resampling them takes long; None until then."""
    if view.dataset.attrs["votes"] > QUICK and not st.toggle(
        "Compute intervals", key=f"intervals-{project.id}", help="Resamples the voters: a minute for 400,000 votes."
    ):
        return None
    more = view.dataset.attrs["votes"] <= QUICK and st.session_state.get(f"more-{project.id}", False)
    with st.spinner("Resampling the voters …"):
        return cache.load_intervals(frame.store(), project, view.n0, view.notion, MANY if more else 0)


def _overall(view: EvaluateView, found: IntervalsView | None) -> None:
    overall = view.overall.drop(columns="area")
    st.dataframe(_shown(overall), hide_index=True, column_config=_config(), alt="Embeddings over all areas")
    by = f"By {many(view.dataset.attrs['votes'], 'vote')}. "
    if found is None:
        st.caption(by + "Intervals are computed when you ask for them.")
    elif found.problem:
        st.caption(by + frame.plain(found.problem))
    elif found.resamples:
        st.caption(by + WHAT_INTERVALS_ARE.format(n=found.resamples))
    project_id = st.session_state["project_id"]
    if found and found.resamples and view.dataset.attrs["votes"] <= QUICK:
        st.toggle(f"Resample {MANY:,} times", key=f"more-{project_id}", help="Steadier bounds, half a minute or more.")


def _differences(found: IntervalsView) -> None:
    st.subheader("Can they be told apart?")
    if found.unclear:
        st.markdown(frame.plain(found.unclear))
    else:
        st.markdown("The votes tell all of them apart.")
    three = st.column_config.NumberColumn(format="%.3f")
    better = st.column_config.NumberColumn(format="percent", help="The probability that the first is the better one.")
    config = {"difference": three, "lower": three, "upper": three, "better": better}
    st.dataframe(found.pairs, hide_index=True, column_config=config, alt="Differences of embeddings")
    st.caption("The difference in ρ_w over the items that all cover, with its 90 % interval over resampled voters.")


def _shown(table: pd.DataFrame) -> pd.DataFrame:
    """A table without the columns that are blank in every row."""
    return table.dropna(axis="columns", how="all") if len(table) else table


def _config() -> dict:
    config = {name: st.column_config.NumberColumn(format="%.3f", help=HELP[name]) for _, name in FIGURES}
    for name in ("ρ_w", "τ_w"):
        for end in ("lower", "upper"):
            help_ = f"The {end} bound of the 90 % interval of {name}."
            config[f"{name} {end}"] = st.column_config.NumberColumn(format="%.3f", help=help_)
    config["coverage"] = st.column_config.ProgressColumn(
        format="percent", min_value=0, max_value=1, help="Share of the items both of whose tokens the embedding has."
    )
    return config


def disagreements(view: EvaluateView, project: Project) -> None:
    """Where people and a chosen embedding disagree, and the tokens it lacks or knows by other spellings."""
    st.subheader("Where people and embedding disagree")
    names = [evaluation.model for evaluation in view.evaluations]
    chosen = 0
    if len(names) > 1:
        chosen = st.selectbox("Embedding", range(len(names)), format_func=names.__getitem__, key=f"model-{project.id}")
    evaluation = view.evaluations[chosen]
    worst = evaluation.worst(15)
    left, right = st.columns(2, gap="large")
    with left:
        chart_files.show(
            charts.rank_scatter(evaluation.pairs, worst),
            evaluation.pairs,
            name=f"{file_stem(view.dataset.attrs)}-{slug(evaluation.model)}-ranks",
            alt="Ranks by people and by the embedding",
        )
    with right:
        shown = worst.assign(pair=pair_label(worst))[["pair", "rank", "model_rank", "cosine"]]
        st.dataframe(
            shown.rename(columns={"rank": "by people", "model_rank": "by embedding"}),
            hide_index=True,
            column_config={
                "cosine": st.column_config.NumberColumn(format="%.3f"),
                "pair": st.column_config.Column(width="medium"),
            },
            height=420,
            alt="The worst disagreements",
        )
        st.caption("The items that cost the most, top ranks weighing more.")
    if evaluation.missing:
        with st.expander(f"{many(len(evaluation.missing), 'token')} without a vector"):
            rows = [{"token": token, "reason": reason} for token, reason in evaluation.missing.items()]
            st.dataframe(rows, hide_index=True, alt="Tokens without a vector")
    if evaluation.found_as:
        with st.expander(f"{many(len(evaluation.found_as), 'token')} found under another spelling"):
            found = [{"token": token, "found as": name} for token, name in evaluation.found_as.items()]
            st.dataframe(found, hide_index=True, alt="Tokens found under another spelling")
