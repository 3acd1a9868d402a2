"""Target groups: proposed by an embedding or given as a text, edited in a table, and saved as files."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from core.base.durable import slug
from core.base.numbers_in_words import many
from core.questions.order.groups import TargetGroup, draw_groups, undecided
from core.questions.order.kind import groups_of, read_groups
from core.store.projects.embedding_library import Imported, open_library, read_embeddings
from core.store.projects.project_commands import Project
from core.store.tokens.areas import read_areas
from core.views.kinds import target_groups as view
from ui.shared import choosers, frame
from ui.shared.tables import download, download_groups

SOURCES = {"propose": "Propose by an embedding", "text": "From a text"}
SIZES = ("Positives", 1, 5), ("Distractors", 0, 3), ("Randoms", 0, 3)
ALL_AREAS = -1
Proposed = tuple[list[TargetGroup], list[str]]  # the groups, and the tokens without one


def groups_editor(project: Project, start: tuple[TargetGroup, ...], key: str) -> tuple[TargetGroup, ...]:
    """The groups as they stand in the table, at first `start`; raises `InputError` for rows or a text that are none."""
    source = choosers.segmented_control("Groups", SOURCES, key=f"source-{key}")
    if source == "text":
        text = st.text_area(
            "Text of target groups", key=f"text-{key}", height=140,
            help="As it is downloaded here, or the files of Avraham and Goldberg (2016).",
        )  # fmt: skip
        groups = tuple(groups_of(read_groups(text).comparisons)) if text.strip() else ()
        _downloads(project, groups)
        return groups
    state_key = f"_groups-{key}"
    models = [one for one in read_embeddings(frame.store(), project.id) if one.has_vectors]
    if models:
        proposed = _propose(project, models, key)
        if proposed is not None:
            st.session_state[state_key] = start, proposed
            st.session_state[f"_turn-{key}"] = st.session_state.get(f"_turn-{key}", 0) + 1
    else:
        st.caption("To propose groups takes an embedding with vectors in this project.")
    proposed_from, (current, without) = st.session_state.get(state_key, (start, (list(start), [])))
    if proposed_from != start:  # edits that were left behind, or saved meanwhile, are newer than the proposal
        current, without = list(start), []
    if not current:
        st.caption("There are no groups yet: propose some, or paste a text of target groups.")
        return ()
    st.caption("An embedding that proposes its own test is favoured by it: edit the groups, and rank others by them.")
    if without:
        listed = ", ".join(map(view.isolated, without))
        st.caption(frame.plain(f"Without a group, as the embedding lacks them or their area: {listed}"))
    edited = st.data_editor(
        view.table(current), hide_index=True, num_rows="dynamic", height=240,
        key=f"edit-{key}-{st.session_state.get(f'_turn-{key}', 0)}", alt="Groups to be ordered",
    )  # fmt: skip
    groups = tuple(view.from_table(edited))
    _downloads(project, groups)
    return groups


def _propose(project: Project, models: list[Imported], key: str) -> Proposed | None:
    """The settings of a proposal, and the groups proposed once the button is pressed; None before."""
    areas = read_areas(frame.store(), project.id)
    names = {ALL_AREAS: "All areas"} | {number: area.name for number, area in enumerate(areas)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        model = choosers.embedding("Embedding", models, key=f"model-{key}", width=200)
        area = choosers.selectbox("Area", names, key=f"area-{key}", width=180, apart=_an_area)
        n_targets = st.number_input("Targets per area", 1, 10_000, 5, key=f"targets-{key}", width=130)
        sizes = [
            st.number_input(label, least, 20, usual, key=f"{label}-{key}", width=110) for label, least, usual in SIZES
        ]
        seed = st.number_input(
            "Seed of randoms", 0, 2**31 - 1, project.seed % 2**31, key=f"groups-seed-{key}", width=150,
            help="Same seed, same randoms.",
        )  # fmt: skip
        pressed = st.button("Propose", icon=":material/auto_awesome:", key=f"propose-{key}")
    st.caption(
        "Positives: the nearest tokens of the area. Distractors: the nearest words outside it. Randoms: tokens of "
        "other areas, else frequent words."
    )
    if not pressed:
        return None
    embedding = open_library(frame.store(), model)
    proposed: list[TargetGroup] = []
    lacking: list[str] = []
    for number, one in enumerate(areas):
        if area not in (ALL_AREAS, number):
            continue
        others = [token for other in areas if other is not one for token in other.tokens]
        rng = np.random.default_rng([int(seed), number])
        with st.spinner("Looking for near words …"):
            groups, without = draw_groups(
                embedding, list(one.tokens), others=others, sizes=(sizes[0], sizes[1], sizes[2]), rng=rng
            )
        targets = {group.target for group in proposed}
        fewest = min(2, sizes[0])
        usable = [group for group in groups if len(group.positives) >= fewest and group.target not in targets]
        proposed += usable[: int(n_targets)]
        lacking += without
    return proposed, lacking


def _an_area(number: int) -> str:
    return "" if number == ALL_AREAS else "an area"


def _downloads(project: Project, groups: tuple[TargetGroup, ...]) -> None:
    """The groups as a text, and what people are to judge of them, for those who ask them elsewhere."""
    if not groups:
        return
    name = slug(f"{project.name}-groups")
    with st.container(horizontal=True):
        about = "What holds by definition: positives above distractors and randoms. People order the positives."
        download_groups(undecided(groups), name, about)
        download("Download what people are to judge (CSV)", partial(view.to_judge, groups), f"{name}-to-judge.csv")
    st.caption(
        f"{many(len(groups), 'group')}; {many(len(view.to_judge(groups)), 'comparison')} of two positives for people."
    )
