"""The files of an open ballot: the batch, the task templates, the comparisons as a table."""

from __future__ import annotations

import streamlit as st

from core.platforms import write_comparisons
from core.platforms.batch import write_batch
from core.store import Store
from core.store.ballots import Ballot, read_comparisons, unanswered
from core.store.projects import Project
from core.views.tasks import TaskPages


def downloads(store: Store, project: Project, ballot: Ballot, pages: TaskPages, *, begun: bool, complete: bool) -> None:
    """Buttons for the batch and the templates. A file is written when its button is pressed."""

    this = (project.id, ballot.number, ballot.area_id)

    def batch() -> bytes:
        return write_batch(read_comparisons(store, *this))

    def top_up() -> bytes:
        return write_batch(read_comparisons(store, *this), only=unanswered(store, *this))

    def table() -> bytes:
        return write_comparisons(read_comparisons(store, *this))

    with st.container(horizontal=True):
        st.download_button(
            "Batch (CSV)",
            batch,
            f"{ballot.code}-batch.csv",
            "text/csv",
            type="primary",
            icon=":material/table:",
            on_click="ignore",
            help="One row a task. Upload it to Turkle, or wherever Mechanical Turk's files are taken.",
        )
        if begun and not complete:
            st.download_button(
                "Top-up batch (CSV)",
                top_up,
                f"{ballot.code}-top-up-{project.revision}.csv",
                "text/csv",
                icon=":material/playlist_add:",
                on_click="ignore",
                help="Only the comparisons that have no vote yet, for the same task page.",
            )
        for target, label in (("turkle", "Task page for Turkle (HTML)"), ("mturk", "Task page for MTurk (HTML)")):
            st.download_button(
                label,
                pages.page(target),
                f"{ballot.code}-task-{target}.html",
                "text/html",
                icon=":material/web:",
                on_click="ignore",
                help="What voters see and answer. Paste it as the project's template.",
            )
        st.download_button(
            "Comparisons as a table (CSV)",
            table,
            f"{ballot.code}-comparisons.csv",
            "text/csv",
            icon=":material/list:",
            on_click="ignore",
            help="A row each, with its id. Votes come back as comparison_id, voter, choice (left, right, tie).",
        )
