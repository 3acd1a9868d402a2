"""Semantic areas and their tokens: by paste, by file, by hand; what embeddings lack; the items."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.errors import RunoffError
from core.store.areas import add_areas, change_area, delete_area
from core.tokens import Preview, TokenLists, clean_token, preview, read_areas_file, read_pasted
from core.views.tokens import Coverage, TokensView
from core.views.words import many
from ui import cache, frame, token_choices

project = frame.project()
store = frame.store()
view: TokensView = cache.load_tokens(store, project)


def take(action, reader, *args) -> None:
    """Read token lists and carry out what they are for; what the reading noticed is said."""
    try:
        lists: TokenLists = reader(*args)
    except RunoffError as error:
        frame.show_error(error)
        return
    names = ", ".join(area.name for area in lists.areas)
    if frame.carried_out(action, lists.areas, done=f"Saved: {names}."):
        for note in lists.notes[:20]:
            frame.flash(str(note), kind="warning")
        st.session_state["_areas_turn"] = st.session_state.get("_areas_turn", 0) + 1
        st.rerun()


def add_box() -> None:
    """New areas by paste or from a file. The boxes are emptied once their areas are saved."""
    key = f"{project.id}-{st.session_state.get('_areas_turn', 0)}"
    paste, file = st.tabs(["Paste", "From a file"])
    with paste, st.form(f"paste-{project.id}"):
        name = st.text_input("Area", placeholder="For example: Sales & marketing", max_chars=100, key=f"new-name-{key}")
        text = st.text_area(
            "Tokens, one a line", height=180, placeholder="sales\nmarketing\nmachine learning", key=f"new-text-{key}"
        )
        if st.form_submit_button("Add area", type="primary"):
            if not clean_token(name):
                st.error("The area has no name. Type one above the tokens.")
            else:
                take(partial(add_areas, store, project.id), read_pasted, name, text)
    with file:
        upload = st.file_uploader(
            "CSV, TSV or Excel with the columns area and token, or a list of one token a line",
            type=["csv", "tsv", "txt", "xlsx"],
            key=f"new-file-{key}",
        )
        if upload is not None:
            file_box(upload.getvalue(), upload.name, f"{key}-{upload.file_id}")


def file_box(data: bytes, filename: str, key: str) -> None:
    """Which sheet and columns of a file hold areas and tokens, its first rows, and the button that takes it."""
    try:
        found = preview(data, filename)
        sheet = None
        if len(found.sheets) > 1:
            sheet = st.selectbox("Sheet", found.sheets, key=f"sheet-{key}")
            found = preview(data, filename, sheet=sheet)
    except RunoffError as error:
        frame.show_error(error)
        return
    columns = None
    if len(found.header) > 1:
        columns = columns_box(found, f"{key}-{sheet}")
        if not found.guess.is_certain:
            st.warning(
                "The first row is taken for the names of the columns. If it holds a token, put a row with the names "
                "area and token above it."
            )
    table = [dict(zip(found.header, row, strict=False)) for row in found.sample[:5]]
    st.dataframe(table, hide_index=True, alt="The first rows of the file")
    if st.button("Add these areas", type="primary"):
        read = partial(read_areas_file, data, filename, columns=columns, sheet=sheet)
        take(partial(add_areas, store, project.id), read)


def columns_box(found: Preview, key: str) -> tuple[int | None, int]:
    """The area column (None for one area named after the file) and the token column, as chosen."""
    places = range(len(found.header))
    names = {place: found.header[place] or f"column {place + 1}" for place in places}
    left, right = st.columns(2)
    area = left.selectbox(
        "Area column",
        [*places, None],
        index=len(places) if found.guess.area is None else found.guess.area,
        format_func=lambda place: "one area for all" if place is None else names[place],
        key=f"area-column-{key}",
    )
    token = right.selectbox(
        "Token column", places, index=found.guess.token or 0, format_func=names.get, key=f"token-column-{key}"
    )
    return area, token


def edit_box() -> None:
    """One area's tokens; what is typed stays until it is saved, whatever else happens to the project."""
    names = [area.name for area in view.areas]
    name = st.selectbox("Area", names, key=f"edit-{project.id}")
    area = next(area for area in view.areas if area.name == name)
    stored = "\n".join(area.tokens)
    text = st.text_area(
        f"Tokens, one a line ({many(len(area.tokens), 'token')}: {many(area.n_items, 'item')})",
        stored,
        height=300,
        key=f"tokens-{project.id}-{name}-{hash(stored)}",
        disabled=view.locked,
    )
    if view.locked:
        return
    with st.container(horizontal=True):
        if st.button("Save changes", disabled=text == stored):
            take(lambda areas: change_area(store, project.id, area, areas[0].tokens), read_pasted, name, text)
        if st.button("Delete area"):
            done = f"The area {name} is deleted. The log keeps its tokens."
            frame.carry_out(delete_area, store, project.id, area, done=done)


def coverage(found: Coverage) -> None:
    if found.problem:
        st.error(frame.plain(f"{found.name}: {found.problem}"))
        return
    st.markdown(f"**{frame.plain(found.name)}** has {found.covered} of {found.n_tokens} tokens.")
    if len(found.missing):
        config = {
            "near": st.column_config.TextColumn("near spellings", help="Words of the embedding that look like it.")
        }
        st.dataframe(
            found.missing,
            hide_index=True,
            column_order=["token", "near", "area", "reason"],
            column_config=config,
            alt=f"Tokens missing in {found.name}",
        )


st.title("Tokens")
if not view.areas:
    st.markdown("**A semantic area is a list of tokens that belong together. Only tokens of one area are paired.**")
    add_box()
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
    edit_box()
with right:
    if not view.locked:
        st.subheader("Add an area")
        add_box()
    st.subheader("In the embeddings")
    if not view.coverage:
        st.caption("No embedding is loaded yet, so nothing is known of missing tokens.")
        frame.link("embeddings", "Load an embedding", icon=":material/hub:")
    for found in view.coverage:
        coverage(found)
if view.areas:
    st.subheader("Rare tokens")
    token_choices.rare_tokens(store, project, view)
    with st.expander("Which pairs become items"):
        token_choices.item_rules(project, view)
with st.expander(f"All {len(view.items):,} items"):
    st.dataframe(view.items[["area", "token_a", "token_b"]], hide_index=True, lazy=True, alt="All items")
