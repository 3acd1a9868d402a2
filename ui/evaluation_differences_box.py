"""Which embeddings can be told apart, by votes and by tokens, and what it would take."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core import evaluation_charts
from core.evaluation.differences import Told
from core.interval_rules import FIGURES as OF_VOTES
from core.spoken import say, speaking, to_say
from core.store.projects import Project
from core.views import evaluate_tokens
from core.views.evaluate import FIGURES, EvaluateView, IntervalsView
from core.views.evaluate_tokens import TokensView
from core.views.scores import file_stem
from core.views.words import many
from ui import chart_files, choosers, evaluation_jobs, frame
from ui.tables import columns

TITLES = {
    "votes": to_say("##### By votes: would other voters have put them in this order, on these items?"),
    "tokens": to_say("##### By tokens: would other tokens, with scores like these?"),
}
ASKED = {
    "votes": to_say("Figure that votes are asked about"),
    "tokens": to_say("Figure that tokens are asked about"),
}
NEEDED = {"votes": to_say("Votes needed"), "tokens": to_say("Tokens needed")}
DIFFERENCES = {
    "votes": to_say("Differences of embeddings by votes"),
    "tokens": to_say("Differences of embeddings by tokens"),
}
GROUPS = {
    "votes": to_say("Groups of embeddings that votes don't tell apart"),
    "tokens": to_say("Groups of embeddings that tokens don't tell apart"),
}


def show(view: EvaluateView, found: IntervalsView | None, tokens: TokensView | None, project: Project) -> None:
    """Every two embeddings, the groups they fall into, and p-values against knowing nothing."""
    if len(view.evaluations) > 1:
        st.subheader(say("Can they be told apart?"))
        if found is None or found.problem:
            st.caption(frame.plain(say(found.problem)) if found else say("Ask for intervals to see what votes say."))
        else:
            labels = {label: key for key, label in FIGURES if key in OF_VOTES}
            label = _figure("votes", list(labels), project)
            told = evaluate_tokens.by_votes(found.differences, labels[label])
            _differences("votes", told, label, view.dataset.attrs["votes"], view)
        _by_tokens(view, tokens, project)
    else:
        st.caption(say("Load a second embedding to see which is the better one."))
    _chance(view, project)


def _by_tokens(view: EvaluateView, tokens: TokensView | None, project: Project) -> None:
    if tokens is None or not tokens.n_tokens:
        none = say("Ask for intervals over tokens to see what those say.")
        st.caption(frame.plain(say(tokens.problem)) if tokens else none)
        return
    labels = {label: key for key, label in FIGURES}
    label = _figure("tokens", list(labels), project)
    _differences("tokens", tokens.told(labels[label]), label, tokens.n_tokens, view)


def _figure(unit: str, labels: list[str], project: Project) -> str:
    figures = {label: say(label) for label in labels}
    return choosers.segmented_control(say(ASKED[unit]), figures, "ρ_w", key=f"told-{unit}-{project.id}")


def _differences(unit: str, told: tuple[Told, ...], label: str, n: int, view: EvaluateView) -> None:
    st.markdown(say(TITLES[unit]))
    if not told:
        st.caption(say("There is no interval of a difference in {figure}.", figure=say(label)))
        return
    st.markdown(frame.plain(evaluate_tokens.unclear(told, unit)))
    ranked = view.chosen.sort_values(label, ascending=False)["embedding"].tolist()
    three = st.column_config.NumberColumn(format="%.3f")
    config: dict = dict.fromkeys(("difference", "lower", "upper", "p (Holm)"), three)
    config["better"] = st.column_config.TextColumn(help=say("The probability that the first is the better one."))
    table = evaluate_tokens.table_of(told, unit, n)
    st.dataframe(table, hide_index=True, column_config=columns(table, config), alt=say(DIFFERENCES[unit]))
    chart = evaluation_charts.told_apart(evaluate_tokens.groups_of(ranked, told), ranked)
    with speaking("en"):
        as_file = evaluate_tokens.table_of(told, unit, n)
    alt = say(GROUPS[unit])
    chart_files.show(chart, as_file, name=f"{file_stem(view.dataset.attrs)}-told-apart-by-{unit}", alt=alt)
    st.caption(
        say(
            "The difference in {figure} over the items that all cover, with its 90 % interval. p is two-sided and "
            "adjusted by Holm for all pairs; up to 0.1 two count as told apart. A line joins those that aren't. "
            "“{needed}”, of {n:,} now, tells two apart with 80 % power if they differ as they seem to; a rough figure, "
            "which the simulation below makes surer.",
            figure=say(label),
            needed=say(NEEDED[unit]),
            n=n,
        )
    )


def _chance(view: EvaluateView, project: Project) -> None:
    st.subheader(say("Better than chance?"))
    st.caption(
        say(
            "Tokens change places within their areas, so that the embedding says all it says, about other tokens. p is "
            "the share of {permutations} that agree with people as well.",
            permutations=many(evaluate_tokens.PERMUTATIONS, "such permutation"),
        )
    )
    about = say("Some seconds an embedding for a thousand items, a minute or more for many thousands.")
    table: pd.DataFrame | None = evaluation_jobs.figure("p_values", say("Compute p-values"), view, project, help=about)
    if table is None:
        return
    three = st.column_config.NumberColumn(format="%.3f")
    config = {"estimate": three, "chance reaches (5 %)": three, "p": three}
    alt = say("p-values by permuted tokens")
    st.dataframe(table, hide_index=True, column_config=columns(table, config), alt=alt)
