"""One embedding looked at: Figure 3, neighbours of a word, lengths and equal vectors."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.base.durable import slug
from core.base.numbers_in_words import many, percent
from core.charts import campaign_charts
from core.embeddings import Embedding
from core.errors import InputError
from core.store.projects.embedding_library import set_subwords
from core.store.projects.project_commands import Project
from core.views.embeddings import EmbeddingView, Figure3
from ui.embeddings import coverage
from ui.shared import chart_files, frame


def show(view: EmbeddingView, project: Project) -> None:
    """Everything known of one embedding."""
    if view.problem or view.embedding is None:
        st.error(frame.plain(view.problem))
        return
    for note in view.imported.info.get("notes", []):
        st.caption(frame.plain(note))
    if recipe := view.imported.info.get("recipe"):
        st.caption(frame.plain("How it was made. " + "; ".join(f"{name}: {value}" for name, value in recipe) + "."))
    if view.imported.has_subwords:
        _subwords(view, project)
    st.caption(coverage.lookup_text(view.imported))
    with st.expander("Change how tokens are looked up"):
        coverage.lookup_form(frame.store(), project, view.imported)
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("##### Items against random pairs")
        figure3(view.figure3, project, view.imported.name)
    with right:
        _neighbours(view.embedding, project)
    if view.norms is not None:
        _vectors(view)


def _subwords(view: EmbeddingView, project: Project) -> None:
    use = st.toggle(
        "Make vectors of missing words from their parts",
        view.imported.subwords,
        key=f"subwords-{project.id}-{view.imported.id}-{project.revision}",
        help="fastText can. Such words are covered then, but the model has never seen them as a whole.",
    )
    if use != view.imported.subwords:
        name = view.imported.name
        done = f"{name} knows only the words of its vocabulary now."
        if use:
            done = f"{name} makes vectors of missing words now."
        frame.carry_out(set_subwords, frame.store(), project.id, view.imported.id, use, done=done)


def figure3(figure: Figure3, project: Project, name: str) -> None:
    """The paper's Figure 3 from the project's own items, for the embedding called `name`."""
    if figure.problem:
        st.error(frame.plain(figure.problem))
        return
    if not figure.n_items:
        st.caption("The embedding has none of the project's items yet.")
    if figure.curves.empty:
        return
    value = "|cos|" if figure.notion == "relatedness" else "cos"
    chart_files.show(
        partial(campaign_charts.similarity_curves, figure.curves, value),
        figure.curves,
        name=f"{slug(project.name)}-{slug(name)}-items-and-random-pairs",
        alt="Values of items and of random pairs",
    )
    medians = ", ".join(f"{name} {m:.2f}" for name, m in figure.medians.items())
    items = many(figure.n_items, "item")
    if len(figure.medians) < 2:
        st.caption(f"Values of {items} within areas, sorted. Median: {medians}.")
        return
    st.caption(
        f"{value} of {items} within areas and of random pairs of the vocabulary. Medians: {medians}. Where the items "
        "lie higher, areas bring related words together.",
        help="Figure 3 of the paper.",
    )


def _neighbours(embedding: Embedding, project: Project) -> None:
    st.markdown("##### Nearest words")
    word = st.text_input("Word", key=f"neighbours-{project.id}", placeholder="Type a word of the vocabulary")
    if not word.strip():
        return
    try:
        found = embedding.neighbours(word.strip(), 10)
    except InputError as error:
        frame.show_error(error)
        return
    rows = [{"word": near, "cos": round(cosine, 3)} for near, cosine in found]
    alt = f"Nearest words of {word}"
    st.dataframe(rows, hide_index=True, alt=alt)


def _vectors(view: EmbeddingView) -> None:
    norms, same = view.norms, view.duplicates
    if norms is None or same is None:
        return
    st.markdown("##### Its vectors")
    said = [f"{norms.n_usable:,} of {norms.n_words:,} vectors can be compared"]
    if norms.n_zero:
        said.append(f"{norms.n_zero:,} are all zeros")
    if norms.n_not_finite:
        said.append(f"{norms.n_not_finite:,} hold NaN or ∞")
    st.caption("; ".join(said) + ".")
    ends = {0.0: "shortest", 1.0: "longest"}
    quantiles = {ends.get(share, percent(share)): round(length, 3) for share, length in norms.quantiles}
    st.caption("How long the vectors are: the length that so many of them don't exceed.")
    row = {"of the vectors": "length up to", **quantiles}
    st.dataframe([row], hide_index=True, alt="Lengths of the vectors")
    if same.n_groups:
        words, vectors = many(same.n_words, "word"), many(same.n_groups, "vector")
        st.caption(f"{words} share {vectors} with another word, such as:")
        rows = [{"the same vector": " · ".join(group[:12])} for group in same.groups[:5]]
        st.dataframe(rows, hide_index=True, alt="Words with equal vectors")
