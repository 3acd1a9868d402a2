"""Large result files: a job reads them, with a sign, and any tab of the project finds what it read."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from core import jobs
from core.errors import InputError, RunoffError
from core.store import Store
from core.store.ballots import Ballot
from core.store.brought_files import bring
from core.store.made_files import made_path
from core.store.projects import Project
from core.views import upload_jobs
from core.views.upload_jobs import LargePreview, Unreadable
from ui import frame, kept_jobs
from ui.mapping_box import mapping_box
from ui.questions_box import said_of

_BROUGHT = "_brought"  # in the session: the hashes of large files, by their ids


def is_large(file: Any) -> bool:
    """Whether a job reads an uploaded file."""
    return upload_jobs.is_large(file.getvalue(), file.name)


def preview(store: Store, project: Project, ballot: Ballot, file: Any) -> LargePreview | None:
    """What a file holds; None where it can't be read, or isn't read yet: then that is shown."""
    known = st.session_state.setdefault(_BROUGHT, {})
    try:
        if file.file_id not in known:
            known[file.file_id] = bring(store, file.getvalue())
        job = _job(frame.workspace(), project, ballot, known[file.file_id], file)
    except RunoffError as error:
        known.pop(file.file_id, None)
        frame.show_error(error)
        return None
    if job.state == "done":
        found = upload_jobs.found(store, job.id, job.result or {})
        if isinstance(found, LargePreview):
            return found
        show_problem(store, project, file, found.error, found.is_unnamed)
        return None
    st.markdown(f"**{frame.plain(file.name)}**")
    if not job.ended:
        kept_jobs.watch(job.id, partial(kept_jobs.so_far, upload_jobs.DOING), f"preview-{file.file_id}")
        return None
    if job.state == "failed":
        st.warning(frame.plain(f"{upload_jobs.DOING} ended early. {job.error}"))
    if st.button("Read it again", key=f"again-{file.file_id}", icon=":material/refresh:"):
        try:
            bring(store, file.getvalue())
            _start(store, project, job.params)
        except RunoffError as error:
            frame.show_error(error)
            return None
        st.rerun()
    return None


def _job(store: Store, project: Project, ballot: Ballot, sha256: str, file: Any) -> jobs.Job:
    """The job that reads this file, or has read it; started where there is none."""
    params = upload_jobs.params_of(sha256, file.name, ballot, project.revision, said_of(file))
    job = jobs.same_job(store, project.id, upload_jobs.KIND, params)
    if job is None or _is_gone(store, job):
        job = jobs.read_job(store, _start(store, project, params))
    return job


def _start(store: Store, project: Project, params: dict[str, Any]) -> str:
    return jobs.start(store, upload_jobs.KIND, params, project_id=project.id, once=True)


def _is_gone(store: Store, job: jobs.Job) -> bool:
    """Whether a file was read and its answers, which are kept for a day, are there no more."""
    if job.state != "done" or made_path(store, job.id).is_file():
        return False
    return not isinstance(upload_jobs.found(store, job.id, job.result or {}), Unreadable)


def show_problem(store: Store, project: Project, file: Any, error: RunoffError, is_unnamed: bool) -> None:
    """Why a file can't be read, and the form that names its columns where that may help."""
    st.markdown(f"**{frame.plain(file.name)}**")
    if is_unnamed:
        st.info("Runoff doesn't know these columns: say which column is which.", icon=":material/view_column:")
    else:
        frame.show_error(error)
    if isinstance(error, InputError):
        mapping_box(store, project, file, needed=True)
