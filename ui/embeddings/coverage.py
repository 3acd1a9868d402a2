"""Which tokens an embedding has, what it found them as, and how it looks them up."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.base.numbers_in_words import many
from core.embeddings import LookUp, as_mode
from core.store import Store
from core.store.projects.embedding_library import Imported, set_lookup, set_remedy
from core.store.projects.project_commands import Project
from core.views.evaluate.token_intervals import with_and
from core.views.tokens import Coverage, Remedied, TokensView
from ui.shared import cache, choosers, frame

WAYS = {
    "as they are": "As they are written, or else with “_”",
    "underscore": "With “_” in place of each space",
    "mean of parts": "The mean of their words' vectors",
    "mean if missing": "As they are written, or else the mean of their words' vectors",
}
# What a remedy's button says, and the caption of one in use.
APPLY = {"lower": "Also try lower case", "mean": "Take the mean of their words"}
IN_USE = {"lower": "Missing tokens are tried in lower case too", "mean": "The mean of their words stands for tokens"}


def show(store: Store, project: Project, found: Coverage) -> None:
    """One embedding: how many tokens it has, those it hasn't, and those it has under another spelling."""
    if found.problem:
        st.error(frame.plain(f"{found.name}: {found.problem}"))
        return
    name, covered = frame.plain(found.name), found.covered
    st.markdown(f"**{name}** has {covered:,} of {found.n_tokens:,} tokens.")
    st.caption(lookup_text(found.imported))
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


def remedies_box(project: Project, view: TokensView) -> None:
    """What may find missing tokens, for all embeddings at once: how many it would find, and what is in use."""
    for of in view.remedies:
        if of.in_use:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.caption(frame.plain(f"{IN_USE[of.remedy]}: {_finds(of.in_use)}."))
                frame.command_button(
                    "Undo",
                    set_remedy,
                    project.id,
                    of.remedy,
                    False,
                    done="Tokens are looked up as before.",
                    key=f"undo-{of.remedy}-{project.id}",
                )
        if of.offered:
            with st.container(horizontal=True, vertical_alignment="center"):
                frame.command_button(
                    APPLY[of.remedy],
                    set_remedy,
                    project.id,
                    of.remedy,
                    True,
                    done=lambda names: f"Applied to {with_and(list(names))}.",
                    key=f"apply-{of.remedy}-{project.id}",
                    help="Tokens that are found keep their vectors, and so do their items' cosines.",
                )
                st.caption(frame.plain(f"It would find {_finds(of.offered)}."))


def _finds(found: Sequence[Remedied]) -> str:
    """How many tokens a remedy finds in each embedding, with some of them."""
    counts = ", ".join(f"{many(one.n_tokens, 'token')} in {one.name}" for one in found)
    examples = dict(example for one in found for example in one.examples)
    shown = ", ".join(f"{token} as {found_as}" for token, found_as in list(examples.items())[:3])
    return f"{counts} ({shown})" if shown else counts


def _with_spellings(store: Store, project: Project, found: Coverage) -> Coverage:
    """The coverage with near spellings, where they were asked for: it takes seconds in a large vocabulary."""
    asked = f"spellings-{project.id}-{found.embedding_id}"
    takes = "This takes a few seconds in a large vocabulary."
    if st.button("Look for near spellings", key=f"button-{asked}", help=takes):
        st.session_state[asked] = True
    if not st.session_state.get(asked):
        return found
    with st.spinner("Comparing spellings…"):
        return cache.load_spellings(store, project, found.embedding_id)


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
            frame.carry_out(set_lookup, store, project.id, imported.id, LookUp(lower, as_mode(multiword)), done=done)


def share(found: Coverage) -> str:
    """The covered tokens of all, in a few words."""
    return "–" if found.problem else f"{found.covered:,} of {found.n_tokens:,}"
