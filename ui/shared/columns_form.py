"""A form for the columns of a file that can't be told by themselves, with its first rows as they are read so.

Columns that Runoff doesn't know, or knows in another way, are named once and remembered. Values whose meaning nobody
can know become questions, with what was found in the file and what somebody said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from core.errors import RunoffError
from core.platforms import Mapping, ValueQuestion
from core.platforms.mapped_tables import ROLES
from core.store import Store
from core.store.projects.project_commands import Project
from core.store.votes.intake import forget_mapping, read_mapping, remember_mapping
from core.views import file_kinds
from core.views.file_kinds import Columns, meaning_of
from core.votes.meanings import CHOICES, MEANT, meanings_of
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
            current = getattr(start, role)
            chosen[role] = choosers.selectbox(
                ROLES[role],
                options | {current: options.get(current, current)},  # a list shows names as they are, no Markdown
                current,
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
    meanings_chosen = []
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
                meanings_chosen.append((value, meaning))
    return tuple(meanings_chosen)


def mapping_box(store: Store, project: Project, file: Any, *, needed: bool) -> None:
    """The columns of a file to be named; open at once where the file can't be read without."""
    columns = _table(file) if needed else None
    if needed and columns is None:
        return  # no table, which was said above
    if not st.toggle(f"Name the columns of {frame.plain(file.name)}", value=needed, key=f"columns-open-{file.file_id}"):
        return
    with st.container(border=True):
        columns = columns or file_kinds.load(file.getvalue(), file.name)
        known = read_mapping(store, project.id, columns.header)
        mapping = columns_form(columns, known or columns.guessed, f"columns-{file.file_id}")
        with st.container(horizontal=True):
            if st.button(
                "Read it this way", type="primary", key=f"map-{file.file_id}", disabled=not mapping.is_complete
            ):
                done = "These columns are remembered: from now on files with the same header are read this way."
                frame.carry_out(
                    remember_mapping, store, project.id, columns.header, mapping,
                    done=done, expected_revision=frame.expected(),
                )  # fmt: skip
            if known is not None and st.button("Forget these columns", key=f"unmap-{file.file_id}"):
                done = "The columns are forgotten."
                revision = frame.expected()
                frame.carry_out(
                    forget_mapping, store, project.id, columns.header, done=done, expected_revision=revision
                )


def _table(file: Any) -> file_kinds.Columns | None:
    """The columns of a file; None where it holds no table."""
    try:
        return file_kinds.load(file.getvalue(), file.name)
    except RunoffError:
        return None


_SAID = "_said"  # in the session: for each uploaded file what was said, by role and value
_OPEN = "?"


def answers_of(file: Any) -> Mapping | None:
    """The meanings that a person chose for a file's values since its upload, as a mapping; None for none."""
    meanings = st.session_state.get(_SAID, {}).get(file.file_id)
    return Mapping().saying(meanings_of(meanings)) if meanings else None


def questions_box(file: Any, questions: Sequence[ValueQuestion]) -> None:
    """The questions that a file's values leave open, those answered too, and the button that reads it so."""
    answers_of_files: dict[str, dict[tuple[str, str], str]] = st.session_state.setdefault(_SAID, {})
    before = answers_of_files.get(file.file_id, {})
    answered = [ValueQuestion(role, value, 0, 0) for role, value in before]
    if not questions and not answered:
        return
    with st.form(f"questions-{file.file_id}"):
        if questions:
            st.info("Some answers wait: say what these values mean. They don't count before.", icon=":material/help:")
        answers = {}
        for question in (*answered, *questions):
            key = question.role, question.value
            options = {_OPEN: "not said: its answers wait"} | dict(MEANT[question.role])
            chosen = choosers.selectbox(
                frame.plain(question.asks), options, before.get(key, _OPEN), key=f"said-{file.file_id}-{'-'.join(key)}"
            )
            answers[key] = chosen
            if question.n:
                st.caption(frame.plain(question.found))
        if st.form_submit_button("Read it with these meanings", type="primary" if questions else "secondary"):
            answers_of_files[file.file_id] = {key: meaning for key, meaning in answers.items() if meaning != _OPEN}
            st.rerun()


def remarks(preview: Any) -> list[Any]:
    """The remarks on a file without its questions, which stand in their box."""
    question_issues = {question.issue for question in preview.questions}
    return [issue for issue in preview.issues if issue not in question_issues]


__all__ = ["questions_box", "remarks", "answers_of"]
