"""The widgets for what voters read: the language, the question, the instructions and the examples."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.i18n import LANGUAGES
from core.i18n import language as language_of
from core.questions.comparison_page import (
    MAX_WHY,
    MAX_WORD,
    MOST_EXAMPLES,
    NOTIONS,
    Example,
    Wording,
    standard_examples,
)
from ui.plan.plan_fields import show_facts
from ui.shared import choosers, frame

TITLE = "What voters read"
_ANSWERS = {"left": "Left pair", "right": "Right pair", "tie": "Both equally"}
_WORDS = ("left-0", "left-1", "right-0", "right-1")
LANGUAGE_HELP = (
    "Of the standard question, the instructions, buttons and messages. What you write yourself stays as it is, and so "
    "do result files."
)
_LABELS = ("Left pair", "and", "Right pair", "and ")  # labels of one row must differ


def wording_form(before: Wording, notion: str, *, key: str, ties_allowed: bool) -> Wording:
    """Draw the widgets, filled from `before`, and return the wording as it stands in them."""
    with st.expander(TITLE):
        language = choosers.selectbox(
            "Language",
            LANGUAGES,
            before.language,
            key=f"language-{key}",
            on_change=_follow,
            args=(notion, key, ties_allowed),
            help=LANGUAGE_HELP,
        )
        usual_question, usual_instructions = map(language_of(language).text, NOTIONS[notion])
        question = st.text_input(
            "Question",
            before.question,
            key=f"question-{key}",
            max_chars=300,
            placeholder=usual_question,
        )
        instructions = st.text_area(
            "Instructions",
            before.instructions,
            key=f"instructions-{key}",
            max_chars=4000,
            placeholder=usual_instructions,
        )
        standard = standard_examples(notion, ties_allowed=ties_allowed, language=language)
        examples = _examples(before.examples, standard, key, ties_allowed)
    return Wording(question.strip(), instructions.strip(), examples, language)


def show_wording(wording: Wording, notion: str) -> None:
    """What voters of drawn ballots read, as text."""
    box = st.expander(TITLE, key="wording-drawn", on_change="rerun")
    if not box.open:
        return
    question, instructions = map(language_of(wording.language).text, NOTIONS[notion])
    with box:
        show_facts([("Language", LANGUAGES[wording.language], LANGUAGE_HELP)])
        st.markdown(f"**{frame.plain(wording.question or question)}**")
        st.text(wording.instructions or instructions)
        for number, example in enumerate(wording.examples, 1):
            left, right = (" – ".join(pair) for pair in (example.left, example.right))
            because = f": {example.why}" if example.why else ""
            st.caption(frame.plain(f"Example {number}: {left} | {right}. {_ANSWERS[example.answer]}{because}"))


def _examples(
    before: tuple[Example, ...], standard: tuple[Example, ...], key: str, ties_allowed: bool
) -> tuple[Example, ...]:
    """The boxes of as many examples as were asked for; their values live under keys of the session."""
    count = f"examples-{key}"
    if count not in st.session_state:
        _fill(before, key)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choosers.segmented_control(
            "Examples",
            {n: str(n) for n in range(MOST_EXAMPLES + 1)},
            None,
            key=count,
            help=(
                "Shown below the instructions, with their answers. Voters follow examples closely, so take pairs that "
                "no voter will be asked about."
            ),
        )
        st.button("Fill in the standard examples", on_click=_fill, args=(standard, key))
    return tuple(_example(number, key, ties_allowed) for number in range(st.session_state[count]))


def _follow(notion: str, key: str, ties_allowed: bool) -> None:
    """Put the standard examples into the language that was chosen; others are the owner's."""
    state = st.session_state
    examples = tuple(
        Example(
            (state[f"example-{n}-left-0-{key}"], state[f"example-{n}-left-1-{key}"]),
            (state[f"example-{n}-right-0-{key}"], state[f"example-{n}-right-1-{key}"]),
            state[f"example-{n}-answer-{key}"],
            state[f"example-{n}-why-{key}"],
        )
        for n in range(state[f"examples-{key}"])
    )
    ready = {code: standard_examples(notion, ties_allowed=ties_allowed, language=code) for code in LANGUAGES}
    if examples and examples in ready.values():
        _fill(ready[state[f"language-{key}"]], key)


def _fill(examples: tuple[Example, ...], key: str) -> None:
    """Put these examples into the boxes."""
    blank = Example(("", ""), ("", ""), "left")
    state: dict[str, Any] = {f"examples-{key}": len(examples)}
    for number, example in enumerate([*examples, *[blank] * (MOST_EXAMPLES - len(examples))]):
        for place, word in zip(_WORDS, (*example.left, *example.right), strict=True):
            state[f"example-{number}-{place}-{key}"] = word
        state |= {f"example-{number}-answer-{key}": example.answer, f"example-{number}-why-{key}": example.why}
    st.session_state.update(state)


def _example(number: int, key: str, ties_allowed: bool) -> Example:
    """The fields of an example; the example as it stands in them."""
    mine = f"example-{number}"
    with st.container(border=True):
        st.markdown(f"**Example {number + 1}**")
        words = []
        for column, place, label in zip(st.columns(4), _WORDS, _LABELS, strict=True):
            words.append(column.text_input(label, key=f"{mine}-{place}-{key}", max_chars=MAX_WORD))
        answers = [value for value in _ANSWERS if ties_allowed or value != "tie"]
        if st.session_state.get(f"{mine}-answer-{key}") not in answers:
            st.session_state[f"{mine}-answer-{key}"] = answers[0]
        choosers.segmented_control(
            "Answer", {value: _ANSWERS[value] for value in answers}, None, key=f"{mine}-answer-{key}"
        )
        why = st.text_input("Because", key=f"{mine}-why-{key}", max_chars=MAX_WHY)
    left_a, left_b, right_a, right_b = (word.strip() for word in words)
    return Example((left_a, left_b), (right_a, right_b), st.session_state[f"{mine}-answer-{key}"], why.strip())
