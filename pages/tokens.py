"""Semantic areas and their tokens: by paste, by file, by hand; what embeddings lack; the items."""

from __future__ import annotations

import streamlit as st

from core.errors import RunoffError
from core.store.areas import delete_area, save_areas
from core.tokens import TokenLists, clean_token, read_areas_file, read_pasted
from core.views.tokens import Coverage, TokensView
from core.views.words import many
from ui import cache, frame

project = frame.project()
view: TokensView = cache.load_tokens(frame.store(), project)


def save(lists: TokenLists) -> None:
    """Save areas and say what the reading noticed."""
    for note in lists.notes[:20]:
        frame.flash(str(note), kind="warning")
    names = ", ".join(area.name for area in lists.areas)
    frame.carry_out(
        save_areas,
        frame.store(),
        project.id,
        lists.areas,
        expected_revision=frame.expected(),
        done=f"Saved: {names}.",
    )


def read_and_save(reader, *args) -> None:
    try:
        lists = reader(*args)
    except RunoffError as error:
        frame.show_error(error)
        return
    save(lists)


def add_areas() -> None:
    paste, file = st.tabs(["Paste", "From a file"])
    with paste, st.form("paste", clear_on_submit=False):
        name = st.text_input("Area", placeholder="For example: Sales & marketing", max_chars=100)
        text = st.text_area("Tokens, one a line", height=180, placeholder="sales\nmarketing\nmachine learning")
        if st.form_submit_button("Add area", type="primary"):
            if not clean_token(name):
                st.error("The area has no name. Type one above the tokens.")
            else:
                read_and_save(read_pasted, name, text)
    with file:
        upload = st.file_uploader(
            "CSV or TSV with the columns area and token, or a list of one token a line", type=["csv", "tsv", "txt"]
        )
        if upload is not None and st.button("Add these areas", type="primary"):
            read_and_save(read_areas_file, upload.getvalue(), upload.name)


def edit_area() -> None:
    names = [area.name for area in view.areas]
    name = st.selectbox("Area", names, key=f"edit-{project.id}")
    area = next(area for area in view.areas if area.name == name)
    text = st.text_area(
        f"Tokens, one a line ({len(area.tokens)} tokens make {area.n_items} items)",
        "\n".join(area.tokens),
        height=300,
        key=f"tokens-{project.id}-{name}-{project.revision}",
        disabled=view.locked,
    )
    if view.locked:
        return
    with st.container(horizontal=True):
        if st.button("Save changes", disabled=text == "\n".join(area.tokens)):
            read_and_save(read_pasted, name, text)
        if st.button("Delete area"):
            frame.carry_out(
                delete_area,
                frame.store(),
                project.id,
                name,
                expected_revision=frame.expected(),
                done=f"The area {name} is deleted. The log keeps its tokens.",
            )


def coverage(found: Coverage) -> None:
    st.markdown(f"**{frame.plain(found.name)}** has {found.covered} of {found.n_tokens} tokens.")
    if len(found.missing):
        st.dataframe(found.missing, hide_index=True, alt=f"Tokens missing in {found.name}")


st.title("Tokens")
if not view.areas:
    st.markdown("**A semantic area is a list of tokens that belong together. Only tokens of one area are paired.**")
    add_areas()
    st.stop()

st.markdown(
    f"**{many(len(view.areas), 'area')} with {many(view.n_tokens, 'token')}: {many(len(view.items), 'item')}.** "
    "An item is a pair of tokens of one area."
)
if view.locked:
    st.info("The token lists are fixed: ballot 1 is drawn.", icon=":material/lock:")
else:
    frame.link("plan", "**Next: make the plan**", icon=":material/arrow_forward:")
st.dataframe(
    [{"area": a.name, "tokens": len(a.tokens), "items": a.n_items} for a in view.areas],
    hide_index=True,
    alt="Areas with their numbers of tokens and items",
)
if view.shared:
    st.info(
        f"{many(len(view.shared), 'pair')} of tokens in more than one area: each counts as an item of its own there."
    )
for area, token, names in view.hidden:
    st.warning(frame.plain(f"{token} in {area} holds characters that can't be seen: {', '.join(names)}."))

left, right = st.columns(2, gap="large")
with left:
    st.subheader("The tokens of an area" if view.locked else "Edit an area")
    edit_area()
with right:
    if not view.locked:
        st.subheader("Add an area")
        add_areas()
    st.subheader("In the embeddings")
    if not view.coverage:
        st.caption("No embedding is loaded yet, so nothing is known of missing tokens.")
        frame.link("embeddings", "Load an embedding", icon=":material/hub:")
    for found in view.coverage:
        coverage(found)
with st.expander(f"All {len(view.items):,} items"):
    st.dataframe(view.items[["area", "token_a", "token_b"]], hide_index=True, lazy=True, alt="All items")
