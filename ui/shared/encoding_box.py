"""In which encoding a file's texts are: detected automatically, or chosen by a person."""

from __future__ import annotations

import streamlit as st

from core.tabular import ENCODINGS
from ui.shared import choosers

_ITSELF = ""  # no encoding is called so


def of_words(key: str, suggested: str = "") -> str:
    """The encoding of an embedding's words: UTF-8 unless another is `suggested` or chosen."""
    first = suggested or "utf-8"
    # A fault may lie beyond the beginning that was looked at, so the choice is always there.
    with st.container() if suggested else st.expander("The words aren't in UTF-8?"):
        return choosers.selectbox(
            "Encoding of the words",
            {encoding: encoding for encoding in (first, *ENCODINGS)},
            key=f"encoding-{key}",
            help="utf-8-replace keeps what is in UTF-8, and marks what isn't with �.",
        )


def of_file(key: str) -> str | None:
    """The encoding of a list, None where it is found by the content: UTF-8, UTF-16 or Windows-1252."""
    chosen = choosers.selectbox(
        "Encoding",
        {_ITSELF: "detected automatically"} | {encoding: encoding for encoding in ENCODINGS},
        key=f"encoding-{key}",
        help="Choose one if letters look wrong below. gb18030 reads files in gbk and gb2312 too; utf-8-replace keeps "
        "what is in UTF-8, and marks what isn't with �.",
    )
    return chosen or None
