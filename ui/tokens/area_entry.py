"""New areas: by paste, or from a file whose columns are found or chosen."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from core.base.numbers_in_words import plural
from core.errors import RunoffError
from core.store import Store
from core.store.projects.project_commands import Project
from core.store.tokens.areas import add_areas
from core.tabular import is_workbook
from core.tokens.files import TokenFile, TokenLists, clean_token, is_several, open_list, read_pasted
from core.tokens.lists import split_tokens
from core.views import file_kinds
from ui.shared import choosers, drafts, files, frame

SHOWN = 20  # notes on a list
_NO_COLUMN = -1
_ALL_SHEETS = ""  # no sheet has an empty name
_FOUND, _LINES, _TABLE = "found", "lines", "table"
_LAYOUTS = {_FOUND: "detected automatically", _LINES: "one token per line", _TABLE: "a table with columns"}
_LAYOUT_HELP = "In a list of one token per line, commas and quotation marks belong to the tokens."
_BY_LINES = {_FOUND: None, _LINES: True, _TABLE: False}


def take(action: Callable[..., Any], reader: Callable[..., TokenLists], *args: Any) -> None:
    """Read token lists and carry out what they are for; what the reading noticed is said."""
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
        frame.flash(_remarks(len(notes)), kind="warning", details=_first(notes))


def _remarks(n: int) -> str:
    return plural(n, "{n} remark on what was read.", "{n} remarks on what was read.")


def _first(notes: list[str]) -> list[str]:
    return [*notes[:SHOWN], *([f"and {len(notes) - SHOWN} more"] if len(notes) > SHOWN else [])]


def add_box(store: Store, project: Project) -> None:
    """New areas by paste or from a file. The boxes are emptied once their areas are saved."""
    key = f"{project.id}-{st.session_state.get('_areas_turn', 0)}"
    draft = f"area-{key}"
    key += f"-{drafts.turn(draft)}" if drafts.turn(draft) else ""
    paste, file = st.tabs(["Paste", "From a file"])
    with paste:  # no form: what stands in one is known only once it is sent, and couldn't be kept
        back = st.container()
        begun = drafts.begin(draft, f"new-name-{key}", ("", ""))
        name = st.text_input(
            "Area", begun[0], placeholder="For example: Sales & marketing", max_chars=100, key=f"new-name-{key}"
        )
        text = st.text_area(
            "Tokens, one per line", begun[1], height=180, placeholder="sales\nmarketing\nmachine learning",
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
                take(partial(add_areas, store, project.id), partial(read_pasted, split=split), name, text)
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
        found = _opened(data, filename, key)
    except RunoffError as error:
        frame.show_error(error)
        return
    columns = _columns_box(found, key) if len(found.header) > 1 else None
    names = _columns(found) or {0: "token"}
    table = [dict(zip(names.values(), row, strict=False)) for row in found.sample[:5]]
    st.dataframe(table, hide_index=True, alt="The first rows of the file")
    if len(found.header) > 1 and columns is None:
        st.button("Add these areas", type="primary", disabled=True)
        return
    try:
        lists = found.read(columns)
        several = [token for area in lists.areas for token in area.tokens if is_several(token)]
        if several:
            lists = found.read(columns, split=split_box(several, key))
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
    found = open_list(data, filename, encoding=encoding, by_lines=_BY_LINES[by_lines or _FOUND])
    if len(found.sheets) > 1:
        every = {_ALL_SHEETS: "all, each an area"} if found.is_all_lists else {}
        sheets = every | {name: name for name in found.sheets}
        sheet = choosers.selectbox("Sheet", sheets, key=f"sheet-{key}", apart=_a_sheet)
        found = open_list(data, filename, sheet=sheet or None)
    return found


def _will_be_saved(lists: TokenLists) -> None:
    """The areas with their sizes, and what the reading noticed."""
    rows = [
        {"area": area.name, "tokens": len(area.tokens), "pairs": area.n_items, "first": ", ".join(area.tokens[:5])}
        for area in lists.areas
    ]
    st.markdown("**These areas will be saved:**")
    st.dataframe(rows, hide_index=True, alt="The areas that will be saved")
    if lists.notes:
        listed = "\n".join(f"- {frame.plain(note)}" for note in _first([str(note) for note in lists.notes]))
        st.warning(f"{frame.plain(_remarks(len(lists.notes)))}\n\n{listed}")


def _columns_box(found: TokenFile, key: str) -> tuple[int | None, int] | None:
    """The area column (None for one area named after the file) and the token column, as chosen; None where one has yet
    to be chosen."""
    key = f"{key}-{hash(found.header)}"
    names = _columns(found)
    guess = found.guess
    twins = (*guess.area_twins, *guess.token_twins)
    if twins:
        told = " and ".join(f"{found.header[place]!r} (column {place + 1})" for place in twins)
        st.warning(frame.plain(f"Several columns have one name: {told}. Choose which of them is meant."))
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
        st.warning(
            "The first row is read as the names of the columns. If it holds a token, choose the layout “one token per "
            "line”, or put a row with the names area and token above it."
        )
    return None if area is None or token is None else (None if area == _NO_COLUMN else area, token)


def _columns(found: TokenFile) -> dict[int, str]:
    """The columns by their places, by names of which no two are equal."""
    names = {place: name or f"column {place + 1}" for place, name in enumerate(found.header)}
    return choosers.told_apart(names, _nth)


def _a_sheet(name: str) -> str:
    return "" if name == _ALL_SHEETS else "a sheet"


def _nth(place: int) -> str:
    return "" if place == _NO_COLUMN else f"column {place + 1}"
