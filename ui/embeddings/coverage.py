"""Which tokens an embedding has, what it found them as, and how it looks them up."""

from __future__ import annotations

import streamlit as st

from core.embeddings import LookUp, as_mode
from core.store import Store
from core.store.projects.library import Imported, set_look_up
from core.store.projects.projects import Project
from core.views.tokens import Coverage
from ui.shared import cache, choosers, frame

WAYS = {
    "as they are": "As they are written, or else with “_”",
    "underscore": "With “_” in place of each space",
    "mean of parts": "The mean of their words' vectors",
}


def show(store: Store, project: Project, found: Coverage) -> None:
    """One embedding: how many tokens it has, those it hasn't, and those it has under another spelling."""
    if found.problem:
        st.error(frame.plain(f"{found.name}: {found.problem}"))
        return
    name, covered = frame.plain(found.name), found.covered
    st.markdown(f"**{name}** has {covered:,} of {found.n_tokens:,} tokens.")
    st.caption(said(found.imported))
    if len(found.missing):
        if not found.has_spellings:
            found = _with_spellings(store, project, found)
        near = st.column_config.TextColumn("near spellings", help="Words of the embedding that look like it.")
        st.dataframe(
            found.missing,
            hide_index=True,
            column_order=["token", "area", "reason", *(["near"] if found.has_spellings else [])],
            column_config={"near": near},
            alt=f"Tokens missing in {found.name}",
        )
    if len(found.respelled):
        found_as = st.column_config.TextColumn("found as", help="The word of the embedding that stands for the token.")
        st.dataframe(
            found.respelled,
            hide_index=True,
            column_order=["token", "found_as", "area"],
            column_config={"found_as": found_as},
            alt=f"Tokens that {found.name} has under another spelling",
        )


def _with_spellings(store: Store, project: Project, found: Coverage) -> Coverage:
    """The coverage with near spellings, where they were asked for: it takes seconds in a large vocabulary."""
    asked = f"spellings-{project.id}-{found.embedding_id}"
    takes = "Takes some seconds in so large a vocabulary."
    if st.button("Look for near spellings", key=f"button-{asked}", help=takes):
        st.session_state[asked] = True
    if not st.session_state.get(asked):
        return found
    with st.spinner("Comparing spellings…"):
        return cache.load_spellings(store, project, found.embedding_id)


def said(imported: Imported) -> str:
    """How tokens are looked up, in a sentence."""
    way = WAYS[imported.multiword]
    way = way[:1].lower() + way[1:]
    if imported.lower:
        return f"Tokens are looked up then in lower case; several words: {way}."
    return f"Tokens are looked up in their own case only; several words: {way}."


def look_up_form(store: Store, project: Project, imported: Imported) -> None:
    """The choice of how tokens are looked up in an embedding."""
    ways = [way for way in WAYS if imported.has_vectors or way != "mean of parts"]
    key = f"{project.id}-{imported.id}-{imported.lower}-{imported.multiword}"
    with st.form(f"look-up-{key}"):
        lower = st.toggle(
            "Also try lower case",
            imported.lower,
            key=f"lower-{key}",
            help="For tokens that it has in no spelling of their own case. Turkey then is turkey, if it lacks Turkey.",
        )
        multiword = choosers.radio(
            "Tokens of several words",
            {way: WAYS[way] for way in ways},
            imported.multiword,
            key=f"multiword-{key}",
            help="Many embeddings write machine_learning. With the mean, all words of a token must be there.",
        )
        if st.form_submit_button("Look tokens up so"):
            done = f"{imported.name} looks tokens up so from now on, everywhere in this project."
            frame.carry_out(set_look_up, store, project.id, imported.id, LookUp(lower, as_mode(multiword)), done=done)


def share(found: Coverage) -> str:
    """The covered tokens of all, in a few words."""
    return "–" if found.problem else f"{found.covered:,} of {found.n_tokens:,}"
