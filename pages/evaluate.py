"""How well each embedding ranks the items as people do."""

from __future__ import annotations

import streamlit as st

from core import charts
from core.store.library import read_embeddings
from core.views.evaluate import FIGURES, EvaluateView
from core.views.scores import file_stem, pair_label
from core.views.words import many, slug
from ui import cache, chart_files, frame

project = frame.project()
st.title("Evaluate")
if not read_embeddings(frame.store(), project.id):
    frame.nothing_yet("There is no embedding to compare yet.", "embeddings", "load an embedding")

answer = st.container()  # the headline stands above the settings that it follows from
HELP = {
    "ρ_w": "Spearman's ρ with more weight on top ranks (Eq. 8). 1 is full agreement.",
    "τ_w": "Kendall's τ with more weight on top ranks (Eq. 8). It counts pairs of items in the right order.",
    "ρ": "Spearman's rank correlation: all ranks weigh the same.",
    "τ": "Kendall's rank correlation (tau-b): all ranks weigh the same.",
}
with st.container(horizontal=True, vertical_alignment="bottom"):
    n0 = st.number_input(
        "Offset n₀", 0.0, 1000.0, 2.0, 1.0, key=f"n0-{project.id}", persist_state="session", width=140,
        help="Rank n weighs 1/(n + n₀)². A small n₀ puts nearly all weight on the first ranks; the paper takes 2.",
    )  # fmt: skip
    notion = st.segmented_control(
        "Models rank by", ["relatedness", "similarity"], default=project.notion, required=True,
        key=f"notion-{project.id}",
        format_func={"relatedness": "|cos| (relatedness)", "similarity": "cos (similarity)"}.get,
        help="The project's own notion is chosen at first.",
    )  # fmt: skip
view: EvaluateView = cache.load_evaluation(frame.store(), project, float(n0), notion)
if view.dataset.empty:
    frame.nothing_yet("There are no scores to compare with yet.", "collect", "collect votes")


def headline() -> None:
    """The one answer, and what a reader must know of it."""
    leaders = view.leaders
    on = "the items that all cover" if len(view.common) else ""
    mean = ", the mean over areas," if view.ranked_apart else ""
    if leaders.empty:
        st.markdown("**No embedding can be compared: see the reasons below.**")
    elif len(view.overall) == 1:
        row = leaders.iloc[0]
        st.markdown(
            f"**{frame.plain(row['embedding'])} reaches ρ_w = {row['ρ_w']:.3f} and τ_w = {row['τ_w']:.3f}**{mean} "
            f"on {row['covered']:,} of {row['items']:,} items."
        )
    else:
        row = leaders.iloc[0]
        names = " and ".join(map(frame.plain, leaders["embedding"]))
        st.markdown(f"**Highest ρ_w: {names}, {row['ρ_w']:.3f}**{mean} on {on or many(row['covered'], 'item')}.")
    for problem in view.problems:
        st.error(frame.plain(problem))
    for evaluation in view.evaluations:
        if evaluation.proposed:
            st.warning(
                f"{frame.plain(evaluation.model)} proposed {many(len(evaluation.proposed), 'token')} of this dataset, "
                "which favours it (§2.2). See the figures without them below.",
                icon=":material/balance:",
            )
    about = view.dataset.attrs
    next_step(about["provisional"])
    if about["simulated_votes"]:
        st.warning("The dataset holds votes of simulated voters.", icon=":material/science:")
    if project.kind == "demo":
        st.caption(
            "The demo's simulated voters follow a sentence model. Word vectors as small as the demo's rank the top "
            "differently, so low figures are to be expected here."
        )
    if about["provisional"]:
        st.info("The dataset is provisional: not all ballots are closed.", icon=":material/hourglass_top:")
    if view.ranked_apart:
        st.caption(
            "Each area has a ranking of its own, and scores of two areas don't compare: a figure over all areas is the "
            "mean of the areas' figures."
        )
    share = f"R(n₀) = {view.first_rank_share:.0%}"
    st.caption(
        "ρ_w and τ_w say how far an embedding ranks the items as people do, the top ranks weighing most: 1 is full "
        f"agreement, 0 none. With n₀ = {view.n0:g} the first rank holds {share} of the weight of a long ranking."
    )


def next_step(provisional: bool) -> None:
    """On to the next ballot, or out with the dataset."""
    overview = cache.load_overview(frame.store(), project)
    if provisional:
        frame.next_step(overview.next_page, overview.next_label[:1].lower() + overview.next_label[1:])
    else:
        frame.next_step("export", "take the dataset with you")


def tables() -> None:
    config = {name: st.column_config.NumberColumn(format="%.3f", help=HELP[name]) for _, name in FIGURES}
    config["coverage"] = st.column_config.ProgressColumn(
        format="percent", min_value=0, max_value=1, help="Share of the items both of whose tokens the embedding has."
    )
    overall = view.overall.drop(columns="area")
    st.dataframe(overall, hide_index=True, column_config=config, alt="Embeddings over all areas")
    st.caption(
        f"By {view.dataset.attrs['votes']:,} votes. No intervals yet: a plain bootstrap over voters is known to miss "
        "the true ρ_w, so none is shown rather than a wrong one."
    )
    if len(view.common):
        st.subheader("Over the items that all cover")
        st.caption("The embeddings cover different items, so only these figures compare directly.")
        shown = view.common.drop(columns=["area", "covered", "coverage"])
        st.dataframe(shown, hide_index=True, column_config=config, alt="Embeddings over their common items")
    if len(view.without_proposed):
        st.subheader("Without the tokens that an embedding proposed")
        st.caption("The items that hold such a token are left out for all embeddings, so these figures are fairer.")
        shown = view.without_proposed.drop(columns="area")
        st.dataframe(shown, hide_index=True, column_config=config, alt="Embeddings without proposed tokens")
    st.subheader("By area")
    st.dataframe(view.by_area, hide_index=True, column_config=config, alt="Embeddings by area")
    for reason in view.undefined:
        st.caption("Blank: " + frame.plain(reason))
    st.download_button(
        "Download this table (CSV)", view.table.to_csv(index=False), "evaluation.csv", "text/csv", on_click="ignore"
    )


def disagreements() -> None:
    st.subheader("Where people and embedding disagree")
    names = [evaluation.model for evaluation in view.evaluations]
    chosen = 0
    if len(names) > 1:
        chosen = st.selectbox("Embedding", range(len(names)), format_func=names.__getitem__, key=f"model-{project.id}")
    evaluation = view.evaluations[chosen]
    worst = evaluation.worst(15)
    left, right = st.columns(2, gap="large")
    with left:
        chart_files.show(
            charts.rank_scatter(evaluation.pairs, worst),
            evaluation.pairs,
            name=f"{file_stem(view.dataset.attrs)}-{slug(evaluation.model)}-ranks",
            alt="Ranks by people and by the embedding",
        )
    with right:
        shown = worst.assign(pair=pair_label(worst))[["pair", "rank", "model_rank", "cosine"]]
        st.dataframe(
            shown.rename(columns={"rank": "by people", "model_rank": "by embedding"}),
            hide_index=True,
            column_config={
                "cosine": st.column_config.NumberColumn(format="%.3f"),
                "pair": st.column_config.Column(width="medium"),
            },
            height=420,
            alt="The worst disagreements",
        )
        st.caption("The items that cost the most, top ranks weighing more.")
    if evaluation.missing:
        with st.expander(f"{many(len(evaluation.missing), 'token')} without a vector"):
            rows = [{"token": token, "reason": reason} for token, reason in evaluation.missing.items()]
            st.dataframe(rows, hide_index=True, alt="Tokens without a vector")
    if evaluation.found_as:
        with st.expander(f"{many(len(evaluation.found_as), 'token')} found under another spelling"):
            found = [{"token": token, "found as": name} for token, name in evaluation.found_as.items()]
            st.dataframe(found, hide_index=True, alt="Tokens found under another spelling")


with answer:
    headline()
tables()
if view.evaluations:
    disagreements()
