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
from core.protocols.base import AIMS
from core.simulation.forecast import ForecastAssumptions
from core.simulation.search import GOALS, Search
from core.store.projects.plans import PlanSettings
from core.store.projects.project_commands import Project
from core.store.scores.forecasts import GuessSource, known_search
from core.views import plan as planner
from ui.shared import choosers, frame, jobs

BUDGETS = {"votes": "votes", "hours": "voters' hours", "total": "money, with fees"}


@dataclass(frozen=True)
class PlannerRequest:
    """What the planner is about: the ranking, its plan as it stands in the widgets, and the guess."""

    project: Project
    area_id: int | None
    settings: PlanSettings
    plan: Plan
    source: GuessSource
    guess: ForecastAssumptions
    key: str


F = TypeVar("F", bound=Forecasts)


def forecasts(kind: type[F], asked: PlannerRequest) -> F:
    """The forecasts of a kind for what is asked about, by all protocols."""
    plan = plan_fields(asked.plan)
    return kind(asked.project.id, 0, asked.area_id, asked.source, plan, tuple(planner.compared()))


def plan_fields(plan: Plan) -> dict[str, Any]:
    """A plan as figures have it, as JSON."""
    fields = ["n_items", "n_ballots", "keep", "appearances", *(["uncut"] if plan.uncut > 1 else [])]
    return {name: getattr(plan, name) for name in fields}


def search_box(asked: PlannerRequest, *, locked: bool) -> None:
    """The search for the plan that makes most of a budget."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        budget = _budget(asked)
        goal = choosers.selectbox(
            "To get right",
            dict(GOALS),
            key=f"goal-{asked.project.id}",
            persist_state="session",
            width=180,
            help="Both weigh the top ranks most. τ_w asks for the right order, ρ_w for ranks that are near.",
        )
        found = known_search(frame.store(), asked.guess, budget, asked.settings.protocol, goal)
        if found is None and budget:
            of = (budget, asked.settings.protocol, goal)
            wanted = BestPlan(asked.project.id, 0, asked.area_id, asked.source, *of)
            about = (
                "Over a hundred plans are tried: numbers of ballots, α, M the same in each, rising or falling; those "
                "that are close, longest. It takes about half a minute."
            )
            job_button("Find the best plan", wanted, asked, help=about)
    if found is not None:
        _found(found, asked, locked=locked)


def _budget(asked: PlannerRequest) -> int:
    """The comparisons to spend, given as votes, voters' hours or money; 0 where that can't be told."""
    kind = choosers.selectbox(
        "Budget of", dict(BUDGETS),
        key=f"search-of-{asked.project.id}", width=170,
        help="Tasks that aren't full may cost up to one more task per ballot.",
    )  # fmt: skip
    cost = asked.settings.cost(asked.plan)
    usual = {"votes": float(asked.plan.n_comparisons), "hours": cost.hours, "total": cost.total}[kind]
    given = st.number_input(
        "At most", 0.0, 1e9, round(usual, 2), key=f"search-{kind}-{asked.key}-{usual}", width=180,
        format="%.0f" if kind == "votes" else "%.2f",
    )  # fmt: skip
    if kind == "votes":
        return int(given)
    settings = asked.settings
    try:
        return affordable_comparisons(
            **{kind: given},
            seconds_per_comparison=settings.seconds_per_comparison,
            comparisons_per_task=settings.task_size,
            reward=settings.reward,
            fee=settings.fee,
        )
    except PlanError as error:
        frame.show_error(error)
        return 0


def _found(found: Search, asked: PlannerRequest, *, locked: bool) -> None:
    plan = found.best.plan
    appearances = planner.appearances_text(plan.appearances_by_ballot)
    uncut = f", the first {plan.uncut} of all items" if plan.uncut > 1 else ""
    with st.container(border=True):
        st.markdown(
            f"**Best of {found.n_tried:,} plans: {many(plan.n_ballots, 'ballot')}{uncut}, α = {plan.keep:g}, M = "
            f"{appearances}** ({many(plan.n_comparisons, 'vote')}). It comes to {with_decimals(found.best.value)} in "
            f"{_judged(found.goal)}."
        )
        if found.paper is not None:
            sure = abs(found.gain) > 2 * found.gain_error
            st.caption(
                (
                    f"Against the paper's plan (7 ballots, α = .5, M = {found.paper.plan.appearances}) it gains "
                    f"{with_minus(f'{found.gain:+.3f}')} ± {found.gain_error:.3f} in {_judged(found.goal)}, over "
                    f"{found.best.n_campaigns} campaigns that the search hadn't seen."
                )
                + ("" if sure else " That is no clear difference.")
            )
        st.button(
            "Use this plan",
            icon=":material/check:",
            on_click=_use,
            args=(plan, asked),
            key=f"use-{asked.key}",
            disabled=locked,
        )


def _judged(goal: str) -> str:
    return "the mean of ρ_w and τ_w" if goal == "both" else GOALS[goal]


def _use(plan: Plan, asked: PlannerRequest) -> None:
    """Put a plan into the widgets; its aim is the one that has as many ballots of all items."""
    key, protocol = asked.key, protocol_of(asked.settings.protocol)
    if plan.uncut != protocol.uncut(asked.settings.aim):
        st.session_state[f"aim-{key}"] = next(aim for aim in AIMS if protocol.uncut(aim) == plan.uncut)
    st.session_state[f"n_ballots-{key}"] = plan.n_ballots
    st.session_state[f"keep-{key}"] = plan.keep
    st.session_state[f"m-{key}"] = planner.appearances_text(plan.appearances_by_ballot)


def job_button(label: str, wanted: Simulation[Any], asked: PlannerRequest, *, help: str) -> None:
    """The button that has something simulated, unless it is under way."""
    job = job_of(frame.store(), wanted)
    jobs.start_button(
        wanted, label, f"{wanted.name}-{asked.key}", help=help, icon=None, disabled=job is not None and not job.ended
    )


def watch(project: Project) -> None:
    """Simulations under way; one that failed says why, once."""
    recent = [job for job in rows.project_jobs(frame.store(), project.id, Simulation.kind) if _doing(job)]
    told = st.session_state.setdefault("_told_jobs", set())
    for job in recent:
        if job.state == "failed" and job.id in told:
            told.discard(job.id)
            st.error(frame.plain(f"The simulation ended early. {job.error}"))
    told.update(job.id for job in recent if not job.ended)
    for job in recent:
        if not job.ended:
            jobs.watch(job.id, partial(jobs.so_far, _doing(job)), job.id)


def _doing(job: rows.Job) -> str:
    """What a job of the planner does; "" for another one."""
    return {of.name: of.doing for of in (OtherBudgets, BestPlan)}.get(str(job.params.get("figure")), "")
