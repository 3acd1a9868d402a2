"""Two kinds of question side by side: the project's scores, or files of any kind."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.base.durable import slug
from core.base.numbers_in_words import plural
from core.dataset.side_by_side import ScoredItems, SideBySide, of_dataset, read_scored, side_by_side
from core.errors import RunoffError
from core.questions.best_worst.files import Named
from core.store.projects.project_commands import Project
from core.views import file_kinds
from core.views.kinds import side_by_side as view
from ui.shared import cache, chart_files, choosers, frame
from ui.shared.tables import download, read_asking, show_issues, show_table

MINE = "this project's scores"
OVER = {
    "tokens": "Intervals are over tokens. The scores are taken as given: what other voters would say isn't in them.",
    "items": "Intervals are over items. The scores are taken as given: what other voters would say isn't in them.",
}
FILES = {"first": "First file", "second": "Second file"}


def side_box(project: Project, *, has_scores: bool) -> None:
    """All of it; `has_scores` says that a ballot of the project is closed."""
    box = st.expander("Two kinds side by side", key=f"side-{project.id}", on_change="rerun")
    if box.open:
        with box:
            _box(project, has_scores=has_scores)


def _box(project: Project, *, has_scores: bool) -> None:
    st.markdown("**Two ways to ask, the same items: how far they agree, and the items where they part.**")
    st.caption(
        "Each is a dataset, a file of ratings, or one of best–worst judgements; items are matched by their texts."
    )
    mine = has_scores and _is_mine(project)
    one = None if mine else _from_file(project, "first")
    other = _from_file(project, "second")
    if other is not None and mine:
        one = of_dataset(cache.load_export(frame.store(), project).dataset, MINE)
    if one is None or other is None:
        return
    show_issues([*one.issues, *other.issues], [f"{s.name}: {note}" for s in (one, other) for note in s.notes])
    with st.spinner("Comparing …"):
        compared, notes = _compared(one.digest, other.digest, one, other)
    for note in notes:
        st.caption(frame.plain(note))
    show_side_by_side(compared, slug(f"{project.name}-side-by-side"))


def show_side_by_side(compared: SideBySide, stem: str) -> None:
    """Figures, chart and items of a comparison of two kinds of question."""
    st.markdown(f"**{frame.plain(view.headline(compared))}**")
    show_table(view.figures(compared), view.FIGURE_HELP, "Agreement of the two")
    for reason in view.why_undefined(compared):
        st.caption(frame.plain(reason))
    if compared.over:
        st.caption(OVER[compared.over])
    if compared.n:
        points = view.points(compared)
        chart_files.show(
            partial(view.chart, compared), points, name=stem, alt="Rank by the first against rank by the second"
        )
        st.subheader("Items where they part", help="The largest gaps between the two ranks first.")
        table = view.table(compared)
        show_table(table, view.HELP, "Items both scored")
        download("Download these items (CSV)", lambda: table, f"{stem}.csv")
    alone = view.only(compared)
    if len(alone):
        with st.expander(plural(len(alone), "{n} item that only one has", "{n} items that only one has")):
            st.dataframe(alone, hide_index=True, alt="Items that only one has")


def _is_mine(project: Project) -> bool:
    words = {"mine": MINE, "file": "a file"}
    source = choosers.selectbox("First", words, key=f"side-source-{project.id}", width=240)
    return source == "mine"


def _from_file(project: Project, place: str) -> ScoredItems | None:
    """The scores in an uploaded file; None without one, or where it can't be read."""
    file = st.file_uploader(FILES[place], key=f"side-{place}-{project.id}")
    if file is None:
        return None
    try:
        file_kinds.check("scores", file.getvalue(), file.name)
        with st.spinner("Reading the scores …"):
            return read_asking(_read, file.getvalue(), file.name, f"{place}-{file.file_id}")
    except RunoffError as error:
        frame.show_error(error)
        return None


@st.cache_resource(max_entries=8, show_spinner=False)
def _compared(one: str, other: str, _one: ScoredItems, _other: ScoredItems) -> tuple[SideBySide, tuple[str, ...]]:
    return side_by_side(_one, _other)


@st.cache_resource(max_entries=8, show_spinner=False)
def _read(data: bytes, name: str, named: Named | None = None) -> ScoredItems:
    return read_scored(data, name, named=named)
