"""Semantic areas and their tokens: given, proposed, looked up in the embeddings; and the items they make."""

from __future__ import annotations

import streamlit as st

from core.spoken import say
from core.views.tokens import TokensView
from core.views.words import many
from ui import area_editing, area_entry, area_notes, cache, coverage, frame, near_tokens, token_choices
from ui.tables import said_columns

project = frame.project()
store = frame.store()
view: TokensView = cache.load_tokens(store, project)


def headline() -> None:
    """The areas in numbers."""
    st.markdown(
        say(
            "**{areas} with {tokens}: {items}.** An item is a pair of tokens of one area.",
            areas=many(len(view.areas), "area"),
            tokens=many(view.n_tokens, "token"),
            items=many(view.n_items, "item"),
        )
    )
    if view.locked:
        st.info(
            say("The token lists are fixed: {ballot} is drawn. Spellings can be corrected.", ballot=view.fixed_by),
            icon=":material/lock:",
        )
    else:
        frame.next_step("plan", say("make the plan"))
    proposed = [area for area, _ in view.proposed]
    rows = [
        {"area": area.name, "tokens": len(area.tokens), "pairs": area.n_items, "proposed": proposed.count(area.name)}
        for area in view.areas
    ]
    columns = ["area", "tokens", "pairs", *(["proposed"] if proposed else [])]
    about = st.column_config.NumberColumn(say("proposed"), help=say("Tokens that an embedding proposed."))
    st.dataframe(
        rows,
        hide_index=True,
        column_order=columns,
        column_config={**said_columns("area", "tokens", "pairs"), "proposed": about},
        alt=say("Areas with their numbers of tokens and pairs"),
    )
    area_notes.show(view)


def in_embeddings() -> None:
    """Which embedding has which token."""
    st.subheader(say("In the embeddings"))
    if not view.coverage:
        st.caption(say("No embedding is loaded yet, so nothing is known of missing tokens."))
        frame.link("embeddings", say("Load an embedding"), icon=":material/hub:")
        return
    for found in view.coverage:
        coverage.show(store, project, found)
    frame.link("embeddings", say("Change how tokens are looked up"), icon=":material/manage_search:")


st.title(say("Tokens"))
if not view.areas:
    st.markdown(
        say("**A semantic area is a list of tokens that belong together. Only tokens of one area are paired.**")
    )
    area_entry.add_box(store, project)
    frame.stop()

headline()
left, right = st.columns(2, gap="large")
with left:
    st.subheader(say("The tokens of an area") if view.locked else say("Edit the areas"))
    if view.locked:
        area_editing.locked_box(store, project, view)
    else:
        area_editing.edit_box(store, project, view)
with right:
    if not view.locked:
        st.subheader(say("Add an area"))
        area_entry.add_box(store, project)
    in_embeddings()
if not view.locked:
    with st.expander(say("Add near tokens")):
        near_tokens.propose_box(store, project, view)
near_tokens.proposed_list(view)
st.subheader(
    say("Rare tokens"),
    help=say(
        "Voters may not know them, and embeddings place them badly: the paper leaves out the rarest (footnote 2)."
    ),
)
token_choices.rare_tokens(store, project, view)
with st.expander(say("Hubness: tokens that are near to everything")):
    near_tokens.hubness_box(store, project, view)
with st.expander(say("Which pairs become items")):
    token_choices.item_rules(project, view)
box = st.expander(say("All {n:,} items", n=view.n_items), on_change="rerun", key=f"items-{project.id}")
if box.open:
    with box:
        columns = said_columns("area", "token_a", "token_b")
        found = cache.load_items(store, project)
        st.dataframe(found, hide_index=True, lazy=True, column_config=columns, alt=say("All items"))
