"""Unsaved edits kept in the session, so that they outlive a visit of another page.

They are shown again with a sentence, and discarded by a button.

Streamlit forgets what stands in widgets once their page is left, and can't ask before that. So a page says what its
widgets hold in every run (`keep`), and starts them from it when it comes back (`begin`).
"""

from __future__ import annotations

from typing import Any, TypeVar

import streamlit as st

T = TypeVar("T")


def turn(name: str) -> int:
    """A number for the keys of the draft's widgets; another one after a *Discard*, so that they start anew."""
    return int(st.session_state.get(f"_draft-turn-{name}", 0))


def begin(name: str, widget: str, stored: T, *, over_others: bool = False) -> T:
    """What the widgets of this draft start from: the edits left behind, else what is stored.

    `widget` is the key of one of them: while it lives, so does what it started from, since other data would make
    Streamlit drop the edits in it. Edits of what was changed elsewhere since are shown beside it (`show_restored`), not
    put over it, but `over_others`.
    """
    state = st.session_state
    if widget not in state or state.get(f"_draft-of-{name}") != widget:
        draft = state.get(f"_draft-{name}")
        if draft is not None and not over_others and state[f"_draft-from-{name}"] != stored:
            state[f"_draft-late-{name}"] = draft
            draft = None
        state[f"_draft-of-{name}"] = widget
        state[f"_draft-begin-{name}"] = stored if draft is None else draft
        state[f"_draft-back-{name}"] = draft is not None and draft != stored
    start: T = state[f"_draft-begin-{name}"]
    return start


def keep(name: str, edited: Any, stored: Any) -> None:
    """Remember what the widgets hold, as long as it isn't what is stored."""
    if edited == stored:
        st.session_state.pop(f"_draft-{name}", None)
    else:
        st.session_state[f"_draft-{name}"] = edited
        st.session_state[f"_draft-from-{name}"] = stored


def show_restored(name: str, what: str, *, one: bool = False) -> None:
    """A sentence on edits that came back, and the button that discards them."""
    late = st.session_state.get(f"_draft-late-{name}")
    if late is not None:
        was = "was" if one else "were"
        st.warning(f"{what} from before {was} of an earlier state, and {was} not put over what others saved since:")
        st.code(late if isinstance(late, str) else "\n".join(", ".join(row) for row in late), language=None)
        st.button("Discard them", key=f"discard-late-{name}", on_click=_forget_late, args=(name,))
    if not (st.session_state.get(f"_draft-back-{name}") and f"_draft-{name}" in st.session_state):
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.info(
            f"{what} from before {'is' if one else 'are'} here again, and not saved yet.", icon=":material/edit_note:"
        )
        st.button("Discard", key=f"discard-{name}", on_click=forget, args=(name,), icon=":material/undo:")


def forget(name: str) -> None:
    """Drop the draft: the widgets start from what is stored."""
    saved(name)
    st.session_state[f"_draft-turn-{name}"] = turn(name) + 1


def saved(name: str) -> None:
    """The edits are stored now."""
    st.session_state.pop(f"_draft-{name}", None)


def _forget_late(name: str) -> None:
    st.session_state.pop(f"_draft-late-{name}", None)
