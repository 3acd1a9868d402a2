"""The plan in numbers: figures, charts, a table, the quota of a voter, and what the money comes to per hour."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from core.base.numbers_in_words import many, percent, with_decimals
from core.charts import campaign_charts
from core.plan import Plan
from core.plan.budgets import reward_for_wage
from core.plan.campaign_plan import Cost, quota
from core.simulation.forecast import Forecast
from core.store.projects.plans import PlanSettings
from core.views.plan import is_reliable
from ui.shared import chart_files, frame

ADVICE = "Section 2.7 of the paper."


def figures(plan: Plan, settings: PlanSettings, cost: Cost) -> None:
    """The plan's numbers in a row of figures."""
    paid = f"{cost.n_tasks:,} tasks: rewards {cost.rewards:,.2f} and fees {cost.fees:,.2f}."
    rows = (
        (
            "Comparisons, N_comp",
            f"{plan.n_comparisons:,}",
            "One vote each; ⌈M·N(k)/2⌉ summed over the ballots (Eq. 3).",
        ),
        ("Top item, M_top", f"{plan.top_appearances:,}", "How often an item that stays to the end is shown (Eq. 4)."),
        (
            "If even, M_unif",
            f"{plan.uniform_appearances:.1f}",
            "How often each item would be shown if no ballot cut any (2·N_comp/N).",
        ),
        ("Voters' time", f"{cost.hours:,.1f} h", "N_comp times the seconds per comparison (Eq. 10)."),
        ("Money", f"{cost.total:,.2f}", paid),
    )
    with st.container(horizontal=True):
        for label, value, about in rows:
            st.metric(label, value, border=True, width="content", help=about)


def trial_seconds(project_id: str, settings: PlanSettings, *, key: str) -> None:
    """Offer the mean time of the owner's own trial of a discarded draw, where there was one."""
    pace = st.session_state.get(f"_pace-{project_id}")
    if pace is None or round(pace.mean, 1) in (0, settings.seconds_per_comparison):
        return
    seconds = round(pace.mean, 1)
    st.button(
        f"Use the {seconds:.1f} s per comparison of your trial",
        icon=":material/timer:",
        on_click=_use,
        args=(f"seconds_per_comparison-{key}", seconds),
    )


def wage_box(project_id: str, settings: PlanSettings, cost: Cost, *, key: str, locked: bool) -> None:
    """The wage that voters should reach, and the reward that takes."""
    if not settings.reward:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        wage = st.number_input(
            "Wage to reach, per hour",
            0.0,
            10_000.0,
            0.0,
            1.0,
            key=f"wage-{project_id}",
            persist_state="session",
            width=220,
            help=(
                "In the currency of the reward; 0 compares with nothing. A minimum wage where your voters live is a "
                "start. Tasks on Mechanical Turk paid about 2 US$ per hour in the median (Hara et al., CHI 2018)."
            ),
        )
        if not wage:
            st.caption(f"A voter earns {cost.hourly_wage:,.2f} per hour. Is that fair where your voters live?")
            return
        reward = reward_for_wage(
            wage,
            seconds_per_comparison=settings.seconds_per_comparison,
            comparisons_per_task=settings.task_size,
        )
        if settings.reward >= reward:
            st.caption(f"A voter earns {cost.hourly_wage:,.2f} per hour, which reaches it.")
            return
        if not locked:
            st.button(f"Set the reward to {reward:,.2f}", on_click=_use, args=(f"reward-{key}", reward), type="primary")
    st.warning(
        (
            f"A voter earns {cost.hourly_wage:,.2f} per hour, under {wage:,.2f}. A task of "
            f"{many(settings.task_size, 'comparison')} at {settings.seconds_per_comparison:g} s each needs a reward "
            f"of {reward:,.2f}; it is {settings.reward:,.2f}."
        ),
        icon=":material/payments:",
    )


def _use(key: str, value: float) -> None:
    st.session_state[key] = value


def ballots(plan: Plan, settings: PlanSettings, *, name: str) -> None:
    """The ballots as charts and as a table, and a voter's quota. Files of the charts are called by `name`."""
    table = pd.DataFrame(
        {
            "ballot": range(1, plan.n_ballots + 1),
            "items, N(k)": plan.sizes,
            "appearances, M": plan.appearances_by_ballot,
            "comparisons": plan.comparisons,
            "votes per item by then": pd.Series(plan.appearances_by_ballot).cumsum(),
        }
    )
    left, right = st.columns(2)
    with left:
        st.markdown("**Items per ballot**")
        chart = partial(campaign_charts.ballot_sizes, plan.sizes, plan.appearances_by_ballot)
        chart_files.show(chart, table, name=f"{name}-items", alt="Items in each ballot")
    with right:
        st.markdown("**Votes per item**")
        votes = campaign_charts.votes_along_ranks
        chart = partial(votes, plan.sizes, plan.appearances_by_ballot, plan.uniform_appearances)
        chart_files.show(chart, table, name=f"{name}-votes", alt="Votes on an item by its rank")
        st.caption("The dashed line is M_unif: what each item would get if no ballot cut any.")
    whole = dict.fromkeys(table.columns, st.column_config.NumberColumn(format="localized"))
    st.dataframe(table, hide_index=True, column_config=whole, alt="The ballots of the plan")
    first = quota(plan, settings.n_voters, settings.task_size)[0]
    st.caption(
        "So that the fastest voters don't decide: in ballot 1 at most "
        f"{many(first.tasks_per_voter, 'task')} ({many(first.comparisons_per_voter, 'comparison')}) per voter, "
        f"{percent(first.share, 1)} of its votes. Set this limit where voters work; the Collect page shows how evenly "
        "the votes came.",
        help="Section 2.5 of the paper.",
    )


def advice(plan: Plan, forecast: Forecast | None) -> None:
    """The paper's rules of thumb: no warning where they are slight, or the plan's own simulation says otherwise."""
    problems = plan.problems()
    trusted = is_reliable(forecast)
    for problem in problems:
        if trusted or problem.is_slight:
            st.caption(frame.plain(problem.message))
        else:
            st.warning(frame.plain(problem.message), icon=":material/lightbulb:")
    if all(problem.is_slight for problem in problems):
        st.caption(":material/check_circle: The plan keeps to the paper's advice.", help=ADVICE)
    elif trusted and forecast is not None:
        st.caption(
            f"These are the paper's rules of thumb. Simulated with this project's items and voters as assumed below, "
            f"the plan comes to ρ_w = {with_decimals(forecast.rho_w.mean, 2)}.",
            help=ADVICE,
        )
