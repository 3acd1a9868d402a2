"""A file whose columns Runoff doesn't know, or knows in another way: they are named once and remembered."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.errors import RunoffError
from core.store import Store
from core.store.projects.mappings import forget_mapping, read_mapping, remember_mapping
from core.store.projects.project_commands import Project
from core.views import columns
from ui.shared import frame
from ui.shared.columns_form import columns_form


def mapping_box(store: Store, project: Project, file: Any, *, needed: bool) -> None:
    """The columns of a file to be named; open at once where the file can't be read without."""
    found = _table(file) if needed else None
    if needed and found is None:
        return  # no table, which was said above
    if not st.toggle(f"Name the columns of {frame.plain(file.name)}", value=needed, key=f"columns-open-{file.file_id}"):
        return
    with st.container(border=True):
        found = found or columns.load(file.getvalue(), file.name)
        known = read_mapping(store, project.id, found.header)
        mapping = columns_form(found, known or found.guessed, f"columns-{file.file_id}")
        with st.container(horizontal=True):
            if st.button(
                "Read it this way", type="primary", key=f"map-{file.file_id}", disabled=not mapping.is_complete
            ):
                done = "These columns are remembered: from now on files with the same header are read this way."
                frame.carry_out(remember_mapping, store, project.id, found.header, mapping, done=done)
            if known is not None and st.button("Forget these columns", key=f"unmap-{file.file_id}"):
                frame.carry_out(forget_mapping, store, project.id, found.header, done="The columns are forgotten.")


def _table(file: Any) -> columns.Columns | None:
    """The columns of a file; None where it holds no table."""
    try:
        return columns.load(file.getvalue(), file.name)
    except RunoffError:
        return None
