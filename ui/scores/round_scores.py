"""The scores of a round: its results once closed, how they compare with the project's votes, and files from elsewhere.

The files are of the same kind of question. Of the tabs only the open one is drawn.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.questions import RoundKind
from core.questions.order.groups import preference_table
from core.store.projects.project_commands import Project
from core.views.kinds import rating_sets, target_groups
from core.views.kinds import rounds as view
from core.views.kinds.rounds import RoundView
from ui.plan.side_by_side_box import show_side_by_side
from ui.scores.kind_files import best_worst_box, groups_box, ratings_box
from ui.shared import cache, frame, kinds
from ui.shared.tables import show_table

# Files from elsewhere by the names in `KindInfo.files`: what a tab is called, and what it holds.
FILES: dict[str, tuple[str, Callable[[Project], None]]] = {
    "ratings": ("A file of ratings", ratings_box),
    "best–worst": ("A file of judgements", best_worst_box),
    "target groups": ("Files of groups and orders", groups_box),
}


def show_rounds(project: Project, area_id: int | None, kind: RoundKind) -> None:
    """All of the page for one kind."""
    rounds = kinds.rounds(project, area_id, kind)
    files = [FILES[name] for name in kind.about.files if name in FILES]
    if not files:
        _rounds(project, area_id, kind, rounds)
        return
    names = ["Rounds", *(label for label, _ in files)]
    tabs = st.tabs(names, key=f"scores-tab-{project.id}-{kind.name}", on_change="rerun")
    for tab, show in zip(tabs, [None, *(show for _, show in files)], strict=True):
        if not tab.open:
            continue
        with tab:
            if show is None:
                _rounds(project, area_id, kind, rounds)
            else:
                show(project)


def _rounds(project: Project, area_id: int | None, kind: RoundKind, rounds: tuple[RoundView, ...]) -> None:
    if not rounds:
        frame.lead_to(
            f"No round of {kind.about.label} is drawn yet, so there are no scores.", "collect", "collect answers"
        )
        return
    round_view = kinds.one_of(project, area_id, sorted(rounds, key=lambda one: one.round.is_open))  # closed ones first
    if round_view.round.is_open:
        st.caption("Its scores are computed when it is closed.")
        frame.next_step("collect", "collect answers")
        return
    results_box(project, area_id, round_view)


def results_box(project: Project, area_id: int | None, round_view: RoundView) -> None:
    """All results of a closed round."""
    with st.container(horizontal=True):
        for label, value, about in round_view.figures:
            st.metric(label, value, help=about, width="content")
    for reason in round_view.why_undefined:
        st.caption(frame.plain(reason))
    kind = round_view.round.kind.about
    if kind.scores_items:
        _items(project, round_view)
    else:
        _preferences(project, round_view)
    with st.container(horizontal=True):
        frame.link("export", "Its files: on the Export page", icon=":material/download:")
        frame.link("evaluate", "Embeddings ranked by it", icon=":material/fact_check:")
        frame.link("voters", "Who answered", icon=":material/groups:")
    if kind.is_scale:
        _ratings(project, round_view)
    if kind.scores_items:
        _beside_votes(project, area_id, round_view, view.file_stem_of(project.name, round_view.round))


def _items(project: Project, round_view: RoundView) -> None:
    st.subheader("Items", help="By score, the most related first.")
    table = cache.load_round(view.items, frame.store(), project, round_view.round)
    digits = {"rank": "%.1f", "score": "%.3f", "lower": "%.3f", "upper": "%.3f"}
    config = {
        name: st.column_config.NumberColumn(name, help=about, format=digits.get(name))
        for name, about in view.ITEM_HELP.items()
    }
    st.dataframe(table, hide_index=True, column_config=config, height=400, alt="Items of the round")
    if round_view.round.interval_note:
        st.caption(frame.plain(round_view.round.interval_note))


def _ratings(project: Project, round_view: RoundView) -> None:
    report = cache.load_round(view.rating_report, frame.store(), project, round_view.round)
    with st.expander(f"Items to adjudicate ({len(report.waiting):,})"):
        st.caption("Any two people differ by a point or more there, so the mean hides a disagreement.")
        table = rating_sets.items(report).iloc[list(report.waiting)]
        show_table(table, rating_sets.HELP, "Items to adjudicate")


def _preferences(project: Project, round_view: RoundView) -> None:
    st.subheader("Preferences", help="R: the share of people that put one word above the other.")
    words = cache.load_round(view.compared_words, frame.store(), project, round_view.round)
    table = preference_table(words)
    show_table(table, target_groups.WORST_HELP, "Preferences of two positives")


def _beside_votes(project: Project, area_id: int | None, round_view: RoundView, stem: str) -> None:
    standings = cache.load_standings(frame.store(), project)
    mine = next((standing for standing in standings if standing.ranking.area_id == area_id), None)
    if mine is None or not mine.n_closed:
        st.caption("Once a ballot of comparisons is closed, both can be set side by side here.")
        return
    box = st.expander("Side by side with the votes", key=f"beside-{round_view.round.id}", on_change="rerun")
    if not box.open:
        return
    with box, st.spinner("Comparing …"):
        both = cache.load_round(view.beside_votes, frame.store(), project, round_view.round)
        show_side_by_side(both, f"{stem}-votes")
