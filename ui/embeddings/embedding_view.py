"""One embedding looked at: which of the project's tokens it has, Figure 3, a word's neighbours, unusual vectors.

Of tokens it is told which it has, what it found them as, and how it looks them up; of vectors how long they are, and
which are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.base.durable import slug
from core.base.numbers_in_words import many, percent, with_decimals
from core.charts import campaign_charts
from core.embeddings import Embedding, LookUp, as_mode
from core.errors import InputError
from core.store import Store
from core.store.projects.embedding_library import Imported, set_lookup, set_remedy, set_subwords
from core.store.projects.project_commands import Project
from core.views.embeddings import EmbeddingView, Figure3
from core.views.evaluate.token_intervals import with_and
from core.views.tokens import Coverage, Remedied, TokensView
from ui.shared import cache, chart_files, choosers, frame

WAYS = {
    "as they are": "As they are written, or else with “_”",
    "underscore": "With “_” in place of each space",
    "mean of parts": "The mean of their words' vectors",
    "mean if missing": "As they are written, or else the mean of their words' vectors",
}
# What a remedy's button says, and the caption of one in use.
APPLY = {"lower": "Also try lower case", "mean": "Take the mean of their words"}
IN_USE = {"lower": "Missing tokens are tried in lower case too", "mean": "The mean of their words stands for tokens"}


def show_coverage(store: Store, project: Project, coverage: Coverage, *, says_how: bool) -> None:
    """One embedding: how many tokens it has, those it hasn't, and those it has under another spelling; how they are
    looked up where it `says_how`."""
    if coverage.problem:
        st.error(frame.plain(f"{coverage.name}: {coverage.problem}"))
        return
    name, covered = frame.plain(coverage.name), coverage.covered
    st.markdown(f"**{name}** has {covered:,} of {coverage.n_tokens:,} tokens.")
    if says_how:
        st.caption(lookup_text(coverage.imported))
    if len(coverage.missing):
        if not coverage.has_spellings:
            coverage = _with_spellings(store, project, coverage)
        near = st.column_config.TextColumn("near spellings", help="Words of the embedding that look like it.")
        columns = ["token", "area", "reason", "near"] if coverage.has_spellings else ["token", "area", "reason"]
        reasons = coverage.missing["reason"].unique()
        if len(reasons) == 1:  # told once: the table has half of the page
            st.caption(frame.plain(f"Why they are missing: {reasons[0]}."))
            columns.remove("reason")
        st.dataframe(
            coverage.missing,
            hide_index=True,
            column_order=columns,
            column_config={"near": near},
            alt=f"Tokens missing in {coverage.name}",
        )
    if len(coverage.respelled):
        found_as = st.column_config.TextColumn("found as", help="The word of the embedding that stands for the token.")
        st.dataframe(
            coverage.respelled,
            hide_index=True,
            column_order=["token", "found_as", "area"],
            column_config={"found_as": found_as},
            alt=f"Tokens that {coverage.name} has under another spelling",
        )


def remedies_box(project: Project, view: TokensView) -> None:
    """What may find missing tokens, for all embeddings at once: how many it would find, and what is in use."""
    for remedy_for in view.remedies:
        if remedy_for.in_use:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.caption(frame.plain(f"{IN_USE[remedy_for.remedy]}: {_finds(remedy_for.in_use)}."))
                frame.command_button(
                    "Undo",
                    set_remedy,
                    project.id,
                    remedy_for.remedy,
                    False,
                    done="Tokens are looked up as before.",
                    key=f"undo-{remedy_for.remedy}-{project.id}",
                )
        if remedy_for.offered:
            with st.container(horizontal=True, vertical_alignment="center"):
                frame.command_button(
                    APPLY[remedy_for.remedy],
                    set_remedy,
                    project.id,
                    remedy_for.remedy,
                    True,
                    done=lambda names: f"Applied to {with_and(list(names))}.",
                    key=f"apply-{remedy_for.remedy}-{project.id}",
                    help="Tokens that are found keep their vectors, and so do their items' cosines.",
                )
                st.caption(frame.plain(f"It would find {_finds(remedy_for.offered)}."))


def _finds(remedied: Sequence[Remedied]) -> str:
    """How many tokens a remedy finds in each embedding, with some of them."""
    counts = ", ".join(f"{many(one.n_tokens, 'token')} in {one.name}" for one in remedied)
    examples = dict(example for one in remedied for example in one.examples)
    examples_text = ", ".join(f"{token} as {found_as}" for token, found_as in list(examples.items())[:3])
    return f"{counts} ({examples_text})" if examples_text else counts


def _with_spellings(store: Store, project: Project, coverage: Coverage) -> Coverage:
    """The coverage with near spellings, where they were asked for: it takes seconds in a large vocabulary."""
    state_key = f"spellings-{project.id}-{coverage.embedding_id}"
    takes = "This takes a few seconds in a large vocabulary."
    if st.button("Look for near spellings", key=f"button-{state_key}", help=takes):
        st.session_state[state_key] = True
    if not st.session_state.get(state_key):
        return coverage
    with st.spinner("Comparing spellings…"):
        return cache.load_spellings(store, project, coverage.embedding_id)


def lookup_text(imported: Imported) -> str:
    """How tokens are looked up, in a sentence."""
    way = WAYS[imported.multiword]
    way = way[:1].lower() + way[1:]
    if imported.lower:
        return f"Missing tokens are also tried in lower case; tokens of several words: {way}."
    return f"Tokens are looked up in their own case only; those of several words: {way}."


def lookup_form(store: Store, project: Project, imported: Imported) -> None:
    """The choice of how tokens are looked up in an embedding."""
    ways = [way for way in WAYS if imported.has_vectors or not way.startswith("mean")]
    key = f"{project.id}-{imported.id}-{imported.lower}-{imported.multiword}"
    with st.form(f"look-up-{key}"):
        lower = st.toggle(
            "Also try lower case",
            imported.lower,
            key=f"lower-{key}",
            help="For tokens that it has in no spelling of their own case. If it lacks Turkey, turkey stands for it.",
        )
        multiword = choosers.radio(
            "Tokens of several words",
            {way: WAYS[way] for way in ways},
            imported.multiword,
            key=f"multiword-{key}",
            help="Many embeddings write machine_learning. With the mean, all words of a token must be there.",
        )
        if st.form_submit_button("Apply"):
            done = f"{imported.name} looks tokens up this way from now on, everywhere in this project."
            frame.carry_out(
                set_lookup, store, project.id, imported.id, LookUp(lower, as_mode(multiword)),
                done=done, expected_revision=frame.expected(),
            )  # fmt: skip


def share(coverage: Coverage) -> str:
    """The covered tokens of all, in a few words."""
    return "–" if coverage.problem else f"{coverage.covered:,} of {coverage.n_tokens:,}"


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
    st.caption(lookup_text(view.imported))
    with st.expander("Change how tokens are looked up"):
        lookup_form(frame.store(), project, view.imported)
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
        frame.carry_out(
            set_subwords, frame.store(), project.id, view.imported.id, use,
            done=done, expected_revision=frame.expected(),
        )  # fmt: skip


def figure3(figure: Figure3, project: Project, name: str) -> None:
    """The paper's Figure 3 from the project's own items, for the embedding called `name`."""
    if figure.problem:
        st.error(frame.plain(figure.problem))
        return
    if not figure.n_items:
        st.caption("There are no items to show: the project has none yet, or the embedding lacks their tokens.")
    if figure.curves.empty:
        return
    value = "|cos|" if figure.notion == "relatedness" else "cos"
    chart_files.show(
        partial(campaign_charts.similarity_curves, figure.curves, value),
        figure.curves,
        name=f"{slug(project.name)}-{slug(name)}-items-and-random-pairs",
        alt="Values of items and of random pairs",
    )
    medians = ", ".join(f"{name} {with_decimals(m, 2)}" for name, m in figure.medians.items())
    items = many(figure.n_items, "item")
    if len(figure.medians) < 2:
        of = f"{items} within areas" if figure.n_items else "random pairs of the vocabulary"
        st.caption(f"Values of {of}, sorted. Median: {medians}.")
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
        neighbours = embedding.neighbours(word.strip(), 10)
    except InputError as error:
        frame.show_error(error)
        return
    rows = [{"word": near, "cos": round(cosine, 3)} for near, cosine in neighbours]
    alt = f"Nearest words of {word}"
    st.dataframe(rows, hide_index=True, alt=alt)


def _vectors(view: EmbeddingView) -> None:
    norms, same = view.norms, view.duplicates
    if norms is None or same is None:
        return
    st.markdown("##### Its vectors")
    counts = [f"{norms.n_usable:,} of {norms.n_words:,} vectors can be compared"]
    if norms.n_zero:
        counts.append(f"{norms.n_zero:,} are all zeros")
    if norms.n_not_finite:
        counts.append(f"{norms.n_not_finite:,} hold NaN or ∞")
    st.caption("; ".join(counts) + ".")
    ends = {0.0: "shortest", 1.0: "longest"}
    quantiles = {ends.get(share, percent(share)): round(length, 3) for share, length in norms.quantiles}
    st.caption("Lengths of the vectors. Under 25%, for example, stands the length that a quarter of them don't exceed.")
    row = {"of the vectors": "length up to", **quantiles}
    st.dataframe([row], hide_index=True, alt="Lengths of the vectors")
    if same.n_groups:
        words, vectors = many(same.n_words, "word"), many(same.n_groups, "vector")
        st.caption(f"{words} share {vectors} with another word, such as:")
        rows = [{"the same vector": " · ".join(group[:12])} for group in same.groups[:5]]
        st.dataframe(rows, hide_index=True, alt="Words with equal vectors")
