"""A model of texts from a folder on this machine: looked at, and what it makes of the project's tokens asked for."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.base.numbers_in_words import many, plural
from core.encoders import FORMATS, inspect
from core.errors import RunoffError
from core.jobs import lifecycle
from core.store import Store
from core.store.projects.embedding_library import read_embeddings
from core.store.projects.project_commands import Project
from ui.shared import cache, frame
from ui.shared.files import typed_path

KIND = "encode_tokens"


def show(store: Store, project: Project, place: str) -> None:
    """A path, what is there, and the button that encodes the tokens; `place` keeps two boxes apart."""
    n_tokens = cache.load_tokens(store, project).n_tokens
    if not n_tokens:
        st.caption("A model reads the project's tokens: add token lists first.")
        return
    _lacking(store, project)
    key = f"{place}-{project.id}"
    text = st.text_input(
        "Folder of the model",
        key=f"encoder-{key}",
        help=(
            "A sentence encoder, a static model (model2vec, StaticEmbedding) or a cross-encoder, as the packages "
            "sentence-transformers and model2vec write them, with config.json in it. Encoders of BERT's kind (MiniLM, "
            "BGE, E5, GTE) are computed here and need nothing else."
        ),
    )
    path = typed_path(text) if text.strip() else None
    if path is None:
        st.caption(
            f"A model makes a vector from any text: here of each of the {many(n_tokens, 'token')}, read as one short "
            "text. A cross-encoder gives each pair a similarity. Nothing is fetched from the internet."
        )
        return
    try:
        found = inspect(path)
    except RunoffError as error:
        frame.show_error(error)
        return
    st.markdown(f"Recognised: **{frame.plain(found.sentence())}**")
    trusted = True
    if found.needs_trust:
        st.warning(frame.plain(found.needs_trust))
        trusted = st.checkbox("I know where this model comes from, and I trust it", key=f"trust-{key}-{path}")
    name = st.text_input("Name in this project", found.name, max_chars=100, key=f"encoder-name-{key}-{path}")
    label = "Read the pairs" if found.scores_pairs else f"Encode {many(n_tokens, 'token')}"
    if st.button(label, type="primary", key=f"encode-{key}", disabled=not trusted):
        if not name.strip():
            st.error("The model has no name. Type one.")
            return
        start(store, project, {"path": str(found.folder.resolve()), "name": name.strip(), "trusted": trusted})


def _lacking(store: Store, project: Project) -> None:
    """Models whose vectors are of an earlier token list."""
    covered = {found.embedding_id: found for found in cache.load_tokens(store, project).coverage}
    for embedding in read_embeddings(store, project.id):
        if embedding.format not in FORMATS or embedding.id not in covered:
            continue
        unusable = embedding.info["n_zero"] + embedding.info["n_not_finite"]
        if later := covered[embedding.id].missing["token"].nunique() - unusable:
            st.warning(
                frame.plain(
                    plural(
                        later,
                        "{name} hasn't encoded {n} token that was added later. Encode them all again from {source}.",
                        "{name} hasn't encoded {n} tokens that were added later. Encode them all again from {source}.",
                        name=embedding.name,
                        source=embedding.source,
                    )
                ),
                icon=":material/update:",
            )


def start(store: Store, project: Project, params: dict[str, Any]) -> None:
    """Have a job ask a model, and watch it."""
    try:
        job_id = lifecycle.start(store, KIND, params, project_id=project.id, once=True)
    except RunoffError as error:
        frame.show_error(error)
        return
    st.session_state.setdefault("_watched", []).append(job_id)
    st.rerun()
