"""The figures of the Scores page: the top, how it settled, and the paper's Figures 2, 3 and 4."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from core.charts import campaign_charts
from core.charts.campaign_charts import places_by_ballot
from core.store.projects.embedding_library import read_embeddings
from core.store.projects.project_commands import Project
from core.views.scores.scores_page import RankStabilisationView, ScoresView, line_of
from ui.embeddings import embedding_view
from ui.help import glossary
from ui.shared import cache, chart_files, choosers, frame


def top(view: ScoresView, stem: str) -> None:
    """The first items with score, interval and votes; `stem` begins the names of the files."""
    rows = view.top
    chart_files.show(
        partial(campaign_charts.top_intervals, rows), rows, name=f"{stem}-top", alt="The first items with intervals"
    )


def by_ballot(view: ScoresView, project: Project, stem: str) -> None:
    """Scores of each ballot, how each was brought to the scale of the first, and all of it as a table."""
    if not view.about.rescales:
        st.caption(view.about.unrescaled)
        return
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("##### Scores by ballot", help=glossary.of("x"))
        chart_files.show(
            partial(campaign_charts.scores_by_ballot, view.by_ballot),
            view.by_ballot,
            name=f"{stem}-scores-by-ballot",
            alt="Scores by ballot along the ranks",
        )
        st.caption("Win ratios of each ballot and the final score along the ranks.", help="Figure 4 of the paper.")
    with right:
        st.markdown("##### Rescaling", help=glossary.of("b̂"))
        _figure2(view, project, stem)
    _every_ballot(view, project)


def _figure2(view: ScoresView, project: Project, stem: str) -> None:
    """Figure 2: how a ballot was brought to the scale of the first."""
    if not view.rescalings:
        st.caption("It is drawn once two ballots are closed.")
        return
    numbers = {r.ballot: str(r.ballot) for r in view.rescalings}
    chosen = choosers.segmented_control("Ballot", numbers, key=f"fig2-{project.id}")
    r = next(r for r in view.rescalings if r.ballot == chosen)
    line = line_of(r.slope, r.points) if r.slope is not None else pd.DataFrame()
    chart = partial(campaign_charts.rescaling, r.points, line, r.ballot)
    alt = f"Rescaling of ballot {r.ballot}"
    chart_files.show(chart, r.points, name=f"{stem}-rescaling-ballot-{r.ballot}", alt=alt)
    if r.slope is None:
        st.caption("Every item of this ballot has x = 1, so no slope can be fitted and y is 1.")
    else:
        st.caption(
            f"Each dot is one of {len(r.points):,} items. The line is y = 1 − b̂ + b̂·x with b̂ = {r.slope:.3f}; "
            "it brings the ballot's win ratios to the scale of ballot 1.",
            help="Equation 6 and Figure 2 of the paper.",
        )
        if r.slope > 1:
            st.warning(f"b̂ is over 1 in ballot {r.ballot}: the paper expects at most 1, and scores may fall below 0.")


def random_pairs(project: Project) -> None:
    """Figure 3, for the embedding that is chosen."""
    embeddings = read_embeddings(frame.store(), project.id)
    if not embeddings:
        st.caption("It is drawn once the project has an embedding.")
        frame.link("embeddings", "Load an embedding", icon=":material/arrow_forward:")
        return
    chosen = embeddings[0]
    if len(embeddings) > 1:
        chosen = choosers.embedding("Embedding", embeddings, key=f"fig3-{project.id}")
    embedding_view.figure3(cache.load_figure3(frame.store(), project, chosen.id), project, chosen.name)


def _every_ballot(view: ScoresView, project: Project) -> None:
    if not st.toggle("Show x, y and ȳ of every item, ballot by ballot", key=f"by-ballot-{project.id}"):
        return
    columns = ["rank", "pair", "area", "ballot", "votes", "x", "y", "mean"]
    rows = view.by_ballot[columns].rename(columns={"mean": "ȳ"})
    alt = "Scores by item and ballot"
    st.dataframe(rows, hide_index=True, lazy=True, alt=alt)
    st.caption(
        "x is the share of votes won, y is x on the scale of ballot 1, ȳ the mean of the y's so far.",
        help="Equations 1, 6 and 5 of the paper.",
    )


def settling(project: Project, area_id: int | None, stem: str) -> None:
    """The places of the first items after each ballot; a sentence says what the last one changed."""
    view: RankStabilisationView = cache.load_rank_stabilisation(frame.store(), project, area_id)
    if view.n_ballots < 2:
        st.caption("It is drawn once two ballots are closed.")
        return
    st.markdown(f"**{frame.plain(view.said)}**")
    chart_files.show(
        partial(places_by_ballot, view.history),
        view.history,
        name=f"{stem}-settling",
        alt="Places of the first items after each ballot",
    )
    if view.history["rank_lower"].notna().any():
        st.caption(
            "The 30 items that lead now, and their places after each ballot; tied items share one. Point at an "
            "item to see the 90% interval of its place. A dash instead of a dot: the ballot didn't hold the item."
        )
        return
    st.caption(
        "The 30 items that lead now, and their places after each ballot; tied items share one. Point at an item "
        "to see its score. A dash instead of a dot: the ballot didn't hold the item."
    )
    st.caption("This protocol gives intervals of scores, not of places.")
