"""The plan: how many ballots, how many items stay, how often each is shown, and what that costs."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from core import charts
from core.errors import PlanError
from core.plan import Plan, appearances_for_budget, appearances_for_cost, quota
from core.store.plans import PlanSettings, proposed_plan, read_plan, save_plan
from core.views.words import many
from ui import cache, frame
from ui.plan_form import ranking_choice, settings_form

project = frame.project()
st.title("Plan")
standings = cache.load_standings(frame.store(), project)
if sum(standing.n_items for standing in standings) < 2:
    frame.nothing_yet(
        "A plan needs two items at least: three tokens in one area, or two areas.", "tokens", "add token lists"
    )
ranking_choice(project, standings)
area_id = frame.area(project, standings)
standing = next(standing for standing in standings if standing.ranking.area_id == area_id)
saved = read_plan(frame.store(), project.id, area_id)
locked = bool(standing.ballots)
key = f"{project.id}-{area_id}-{'saved' if saved else 'new'}"  # of the widgets, which start from what is saved
if standing.n_items < 2:
    st.warning("This area has one item, and a ranking needs two: add tokens to it, or rank all areas together.")
    st.stop()
start = saved or proposed_plan(standing.n_items, project.seed)


def figures(plan: Plan, settings: PlanSettings) -> None:
    """The plan in numbers, as a chart and as a table."""
    cost = settings.cost(plan)
    paid = (
        f"{cost.n_tasks:,} tasks: rewards {cost.rewards:,.2f} and fees {cost.fees:,.2f}. "
        f"A voter earns {cost.hourly_wage:,.2f} an hour."
    )
    shown = (
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
        ("Voters' time", f"{cost.hours:,.1f} h", "N_comp times the seconds a comparison (Eq. 10)."),
        ("Money", f"{cost.total:,.2f}", paid),
    )
    with st.container(horizontal=True):
        for label, value, about in shown:
            st.metric(label, value, border=True, width="content", help=about)
    st.altair_chart(charts.ballot_sizes(plan.sizes, plan.appearances_by_ballot), alt="Items in each ballot")
    table = pd.DataFrame(
        {
            "ballot": range(1, plan.n_ballots + 1),
            "items, N(k)": plan.sizes,
            "appearances, M": plan.appearances_by_ballot,
            "comparisons": plan.comparisons,
        }
    )
    whole = dict.fromkeys(table.columns, st.column_config.NumberColumn(format="localized"))
    st.dataframe(table, hide_index=True, column_config=whole, alt="The ballots of the plan")
    first = quota(plan, settings.n_voters, settings.task_size)[0]
    st.caption(
        f"So that the fastest voters don't decide (§2.5): in ballot 1 at most {many(first.tasks_per_voter, 'task')} "
        f"({many(first.comparisons_per_voter, 'comparison')}) a voter, {first.share:.1%} of its votes. Set this limit "
        "where voters work; the Collect page shows how evenly the votes came."
    )


def budget_box(settings: PlanSettings) -> None:
    """The largest M that a budget of votes, hours or money pays for."""
    kinds = {"votes": "votes", "hours": "hours of voters' time", "money": "money, fees included"}
    with st.popover("Find M for a budget", icon=":material/savings:"):
        kind = st.radio("Budget of", list(kinds), format_func=kinds.get, key=f"budget-kind-{project.id}")
        amount = st.number_input("At most", 1.0, 1e9, 1000.0, key=f"budget-{project.id}")
        terms = {
            "seconds_per_comparison": settings.seconds_per_comparison,
            "comparisons_per_task": settings.task_size,
            "reward": settings.reward,
            "fee": settings.fee,
        }
        shape = (standing.n_items, settings.n_ballots, settings.keep)
        try:
            if kind == "votes":
                found = appearances_for_budget(*shape, int(amount))
            else:
                bound = {"hours": amount} if kind == "hours" else {"total": amount}
                found = appearances_for_cost(*shape, **bound, **terms)
        except PlanError as error:
            frame.show_error(error)
        else:
            st.markdown(f"**M = {found}**" + (", as it is." if found == settings.appearances else "."))
            st.button("Use it", on_click=use_appearances, args=(found,), disabled=found == settings.appearances)


def use_appearances(found: int) -> None:
    """Put M into its box."""
    st.session_state[f"m-{key}"] = str(found)


def save_box(settings: PlanSettings) -> None:
    """The button that saves, or the way on where there is nothing to save."""
    with st.container(horizontal=True, vertical_alignment="center"):
        frame.command_button(
            "Save this plan",
            partial(save_plan, area_ids=(area_id,)),
            project.id,
            settings,
            done="The plan is saved. Next: draw ballot 1 on the Collect page.",
            type="primary" if settings != saved else "secondary",
            disabled=settings == saved,
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
        if settings == saved:
            frame.link("collect", "**Next: collect votes**", icon=":material/arrow_forward:")
        elif saved:
            st.caption("Not saved yet: these numbers differ from the saved plan.")


headline = st.empty()
try:
    settings = settings_form(start, project.notion, key=key, locked=locked)
    plan = settings.plan(standing.n_items)
except PlanError as error:
    frame.show_error(error)
    st.stop()
headline.markdown(
    f"**{plan.n_comparisons:,} votes in {many(plan.n_ballots, 'ballot')} take {plan.n_items:,} items "
    f"down to the top {plan.sizes[-1]:,}.**"
)
if locked:
    st.info("The plan is fixed: ballot 1 is drawn.", icon=":material/lock:")
else:
    budget_box(settings)
    save_box(settings)
figures(plan, settings)
for problem in plan.problems():
    st.warning(frame.plain(problem.message), icon=":material/lightbulb:")
if not plan.problems():
    st.success("The plan keeps to the paper's advice (§2.7).", icon=":material/check_circle:")
