"""Commands that take long where there are many votes: at once with a spinner, or by a job with a sign on every page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core import job_sweep, jobs
from core.errors import RunoffError
from core.store.projects import Project
from core.views import long_commands
from core.views.command_list import COMMANDS
from ui import frame

_WATCHED = "_watched_commands"  # in the session: ids of jobs whose end this visitor is told


_BEGUN = "_begun_command"  # by its name, until the visitor is told
_ASKED = "_asked_commands"  # those that this visitor asked for


def by_job(project: Project | None, name: str, arguments: Mapping[str, Any]) -> None:
    """Let a job carry out a command of `command_list.COMMANDS`, of a project or of the workspace."""
    try:
        params = long_commands.params_of(name, arguments, frame.expected() if project else 0)
        job_id = jobs.start(
            frame.store(), long_commands.KIND, params, project_id=project.id if project else None, once=True
        )
    except RunoffError as error:
        frame.show_error(error)
        return
    for kept in (_WATCHED, _ASKED):
        st.session_state.setdefault(kept, []).append(job_id)
    st.session_state[_BEGUN] = name
    st.rerun()


def carry_out(project: Project, name: str, arguments: Mapping[str, Any], *, is_long: bool) -> None:
    """Carry out a command of `command_list.COMMANDS` on the project as the visitor saw it, and draw the page anew.

    is_long : a job does it, in a process of its own; else it is done when this returns.
    """
    if is_long:
        by_job(project, name, arguments)
        return
    found = COMMANDS[name]
    with st.spinner(f"{found.doing} …"):
        frame.carry_out(
            long_commands.carry_out, frame.store(), project.id, name, arguments, frame.expected(),
            done=lambda result: found.said(result, arguments),
        )  # fmt: skip


def offer(
    label: str, project: Project, name: str, arguments: Mapping[str, Any], *, is_long: bool, **options: Any
) -> None:
    """A button that carries out a command, unless a job does so now; `options` go to the button."""
    running = is_long and any(
        job.params["command"] == name for job in long_commands.under_way(frame.store(), project.id)
    )
    if st.button(label, **{**options, "disabled": running or options.get("disabled", False)}):
        carry_out(project, name, arguments, is_long=is_long)


def tell_ends() -> None:
    """Leave a message of each command whose job has ended since this visitor saw it run, and open what it made."""
    store, watched = frame.store(), st.session_state.get(_WATCHED, [])
    made = ""
    for job_id in list(dict.fromkeys(watched)):
        try:
            job = jobs.read_job(store, job_id)
        except RunoffError:  # the project is gone, and its jobs with it
            watched[:] = [other for other in watched if other != job_id]
            continue
        if not job.ended:
            continue
        watched[:] = [other for other in watched if other != job_id]
        if job.state == "done":
            frame.flash(long_commands.done_said(job))
            opens = COMMANDS[job.params["command"]].opens
            if opens is not None and job_id in st.session_state.get(_ASKED, []):
                made = opens((job.result or {})["found"])
        else:
            frame.flash(long_commands.ended_said(job), kind="warning")
        frame.changed_here()
    if made:
        frame.open_project(made)


def show_under_way() -> None:
    """The sign of each command that a job carries out on the chosen project or the workspace, whoever asked for it."""
    project_id = st.session_state.get("project_id")
    running = long_commands.under_way(frame.store(), project_id)
    begun = st.session_state.pop(_BEGUN, None)
    if begun is not None and running:  # whoever pressed a button far down the page doesn't see its top
        what = COMMANDS[begun].doing
        told = f"{what} began in the background. Its sign stands at the top of the page."
        st.toast(frame.plain(told), icon=":material/hourglass_top:")
    with st.container():  # one place, with a sign or without: what follows keeps its own
        if running:
            watched = st.session_state.setdefault(_WATCHED, [])
            watched += [job.id for job in running if job.id not in watched]
            _watch(project_id, {job.id for job in running})


@st.fragment(run_every=1)
def _watch(project_id: str | None, were_running: set[str]) -> None:
    store = frame.workspace()
    job_sweep.sweep(store)
    running = long_commands.under_way(store, project_id)
    if were_running - {job.id for job in running}:
        st.rerun()
    for job in running:
        with st.container(horizontal=True, vertical_alignment="center"):
            what = COMMANDS[job.params["command"]].doing
            if job.started_at is None:
                said = f"{what} in the background, starting. You may leave this page."
            else:
                said = f"{what} in the background, {jobs.age(job.started_at):,.0f} s so far. You may leave this page."
            st.caption(f":material/hourglass_top: {said}")
            if st.button("Stop", key=f"stop-{job.id}"):
                jobs.cancel(store, job.id)
                st.rerun()
