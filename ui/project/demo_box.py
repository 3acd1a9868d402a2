"""What the demo shows first, what Runoff is for in a sentence and a chart, and a short tour of its pages.

Two ways lead on from there. *See how* begins the tour: a card on top of each page of the demo says what the page is
for, and leads to the next one. In another project no card is shown, and the tour goes on where the demo is opened
again.
"""

from __future__ import annotations

from functools import partial
from typing import NoReturn

import streamlit as st

from core.charts import evaluation
from core.store.projects.demo import DEMO_ID
from core.store.projects.project_commands import Project
from core.views.evaluate import token_intervals as evaluate_tokens
from core.views.evaluate.evaluate_page import EvaluateView, IntervalsView
from core.views.evaluate.token_intervals import TokenIntervalsView
from ui.evaluate import headline, jobs
from ui.shared import cache, chart_files, frame

PURPOSE = "Runoff shows which embedding ranks related words as people do"
OFFSET = 2.0  # n₀, as the Evaluate page has it at first
CHANGED = "**The demo was changed since it was made.** The Evaluate page says which model leads now, and how surely."
READ = (
    "Items are pairs of words. ρ_w compares an embedding's ranking of them with the voters', the top weighing most; a "
    "random ranking lies below 0. Bars: 90% intervals, blue with other voters, orange with other tokens."
)
SIMULATED = "The votes here are those of simulated voters: they say how Runoff works, and nothing about people."


def show(project: Project) -> bool:
    """The sentence, the chart, *See how* and *Start my own*, and that votes are simulated; False in other projects."""
    if project.id != DEMO_ID:
        return False
    st.subheader(f"{PURPOSE}.", anchor=False)
    view = cache.load_evaluation(frame.store(), project, OFFSET, project.notion)
    votes, tokens = jobs.kept(jobs.INTERVALS, view, project)
    is_ranking = len(view.evaluations) > 1  # a demo of an earlier version has one model
    if is_ranking:
        st.markdown(f"By simulated voters: {headline.answer(view, votes, tokens)}" if votes else CHANGED)
    with st.container(horizontal=True, vertical_alignment="center"):  # above the chart: within a phone's screen
        if st.button("See how", type="primary", icon=":material/tour:"):
            begin()
        if st.button("Start my own", icon=":material/add:"):
            frame.begin_project()
    if is_ranking:
        _chart(view, votes, tokens)
    st.caption(f":material/science: {SIMULATED} {headline.circular(view)}")
    return True


def _chart(view: EvaluateView, votes: IntervalsView | None, tokens: TokenIntervalsView | None) -> None:
    """ρ_w of all models; with intervals only where they have been computed."""
    if view.compared is not None:
        by_votes, by_tokens = (intervals.compared if intervals else None for intervals in (votes, tokens))
        compared = evaluate_tokens.joined(by_votes, by_tokens, view.compared)
        table = evaluate_tokens.figures_table(compared).query("figure == 'ρ_w'")
        chart = partial(evaluation.standings, table, "ρ_w")
        chart_files.show(chart, table, name="demo-models", alt="ρ_w of the demo's models")
        st.caption(READ)


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


def show_tour(key: str) -> None:
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
                _end_tour()
                frame.begin_project()
            st.button("End the tour", on_click=_end_tour, type="tertiary", icon=":material/close:")


def begin() -> NoReturn:
    """Begin the tour at its first stop."""
    st.session_state["_tour"] = True
    st.switch_page(st.session_state["_pages"][STOPS[0][0]])


def _end_tour() -> None:
    st.session_state["_tour"] = False
