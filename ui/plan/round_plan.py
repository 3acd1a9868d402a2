"""The plan of a kind of question that is asked in rounds: its settings, what a round costs, the button that saves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.errors import RunoffError
from core.questions import RoundKind, RoundSettings
from core.store.ballots.round_plans import save_round_plan
from core.store.projects.plans import read_plan
from core.store.projects.project_commands import Project
from core.views.kinds import rounds as view
from core.views.overview import RankingStatus
from ui.plan.round_form import round_form
from ui.plan.tuples_box import tuples_box
from ui.shared import cache, drafts, frame

# What goes out as a file to be asked elsewhere, by the names in `KindInfo.files`.
ELSEWHERE: dict[str, Callable[[Project, int], None]] = {"best–worst": tuples_box}


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
