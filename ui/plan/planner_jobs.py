"""What the planner does in the background: other budgets, and the search for a better plan."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from core.base.numbers_in_words import many, with_decimals, with_minus
from core.commands.figures.base import job_of
from core.commands.figures.simulations import BestPlan, Forecasts, OtherBudgets, Simulation
from core.errors import PlanError
from core.jobs import lifecycle as rows
from core.plan import Plan
from core.plan.budgets import affordable_comparisons
from core.protocols import protocol_of
from core.protocols.base import AIMS, GOALS
from core.simulation.forecast import ForecastAssumptions
from core.simulation.search import Search
from core.store.projects.plans import PlanSettings
from core.store.projects.project_commands import Project
from core.store.scores.forecasts import GuessSource, known_search
from core.views import plan as planner
from ui.shared import choosers, frame, jobs

BUDGETS = {"votes": "votes", "hours": "voters' hours", "total": "money, with fees"}


@dataclass(frozen=True)
class PlannerRequest:
    """What the planner simulates: the ranking, its plan as it stands in the widgets, and the assumptions."""

    project: Project
    area_id: int | None
    settings: PlanSettings
    plan: Plan
    source: GuessSource
    guess: ForecastAssumptions
    key: str


F = TypeVar("F", bound=Forecasts)


def forecasts(kind: type[F], request: PlannerRequest) -> F:
    """A job of forecasts (of type `kind`) for a request, by all protocols."""
    plan = plan_fields(request.plan)
    return kind(request.project.id, 0, request.area_id, request.source, plan, tuple(planner.compared()))


def plan_fields(plan: Plan) -> dict[str, Any]:
    """A plan as figures have it, as JSON."""
    fields = ["n_items", "n_ballots", "keep", "appearances", *(["uncut"] if plan.uncut > 1 else [])]
    return {name: getattr(plan, name) for name in fields}


def search_box(request: PlannerRequest, *, locked: bool) -> None:
    """The search for the plan that makes most of a budget."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        budget = _budget(request)
        goal = choosers.selectbox(
            "To get right",
            dict(GOALS),
            key=f"goal-{request.project.id}",
            persist_state="session",
            width=180,
            help="Both weigh the top ranks most. τ_w asks for the right order, ρ_w for ranks that are near.",
        )
        search = known_search(frame.store(), request.guess, budget, request.settings.protocol, goal)
        if search is None and budget:
            terms = (budget, request.settings.protocol, goal)
            figure = BestPlan(request.project.id, 0, request.area_id, request.source, *terms)
            about = (
                "Over a hundred plans are tried: numbers of ballots, α, M the same in each, rising or falling; those "
                "that are close, longest. It takes about half a minute."
            )
            job_button("Find the best plan", figure, request, help=about)
    if search is not None:
        _search_result(search, request, locked=locked)


def _budget(request: PlannerRequest) -> int:
    """The comparisons to spend, typed as votes, voters' hours or money; 0 where they can't be computed."""
    kind = choosers.selectbox(
        "Budget of", dict(BUDGETS),
        key=f"search-of-{request.project.id}", width=170,
        help="Tasks that aren't full may cost up to one more task per ballot.",
    )  # fmt: skip
    cost = request.settings.cost(request.plan)
    usual = {"votes": float(request.plan.n_comparisons), "hours": cost.hours, "total": cost.total}[kind]
    amount = st.number_input(
        "At most", 0.0, 1e9, round(usual, 2), key=f"search-{kind}-{request.key}-{usual}", width=180,
        format="%.0f" if kind == "votes" else "%.2f",
    )  # fmt: skip
    if kind == "votes":
        return int(amount)
    settings = request.settings
    try:
        return affordable_comparisons(
            **{kind: amount},
            seconds_per_comparison=settings.seconds_per_comparison,
            comparisons_per_task=settings.task_size,
            reward=settings.reward,
            fee=settings.fee,
        )
    except PlanError as error:
        frame.show_error(error)
        return 0


def _search_result(search: Search, request: PlannerRequest, *, locked: bool) -> None:
    """The best plan of a search, its gain over the paper's plan, and the button that uses it."""
    plan = search.best.plan
    appearances = planner.appearances_text(plan.appearances_by_ballot)
    uncut = f", the first {plan.uncut} of all items" if plan.uncut > 1 else ""
    with st.container(border=True):
        st.markdown(
            f"**Best of {search.n_tried:,} plans: {many(plan.n_ballots, 'ballot')}{uncut}, α = {plan.keep:g}, M = "
            f"{appearances}** ({many(plan.n_comparisons, 'vote')}). It comes to {with_decimals(search.best.value)} in "
            f"{_goal_text(search.goal)}."
        )
        if search.paper is not None:
            sure = abs(search.gain) > 2 * search.gain_error
            st.caption(
                (
                    f"Against the paper's plan (7 ballots, α = .5, M = {search.paper.plan.appearances}) it gains "
                    f"{with_minus(f'{search.gain:+.3f}')} ± {search.gain_error:.3f} in {_goal_text(search.goal)}, over "
                    f"{search.best.n_campaigns} campaigns that the search hadn't seen."
                )
                + ("" if sure else " That is no clear difference.")
            )
        if not locked:
            st.button(
                "Use this plan",
                icon=":material/check:",
                on_click=_use,
                args=(plan, request, search.goal),
                key=f"use-{request.key}",
            )


def _goal_text(goal: str) -> str:
    return "the mean of ρ_w and τ_w" if goal == "both" else GOALS[goal]


def _use(plan: Plan, request: PlannerRequest, goal: str) -> None:
    """Put a plan into the widgets; its aim is the goal, or the first that has as many ballots of all items."""
    key, protocol = request.key, protocol_of(request.settings.protocol)
    if plan.uncut != protocol.uncut(request.settings.aim):
        st.session_state[f"aim-{key}"] = next(aim for aim in (goal, *AIMS) if protocol.uncut(aim) == plan.uncut)
    st.session_state[f"n_ballots-{key}"] = plan.n_ballots
    st.session_state[f"keep-{key}"] = plan.keep
    st.session_state[f"m-{key}"] = planner.appearances_text(plan.appearances_by_ballot)


def job_button(label: str, figure: Simulation[Any], request: PlannerRequest, *, help: str) -> None:
    """The button that has something simulated, unless it is under way."""
    job = job_of(frame.store(), figure)
    jobs.start_button(
        figure, label, f"{figure.name}-{request.key}", help=help, icon=None, disabled=job is not None and not job.ended
    )


def watch(project: Project) -> None:
    """Simulations under way; one that failed says why, once."""
    recent = [job for job in rows.project_jobs(frame.store(), project.id, Simulation.kind) if _doing(job)]
    watched = st.session_state.setdefault("_told_jobs", set())
    for job in recent:
        if job.state == "failed" and job.id in watched:
            watched.discard(job.id)
            st.error(frame.plain(f"The simulation ended early. {job.error}"))
    watched.update(job.id for job in recent if not job.ended)
    for job in recent:
        if not job.ended:
            jobs.watch(job.id, partial(jobs.so_far, _doing(job)), job.id)


def _doing(job: rows.Job) -> str:
    """What a job of the planner does; "" for another one."""
    return {kind.name: kind.doing for kind in (OtherBudgets, BestPlan)}.get(str(job.params.get("figure")), "")
