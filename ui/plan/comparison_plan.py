"""The plan of comparisons: how many ballots, how many items stay, how often each is shown, and what that costs."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from core.base.durable import slug
from core.errors import PlanError
from core.questions import COMPARISON
from core.store.projects.plans import PlanSettings, proposed_plan, read_plan, save_plan, with_budget, within_cost
from core.store.projects.project_commands import Project
from core.store.scores.forecasts import GuessSource
from core.views.overview import RankingStatus
from core.views.plan import appearances_text, given_away, plan_said
from ui.plan import plan_figures
from ui.plan.checks_box import checks_cost
from ui.plan.pilot_box import pilot_seconds
from ui.plan.plan_form import settings_form, show_drawn
from ui.plan.planner_box import planner_box
from ui.plan.registration_box import registration_box
from ui.shared import cache, choosers, drafts, frame
from ui.shared.frame import Badge

BUDGETS = {"votes": "votes", "hours": "hours of voters' time", "money": "money, fees included"}
FIXED = Badge(":material/lock:", "fixed", "Ballot 1 is drawn, so the plan stays as it is.")


def show(
    project: Project, area_id: int | None, standing: RankingStatus, headline: Any
) -> tuple[PlanSettings | None, GuessSource | None]:
    """All of the plan, its first line in `headline`; the settings as they stand in the widgets, and what items and
    voters are guessed to be. None, with an error on the page, where they make no plan."""
    standings = cache.load_standings(frame.store(), project)
    saved = read_plan(frame.store(), project.id, area_id)
    locked = bool(standing.ballots)
    stored = saved or proposed_plan(standing.n_items, project.seed)
    key = f"{project.id}-{area_id}-{'saved' if saved else 'new'}"  # of the widgets, which start from what is saved
    try:
        if locked:
            settings = stored
            show_drawn(settings, project.notion)
        else:
            key, settings = _edited(project, standing, stored, key)
        plan = settings.plan(standing.n_items)
    except PlanError as error:
        frame.show_error(error)
        return None, None
    if not locked:
        plan_figures.trial_seconds(project.id, settings, key=key)
        pilot_seconds(frame.store(), project, area_id, settings, key=key)
        _budget_box(project.id, settings, standing.n_items, key=key)
        _save(project, standing, standings, settings, saved)
    cost = settings.cost(plan)
    plan_figures.figures(plan, settings, cost)
    checks_cost(project, area_id, plan, settings)
    plan_figures.wage_box(project.id, settings, cost, key=key, locked=locked)
    plan_figures.ballots(plan, settings, name=f"{slug(project.name)}-plan")
    for pair in given_away(frame.store(), project.id, settings.wording.examples):
        pair_text = frame.plain(" – ".join(pair))
        st.warning(f"An example shows {pair_text}, which voters are asked about too. Take another pair.")
    advice = st.container()
    forecast, source = planner_box(project, area_id, settings, plan, key=key, locked=locked, unasked=settings == stored)
    with headline:
        frame.first_line(plan_said(plan, cost, forecast), *([FIXED] if locked else []))
    with advice:
        plan_figures.advice(plan, forecast)
    registration_box(project, planned=saved is not None, locked=any(each.ballots for each in standings))
    return settings, source


def _edited(project: Project, standing: RankingStatus, stored: PlanSettings, key: str) -> tuple[str, PlanSettings]:
    """The form, with edits that were left behind; the key of its widgets, and the settings as they stand in them."""
    draft = f"plan-{project.id}-{standing.ranking.area_id}"
    key += f"-{drafts.turn(draft)}" if drafts.turn(draft) else ""
    start = drafts.begin(draft, f"n_ballots-{key}", stored, over_others=True)
    back = st.container()
    settings = settings_form(start, project.notion, standing.n_items, key=key)
    drafts.keep(draft, settings, stored)
    with back:
        drafts.show_restored(draft, "Your changes")
    return key, settings


def _save(
    project: Project,
    standing: RankingStatus,
    standings: tuple[RankingStatus, ...],
    settings: PlanSettings,
    saved: PlanSettings | None,
) -> None:
    """The button that saves, or the way on where there is nothing to save."""
    area_id, is_saved = standing.ranking.area_id, settings == saved and COMPARISON in standing.asked.kinds
    with st.container(horizontal=True, vertical_alignment="center"):
        frame.command_button(
            "Save this plan",
            partial(save_plan, area_ids=(area_id,)),
            project.id,
            settings,
            done="The plan is saved. Next: draw ballot 1 on the Collect page.",
            type="secondary" if is_saved else "primary",
            disabled=is_saved,
        )
        others = [other.ranking.area_id for other in standings if not other.ballots and other.n_items > 1]
        if len(others) > 1:
            frame.command_button(
                f"Save it for all {len(others)} areas",
                partial(save_plan, area_ids=tuple(others)),
                project.id,
                settings,
                done=f"The plan of {len(others)} areas is saved. Next: draw their first ballots on the Collect page.",
                help="Every area without a ballot gets these numbers; each keeps its own number of items.",
            )
        if is_saved:
            frame.link("collect", "**Next: collect votes**", icon=":material/arrow_forward:")
        elif saved and settings != saved:
            st.caption("Not saved yet: these numbers differ from the saved plan.")


def _budget_box(project_id: str, settings: PlanSettings, n_items: int, *, key: str) -> None:
    """Find M for a budget as the plan's protocol likes it, and put it into its box (`key` is that of the widgets)."""
    with st.popover("Find M for a budget", icon=":material/savings:"):
        kinds = dict(BUDGETS)
        kind = choosers.radio("Budget of", kinds, key=f"budget-kind-{project_id}")
        amount = st.number_input("At most", 1.0, 1e9, 1000.0, key=f"budget-{project_id}")
        try:
            if kind == "votes":
                within = with_budget(settings, n_items, int(amount))
            else:
                within = within_cost(settings, n_items, **({"hours": amount} if kind == "hours" else {"total": amount}))
            affordable = within.plan(n_items)
        except PlanError as error:
            frame.show_error(error)
            return
        appearances = appearances_text(affordable.appearances_by_ballot)
        same = affordable.appearances_by_ballot == settings.plan(n_items).appearances_by_ballot
        text = f"**M = {appearances}**: {affordable.n_comparisons:,} votes."
        if same:
            text = f"**M = {appearances}**: {affordable.n_comparisons:,} votes, as it is."
        st.markdown(text)
        st.button("Use it", on_click=_use, args=(appearances, key), disabled=same)


def _use(appearances: str, key: str) -> None:
    st.session_state[f"m-{key}"] = appearances
