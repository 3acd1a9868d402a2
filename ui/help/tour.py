"""A short tour: a card on top of each page of the demo says what the page is for, and leads to the next one.

*See how* on the demo's first page begins it. It is about the demo: in another project no card is shown, and the tour
goes on where the demo is opened again.
"""

from __future__ import annotations

from typing import NoReturn

import streamlit as st

from core.store.projects.demo import DEMO_ID
from ui.shared import frame

# The page, and what is said of it: what it is for, and what to look at in the demo.
STOPS = (
    (
        "tokens",
        (
            "A project begins with lists of tokens by semantic area. All pairs of an area become items: here four "
            "areas of 20 tokens make 760."
        ),
    ),
    (
        "plan",
        (
            "The plan says how many ballots there are and which share of the items stays from one to the next, so that "
            "votes go to the top ranks. Its cost and its accuracy are told before a vote is paid for."
        ),
    ),
    (
        "collect",
        (
            "A ballot goes to voters as a file, by a link to a voting page, or over a platform, and their votes come "
            "back here. Nothing counts before you accepted it, and uploads can be withdrawn. Here all five ballots are "
            "closed; “Demo: an open ballot”, the other project in the side bar, has one to vote on."
        ),
    ),
    (
        "scores",
        (
            "The top of the ranking: each item's score, with its interval and votes. Below: how far to trust it, and "
            "in tabs all items and how the ranking settled from ballot to ballot."
        ),
    ),
    (
        "evaluate",
        (
            "A leaderboard: how well each embedding ranks the items as people do, by rank correlations where top ranks "
            "weigh more and 1 is full agreement. Here the votes are simulated, so the figures say how Runoff "
            "works and nothing about people."
        ),
    ),
    (
        "export",
        (
            "The dataset for others: a file, or one zip with its datasheet and the votes behind it. "
            "That is the whole way. Your own begins with a project and its token lists."
        ),
    ),
)


def show(key: str) -> None:
    """The card of a page, while the tour runs."""
    places = [stop[0] for stop in STOPS]
    if st.session_state.get("project_id") != DEMO_ID or not st.session_state.get("_tour") or key not in places:
        return
    at = places.index(key)
    with st.container(border=True):
        place = f"**Tour, {at + 1} of {len(STOPS)}.**"
        st.markdown(f":material/tour: {place} {frame.plain(STOPS[at][1])}")
        with st.container(horizontal=True, vertical_alignment="center"):
            if at + 1 < len(STOPS):
                following = places[at + 1]
                title = next(page[1] for page in frame.PAGES if page[0] == following)
                frame.link(following, f"**Next stop: {title}**", icon=":material/arrow_forward:")
            elif st.button("End it, begin a project of my own", type="tertiary", icon=":material/add:"):
                _end()
                frame.begin_project()
            st.button("End the tour", on_click=_end, type="tertiary", icon=":material/close:")


def begin() -> NoReturn:
    """Begin the tour at its first stop."""
    st.session_state["_tour"] = True
    st.switch_page(st.session_state["_pages"][STOPS[0][0]])


def _end() -> None:
    st.session_state["_tour"] = False
