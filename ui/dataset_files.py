"""The dataset's files: all of it as one zip, and single files in other formats."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.errors import RunoffError
from core.published import read_published
from core.spoken import say
from core.store.projects import Project
from core.views.export import FORMATS, ExportView
from ui import cache, frame


def whole(project: Project) -> None:
    """The recommended file; it takes some seconds, so it is made when it is asked for."""
    asked = (project.id, project.stamp)
    if st.session_state.get("_publication_asked") != asked:
        if not st.button(
            say("Make the dataset to publish (zip)"),
            type="primary",
            icon=":material/inventory_2:",
        ):
            st.caption(
                say(
                    "The dataset in all formats, its datasheet, the votes under pseudonyms, plan and seeds, and "
                    "checksums: a folder that Hugging Face datasets loads, and from which anybody can compute the "
                    "scores again."
                )
            )
            return
        st.session_state["_publication_asked"] = asked
        st.rerun()
    try:
        with st.spinner(say("Making the files: agreement and reliability are computed…")):
            made = cache.load_publication(frame.store(), project)
    except RunoffError as error:
        frame.show_error(error)
        return
    st.download_button(
        say("Download the dataset (zip, {size:.1f} MB)", size=max(len(made.data) / 1e6, 0.1)),
        made.data,
        made.filename,
        "application/zip",
        type="primary",
        icon=":material/download:",
        on_click="ignore",
    )
    with st.container(horizontal=True):
        for label, path, mime in (
            (say("Datasheet (page)"), "datasheet.html", "text/html"),
            (say("Datasheet (Markdown)"), "datasheet.md", "text/markdown"),
        ):
            stem = made.filename.removesuffix(".zip")
            make = partial(_member, made.data, path)
            st.download_button(label, make, f"{stem}-{path}", mime, on_click="ignore", icon=":material/description:")
    for path, why in made.left_out.items():
        st.caption(frame.plain(say("Not in it: {path}. {why}", path=path, why=why)))


def _member(data: bytes, path: str) -> bytes:
    return read_published(data).files[path]


def formats(view: ExportView) -> None:
    """Single files, each made when it is downloaded."""
    with st.expander(say("Single files and other formats")):
        for found in FORMATS:
            problem = view.problems.get(found.label, "")
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.download_button(
                    say(found.label),
                    partial(found.make, view.dataset),
                    f"{view.stem}{found.ending}",
                    found.mime,
                    key=f"format-{found.ending}",
                    icon=":material/download:",
                    on_click="ignore",
                    disabled=bool(problem),
                    width=220,  # all alike, so that what is said of them stands in one column
                )
                st.caption(frame.plain(problem or say(found.about)))
