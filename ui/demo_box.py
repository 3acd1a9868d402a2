"""What the demo shows first: what Runoff is for, in one sentence and a chart, and the two ways on."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core import evaluation_charts, jobs
from core.store.demo import DEMO_ID
from core.store.projects import Project
from core.views import evaluate_jobs, evaluate_tokens
from core.views.evaluate import EvaluateView, IntervalsView
from ui import cache, chart_files, evaluation_headline, frame, tour

PURPOSE = "Runoff shows which embedding ranks related words as people do"
OFFSET = 2.0  # n₀, as the Evaluate page has it at first
CHANGED = "**The demo was changed since it was made.** The Evaluate page says which model leads now, and how surely."
READ = (
    "Items are pairs of words. ρ_w compares an embedding's ranking of them with people's, the top weighing most. "
    "Bars: where it would lie with other voters, at 90 %; how far it hangs on these words stands on the Evaluate page."
)
SIMULATED = "The votes here are those of simulated voters: they say how Runoff works, and nothing about people."


def show(project: Project) -> bool:
    """The sentence, the chart, *See how* and *Start my own*, and that votes are simulated; False in other projects."""
    if project.id != DEMO_ID:
        return False
    st.subheader(f"{PURPOSE}.", anchor=False)
    view = cache.load_evaluation(frame.store(), project, OFFSET, project.notion)
    votes = _kept("votes", view, project)
    is_ranking = len(view.evaluations) > 1  # a demo of an earlier version has one model
    if is_ranking:
        st.markdown(evaluation_headline.answer(view, votes, _kept("tokens", view, project)) if votes else CHANGED)
    with st.container(horizontal=True, vertical_alignment="center"):  # above the chart: within a phone's screen
        if st.button("See how", type="primary", icon=":material/tour:"):
            tour.begin()
        if st.button("Start my own", icon=":material/add:"):
            frame.begin_project()
    if is_ranking:
        _chart(view, votes)
    st.caption(f":material/science: {SIMULATED} {evaluation_headline.circular(view)}")
    return True


def _chart(view: EvaluateView, votes: IntervalsView | None) -> None:
    """ρ_w of all models; with intervals only where they have been computed."""
    compared = (votes.compared if votes else None) or view.compared
    if compared is not None:
        table = evaluate_tokens.figures_table(compared).query("figure == 'ρ_w'")
        chart_files.show(
            evaluation_charts.standings(table, "ρ_w"), table, name="demo-models", alt="ρ_w of the demo's models"
        )
        st.caption(READ)


def _kept(name: str, view: EvaluateView, project: Project) -> Any:
    """A figure of the Evaluate page that is kept of the project as it stands; None where none is, or none yet."""
    params = evaluate_jobs.params_of(name, view, project.revision)
    job = jobs.same_job(frame.store(), project.id, evaluate_jobs.KIND, params)
    return evaluate_jobs.result_of(job, view) if job is not None and job.state == "done" else None
