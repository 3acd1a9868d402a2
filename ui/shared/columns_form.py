"""Naming the columns of a table by hand, with the first rows as they are read so."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.errors import RunoffError
from core.platforms import Mapping
from core.platforms.mapped_tables import ROLES
from core.views.columns import Columns, meaning_of
from core.votes.meanings import CHOICES
from ui.shared import choosers, frame

MAIN = ("voter", "choice")
IDS = ("comparison", "task")
WORDS = ("left_a", "left_b", "right_a", "right_b")
MORE = ("choice_too", "submitted_at", "seconds", "status", "reason", "assignment")
_NONE = "–"
_HELP = {
    "voter": "Who voted. The same name is the same voter.",
    "choice": "What was chosen. A name with {n} stands for several columns, one per comparison of the row.",
    "comparison": "As in the table of comparisons that was given out. Not needed if the tokens are there.",
    "task": "The task's id, where a row is a task. Not needed if the tokens are there.",
    "left_a": "The token that stood on the left (or first). Not needed if the comparison's id is there.",
    "assignment": "What tells two answers of one voter to the same comparison apart.",
    "status": "Answers whose status says rejected are kept and, by the usual policy, not counted.",
}


def columns_form(columns: Columns, start: Mapping, key: str, *, with_areas: bool = False) -> Mapping:
    """Fields for every role, filled in from `start`, and the first rows as they are read; the mapping as it stands."""
    chosen = {role: getattr(start, role) for role in ROLES}
    st.caption("Say which column is which. What is sure from the names is filled in.")
    chosen |= _fields(columns, start, MAIN, key)
    chosen |= _fields(columns, start, IDS, key)
    chosen |= _fields(columns, start, WORDS, key)
    more = "Areas, time, status and other columns" if with_areas else "Time, status and other columns"
    separator = start.separator
    if st.toggle(more, key=f"{key}-more"):
        areas = ("area_left", "area_right") if with_areas else ()
        chosen |= _fields(columns, start, (*areas, *MORE), key)
        separator = st.text_input(
            "Sign between the two tokens, where one column holds a pair",
            start.separator,
            key=f"{key}-separator",
            help="For example – or /. Then choose the pair's column as its first token.",
        )
    mapping = replace(start, **chosen, separator=separator)
    if mapping.choice:
        mapping = replace(mapping, choices=_meanings(columns, mapping, key))
    try:
        table = columns.preview(mapping)
    except RunoffError as error:
        st.info(frame.plain(str(error)), icon=":material/info:")
    else:
        st.caption("The first rows, as they are read:")
        st.dataframe(table, hide_index=True, alt="The first rows as they are read")
    return mapping


def _fields(columns: Columns, start: Mapping, roles: tuple[str, ...], key: str) -> dict[str, str]:
    chosen = {}
    options = {"": _NONE} | {name: _called(columns, name) for name in columns.names}
    for at in range(0, len(roles), 2):
        for role, place in zip(roles[at : at + 2], st.columns(2), strict=False):
            now = getattr(start, role)
            chosen[role] = choosers.selectbox(
                ROLES[role],
                options | {now: options.get(now, now)},  # a list shows names as they are, no Markdown
                now,
                key=f"{key}-{role}",
                place=place,
                help=_HELP.get(role),
            )
    return chosen


def _called(columns: Columns, name: str) -> str:
    """A column's name; of several that have it the first is read."""
    n = columns.header.count(name)
    return name if n < 2 else f"{name} (the first of {n})"


def _meanings(columns: Columns, mapping: Mapping, key: str) -> tuple[tuple[str, str], ...]:
    """What each value of the choice means."""
    values = columns.values(mapping.choice)
    if not values:
        return mapping.choices
    meanings = dict(CHOICES) | {"?": "not known: it is asked, or can't be read"}
    said = []
    for at in range(0, len(values), 2):
        for value, place in zip(values[at : at + 2], st.columns(2), strict=False):
            meaning = choosers.selectbox(
                f"“{frame.plain(value)}” means",
                meanings,
                meaning_of(value, mapping, values),
                key=f"{key}-means-{mapping.choice}-{value}",
                place=place,
            )
            if meaning != "?":
                said.append((value, meaning))
    return tuple(said)
