"""Versions of the dataset: release one, download them, see what changed."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.errors import RunoffError
from core.publishing import release
from core.store.projects import Project
from core.store.releases import MAX_NOTE, release_bytes
from core.views.export import NOW, ExportView, diff_lines
from core.views.words import many, moment, slug
from ui import cache, frame


def releases_box(project: Project, view: ExportView) -> None:
    """The versions, and a form for the next."""
    st.subheader("Versions")
    for found in view.releases:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.download_button(
                f"Version {found.version}",
                partial(release_bytes, frame.store(), found),
                f"{slug(project.name)}-{found.version}.zip",
                "application/zip",
                key=f"release-{found.id}",
                icon=":material/download:",
                on_click="ignore",
            )
            figures = f"{many(found.detail.get('items', 0), 'item')}, {many(found.detail.get('votes', 0), 'vote')}"
            marks = [name for name in ("provisional", "simulated") if found.detail.get(name)]
            told = ", ".join([f"{moment(found.at)} UTC", figures, *marks])
            st.caption(frame.plain(f"{told}. {found.note}" if found.note else told))
    if not view.releases:
        st.caption("None yet. A released version is kept byte for byte, whatever happens to the project.")
    _release(project, view)
    if view.releases:
        _compare(project, view)


def _release(project: Project, view: ExportView) -> None:
    with st.expander("Release a version"), st.form(f"release-{project.id}-{len(view.releases)}"):
        if view.fields.missing:
            st.caption(f"The datasheet still lacks: {', '.join(view.fields.missing)}.")
        version = st.text_input("Version", placeholder="1.0", max_chars=40, help="Taken once, it can't be used again.")
        note = st.text_area("What is new", max_chars=MAX_NOTE, height=80)
        if st.form_submit_button("Release"):
            with st.spinner("Making the files…"):
                frame.carry_out(
                    release,
                    frame.store(),
                    project.id,
                    version,
                    note,
                    done=lambda kept: f"Version {kept.version} is released and kept.",
                )


def _compare(project: Project, view: ExportView) -> None:
    names = view.releases_by_id
    with st.expander("What changed between two versions"):
        left, right = st.columns(2)
        before = left.selectbox(
            "From", list(names), index=1, format_func=lambda id_: names[id_], key=f"diff-from-{project.id}"
        )
        after = right.selectbox("To", list(names), format_func=lambda id_: names[id_], key=f"diff-to-{project.id}")
        if before == after:
            st.caption("Choose two different versions.")
            return
        if not st.toggle("Compare them", key=f"diff-{project.id}"):
            return
        try:
            found = cache.load_diff(frame.store(), project, before or NOW, after or NOW)
        except RunoffError as error:
            frame.show_error(error)
            return
        if found.same:
            st.markdown("**The same items with the same scores.**")
        st.dataframe(diff_lines(found), hide_index=True, alt="What changed, in numbers")
        for label, table in (("Moved furthest", found.moved), ("Added", found.added), ("Removed", found.removed)):
            if len(table) and not (label == "Moved furthest" and not found.n_ranks_moved):
                st.caption(label)
                st.dataframe(table.head(100), hide_index=True, height=240, alt=f"{label}: the items")
