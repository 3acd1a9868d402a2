"""How many votes and tokens tell two embeddings apart with 80 %: simulated in the background."""

from __future__ import annotations

import streamlit as st

from core.commands.figures.evaluation_inputs import FIGURES
from core.commands.figures.simulations import RequiredSample, SampleSizes
from core.store.projects.project_commands import Project
from core.views.evaluate import leaderboard as evaluate_needed
from core.views.evaluate.evaluate_page import EvaluateView
from ui.shared import choosers, frame, jobs

VOTERS = {"paper": "like the paper's voters", "fitted": "as fitted to this project's votes"}


def show(view: EvaluateView, project: Project) -> None:
    """What is asked, the button, the work under way, and its answer."""
    st.markdown("##### What would it take?")
    st.caption(
        "Campaigns of more and of fewer votes are simulated, as if people's ranking here were the true one, and "
        "subsets of the tokens are drawn. Each time the interval of the difference is taken as above. What is "
        "needed tells the two apart in 80 of 100."
    )
    asked = _asked(view, project)
    if asked is None:
        return
    found = jobs.figure(
        asked, project, "Simulate what it takes", key=f"needed-go-{project.id}", icon=":material/science:",
        help="A minute for 100 items, a few minutes for 1,000. It runs in the background.",
    )  # fmt: skip
    if found is not None:
        _answer(view, asked, found.result)


def _asked(view: EvaluateView, project: Project) -> RequiredSample | None:
    names = {evaluation.model: evaluation.model for evaluation in view.evaluations}
    labels = {label: key for key, label in FIGURES}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first = choosers.selectbox("Embedding", names, key=f"needed-first-{project.id}", width=240)
        others = {name: name for name in names if name != first}
        second = choosers.selectbox("against", others, key=f"needed-second-{project.id}", width=240)
        figures = {label: view.named(label) for label in labels}
        label = choosers.selectbox("by", figures, key=f"needed-figure-{project.id}", width=120)
        voters = choosers.selectbox(
            "Simulated voters",
            dict(VOTERS),
            key=f"needed-voters-{project.id}",
            width=260,
            help="Fitting takes a few seconds for 20,000 votes, within the simulation.",
        )
    if second is None:
        return None
    extra = (first, second, labels[label], voters)
    return RequiredSample(project.id, project.revision, view.key, extra, view)


def _answer(view: EvaluateView, asked: RequiredSample, answer: SampleSizes) -> None:
    first, second = asked.extra[:2]
    tokens = {*zip(view.dataset["area"], view.dataset["token_a"], strict=True)}
    tokens |= {*zip(view.dataset["area"], view.dataset["token_b"], strict=True)}
    now = {"votes": view.dataset.attrs["votes"], "tokens": len(tokens)}
    for needed in answer.found:
        said = evaluate_needed.sentence(needed, first, second, now[needed.unit])
        st.markdown(f"**{frame.plain(said)}**")
        st.caption(evaluate_needed.simulated(needed))
    for problem in answer.problems:
        st.caption(frame.plain(problem))
    st.caption(frame.plain(f"Simulated with {answer.voters}, by the protocol “runoff”."))
