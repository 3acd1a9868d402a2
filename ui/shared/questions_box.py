"""What the values of a file mean that nobody can know: the questions, with what was found, and what somebody said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.platforms import Mapping, ValueQuestion
from core.votes.meanings import MEANT, meanings_of
from ui.shared import choosers, frame

_SAID = "_said"  # in the session: for each uploaded file what was said, by role and value
_OPEN = "?"


def answers_of(file: Any) -> Mapping | None:
    """What somebody said of a file's values since it was uploaded; None for nothing."""
    told = st.session_state.get(_SAID, {}).get(file.file_id)
    return Mapping().saying(meanings_of(told)) if told else None


def questions_box(file: Any, questions: Sequence[ValueQuestion]) -> None:
    """The questions that a file's values leave open, those answered too, and the button that reads it so."""
    kept: dict[str, dict[tuple[str, str], str]] = st.session_state.setdefault(_SAID, {})
    said = kept.get(file.file_id, {})
    told = [ValueQuestion(role, value, 0, 0) for role, value in said]
    if not questions and not told:
        return
    with st.form(f"questions-{file.file_id}"):
        if questions:
            st.info("Some answers wait: say what these values mean. They don't count before.", icon=":material/help:")
        answers = {}
        for question in (*told, *questions):
            key = question.role, question.value
            options = {_OPEN: "not said: its answers wait"} | dict(MEANT[question.role])
            chosen = choosers.selectbox(
                frame.plain(question.asks), options, said.get(key, _OPEN), key=f"said-{file.file_id}-{'-'.join(key)}"
            )
            answers[key] = chosen
            if question.n:
                st.caption(frame.plain(question.found))
        if st.form_submit_button("Read it with these meanings", type="primary" if questions else "secondary"):
            kept[file.file_id] = {key: meaning for key, meaning in answers.items() if meaning != _OPEN}
            st.rerun()


def remarks(preview: Any) -> list[Any]:
    """The remarks on a file without its questions, which stand in their box."""
    asked = {question.issue for question in preview.questions}
    return [issue for issue in preview.issues if issue not in asked]


__all__ = ["questions_box", "remarks", "answers_of"]
