"""Tasks of a ballot as voters see them: looked at, or some comparisons answered by the owner, who learns their time."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from core.base.numbers_in_words import many
from core.store import Store
from core.store.ballots.ballot_rows import Ballot
from core.store.projects.project_commands import Project
from core.views.collect import tasks
from core.views.collect.tasks import N_TRIAL, Pace, TaskPages, pace
from ui.shared import choosers

_HERE = Path(__file__).parent
_FRAME = st.components.v2.component(
    "runoff_trial",
    html='<div class="trial"></div>',
    css=(_HERE / "trial.css").read_text(encoding="utf-8"),
    js=(_HERE / "trial.js").read_text(encoding="utf-8"),
)


@st.fragment
def trial_box(store: Store, project: Project, ballot: Ballot, pages: TaskPages) -> None:
    """The trial in its expander; nothing is read before it is opened."""
    box = st.expander("Try it yourself", key=f"trial-{ballot.code}", on_change="rerun")
    if not box.open:
        return
    with box:
        state = st.session_state.setdefault(f"_trial-{ballot.code}", {"turn": 0, "pace": None})
        if state["pace"] is None:
            _answer(store, project, ballot, pages, state)
        else:
            _outcome(state["pace"], ballot, pages)
            st.button("Try other comparisons", icon=":material/refresh:", on_click=_start_again, args=(state,))


def _answer(store: Store, project: Project, ballot: Ballot, pages: TaskPages, state: dict[str, Any]) -> None:
    """The trial: some tasks answered in a frame of the page."""
    st.markdown(
        f"Answer {many(min(N_TRIAL, ballot.n_comparisons), 'comparison')} of this ballot as voters will: by "
        "mouse, touch or keyboard. **Nothing is counted and no answer is kept**; you learn how long a "
        "comparison takes."
    )
    name = f"{ballot.code}-{state['turn']}"
    task_pages = tasks.trial(store, project.id, ballot, pages, turn=state["turn"])
    numbers = [{"number": number, "n": len(task_pages)} for number in range(1, len(task_pages) + 1)]
    data = {
        "trial": name,
        "pages": task_pages,
        "begin": "Begin",
        "places": ["Task {number} of {n}".format(**task) if len(task_pages) > 1 else "" for task in numbers],
        "titles": ["Trial: task {number} of {n}".format(**task) for task in numbers],
    }
    _FRAME(key=f"frame-{name}", data=data, on_result_change=lambda: _store_pace(state, project, f"frame-{name}"))


def _store_pace(state: dict[str, Any], project: Project, key: str) -> None:
    """Keep the figures of the trial that has ended, for this visit; the Plan page offers its seconds."""
    result = st.session_state[key]["result"]
    if isinstance(result, Mapping) and isinstance(result.get("choices"), list) and isinstance(result["seconds"], list):
        state["pace"] = st.session_state[f"_pace-{project.id}"] = pace(result["choices"], result["seconds"])


def _start_again(state: dict[str, Any]) -> None:
    state |= {"turn": state["turn"] + 1, "pace": None}


def _outcome(trial_pace: Pace, ballot: Ballot, pages: TaskPages) -> None:
    """The figures of a trial beside those of the plan."""
    planned = pages.settings.seconds_per_comparison
    figures = (
        ("Median time", f"{trial_pace.median:.1f} s", "Half of your answers took longer, reading the page included."),
        ("Mean time", f"{trial_pace.mean:.1f} s", f"What hours are made of (Eq. 10). The plan has {planned:g} s."),
        ("Equal", f"{trial_pace.n_ties}", "How often you found both items equal."),
        ("Unknown words", f"{trial_pace.n_unknown}", "How often you did not know a word."),
        (
            "Left, right",
            f"{trial_pace.n_left}, {trial_pace.n_right}",
            "On a phone: upper, lower. Sides are drawn, so about as many of each are expected.",
        ),
    )
    answered = many(trial_pace.n, "comparison")
    st.markdown(f"**You answered {answered}. Nothing was counted.**")
    with st.container(horizontal=True):
        for label, value, about in figures:
            st.metric(label, value, width="content", help=about)
    hours, expected = trial_pace.hours(ballot.n_comparisons), planned * ballot.n_comparisons / 3600
    st.caption(
        (
            f"At your pace the {ballot.n_comparisons:,} comparisons of this ballot take {hours:,.1f} hours; at the "
            f"plan's, {expected:,.1f}. You know the words and the task, so voters may be slower."
        )
        + _offered(ballot.number)
    )


def _offered(number: int) -> str:
    """What can follow from a trial of the pilot or of ballot 1: a plan by its time."""
    if number == 0:
        return " The Plan page offers your mean time."
    return " If you discard this draw, the Plan page offers your mean time." if number == 1 else ""


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
            "Previous",
            icon=":material/chevron_left:",
            on_click=_go_to_task,
            args=(key, number - 1),
            disabled=number <= 1,
        )
        number = int(st.number_input(f"Task (of {pages.n_tasks:,})", 1, pages.n_tasks, key=key, width=160))
        st.button(
            "Next",
            icon=":material/chevron_right:",
            on_click=_go_to_task,
            args=(key, number + 1),
            disabled=number >= pages.n_tasks,
        )
    return number


def _go_to_task(key: str, number: int) -> None:
    st.session_state[key] = number
