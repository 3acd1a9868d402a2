"""The plan of a kind of question that is asked in rounds: its settings, what a round costs, the button that saves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from core.base.durable import slug
from core.base.numbers_in_words import many
from core.errors import RunoffError
from core.questions import RoundKind, RoundSettings
from core.questions.best_worst.files import write_tuples
from core.questions.best_worst.kind import draw_tuples
from core.store.ballots.round_plans import save_round_plan
from core.store.projects.plans import read_plan
from core.store.projects.project_commands import Project
from core.views.kinds import rounds as view
from core.views.overview import RankingStatus
from ui.plan.round_form import round_form
from ui.shared import cache, drafts, frame

MOST_ITEMS = 5_000  # of which tuples are drawn on the page


def show(project: Project, area_id: int | None, standing: RankingStatus, kind: RoundKind, headline: Any) -> None:
    """All of the plan, its first line in `headline`."""
    saved = standing.asked.plans.get(kind.name)
    draft = f"plan-{project.id}-{area_id}-{kind.name}"
    key = f"{kind.name}-{project.id}-{area_id}-{'saved' if saved else 'new'}"
    key += f"-{drafts.turn(draft)}" if drafts.turn(draft) else ""
    stored = saved or _usual(project, area_id, standing, kind)
    start = drafts.begin(draft, f"raters-{key}", stored, over_others=True)
    back = st.container()
    try:
        settings = round_form(project, kind, start, key=key)
    except RunoffError as error:
        frame.show_error(error)
        return
    drafts.keep(draft, settings, stored)
    with back:
        drafts.show_restored(draft, "Your changes")
    with headline:
        lacks = kind.lacks(settings)
        sentence = f"The plan has no {lacks} yet." if lacks else view.cost_text(settings, standing.n_items)
        frame.first_line(f"**{sentence}**")
    _save(project, standing, kind, settings, saved)
    for name in kind.about.files:
        if name in ELSEWHERE:
            ELSEWHERE[name](project, sum(one.n_items for one in cache.load_standings(frame.store(), project)))


def _usual(project: Project, area_id: int | None, standing: RankingStatus, kind: RoundKind) -> RoundSettings:
    """Settings to begin with: those of the newest round of the kind, else its usual ones in the plan's language."""
    before = [one for one in standing.asked.rounds if one.kind is kind]
    if before:
        return before[-1].settings
    plan = read_plan(frame.store(), project.id, area_id)
    usual = kind.default_settings(seed=project.seed)
    return replace(usual, language=plan.wording.language) if plan else usual


def _save(
    project: Project, standing: RankingStatus, kind: RoundKind, settings: RoundSettings, saved: RoundSettings | None
) -> None:
    """The button that saves, or the way on where there is nothing to save."""
    is_saved = settings == saved and kind in standing.asked.kinds
    area_id = standing.ranking.area_id
    with st.container(horizontal=True, vertical_alignment="center"):
        frame.command_button(
            "Save this plan",
            partial(save_round_plan, area_ids=(area_id,)),
            project.id,
            settings,
            done="The plan is saved. Next: draw a round on the Collect page.",
            type="secondary" if is_saved else "primary",
            disabled=is_saved,
        )
        others = [one.ranking.area_id for one in cache.load_standings(frame.store(), project) if one.n_items > 1]
        if len(others) > 1 and not settings.groups:
            frame.command_button(
                f"Save it for all {len(others)} areas",
                partial(save_round_plan, area_ids=tuple(others)),
                project.id,
                settings,
                done=f"The plan of {len(others)} areas is saved. Next: draw their rounds on the Collect page.",
                help="Every area gets these settings, and rounds of its own.",
            )
        if is_saved and not kind.lacks(settings):
            frame.link("collect", "**Next: collect answers**", icon=":material/arrow_forward:")
        elif saved and settings != saved:
            st.caption("Not saved yet: these settings differ from the saved plan.")


def tuples_box(project: Project, n_items: int) -> None:
    """Tuples of the project's items, as a file to fill in."""
    box = st.expander("Tuples in a file, to be asked elsewhere", key=f"tuples-{project.id}", on_change="rerun")
    if box.open:
        with box:
            _draw_tuples(project, n_items)


def _draw_tuples(project: Project, n_items: int) -> None:
    st.caption(
        "Every item appears equally often, give or take one, and no two items meet twice where that can be avoided."
    )
    if n_items < 4:
        st.caption("This takes four items at least: add token lists to the project.")
        return
    if n_items > MOST_ITEMS:
        st.caption(
            f"{n_items:,} items are too many for this page: `python -m core draw-tuples` draws them into a file."
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        size = st.number_input("Items in a tuple", 3, 8, 4, key=f"tuple-size-{project.id}", width=150)
        each = st.number_input(
            "Appearances of an item", 1, 100, 8, key=f"tuple-each-{project.id}", width=180,
            help="How often each item is shown in all.",
        )  # fmt: skip
        seed = st.number_input(
            "Seed of tuples", 0, 2**31 - 1, 1, key=f"tuple-seed-{project.id}", width=130, help="Same seed, same tuples."
        )
    items = cache.load_items(frame.store(), project)
    names = (items["token_a"] + " – " + items["token_b"]).tolist()
    size = min(int(size), len(names))
    request = (project.id, len(names), size, int(each), int(seed))
    n_tuples = -(-len(names) * int(each) // size)
    st.caption(f"{many(n_tuples, 'tuple')} of {many(len(names), 'item')}.")
    if st.button("Draw the tuples", icon=":material/casino:", key=f"tuple-draw-{project.id}"):
        with st.spinner("Drawing …"):
            tuples = draw_tuples(range(len(names)), int(each), size=size, rng=np.random.default_rng(int(seed)))
        st.session_state["_tuples"] = request, write_tuples(names, tuples)
    drawn = st.session_state.get("_tuples")
    if drawn is not None and drawn[0] == request:
        st.download_button(
            "Download the tuples (CSV)", drawn[1], f"{slug(project.name)}-tuples.csv", "text/csv",
            icon=":material/download:", on_click="ignore",
            help="A row per tuple, with room for best, worst and voter. Filled in, it goes onto the Scores page.",
        )  # fmt: skip


# What goes out as a file to be asked elsewhere, by the names in `KindInfo.files`.
ELSEWHERE: dict[str, Callable[[Project, int], None]] = {"best–worst": tuples_box}
