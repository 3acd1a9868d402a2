"""A file for each colleague: names, shares, and the download."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.errors import RunoffError
from core.platforms.base import Outgoing
from core.platforms.colleagues import deal_out, write_tables
from core.spoken import say, to_say
from core.zips import pack
from ui import choosers, frame

FORMATS = ("Excel (XLSX)", "CSV")
PART, ALL = to_say("Each a part"), to_say("Everybody all")


def colleagues_box(ballot: Outgoing) -> None:
    """Names in, a zip of tables out; what is missing only, where the ballot has votes already."""
    with st.expander(say("A file for each colleague"), icon=":material/groups:"):
        names = st.text_area(say("Names, one a line"), key=f"colleagues-{ballot.code}").splitlines()
        with st.container(horizontal=True):
            formats = {name: name for name in FORMATS}
            kind = choosers.segmented_control(say("Format"), formats, key=f"format-{ballot.code}")
            share = choosers.segmented_control(
                say("Who gets what"),
                {share: say(share) for share in (PART, ALL)},
                key=f"share-{ballot.code}",
                help=say(
                    "Parts are whole tasks, dealt evenly. With “Everybody all” each comparison gets several votes."
                ),
            )
        excel = kind != FORMATS[1]
        if not any(name.strip() for name in names):
            st.caption(say("Type the names; each stands in its file, so that nobody has to write it."))
            return
        try:
            parts = deal_out(ballot.asked(), names, everybody_all=share != PART)
        except RunoffError as error:
            frame.show_error(error)
            return
        sizes = [len(part) for part in parts.values()]
        if not sizes:
            st.caption(say("There is no comparison left to ask for."))
            return
        about = say(
            "{n} files with {least:,} to {most:,} comparisons, numbered in the order of names.",
            n=len(parts),
            least=min(sizes),
            most=max(sizes),
        )
        files = partial(write_tables, parts, name=ballot.part, ties_allowed=ballot.ties_allowed, excel=excel)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.download_button(
                say("Files for colleagues (ZIP)"),
                lambda: pack(files().items()),
                f"{ballot.part}-colleagues.zip",
                "application/zip",
                on_click="ignore",
                icon=":material/download:",
            )
            st.caption(about)
