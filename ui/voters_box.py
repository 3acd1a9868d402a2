"""The voters of a ranking as a table, one of them in full, and the download."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.spoken import say, to_say
from core.store.projects import Project
from core.views.voter_columns import COLUMNS, PERCENT
from core.views.voters import MOST_SHOWN, VotersView
from core.views.words import many
from ui import choosers, frame
from ui.shares import in_percent
from ui.tables import said_columns

_TWO = {"to ranking", "from", "to", "speed", "lapse ε", "sharpness s"}
_FORMATS = dict.fromkeys(PERCENT, "%.0f %%") | dict.fromkeys(_TWO, "%.2f")
_FORMATS |= {"p (side)": "%.3f", "seconds": "%.1f"}

_DETAILS = (
    to_say("figure"), to_say("value"), to_say("90 % interval"), to_say("based on"), to_say("why blank"),
)  # fmt: skip


def table(project: Project, view: VotersView, hashed: bool, stem: str) -> None:
    """All voters, those who stand out most first, with a search and the download."""
    text = st.text_input(say("Find a voter"), placeholder=say("Type a part of an id"), key=f"voter-{project.id}")
    shown = view.search(text, hashed)
    n = len(view.quality.table)
    if len(shown) < n:
        more = (
            ""
            if text.strip()
            else " " + say("Only the first {most:,} are shown: search, or download all.", most=MOST_SHOWN)
        )
        st.caption(say("{n:,} of {voters}.", n=len(shown), voters=many(n, "voter")) + more)
    config = {
        name: st.column_config.NumberColumn(say(name), format=_FORMATS.get(name), help=say(about))
        for name, (_, about) in COLUMNS.items()
        if name not in ("voter", "state")
    }
    texts = {
        name: st.column_config.TextColumn(say(name), help=say(COLUMNS[name][1]), pinned=name == "voter")
        for name in ("voter", "state")
    }
    st.dataframe(
        in_percent(shown[view.measured()], *PERCENT),
        hide_index=True,
        height=min(420, 38 + 35 * max(len(shown), 1)),
        column_config=config | texts,
        placeholder="–",
        alt=say("Figures of each voter"),
    )
    if blank := view.blank():
        st.caption(say("Not measured here. {reasons}", reasons=frame.plain(" ".join(blank))))
    st.download_button(
        say("Download all figures (CSV)"),
        partial(view.csv, hashed),
        f"{stem}-voters.csv",
        "text/csv",
        icon=":material/download:",
        on_click="ignore",
        help=say("With all intervals. Ids that a spreadsheet would take for a formula get an apostrophe."),
    )


def one(project: Project, view: VotersView, hashed: bool) -> None:
    """All figures of one voter, with the reason for each that is blank."""
    names = view.called(hashed)
    offered = {id_: names[id_] for id_ in view.table(hashed)["voter_id"].tolist()}
    chosen = choosers.selectbox(
        say("Look at one voter"), offered, None, key=f"one-voter-{project.id}", placeholder=say("Choose a voter")
    )
    if chosen is not None:
        found = view.details(chosen)
        config = said_columns(*_DETAILS)
        alt = say("Figures of {voter}", voter=names[chosen])
        st.dataframe(found, hide_index=True, column_config=config, alt=alt)
