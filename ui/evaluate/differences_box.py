"""Which embeddings can be told apart, by votes and by tokens, and what it would take."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.base.durable import file_stem
from core.base.plurals import many
from core.charts import evaluation
from core.commands.figures.evaluated import FIGURES
from core.commands.figures.evaluation import PERMUTATIONS
from core.evaluation.differences import Told
from core.evaluation.intervals import FIGURES as OF_VOTES
from core.store.projects.projects import Project
from core.views.evaluate import tokens as evaluate_tokens
from core.views.evaluate.evaluate import EvaluateView, IntervalsView
from core.views.evaluate.tokens import TokensView
from ui.evaluate import jobs
from ui.evaluate.jobs import Visit
from ui.shared import chart_files, choosers, frame

TITLES = {
    "votes": "##### By votes: would other voters have put them in this order, on these items?",
    "tokens": "##### By tokens: would other tokens, with scores like these?",
}
ASKED = {
    "votes": "Figure that votes are asked about",
    "tokens": "Figure that tokens are asked about",
}
NEEDED = {"votes": "Votes needed", "tokens": "Tokens needed"}
DIFFERENCES = {"votes": "Differences of embeddings by votes", "tokens": "Differences of embeddings by tokens"}
GROUPS = {
    "votes": "Groups of embeddings that votes don't tell apart",
    "tokens": "Groups of embeddings that tokens don't tell apart",
}


def show(visit: Visit, found: IntervalsView | None, tokens: TokensView | None) -> None:
    """Every two embeddings, the groups they fall into, and p-values against knowing nothing."""
    view, project = visit.view, visit.project
    if len(view.evaluations) > 1:
        st.subheader("Can they be told apart?")
        if found is None or found.problem:
            none = "Ask for intervals to see what votes say."
            st.caption(frame.plain(found.problem) if found else _why_none(visit, "votes", none))
        else:
            labels = {label: key for key, label in FIGURES if key in OF_VOTES}
            label = _figure("votes", list(labels), project)
            told = evaluate_tokens.by_votes(found.differences, labels[label])
            _differences("votes", told, label, view.dataset.attrs["votes"], view)
        _by_tokens(visit, tokens)
    else:
        st.caption("Load a second embedding to see which is the better one.")
    _chance(view, project)


def _by_tokens(visit: Visit, tokens: TokensView | None) -> None:
    if tokens is None or not tokens.n_tokens:
        none = "Ask for intervals over tokens to see what those say."
        st.caption(frame.plain(tokens.problem) if tokens else _why_none(visit, "tokens", none))
        return
    labels = {label: key for key, label in FIGURES}
    label = _figure("tokens", list(labels), visit.project)
    _differences("tokens", tokens.told(labels[label]), label, tokens.n_tokens, visit.view)


def _why_none(visit: Visit, unit: str, none: str) -> str:
    return f"Intervals over {unit} are being computed." if visit.is_coming(unit) else none


def _figure(unit: str, labels: list[str], project: Project) -> str:
    figures = {label: label for label in labels}
    return choosers.segmented_control(ASKED[unit], figures, "ρ_w", key=f"told-{unit}-{project.id}")


def _differences(unit: str, told: tuple[Told, ...], label: str, n: int, view: EvaluateView) -> None:
    st.markdown(TITLES[unit])
    if not told:
        st.caption(f"There is no interval of a difference in {label}.")
        return
    st.markdown(frame.plain(evaluate_tokens.unclear(told, unit)))
    ranked = view.chosen.sort_values(label, ascending=False)["embedding"].tolist()
    three = st.column_config.NumberColumn(format="%.3f")
    config: dict = dict.fromkeys(("difference", "lower", "upper", "p (Holm)", "as measured"), three)
    config["better"] = st.column_config.TextColumn(help="The probability that the first is the better one.")
    table = evaluate_tokens.table_of(told, unit, n)
    st.dataframe(table, hide_index=True, column_config=config, alt=DIFFERENCES[unit])
    chart = evaluation.told_apart(evaluate_tokens.groups_of(ranked, told), ranked)
    alt = GROUPS[unit]
    chart_files.show(chart, table, name=f"{file_stem(view.dataset.attrs)}-told-apart-by-{unit}", alt=alt)
    st.caption(
        f"The difference in {label} over the items that all cover, without the bias that resampling shows, with the "
        "90 % interval about it; “as measured” is with it. p is two-sided and "
        "adjusted by Holm for all pairs; up to 0.1 two count as told apart. A line joins those that aren't. "
        f"“{NEEDED[unit]}”, of {n:,} now, tells two apart with 80 % power if they differ as they seem to; a "
        "rough figure, which the simulation below makes surer."
    )


def _chance(view: EvaluateView, project: Project) -> None:
    st.subheader("Better than chance?")
    st.caption(
        "Tokens change places within their areas, so that the embedding says all it says, about other tokens. p "
        f"is the share of {many(PERMUTATIONS, 'such permutation')} that agree with people as "
        "well."
    )
    about = "Some seconds an embedding for a thousand items, a minute or more for many thousands."
    table: pd.DataFrame | None = jobs.figure("p_values", "Compute p-values", view, project, help=about)
    if table is None:
        return
    three = st.column_config.NumberColumn(format="%.3f")
    config = {"estimate": three, "chance reaches (5 %)": three, "p": three}
    alt = "p-values by permuted tokens"
    st.dataframe(table, hide_index=True, column_config=config, alt=alt)
