"""The boxes of a project's areas: new ones by paste or from a file, changes, and what is odd about their tokens.

The columns of a file are found or chosen. Areas are changed as a text or as a table; the last part is what can still be
done once ballot 1 is drawn. Odd are tokens in several areas, those that hardly differ, and those with characters unseen
or refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.base.numbers_in_words import many, plural
from core.errors import RunoffError
from core.store import Store
from core.store.projects.archive import copy_without_ballots
from core.store.projects.project_commands import Project
from core.store.tokens.areas import (
    DeletedArea,
    add_areas,
    change_area,
    change_areas,
    correct_spelling,
    delete_area,
    restore_area,
)
from core.tabular import is_workbook
from core.tokens.files import (
    AreaTokens,
    Renamed,
    TokenFile,
    TokenLists,
    checked,
    clean_token,
    is_several,
    open_list,
    read_pasted,
)
from core.tokens.lists import split_tokens
from core.views import file_kinds
from core.views.tokens import TokensView
from ui.project.project_files import open_copy
from ui.shared import choosers, drafts, files, frame

SHOWN = 20  # notes on a list
_NO_COLUMN = -1
_ALL_SHEETS = ""  # no sheet has an empty name
_FOUND, _LINES, _TABLE = "found", "lines", "table"
_LAYOUTS = {_FOUND: "detected automatically", _LINES: "one token per line", _TABLE: "a table with columns"}
_LAYOUT_HELP = "In a list of one token per line, commas and quotation marks belong to the tokens."
_BY_LINES = {_FOUND: None, _LINES: True, _TABLE: False}


def take(action: Callable[..., Any], reader: Callable[..., TokenLists], *args: Any) -> None:
    """Read token lists and carry out what they are for; notes of the reader are shown."""
    try:
        lists = reader(*args)
    except RunoffError as error:
        frame.show_error(error)
        return
    _save(action, lists)


def _save(action: Callable[..., Any], lists: TokenLists) -> None:
    names = ", ".join(area.name for area in lists.areas)
    if frame.carried_out(action, lists.areas, done=f"Saved: {names}."):
        _flash_notes([str(note) for note in lists.notes])
        st.session_state["_areas_turn"] = st.session_state.get("_areas_turn", 0) + 1
        st.rerun()


def _flash_notes(notes: list[str]) -> None:
    """What the reading noticed, in one message."""
    if len(notes) == 1:
        frame.flash(notes[0], kind="warning")
    elif notes:
        frame.flash(_remarks(len(notes)), kind="warning", details=_shortened(notes))


def _remarks(n: int) -> str:
    return plural(n, "{n} remark on what was read.", "{n} remarks on what was read.")


def _shortened(notes: list[str]) -> list[str]:
    return [*notes[:SHOWN], *([f"and {len(notes) - SHOWN} more"] if len(notes) > SHOWN else [])]


def add_box(store: Store, project: Project) -> None:
    """New areas by paste or from a file. The boxes are emptied once their areas are saved."""
    key = f"{project.id}-{st.session_state.get('_areas_turn', 0)}"
    draft = f"area-{key}"
    key += f"-{drafts.turn(draft)}" if drafts.turn(draft) else ""
    paste, file = st.tabs(["Paste", "From a file"])
    with paste:  # no form: what stands in one is known only once it is sent, and couldn't be kept
        back = st.container()
        start = drafts.begin(draft, f"new-name-{key}", ("", ""))
        name = st.text_input(
            "Area", start[0], placeholder="For example: Sales & marketing", max_chars=100, key=f"new-name-{key}"
        )
        text = st.text_area(
            "Tokens, one per line", start[1], height=180, placeholder="sales\nmarketing\nmachine learning",
            key=f"new-text-{key}",
        )  # fmt: skip
        drafts.keep(draft, (name, text), ("", ""))
        split = split_box([line for line in text.splitlines() if is_several(clean_token(line))], f"paste-{key}")
        with back:
            drafts.show_restored(draft, "A new area", one=True)
        if st.button("Add area", type="primary"):
            if not clean_token(name):
                st.error("The area has no name. Type one above the tokens.")
            else:
                take(partial(add_areas, store, project.id), partial(read_pasted, split=split, is_new=True), name, text)
    with file:
        upload = st.file_uploader(
            "CSV, TSV or Excel with the columns area and token, or a list of one token per line",
            key=f"new-file-{key}",
        )
        if upload is not None:
            _file_box(store, project, upload.getvalue(), upload.name, f"{key}-{upload.file_id}")


def split_box(several: list[str], key: str) -> bool:
    """What lines with commas or semicolons are, one token each or several; asked where there are any."""
    if not several:
        return False
    first = ", ".join(f"“{clean_token(text)}”" for text in several[:3])
    st.warning(
        frame.plain(
            plural(
                len(several),
                "{n} line holds a comma or a semicolon: {first}. As it is, it is one token.",
                "{n} lines hold commas or semicolons: {first}. As they are, each is one token.",
                first=first,
            )
        )
    )
    n_split = sum(len(split_tokens(text)) for text in several)
    return st.toggle(f"Split them into {n_split:,} tokens", key=f"split-{key}")


def _file_box(store: Store, project: Project, data: bytes, filename: str, key: str) -> None:
    """How a file is read, what is in it, the areas that will be saved with what is odd about them, and the button that
    saves these very areas."""
    try:
        file_kinds.check("tokens", data, filename)
        file = _opened(data, filename, key)
    except RunoffError as error:
        frame.show_error(error)
        return
    columns = _columns_box(file, key) if len(file.header) > 1 else None
    names = _columns(file) or {0: "token"}
    table = [dict(zip(names.values(), row, strict=False)) for row in file.sample[:5]]
    st.dataframe(table, hide_index=True, alt="The first rows of the file")
    if len(file.header) > 1 and columns is None:
        st.button("Add these areas", type="primary", disabled=True)
        return
    try:
        lists = file.read(columns)
        several = [token for area in lists.areas for token in area.tokens if is_several(token)]
        if several:
            lists = file.read(columns, split=split_box(several, key))
    except RunoffError as error:
        frame.show_error(error)
        return
    _will_be_saved(lists)
    if st.button("Add these areas", type="primary"):
        _save(partial(add_areas, store, project.id), lists)


def _opened(data: bytes, filename: str, key: str) -> TokenFile:
    """The file by the encoding, the layout and the sheet that are chosen."""
    encoding, by_lines = None, None
    if not is_workbook(data):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            encoding = files.of_file(key)
            by_lines = choosers.selectbox("Layout", _LAYOUTS, key=f"layout-{key}", help=_LAYOUT_HELP)
    file = open_list(data, filename, encoding=encoding, by_lines=_BY_LINES[by_lines or _FOUND])
    if len(file.sheets) > 1:
        every = {_ALL_SHEETS: "all, each an area"} if file.is_all_lists else {}
        sheets = every | {name: name for name in file.sheets}
        sheet = choosers.selectbox("Sheet", sheets, key=f"sheet-{key}", apart=_a_sheet)
        file = open_list(data, filename, sheet=sheet or None)
    return file


def _will_be_saved(lists: TokenLists) -> None:
    """The areas with their sizes, and what the reading noticed."""
    rows = [
        {"area": area.name, "tokens": len(area.tokens), "pairs": area.n_items, "first": ", ".join(area.tokens[:5])}
        for area in lists.areas
    ]
    st.markdown("**These areas will be saved:**")
    st.dataframe(rows, hide_index=True, alt="The areas that will be saved")
    if lists.notes:
        listed = "\n".join(f"- {frame.plain(note)}" for note in _shortened([str(note) for note in lists.notes]))
        st.warning(f"{frame.plain(_remarks(len(lists.notes)))}\n\n{listed}")


def _columns_box(file: TokenFile, key: str) -> tuple[int | None, int] | None:
    """The area column (None for one area named after the file) and the token column, as chosen; None where one has yet
    to be chosen."""
    key = f"{key}-{hash(file.header)}"
    names = _columns(file)
    guess = file.guess
    twins = (*guess.area_twins, *guess.token_twins)
    if twins:
        twin_names = " and ".join(f"{file.header[place]!r} (column {place + 1})" for place in twins)
        st.warning(frame.plain(f"Several columns have one name: {twin_names}. Choose which of them is meant."))
    first = None if guess.area_twins else _NO_COLUMN if guess.area is None else guess.area
    left, right = st.columns(2)
    area = choosers.selectbox(
        "Area column",
        names | {_NO_COLUMN: "one area for all"},
        first,
        key=f"area-column-{key}",
        apart=_nth,
        place=left,
    )
    token = choosers.selectbox("Token column", names, guess.token, key=f"token-column-{key}", place=right)
    if not guess.is_certain and not twins:
        layout = "" if file.sheets else "choose the layout “one token per line”, or "
        st.warning(
            f"The first row is read as the names of the columns. If it holds a token, {layout}put a row with the names "
            "area and token above it."
        )
    return None if area is None or token is None else (None if area == _NO_COLUMN else area, token)


def _columns(file: TokenFile) -> dict[int, str]:
    """The columns by their places, by names of which no two are equal."""
    names = {place: name or f"column {place + 1}" for place, name in enumerate(file.header)}
    return choosers.told_apart(names, _nth)


def _a_sheet(name: str) -> str:
    return "" if name == _ALL_SHEETS else "a sheet"


def _nth(place: int) -> str:
    return "" if place == _NO_COLUMN else f"column {place + 1}"


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
    st.session_state[_deleted_key(project)] = delete_area(store, project.id, area)


def _restore(store: Store, project: Project, deleted: DeletedArea) -> None:
    restore_area(store, project.id, deleted)
    st.session_state.pop(_deleted_key(project), None)


def _deleted_key(project: Project) -> str:
    return f"_deleted-area-{project.id}"


def undo_box(store: Store, project: Project, view: TokensView) -> None:
    """The way back for the area that was deleted last in this session, while there is one."""
    deleted: DeletedArea | None = st.session_state.get(_deleted_key(project))
    if deleted is None or view.locked or deleted.area.name in _names(view):
        return
    name = deleted.area.name
    with st.container(horizontal=True, vertical_alignment="center"):
        st.info(f"The area {frame.plain(name)} was deleted.", icon=":material/delete:")
        if st.button("Bring it back", icon=":material/undo:"):
            frame.carry_out(partial(_restore, store, project, deleted), done=f"The area {name} is back.")


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
    typed = list(edited[["area", "token"]].itertuples(index=False, name=None))
    if one:
        typed = [row for row in typed if row[1].strip()]
    drafts.keep(draft, typed, rows)
    with back:
        drafts.show_restored(draft, "Your changes to this table")
    changed = typed != rows
    try:
        new = checked(typed)
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
    sentence = f"{old} is spelled {new} now."
    return " ".join([sentence, *(f"{note}." for note in map(str, done.notes))])


def show(view: TokensView) -> None:
    """Each oddity in a box of its own; nothing where there is none."""
    if view.alike:
        _alike(view)
    if view.shared:
        _shared(view)
    if not view.locked:
        _near(view)
    for area, token, names in view.hidden[:10]:
        characters = ", ".join(names)
        text = f"{token} in {area} holds characters that can't be seen: {characters}."
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
    sentence = f"Names of areas that differ in case or spaces only: {named}. Only tokens of one area are paired."
    if not view.locked:
        sentence += " If they are meant to be one, edit all areas as a table and write their names alike."
    st.warning(frame.plain(sentence))


def _shared(view: TokensView) -> None:
    n = len(view.shared)
    if view.rules.merge_shared:
        sentence = plural(
            n,
            "{n} pair of tokens in more than one area: such a pair stays in the first of them only.",
            "{n} pairs of tokens in more than one area: such a pair stays in the first of them only.",
        )
    else:
        sentence = plural(
            n,
            "{n} pair of tokens in more than one area: such a pair is an item of its own in each.",
            "{n} pairs of tokens in more than one area: such a pair is an item of its own in each.",
        )
    sentence += " Choose under “Which pairs become items”."
    st.info(sentence, icon=":material/info:")


def _near(view: TokensView) -> None:
    """Two spellings of one word make an item that voters are asked about for nothing."""
    pairs = view.near[["area", "token_a", "token_b"]].itertuples(index=False, name=None)
    left = [f"{a} – {b} ({area})" for area, a, b in pairs if (area, a, b) not in view.rules.excluded]
    if not left:
        return
    sentence = plural(
        len(left),
        "{n} pair of tokens that hardly differ: {named}.",
        "{n} pairs of tokens that hardly differ: {named}.",
        named=", ".join(left[:5]) + (", …" if len(left) > 5 else ""),
    )
    st.info(frame.plain(f"{sentence} Choose under “Which pairs become items”."), icon=":material/info:")
