"""What a closed round found, as files: the dataset of its items in all formats, or the groups with people's shares."""

from __future__ import annotations

import streamlit as st

from core.questions import RoundKind
from core.questions.order.kind import write_groups
from core.store.projects.project_commands import Project
from core.views.kinds import rounds as view
from core.views.kinds import target_groups
from ui.export import dataset_files
from ui.shared import cache, frame, kinds
from ui.shared.tables import download, show_table


def show_rounds(project: Project, area_id: int | None, kind: RoundKind) -> None:
    """All of the page for one kind."""
    closed = [one for one in kinds.rounds(project, area_id, kind) if not one.round.is_open]
    if not closed:
        frame.nothing_yet(f"No round of {kind.about.label} is closed yet.", "collect", "collect answers")
    found = kinds.one_of(project, area_id, closed)
    stem = view.file_stem_of(project.name, found.round)
    if not kind.about.scores_items:
        _groups(project, found, stem)
        return
    files = cache.load_round(view.files, frame.store(), project, found.round)
    st.caption("The command evaluate takes the dataset, as any other.")
    dataset_files.formats(files, expanded=True)
    st.subheader("What is in it")
    st.caption("The first ten items, under the names of the file's columns.")
    three = dict.fromkeys(("score", "lower", "upper"), st.column_config.NumberColumn(format="%.3f"))
    st.dataframe(files.dataset.head(10), hide_index=True, column_config=three, alt="The first ten rows of the dataset")
    with st.expander("The description"):
        st.code(files.description, language=None, wrap_lines=True)


def _groups(project: Project, found: view.RoundView, stem: str) -> None:
    """Groups with the share of people who prefer one word of a target to another."""
    words = cache.load_round(view.compared_words, frame.store(), project, found.round)
    with st.container(horizontal=True):
        st.download_button(
            "Download the groups (text)",
            write_groups(words).encode("utf-8"),
            f"{stem}.txt",
            "text/plain",
            type="primary",
            icon=":material/download:",
            on_click="ignore",
            help="The page Scores, under “Files of groups and orders”, and the command `groups` take it.",
        )
        table = view.preferences(words)
        download("Download the preferences (CSV)", lambda: table, f"{stem}-preferences.csv")
    show_table(table, target_groups.WORST_HELP, "Preferences of two positives")
