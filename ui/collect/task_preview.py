"""A look at any task of a ballot, as voters see it."""

from __future__ import annotations

import base64

import streamlit as st

from core.store import Store
from core.store.ballots.ballot_rows import Ballot
from core.store.projects.project_commands import Project
from core.views.collect import tasks
from core.views.collect.tasks import TaskPages
from ui.shared import choosers

PHONE = 390  # pixels
_COLOURS = {"As this browser": None, "Light": "light", "Dark": "dark"}
_WIDTHS = ("Computer", "Phone")


@st.fragment
def preview_box(store: Store, project: Project, ballot: Ballot, pages: TaskPages) -> None:
    """The preview in its expander; nothing is read before it is opened."""
    box = st.expander("See a task as voters see it", key=f"preview-{ballot.code}", on_change="rerun")
    if not box.open:
        return
    with box:
        number = _choose_task(ballot, pages)
        with st.container(horizontal=True):
            names = {name: name for name in _COLOURS}
            colours = choosers.segmented_control("Colours", names, key=f"colours-{ballot.code}")
            names = {name: name for name in _WIDTHS}
            width = choosers.segmented_control("Width", names, key=f"width-{ballot.code}")
        html = tasks.one_task(store, project.id, ballot, pages, number, scheme=_COLOURS[colours])
        encoded = base64.b64encode(html.encode("utf-8")).decode("ascii")
        st.iframe(
            f"data:text/html;charset=utf-8;base64,{encoded}",
            width=PHONE if width == "Phone" else "stretch",
            height=640,
            alt=f"Task {number} of the ballot",
        )
        st.caption("A preview: answers given here go nowhere.")


def _choose_task(ballot: Ballot, pages: TaskPages) -> int:
    """The number of the task to show, with buttons to the one before and after."""
    key = f"task-{ballot.code}"
    number = int(st.session_state.setdefault(key, 1))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(
            "Previous", icon=":material/chevron_left:", on_click=_go, args=(key, number - 1), disabled=number <= 1
        )
        number = int(st.number_input(f"Task (of {pages.n_tasks:,})", 1, pages.n_tasks, key=key, width=160))
        st.button(
            "Next",
            icon=":material/chevron_right:",
            on_click=_go,
            args=(key, number + 1),
            disabled=number >= pages.n_tasks,
        )
    return number


def _go(key: str, number: int) -> None:
    st.session_state[key] = number
