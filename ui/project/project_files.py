"""A project as a file, copies of it, and how it is archived or deleted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from core.commands.figures.files import ProjectFile
from core.commands.projects import CopyProject, DeleteProject, ImportProject, other_name_text
from core.errors import RunoffError
from core.store import Store
from core.store.projects.archive import (
    archive_project,
    list_archived,
    restore_project,
)
from core.store.projects.project_commands import Project, get_project
from core.store.stored_files import put_upload
from core.views import file_kinds, wording
from core.views.wording import moment
from ui.shared import cache, frame, jobs

_HOLDS = "Tokens, plan, ballots, votes, uploads, scores and log; no embeddings."


def import_box(store: Store) -> None:
    """A project from a file, and the archived projects."""
    turn = st.session_state.setdefault("_project_turn", 0)
    file = st.file_uploader("Project file (zip)", key=f"project-file-{turn}")
    if file is not None and _is_project(file) and st.button("Import this project", type="primary"):
        try:
            command = ImportProject(put_upload(store, file.getvalue()), file.name, len(file.getvalue()))
        except RunoffError as error:
            frame.show_error(error)
            return
        jobs.send(command, lambda: st.session_state.update({"_project_turn": turn + 1}))
    for archived in list_archived(store):
        with st.container(horizontal=True, vertical_alignment="center"):
            when = moment(archived.archived_at)
            st.caption(frame.plain(f"{archived.project.name}, archived on {when} UTC"))
            if st.button("Restore", key=f"restore-{archived.project.id}"):
                _restore(store, archived.project)


def _is_project(file: Any) -> bool:
    """Whether a file may be a project file; if not, an error says what it is."""
    try:
        file_kinds.check("project", file.getvalue(), file.name)
    except RunoffError as error:
        frame.show_error(error)
        return False
    return True


def _restore(store: Store, archived: Project) -> None:
    """Bring a project back, say so, and open it; an error is shown in place."""
    try:
        actual_name = restore_project(store, archived.id, expected_revision=archived.revision)
    except RunoffError as error:
        frame.show_error(error)
        return
    frame.flash(f"{actual_name} is back. {other_name_text(actual_name, archived.name)}".rstrip())
    frame.open_project(archived.id)


def files_box(store: Store, project: Project) -> None:
    """Export, copy, archive, delete."""
    figure = ProjectFile(project.id, project.revision)
    measured = jobs.figure(
        figure, project, "Prepare the project file", key="project-file", on_request=True, help=_HOLDS
    )
    if measured is None:
        st.caption(_HOLDS)
    else:
        name = measured.result.filename
        st.download_button(
            "Download the project file (zip)", measured.read_file, name, "application/zip", on_click="ignore"
        )
    with st.form("copy"):
        name = st.text_input("Name of a copy", f"{project.name} (copy)"[:100], max_chars=100)
        if st.form_submit_button("Make a copy"):
            jobs.send(CopyProject(project.id, project.name, name))
    frame.command_button(
        "Archive this project",
        archive_project,
        project.id,
        done=f"{project.name} is archived. Restore it under “New project, import”.",
        help="It is hidden, and nothing is lost.",
    )
    with st.form("delete"):
        stake = cache.load_stake_of_project(store, project)
        if stake.votes:
            st.caption(f":material/warning: {frame.plain(wording.deletion_text(wording.DELETES, stake))}")
        typed = st.text_input("To delete the project, type its name", help="A project file is kept in the backups.")
        if st.form_submit_button("Delete this project"):
            jobs.send(DeleteProject(project.id, typed, frame.expected()))


def open_copy(copy: Callable[[Store, str, str], str], store: Store, project: Project, name: str, *, done: str) -> None:
    """Make a copy of a project by this command, say so, and open it; an error is shown in place.

    `done` is the message, with {copy} and {name}.
    """
    try:
        copied = copy(store, project.id, name)
    except RunoffError as error:
        frame.show_error(error)
        return
    actual_name = get_project(store, copied).name
    frame.flash(f"{done.format(copy=actual_name, name=project.name)} {other_name_text(actual_name, name)}".rstrip())
    frame.open_project(copied)
