"""A file for each colleague: names, shares, and the download."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.errors import RunoffError
from core.platforms.base import Outgoing
from core.platforms.colleagues import deal_out, write_tables
from core.zips import pack
from ui import choosers, frame

FORMATS = ("Excel (XLSX)", "CSV")
PART, ALL = "Each a part", "Everybody all"


def colleagues_box(ballot: Outgoing) -> None:
    """Names in, a zip of tables out; what is missing only, where the ballot has votes already."""
    with st.expander("A file for each colleague", icon=":material/groups:"):
        names = st.text_area("Names, one a line", key=f"colleagues-{ballot.code}").splitlines()
        with st.container(horizontal=True):
            formats = {name: name for name in FORMATS}
            kind = choosers.segmented_control("Format", formats, key=f"format-{ballot.code}")
            share = choosers.segmented_control(
                "Who gets what",
                {share: share for share in (PART, ALL)},
                key=f"share-{ballot.code}",
                help="Parts are whole tasks, dealt evenly. With “Everybody all” each comparison gets several votes.",
            )
        excel = kind != FORMATS[1]
        if not any(name.strip() for name in names):
            st.caption("Type the names; each stands in its file, so that nobody has to write it.")
            return
        try:
            parts = deal_out(ballot.asked(), names, everybody_all=share != PART)
        except RunoffError as error:
            frame.show_error(error)
            return
        sizes = [len(part) for part in parts.values()]
        if not sizes:
            st.caption("There is no comparison left to ask for.")
            return
        about = f"{len(parts)} files with {min(sizes):,} to {max(sizes):,} comparisons, numbered in the order of names."
        files = partial(write_tables, parts, name=ballot.part, ties_allowed=ballot.ties_allowed, excel=excel)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.download_button(
                "Files for colleagues (ZIP)",
                lambda: pack(files().items()),
                f"{ballot.part}-colleagues.zip",
                "application/zip",
                on_click="ignore",
                icon=":material/download:",
            )
            st.caption(about)
