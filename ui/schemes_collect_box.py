"""Rounds of ratings, best–worst or orders: choose one or draw a new one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from core.errors import RunoffError
from core.language import LANGUAGES, STANDARD
from core.plan_values import kept
from core.schemes.collected import BEST_WORST, LABELS, ORDER, RATING, RoundSettings, default_settings
from core.schemes.gold_pairs import TOLERANCE, GoldPair, read_rated_pairs
from core.schemes.group_drawing import draw_groups
from core.schemes.group_files import groups_of, read_groups
from core.schemes.scales import CLSS, SCALES, RatingScale
from core.schemes.target_groups import TargetGroup
from core.store.areas import read_areas
from core.store.library import open_library, read_embeddings
from core.store.plans import read_plan
from core.store.projects import Project
from core.store.round_drawing import draw_round
from core.views import rounds as view
from core.views import target_groups
from ui import choosers, frame
from ui.schemes_round_box import round_box
from ui.wording_form import LANGUAGE_HELP

ABOUT = {
    RATING: "Each item gets a number on a scale with worded anchors, from several people.",
    BEST_WORST: "Of a few items people name the most and the least related: a tuple of four decides five comparisons.",
    ORDER: "People put the positives of a target word into order; only words of one target are compared.",
}
SOURCES = {"propose": "Propose by an embedding", "text": "From a text"}
SIZES = ("Positives", 2, 5), ("Distractors", 0, 3), ("Randoms", 0, 3)
NEW = 0


def collect_box(project: Project, area_id: int | None, n_items: int) -> None:
    """All of the tab."""
    st.markdown("**Collect ratings, best–worst choices or orders with this project's items.**")
    if not n_items:
        st.info("This project has no items yet. Add tokens on the Tokens page first.", icon=":material/info:")
        return
    rounds = view.load(frame.store(), project.id, area_id)
    numbers = {found.round.number: found for found in reversed(rounds)}
    chosen = NEW
    if numbers:
        key = f"round-{project.id}-{area_id}"
        if (drawn := st.session_state.pop("_drawn_round", None)) in numbers:
            st.session_state[key] = drawn
        names = {n: found.listed for n, found in numbers.items()} | {NEW: "A new round"}
        chosen = choosers.selectbox("Round", names, key=key, width=360)
    if chosen == NEW:
        _new(project, area_id, n_items, rounds)
    else:
        round_box(project, area_id, numbers[chosen])


def _new(project: Project, area_id: int | None, n_items: int, rounds: tuple[view.RoundView, ...]) -> None:
    """Choose the scheme and its settings, see what it costs, draw."""
    scheme = choosers.segmented_control(
        "Scheme", {one: words.capitalize() for one, words in LABELS.items()}, RATING, key=f"new-scheme-{project.id}"
    )
    st.caption(ABOUT[scheme])
    waiting = next((found for found in rounds if found.round.scheme == scheme and found.round.is_open), None)
    if waiting is not None:
        still = f"{waiting.title}, is still open: close it before the next one is drawn."
        st.info(frame.plain(still), icon=":material/info:")
        return
    key = f"{scheme}-{project.id}"
    plan = read_plan(frame.store(), project.id, area_id)
    spoken = plan.wording.language if plan else STANDARD
    settings, after = replace(default_settings(scheme, seed=project.seed), language=spoken), None
    n = n_items
    try:
        if scheme == RATING:
            settings = _rating(settings, key)
        elif scheme == BEST_WORST:
            settings, after = _best_worst(settings, key, rounds)
            before = next((found.round for found in rounds if found.round.number == after), None)
            n = n_items if before is None else max(1, kept(before.ballot.n_items, settings.keep))
        else:
            settings = replace(settings, groups=tuple(_groups(project, key)))
        settings = _common(settings, key)
    except RunoffError as error:
        frame.show_error(error)
        return
    if scheme == ORDER and not settings.groups:
        st.caption("There are no groups yet: propose some, or paste a file of target groups.")
        return
    st.markdown(view.cost_said(settings, n))
    frame.command_button(
        "Draw the round",
        partial(draw_round, area_id=area_id, after=after),
        project.id,
        settings,
        done=_drawn,
        type="primary",
        icon=":material/casino:",
        key=f"draw-{key}",
    )


def _drawn(number: int) -> str:
    """Say so, and show the round at the next run."""
    st.session_state["_drawn_round"] = number
    return f"Round {number} is drawn. Next: give it to people."


def _rating(settings: RoundSettings, key: str) -> RoundSettings:
    names = {
        "CLSS": "0 to 4 in quarters",
        "STSS": "0 to 4 in tenths",
        "own": "a scale of your own",
    }
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = choosers.selectbox(
            "Scale", names, key=f"scale-{key}", width=220,
            help="Both ready ones have a worded anchor at each whole number.",
        )  # fmt: skip
        scale = SCALES.get(name, CLSS)
        if name == "own":
            low = st.number_input("From", value=1.0, key=f"low-{key}", width=100)
            high = st.number_input("To", value=7.0, key=f"high-{key}", width=100)
            step = st.number_input("In steps of", value=1.0, key=f"step-{key}", width=120)
            scale = RatingScale("own scale", low, high, step)
        sorts = bool(scale.anchors) and st.toggle(
            "Sort into piles first",
            value=scale.sorts_first,
            key=f"sort-{key}-{name}",
            help=(
                "People sort the cards of a task into piles, one an anchor, before they give numbers. With anchors it "
                "gave the least noise (O'Shea and others 2013)."
            ),
        )
    swaps = st.toggle(
        "Turn half of the items", value=settings.swaps, key=f"swaps-{key}",
        help="Half of the items are shown with their two tokens in the other order, drawn by the seed.",
    )  # fmt: skip
    gold, tolerance = _gold(key)
    return replace(settings, scale=replace(scale, sorts_first=sorts), swaps=swaps, gold=gold, tolerance=tolerance)


def _gold(key: str) -> tuple[tuple[GoldPair, ...], float]:
    """Gold pairs of the task page, and how far off a rating of them may be."""
    with st.expander("Gold pairs: who qualifies"):
        text = st.text_area(
            "Pairs with a known rating, one a line",
            key=f"rated-gold-{key}",
            placeholder="car, automobile: 4",
            help=(
                "Five as a rule. The task page for Turkle or Mechanical Turk begins with them and doesn't show their "
                "ratings. Whoever misses one is named under People. The voting page doesn't ask them."
            ),
        )
        tolerance = st.number_input(
            "Points off that still pass", 0.0, 100.0, TOLERANCE, 0.25, key=f"gold-tolerance-{key}", width=220
        )
    return read_rated_pairs(text), float(tolerance)


def _best_worst(
    settings: RoundSettings, key: str, rounds: tuple[view.RoundView, ...]
) -> tuple[RoundSettings, int | None]:
    closed = {v.round.number: v.round for v in rounds if v.round.scheme == BEST_WORST and not v.round.is_open}
    after = None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if closed:
            names = {n: f"the leading items of round {n}" for n in reversed(closed)}
            after = choosers.selectbox(
                "Items", names | {NEW: "all items"}, key=f"after-{key}", width=240,
                help="A next round keeps the items with the highest scores, and near ones meet.",
            )  # fmt: skip
        keep = settings.keep
        if after:
            percent = st.number_input("Go on (%)", 1, 100, 50, key=f"keep-{key}", width=120)
            keep = percent / 100
        size = st.number_input("Items a tuple", 3, 10, settings.size, key=f"size-{key}", width=130)
        appearances = st.number_input(
            "Tuples an item", 1, 1000, settings.appearances, key=f"appearances-{key}", width=130,
            help="In how many tuples each item stands.",
        )  # fmt: skip
    return replace(settings, keep=keep, size=size, appearances=appearances), after or None


def _groups(project: Project, key: str) -> list[TargetGroup]:
    """Groups from a text, or proposed by an embedding, in a table to be edited."""
    sources = dict(SOURCES)
    source = choosers.segmented_control("Groups", sources, key=f"source-{key}")
    kept: list[TargetGroup] = st.session_state.get(f"_groups-{key}", [])
    if source == "text":
        text = st.text_area(
            "Text of target groups", key=f"text-{key}", height=140,
            help="As the tab Target groups saves it, or the files of Avraham and Goldberg (2016).",
        )  # fmt: skip
        return groups_of(read_groups(text).comparisons) if text.strip() else []
    models = [one for one in read_embeddings(frame.store(), project.id) if one.has_vectors]
    if not models:
        st.caption("This takes an embedding with vectors in this project.")
        return []
    with st.container(horizontal=True, vertical_alignment="bottom"):
        model = choosers.embedding("Embedding", models, key=f"model-{key}")
        n_targets = st.number_input("Targets an area", 1, 100, 5, key=f"targets-{key}", width=130)
        sizes = [
            st.number_input(label, least, 20, usual, key=f"{label}-{key}", width=110) for label, least, usual in SIZES
        ]
        if st.button("Propose", icon=":material/auto_awesome:", key=f"propose-{key}"):
            kept = _proposed(project, model.id, int(n_targets), (sizes[0], sizes[1], sizes[2]))
            st.session_state[f"_groups-{key}"] = kept
            st.session_state[f"_turn-{key}"] = st.session_state.get(f"_turn-{key}", 0) + 1
    if not kept:
        return []
    st.caption("An embedding that proposes its own test is favoured by it: edit the groups, and rank others by them.")
    table = target_groups.table(kept)
    edited = st.data_editor(
        table, hide_index=True, num_rows="dynamic", height=240,
        key=f"edit-{key}-{st.session_state.get(f'_turn-{key}', 0)}", alt="Groups to be ordered",
    )  # fmt: skip
    return target_groups.from_table(edited)


def _proposed(project: Project, model: str, n_targets: int, sizes: tuple[int, int, int]) -> list[TargetGroup]:
    """The first targets of each area that the embedding knows, with their groups."""
    store = frame.store()
    embedding = open_library(store, next(one for one in read_embeddings(store, project.id) if one.id == model))
    areas = read_areas(store, project.id)
    found: list[TargetGroup] = []
    for number, area in enumerate(areas):
        others = [token for other in areas if other is not area for token in other.tokens]
        rng = np.random.default_rng([project.seed, number])
        groups, _ = draw_groups(embedding, list(area.tokens), others=others, sizes=sizes, rng=rng)
        taken = {group.target for group in found}
        usable = [group for group in groups if len(group.positives) > 1 and group.target not in taken]
        found += usable[:n_targets]
    return found


def _common(settings: RoundSettings, key: str) -> RoundSettings:
    """What every scheme asks for."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        raters = st.number_input(
            "People a question", 1, 1000, settings.raters, key=f"raters-{key}", width=150,
            help="Publish each task with so many assignments: then nobody is asked the same twice.",
        )  # fmt: skip
        task_size = st.number_input("Questions a task", 1, 50, settings.task_size, key=f"task-size-{key}", width=150)
    with st.expander("Wording, money and seed"):
        language = choosers.selectbox(
            "Language", LANGUAGES, settings.language,
            key=f"language-{key}", width=240, help=LANGUAGE_HELP,
        )  # fmt: skip
        question = st.text_input("Question", key=f"question-{key}", placeholder="The standard question")
        instructions = st.text_area("Instructions", key=f"instructions-{key}", placeholder="The standard text")
        with st.container(horizontal=True):
            seconds = st.number_input(
                "Seconds a question", 0.1, 3600.0, settings.seconds, key=f"seconds-{key}", width=150,
                help="An assumption: see the tab Which scheme?",
            )  # fmt: skip
            reward = st.number_input("Reward a task", 0.0, 10_000.0, settings.reward, key=f"reward-{key}", width=130)
            percent = st.number_input("Fee (%)", 0.0, 1000.0, 100 * settings.fee, key=f"fee-{key}", width=110)
            seed = st.number_input("Seed", 0, 2**31 - 1, settings.seed, key=f"seed-{key}", width=160)
    return replace(
        settings, raters=raters, task_size=task_size, question=question, instructions=instructions, language=language,
        seconds=seconds, reward=reward, fee=percent / 100, seed=seed,
    )  # fmt: skip
