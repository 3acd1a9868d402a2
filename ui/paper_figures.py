"""How a campaign goes: the paper's Figures 2, 3 and 4 from simulated campaigns, on request."""

from __future__ import annotations

import streamlit as st

from core import charts
from core.file_names import slug
from core.plurals import many
from core.store.projects import Project
from ui import cache, chart_files, frame


def paper_figures(project: Project) -> None:
    """The figures behind a toggle, since few need them while they plan."""
    if not st.toggle("Show the paper's Figures 2, 3 and 4, simulated", key=f"paper-figures-{project.id}"):
        return
    found = cache.load_paper_figures(frame.store(), project)
    stem = slug(project.name)
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**Figure 2: bringing ballot 2 to the scale of ballot 1**")
        two = found.rescaling
        chart = charts.rescaling(two.points, two.line, two.ballot)
        alt = "Rescaling of a simulated ballot"
        chart_files.show(chart, two.points, name=f"{stem}-simulated-figure-2", alt=alt)
        st.caption(
            f"{many(len(two.points), 'item')} of a simulated campaign, σ* = .1 and ε = .01 for all voters; the "
            f"slope is b̂ = {two.slope:.3f} (Eq. 6)."
        )
    with right:
        st.markdown("**Figure 4: scores by ballot along the true ranks**")
        chart = charts.scores_by_ballot(found.by_ballot, rank_title="True rank (1 = most related)")
        alt = "Scores of simulated ballots"
        chart_files.show(chart, found.by_ballot, name=f"{stem}-simulated-figure-4", alt=alt)
        st.caption("990 items, exponential, the paper's plan and panel: win ratios x of the first five ballots.")
    st.markdown("**Figure 3: distributions of the underlying values**")
    chart = charts.similarity_curves(found.curves, found.value)
    alt = "Distributions of the underlying values"
    chart_files.show(chart, found.curves, name=f"{stem}-figure-3", alt=alt)
    st.caption(
        "What the simulations take for true, beside an embedding's values within the areas, within one area, and "
        "between random pairs of its vocabulary."
    )
