"""The voters of a ranking as a table, one of them in full, and the download."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.base.numbers_in_words import many
from core.store.projects.project_commands import Project
from core.views.voters import COLUMNS, MOST_SHOWN, PERCENT, VotersView
from ui.shared import choosers, frame
from ui.shared.shares import in_percent

_TWO = {"to ranking", "from", "to", "speed", "lapse ε", "sharpness s"}
_FORMATS = dict.fromkeys(PERCENT, "%.0f %%") | dict.fromkeys(_TWO, "%.2f")
_FORMATS |= {"p (side)": "%.3f", "seconds": "%.1f"}


def table(project: Project, view: VotersView, hashed: bool, stem: str) -> None:
    """All voters, those who stand out most first, with a search and the download."""
    text = st.text_input("Find a voter", placeholder="Type a part of an id", key=f"voter-{project.id}")
    shown = view.search(text, hashed)
    n = len(view.quality.table)
    if len(shown) < n:
        more = "" if text.strip() else f" Only the first {MOST_SHOWN:,} are shown: search, or download all."
        st.caption(f"{len(shown):,} of {many(n, 'voter')}." + more)
    config = {
        name: st.column_config.NumberColumn(name, format=_FORMATS.get(name), help=about)
        for name, (_, about) in COLUMNS.items()
        if name not in ("voter", "state")
    }
    texts = {
        name: st.column_config.TextColumn(name, help=COLUMNS[name][1], pinned=name == "voter")
        for name in ("voter", "state")
    }
    st.dataframe(
        in_percent(shown[view.measured()], *PERCENT),
        hide_index=True,
        height=min(420, 38 + 35 * max(len(shown), 1)),
        column_config=config | texts,
        placeholder="–",
        alt="Figures of each voter",
    )
    if blank := view.blank():
        st.caption(f"Not measured here. {frame.plain(' '.join(blank))}")
    st.download_button(
        "Download all figures (CSV)",
        partial(view.csv, hashed),
        f"{stem}-voters.csv",
        "text/csv",
        icon=":material/download:",
        on_click="ignore",
        help="With all intervals. Ids that a spreadsheet would take for a formula get an apostrophe.",
    )


def review_button(project: Project, view: VotersView) -> None:
    """Look at those who look odd, one after the other."""
    ids, key = list(view.odd_reasons), f"one-voter-{project.id}"

    def choose() -> None:
        shown = st.session_state.get(key)
        st.session_state[key] = ids[(ids.index(shown) + 1) % len(ids)] if shown in ids else ids[0]

    st.button("Review", icon=":material/visibility:", on_click=choose)


def one(project: Project, view: VotersView, hashed: bool) -> None:
    """All figures of one voter, with the reason for each that is blank."""
    names = view.called(hashed)
    offered = {id_: names[id_] for id_ in view.table(hashed)["voter_id"].tolist()}
    chosen = choosers.selectbox(
        "Look at one voter", offered, None, key=f"one-voter-{project.id}", placeholder="Choose a voter"
    )
    if chosen is not None:
        found = view.details(chosen)
        alt = f"Figures of {names[chosen]}"
        st.dataframe(found, hide_index=True, alt=alt)
