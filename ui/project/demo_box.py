"""What the demo shows first: what Runoff is for, in one sentence and a chart, and the two ways on."""

from __future__ import annotations

import streamlit as st

from core.charts import evaluation
from core.store.projects.demo import DEMO_ID
from core.store.projects.project_commands import Project
from core.views.evaluate import token_intervals as evaluate_tokens
from core.views.evaluate.evaluate_page import EvaluateView, IntervalsView
from core.views.evaluate.token_intervals import TokenIntervalsView
from ui.evaluate import headline, jobs
from ui.help import tour
from ui.shared import cache, chart_files, frame

PURPOSE = "Runoff shows which embedding ranks related words as people do"
OFFSET = 2.0  # n₀, as the Evaluate page has it at first
CHANGED = "**The demo was changed since it was made.** The Evaluate page says which model leads now, and how surely."
READ = (
    "Items are pairs of words. ρ_w compares an embedding's ranking of them with the voters', the top weighing most; a "
    "random ranking lies below 0. Bars: where it would lie at 90 %, blue with other voters, orange with other tokens."
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
            tour.begin()
        if st.button("Start my own", icon=":material/add:"):
            frame.begin_project()
    if is_ranking:
        _chart(view, votes, tokens)
    st.caption(f":material/science: {SIMULATED} {headline.circular(view)}")
    return True


def _chart(view: EvaluateView, votes: IntervalsView | None, tokens: TokenIntervalsView | None) -> None:
    """ρ_w of all models; with intervals only where they have been computed."""
    if view.compared is not None:
        by_votes, by_tokens = (found.compared if found else None for found in (votes, tokens))
        compared = evaluate_tokens.joined(by_votes, by_tokens, view.compared)
        table = evaluate_tokens.figures_table(compared).query("figure == 'ρ_w'")
        chart_files.show(evaluation.standings(table, "ρ_w"), table, name="demo-models", alt="ρ_w of the demo's models")
        st.caption(READ)
