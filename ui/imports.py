"""Bringing an embedding in: choose a file, see what it is, start the import, watch it."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path
from typing import Any

import streamlit as st

from core import jobs
from core.embeddings import Recognised, sniff
from core.errors import RunoffError
from core.store import Store
from core.store.projects import Project
from ui import frame


def import_box(store: Store, project: Project) -> None:
    """Path or upload; what was recognised is shown before the import starts."""
    path_tab, upload_tab = st.tabs(["From a path on this machine", "By upload"])
    with path_tab:
        text = st.text_input(
            "Path of the file",
            placeholder="/data/vectors.bin",
            key=f"path-{project.id}-{_turn()}",
            help="Any size. The file is read once and may be moved afterwards.",
        )
        if "\0" in text:
            st.error("A path can't hold that character.")
        elif text.strip():
            path = Path(text.strip().strip('"')).expanduser()
            _offer(store, project, path, path.stem, {"path": str(path), "shown": str(path)})
    with upload_tab:
        file = st.file_uploader(
            "word2vec file, text or binary",
            key=f"embedding-{project.id}-{_turn()}",
            help="Up to 1,000 MB; larger files by path.",
        )
        if file is not None:
            path = _keep(store, file)
            if path is None:
                return
            _offer(
                store, project, path, Path(file.name).stem, {"path": str(path), "shown": file.name, "uploaded": True}
            )


def _turn() -> int:
    return st.session_state.setdefault("_import_turn", 0)


def _keep(store: Store, file: Any) -> Path | None:
    """The uploaded file on disk, under a name of ours; written once a file. None where there is no room for it."""
    kept = st.session_state.setdefault("_kept_uploads", {})
    if file.file_id not in kept or not kept[file.file_id].exists():
        path = store.incoming / f"upload-{secrets.token_hex(8)}"
        file.seek(0)
        try:
            with open(path, "wb") as handle:
                shutil.copyfileobj(file, handle, 1 << 22)
        except OSError as error:
            path.unlink(missing_ok=True)
            st.error(
                f"The file can't be kept in the workspace ({error.strerror}). Make room, or import it by its path."
            )
            return None
        kept[file.file_id] = path
    return kept[file.file_id]


def _offer(store: Store, project: Project, path: Path, stem: str, params: dict) -> None:
    try:
        found = sniff(path)
    except RunoffError as error:
        frame.show_error(error)
        return
    st.markdown(describe(found))
    for note in found.notes:
        st.caption(frame.plain(note))
    name = st.text_input("Name in this project", stem, max_chars=100, key=f"name-{path}")
    if st.button("Import", type="primary", key=f"import-{path}"):
        if not name.strip():
            st.error("The embedding has no name. Type one.")
            return
        try:
            job_id = jobs.start(store, "import_embedding", {**params, "name": name.strip()}, project_id=project.id)
        except RunoffError as error:
            frame.show_error(error)
            return
        st.session_state.setdefault("_watched", []).append(job_id)
        st.session_state["_import_turn"] += 1
        st.rerun()


def describe(found: Recognised) -> str:
    """What was recognised, in a sentence."""
    words = f"{found.n_words:,} words" if found.n_words is not None else f"about {found.n_expected:,} words, no header"
    return f"Recognised: **{found.format}**, {words}, {found.dimensions:,} dimensions."


def watch(store: Store, project: Project) -> None:
    """The project's imports under way, and how the ones started here ended."""
    watched = st.session_state.setdefault("_watched", [])
    recent = jobs.project_jobs(store, project.id)
    shown = [job for job in recent if not job.ended or job.id in watched]
    if any(not job.ended for job in shown):
        _watch_running(store, project)
        return
    for job in shown:
        if job.state == "done":
            frame.flash(f"{job.result['name']} is imported: {job.result['n_words']:,} words.")
        elif job.state == "failed":
            frame.flash(f"{job.params['name']} was not imported. {job.error}", kind="warning")
        else:
            frame.flash(f"The import of {job.params['name']} is cancelled; nothing of it is left.", kind="warning")
    if shown:
        st.session_state["_watched"] = []
        frame.changed_here()
        st.rerun()


@st.fragment(run_every=1)
def _watch_running(store: Store, project: Project) -> None:
    jobs.sweep(store)
    running = [job for job in jobs.project_jobs(store, project.id) if not job.ended]
    if not running:
        frame.changed_here()
        st.rerun()
    for job in running:
        if job.id not in st.session_state["_watched"]:
            st.session_state["_watched"].append(job.id)
        with st.container(border=True):
            st.markdown(f"Importing **{frame.plain(job.params['name'])}**")
            st.progress(job.share, text=_pace(job))
            if st.button("Cancel", key=f"cancel-{job.id}"):
                jobs.cancel(store, job.id)
                st.rerun()


def _pace(job: jobs.Job) -> str:
    if job.started_at is None or not job.total:
        return "Starting…"
    rate = job.done / max(jobs.age(job.started_at), 0.1) / 1e6
    left = job.seconds_left()
    return f"{job.done / 1e6:,.0f} of {job.total / 1e6:,.0f} MB, {rate:,.0f} MB/s" + (
        "" if left is None else f", {left:,.0f} s left"
    )
