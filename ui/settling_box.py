"""How the ranking settled ballot by ballot, on the Scores page."""

from __future__ import annotations

import streamlit as st

from core.settling_chart import places_by_ballot
from core.store.projects import Project
from core.views.settling import SettlingView
from ui import cache, chart_files, frame


def show(project: Project, area_id: int | None, stem: str) -> None:
    """The places of the first items after each ballot; a sentence says what the last one changed."""
    view: SettlingView = cache.load_settling(frame.store(), project, area_id)
    st.subheader("How the ranking settled")
    if view.n_ballots < 2:
        st.caption("It is drawn once two ballots are closed.")
        return
    st.markdown(f"**{frame.plain(view.said)}**")
    chart_files.show(
        places_by_ballot(view.history),
        view.history,
        name=f"{stem}-settling",
        alt="Places of the first items after each ballot",
    )
    if view.history["rank_lower"].notna().any():
        st.caption(
            "The 30 items that lead now, and their places after each ballot; tied items share one. Point at an "
            "item to see the 90 % interval of its place. A dash instead of a dot: the ballot didn't hold the item."
        )
        return
    st.caption(
        "The 30 items that lead now, and their places after each ballot; tied items share one. Point at an item "
        "to see its score. A dash instead of a dot: the ballot didn't hold the item."
    )
    st.caption("This protocol gives intervals of scores, not of places.")
