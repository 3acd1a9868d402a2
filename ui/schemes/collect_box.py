"""Rounds of ratings, best–worst or orders: choose one or draw a new one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.commands.ballots import DrawRound
from core.errors import RunoffError
from core.i18n import LANGUAGES, STANDARD
from core.plan.campaign_plan import n_kept
from core.questions import RoundSettings, default_settings, round_kind, round_kinds
from core.questions.order.groups import TargetGroup, draw_groups
from core.questions.order.kind import groups_of, read_groups
from core.questions.rating.scales import CLSS, SCALES, TOLERANCE, RatingScale, read_rated_pairs
from core.store.ballots.ballot_rows import Ballot
from core.store.projects.embedding_library import open_library, read_embeddings
from core.store.projects.plans import read_plan
from core.store.projects.project_commands import Project
from core.store.tokens.areas import read_areas
from core.views.schemes import rounds as view
from core.views.schemes import target_groups
from ui.plan.wording_form import LANGUAGE_HELP
from ui.schemes.round_box import round_box
from ui.shared import choosers, frame, jobs

SOURCES = {"propose": "Propose by an embedding", "text": "From a text"}
SIZES = ("Positives", 2, 5), ("Distractors", 0, 3), ("Randoms", 0, 3)
NEW = 0
_DRAWN = "_drawn_round"  # in the session: the number of a round that is shown as soon as it is there


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
        if st.session_state.get(_DRAWN) in numbers:
            st.session_state[key] = st.session_state.pop(_DRAWN)
        names = {n: found.listed for n, found in numbers.items()} | {NEW: "A new round"}
        chosen = choosers.selectbox("Round", names, key=key, width=360)
    if chosen == NEW:
        _new(project, area_id, n_items, rounds)
    else:
        round_box(project, area_id, numbers[chosen])


def _new(project: Project, area_id: int | None, n_items: int, rounds: tuple[view.RoundView, ...]) -> None:
    """Choose the scheme and its settings, see what it costs, draw."""
    kinds = {name: one.about.label.capitalize() for name, one in round_kinds().items()}
    scheme = choosers.segmented_control("Scheme", kinds, next(iter(kinds)), key=f"new-scheme-{project.id}")
    kind = round_kind(scheme)
    st.caption(kind.about.offered)
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
        row = st.container(horizontal=True, vertical_alignment="bottom")
        if kind.about.pools:
            closed = [one.round for one in rounds if one.round.scheme == scheme and not one.round.is_open]
            with row:
                settings, after = _leading(settings, key, closed)
            before = next((one for one in closed if one.number == after), None)
            n = n_items if before is None else max(1, n_kept(before.n_items, settings.keep))
        for name in kind.about.editors:
            settings = EDITORS[name](settings, key, project, row)
        settings = _common(settings, key)
    except RunoffError as error:
        frame.show_error(error)
        return
    if "groups" in kind.about.editors and not settings.groups:
        st.caption("There are no groups yet: propose some, or paste a file of target groups.")
        return
    st.markdown(view.cost_text(settings, n))
    number = max((one.round.number for one in rounds), default=0) + 1
    jobs.offer(
        "Draw the round",
        DrawRound(project.id, frame.expected(), area_id, settings.stored(), after),
        lambda: st.session_state.update({_DRAWN: number}),
        type="primary",
        icon=":material/casino:",
        key=f"draw-{key}",
    )


# What a kind of question asks for, by the names in `About.editors`; `row` is the first of the form, for short fields.


def _scale(settings: RoundSettings, key: str, project: Project, row: DeltaGenerator) -> RoundSettings:
    names = {
        "CLSS": "0 to 4 in quarters",
        "STSS": "0 to 4 in tenths",
        "own": "a scale of your own",
    }
    with row:
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
    return replace(settings, gold=read_rated_pairs(text), tolerance=float(tolerance))


def _tuples(settings: RoundSettings, key: str, project: Project, row: DeltaGenerator) -> RoundSettings:
    with row:
        size = st.number_input("Items a tuple", 3, 10, settings.size, key=f"size-{key}", width=130)
        appearances = st.number_input(
            "Tuples an item", 1, 1000, settings.appearances, key=f"appearances-{key}", width=130,
            help="In how many tuples each item stands.",
        )  # fmt: skip
    return replace(settings, size=size, appearances=appearances)


def _leading(settings: RoundSettings, key: str, closed: list[Ballot]) -> tuple[RoundSettings, int | None]:
    """After which round to go on with the leading items, and with what share of them."""
    if not closed:
        return settings, None
    names = {one.number: f"the leading items of round {one.number}" for one in reversed(closed)}
    after = choosers.selectbox(
        "Items", names | {NEW: "all items"}, key=f"after-{key}", width=240,
        help="A next round keeps the items with the highest scores, and near ones meet.",
    )  # fmt: skip
    if not after:
        return settings, None
    percent = st.number_input("Go on (%)", 1, 100, 50, key=f"keep-{key}", width=120)
    return replace(settings, keep=percent / 100), after


def _with_groups(settings: RoundSettings, key: str, project: Project, row: DeltaGenerator) -> RoundSettings:
    return replace(settings, groups=tuple(_groups(project, key)))


EDITORS = {"scale": _scale, "swaps": _swaps, "gold": _gold, "tuples": _tuples, "groups": _with_groups}


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
