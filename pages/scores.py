"""The ranking, and the paper's Figures 2, 3 and 4 from the project's own votes and embeddings."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from core import charts
from core.dataset import to_csv
from core.store.library import read_embeddings
from core.views.scores import ScoresView, file_stem, line_of
from core.views.words import many
from ui import cache, chart_files, embedding_view, frame

project = frame.project()
store = frame.store()
st.title("Scores")
area_id = frame.area(project, cache.load_standings(store, project))
view: ScoresView = cache.load_scores(store, project, area_id)
dataset = view.dataset
about = dataset.attrs
stem = file_stem(about) + view.area_part

if dataset.empty:
    frame.nothing_yet("There are no votes yet, so there are no scores.", "collect", "collect votes")


def headline() -> None:
    top = dataset.iloc[0]
    n_top = int((dataset["rank"] == top["rank"]).sum())
    leader = f"{top['token_a']} – {top['token_b']}" + (f" and {n_top - 1} more, tied" if n_top > 1 else "")
    st.markdown(
        f"**Most related: {frame.plain(leader)}**, by {many(about['votes'], 'vote')} on {many(len(dataset), 'item')}."
    )
    if about["simulated_votes"]:
        st.warning("These scores hold votes of simulated voters.", icon=":material/science:")
    if about["provisional"]:
        of = f"{about['ballots_closed']} of {about['ballots_planned']} ballots are closed"
        st.info(f"Provisional: {of}. An open ballot counts once it is closed.", icon=":material/hourglass_top:")
    overview = cache.load_overview(store, project)
    frame.next_step(overview.next_page, overview.next_label[:1].lower() + overview.next_label[1:])
    if about["unscored_items"]:
        st.info(f"{many(about['unscored_items'], 'item')} without a vote yet, and so without a score.")
    if view.interval_note:
        st.caption(frame.plain(view.interval_note))


def ranking() -> None:
    word = st.text_input("Find a token", placeholder="Type a part of a token", key=f"find-{project.id}")
    shown = dataset
    if word.strip():
        part = word.strip().casefold()
        hit = shown["token_a"].str.casefold().str.contains(part, regex=False)
        shown = shown[hit | shown["token_b"].str.casefold().str.contains(part, regex=False)]
        st.caption(f"{len(shown):,} of {len(dataset):,} items")
    three = st.column_config.NumberColumn(format="%.3f")
    st.dataframe(
        shown[["rank", "token_a", "token_b", "area", "score", "lower", "upper", "votes", "ballots"]],
        hide_index=True,
        height=420,
        lazy=True,
        column_config={
            "rank": st.column_config.NumberColumn(help="1 is the top; tied items share their average rank."),
            "score": st.column_config.NumberColumn(
                format="%.3f",
                help="ȳ, the mean of the rescaled scores, on the scale of ballot 1. Higher is more related.",
            ),
            "lower": three,
            "upper": st.column_config.NumberColumn(
                format="%.3f",
                help="lower and upper bound the score's 90 % interval; voters were resampled 1,000 times. "
                "An item that won every vote has an interval of no width: nothing else was seen.",
            ),
            "votes": st.column_config.NumberColumn(help="Votes behind the score, over all its ballots."),
            "ballots": st.column_config.NumberColumn(help="Ballots the item was in."),
        },
        alt="Ranking of the items",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Download the ranking (CSV)",
            partial(to_csv, dataset),
            f"{stem}.csv",
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
        )
        frame.link("export", "More formats on the Export page", icon=":material/arrow_forward:")


def figure2() -> None:
    if not view.rescalings:
        st.caption("Figure 2 of the paper needs two closed ballots.")
        return
    numbers = [r.ballot for r in view.rescalings]
    chosen = st.segmented_control("Ballot", numbers, default=numbers[0], required=True, key=f"fig2-{project.id}")
    r = next(r for r in view.rescalings if r.ballot == chosen)
    line = line_of(r.slope, r.points) if r.slope is not None else pd.DataFrame()
    chart = charts.rescaling(r.points, line, r.ballot)
    chart_files.show(chart, r.points, name=f"{stem}-rescaling-ballot-{r.ballot}", alt=f"Rescaling of ballot {r.ballot}")
    if r.slope is None:
        st.caption("Every item of this ballot has x = 1, so no slope can be fitted and y is 1.")
    else:
        st.caption(
            f"Each dot is one of {len(r.points):,} items. The line is y = 1 − b̂ + b̂·x with b̂ = {r.slope:.3f}; "
            "it brings the ballot's win ratios to the scale of ballot 1 (Eq. 6, Figure 2 of the paper)."
        )
        if r.slope > 1:
            st.warning(f"b̂ is over 1 in ballot {r.ballot}: the paper expects at most 1, and scores may fall below 0.")


def areas_figure() -> None:
    """Figure 3, for the embedding that is chosen."""
    embeddings = read_embeddings(store, project.id)
    if not embeddings:
        st.caption("Figure 3 of the paper needs an embedding.")
        frame.link("embeddings", "Load an embedding", icon=":material/arrow_forward:")
        return
    chosen = embeddings[0]
    if len(embeddings) > 1:
        chosen = st.selectbox("Embedding", embeddings, format_func=lambda e: e.name, key=f"fig3-{project.id}")
    embedding_view.figure3(cache.load_figure3(store, project, chosen.id), project, chosen.name)


headline()
st.subheader("Ranking")
ranking()
if view.n_closed:
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Scores by ballot")
        chart_files.show(
            charts.scores_by_ballot(view.by_ballot),
            view.by_ballot,
            name=f"{stem}-scores-by-ballot",
            alt="Scores by ballot along the ranks",
        )
        st.caption("Win ratios of each ballot and the final score along the ranks (Figure 4 of the paper).")
    with right:
        st.subheader("Rescaling")
        figure2()
    st.subheader("Areas against random pairs")
    areas_figure()
    if st.toggle("Show x, y and ȳ of every item, ballot by ballot", key=f"by-ballot-{project.id}"):
        st.dataframe(
            view.by_ballot[["rank", "pair", "area", "ballot", "votes", "x", "y", "mean"]].rename(columns={"mean": "ȳ"}),
            hide_index=True,
            lazy=True,
            alt="Scores by item and ballot",
        )
        st.caption(
            "x is the share of votes won (Eq. 1), y is x on the scale of ballot 1 (Eq. 6), "
            "ȳ the mean of the y's so far (Eq. 5)."
        )
