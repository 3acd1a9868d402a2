"""Which embeddings can be told apart, by votes and by tokens, and how many of these it would take.

How many tell two of them apart with a probability of 80% is simulated in the background.
"""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from core.base.durable import file_stem
from core.base.numbers_in_words import many, p_said
from core.charts import evaluation
from core.commands.figures.evaluation import PERMUTATIONS
from core.commands.figures.evaluation_inputs import FIGURES
from core.commands.figures.simulations import RequiredSample, SampleSizes
from core.evaluation.token_intervals import PairwiseDifference
from core.evaluation.vote_intervals import FIGURES as OF_VOTES
from core.store.projects.project_commands import Project
from core.views.evaluate import leaderboard as evaluate_needed
from core.views.evaluate import token_intervals as evaluate_tokens
from core.views.evaluate.evaluate_page import EvaluateView, IntervalsView
from core.views.evaluate.token_intervals import TokenIntervalsView
from ui.evaluate import jobs, tables
from ui.evaluate.jobs import Visit
from ui.evaluate.settings import Settings
from ui.shared import chart_files, choosers, frame
from ui.shared import jobs as shared_jobs

VOTERS = {"paper": "like the paper's voters", "fitted": "as fitted to this project's votes"}


def show_sample_size(view: EvaluateView, project: Project) -> None:
    """The sample size needed: explanation, button, the job's progress, and its result."""
    st.markdown("##### What would it take?")
    st.caption(
        "Campaigns of more and of fewer votes are simulated, as if people's ranking here were the true one, and "
        "subsets of the tokens are drawn. Each time the interval of the difference is taken as above. What is "
        "needed tells the two apart in 80 of 100."
    )
    request = _sample_request(view, project)
    if request is None:
        return
    sizes = shared_jobs.figure(
        request, project, "Simulate what it takes", key=f"needed-go-{project.id}", icon=":material/science:",
        help="A minute for 100 items, a few minutes for 1,000. It runs in the background.",
    )  # fmt: skip
    if sizes is not None:
        _answer(view, request, sizes.result)


def _sample_request(view: EvaluateView, project: Project) -> RequiredSample | None:
    """The figure that answers the question asked in the widgets; None where nothing can be asked."""
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


def _answer(view: EvaluateView, request: RequiredSample, answer: SampleSizes) -> None:
    """The sample sizes that were found, a sentence each."""
    first, second = request.extra[:2]
    tokens = {*zip(view.dataset["area"], view.dataset["token_a"], strict=True)}
    tokens |= {*zip(view.dataset["area"], view.dataset["token_b"], strict=True)}
    n_of = {"votes": view.dataset.attrs["votes"], "tokens": len(tokens)}
    for needed in answer.found:
        sentence = evaluate_needed.sentence(needed, first, second, n_of[needed.unit])
        st.markdown(f"**{frame.plain(sentence)}**")
        st.caption(evaluate_needed.simulated(needed))
    for problem in answer.problems:
        st.caption(frame.plain(problem))
    st.caption(frame.plain(f"Simulated with {answer.voters}, by the protocol “runoff”."))


TITLES = {
    "votes": "##### With other voters: would they have put them in this order, on these items?",
    "tokens": "##### With other tokens: would they, with scores like these?",
}
DIFFERENCES = {"votes": "Differences of embeddings by votes", "tokens": "Differences of embeddings by tokens"}
GROUPS = {
    "votes": "Groups of embeddings that votes don't tell apart",
    "tokens": "Groups of embeddings that tokens don't tell apart",
}


def show_differences(
    visit: Visit, settings: Settings, intervals: IntervalsView | None, tokens: TokenIntervalsView | None
) -> None:
    """Every two embeddings, the groups they fall into, and p-values against knowing nothing."""
    view = visit.view
    if len(view.evaluations) > 1:
        n = {"votes": view.dataset.attrs["votes"], "tokens": tokens.n_tokens if tokens else 0}
        for unit, differences in _by_unit(visit, settings.figure, intervals, tokens).items():
            st.markdown(TITLES[unit])
            if isinstance(differences, str):
                st.caption(frame.plain(differences))
            else:
                _differences(unit, differences, settings.figure, n[unit], view)
        _reading()
    else:
        st.caption("Load a second embedding to see which is the better one.")
    _chance(view, visit.project)


def _by_unit(
    visit: Visit, label: str, intervals: IntervalsView | None, tokens: TokenIntervalsView | None
) -> dict[str, tuple[PairwiseDifference, ...] | str]:
    """The differences of every two embeddings in a figure, by resampled "votes" and "tokens"; or why there are none."""
    differences: dict[str, tuple[PairwiseDifference, ...] | str] = {}
    key = next(key for key, each in FIGURES if each == label)
    if intervals is None or intervals.problem:
        differences["votes"] = intervals.problem if intervals else _why_none(visit, "votes")
    elif key not in OF_VOTES:
        differences["votes"] = f"There are no intervals of {label} with other voters."
    else:
        differences["votes"] = evaluate_tokens.by_votes(intervals.differences, key)
    if tokens is None or not tokens.n_tokens:
        differences["tokens"] = tokens.problem if tokens else _why_none(visit, "tokens")
    else:
        differences["tokens"] = tokens.told(key)
    return differences


def _why_none(visit: Visit, unit: str) -> str:
    return f"Intervals over {unit} are being computed." if visit.is_coming(unit) else f"Ask for intervals over {unit}."


def _differences(
    unit: str, differences: tuple[PairwiseDifference, ...], label: str, n: int, view: EvaluateView
) -> None:
    """The differences of every two embeddings by one unit: sentence, table and chart."""
    named = view.named(label)
    if not differences:
        st.caption(f"There is no interval of a difference in {named}.")
        return
    st.markdown(frame.plain(evaluate_tokens.unclear(differences, unit)))
    table = evaluate_tokens.table_of(differences, unit, n)
    tables.of_cells(evaluate_tokens.in_words(table, named), DIFFERENCES[unit])
    ranked = view.chosen.sort_values(label, ascending=False)["embedding"].tolist()
    chart = partial(evaluation.told_apart, evaluate_tokens.groups_of(ranked, differences), ranked)
    chart_files.show(chart, table, name=f"{file_stem(view.dataset.attrs)}-told-apart-by-{unit}", alt=GROUPS[unit])
    st.caption(f"A line joins those that aren't told apart. There are {many(n, unit.removesuffix('s'))} now.")


def _reading() -> None:
    """How both tables are read."""
    st.caption("Two are told apart where p is at most 0.1; p is two-sided, and adjusted by Holm for all pairs.")
    st.caption(
        "“Surely”: the probability that the better one is the better. “Needed”: how many votes or tokens tell two "
        "apart with 80% power if they differ as they seem to. It is a rough figure; the simulation below makes it "
        "surer."
    )
    st.caption(
        "A difference is over the items that all cover, without the bias that resampling shows; the chart's CSV has "
        "it as measured too."
    )


def _chance(view: EvaluateView, project: Project) -> None:
    """p-values against permuted tokens, on request."""
    st.markdown("##### Better than chance?")
    st.caption(
        "Tokens change places within their areas, so that the embedding says all it says, about other tokens. p "
        f"is the share of {many(PERMUTATIONS, 'such permutation')} that agree with people as "
        "well."
    )
    about = "A few seconds per embedding for a thousand items, a minute or more for many thousands."
    table: pd.DataFrame | None = jobs.figure("p_values", "Compute p-values", view, project, help=about)
    if table is None:
        return
    three = {name: table[name].map("{:.3f}".format) for name in ("estimate", "chance reaches (5%)")}
    texts = table.assign(**three, p=[p_said(p) for p in table["p"]])
    tables.of_cells(texts, "p-values by permuted tokens")
