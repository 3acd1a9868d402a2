"""The language of the app: the browser's where there is one, else English; a choice in the side bar changes it."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.language import LANGUAGES, STANDARD, preferred
from core.spoken import asks, say
from ui import choosers


def _of_session() -> str:
    # Jobs and threads have no session; what they say is stored, and stored texts are English.
    if get_script_run_ctx(suppress_warning=True) is None:
        return STANDARD
    return st.session_state.get("_language", STANDARD)


def begin() -> None:
    """Settle the language of this run: that of the address, else the one chosen before, else the browser's."""
    asks(_of_session)
    asked = st.query_params.get("lang") or st.session_state.get("_language")
    chosen = asked if asked in LANGUAGES else _of_browser()
    st.session_state["_language"] = chosen
    keep(chosen)


def _of_browser() -> str:
    return preferred(st.context.locale or "").code


def keep(code: str) -> None:
    """Let the address say the language where that isn't what the browser asks for, so that a reload keeps it."""
    if code != _of_browser():
        st.query_params["lang"] = code
    else:
        st.query_params.pop("lang", None)


def in_address() -> dict[str, str]:
    """What a link to another page must hold for the language to stay."""
    return {"lang": st.query_params["lang"]} if "lang" in st.query_params else {}


def choose() -> None:
    """The choice of the language, at the end of the side bar."""
    st.session_state["_language_picked"] = st.session_state["_language"]
    choosers.selectbox(
        say("Language"),
        LANGUAGES,
        place=st.sidebar,
        key="_language_picked",
        on_change=_pick,
        help=say("Of these pages. What voters read has a language of its own, chosen with the plan."),
    )


def _pick() -> None:
    st.session_state["_language"] = st.session_state["_language_picked"]
    keep(st.session_state["_language"])
