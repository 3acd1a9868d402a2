"""Uploaded files in the encoding that a person chose, as the same files in UTF-8: so they are kept and read again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.errors import RunoffError
from core.tabular import in_utf8
from ui.shared import encoding_box, frame
from ui.shared.held_files import StoredUpload


def in_chosen_encoding(files: Sequence[Any], key: str) -> list[Any]:
    """The files as they are, or in the encoding that is chosen here; those that aren't in it are said and left out."""
    if not files:
        return []
    with st.expander("Letters look wrong?"):
        encoding = encoding_box.of_file(key)
    if encoding is None:
        return list(files)
    found = []
    for file in files:
        try:
            data = in_utf8(file.getvalue(), file.name, encoding)
        except RunoffError as error:
            frame.show_error(error)
        else:
            found.append(StoredUpload(f"{file.file_id}-{encoding}", file.name, data))
    return found
