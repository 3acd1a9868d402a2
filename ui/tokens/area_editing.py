"""Areas that are there: changed as a text or as a table; and what can still be done once ballot 1 is drawn.

What is odd about the tokens of a project's areas: in several areas, hardly different, with characters unseen or
refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from core.base.numbers_in_words import many, plural
from core.errors import RunoffError
from core.store import Store
from core.store.projects.archive import copy_without_ballots
from core.store.projects.project_commands import Project
from core.store.tokens.areas import DeletedArea, change_area, change_areas, correct_spelling, delete_area, restore_area
from core.tokens.files import AreaTokens, Renamed, checked, clean_token, is_several, read_pasted
from core.tokens.lists import split_tokens
from core.views.tokens import TokensView
from ui.project.project_files import open_copy
from ui.shared import choosers, drafts, frame
from ui.tokens.area_entry import split_box, take

AS = ("Text", "Table")
_ALL = ""  # no area has an empty name, and one may be called as all are here


def edit_box(store: Store, project: Project, view: TokensView) -> None:
    """The tokens of one area or of all; what is typed stays until it is saved."""
    as_table = choosers.segmented_control("Edit as", {way: way for way in AS}, key=f"edit-as-{project.id}")
    if as_table == "Table":
        scopes = {_ALL: "All areas"} | _names(view)
        name = choosers.selectbox("Area", scopes, key=f"scope-{project.id}", apart=_an_area)
        areas = tuple(area for area in view.areas if name in (_ALL, area.name))
        _table(store, project, areas, one=name != _ALL)
        return
    area = _chosen(project, view)
    stored = "\n".join(area.tokens)
    draft = f"tokens-{project.id}-{area.name}"
    key = f"{draft}-{hash(stored)}-{drafts.turn(draft)}"
    back = st.container()
    text = st.text_area(_label(area), drafts.begin(draft, key, stored), height=300, key=key)
    drafts.keep(draft, text, stored)
    with back:
        drafts.show_restored(draft, "Your changes to this area")
    new = [line for line in text.splitlines() if is_several(clean_token(line)) and clean_token(line) not in area.tokens]
    if split_box(new, key):
        text = "\n".join("\n".join(split_tokens(line)) if line in new else line for line in text.splitlines())
    with st.container(horizontal=True):
        if st.button("Save changes", disabled=text == stored):
            take(partial(_change, store, project, area, draft), partial(read_pasted, split=False), area.name, text)
        _deletion(store, project, area)


def _change(store: Store, project: Project, area: AreaTokens, draft: str, areas: Sequence[AreaTokens]) -> None:
    change_area(store, project.id, area, areas[0].tokens)
    drafts.saved(draft)


def _deletion(store: Store, project: Project, area: AreaTokens) -> None:
    """The button that deletes an area, once it was asked."""
    with st.popover("Delete area"):
        tokens, pairs = many(len(area.tokens), "token"), many(area.n_items, "pair")
        st.markdown(f"Delete **{frame.plain(area.name)}** with its {tokens} and {pairs}?")
        more = " Its plan comes back with it, a voting link of its own doesn't." if project.ranking == "area" else ""
        st.caption(f"It can be brought back here as long as this window is open; the log keeps the tokens.{more}")
        if st.button("Yes, delete it", type="primary"):
            frame.carry_out(partial(_delete, store, project, area), done=f"The area {area.name} is deleted.")


def _delete(store: Store, project: Project, area: AreaTokens) -> None:
    st.session_state[_deleted(project)] = delete_area(store, project.id, area)


def _restore(store: Store, project: Project, gone: DeletedArea) -> None:
    restore_area(store, project.id, gone)
    st.session_state.pop(_deleted(project), None)


def _deleted(project: Project) -> str:
    return f"_deleted-area-{project.id}"


def undo_box(store: Store, project: Project, view: TokensView) -> None:
    """The way back for the area that was deleted last in this session, while there is one."""
    gone: DeletedArea | None = st.session_state.get(_deleted(project))
    if gone is None or view.locked or gone.area.name in _names(view):
        return
    name = gone.area.name
    with st.container(horizontal=True, vertical_alignment="center"):
        st.info(f"The area {frame.plain(name)} was deleted.", icon=":material/delete:")
        if st.button("Bring it back", icon=":material/undo:"):
            frame.carry_out(partial(_restore, store, project, gone), done=f"The area {name} is back.")


def _chosen(project: Project, view: TokensView) -> AreaTokens:
    """The area that is looked at; by its name, so that it stays the same one when its tokens change."""
    name = choosers.selectbox("Area", _names(view), key=f"edit-{project.id}")
    return next(area for area in view.areas if area.name == name)


def _names(view: TokensView) -> dict[str, str]:
    return {area.name: area.name for area in view.areas}


def _an_area(name: str) -> str:
    return "" if name == _ALL else "an area"


def _label(area: AreaTokens) -> str:
    n_tokens, n_pairs = many(len(area.tokens), "token"), many(area.n_items, "pair")
    return f"Tokens, one per line ({n_tokens}: {n_pairs})"


def _table(store: Store, project: Project, areas: Sequence[AreaTokens], *, one: bool) -> None:
    """A table of areas and tokens. The rows are read from the editor, never written back into it."""
    rows = [(area.name, token) for area in areas for token in area.tokens]
    draft = f"table-{project.id}-{areas[0].name if one else ''}"
    key = f"{draft}-{one}-{hash(tuple(areas))}-{drafts.turn(draft)}"
    back = st.container()
    start = pd.DataFrame(drafts.begin(draft, key, rows), columns=["area", "token"], dtype="str")
    edited = st.data_editor(
        start,
        num_rows="dynamic",
        column_order=["token"] if one else ["area", "token"],
        hide_index=True,
        height=400,
        key=key,
        alt="Areas and tokens to edit",
    )
    st.caption("The empty row at the end takes a new token. To remove rows, tick them and press Delete.")
    edited = edited.fillna({"area": areas[0].name if one else "", "token": ""})
    given = list(edited[["area", "token"]].itertuples(index=False, name=None))
    if one:
        given = [row for row in given if row[1].strip()]
    drafts.keep(draft, given, rows)
    with back:
        drafts.show_restored(draft, "Your changes to this table")
    changed = given != rows
    try:
        new = checked(given)
    except RunoffError as error:
        if changed:
            frame.show_error(error)
        new = ()
    if st.button("Save the table", disabled=not (changed and new)):
        names = ", ".join(area.name for area in new[:10]) + ("…" if len(new) > 10 else "")
        done = f"Saved: {names}."
        frame.carry_out(partial(_change_areas, store, project, tuple(areas), new, draft), done=done)


def _change_areas(
    store: Store, project: Project, areas: tuple[AreaTokens, ...], new: Sequence[AreaTokens], draft: str
) -> None:
    change_areas(store, project.id, areas, new)
    drafts.saved(draft)


def locked_box(store: Store, project: Project, view: TokensView) -> None:
    """The tokens to read; corrections of spelling; a copy in which everything can be changed."""
    area = _chosen(project, view)
    rows = [{"token": token} for token in area.tokens]
    st.dataframe(rows, hide_index=True, height=300, alt="Tokens of the area")
    with st.form(f"correct-{project.id}-{area.name}", clear_on_submit=True):
        st.markdown("**Correct a spelling**")
        tokens = {token: token for token in area.tokens}
        old = choosers.selectbox("Token", tokens, key=f"old-{project.id}-{area.name}")
        new = st.text_input("Its correct spelling", max_chars=200, key=f"new-spelling-{project.id}-{area.name}")
        st.caption("Votes and items stay, and files with the old spelling are still taken. The log keeps both.")
        if st.form_submit_button("Correct it"):
            frame.carry_out(correct_spelling, store, project.id, area.name, old, new, done=_corrected)
    with st.form(f"copy-without-{project.id}"):
        st.markdown("**Change anything else**")
        st.caption("That needs a project of its own: a copy with these areas, plan and embeddings, without ballots.")
        name = st.text_input("Name of the copy", f"{project.name} (changed)"[:100], max_chars=100)
        if st.form_submit_button("Make a copy without ballots"):
            done = "{copy} has the areas and the plan of {name}, and no ballots."
            open_copy(copy_without_ballots, store, project, name, done=done)


def _corrected(done: Renamed) -> str:
    ((_, old, new),) = done.changes
    said = f"{old} is spelled {new} now."
    return " ".join([said, *(f"{note}." for note in map(str, done.notes))])


def show(view: TokensView) -> None:
    """Each oddity in a box of its own; nothing where there is none."""
    if view.alike:
        _alike(view)
    if view.shared:
        _shared(view)
    if not view.locked:
        _near(view)
    for area, token, names in view.hidden[:10]:
        seen = ", ".join(names)
        text = f"{token} in {area} holds characters that can't be seen: {seen}."
        st.warning(frame.plain(text))
    if len(view.hidden) > 10:
        st.warning(plural(len(view.hidden) - 10, "So do {n} other tokens.", "So do {n} other tokens."))
    if view.encoded:
        named = ", ".join(token for _, token in view.encoded[:10])
        about = plural(
            len(view.encoded),
            "{n} token with characters that Mechanical Turk refuses as they are: {named}.",
            "{n} tokens with characters that Mechanical Turk refuses as they are: {named}.",
            named=named,
        )
        about += " The batch file writes them as references such as &#x1F525;, and voters still see the characters."
        st.info(frame.plain(about), icon=":material/info:")


def _alike(view: TokensView) -> None:
    """Two areas that a person would take for one: no item has a token of each."""
    named = "; ".join(", ".join(names) for names in view.alike)
    said = f"Names of areas that differ in case or spaces only: {named}. Only tokens of one area are paired."
    if not view.locked:
        said += " If they are meant to be one, edit all areas as a table and write their names alike."
    st.warning(frame.plain(said))


def _shared(view: TokensView) -> None:
    n = len(view.shared)
    if view.rules.merge_shared:
        said = plural(
            n,
            "{n} pair of tokens in more than one area: such a pair stays in the first of them only.",
            "{n} pairs of tokens in more than one area: such a pair stays in the first of them only.",
        )
    else:
        said = plural(
            n,
            "{n} pair of tokens in more than one area: such a pair is an item of its own in each.",
            "{n} pairs of tokens in more than one area: such a pair is an item of its own in each.",
        )
    said += " Choose under “Which pairs become items”."
    st.info(said, icon=":material/info:")


def _near(view: TokensView) -> None:
    """Two spellings of one word make an item that voters are asked about for nothing."""
    pairs = view.near[["area", "token_a", "token_b"]].itertuples(index=False, name=None)
    left = [f"{a} – {b} ({area})" for area, a, b in pairs if (area, a, b) not in view.rules.excluded]
    if not left:
        return
    said = plural(
        len(left),
        "{n} pair of tokens that hardly differ: {named}.",
        "{n} pairs of tokens that hardly differ: {named}.",
        named=", ".join(left[:5]) + (", …" if len(left) > 5 else ""),
    )
    st.info(frame.plain(f"{said} Choose under “Which pairs become items”."), icon=":material/info:")
