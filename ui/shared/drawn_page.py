"""The project that the visitor's page was drawn for: what is pressed there must not be done to another one.

Widgets are found again by their labels. So a button that was pressed on the page of one project is pressed on the page
of another, where that one is shown by then: chosen a moment before, by the browser's way back, or as the first one is
gone. In such a run the pages get a workspace that takes no changes (`frame.store`), whatever command it would be. Where
the button isn't on the page that is shown by then, the visitor is told all the same.
"""

from __future__ import annotations

import streamlit as st

from core.store.projects.project_commands import Project

_DRAWN, _DRAWING, _REFUSED, _PRESSED = "_drawn", "_drawing", "_refused", "_pressed"  # in the session


def pressed() -> None:
    """A button that changes something was pressed: what it does on a click, before the run that finds it pressed."""
    st.session_state[_PRESSED] = True


def begin(shown: Project | None) -> str:
    """A run begins that shows this project, or none; why what was pressed on the page before it isn't done, or ""."""
    was_pressed = st.session_state.pop(_PRESSED, False)
    drawn = st.session_state.get(_DRAWN)
    st.session_state[_DRAWING] = None if shown is None else (shown.id, shown.name)
    st.session_state[_REFUSED] = None
    if shown is not None and drawn is not None and drawn[0] != shown.id:
        st.session_state[_REFUSED] = (
            f"This page was drawn for “{drawn[1]}”; “{shown.name}” is shown now. Nothing was done. Choose the "
            "project that you mean, and do it again."
        )
    return (refused() or "") if was_pressed else ""


def whole() -> None:
    """The page is there as a whole: from now on it is this page where buttons are pressed.

    A run that was broken off never comes here, and leaves the page before, or a mixture.
    """
    st.session_state[_DRAWN] = st.session_state.get(_DRAWING)
    st.session_state[_REFUSED] = None


def refused() -> str | None:
    """Why nothing may be changed in this run; None where it may."""
    return st.session_state.get(_REFUSED)
