"""Semantic areas and their tokens: given, proposed, looked up in the embeddings; and the items they make."""

from __future__ import annotations

import streamlit as st

from core.base.numbers_in_words import many
from core.views.tokens import TokensView
from ui.embeddings import embedding_view
from ui.shared import cache, frame
from ui.shared.frame import Badge
from ui.tokens import areas, near_tokens, token_choices

project = frame.project()
store = frame.store()
view: TokensView = cache.load_tokens(store, project)


def headline() -> None:
    """The areas in numbers."""
    sentence = (
        f"**{many(view.n_items, 'item')} from {many(view.n_tokens, 'token')} in {many(len(view.areas), 'area')}; "
        f"{frame.plain(view.missing_said)}.** An item is a pair of tokens of one area."
    )
    fixed = f"{view.fixed_by[:1].upper()}{view.fixed_by[1:]} is drawn, so the lists stay. Spellings can be corrected."
    frame.first_line(sentence, *([Badge(":material/lock:", f"fixed by {view.fixed_by}", fixed)] if view.locked else []))
    if not view.locked:
        frame.next_step("plan", "make the plan")
    proposed = [area for area, _ in view.proposed]
    rows = [
        {"area": area.name, "tokens": len(area.tokens), "pairs": area.n_items, "proposed": proposed.count(area.name)}
        for area in view.areas
    ]
    columns = ["area", "tokens", "pairs", *(["proposed"] if proposed else [])]
    about = st.column_config.NumberColumn("proposed", help="Tokens that an embedding proposed.")
    st.dataframe(
        rows,
        hide_index=True,
        column_order=columns,
        column_config={"proposed": about},
        alt="Areas with their numbers of tokens and pairs",
    )
    areas.show(view)


def in_embeddings() -> None:
    """Which embedding has which token."""
    st.subheader("In the embeddings")
    if not view.coverage:
        st.caption("No embedding is loaded yet, so nothing is known of missing tokens.")
        frame.link("embeddings", "Load an embedding", icon=":material/hub:")
        return
    embedding_view.remedies_box(project, view)
    ways = {embedding_view.lookup_text(coverage.imported) for coverage in view.coverage}
    for coverage in view.coverage:
        embedding_view.show_coverage(store, project, coverage, says_how=len(ways) > 1)
    if len(ways) == 1:
        st.caption(ways.pop())
    frame.link("embeddings", "Change how tokens are looked up", icon=":material/manage_search:")


st.title("Tokens")
areas.undo_box(store, project, view)
if not view.areas:
    st.markdown("**A semantic area is a list of tokens that belong together. Only tokens of one area are paired.**")
    areas.add_box(store, project)
    frame.stop()

headline()
left, right = st.columns(2, gap="large")
with left:
    st.subheader("The tokens of an area" if view.locked else "Edit the areas")
    if view.locked:
        areas.locked_box(store, project, view)
    else:
        areas.edit_box(store, project, view)
with right:
    if not view.locked:
        st.subheader("Add an area")
        areas.add_box(store, project)
    in_embeddings()
if not view.locked:
    with st.expander("Add near tokens"):
        near_tokens.propose_box(store, project, view)
near_tokens.proposed_list(view)
st.subheader(
    "Rare tokens",
    help="Voters may not know them, and embeddings place them badly: the paper leaves out the rarest (footnote 2).",
)
token_choices.rare_tokens(store, project, view)
with st.expander("Hubness: tokens that are near to everything"):
    near_tokens.hubness_box(store, project, view)
with st.expander("Which pairs become items"):
    token_choices.item_rules(project, view)
box = st.expander(f"All {view.n_items:,} items", on_change="rerun", key=f"items-{project.id}")
if box.open:
    with box:
        table = cache.load_items(store, project)
        st.dataframe(table, hide_index=True, lazy=True, alt="All items")
