"""The plan: how many ballots, how many items stay, how often each is shown, and what that costs."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from core import charts
from core.errors import PlanError
from core.plan import Plan
from core.store.plans import PlanSettings, Wording, proposed_plan, read_plan, save_plan
from ui import cache, frame

project = frame.project()
overview = cache.load_overview(frame.store(), project)
saved = read_plan(frame.store(), project.id)
locked = bool(overview.ballots)

st.title("Plan")
if overview.n_items < 2:
    st.markdown("**A plan needs items, and there are none yet.**")
    frame.link("tokens", "**Next: add token lists**", icon=":material/arrow_forward:")
    st.stop()
start = saved or proposed_plan(overview.n_items, project.seed)


def read_appearances(text: str) -> int | tuple[int, ...]:
    """M from its text box: one number, or one a ballot."""
    try:
        numbers = tuple(int(part) for part in text.replace(";", ",").split(",") if part.strip())
    except ValueError:
        numbers = ()
    if not numbers:
        raise PlanError(
            f"“{text}” is no number of appearances. Type one whole number, or one a ballot such as 20, 20, 30."
        )
    return numbers[0] if len(numbers) == 1 else numbers


def settings_form() -> PlanSettings:
    """The settings as they stand in the widgets."""
    key = f"{project.id}-{'saved' if saved else 'new'}"
    wide = st.columns(3)
    n_ballots = wide[0].number_input(
        "Ballots, n_b", 1, 20, start.n_ballots, key=f"nb-{key}", disabled=locked,
        help="The collection goes in this many rounds; after each, only the leading items stay. Advised: 2 to 10.",
    )  # fmt: skip
    keep = wide[1].number_input(
        "Share that stays, α", 0.01, 0.99, start.keep, 0.05, key=f"keep-{key}", disabled=locked,
        help="The fraction of a ballot's items that goes into the next one.",
    )  # fmt: skip
    before = start.appearances if isinstance(start.appearances, int) else ", ".join(map(str, start.appearances))
    appearances = wide[2].text_input(
        "Appearances, M", str(before), key=f"m-{key}", disabled=locked,
        help="How often each item is shown in a ballot: one number, or one a ballot (20, 20, 30). Best even.",
    )  # fmt: skip
    wide = st.columns(3)
    task_size = wide[0].number_input(
        "Comparisons a task", 1, 50, start.task_size, key=f"size-{key}", disabled=locked,
        help="A task is what one voter answers in one sitting.",
    )  # fmt: skip
    n_voters = wide[1].number_input(
        "Voters", 1, 1_000_000, start.n_voters, key=f"voters-{key}", disabled=locked,
        help="How many people you expect. The Collect page warns when few of them give most votes.",
    )  # fmt: skip
    seconds = wide[2].number_input(
        "Seconds a comparison", 0.1, 3600.0, start.seconds_per_comparison, 1.0, key=f"sec-{key}", disabled=locked,
        help="The average time t̄ of one comparison; hours follow from it (Eq. 10 of the paper).",
    )  # fmt: skip
    wide = st.columns(3)
    reward = wide[0].number_input(
        "Reward a task", 0.0, 10_000.0, start.reward, 0.05, key=f"reward-{key}", disabled=locked,
        help="In your currency; 0 where nobody is paid.",
    )  # fmt: skip
    fee = wide[1].number_input(
        "Platform's fee, %", 0.0, 1000.0, start.fee * 100, 5.0, key=f"fee-{key}", disabled=locked,
        help="What the platform takes on top of the reward; Mechanical Turk took 20 %.",
    )  # fmt: skip
    seed = wide[2].number_input(
        "Seed", 0, 2**31 - 1, start.seed, key=f"seed-{key}", disabled=locked,
        help="The same seed draws the same ballots from the same votes.",
    )  # fmt: skip
    ties = st.toggle("Voters may answer “equal”", start.ties_allowed, key=f"ties-{key}", disabled=locked)
    with st.expander("What voters read"):
        question = st.text_input("Question", start.wording.question, key=f"q-{key}", disabled=locked, max_chars=300,
                                 placeholder=f"The standard question about {project.notion}")  # fmt: skip
        instructions = st.text_area("Instructions", start.wording.instructions, key=f"i-{key}", disabled=locked,
                                    max_chars=4000, placeholder="The standard instructions")  # fmt: skip
    return replace(
        start,
        n_ballots=int(n_ballots),
        keep=float(keep),
        appearances=read_appearances(appearances),
        task_size=int(task_size),
        n_voters=int(n_voters),
        seconds_per_comparison=float(seconds),
        reward=float(reward),
        fee=round(float(fee) / 100, 6),
        seed=int(seed),
        ties_allowed=ties,
        wording=Wording(question.strip(), instructions.strip()),
    )


def figures(plan: Plan, settings: PlanSettings) -> None:
    """The plan in numbers, as a chart and as a table."""
    cost = settings.cost(plan)
    row = st.container(horizontal=True)
    row.metric("Comparisons, N_comp", f"{plan.n_comparisons:,}", border=True, width="content",
               help="One vote each; the sum of ⌈M·N(k)/2⌉ over the ballots (Eq. 3).")  # fmt: skip
    row.metric("Appearances of a top item, M_top", f"{plan.top_appearances:,}", border=True, width="content",
               help="How often an item that stays to the end is shown (Eq. 4).")  # fmt: skip
    row.metric("The same votes spread evenly, M_unif", f"{plan.uniform_appearances:.1f}", border=True, width="content",
               help="How often each item would be shown if no ballot cut any (2·N_comp/N).")  # fmt: skip
    row.metric("Voters' time", f"{cost.hours:,.1f} h", border=True, width="content",
               help="N_comp times the seconds a comparison (Eq. 10).")  # fmt: skip
    row.metric("Money", f"{cost.total:,.2f}", border=True, width="content",
               help=f"{cost.n_tasks:,} tasks: rewards {cost.rewards:,.2f} and fees {cost.fees:,.2f}. "
                    f"A voter earns {cost.hourly_wage:,.2f} an hour.")  # fmt: skip
    st.altair_chart(charts.ballot_sizes(plan.sizes, plan.appearances_by_ballot), alt="Items in each ballot")
    table = pd.DataFrame({
        "ballot": range(1, plan.n_ballots + 1),
        "items, N(k)": plan.sizes,
        "appearances, M": plan.appearances_by_ballot,
        "comparisons": plan.comparisons,
    })  # fmt: skip
    st.dataframe(table, hide_index=True, alt="The ballots of the plan")


headline = st.empty()
try:
    settings = settings_form()
    plan = settings.plan(overview.n_items)
except PlanError as error:
    frame.show_error(error)
    st.stop()
headline.markdown(
    f"**{plan.n_comparisons:,} votes in {plan.n_ballots} ballots take {plan.n_items:,} items "
    f"down to the top {plan.sizes[-1]:,}.**"
)
if locked:
    st.info("The plan is fixed: ballot 1 is drawn.", icon=":material/lock:")
else:
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Save this plan", type="primary", disabled=settings == saved):
            frame.carry_out(
                save_plan, frame.store(), project.id, settings, expected_revision=frame.expected(),
                done="The plan is saved. Next: draw ballot 1 on the Collect page.",
            )  # fmt: skip
        if saved and settings == saved:
            frame.link("collect", "**Next: collect votes**", icon=":material/arrow_forward:")
        elif saved:
            st.caption("Not saved yet: these numbers differ from the saved plan.")
figures(plan, settings)
for problem in plan.problems():
    st.warning(frame.plain(problem.message), icon=":material/lightbulb:")
if not plan.problems():
    st.success("The plan keeps to the paper's advice (§2.7).", icon=":material/check_circle:")
