"""The dataset's files: all of it as one zip, and single files in other formats."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.errors import RunoffError
from core.published import read_published
from core.publishing import Publication
from core.store.projects import Project
from core.views import publication_job
from core.views.export import FORMATS, ExportView
from core.views.publication_job import MANY, MadePublication
from ui import cache, frame, kept_jobs

_BUTTON = "Make the dataset to publish (zip)"
_ABOUT = (
    "The dataset in all formats, its datasheet, the votes under pseudonyms, plan and seeds, and checksums: a folder "
    "that Hugging Face datasets loads, and from which anybody can compute the scores again."
)


def whole(project: Project, n_votes: int) -> None:
    """The recommended file, made when it is asked for: in some seconds, or of more than `MANY` votes by a job."""
    made = _at_once(project) if n_votes <= MANY else _by_job(project)
    if made is None:
        return
    st.download_button(
        f"Download the dataset (zip, {max(made.size / 1e6, 0.1):.1f} MB)",
        made.read,
        made.filename,
        "application/zip",
        type="primary",
        icon=":material/download:",
        on_click="ignore",
    )
    with st.container(horizontal=True):
        for label, path, mime in (
            ("Datasheet (page)", "datasheet.html", "text/html"),
            ("Datasheet (Markdown)", "datasheet.md", "text/markdown"),
        ):
            stem = made.filename.removesuffix(".zip")
            make = partial(_member, made, path)
            st.download_button(label, make, f"{stem}-{path}", mime, on_click="ignore", icon=":material/description:")
    for path, why in made.left_out.items():
        st.caption(frame.plain(f"Not in it: {path}. {why}"))


def _by_job(project: Project) -> MadePublication | None:
    """The zip that a job has made; None as long as none has."""
    job = kept_jobs.of_votes(publication_job.FIGURES, project, None, _BUTTON, place="publication")
    if job is None:
        st.caption(_ABOUT)
        return None
    return publication_job.FIGURES.of_job(frame.store(), job.id)


def _at_once(project: Project) -> Publication | None:
    """The zip as the project stands now; None until it is asked for."""
    asked = (project.id, project.stamp)
    if st.session_state.get("_publication_asked") != asked:
        if not st.button(_BUTTON, type="primary", icon=":material/inventory_2:"):
            st.caption(_ABOUT)
            return None
        st.session_state["_publication_asked"] = asked
        st.rerun()
    try:
        with st.spinner("Making the files: agreement and reliability are computed…"):
            return cache.load_publication(frame.store(), project)
    except RunoffError as error:
        frame.show_error(error)
        return None


def _member(made: Publication | MadePublication, path: str) -> bytes:
    return read_published(made.read()).files[path]


def formats(view: ExportView) -> None:
    """Single files, each made when it is downloaded."""
    with st.expander("Single files and other formats"):
        for found in FORMATS:
            problem = view.problems.get(found.label, "")
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.download_button(
                    found.label,
                    partial(found.make, view.dataset),
                    f"{view.stem}{found.ending}",
                    found.mime,
                    key=f"format-{found.ending}",
                    icon=":material/download:",
                    on_click="ignore",
                    disabled=bool(problem),
                    width=220,  # all alike, so that what is said of them stands in one column
                )
                st.caption(frame.plain(problem or found.about))
