"""New areas: by paste, or from a file whose columns are found or chosen."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from core.errors import RunoffError
from core.store import Store
from core.store.areas import add_areas
from core.store.projects import Project
from core.tokens import Preview, TokenLists, clean_token, preview, read_areas_file, read_pasted
from ui import choosers, frame

SHOWN = 20  # notes on a list
_NO_COLUMN = -1


def take(action: Callable[..., Any], reader: Callable[..., TokenLists], *args: Any) -> None:
    """Read token lists and carry out what they are for; what the reading noticed is said."""
    try:
        lists = reader(*args)
    except RunoffError as error:
        frame.show_error(error)
        return
    names = ", ".join(area.name for area in lists.areas)
    if frame.carried_out(action, lists.areas, done=f"Saved: {names}."):
        _flash_notes([str(note) for note in lists.notes])
        st.session_state["_areas_turn"] = st.session_state.get("_areas_turn", 0) + 1
        st.rerun()


def _flash_notes(notes: list[str]) -> None:
    """What the reading noticed, in one message."""
    if len(notes) == 1:
        frame.flash(notes[0], kind="warning")
    elif notes:
        told = [*notes[:SHOWN], *([f"and {len(notes) - SHOWN} more"] if len(notes) > SHOWN else [])]
        frame.flash(f"{len(notes)} remarks on what was read.", kind="warning", details=told)


def add_box(store: Store, project: Project) -> None:
    """New areas by paste or from a file. The boxes are emptied once their areas are saved."""
    key = f"{project.id}-{st.session_state.get('_areas_turn', 0)}"
    paste, file = st.tabs(["Paste", "From a file"])
    with paste, st.form(f"paste-{project.id}"):
        name = st.text_input("Area", placeholder="For example: Sales & marketing", max_chars=100, key=f"new-name-{key}")
        text = st.text_area(
            "Tokens, one a line", height=180, placeholder="sales\nmarketing\nmachine learning", key=f"new-text-{key}"
        )
        if st.form_submit_button("Add area", type="primary"):
            if not clean_token(name):
                st.error("The area has no name. Type one above the tokens.")
            else:
                take(partial(add_areas, store, project.id), read_pasted, name, text)
    with file:
        upload = st.file_uploader(
            "CSV, TSV or Excel with the columns area and token, or a list of one token a line",
            type=["csv", "tsv", "txt", "xlsx"],
            key=f"new-file-{key}",
        )
        if upload is not None:
            _file_box(store, project, upload.getvalue(), upload.name, f"{key}-{upload.file_id}")


def _file_box(store: Store, project: Project, data: bytes, filename: str, key: str) -> None:
    """Which sheet and columns of a file hold areas and tokens, its first rows, and the button that takes it."""
    try:
        found = preview(data, filename)
        sheet = None
        if len(found.sheets) > 1:
            sheet = choosers.selectbox("Sheet", {name: name for name in found.sheets}, key=f"sheet-{key}")
            found = preview(data, filename, sheet=sheet)
    except RunoffError as error:
        frame.show_error(error)
        return
    columns = None
    if len(found.header) > 1:
        columns = _columns_box(found, f"{key}-{sheet}")
        if not found.guess.is_certain:
            st.warning(
                "The first row is taken for the names of the columns. If it holds a token, put a row with the "
                "names area and token above it."
            )
    table = [dict(zip(_columns(found).values(), row, strict=False)) for row in found.sample[:5]]
    st.dataframe(table, hide_index=True, alt="The first rows of the file")
    if st.button("Add these areas", type="primary"):
        read = partial(read_areas_file, data, filename, columns=columns, sheet=sheet)
        take(partial(add_areas, store, project.id), read)


def _columns_box(found: Preview, key: str) -> tuple[int | None, int]:
    """The area column (None for one area named after the file) and the token column, as chosen."""
    names = _columns(found)
    left, right = st.columns(2)
    area = choosers.selectbox(
        "Area column",
        names | {_NO_COLUMN: "one area for all"},
        _NO_COLUMN if found.guess.area is None else found.guess.area,
        key=f"area-column-{key}",
        apart=_nth,
        place=left,
    )
    token = choosers.selectbox("Token column", names, found.guess.token or 0, key=f"token-column-{key}", place=right)
    return None if area == _NO_COLUMN else area, token


def _columns(found: Preview) -> dict[int, str]:
    """The columns by their places, by names of which no two are equal."""
    names = {place: name or f"column {place + 1}" for place, name in enumerate(found.header)}
    return choosers.told_apart(names, _nth)


def _nth(place: int) -> str:
    return "" if place == _NO_COLUMN else f"column {place + 1}"
