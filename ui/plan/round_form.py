"""The settings of a round of questions, as the kind asks for them."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.errors import RunoffError
from core.i18n import LANGUAGES
from core.questions import RoundKind, RoundSettings
from core.questions.rating.scales import CLSS, SCALES, RatingScale, read_rated_pairs
from core.store.projects.project_commands import Project
from ui.plan.groups_editor import groups_editor
from ui.plan.wording_form import LANGUAGE_HELP
from ui.shared import choosers

OWN = "own"
SCALE_NAMES = {"CLSS": "0 to 4 in quarters", "STSS": "0 to 4 in tenths", OWN: "a scale of your own"}


def round_form(project: Project, kind: RoundKind, start: RoundSettings, *, key: str) -> RoundSettings:
    """Draw the widgets, filled from `start`, and return the settings as they stand in them.

    Raises `RunoffError` for a text that can't be read, and for settings that make no sense.
    """
    row = st.container(horizontal=True, vertical_alignment="bottom")
    settings = _people(start, key, row)
    mistyped = None  # raised once all widgets are drawn: what stands in one that isn't drawn is lost
    for name in kind.about.editors:
        try:
            settings = EDITORS[name](settings, key, project, row)
        except RunoffError as error:
            mistyped = mistyped or error
    settings = _wording(settings, key)
    if mistyped is not None:
        raise mistyped
    return kind.checked(settings, with_groups=bool(settings.groups))


def _people(settings: RoundSettings, key: str, row: DeltaGenerator) -> RoundSettings:
    """What every kind asks for."""
    with row:
        raters = st.number_input(
            "People per question", 1, 1000, settings.raters, key=f"raters-{key}", width=150,
            help="Publish each task with so many assignments: then nobody is asked the same twice.",
        )  # fmt: skip
        task_size = st.number_input("Questions per task", 1, 50, settings.task_size, key=f"task-size-{key}", width=150)
    return replace(settings, raters=raters, task_size=task_size)


# What a kind of question asks for, by the names in `KindInfo.editors`; `row`: the form's first, for short fields.


def _scale(settings: RoundSettings, key: str, project: Project, row: DeltaGenerator) -> RoundSettings:
    """The choice of a rating scale; the settings with it."""
    was = settings.scale
    ready = (name for name, scale in SCALES.items() if replace(scale, sorts_first=was.sorts_first) == was)
    before = next(ready, OWN)
    with row:
        name = choosers.selectbox(
            "Scale", SCALE_NAMES, before, key=f"scale-{key}", width=220,
            help="Both ready ones have a worded anchor at each whole number.",
        )  # fmt: skip
        scale = SCALES.get(name, CLSS)
        if name == OWN:
            low, high, step = (was.low, was.high, was.step) if before == OWN else (1.0, 7.0, 1.0)
            low = st.number_input("From", value=low, key=f"low-{key}", width=100)
            high = st.number_input("To", value=high, key=f"high-{key}", width=100)
            step = st.number_input("In steps of", value=step, key=f"step-{key}", width=120)
            scale = RatingScale("own scale", low, high, step)
        sorts = bool(scale.anchors) and st.toggle(
            "Sort into piles first",
            value=was.sorts_first if name == before else scale.sorts_first,
            key=f"sort-{key}-{name}",
            help=(
                "People sort the cards of a task into piles, one per anchor, before they give numbers. With anchors it "
                "gave the least noise (O'Shea and others 2013)."
            ),
        )
    return replace(settings, scale=replace(scale, sorts_first=sorts))


def _swaps(settings: RoundSettings, key: str, project: Project, row: DeltaGenerator) -> RoundSettings:
    swaps = st.toggle(
        "Turn half of the items", value=settings.swaps, key=f"swaps-{key}",
        help="Half of the items are shown with their two tokens in the other order, drawn by the seed.",
    )  # fmt: skip
    return replace(settings, swaps=swaps)


def _gold(settings: RoundSettings, key: str, project: Project, row: DeltaGenerator) -> RoundSettings:
    """Gold pairs of the task page, and how far off a rating of them may be."""
    with st.expander("Gold pairs: who qualifies"):
        text = st.text_area(
            "Pairs with a known rating, one per line",
            "\n".join(f"{pair.first}, {pair.second}: {pair.rating:g}" for pair in settings.gold),
            key=f"rated-gold-{key}",
            placeholder="car, automobile: 4",
            help=(
                "Five as a rule. The task page for Turkle or Mechanical Turk begins with them and doesn't show their "
                "ratings. Whoever misses one is named on the Voters page. The voting page doesn't ask them."
            ),
        )
        tolerance = st.number_input(
            "Points off that still pass", 0.0, 100.0, settings.tolerance, 0.25, key=f"gold-tolerance-{key}", width=220
        )
    return replace(settings, gold=read_rated_pairs(text), tolerance=float(tolerance))


def _tuples(settings: RoundSettings, key: str, project: Project, row: DeltaGenerator) -> RoundSettings:
    with row:
        size = st.number_input("Items per tuple", 3, 10, settings.size, key=f"size-{key}", width=130)
        appearances = st.number_input(
            "Tuples per item", 1, 1000, settings.appearances, key=f"appearances-{key}", width=130,
            help="In how many tuples each item stands.",
        )  # fmt: skip
    return replace(settings, size=size, appearances=appearances)


def _with_groups(settings: RoundSettings, key: str, project: Project, row: DeltaGenerator) -> RoundSettings:
    return replace(settings, groups=groups_editor(project, settings.groups, key))


EDITORS = {"scale": _scale, "swaps": _swaps, "gold": _gold, "tuples": _tuples, "groups": _with_groups}


def _wording(settings: RoundSettings, key: str) -> RoundSettings:
    """What people read, what they are paid, and the seed."""
    with st.expander("Wording, money and seed"):
        language = choosers.selectbox(
            "Language", LANGUAGES, settings.language,
            key=f"language-{key}", width=240, help=LANGUAGE_HELP,
        )  # fmt: skip
        question = st.text_input(
            "Question", settings.question, key=f"question-{key}", placeholder="The standard question"
        )
        instructions = st.text_area(
            "Instructions", settings.instructions, key=f"instructions-{key}", placeholder="The standard text"
        )
        with st.container(horizontal=True):
            seconds = st.number_input(
                "Seconds per question", 0.1, 3600.0, settings.seconds, key=f"seconds-{key}", width=150,
                help="An assumption: see “Which kind of question gives most in the same time?” below.",
            )  # fmt: skip
            reward = st.number_input("Reward per task", 0.0, 10_000.0, settings.reward, key=f"reward-{key}", width=130)
            percent = st.number_input("Fee (%)", 0.0, 1000.0, round(100 * settings.fee, 6), key=f"fee-{key}", width=110)
            seed = st.number_input("Seed", 0, 2**31 - 1, settings.seed, key=f"seed-{key}", width=160)
    return replace(
        settings, question=question, instructions=instructions, language=language,
        seconds=seconds, reward=reward, fee=round(percent / 100, 6), seed=seed,
    )  # fmt: skip
