"""Best–worst scaling: tuples drawn into a file, and judgements of a file worked out."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.base.durable import slug
from core.base.numbers_in_words import many
from core.errors import RunoffError
from core.questions.best_worst.files import Named, read_best_worst, write_tuples
from core.questions.best_worst.report import BestWorstReport, report
from core.questions.best_worst.tuples import draw_tuples
from core.store.projects.project_commands import Project
from core.views import file_kinds
from core.views.schemes import best_worst as view
from ui.schemes.scheme_tables import download, read_asking, show_issues, show_table
from ui.shared import cache, frame

MOST_ITEMS = 5_000  # of which tuples are drawn on the page
EXAMPLE = (
    "item_1,item_2,item_3,item_4,best,worst,voter\nsea – ship,tax – law,cat – dog,sea – tax,cat – dog,sea – tax,W1"
)


def best_worst_box(project: Project, n_items: int) -> None:
    """All of the tab; `n_items` of the project, of which tuples can be drawn."""
    st.markdown("**Of four items a person names the most and the least related.**")
    with st.popover("What a file looks like", icon=":material/help:", type="tertiary"):
        st.markdown(
            "A CSV or TSV file, a row per judgement: the items, the one named best, the one named worst (or their "
            "places, 1 the first), and who judged. Item1 … Item4, BestItem, WorstItem and Annotator (Kiritchenko "
            "and Mohammad) are known too."
        )
        st.code(EXAMPLE, language=None)
    file = st.file_uploader("File of judgements", key=f"best-worst-{project.id}")
    if file is not None:
        try:
            file_kinds.check("best–worst", file.getvalue(), file.name)
            with st.spinner("Reading the judgements …"):
                found = read_asking(_report, file.getvalue(), file.name, file.file_id)
        except RunoffError as error:
            frame.show_error(error)
        else:
            if found is not None:
                _show(found, slug(file.name.rsplit(".", 1)[0], "best-worst"))
    _draw(project, n_items)


@st.cache_resource(max_entries=8, show_spinner=False)
def _report(data: bytes, name: str, named: Named | None = None) -> BestWorstReport:
    return report(read_best_worst(data, name, named=named))


def _show(found: BestWorstReport, stem: str) -> None:
    st.markdown(f"**{frame.plain(view.headline(found))}**")
    show_issues(found.read.issues, found.read.notes)
    with st.container(horizontal=True):
        for label, value, about in view.figures(found):
            st.metric(label, value, help=about, width="content")
    for reason in view.reasons(found):
        st.caption(frame.plain(reason))
    table = view.table(found)
    show_table(table, view.HELP, "Items of the judgements")
    download("Download these items (CSV)", lambda: table, f"{stem}-scores.csv")


def _draw(project: Project, n_items: int) -> None:
    """Tuples of the project's items, as a file to fill in."""
    st.subheader(
        "Draw tuples",
        help="Every item equally often, within one; no two items together twice as far as exchanges find it.",
    )
    if n_items < 4:
        st.caption("This takes four items at least: add token lists to the project.")
        return
    if n_items > MOST_ITEMS:
        st.caption(f"{n_items:,} items are many for a page: `python -m core draw-tuples` draws them into a file.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        size = st.number_input("Items in a tuple", 3, 8, 4, key=f"tuple-size-{project.id}", width=150)
        each = st.number_input(
            "Appearances of an item", 1, 100, 8, key=f"tuple-each-{project.id}", width=180,
            help="How often each item is shown in all.",
        )  # fmt: skip
        seed = st.number_input(
            "Seed", 0, 2**31 - 1, 1, key=f"tuple-seed-{project.id}", width=110, help="Same seed, same tuples."
        )
    items = cache.load_items(frame.store(), project)
    names = (items["token_a"] + " – " + items["token_b"]).tolist()
    size = min(int(size), len(names))
    asked = (project.id, len(names), size, int(each), int(seed))
    n_tuples = -(-len(names) * int(each) // size)
    st.caption(f"{many(n_tuples, 'tuple')} of {many(len(names), 'item')}.")
    if st.button("Draw the tuples", icon=":material/casino:", key=f"tuple-draw-{project.id}"):
        with st.spinner("Drawing …"):
            tuples = draw_tuples(range(len(names)), int(each), size=size, rng=np.random.default_rng(int(seed)))
        st.session_state["_tuples"] = asked, write_tuples(names, tuples)
    kept = st.session_state.get("_tuples")
    if kept is not None and kept[0] == asked:
        st.download_button(
            "Download the tuples (CSV)", kept[1], f"{slug(project.name)}-tuples.csv", "text/csv",
            icon=":material/download:", on_click="ignore",
            help="A row per tuple, with room for best, worst and voter. Filled in, it is read above.",
        )  # fmt: skip
