"""The Scores page: the top of the ranking in a chart, how far to trust it, and all items and figures in tabs.

The tabs hold all items and the paper's Figures 2, 3 and 4 from the project's own votes and embeddings. Only the open
one is drawn.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.base.durable import file_stem
from core.base.numbers_in_words import many, plural
from core.dataset.files import to_csv
from core.questions import RoundKind
from core.views.scores.scores_page import ScoresView
from ui.scores import score_figures, trust_panel
from ui.scores.round_scores import show_rounds
from ui.shared import cache, frame, kinds

project = frame.project()
store = frame.store()
st.title("Scores")
area_id = frame.area(project, cache.load_standings(store, project))
kind = kinds.choose(project, [kinds.standing(project, area_id)])
if isinstance(kind, RoundKind):
    show_rounds(project, area_id, kind)
    frame.stop()
view: ScoresView = cache.load_scores(store, project, area_id)
dataset = view.dataset
about = dataset.attrs
stem = file_stem(about) + view.area_part

if dataset.empty:
    frame.nothing_yet("There are no votes yet, so there are no scores.", "collect", "collect votes")


def headline() -> None:
    votes, items = many(about["votes"], "vote"), many(len(dataset), "item")
    leader = frame.plain(view.leader)
    st.markdown(f"**Most related: {leader}**, by {votes} of {view.voters.said} on {items}.")
    with st.container(horizontal=True, vertical_alignment="center"):
        frame.show(*frame.of_dataset(about))
        overview = cache.load_overview(store, project)
        frame.next_step(overview.next_page, overview.next_label[:1].lower() + overview.next_label[1:])
    if about["unscored_items"]:
        n = about["unscored_items"]
        st.info(
            plural(
                n,
                "{n} item without a vote yet, and so without a score.",
                "{n} items without a vote yet, and so without a score.",
            )
        )
    if view.interval_note:
        st.caption(frame.plain(view.interval_note))


def ranking() -> None:
    word = st.text_input("Find a token", placeholder="Type a part of a token", key=f"find-{project.id}")
    rows = view.ranking(word)
    if word.strip():
        st.caption(f"{len(rows):,} of {len(dataset):,} items")
    st.dataframe(
        rows,
        hide_index=True,
        height=300,
        lazy=True,
        column_config={
            "rank": st.column_config.NumberColumn(width=60, help="1 is the top; tied items share their average rank."),
            "token_a": st.column_config.TextColumn("token"),
            "token_b": st.column_config.TextColumn("with token"),
            "rank_lower": st.column_config.NumberColumn("rank from", help="Best rank of the 90% interval."),
            "rank_upper": st.column_config.NumberColumn("rank to", help="Worst rank of the 90% interval."),
            "score": st.column_config.NumberColumn(width=60, format="%.3f", help=view.about.score),
            "lower": st.column_config.NumberColumn(
                "from", format="%.3f", help="Lower bound of the score's 90% interval."
            ),
            "upper": st.column_config.NumberColumn(
                "to",
                format="%.3f",
                help=(
                    "Upper bound of the score's 90% interval. It is of the share of votes that the item would win "
                    "against all others, and reaches to the score where that lies beside. Ballots of the paper's "
                    "protocol that an older Runoff closed have bounds of the score itself."
                ),
            ),
            "votes": st.column_config.NumberColumn(help="Votes behind the score, over all its ballots."),
            "ballots": st.column_config.NumberColumn(help="Ballots the item was in."),
        },
        placeholder="–",
        alt="Ranking of the items",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Download the ranking (CSV)",
            partial(to_csv, dataset),
            f"{stem}.csv",
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
        )
        frame.link("export", "More formats on the Export page", icon=":material/arrow_forward:")


headline()
score_figures.top(view, stem)
if view.n_closed:
    trust_panel.show(project, area_id)
names = ["All items", *(["How it settled", "Ballot by ballot", "Random pairs", "Checks"] if view.n_closed else [])]
items, *behind = st.tabs(names, key=f"scores-tab-{project.id}", on_change="rerun")
if items.open:
    with items:
        ranking()
if behind:
    settled, by_ballot, random_pairs, checks = behind
    if settled.open:
        with settled:
            score_figures.settling(project, area_id, stem)
    if by_ballot.open:
        with by_ballot:
            score_figures.by_ballot(view, project, stem)
    if random_pairs.open:
        with random_pairs:
            score_figures.random_pairs(project)
    if checks.open:
        with checks:
            trust_panel.figures(project, area_id)
