"""Further tokens proposed by an embedding, its nearest words, and the hubness of the tokens in it."""

from __future__ import annotations

import streamlit as st

from core.base.numbers_in_words import plural, with_decimals
from core.store import Store
from core.store.projects.embedding_library import Imported
from core.store.projects.project_commands import Project
from core.store.tokens.areas import add_tokens
from core.tokens.files import AreaTokens
from core.views.tokens import N_SAMPLED, ProposedView, TokensView
from ui.shared import cache, choosers, frame


def _chooser(view: TokensView, key: str) -> Imported | None:
    """An embedding with vectors, None where there is none."""
    usable = [coverage.imported for coverage in view.coverage if not coverage.problem and coverage.imported.has_vectors]
    if not usable:
        st.caption("There is no embedding with vectors yet.")
        frame.link("embeddings", "Load an embedding", icon=":material/hub:")
        return None
    return choosers.embedding("Embedding", usable, key=key)


def propose_box(store: Store, project: Project, view: TokensView) -> None:
    """Words near an area's tokens, to be ticked and added."""
    st.caption(
        "The words nearest to the middle of an area's tokens (the mean of their unit vectors). They suit the model "
        "that proposes them: when it is evaluated, Runoff warns and also gives its figures without them."
    )
    imported = _chooser(view, f"near-embedding-{project.id}")
    if imported is None:
        return
    areas = {area.name: area.name for area in view.areas}
    area = choosers.selectbox("Area to add to", areas, key=f"near-area-{project.id}")
    request = (project.id, imported.id, area)
    if st.button("Propose tokens"):
        st.session_state["_near_tokens"] = request
    if st.session_state.get("_near_tokens") != request:
        return
    with st.spinner("Looking through the vocabulary…"):
        proposed = cache.load_proposed(store, project, imported.id, area)
    if proposed.problem:
        st.error(frame.plain(proposed.problem))
    elif proposed.proposed.empty:
        st.caption("It has no further words near these tokens.")
    else:
        _tick(store, project, proposed)


def _tick(store: Store, project: Project, proposed: ProposedView) -> None:
    """The proposals with a box each."""
    with st.form(f"near-{project.id}-{proposed.imported.id}-{hash(proposed.area)}"):
        columns = st.columns(2)
        ticked = []
        half = -(-len(proposed.proposed) // 2)
        for place, (token, cosine, nearest, like) in enumerate(proposed.proposed.itertuples(index=False, name=None)):
            about = f"nearest to {nearest}"
            if like:
                about = f"nearest to {nearest}; hardly differs from {like}"
            mark = " :material/content_copy:" if like else ""
            label = f"{frame.plain(token)} ({with_decimals(cosine, 2)}){mark}"
            if columns[place // half].checkbox(
                label, key=f"near-{hash(proposed.area)}-{token}", help=frame.plain(about)
            ):
                ticked.append(token)
        st.caption(
            "In brackets: the cosine with the middle of the area. :material/content_copy: hardly differs from a "
            "token that is there, or from a proposal above."
        )
        if st.form_submit_button("Add the ticked tokens", type="primary"):
            _add(store, project, proposed.area, proposed.imported, ticked)


def _add(store: Store, project: Project, area: AreaTokens, imported: Imported, tokens: list[str]) -> None:
    if not tokens:
        st.warning("No token is ticked.")
        return
    done = plural(
        len(tokens),
        "{n} token added to {area}, marked as proposed by {name}.",
        "{n} tokens added to {area}, marked as proposed by {name}.",
        area=area.name,
        name=imported.name,
    )
    frame.carry_out(add_tokens, store, project.id, area, tokens, embedding_id=imported.id, done=done)


def proposed_list(view: TokensView) -> None:
    """Which tokens were proposed by embeddings."""
    if not view.proposed:
        return
    st.caption(
        plural(len(view.proposed), "{n} token proposed by an embedding:", "{n} tokens proposed by an embedding:")
    )
    rows = [{"token": token, "area": area, "proposed by": by} for (area, token), by in view.proposed.items()]
    st.dataframe(rows, hide_index=True, alt="Tokens proposed by embeddings")


def hubness_box(store: Store, project: Project, view: TokensView) -> None:
    """How often each token is a near neighbour of others, counted on request."""
    st.caption(
        f"N_k: how often a token is among the k nearest of the others, the project's tokens and {N_SAMPLED:,} "
        "words drawn from the vocabulary (seeded). Hubs are near to nearly everything, which says little about "
        "meaning. A dataset that holds some shows which models have them."
    )
    imported = _chooser(view, f"hub-embedding-{project.id}")
    if imported is None:
        return
    k = int(st.number_input("Neighbours, k", 1, 100, 10, key=f"hub-k-{project.id}"))
    request = (project.id, imported.id, k)
    if st.button("Count the neighbours"):
        st.session_state["_hubness"] = request
    if st.session_state.get("_hubness") != request:
        return
    with st.spinner("Counting…"):
        hubs = cache.load_hubness(store, project, imported.id, k)
    if hubs.found is None:
        st.error(frame.plain(hubs.problem))
        return
    skew = hubs.found.skewness
    headline = frame.plain(hubs.found.problem) if skew is None else f"**Skewness of N_k: {with_decimals(skew, 2)}**"
    st.markdown(
        (
            f"{headline} over {hubs.n_tokens:,} tokens and {hubs.n_sampled:,} words of {frame.plain(imported.name)}; "
            f"the mean of N_k is {k}."
        ),
        help="0 is a symmetric distribution. Above about 1 a few words are near neighbours of very many: hubs.",
    )
    n_k = st.column_config.NumberColumn("N_k", format="%.1f", help="Ties for the last place share it.")
    columns = {"n_k": n_k}
    st.dataframe(hubs.by_tokens, hide_index=True, column_config=columns, height=300, alt="N_k of the tokens")
