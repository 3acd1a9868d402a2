"""The one answer of the Evaluate page, what a reader must know of it, and the settings it follows from."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from core.base.percent import percent
from core.base.plurals import many, plural
from core.commands.figures.evaluated import FIGURES
from core.evaluation import POLICIES, TOP_K
from core.store.projects.demo import GLOVE
from core.store.projects.projects import Project
from core.views.evaluate import tokens as evaluate_tokens
from core.views.evaluate.evaluate import EvaluateView, IntervalsView
from core.views.evaluate.tokens import TokensView
from ui.evaluate.jobs import Visit
from ui.shared import cache, choosers, frame

SHORT = {
    "common": "items that all cover",
    "own": "each its own items",
    "lowest": "missing = lowest",
    "parts": "missing = mean of parts",
}
NOTIONS = {"relatedness": "|cos| (relatedness)", "similarity": "cos (similarity)"}
CIRCULAR = (
    f"A quarter of what the simulated voters believe is GloVe's own opinion, so the figure of “{GLOVE}” is too high "
    "by construction. The rest comes from a sentence encoder that isn't ranked here, of the same family as MiniLM, "
    "which favours MiniLM over models of single words. The other two had no part in it."
)
OUT = " The noise of the votes is taken out of {}."


def settings(project: Project) -> tuple[float, str, str, int]:
    """n₀, the notion, the policy for missing words and the k of the precision, as chosen."""
    with st.container(horizontal=True, vertical_alignment="top"):
        n0 = st.number_input(
            "Offset n₀", 0.0, 1000.0, 2.0, 1.0, key=f"n0-{project.id}", persist_state="session", width=140,
            help="Rank n weighs 1/(n + n₀)². A small n₀ puts nearly all weight on the first ranks; the paper takes 2.",
        )  # fmt: skip
        notion = choosers.segmented_control(
            "Models rank by", dict(NOTIONS), project.notion,
            key=f"notion-{project.id}",
            help="The project's own notion is chosen at first.",
        )  # fmt: skip
        policy = choosers.selectbox(
            "Words that an embedding lacks", {key: SHORT[key] for key in POLICIES},
            key=f"policy-{project.id}", width=210,
            help="\n\n".join(f"**{SHORT[name]}**: {text}." for name, text in POLICIES.items()),
        )  # fmt: skip
        top = st.number_input(
            "Top k", 1, 10_000, TOP_K, key=f"top-{project.id}", width=110,
            help="For the precision: how many of people's k highest items are among an embedding's k highest.",
        )  # fmt: skip
    return float(n0), notion, policy, int(top)


def show(
    view: EvaluateView, found: IntervalsView | None, tokens: TokensView | None, visit: Visit | None, project: Project
) -> None:
    """The headline, warnings and the next step; `visit` is what intervals come by, None where there is no model."""
    # What stood below the bar of a job keeps its place when the bar is gone.
    with st.container(key="evaluate-waited" if visit and visit.has_waited() else "evaluate-answer"):
        st.markdown(answer(view, found, tokens, visit.awaited if visit else ""))
        if visit is not None:
            visit.sign()
    for problem in view.problems:
        st.error(frame.plain(problem))
    if view.unfair:
        st.warning(frame.plain(view.unfair), icon=":material/balance:")
    for evaluation in view.evaluations:
        if evaluation.proposed:
            st.warning(
                (
                    f"{frame.plain(evaluation.model)} proposed {many(len(evaluation.proposed), 'token')} of this "
                    "dataset, which favours it (§2.2). See the figures without them below."
                ),
                icon=":material/balance:",
            )
    about = view.dataset.attrs
    _next_step(about["provisional"], project)
    if about["simulated_votes"]:
        st.warning("The dataset holds votes of simulated voters.", icon=":material/science:")
    if said := circular(view):
        st.caption(said)
    if about["provisional"]:
        st.info("The dataset is provisional: not all ballots are closed.", icon=":material/hourglass_top:")
    if view.ranked_apart:
        st.caption(
            "Each area has a ranking of its own, and scores of two areas don't compare: a figure over all areas is "
            "the mean of the areas' figures."
        )
    st.caption(
        "ρ_w and τ_w say how far an embedding ranks the items as people do, the top ranks weighing most: 1 is "
        f"full agreement; a random ranking of more than a few dozen items lies below 0. With n₀ = {view.n0:g} "
        f"the first rank holds R(n₀) = {percent(view.first_rank_share)} of the weight of a long ranking."
    )


def circular(view: EvaluateView) -> str:
    """Which model's figure is too high as the demo's voters believe it, where such a model is compared; else ""."""
    return frame.plain(CIRCULAR) if GLOVE in [evaluation.model for evaluation in view.evaluations] else ""


def answer(view: EvaluateView, found: IntervalsView | None, tokens: TokensView | None, awaited: str = "") -> str:
    """The one answer, as Markdown: which embedding leads, by how much, on how many of the items.

    Over less than half of the items none is named the best; nor is one while intervals are `awaited`, which says in
    words that they are being computed, or weren't.
    """
    leaders = view.leaders
    if leaders.empty or view.compared is None:
        return "**No embedding can be compared: see the reasons below.**"
    if view.is_by_chance:
        return "**No embedding is named the best**: the votes can't be told from coin tosses."
    apart_said = ", the mean over areas," if view.ranked_apart else ""
    row = leaders.iloc[0]
    if len(view.overall) == 1:
        both = [Said.of(row, found, label) for label in ("ρ_w", "τ_w")]
        told = " and ".join(f"{said.value}{said.between}" for said in both)
        items = f"{row['covered']:,} of {row['items']:,} items"
        without = [said.label for said in both if said.between]
        taken = OUT.format(evaluate_tokens.with_and(without)) if without else ""
        measured, more = (", as measured", f" {awaited}.") if awaited else ("", "")
        return f"**{frame.plain(row['embedding'])} reaches {told}**{apart_said} on {items}{measured}.{taken}{more}"
    of_items = f"{view.n_compared:,} of {many(view.n_items, 'item')}"
    if not view.names_winner:
        return f"**No embedding is named the best**: their figures rest on {of_items}, less than half."
    common = ", those that all cover" if len(view.common) else ""
    if awaited:
        lowest, highest = view.chosen["ρ_w"].min(), view.chosen["ρ_w"].max()
        between = f"= {highest:.3f}" if f"{lowest:.3f}" == f"{highest:.3f}" else f"from {lowest:.3f} to {highest:.3f}"
        of = many(len(view.chosen), "embedding")
        return (
            f"**{of}: ρ_w {between}**{apart_said}, as measured, on {of_items}{common}. "
            f"{awaited}: until they are there, no embedding is named the best."
        )
    ranked = view.chosen.sort_values("ρ_w", ascending=False, kind="stable")["embedding"].tolist()
    by = {}
    if found and found.differences:
        by["votes"] = evaluate_tokens.by_votes(found.differences)
    if tokens and tokens.n_tokens:
        by["tokens"] = tokens.told("rho_w")
    apart = frame.plain(evaluate_tokens.said(ranked, by))
    leads = Said.of(row, found, "ρ_w")
    return (
        f"**{_leads(view, leaders, leads.value)}**{leads.between}{apart_said} on {of_items}{common}."
        f"{f' {apart[:1].upper()}{apart[1:]}.' if apart else ''}{OUT.format(leads.label) if leads.between else ''}"
    )


def _leads(view: EvaluateView, leaders: pd.DataFrame, value: str) -> str:
    """Which embeddings lead, and whether over fewer items than another has."""
    names = evaluate_tokens.with_and([frame.plain(name) for name in leaders["embedding"]])
    compared = view.compared
    fewer = compared.fewer(compared.names.index(leaders["embedding"].iloc[0])) if compared else ()
    than = f", over fewer items than {frame.plain(fewer[0])}" if fewer else ""
    return plural(
        len(leaders), "{names} leads{than}: {value}", "{names} lead{than}: {value}", names=names, than=than, value=value
    )


@dataclass(frozen=True)
class Said:
    """A figure in the headline, and its interval in brackets, "" for none: both without the noise of the votes.

    Where there is no interval the figure is as it was measured.
    """

    label: str
    value: str
    between: str = ""

    @staticmethod
    def of(row: pd.Series, found: IntervalsView | None, label: str) -> Said:
        """The figure of an embedding, a row of the view's tables."""
        if found and found.compared is not None:
            key = next(key for key, each in FIGURES if each == label)
            figures = dict(zip(found.compared.names, found.compared.figures, strict=True))[row["embedding"]]
            value, lower, upper = getattr(figures, key).by_votes
            if value is not None:
                return Said(label, f"{label} = {value:.3f}", f" (90 % by votes: {lower:.3f} to {upper:.3f})")
        return Said(label, f"{label} = {row[label]:.3f}")


def _next_step(provisional: bool, project: Project) -> None:
    """On to the next ballot, or out with the dataset."""
    overview = cache.load_overview(frame.store(), project)
    if provisional:
        frame.next_step(overview.next_page, overview.next_label[:1].lower() + overview.next_label[1:])
    else:
        frame.next_step("export", "take the dataset with you")
