"""Tuples of best–worst scaling drawn into a file, for those who ask them elsewhere."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.base.durable import slug
from core.base.numbers_in_words import many
from core.questions.best_worst.files import write_tuples
from core.questions.best_worst.kind import draw_tuples
from core.store.projects.project_commands import Project
from ui.shared import cache, frame

MOST_ITEMS = 5_000  # of which tuples are drawn on the page


def tuples_box(project: Project, n_items: int) -> None:
    """Tuples of the project's items, as a file to fill in."""
    box = st.expander("Tuples in a file, to be asked elsewhere", key=f"tuples-{project.id}", on_change="rerun")
    if box.open:
        with box:
            _draw(project, n_items)


def _draw(project: Project, n_items: int) -> None:
    st.caption(
        "Every item appears equally often, give or take one, and no two items meet twice where that can be avoided."
    )
    if n_items < 4:
        st.caption("This takes four items at least: add token lists to the project.")
        return
    if n_items > MOST_ITEMS:
        st.caption(
            f"{n_items:,} items are too many for this page: `python -m core draw-tuples` draws them into a file."
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        size = st.number_input("Items in a tuple", 3, 8, 4, key=f"tuple-size-{project.id}", width=150)
        each = st.number_input(
            "Appearances of an item", 1, 100, 8, key=f"tuple-each-{project.id}", width=180,
            help="How often each item is shown in all.",
        )  # fmt: skip
        seed = st.number_input(
            "Seed of tuples", 0, 2**31 - 1, 1, key=f"tuple-seed-{project.id}", width=130, help="Same seed, same tuples."
        )
    items = cache.load_items(frame.store(), project)
    names = (items["token_a"] + " – " + items["token_b"]).tolist()
    size = min(int(size), len(names))
    request = (project.id, len(names), size, int(each), int(seed))
    n_tuples = -(-len(names) * int(each) // size)
    st.caption(f"{many(n_tuples, 'tuple')} of {many(len(names), 'item')}.")
    if st.button("Draw the tuples", icon=":material/casino:", key=f"tuple-draw-{project.id}"):
        with st.spinner("Drawing …"):
            tuples = draw_tuples(range(len(names)), int(each), size=size, rng=np.random.default_rng(int(seed)))
        st.session_state["_tuples"] = request, write_tuples(names, tuples)
    drawn = st.session_state.get("_tuples")
    if drawn is not None and drawn[0] == request:
        st.download_button(
            "Download the tuples (CSV)", drawn[1], f"{slug(project.name)}-tuples.csv", "text/csv",
            icon=":material/download:", on_click="ignore",
            help="A row per tuple, with room for best, worst and voter. Filled in, it goes onto the Scores page.",
        )  # fmt: skip
