"""The page goes to its top, where a message stands, so that a message needs no second place that covers something."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_TOP = st.components.v2.component(
    "runoff_notice", html="<span></span>", js=Path(__file__).with_name("notice.js").read_text(encoding="utf-8")
)


def come_to_top(*, pressed: bool) -> None:
    """Bring the page to its top once; unless somebody types, where it wasn't a button that was `pressed`."""
    count = st.session_state["_n_notices"] = st.session_state.get("_n_notices", 0) + 1
    _TOP(key=f"notice-{count}", data={"pressed": pressed}, height=0)
