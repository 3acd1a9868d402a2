"""A button that copies a text."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_HERE = Path(__file__).parent
_BUTTON = st.components.v2.component(
    "runoff_copy",
    html='<div class="copy"><button type="button"><span></span></button><span role="status"></span></div>',
    css=(_HERE / "copy.css").read_text(encoding="utf-8"),
    js=(_HERE / "copy.js").read_text(encoding="utf-8"),
)


def copy_button(label: str, text: str, *, key: str) -> None:
    """The button; beside it stands whether it worked."""
    data = {"label": label, "text": text, "done": "Copied.", "failed": "Select it and copy it by hand."}
    _BUTTON(key=key, data=data, width="content")
