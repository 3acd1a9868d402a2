"""How well each embedding ranks the items as people do."""

from __future__ import annotations

import streamlit as st

from core.store.library import read_embeddings
from core.views.evaluate import EvaluateView
from core.views.words import many
from ui import cache, evaluation_tables, frame

project = frame.project()
st.title("Evaluate")
if not read_embeddings(frame.store(), project.id):
    frame.nothing_yet("There is no embedding to compare yet.", "embeddings", "load an embedding")

answer = st.container()  # the headline stands above the settings that it follows from
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


with answer:
    headline()
evaluation_tables.show(view, project)
if view.evaluations:
    evaluation_tables.disagreements(view, project)
