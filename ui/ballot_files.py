"""The files of an open ballot: the batch, the task templates, and the page as voters see it."""

from __future__ import annotations

import base64

import streamlit as st

from core.platforms.batch import FIELDS, suffixes, write_batch
from core.platforms.plain import write_comparisons
from core.platforms.template import render_preview, template
from core.store import Store
from core.store.ballots import Ballot, read_comparisons, unanswered
from core.store.plans import PlanSettings
from core.store.projects import Project
from core.tables import COMPARISONS


def page_for(settings: PlanSettings, project: Project, n_comparisons: int, target: str) -> str:
    """The voters' page as a template for `target` (turkle or mturk)."""
    return template(
        n_comparisons=n_comparisons,
        notion=project.notion,
        ties_allowed=settings.ties_allowed,
        question=settings.wording.question or None,
        instructions=settings.wording.instructions or None,
        target=target,
    )


@st.cache_data(max_entries=8, show_spinner=False)
def _batch(
    _store: Store, folder: str, project_id: str, drawn_at: str, number: int, area_id: int | None
) -> tuple[bytes, bytes, int, dict]:
    """The batch file, the table of comparisons, the most comparisons of a task, and the cells of the first task."""
    comparisons = COMPARISONS.check(read_comparisons(_store, project_id, number, area_id))
    data = write_batch(comparisons)
    widest = int(comparisons["n"].max())
    first = comparisons[comparisons["task_id"] == comparisons["task_id"].iloc[0]]
    row = {"task_id": str(first["task_id"].iloc[0])}
    for (_, shown), suffix in zip(first.iterrows(), suffixes(widest), strict=False):
        row |= {f"{name}{suffix}": shown[name] for name in FIELDS}
    return data, write_comparisons(comparisons), widest, row


@st.cache_data(max_entries=8, show_spinner=False)
def _top_up(_store: Store, folder: str, project_id: str, revision: int, number: int, area_id: int | None) -> bytes:
    """The batch of what is still missing."""
    comparisons = read_comparisons(_store, project_id, number, area_id)
    return write_batch(comparisons, only=unanswered(_store, project_id, number, area_id))


def downloads(
    store: Store, project: Project, ballot: Ballot, settings: PlanSettings, *, begun: bool, complete: bool
) -> None:
    """Buttons for the batch and the templates, and the preview of a task."""
    key = (str(store.folder), project.id)
    data, table, widest, row = _batch(store, *key, ballot.drawn_at, ballot.number, ballot.area_id)
    with st.container(horizontal=True):
        st.download_button(
            "Batch (CSV)",
            data,
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
                _top_up(store, *key, project.revision, ballot.number, ballot.area_id),
                f"{ballot.code}-top-up-{project.revision}.csv",
                "text/csv",
                icon=":material/playlist_add:",
                on_click="ignore",
                help="Only the comparisons that have no vote yet, for the same task page.",
            )
        for target, label in (("turkle", "Task page for Turkle (HTML)"), ("mturk", "Task page for MTurk (HTML)")):
            st.download_button(
                label,
                page_for(settings, project, widest, target),
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
    with st.expander("See a task as voters see it"):
        html = render_preview(page_for(settings, project, widest, "turkle"), row)
        encoded = base64.b64encode(html.encode("utf-8")).decode("ascii")
        st.iframe(f"data:text/html;charset=utf-8;base64,{encoded}", height=640, alt="The first task of the ballot")
        st.caption("A preview: answers given here go nowhere.")
