"""Commands and figures on pages: the button that asks for one, its sign with Cancel, and the message of its end.

What is short is there when this returns; else a job does it, and any tab of the project shows the job's sign.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from core.base.numbers_in_words import percent, plural
from core.commands import executor
from core.commands.base import Command
from core.commands.executor import Started
from core.commands.figures.base import Figure, MeasuredFigure, is_there, job_of, params_of
from core.errors import RunoffError
from core.jobs import lifecycle
from core.store import Store
from core.store.projects.project_commands import Project
from core.views.wording import moment
from ui.shared import cache, frame
from ui.shared.frame import come_to_top

R = TypeVar("R")
_WATCHED = "_watched_commands"  # in the session: ids of jobs whose end this visitor is told
_BEGUN = "_begun_command"  # whether this visitor has just begun one, whose sign is to be seen
_ASKED = "_asked_commands"  # those that this visitor asked for


def send(command: Command[R], then: Callable[[], Any] | None = None) -> None:
    """Carry a command out as the visitor saw the project, say what happened, and draw the page anew; an error is shown
    in place. `then` is called once it is carried out, or a job does so."""
    to_open: list[str] = []

    def submit() -> str | None:
        with st.spinner(f"{command.doing} …"):
            outcome = executor.submit(frame.store(), command)
        if then is not None:
            then()
        if isinstance(outcome, Started):
            for watched in (_WATCHED, _ASKED):
                st.session_state.setdefault(watched, []).append(outcome.job_id)
            st.session_state[_BEGUN] = True
            return None
        to_open.extend(filter(None, [command.opens(outcome.result)]))
        return command.summary(outcome.result)

    if frame.carried_out(submit, done=lambda message: message):
        if to_open:
            frame.open_project(to_open[0])
        st.rerun()


def offer(label: str, command: Command[Any], then: Callable[[], Any] | None = None, **options: Any) -> None:
    """A button that carries out a command, unless a job carries out such a one now; `then` as for `send`, `options` go
    to the button.

    Why the last job of just this command ended early, or that it was cancelled, stands beside it.
    """
    store, running = frame.store(), False
    if executor.takes_long(store, command):
        under_way = executor.under_way(store, command.project_id)
        running = any(job.params.get("command") == command.name for job in under_way)
        last = executor.last_of(store, command)
        if last is not None and last.state == "failed":
            st.warning(frame.plain(executor.ended_text(store, last)))
        elif last is not None and last.state == "cancelled":
            st.caption(frame.plain(executor.ended_text(store, last)))
    if st.button(label, on_click=frame.pressed, **{**options, "disabled": running or options.get("disabled", False)}):
        send(command, then)


def report_ends() -> None:
    """Leave a message of each command whose job ended since this visitor saw it run, and open the project it made."""
    store, watched = frame.store(), st.session_state.get(_WATCHED, [])
    project_id = ""
    for job_id in list(dict.fromkeys(watched)):
        job = lifecycle.find_job(store, job_id)
        if job is not None and not job.ended:
            continue
        watched[:] = [other for other in watched if other != job_id]
        if job is None:  # the project is gone, and its jobs with it
            continue
        if job.state == "done":
            frame.flash(executor.done_text(job), pressed=False)
            if job_id in st.session_state.get(_ASKED, []):
                project_id = executor.opened(job) or project_id
        else:
            frame.flash(executor.ended_text(store, job), kind="warning", pressed=False)
        frame.changed_here()
    if project_id:
        frame.open_project(project_id)


def show_under_way() -> None:
    """The sign of each command that a job carries out on the chosen project or the workspace, whoever asked for it."""
    project_id = st.session_state.get("project_id")
    running = executor.under_way(frame.store(), project_id)
    begun = st.session_state.pop(_BEGUN, False)
    with st.container():  # one place, with a sign or without: what follows keeps its own
        if running:
            if begun:
                come_to_top(pressed=True)
            watched = st.session_state.setdefault(_WATCHED, [])
            watched += [job.id for job in running if job.id not in watched]
            _watch(project_id, {job.id for job in running})


@st.fragment(run_every=1)
def _watch(project_id: str | None, were_running: set[str]) -> None:
    store = frame.workspace()
    lifecycle.sweep(store)
    running = executor.under_way(store, project_id)
    if were_running - {job.id for job in running}:
        st.rerun()
    for job in running:
        _with_stop(store, job, lambda job: so_far(executor.doing(job), job, executor.meanwhile(store, job)), job.id)


HELP = "It reads all votes in the background, which may take a few minutes. You may leave this page."


def figure(
    wanted: Figure[R],
    project: Project,
    button: str,
    *,
    key: str,
    on_request: bool = False,
    before_job: Callable[[], Any] | None = None,
    **options: Any,
) -> MeasuredFigure[R] | None:
    """A figure of the project as it stands; None as long as it isn't there: the `button` that asks for it, or the sign
    of its job, is shown.

    What is short is there at once, `on_request` after the button; `options` go to the button. Of what a job has found
    it is said where votes have come in on the voting page since, and it can be made anew. A job is begun without being
    asked for where `before_job` is given: it is called before each job.
    """
    store = frame.store()
    if not executor.takes_long(store, wanted):
        return _at_once(wanted, project, button, key, on_request, options)
    job = job_of(store, wanted)
    if job is None or not is_there(store, wanted, job):
        if before_job is not None and (job is None or job.state == "done"):
            begin(wanted, before_job)
        else:
            _ask(wanted, job, button, key, {"help": HELP, **options}, before_job)
        return None
    measured = cache.kept(store, project, wanted, job)
    if since := measured.votes_since(project):
        with st.container(horizontal=True, vertical_alignment="center"):
            sentence = plural(
                since,
                "As of {moment}; {n} vote was given or taken back since.",
                "As of {moment}; {n} votes were given or taken back since.",
                moment=moment(job.created_at),
            )
            st.caption(f":material/history: {frame.plain(sentence)}")
            start_button(wanted, "Compute it again", f"anew-{key}", help=HELP)
    return measured


def _at_once(
    wanted: Figure[R], project: Project, button: str, key: str, on_request: bool, options: dict[str, Any]
) -> MeasuredFigure[R] | None:
    request = [params_of(wanted), project.cache_key]
    if on_request and st.session_state.get(f"_asked-{key}") != request:
        if not st.button(button, key=f"compute-{key}", **options):
            return None
        st.session_state[f"_asked-{key}"] = request
        st.rerun()
    try:
        with st.spinner(f"{wanted.doing} …"):
            return cache.measured(frame.store(), project, wanted)
    except RunoffError as error:
        frame.show_error(error)
        return None


def _ask(
    wanted: Figure[Any],
    job: lifecycle.Job | None,
    button: str,
    key: str,
    options: dict[str, Any],
    before_job: Callable[[], Any] | None = None,
) -> None:
    """The sign of the job that measures a figure, or the button that starts one, with why the last ended early."""
    if job is not None and not job.ended:
        watch(job.id, partial(so_far, wanted.doing), key)
        return
    if job is not None and job.state == "failed":
        st.warning(frame.plain(f"{wanted.doing} ended early. {job.error}"))
    start_button(wanted, button, f"compute-{key}", before_job, **options)


def start_button(
    wanted: Figure[Any], button: str, key: str, before_job: Callable[[], Any] | None = None, **options: Any
) -> None:
    """A button that starts the job of a figure, unless it is under way; `options` go to the button."""
    if st.button(button, key=key, on_click=frame.pressed, **{"icon": ":material/calculate:", **options}):
        begin(wanted, before_job)


def begin(wanted: Figure[Any], before_job: Callable[[], Any] | None = None) -> None:
    """Start the job of a figure, and draw the page anew; an error is shown in place."""
    if start(wanted, before_job):
        st.rerun()


def start(wanted: Figure[Any], before_job: Callable[[], Any] | None = None) -> bool:
    """Start the job of a figure within this run; whether it could be, as an error is shown in place."""
    try:
        if before_job is not None:
            before_job()
        executor.start(frame.store(), wanted)
    except RunoffError as error:
        frame.show_error(error)
        return False
    return True


@st.fragment(run_every=1)
def watch(job_id: str, sign: Callable[[lifecycle.Job], Any], key: str) -> None:
    """The `sign` of a job that runs, and a way to stop it; the page runs anew once it has ended."""
    store = frame.workspace()
    lifecycle.sweep(store)
    job = lifecycle.find_job(store, job_id)
    if job is None or job.ended:
        st.rerun()
    _with_stop(store, job, sign, key)


def _with_stop(store: Store, job: lifecycle.Job, sign: Callable[[lifecycle.Job], Any], key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        sign(job)
        if st.button("Cancel", key=f"stop-{key}"):
            lifecycle.cancel(store, job.id)
            st.rerun()


def so_far(what: str, job: lifecycle.Job, more: str = "") -> None:
    """What a job does, how far it is, and its time."""
    if job.started_at is None:
        far = "starting"
    else:
        done = f"{percent(job.share)}, " if job.total else ""
        far = f"{done}{lifecycle.age(job.started_at):,.0f} s so far"
    sentence = " ".join(filter(None, [f"{what} in the background, {far}.", more, "You may leave this page."]))
    st.caption(f":material/hourglass_top: {sentence}")
