"""A project as a file, copies of it, and how it is put away or deleted."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.commands.base import PER_SECOND
from core.commands.executor import AT_ONCE
from core.commands.projects import CopyProject, DeleteProject, ImportProject, other_name_said
from core.errors import RunoffError
from core.store import Store
from core.store.archive import (
    archive_project,
    export_project,
    list_archived,
    restore_project,
)
from core.store.brought_files import bring
from core.store.made_files import read_made
from core.store.projects import Project, get_project
from core.views import at_stake, project_file_job
from core.views.words import moment
from ui import cache, frame, jobs, kept_jobs

_PREPARE = "Prepare the project file"
_HOLDS = "Tokens, plan, ballots, votes, uploads, scores and log; no embeddings."


def import_box(store: Store) -> None:
    """A project from a file, and the projects that were put away."""
    turn = st.session_state.setdefault("_project_turn", 0)
    file = st.file_uploader("Project file (zip)", type=["zip"], key=f"project-file-{turn}")
    if file is not None and st.button("Import this project", type="primary"):
        try:
            command = ImportProject(bring(store, file.getvalue()), file.name, len(file.getvalue()))
        except RunoffError as error:
            frame.show_error(error)
            return
        jobs.send(command, lambda: st.session_state.update({"_project_turn": turn + 1}))
    for archived in list_archived(store):
        with st.container(horizontal=True, vertical_alignment="center"):
            when = moment(archived.archived_at)
            st.caption(frame.plain(f"{archived.project.name}, put away on {when} UTC"))
            if st.button("Take out again", key=f"restore-{archived.project.id}"):
                _restore(store, archived.project)


def _restore(store: Store, archived: Project) -> None:
    """Bring a project back, say so, and open it; an error is shown in place."""
    try:
        given = restore_project(store, archived.id, expected_revision=archived.revision)
    except RunoffError as error:
        frame.show_error(error)
        return
    frame.flash(f"{given} is back. {other_name_said(given, archived.name)}".rstrip())
    frame.open_project(archived.id)


def files_box(store: Store, project: Project) -> None:
    """Export, copy, put away, delete."""
    data = _file_by_job(project) if _is_large(store, project) else _file_at_once(store, project)
    if data is not None:
        st.download_button(
            "Download the project file (zip)", data, f"runoff-{project.id}.zip", "application/zip", on_click="ignore"
        )
    with st.form("copy"):
        name = st.text_input("Name of a copy", f"{project.name} (copy)"[:100], max_chars=100)
        if st.form_submit_button("Make a copy"):
            jobs.send(CopyProject(project.id, project.name, name))
    frame.command_button(
        "Put this project away",
        archive_project,
        project.id,
        done=f"{project.name} is put away. Take it out again under “New project”.",
        help="It is hidden, and nothing of it is lost.",
    )
    with st.form("delete"):
        stake = cache.load_at_stake(store, project)
        if stake.votes:
            st.caption(f":material/warning: {frame.plain(at_stake.said(at_stake.DELETES, stake))}")
        typed = st.text_input("To delete the project, type its name", help="A project file is kept in the backups.")
        if st.form_submit_button("Delete this project"):
            jobs.send(DeleteProject(project.id, typed, frame.expected()))


def _is_large(store: Store, project: Project) -> bool:
    standings = cache.load_standings(store, project)
    n = sum(ballot.n_comparisons for standing in standings for ballot in standing.ballots)
    return n / PER_SECOND > AT_ONCE


def _file_at_once(store: Store, project: Project) -> bytes | None:
    """The project file that this visitor asked for; it is kept in the session."""
    if st.button(_PREPARE, help=_HOLDS):
        with st.spinner("Writing…"):
            st.session_state["_project_file"] = (project.id, project.revision, export_project(store, project.id))
    kept = st.session_state.get("_project_file")
    return kept[2] if kept and kept[:2] == (project.id, project.revision) else None


def _file_by_job(project: Project) -> Callable[[], bytes] | None:
    """What reads the project file that a job has written; None as long as none has."""
    job = kept_jobs.of_votes(project_file_job.FIGURES, project, None, _PREPARE, place="project-file")
    if job is None:
        st.caption(_HOLDS)
        return None
    return partial(read_made, project_file_job.FIGURES.of_job(frame.store(), job.id))


def open_copy(copy: Callable[[Store, str, str], str], store: Store, project: Project, name: str, *, done: str) -> None:
    """Make a copy of a project by this command, say so, and open it; an error is shown in place.

    `done` is to be said, of `copy` and `name`.
    """
    try:
        copied = copy(store, project.id, name)
    except RunoffError as error:
        frame.show_error(error)
        return
    given = get_project(store, copied).name
    frame.flash(f"{done.format(copy=given, name=project.name)} {other_name_said(given, name)}".rstrip())
    frame.open_project(copied)
