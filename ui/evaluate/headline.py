"""The one answer of the Evaluate page, what a reader must know of it, and how its figures are read."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from core.base.numbers_in_words import many, percent, plural, with_decimals
from core.commands.figures.evaluation_inputs import FIGURES
from core.evaluation.vote_intervals import number_of_resamples
from core.store.projects.demo import GLOVE
from core.store.projects.project_commands import Project
from core.views.evaluate import leaderboard
from core.views.evaluate import token_intervals as evaluate_tokens
from core.views.evaluate.evaluate_page import EvaluateView, IntervalsView
from core.views.evaluate.token_intervals import TokenIntervalsView
from ui.evaluate.jobs import Visit
from ui.shared import cache, frame

CIRCULAR = (
    f"A quarter of what the simulated voters believe is GloVe's own opinion, so the figure of “{GLOVE}” is too high "
    "by construction. The rest comes from a sentence encoder that isn't ranked here, of the same family as MiniLM, "
    "which favours MiniLM over models of single words. The other two had no part in it."
)
OUT = " The noise of the votes is taken out of {}."
WITH_OTHER_VOTERS = (
    "**With other voters**: 90% intervals by the {votes}. The voters are resampled {n:,} times, the items stay. They "
    "are intervals of the figure that votes without noise would give. Noise takes away from a figure, so the figure "
    "beside an interval is without it, and an interval may begin above what was measured. Those of ρ and τ are wide, "
    "as ballots ask least about the bottom of the ranking. In simulations of up to 300 items 89 to 92% of them held, "
    "by figure. τ_w of an area has none in larger rankings. The precision has one for the top 20 only. Pearson has "
    "none, as votes don't tell the scale it hangs on."
)
WITH_OTHER_TOKENS = (
    "**With other tokens**: 90% intervals of what {n:,} other tokens of these kinds would give. Scores are taken as "
    "they are. An interval is about the figure without the bias that resampling shows. In simulations 90 to 92% of "
    "them held, by figure, in single cases 82 to 98%. Fewer than 15 tokens have none."
)


def show(
    view: EvaluateView, intervals: IntervalsView | None, tokens: TokenIntervalsView | None, visit: Visit | None
) -> None:
    """The headline and warnings; `visit` is what intervals come by, None where there is no model."""
    # What stood below the bar of a job keeps its place when the bar is gone; of one model the answer would be too short
    # for it.
    keeps_place = visit is not None and visit.has_waited() and len(view.evaluations) > 1
    with st.container(key="evaluate-waited" if keeps_place else "evaluate-answer"):
        awaited = visit.awaited if visit else ""
        beside = "" if awaited else frame.plain(leaderboard.beside_the_leader(view))
        st.markdown(f"{answer(view, intervals, tokens, awaited)} {beside}".strip())
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
                    "dataset, which favours it. *All figures* has those without them."
                ),
                icon=":material/balance:",
            )


def signs(view: EvaluateView, project: Project) -> None:
    """What is always so of the dataset, as badges, and the next step."""
    frame.show(*frame.of_dataset(view.dataset.attrs))
    _next_step(view.dataset.attrs["provisional"], project)


def reading(view: EvaluateView, intervals: IntervalsView | None, tokens: TokenIntervalsView | None) -> None:
    """How figures, intervals and ranks are read, in short sentences."""
    n_votes = view.dataset.attrs["votes"]
    resamples = intervals.resamples if intervals and intervals.resamples else number_of_resamples(n_votes)
    n_tokens = tokens.n_tokens if tokens and tokens.n_tokens else evaluate_tokens.n_tokens(view)
    sentences = [
        "**ρ_w** and **τ_w** say how far an embedding ranks the items as people do. Top ranks weigh most. 1 is full "
        "agreement; a random ranking of more than a few dozen items lies below 0. "
        f"With n₀ = {view.n0:g} the first rank holds {percent(view.first_rank_share)} of the weight of a long ranking.",
        "**Rank**: a range where other voters could change it, by the intervals of differences at 90%.",
        "**Of what is possible**: from chance, 0%, the mean of random rankings of so many items with these ties, to "
        "the ceiling, 100%, what votes like these would give a perfect model. It isn't cut: below 0 is worse than "
        "chance. It goes by the figure as measured, and by the ceiling of all items.",
        "**Covered**: the share of the items both of whose tokens the embedding has.",
        WITH_OTHER_VOTERS.format(n=resamples, votes=many(n_votes, "vote")),
        WITH_OTHER_TOKENS.format(n=n_tokens),
    ]
    if view.ranked_apart:
        sentences.append(
            "**Areas** have rankings of their own, whose scores don't compare: a figure over all areas is the mean of "
            "the areas' figures."
        )
    if circularity := circular(view):
        sentences.append(circularity)
    for text in sentences:
        st.markdown(text)


def circular(view: EvaluateView) -> str:
    """Which model's figure is too high as the demo's voters believe it, where such a model is compared; else ""."""
    return frame.plain(CIRCULAR) if GLOVE in [evaluation.model for evaluation in view.evaluations] else ""


def answer(
    view: EvaluateView, intervals: IntervalsView | None, tokens: TokenIntervalsView | None, awaited: str = ""
) -> str:
    """The one answer, as Markdown: which embedding leads, by how much, on how many of the items.

    Over less than half of the items none is named the best; nor is one while intervals are `awaited`, which says in
    words that they are being computed, or weren't.
    """
    leaders = view.leaders
    if leaders.empty or view.compared is None:
        return "**No embedding can be compared: see the reasons below.**"
    if view.why_no_winner:
        return f"**No embedding is named the best**: {view.why_no_winner}."
    apart_said = ", the mean over areas," if view.ranked_apart else ""
    row = leaders.iloc[0]
    if len(view.overall) == 1:
        both = [HeadlineFigure.of(row, intervals, label) for label in ("ρ_w", "τ_w")]
        figures = " and ".join(f"{figure.value}{figure.between}" for figure in both)
        items = f"{row['covered']:,} of {row['items']:,} items"
        without = [figure.label for figure in both if figure.between]
        left_out = OUT.format(evaluate_tokens.with_and(without)) if without else ""
        measured, more = (", as measured", f" {awaited}.") if awaited else ("", "")
        return (
            f"**{frame.plain(row['embedding'])} reaches {figures}**{apart_said} on {items}{measured}.{left_out}{more}"
        )
    of_items = f"{view.n_compared:,} of {many(view.n_items, 'item')}"
    if not view.names_winner:
        return f"**No embedding is named the best**: their figures rest on {of_items}, less than half."
    common = ", those that all cover" if len(view.common) else ""
    if awaited:
        lowest, highest = view.chosen["ρ_w"].min(), view.chosen["ρ_w"].max()
        lowest, highest = with_decimals(lowest), with_decimals(highest)
        between = f"= {highest}" if lowest == highest else f"from {lowest} to {highest}"
        embeddings_text = many(len(view.chosen), "embedding")
        return (
            f"**{embeddings_text}: ρ_w {between}**{apart_said}, as measured, on {of_items}{common}. "
            f"{awaited}: until they are there, no embedding is named the best."
        )
    ranked = view.chosen.sort_values("ρ_w", ascending=False, kind="stable")["embedding"].tolist()
    by = {}
    if intervals and intervals.differences:
        by["votes"] = evaluate_tokens.by_votes(intervals.differences)
    if tokens and tokens.n_tokens:
        by["tokens"] = tokens.told("rho_w")
    apart = frame.plain(evaluate_tokens.not_told_apart_text(ranked, by))
    leads = HeadlineFigure.of(row, intervals, "ρ_w")
    return (
        f"**{_leaders_sentence(view, leaders, leads.value)}**{leads.between}{apart_said} on {of_items}{common}."
        f"{f' {apart[:1].upper()}{apart[1:]}.' if apart else ''}"
    )


def _leaders_sentence(view: EvaluateView, leaders: pd.DataFrame, value: str) -> str:
    """Which embeddings lead, and whether over fewer items than another has."""
    names = evaluate_tokens.with_and([frame.plain(name) for name in leaders["embedding"]])
    compared = view.compared
    fewer = compared.fewer(compared.names.index(leaders["embedding"].iloc[0])) if compared else ()
    than = f", over fewer items than {frame.plain(fewer[0])}" if fewer else ""
    return plural(
        len(leaders), "{names} leads{than}: {value}", "{names} lead{than}: {value}", names=names, than=than, value=value
    )


@dataclass(frozen=True)
class HeadlineFigure:
    """A figure in the headline, and its interval in brackets, "" for none: both without the noise of the votes.

    Where there is no interval the figure is as it was measured.
    """

    label: str
    value: str
    between: str = ""

    @staticmethod
    def of(row: pd.Series, intervals: IntervalsView | None, label: str) -> HeadlineFigure:
        """The figure of an embedding, a row of the view's tables."""
        if intervals and intervals.compared is not None:
            key = next(key for key, each in FIGURES if each == label)
            figures = dict(zip(intervals.compared.names, intervals.compared.figures, strict=True))[row["embedding"]]
            value, lower, upper = getattr(figures, key).by_votes
            if value is not None:
                between = f"{with_decimals(lower)} to {with_decimals(upper)}"
                return HeadlineFigure(
                    label, f"{label} = {with_decimals(value)}", f" (90% with other voters: {between})"
                )
        return HeadlineFigure(label, f"{label} = {with_decimals(row[label])}")


def _next_step(provisional: bool, project: Project) -> None:
    """On to the next ballot, or out with the dataset."""
    overview = cache.load_overview(frame.store(), project)
    if provisional:
        frame.next_step(overview.next_page, overview.next_label[:1].lower() + overview.next_label[1:])
    else:
        frame.next_step("export", "take the dataset with you")
